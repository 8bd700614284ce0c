#include "run/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char gemm_help[] =
    "  --m M --n N --k K   one shape: C (MxN) = A (MxK) * B (KxN), each 0 to 2147483392\n"
    "  --shape WHAT        a name, a set or MxNxK, or several with commas (see --list);\n"
    "                      default: ladder on a GPU, small on the CPU device\n"
    "  --pad E             E more elements in every row, 0 to 4096; without it, rows start\n"
    "                      on 128-byte boundaries\n";

static const char vector_help[] =
    "  --n N               one length, 0 to 2^33\n"
    "  --shape WHAT        a length (1000, 2^28, 2^31-1), a name or a set, or several with\n"
    "                      commas (see --list); default: ladder on a GPU, small on the CPU\n"
    "  --offset E          the first element lies E elements behind a 256-byte boundary, 0 to 63\n";

static const char common_help[] =
    "  --seed S            seed of the inputs (default 1)\n"
    "  --repeats R         verified runs of each kind of input, 1 to 100000 (default 1)\n"
    "  --verify-only       do not time\n"
    "  --samples S         timed runs, 1 to 100000 (default: until the median is settled)\n"
    "  --warm              leave the L2 cache as an untimed run left it; it is flushed otherwise\n"
    "  --device D          number of the CUDA device (default 0)\n"
    "  --schedule NAME     CPU device: only this schedule (default: all, up to a failure); each: all\n"
    "  --counters          count what one run does, by source line: programs under cpu-checked/\n"
    "  --base              with --counters: beside the base's, with ratios\n"
    "  --csv FILE          write the rows as CSV; - for stdout instead of the table\n"
    "  --json FILE         write the rows as JSON; - for stdout instead of the table\n"
    "  --quiet             no table: stdout is what the kernel prints\n"
    "  --list              the shapes, and exit\n"
    "  --help              this text, and exit\n"
    "\n"
    "exit status: 0 verified, 1 wrong result or fault, 2 bad option, 77 no GPU\n";

int option_refused(const char *option, const char *value, const char *allowed) {
    fprintf(stderr, "%s %s: not allowed; allowed: %s\n", option, value, allowed);
    return EXIT_USAGE;
}

static int read_number(const struct option_word *w, const char *word) {
    char name[24], allowed[80];
    int64_t value;
    snprintf(name, sizeof name, "--%s", w->name);
    if (w->max < w->min)
        return option_refused(name, word, "for other steps, see --help");
    if (!parse_count(word, w->max, &value) || value < w->min) {
        snprintf(allowed, sizeof allowed, "a whole number from %lld to %lld", (long long)w->min,
                 (long long)w->max);
        return option_refused(name, word, allowed);
    }
    if (w->type == OPTION_INT)
        *(int *)w->value = (int)value;
    else
        *(int64_t *)w->value = value;
    return -1;
}

static int read_shapes(const char *option, enum shape_kind kind, const char *what,
                       struct shapes *shapes) {
    char error[256];
    if (shapes_find(kind, what, shapes, error))
        return -1;
    fprintf(stderr, "%s%s\n", option, error);
    return EXIT_USAGE;
}

