/* The ladder: runs every step's programs over a set of shapes, and prints one table. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/cuda_compat.h"
#include "run/options.h"
#include "run/report.h"
#include "run/steps.h"
#include "tools/child.h"
#include "tools/driver.h"

enum { FOLDER_SIZE = 1024, EXIT_SIGNAL = 128 };

/* More FLOP or elements than this take minutes on the CPU device, which goes through every schedule. */
static const double cpu_flops_max = 4e9, cpu_length_max = 2e7;
/* The checked programs, which count a CPU row's remarks, are slower by far, but run once. */
static const double counted_flops_max = 2e7, counted_length_max = 2e6;

/* What the command line asks for. */
static struct {
    bool gpu, cpu, warm, variants;
    int samples; /* 0: until the median is settled */
    const char *steps, *csv, *json;
} asked;
static char folder[FOLDER_SIZE];       /* in which programs lie */
static struct shapes shapes[2];        /* of the CPU device, of GPUs; the table follows their order */
static struct driver driver;           /* of the GPUs, if they are asked for */
static struct report report;           /* the files; the table is printed at the end, in order */
static const struct step *facts_of[2]; /* whose facts are kept, of the CPU device and of GPUs */

/* ---- rows ---- */

static struct entry {
    long place; /* in the table: device, shape, step */
    struct row row;
} * entries;
static int entry_count;

static int step_number(const char *name) {
    int i = 0;
    while (steps[i].name != NULL && strncmp(steps[i].name, name, strcspn(name, "/")) != 0) ++i;
    return i; /* the libraries come behind the steps */
}

static int shape_number(const struct shapes *list, const char *name) {
    int i = 0;
    while (i < list->count && strcmp(list->shape[i].name, name) != 0) ++i;
    return i;
}

static void add(const struct row *row) {
    enum { MORE = 64 };
    const bool gpu = strcmp(row->device, "CPU device") != 0;
    if (entry_count % MORE == 0) entries = realloc(entries, (size_t)(entry_count + MORE) * sizeof *entries);
    if (entries == NULL) {
        fprintf(stderr, "no memory for %d rows\n", entry_count + MORE);
        exit(EXIT_FAULT);
    }
    const long shape = shape_number(&shapes[gpu], row->shape) + (gpu ? 0 : SHAPES_MAX + 1);
    entries[entry_count++] = (struct entry){1000 * shape + step_number(row->step), *row};
    report_row(&report, row);
}

static int by_place(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : strcmp(y->row.step, x->row.step); /* "08_x/baseline" first */
}

/* Prints all rows in order, each library once a shape, unless `file` is null. Returns an exit status. */
static int print_table(FILE *file) {
    int verified = 0, failed = 0, skipped = 0;
    bool figures = false;
    if (entry_count > 0) qsort(entries, (size_t)entry_count, sizeof *entries, by_place);
    for (int i = 0; i < entry_count; ++i) figures = figures || !isnan(entries[i].row.rate);
    if (file != NULL) row_table(file, NULL, figures);
    for (const struct entry *e = entries; e < entries + entry_count; ++e) {
        verified += strcmp(e->row.status, STATUS_VERIFIED) == 0;
        failed += strcmp(e->row.status, STATUS_FAILED) == 0;
        skipped += strcmp(e->row.status, STATUS_SKIPPED) == 0;
        bool again = e > entries && strcmp(e->row.status, STATUS_LIBRARY) == 0 && by_place(e, e - 1) == 0 &&
                     strcmp(e->row.shape, e[-1].row.shape) == 0;
        if (file != NULL && !again) row_table(file, &e->row, figures);
    }
    if (file != NULL)
        fprintf(file, "%s%d verified, %d failed, %d skipped; skipped is not verified\n",
                child_interrupted ? "interrupted, so not complete: " : "", verified, failed, skipped);
    return child_interrupted ? EXIT_SIGNAL + child_interrupted
           : failed > 0      ? EXIT_FAULT
           : verified == 0   ? EXIT_SKIPPED
                             : EXIT_OK;
}

/* ---- programs ---- */

