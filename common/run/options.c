#include "run/options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int option_refused(const char *option, const char *value, const char *allowed) {
    fprintf(stderr, "%s %s: not allowed; allowed: %s\n", option, value, allowed);
    return EXIT_USAGE;
}

int option_printed(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_OK;
    fprintf(stderr, "stdout could not be written: %s\n", strerror(errno));
    return EXIT_FAULT;
}

static int read_shapes(const char *option, enum shape_kind kind, const char *what, struct shapes *shapes) {
    char error[256];
    if (shapes_find(kind, what, shapes, error)) return -1;
    fprintf(stderr, "%s: %s\n", option, error);
    return EXIT_USAGE;
}

/* Reads the value of an option. Returns -1, or #EXIT_USAGE. */
static int read_word(const struct option_word *w, const char *word) {
    char name[24], allowed[80];
    int64_t value;
    snprintf(name, sizeof name, "--%s", w->name);
    if (w->type == OPTION_SHAPES) return read_shapes(name, (enum shape_kind)w->min, word, w->value);
    if (w->type == OPTION_TEXT) *(const char **)w->value = word;
    if (w->type == OPTION_FLAG || w->type == OPTION_STOP) *(bool *)w->value = true;
    if (w->type != OPTION_INT && w->type != OPTION_INT64) return -1;
    if (w->max < w->min) return option_refused(name, word, "for other steps, see --help");
    if (!parse_count(word, w->max, &value) || value < w->min) {
        snprintf(allowed, sizeof allowed, "a whole number from %lld to %lld", (long long)w->min,
                 (long long)w->max);
        return option_refused(name, word, allowed);
    }
    if (w->type == OPTION_INT) *(int *)w->value = (int)value;
    else *(int64_t *)w->value = value;
    return -1;
}

static int print_help(const char *program, const char *about, const struct option_word *w) {
    printf("usage: %s [options]\n%s\n", program, about);
    for (; w->name != NULL; ++w) {
        const bool number = w->type == OPTION_INT || w->type == OPTION_INT64;
        if (number && w->max < w->min) continue;
        printf("  --%s %-*s %s", w->name, 16 - (int)strlen(w->name), w->argument, w->help);
        if (number && w->max < INT64_MAX) printf(", %lld to %lld", (long long)w->min, (long long)w->max);
        putchar('\n');
    }
    printf("  --%-17s this text, and exit\n", "help");
    return option_printed();
}