int options_read(const struct option_word *words, int argc, char **argv) {
    enum { MOST = 32 };
    struct option known[MOST + 1] = {{NULL, 0, NULL, 0}};
    int c, status = -1;
    for (int i = 0; i < MOST && words[i].name != NULL; ++i)
        known[i] = (struct option){words[i].name, words[i].type > OPTION_STOP, NULL, i};
    optind = 0; /* GNU: afresh, whatever an earlier call left */
    while (status < 0 && (c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (c == '?') /* getopt_long has said what is wrong */
            return EXIT_USAGE;
        const struct option_word *w = &words[c];
        if (w->type == OPTION_FLAG || w->type == OPTION_STOP)
            *(bool *)w->value = true;
        else if (w->type == OPTION_TEXT)
            *(const char **)w->value = optarg;
        else if (w->type == OPTION_SHAPES)
            status = read_shapes("--shape: ", (enum shape_kind)w->min, optarg, w->value);
        else
            status = read_number(w, optarg);
        if (w->type == OPTION_STOP)
            return status;
    }
    if (status < 0 && optind < argc)
        return option_refused("argument", argv[optind], "options only, see --help");
    return status;
}

/* Adds the size that --m, --n and --k give, if they do. */
static int add_size(struct options *options, enum shape_kind kind, int64_t m, int64_t n,
                    int64_t k) {
    char name[80];
    if (m < 0 && n < 0 && k < 0)
        return -1;
    if (kind == SHAPE_GEMM && (m < 0 || n < 0 || k < 0))
        return option_refused(m < 0   ? "--m"
                              : n < 0 ? "--n"
                                      : "--k",
                              "(missing)", "all of --m, --n and --k, or none");
    if (kind == SHAPE_GEMM)
        snprintf(name, sizeof name, "%lldx%lldx%lld", (long long)m, (long long)n, (long long)k);
    else
        snprintf(name, sizeof name, "%lld", (long long)n);
    return read_shapes("", kind, name, &options->shapes);
}

int options_parse(struct options *o, enum shape_kind kind, int argc, char **argv) {
    const bool gemm = kind == SHAPE_GEMM;
    const int64_t size = gemm ? SHAPE_SIZE_MAX : VECTOR_SIZE_MAX, none = -1;
    int64_t m = -1, n = -1, k = -1;
    bool list = false, help = false;
    const struct option_word words[] = {
        {"m", OPTION_INT64, &m, 0, gemm ? size : none},
        {"n", OPTION_INT64, &n, 0, size},
        {"k", OPTION_INT64, &k, 0, gemm ? size : none},
        {"seed", OPTION_INT64, &o->seed, 0, INT64_MAX},
        {"samples", OPTION_INT, &o->samples, 1, 100000},
        {"device", OPTION_INT, &o->device, 0, 1023},
        {"pad", OPTION_INT, &o->pad, 0, gemm ? 4096 : none},
        {"offset", OPTION_INT, &o->offset, 0, gemm ? none : 63},
        {"repeats", OPTION_INT, &o->repeats, 1, 100000},
        {"shape", OPTION_SHAPES, &o->shapes, kind, 0},
        {"warm", OPTION_FLAG, &o->warm, 0, 0},
        {"verify-only", OPTION_FLAG, &o->verify_only, 0, 0},
        {"quiet", OPTION_FLAG, &o->quiet, 0, 0},
        {"counters", OPTION_FLAG, &o->counters, 0, 0},
        {"base", OPTION_FLAG, &o->base, 0, 0},
        {"schedule", OPTION_TEXT, &o->schedule, 0, 0},
        {"csv", OPTION_TEXT, &o->csv, 0, 0},
        {"json", OPTION_TEXT, &o->json, 0, 0},
        {"list", OPTION_STOP, &list, 0, 0},
        {"help", OPTION_STOP, &help, 0, 0},
        {NULL, OPTION_FLAG, NULL, 0, 0},
    };
    memset(o, 0, sizeof *o);
    o->seed = 1;
    o->repeats = 1;
    int status = options_read(words, argc, argv);
    if (status >= 0)
        return status;
    if (list)
        fputs(shapes_text, stdout);
    if (help)
        printf("usage: %s [options]\n"
               "Verifies the step at each size, then times it beside its base and the library.\n\n"
               "%s%s",
               argv[0], gemm ? gemm_help : vector_help, common_help);
    if (list || help)
        return EXIT_OK;
    if (o->schedule != NULL && strcmp(o->schedule, "each") == 0) {
        o->schedule = NULL;
        o->each_schedule = true;
    }
    if (o->base && !o->counters)
        return option_refused("--base", "(alone)", "with --counters");
    return add_size(o, kind, m, n, k);
}

int options_default_shapes(struct options *o, enum shape_kind kind, bool gpu) {
    const char *set = o->counters ? "counted" : gpu ? "ladder" : "small";
    if (o->shapes.count > 0 || read_shapes("", kind, set, &o->shapes) < 0)
        return EXIT_OK;
    return EXIT_FAULT;
}

bool program_folder(char *folder, size_t size) {
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    if (length <= 0 || (size_t)length >= size - 1) {
        fprintf(stderr, "cannot tell where this program lies: %s\n",
                length > 0 ? "its path is too long" : strerror(errno));
        return false;
    }
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    return true;
}