/* The step that is running, and the device. */
static struct {
    const struct step *step;
    bool gpu;
    struct shapes shapes;
    bool reported[SHAPES_MAX]; /* which of them have a row */
    int count;                 /* how many have */
} now;

/* What its checked program counted, by shape; that of its base too, where it has no program. */
static struct row counted[2 * SHAPES_MAX];
static int counted_count;

static const char *device_name(void) { return now.gpu ? "GPU" : "CPU device"; }

/* Adds a row for what has no result: a step that was not run, or failed without a word. */
static void add_plain(const char *shape, const char *status, const char *note) {
    const struct step *s = now.step;
    struct row row;
    row_clear(&row);
    snprintf(row.step, sizeof row.step, "%s", s->name);
    snprintf(row.base, sizeof row.base, "%s", strcmp(s->base, "-") == 0 ? "" : s->base);
    snprintf(row.device, sizeof row.device, "%s", device_name());
    snprintf(row.shape, sizeof row.shape, "%s", shape);
    snprintf(row.status, sizeof row.status, "%s", status);
    snprintf(row.note, sizeof row.note, "%s", note);
    add(&row);
}

/* Says on a terminal how far the step is, or nothing any more. */
static void progress(bool running) {
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r\033[K");
    if (running)
        fprintf(stderr, "%s on the %s: %d of %d shapes", now.step->name, device_name(), now.count,
                now.shapes.count);
}

static void read_counted(const char *line) {
    if (counted_count < 2 * SHAPES_MAX && row_csv_parse(line, &counted[counted_count])) ++counted_count;
}

static void read_row(const char *line) {
    struct row row;
    if (line[0] == '#' && (facts_of[now.gpu] == NULL || facts_of[now.gpu] == now.step)) {
        facts_of[now.gpu] = now.step;
        progress(false);
        report_fact(&report, "%.*s", (int)strcspn(line + 2, "\n"), line + 2);
    }
    if (line[0] == '#' || !row_csv_parse(line, &row)) return;
    for (const struct row *c = counted; c < counted + counted_count; ++c)
        if (strcmp(c->step, row.step) == 0 && strcmp(c->shape, row.shape) == 0) {
            row.sectors = c->sectors, row.sectors_ideal = c->sectors_ideal;
            row.thread_bytes = c->thread_bytes, row.copy_bytes = c->copy_bytes;
            row.in_flight = c->in_flight;
        }
    add(&row);
    const int i = shape_number(&now.shapes, row.shape);
    if (i < now.shapes.count && !now.reported[i] && strcmp(row.step, now.step->name) == 0) {
        now.reported[i] = true;
        ++now.count;
        progress(true);
    }
}

static bool within(const struct shape *s, double flops, double length) {
    return s->kind == SHAPE_GEMM ? 2.0 * (double)s->m * (double)s->n * (double)s->k <= flops
                                 : (double)s->n <= length;
}

static const char *program_path(const char *room) {
    static char path[FOLDER_SIZE + 256];
    snprintf(path, sizeof path, "%s/%s/%s", folder, room, now.step->name);
    return path;
}

/* Runs the step's program, or its checked one over those shapes that are small. Returns as child_run(). */
static int run_program(bool checked, char *last, size_t size) {
    char words[SHAPES_MAX * SHAPE_NAME_SIZE] = "", samples[16];
    const char *arguments[10] = {program_path(checked   ? "cpu-checked"
                                              : now.gpu ? "gpu"
                                                        : "cpu"),
                                 "--csv", "-", "--shape", words};
    int count = 5;
    size_t length = 0;
    for (const struct shape *s = now.shapes.shape; s < now.shapes.shape + now.shapes.count; ++s)
        if (!checked || within(s, counted_flops_max, counted_length_max))
            length += (size_t)snprintf(words + length, sizeof words - length, "%s%s", length > 0 ? "," : "",
                                       s->name);
    snprintf(samples, sizeof samples, "%d", asked.samples);
    if (checked) arguments[count++] = "--counters";
    if (asked.samples > 0) arguments[count++] = "--samples", arguments[count++] = samples;
    if (asked.warm) arguments[count++] = "--warm";
    return length == 0 ? 0 : child_run(arguments, checked ? read_counted : read_row, !checked, last, size);
}

/* Why the step does not run here; false if nothing speaks against it. */
static bool cannot_run(char *why, size_t size) {
    const struct step *s = now.step;
    const struct gpu *g = &driver.gpu[0];
    const char *suffix = s->arch + strspn(s->arch, "0123456789");
    if (now.gpu && s->missing != NULL) snprintf(why, size, "%s", s->missing);
    else if (now.gpu && driver.gpus > 0 && gpu_code_for(s->arch, g->major, g->minor) == GPU_CODE_NONE)
        snprintf(why, size, "needs sm_%s%s, this GPU is sm_%d%d", s->arch, *suffix == '\0' ? " or newer" : "",
                 g->major, g->minor);
    else if (now.gpu && driver.gpus > 0 && driver.gpus < s->gpus)
        snprintf(why, size, "needs %d GPUs, there is %d", s->gpus, driver.gpus);
    else if (s->variant && access(program_path(now.gpu ? "gpu" : "cpu"), X_OK) != 0)
        snprintf(why, size, "not built: build the target variants");
    else return false;
    return true;
}

/* Runs a step on a device over the shapes of its kind; adds its rows, or the reason why there are none. */
static void run_step(const struct step *step, bool gpu) {
    const char *ended_at = NULL;
    char last[256] = "", text[512];
    memset(&now, 0, sizeof now);
    now.step = step, now.gpu = gpu, counted_count = 0;
    for (const struct shape *s = shapes[gpu].shape; s < shapes[gpu].shape + shapes[gpu].count; ++s)
        if (s->kind == step->kind && !gpu && !within(s, cpu_flops_max, cpu_length_max))
            add_plain(s->name, STATUS_SKIPPED, "too large for the CPU device in a ladder");
        else if (s->kind == step->kind) now.shapes.shape[now.shapes.count++] = *s;
    if (now.shapes.count == 0) return;
    if (cannot_run(text, sizeof text)) {
        add_plain("-", STATUS_SKIPPED, text);
        return;
    }
    if (!gpu) run_program(true, last, sizeof last);
    progress(true);
    const int status = run_program(false, last, sizeof last);
    progress(false);
    if (child_interrupted) return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED) {
        add_plain("-", STATUS_SKIPPED, last);
        return;
    }
    for (int i = 0; i < now.shapes.count; ++i) {
        const char *name = now.shapes.shape[i].name;
        if (now.reported[i]) continue;
        if (ended_at != NULL) snprintf(text, sizeof text, "not run: the program ended at %s", ended_at);
        else if (WIFEXITED(status))
            snprintf(text, sizeof text, "exit status %d: %s", WEXITSTATUS(status), last);
        else
            snprintf(text, sizeof text, "killed by signal %d (%s): %s", WTERMSIG(status),
                     strsignal(WTERMSIG(status)), last);
        add_plain(name, ended_at != NULL ? STATUS_SKIPPED : STATUS_FAILED, text);
        ended_at = ended_at != NULL ? ended_at : name;
    }
}