int options_read(const char *about, const struct option_word *words, int argc, char **argv) {
    enum { MOST = 32 };
    struct option known[MOST + 2] = {{NULL, 0, NULL, 0}};
    int c, status = -1, count = 0, fd;
    do fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    close(fd);
    for (; count < MOST && words[count].name != NULL; ++count)
        known[count] = (struct option){words[count].name, words[count].type > OPTION_STOP, NULL, count};
    known[count] = (struct option){"help", no_argument, NULL, count};
    optind = 0; /* GNU: afresh, whatever an earlier call left */
    while (status < 0 && (c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (c == '?') /* getopt_long has said what is wrong */
            return EXIT_USAGE;
        if (c == count) return print_help(argv[0], about, words);
        status = read_word(&words[c], optarg);
        if (words[c].type == OPTION_STOP) return status;
    }
    if (status < 0 && optind < argc)
        return option_refused("argument", argv[optind], "options only, see --help");
    return status;
}

/* Adds the size that --m, --n and --k give, if they do. */
static int add_size(struct options *options, enum shape_kind kind, int64_t m, int64_t n, int64_t k) {
    char name[80];
    if (m < 0 && n < 0 && k < 0) return -1;
    if (kind == SHAPE_GEMM && (m < 0 || n < 0 || k < 0))
        return option_refused(m < 0   ? "--m"
                              : n < 0 ? "--n"
                                      : "--k",
                              "(missing)", "all of --m, --n and --k, or none");
    if (kind == SHAPE_GEMM)
        snprintf(name, sizeof name, "%lldx%lldx%lld", (long long)m, (long long)n, (long long)k);
    else snprintf(name, sizeof name, "%lld", (long long)n);
    return read_shapes("the size", kind, name, &options->shapes);
}

int options_parse(struct options *o, enum shape_kind kind, int argc, char **argv) {
    const bool gemm = kind == SHAPE_GEMM;
    const int64_t size = gemm ? SHAPE_SIZE_MAX : VECTOR_SIZE_MAX, none = -1;
    int64_t m = -1, n = -1, k = -1;
    bool list = false;
    // clang-format off
    const struct option_word words[] = {
        {"m", "M", OPTION_INT64, &m, "with --n and --k: C (MxN) = A (MxK) * B (KxN)", 0, gemm ? size : none},
        {"n", "N", OPTION_INT64, &n, gemm ? "see --m" : "one length", 0, size},
        {"k", "K", OPTION_INT64, &k, "see --m", 0, gemm ? size : none},
        {"shape", "WHAT", OPTION_SHAPES, &o->shapes,
         gemm ? "a name, a set or MxNxK, or several with commas (see --list);\n"
                "                      default: ladder on a GPU, small on the CPU device"
              : "a length (1000, 2^28, 2^31-1), a name or a set, or several with\n"
                "                      commas (see --list); default: ladder on a GPU, small on the CPU",
         kind, 0},
        {"pad", "E", OPTION_INT, &o->pad,
         "elements more in a row, beyond a 128-byte boundary", 0, gemm ? 4096 : none},
        {"offset", "E", OPTION_INT, &o->offset,
         "elements between a 256-byte boundary and the first", 0, gemm ? none : 63},
        {"seed", "S", OPTION_INT64, &o->seed, "seed of the inputs (default 1)", 0, INT64_MAX},
        {"repeats", "R", OPTION_INT, &o->repeats,
         "verified runs of each kind of input (default 1)", 1, 100000},
        {"verify-only", "", OPTION_FLAG, &o->verify_only, "do not time", 0, 0},
        {"samples", "S", OPTION_INT, &o->samples,
         "timed runs (default: until the median settles)", 1, 100000},
        {"warm", "", OPTION_FLAG, &o->warm, "leave the L2 cache as a run left it; else it is flushed", 0, 0},
        {"device", "D", OPTION_INT, &o->device, "number of the CUDA device (default 0)", 0, 1023},
        {"schedule", "NAME", OPTION_TEXT, &o->schedule,
         "of the CPU device (default: all, up to a failure), or each", 0, 0},
        {"counters", "", OPTION_FLAG, &o->counters,
         "count by source line: programs under cpu-checked/", 0, 0},
        {"base", "", OPTION_FLAG, &o->base, "with --counters or --trace: those of the base too", 0, 0},
        {"trace", "FILE", OPTION_TEXT, &o->trace,
         "of one run, what its warps did, for Perfetto; - for stdout", 0, 0},
        {"csv", "FILE", OPTION_TEXT, &o->csv,
         "write the rows as CSV; - for stdout instead of the table", 0, 0},
        {"json", "FILE", OPTION_TEXT, &o->json, "the same as JSON, with faults and counters", 0, 0},
        {"quiet", "", OPTION_FLAG, &o->quiet, "no table: stdout is what the kernel prints", 0, 0},
        {"list", "", OPTION_STOP, &list, "the shapes, and exit", 0, 0},
        {NULL, NULL, OPTION_FLAG, NULL, NULL, 0, 0},
    };
    // clang-format on
    memset(o, 0, sizeof *o);
    o->seed = 1;
    o->repeats = 1;
    int status =
        options_read("Verifies the step at each size, then times it beside its base and the library.\n"
                     "exit status: 0 verified, 1 wrong result or fault, 2 bad option, 77 no GPU\n",
                     words, argc, argv);
    if (status >= 0) return status;
    if (list) {
        fputs(shapes_text, stdout);
        return option_printed();
    }
    if (o->schedule != NULL && strcmp(o->schedule, "each") == 0) {
        o->schedule = NULL;
        o->each_schedule = true;
    }
    if (o->base && !o->counters && o->trace == NULL)
        return option_refused("--base", "(alone)", "with --counters or --trace");
    o->counters = o->counters || o->trace != NULL;
    status = add_size(o, kind, m, n, k);
    if (status < 0 && o->trace != NULL && o->shapes.count > 1)
        return option_refused("--trace", o->trace, "with one shape");
    return status;
}

int options_default_shapes(struct options *o, enum shape_kind kind, bool gpu) {
    const char *set = o->trace != NULL ? "traced" : o->counters ? "counted" : gpu ? "ladder" : "small";
    if (o->shapes.count > 0 || read_shapes("the set", kind, set, &o->shapes) < 0) return EXIT_OK;
    return EXIT_FAULT;
}
