#include "run/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Options with a number come first: their value is their place in `numbers`. */
enum { M, N, K, SEED, SAMPLES, DEVICE, PAD, OFFSET, REPEATS, NUMBERS };
enum { SHAPE = 256, WARM, VERIFY_ONLY, COUNTERS, BASE, SCHEDULE, CSV, JSON, LIST, HELP };

static const struct option long_options[] = {
    {"m", required_argument, NULL, M},
    {"n", required_argument, NULL, N},
    {"k", required_argument, NULL, K},
    {"seed", required_argument, NULL, SEED},
    {"samples", required_argument, NULL, SAMPLES},
    {"device", required_argument, NULL, DEVICE},
    {"pad", required_argument, NULL, PAD},
    {"offset", required_argument, NULL, OFFSET},
    {"repeats", required_argument, NULL, REPEATS},
    {"shape", required_argument, NULL, SHAPE},
    {"warm", no_argument, NULL, WARM},
    {"verify-only", no_argument, NULL, VERIFY_ONLY},
    {"counters", no_argument, NULL, COUNTERS},
    {"base", no_argument, NULL, BASE},
    {"schedule", required_argument, NULL, SCHEDULE},
    {"csv", required_argument, NULL, CSV},
    {"json", required_argument, NULL, JSON},
    {"list", no_argument, NULL, LIST},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

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
    "  --schedule NAME     CPU device: only this schedule (default: all)\n"
    "  --counters          count what one run does, by source line: programs under cpu-checked/\n"
    "  --base              with --counters: beside the base's, with ratios\n"
    "  --csv FILE          write the rows as CSV; - for stdout instead of the table\n"
    "  --json FILE         write the rows as JSON; - for stdout instead of the table\n"
    "  --list              the shapes, and exit\n"
    "  --help              this text, and exit\n"
    "\n"
    "exit status: 0 verified, 1 wrong result or fault, 2 bad option, 77 no GPU\n";

static int bad(const char *name, const char *value, const char *allowed) {
    fprintf(stderr, "%s %s: not allowed; allowed: %s\n", name, value, allowed);
    return EXIT_USAGE;
}

/* Reads the number of option `which`, or complains. */
static int read_number(int which, enum shape_kind kind, const char *word, int64_t *value) {
    const int64_t size_max = kind == SHAPE_GEMM ? SHAPE_SIZE_MAX : VECTOR_SIZE_MAX;
    const int64_t max[NUMBERS] = {size_max, size_max, size_max, INT64_MAX, 100000,
                                  1023,     4096,     63,       100000};
    const int64_t min = which == SAMPLES || which == REPEATS;
    char name[16], allowed[80];
    snprintf(name, sizeof name, "--%s", long_options[which].name);
    if (kind == SHAPE_GEMM ? which == OFFSET : which == M || which == K || which == PAD)
        return bad(name, word, "for other steps, see --help");
    if (parse_count(word, max[which], value) && *value >= min)
        return -1;
    snprintf(allowed, sizeof allowed, "a whole number from %lld to %lld", (long long)min,
             (long long)max[which]);
    return bad(name, word, allowed);
}

/* Adds the size that --m, --n and --k give, if they do. */
static int add_size(struct options *options, enum shape_kind kind, const int64_t *number) {
    char name[80], error[256];
    if (number[M] < 0 && number[N] < 0 && number[K] < 0)
        return -1;
    snprintf(name, sizeof name, "%lld", (long long)number[N]);
    if (kind == SHAPE_GEMM) {
        int missing = number[M] < 0 ? M : number[N] < 0 ? N : K;
        if (number[missing] < 0) {
            snprintf(name, sizeof name, "--%s", long_options[missing].name);
            return bad(name, "(missing)", "all of --m, --n and --k, or none");
        }
        snprintf(name, sizeof name, "%lldx%lldx%lld", (long long)number[M], (long long)number[N],
                 (long long)number[K]);
    }
    if (shapes_find(shapes_text, kind, name, &options->shapes, error))
        return -1;
    fprintf(stderr, "%s\n", error);
    return EXIT_USAGE;
}

int options_parse(struct options *options, enum shape_kind kind, int argc, char **argv) {
    int64_t number[NUMBERS] = {-1, -1, -1, [SEED] = 1, [REPEATS] = 1};
    char error[256];
    int c, status = -1;
    memset(options, 0, sizeof *options);
    optind = 0; /* GNU: afresh, whatever an earlier call left */
    while (status < 0 && (c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (c) {
        case SHAPE:
            if (!shapes_find(shapes_text, kind, optarg, &options->shapes, error)) {
                fprintf(stderr, "--shape: %s\n", error);
                status = EXIT_USAGE;
            }
            break;
        case WARM:
            options->warm = true;
            break;
        case VERIFY_ONLY:
            options->verify_only = true;
            break;
        case COUNTERS:
            options->counters = true;
            break;
        case BASE:
            options->base = true;
            break;
        case SCHEDULE:
            options->schedule = optarg;
            break;
        case CSV:
            options->csv = optarg;
            break;
        case JSON:
            options->json = optarg;
            break;
        case LIST:
            shapes_print(shapes_text);
            return EXIT_OK;
        case HELP:
            printf(
                "usage: %s [options]\n"
                "Verifies the step at each size, then times it beside its base and the library.\n\n"
                "%s%s",
                argv[0], kind == SHAPE_GEMM ? gemm_help : vector_help, common_help);
            return EXIT_OK;
        case '?': /* getopt_long has said what is wrong */
            return EXIT_USAGE;
        default:
            status = read_number(c, kind, optarg, &number[c]);
        }
    }
    if (status >= 0)
        return status;
    if (optind < argc)
        return bad("argument", argv[optind], "options only, see --help");
    if (options->base && !options->counters)
        return bad("--base", "(alone)", "with --counters");
    options->seed = (uint64_t)number[SEED];
    options->samples = (int)number[SAMPLES];
    options->device = (int)number[DEVICE];
    options->pad = (int)number[PAD];
    options->offset = (int)number[OFFSET];
    options->repeats = (int)number[REPEATS];
    if (options->csv != NULL && options->json != NULL && strcmp(options->csv, options->json) == 0)
        return bad("--json", options->json, "another file than --csv");
    return add_size(options, kind, number);
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