static void run_steps(bool gpu) {
    for (const struct step *s = steps; s->name != NULL && !child_interrupted; ++s)
        if (asked.steps != NULL ? has_word(asked.steps, s->name) : s->variant == asked.variants)
            run_step(s, gpu);
}

/* ---- the command line ---- */

static void print_list(void) {
    printf("# step               base         track    types\n");
    for (const struct step *s = steps; s->name != NULL; ++s)
        printf("%-20s %-12s %-8s %-13s%s%s\n", s->name, s->base, s->track, s->types,
               s->missing != NULL ? "  no GPU program: " : "", s->missing != NULL ? s->missing : "");
    printf("\n%s", shapes_text);
}

/* Whether all words of --steps are names of steps. */
static bool check_steps(const char *list) {
    char word[64];
    while (list != NULL) {
        list = next_word(list, word, sizeof word);
        const struct step *s = steps;
        while (s->name != NULL && strcmp(s->name, word) != 0) ++s;
        if (s->name == NULL) {
            option_refused("--steps", word, "the step names that --list prints");
            return false;
        }
    }
    return true;
}

/* Returns -1 to go on, or an exit status. */
static int parse(int argc, char **argv) {
    bool list = false;
    char error[256];
    // clang-format off
    const struct option_word words[] = {
        {"gpu", "", OPTION_FLAG, &asked.gpu, "only on GPUs (default: on both devices)", 0, 0},
        {"cpu", "", OPTION_FLAG, &asked.cpu, "only on the CPU device", 0, 0},
        {"shapes", "WHAT", OPTION_SHAPES, &shapes[false], "names, sets, MxNxK or lengths with commas;\n"
         "                      default: ladder on a GPU, small on the CPU device", SHAPE_ANY, 0},
        {"steps", "LIST", OPTION_TEXT, &asked.steps, "names of steps, variants or rungs with commas", 0, 0},
        {"variants", "", OPTION_FLAG, &asked.variants, "all of tests/diffs/variants and rungs in place of the steps", 0, 0},
        {"samples", "S", OPTION_INT, &asked.samples, "timed runs (default: until the median settles)", 1, 100000},
        {"warm", "", OPTION_FLAG, &asked.warm, "do not flush the L2 cache between samples", 0, 0},
        {"csv", "FILE", OPTION_TEXT, &asked.csv, "write the rows as CSV too; - for stdout, no table", 0, 0},
        {"json", "FILE", OPTION_TEXT, &asked.json, "the same as JSON", 0, 0},
        {"list", "", OPTION_STOP, &list, "the steps and the shapes, and exit", 0, 0},
        {NULL, NULL, OPTION_FLAG, NULL, NULL, 0, 0},
    };
    // clang-format on
    int status =
        options_read("Verifies every step on every device that there is, times it on a GPU, and prints one "
                     "table.\n"
                     "exit status: 0 verified, 1 a step failed, 2 bad option, 77 nothing could be run,\n"
                     "130 interrupted by Ctrl-C (what was measured until then is written)\n",
                     words, argc, argv);
    if (status >= 0) return status;
    if (list) {
        print_list();
        return option_printed();
    }
    if (asked.steps != NULL && !check_steps(asked.steps)) return EXIT_USAGE;
    if (!asked.gpu && !asked.cpu) asked.gpu = asked.cpu = true;
    if (shapes[false].count > 0) shapes[true] = shapes[false];
    else if (!shapes_find(SHAPE_ANY, "small", &shapes[false], error) ||
             !shapes_find(SHAPE_ANY, "ladder", &shapes[true], error))
        return EXIT_FAULT;
    return -1;
}

