/* The command line of the ladder. */
#include "tools/ladder.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "run/options.h"
#include "tools/child.h"

static const char help_text[] =
    "Verifies every step on every device that there is, times it on a GPU, and prints one table.\n"
    "\n"
    "  --gpu, --cpu      only these devices (default: both)\n"
    "  --shapes WHAT     names, sets or MxNxK with commas (default: ladder on a GPU, small on the "
    "CPU)\n"
    "  --steps LIST      names of steps or variants with commas (default: all steps)\n"
    "  --variants        all variants (see tests/diffs/variants) in place of the steps\n"
    "  --samples S       timed runs of each (default: until the median is settled)\n"
    "  --warm            do not flush the L2 cache between samples\n"
    "  --csv FILE        write the rows as CSV too; - for stdout instead of the table\n"
    "  --json FILE       the same as JSON\n"
    "  --list            the steps and the shapes, and exit\n"
    "  --help            this text, and exit\n"
    "\n"
    "exit status: 0 verified, 1 a step failed, 2 bad option, 77 nothing could be run,\n"
    "130 interrupted by Ctrl-C (what was measured until then is written)\n";

static void print_list(void) {
    printf("# step               base         track    types\n");
    for (const struct step *s = steps; s->name != NULL; ++s)
        printf("%-20s %-12s %-8s %-13s%s%s\n", s->name, s->base, s->track, s->types,
               s->missing != NULL ? "  no GPU program: " : "",
               s->missing != NULL ? s->missing : "");
    printf("\n%s", shapes_text);
}

/* Whether all words of --steps are names of steps. */
static bool check_steps(const char *list) {
    char word[64];
    do {
        const struct step *s = steps;
        size_t length = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        while (s->name != NULL && strcmp(s->name, word) != 0)
            ++s;
        if (s->name == NULL) {
            option_refused("--steps", word, "the step names that --list prints");
            return false;
        }
        list += length;
    } while (*list++ == ',');
    return true;
}

bool ladder_sizes(const char *what, struct sizes *sizes) {
    char word[SHAPE_NAME_SIZE * 2], error[2][256];
    memset(sizes, 0, sizeof *sizes);
    do {
        size_t length = strcspn(what, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, what);
        bool found = false;
        for (int kind = SHAPE_GEMM; kind <= SHAPE_VECTOR; ++kind)
            found |= shapes_find(kind, word, &sizes->of[kind], error[kind]);
        if (!found) {
            fprintf(stderr, "--shapes: %s\n",
                    error[isdigit((unsigned char)word[0]) && strchr(word, 'x') == NULL]);
            return false;
        }
        what += length;
    } while (*what++ == ',');
    return true;
}

/* Returns -1 to go on, or an exit status. */
static int parse(struct ladder *l, int argc, char **argv) {
    bool list = false, help = false;
    const struct option_word words[] = {
        {"gpu", OPTION_FLAG, &l->gpu, 0, 0},
        {"cpu", OPTION_FLAG, &l->cpu, 0, 0},
        {"shapes", OPTION_TEXT, &l->shapes, 0, 0},
        {"steps", OPTION_TEXT, &l->steps, 0, 0},
        {"variants", OPTION_FLAG, &l->variants, 0, 0},
        {"samples", OPTION_INT, &l->samples, 1, 100000},
        {"warm", OPTION_FLAG, &l->warm, 0, 0},
        {"csv", OPTION_TEXT, &l->csv, 0, 0},
        {"json", OPTION_TEXT, &l->json, 0, 0},
        {"list", OPTION_STOP, &list, 0, 0},
        {"help", OPTION_STOP, &help, 0, 0},
        {NULL, OPTION_FLAG, NULL, 0, 0},
    };
    int status = options_read(words, argc, argv);
    if (status >= 0)
        return status;
    if (list)
        print_list();
    if (help)
        printf("usage: %s [options]\n%s", argv[0], help_text);
    if (list || help)
        return EXIT_OK;
    if (l->steps != NULL && !check_steps(l->steps))
        return EXIT_USAGE;
    if (!l->gpu && !l->cpu)
        l->gpu = l->cpu = true;
    if (!ladder_sizes(l->shapes != NULL ? l->shapes : "small", &l->sizes[false]) ||
        !ladder_sizes(l->shapes != NULL ? l->shapes : "ladder", &l->sizes[true]))
        return EXIT_USAGE;
    return -1;
}

/*
 * Takes the GPU until this program ends; false if another ladder has it. The lock is a socket, which
 * needs no file, named for the GPU's place on the bus: CUDA_VISIBLE_DEVICES has many names for one.
 */
static bool take_gpu(const struct driver *driver) {
    const char *gpu = getenv("CUDA_VISIBLE_DEVICES");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (driver->gpus > 0)
        gpu = driver->gpu[0].bus_id;
    else if (gpu == NULL)
        gpu = "0";
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "overlap-ladder-%.*s",
             (int)strcspn(gpu, ","), gpu); /* programs take the first that is visible */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) == 0 || errno != EADDRINUSE)
        return true;
    fprintf(stderr, "another ladder is at work on the GPU, and would spoil the times of both: wait "
                    "for it, or use --cpu\n");
    return false;
}

int main(int argc, char **argv) {
    static struct ladder ladder;
    char folder[1024];
    int status = parse(&ladder, argc, argv);
    if (status >= 0)
        return status;
    if (!program_folder(folder, sizeof folder))
        return EXIT_FAULT;
    if (ladder.gpu && steps[0].missing == NULL) {
        driver_ask(&ladder.driver);
        if (!take_gpu(&ladder.driver))
            return EXIT_USAGE;
    }
    if (!report_open(&ladder.report, ladder.csv, ladder.json))
        return EXIT_USAGE;
    struct output_file table = ladder.report.table;
    ladder.report.table.file = NULL;
    child_watch();
    if (ladder.gpu)
        ladder_run(&ladder, folder, true);
    if (ladder.cpu)
        ladder_run(&ladder, folder, false);
    status = ladder_print(&ladder, table.file);
    free(ladder.entries);
    if (child_interrupted)
        fprintf(stderr, "interrupted: what was measured until then is written\n");
    bool good = output_close(&table);
    good = report_close(&ladder.report) && good;
    return !good && status == EXIT_OK ? EXIT_FAULT : status;
}
