#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    OPT_M = 256,
    OPT_N,
    OPT_K,
    OPT_SHAPE,
    OPT_SEED,
    OPT_SAMPLES,
    OPT_WARM,
    OPT_VERIFY,
    OPT_DEVICE,
    OPT_PAD,
    OPT_SCHEDULE,
    OPT_CSV,
    OPT_JSON,
    OPT_LIST,
    OPT_HELP
};

static const struct option long_options[] = {
    {"m", required_argument, NULL, OPT_M},
    {"n", required_argument, NULL, OPT_N},
    {"k", required_argument, NULL, OPT_K},
    {"shape", required_argument, NULL, OPT_SHAPE},
    {"seed", required_argument, NULL, OPT_SEED},
    {"samples", required_argument, NULL, OPT_SAMPLES},
    {"warm", no_argument, NULL, OPT_WARM},
    {"verify-only", no_argument, NULL, OPT_VERIFY},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"pad", required_argument, NULL, OPT_PAD},
    {"schedule", required_argument, NULL, OPT_SCHEDULE},
    {"csv", required_argument, NULL, OPT_CSV},
    {"json", required_argument, NULL, OPT_JSON},
    {"list", no_argument, NULL, OPT_LIST},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static void print_help(const char *program) {
    printf("usage: %s [options]\n"
           "Verifies the step at each shape, then times it beside its base and the library.\n"
           "\n"
           "  --m M --n N --k K   one shape: C (MxN) = A (MxK) * B (KxN), each 0 to %d\n"
           "  --shape WHAT        a name, a set or MxNxK, or several with commas (--list shows "
           "them);\n"
           "                      default: book on a GPU, small on the CPU device\n"
           "  --pad E             E more elements in every row; rows start on 128-byte boundaries "
           "without it\n"
           "  --seed S            seed of the inputs (default 1)\n"
           "  --samples S         timed runs, 1 to 100000 (default: until the median is settled)\n"
           "  --warm              leave the L2 cache as the last run left it; it is flushed "
           "otherwise\n"
           "  --verify-only       do not time\n"
           "  --device D          number of the CUDA device (default 0)\n"
           "  --schedule NAME     CPU device: only this schedule (default: all)\n"
           "  --csv FILE          write the rows as CSV; - for stdout instead of the table\n"
           "  --json FILE         write the rows as JSON; - for stdout instead of the table\n"
           "  --list              the shapes, and exit\n"
           "  --help              this text, and exit\n"
           "\n"
           "exit status: 0 verified, 1 wrong result or fault, 2 bad option, 77 no GPU\n",
           program, SHAPE_SIZE_MAX);
}

static int bad(const char *name, const char *value, const char *allowed) {
    fprintf(stderr, "--%s %s: not allowed; allowed: %s\n", name, value, allowed);
    return EXIT_USAGE;
}

/* Reads a whole number of an option, or complains. */
static int read_number(const char *name, const char *word, int64_t min, int64_t max,
                       int64_t *value) {
    char allowed[64];
    if (parse_count(word, max, value) && *value >= min)
        return -1;
    snprintf(allowed, sizeof allowed, "a whole number from %lld to %lld", (long long)min,
             (long long)max);
    return bad(name, word, allowed);
}

int options_parse(struct options *options, int argc, char **argv) {
    int64_t size[3] = {-1, -1, -1}, value = 0;
    char error[256];
    int c, status = -1;
    memset(options, 0, sizeof *options);
    options->seed = 1;
    optind = 1;
    while (status < 0 && (c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (c) {
        case OPT_M:
        case OPT_N:
        case OPT_K:
            status = read_number(c == OPT_M   ? "m"
                                 : c == OPT_N ? "n"
                                              : "k",
                                 optarg, 0, SHAPE_SIZE_MAX, &size[c - OPT_M]);
            break;
        case OPT_SHAPE:
            if (!shapes_find(shapes_text, optarg, &options->shapes, error)) {
                fprintf(stderr, "--shape: %s\n", error);
                status = EXIT_USAGE;
            }
            break;
        case OPT_SEED:
            status = read_number("seed", optarg, 0, INT64_MAX, &value);
            options->seed = (uint64_t)value;
            break;
        case OPT_SAMPLES:
            status = read_number("samples", optarg, 1, 100000, &value);
            options->samples = (int)value;
            break;
        case OPT_WARM:
            options->warm = true;
            break;
        case OPT_VERIFY:
            options->verify_only = true;
            break;
        case OPT_DEVICE:
            status = read_number("device", optarg, 0, 1023, &value);
            options->device = (int)value;
            break;
        case OPT_PAD:
            status = read_number("pad", optarg, 0, 4096, &value);
            options->pad = (int)value;
            break;
        case OPT_SCHEDULE:
            options->schedule = optarg;
            break;
        case OPT_CSV:
            options->csv = optarg;
            break;
        case OPT_JSON:
            options->json = optarg;
            break;
        case OPT_LIST:
            shapes_print(shapes_text);
            return EXIT_OK;
        case OPT_HELP:
            print_help(argv[0]);
            return EXIT_OK;
        default: /* getopt_long has said what is wrong */
            return EXIT_USAGE;
        }
    }
    if (status >= 0)
        return status;
    if (optind < argc)
        return bad("", argv[optind], "options only, see --help");
    if (size[0] >= 0 || size[1] >= 0 || size[2] >= 0) {
        if (size[0] < 0 || size[1] < 0 || size[2] < 0)
            return bad(size[0] < 0   ? "m"
                       : size[1] < 0 ? "n"
                                     : "k",
                       "(missing)", "all of --m, --n and --k, or none");
        char name[80];
        snprintf(name, sizeof name, "%lldx%lldx%lld", (long long)size[0], (long long)size[1],
                 (long long)size[2]);
        if (!shapes_find(shapes_text, name, &options->shapes, error)) {
            fprintf(stderr, "%s\n", error);
            return EXIT_USAGE;
        }
    }
    if (options->csv != NULL && options->json != NULL && strcmp(options->csv, options->json) == 0)
        return bad("json", options->json, "another file than --csv");
    return -1;
}