/*
 * Takes the GPU until this program ends; false if another ladder has it. The lock is a socket, which
 * needs no file, named for the GPU's place on the bus: CUDA_VISIBLE_DEVICES has many names for one.
 */
static bool take_gpu(void) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    const char *gpu = driver.gpus > 0 ? driver.gpu[0].bus_id : visible != NULL ? visible : "0";
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "overlap-ladder-%.*s", (int)strcspn(gpu, ","),
             gpu); /* programs take the first that is visible */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) == 0 || errno != EADDRINUSE) return true;
    fprintf(stderr, "another ladder is at work on the GPU, and would spoil the times of both: wait "
                    "for it, or use --cpu\n");
    return false;
}

int main(int argc, char **argv) {
    int status = parse(argc, argv);
    if (status >= 0) return status;
    if (!program_folder(folder, sizeof folder)) return EXIT_FAULT;
    if (asked.gpu && steps[0].missing == NULL) {
        driver_ask(&driver);
        if (!take_gpu()) return EXIT_USAGE;
    }
    if (!report_open(&report, asked.csv, asked.json, NULL)) return EXIT_USAGE;
    report.later = true;
    child_watch();
    if (asked.gpu) run_steps(true);
    if (asked.cpu) run_steps(false);
    status = print_table(report.table.file);
    if (child_interrupted) fprintf(stderr, "interrupted: what was measured until then is written\n");
    return !report_close(&report) && status == EXIT_OK ? EXIT_FAULT : status;
}
