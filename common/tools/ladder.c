/* The ladder: runs every step's programs over a set of shapes, and prints one table. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/options.h"
#include "run/report.h"
#include "run/steps.h"

enum { PATH_SIZE = 1024, LINE_SIZE = 1024, EXIT_SIGNAL = 128 };

/* More FLOP or elements than this take minutes on the CPU device, which goes through every schedule. */
static const double cpu_flops_max = 4e9, cpu_length_max = 2e7;
/* The checked programs, which count a CPU row's remarks, are slower by far, but run once. */
static const double counted_flops_max = 2e7, counted_length_max = 2e6;

/* What the command line asks for. */
struct ladder_options {
    bool gpu, cpu, warm, variants;
    const char *shapes, *steps, *samples, *csv, *json;
};

/* What has come in so far. */
struct ladder {
    struct report report; /* the files; the table is printed at the end, in order */
    struct row *rows;
    int count, capacity;
    const struct step *facts_of[2]; /* whose facts are kept, for the CPU device and for GPUs */
};

static volatile sig_atomic_t interrupted; /* by this signal */
static volatile pid_t running;            /* the program that is at work; 0: none */

/* The sizes that were asked for, by kind of step; the table follows their order. */
struct sizes {
    struct shapes of[2]; /* by enum shape_kind */
};
static struct sizes shape_order[2]; /* of the CPU device, of GPUs */

/* Ends the program that is at work; the rows that it has written are still read. */
static void on_interrupt(int number) {
    interrupted = number;
    if (running > 0)
        kill(running, SIGTERM);
}

static void print_help(const char *program) {
    printf("usage: %s [options]\n"
           "Verifies every step on every device that there is, times it on a GPU, and prints one "
           "table.\n"
           "\n"
           "  --gpu, --cpu      only these devices (default: both)\n"
           "  --shapes WHAT     names, sets or MxNxK with commas (default: ladder on a GPU, small "
           "on the CPU)\n"
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
           "130 interrupted by Ctrl-C (what was measured until then is written)\n",
           program);
}

static void print_list(void) {
    printf("# step               base         track    types\n");
    for (const struct step *s = steps; s->name != NULL; ++s)
        printf("%-20s %-12s %-8s %-13s%s%s\n", s->name, s->base, s->track, s->types,
               s->missing != NULL ? "  no GPU program: " : "",
               s->missing != NULL ? s->missing : "");
    printf("\n");
    shapes_print(shapes_text);
}

static int complain(const char *option, const char *value, const char *allowed) {
    fprintf(stderr, "%s %s: not allowed; allowed: %s\n", option, value, allowed);
    return EXIT_USAGE;
}

/* Whether `name` is among the comma-separated words of `list`. */
static bool listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; ++at)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

static int check_steps(const char *list) {
    char word[64];
    for (const char *at = list;; ++at) {
        size_t length = strcspn(at, ",");
        bool known = false;
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        for (const struct step *s = steps; s->name != NULL; ++s)
            known = known || strcmp(s->name, word) == 0;
        if (!known)
            return complain("--steps", word, "the step names that --list prints");
        at += length;
        if (*at == '\0')
            return -1;
    }
}

/* Finds every word of `what` among the sizes of at least one kind. */
static bool find_sizes(const char *what, struct sizes *sizes) {
    char word[SHAPE_NAME_SIZE * 2], error[2][256];
    memset(sizes, 0, sizeof *sizes);
    do {
        size_t length = strcspn(what, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, what);
        bool gemm = shapes_find(shapes_text, SHAPE_GEMM, word, &sizes->of[SHAPE_GEMM], error[0]);
        bool vector =
            shapes_find(shapes_text, SHAPE_VECTOR, word, &sizes->of[SHAPE_VECTOR], error[1]);
        if (!gemm && !vector) {
            fprintf(stderr, "--shapes: %s\n",
                    error[isdigit((unsigned char)word[0]) && strchr(word, 'x') == NULL]);
            return false;
        }
        what += length;
    } while (*what++ == ',');
    return true;
}

static int parse(struct ladder_options *o, int argc, char **argv) {
    static const struct option long_options[] = {
        {"gpu", no_argument, NULL, 'g'},          {"cpu", no_argument, NULL, 'c'},
        {"shapes", required_argument, NULL, 's'}, {"steps", required_argument, NULL, 't'},
        {"variants", no_argument, NULL, 'x'},     {"samples", required_argument, NULL, 'n'},
        {"warm", no_argument, NULL, 'w'},         {"csv", required_argument, NULL, 'v'},
        {"json", required_argument, NULL, 'j'},   {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    int64_t samples;
    int c;
    memset(o, 0, sizeof *o);
    while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (c) {
        case 'g':
            o->gpu = true;
            break;
        case 'c':
            o->cpu = true;
            break;
        case 's':
            o->shapes = optarg;
            break;
        case 't':
            o->steps = optarg;
            break;
        case 'x':
            o->variants = true;
            break;
        case 'n':
            o->samples = optarg;
            break;
        case 'w':
            o->warm = true;
            break;
        case 'v':
            o->csv = optarg;
            break;
        case 'j':
            o->json = optarg;
            break;
        case 'l':
            print_list();
            return EXIT_OK;
        case 'h':
            print_help(argv[0]);
            return EXIT_OK;
        default:
            return EXIT_USAGE;
        }
    }
    if (optind < argc)
        return complain("argument", argv[optind], "options only, see --help");
    if (o->samples != NULL && (!parse_count(o->samples, 100000, &samples) || samples < 1))
        return complain("--samples", o->samples, "a whole number from 1 to 100000");
    if (o->csv != NULL && o->json != NULL && strcmp(o->csv, o->json) == 0)
        return complain("--json", o->json, "another file than --csv");
    struct sizes sizes;
    if (o->shapes != NULL && !find_sizes(o->shapes, &sizes))
        return EXIT_USAGE;
    if (!o->gpu && !o->cpu)
        o->gpu = o->cpu = true;
    return o->steps != NULL ? check_steps(o->steps) : -1;
}

static void add_row(struct ladder *l, const struct row *row) {
    if (l->count == l->capacity) {
        l->capacity = 2 * l->capacity + 64;
        l->rows = realloc(l->rows, (size_t)l->capacity * sizeof *l->rows);
        if (l->rows == NULL) {
            fprintf(stderr, "no memory for %d rows\n", l->capacity);
            exit(EXIT_FAULT);
        }
    }
    l->rows[l->count++] = *row;
    report_row(&l->report, row);
}

/* A row for what has no result: a step that was not run, or failed without a word. */
static void add_plain(struct ladder *l, const struct step *step, bool gpu, const char *shape,
                      const char *status, const char *note) {
    struct row row;
    row_clear(&row);
    snprintf(row.step, sizeof row.step, "%s", step->name);
    snprintf(row.base, sizeof row.base, "%s", strcmp(step->base, "-") == 0 ? "" : step->base);
    snprintf(row.device, sizeof row.device, "%s", gpu ? "GPU" : "CPU device");
    snprintf(row.shape, sizeof row.shape, "%s", shape);
    snprintf(row.status, sizeof row.status, "%s", status);
    snprintf(row.note, sizeof row.note, "%s", note);
    add_row(l, &row);
}

static void progress(const struct step *step, const char *device, int done, int of) {
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s on the %s: %d of %d shapes", step->name, device, done, of);
}

static void end_progress(void) {
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

/* Starts `program` with its stdout in a pipe and its stderr in `errors`. */
static FILE *start(char *const *arguments, FILE *errors) {
    int ends[2];
    if (pipe(ends) != 0)
        return NULL;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(fileno(errors), STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(arguments[0], arguments);
        dprintf(STDERR_FILENO, "%s: cannot be run: %s\n", arguments[0], strerror(errno));
        _exit(EXIT_FAULT);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return NULL;
    }
    running = child;
    if (interrupted)
        kill(child, SIGTERM);
    return fdopen(ends[0], "r");
}

/* Waits for the program that start() started. Returns its status as waitpid() gives it. */
static int finish(FILE *rows) {
    int status = 0;
    fclose(rows);
    while (waitpid(running, &status, 0) < 0 && errno == EINTR)
        continue;
    running = 0;
    return status;
}

/* Copies what a program complained of to stderr; puts its last line into `last`. */
static void read_errors(FILE *errors, bool show, char *last, size_t size) {
    char line[LINE_SIZE];
    rewind(errors);
    while (fgets(line, sizeof line, errors) != NULL) {
        if (show)
            fputs(line, stderr);
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != ' ') /* an indented line goes on about the one before */
            snprintf(last, size, "%s", line);
    }
}

/* What the checked program of a step counted, by shape; its base's too, where that is no step. */
static struct row counted_rows[2 * SHAPES_MAX];
static int counted_count;

static void count_shapes(const char *directory, const struct step *step,
                         const struct shapes *shapes) {
    char program[PATH_SIZE], words[SHAPES_MAX * SHAPE_NAME_SIZE] = "", line[LINE_SIZE];
    bool gemm = strcmp(step->track, "gemm") == 0;
    counted_count = 0;
    for (int i = 0; i < shapes->count; ++i) {
        const struct shape *s = &shapes->shape[i];
        if (gemm ? 2.0 * (double)s->m * (double)s->n * (double)s->k <= counted_flops_max
                 : (double)s->n <= counted_length_max)
            snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s",
                     words[0] != '\0' ? "," : "", s->name);
    }
    snprintf(program, sizeof program, "%s/cpu-checked/%s", directory, step->name);
    if (words[0] == '\0' || access(program, X_OK) != 0)
        return;
    char *arguments[] = {program, "--counters", "--csv", "-", "--shape", words, NULL};
    FILE *errors = tmpfile(), *rows = errors != NULL ? start(arguments, errors) : NULL;
    while (rows != NULL && fgets(line, sizeof line, rows) != NULL)
        if (line[0] != '#' && counted_count < 2 * SHAPES_MAX &&
            row_csv_parse(line, &counted_rows[counted_count]))
            ++counted_count;
    if (rows != NULL)
        finish(rows);
    if (errors != NULL)
        fclose(errors);
}

static void add_counters(struct row *row) {
    for (int i = 0; i < counted_count; ++i)
        if (row->note[0] == '\0' && strcmp(counted_rows[i].step, row->step) == 0 &&
            strcmp(counted_rows[i].shape, row->shape) == 0)
            snprintf(row->note, sizeof row->note, "%s", counted_rows[i].note);
}

/* Runs one program over the shapes; collects its rows, or the reason why there are none. */
static void run_program(struct ladder *l, const struct ladder_options *o, const char *directory,
                        const struct step *step, bool gpu, const struct shapes *shapes) {
    char program[PATH_SIZE], words[SHAPES_MAX * SHAPE_NAME_SIZE] = "", line[LINE_SIZE],
                                                last[256] = "";
    const char *device = gpu ? "GPU" : "CPU device";
    int seen = 0;
    bool reported[SHAPES_MAX] = {false};
    if (gpu && step->missing != NULL) {
        add_plain(l, step, gpu, "-", STATUS_SKIPPED, step->missing);
        return;
    }
    for (int i = 0; i < shapes->count; ++i)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i > 0 ? "," : "",
                 shapes->shape[i].name);
    snprintf(program, sizeof program, "%s/%s/%s", directory, gpu ? "gpu" : "cpu", step->name);
    if (step->variant && access(program, X_OK) != 0) {
        add_plain(l, step, gpu, "-", STATUS_SKIPPED, "not built: build the target variants");
        return;
    }
    char *arguments[10] = {program, "--csv", "-", "--shape", words};
    int count = 5;
    if (o->samples != NULL)
        arguments[count++] = "--samples", arguments[count++] = (char *)o->samples;
    if (o->warm)
        arguments[count++] = "--warm";

    FILE *errors = tmpfile(), *rows = errors != NULL ? start(arguments, errors) : NULL;
    if (rows == NULL) {
        snprintf(line, sizeof line, "%s: cannot be started: %s", program, strerror(errno));
        add_plain(l, step, gpu, "-", STATUS_FAILED, line);
        if (errors != NULL)
            fclose(errors);
        return;
    }
    progress(step, device, 0, shapes->count);
    while (fgets(line, sizeof line, rows) != NULL) {
        struct row row;
        if (line[0] == '#' && (l->facts_of[gpu] == NULL || l->facts_of[gpu] == step)) {
            l->facts_of[gpu] = step;
            line[strcspn(line, "\n")] = '\0';
            report_fact(&l->report, line + 2);
        } else if (line[0] != '#' && row_csv_parse(line, &row)) {
            if (!gpu)
                add_counters(&row);
            add_row(l, &row);
            for (int i = 0; i < shapes->count; ++i)
                if (strcmp(row.step, step->name) == 0 && !reported[i] &&
                    strcmp(row.shape, shapes->shape[i].name) == 0) {
                    reported[i] = true;
                    progress(step, device, ++seen, shapes->count);
                }
        }
    }
    int status = finish(rows);
    end_progress();
    int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    read_errors(errors, exit_status != EXIT_OK && exit_status != EXIT_SKIPPED && !interrupted, last,
                sizeof last);
    fclose(errors);
    if (interrupted)
        return;
    if (exit_status == EXIT_SKIPPED) {
        add_plain(l, step, gpu, "-", STATUS_SKIPPED, last);
        return;
    }
    const char *ended_at = NULL;
    for (int i = 0; i < shapes->count; ++i) {
        if (reported[i])
            continue;
        if (ended_at != NULL) {
            snprintf(line, sizeof line, "not run: the program ended at %s", ended_at);
            add_plain(l, step, gpu, shapes->shape[i].name, STATUS_SKIPPED, line);
            continue;
        }
        ended_at = shapes->shape[i].name;
        if (exit_status >= 0)
            snprintf(line, sizeof line, "exit status %d: %s", exit_status, last);
        else
            snprintf(line, sizeof line, "killed by signal %d (%s): %s", WTERMSIG(status),
                     strsignal(WTERMSIG(status)), last);
        add_plain(l, step, gpu, ended_at, STATUS_FAILED, line);
    }
}

static void run_device(struct ladder *l, const struct ladder_options *o, const char *directory,
                       bool gpu) {
    struct sizes wanted;
    struct shapes shapes = {0};
    if (!find_sizes(o->shapes != NULL ? o->shapes : gpu ? "ladder" : "small", &wanted))
        exit(EXIT_USAGE);
    shape_order[gpu] = wanted;
    for (const struct step *s = steps; s->name != NULL && !interrupted; ++s) {
        bool gemm = strcmp(s->track, "gemm") == 0;
        const struct shapes *all = &wanted.of[gemm ? SHAPE_GEMM : SHAPE_VECTOR];
        if (o->steps != NULL ? !listed(o->steps, s->name) : s->variant != o->variants)
            continue;
        shapes.count = 0;
        for (int i = 0; i < all->count; ++i) {
            const struct shape *shape = &all->shape[i];
            double flops =
                (gemm ? 2.0 * (double)shape->m * (double)shape->k : 1.0) * (double)shape->n;
            if (!gpu && flops > (gemm ? cpu_flops_max : cpu_length_max))
                add_plain(l, s, gpu, shape->name, STATUS_SKIPPED,
                          "too large for the CPU device in a ladder");
            else
                shapes.shape[shapes.count++] = *shape;
        }
        if (!gpu)
            count_shapes(directory, s, &shapes);
        if (shapes.count > 0)
            run_program(l, o, directory, s, gpu, &shapes);
    }
}

/* Takes the GPU until this program ends; false if another ladder has it. By a name of the kernel's, no file. */
static bool take_gpu(void) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "overlap-ladder-%s",
             visible != NULL ? visible : "0"); /* the ladder takes the first that is visible */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) == 0 || errno != EADDRINUSE)
        return true;
    fprintf(stderr, "another ladder is at work on the GPU, and would spoil the times of both: wait "
                    "for it, or use --cpu\n");
    return false;
}

static int step_number(const char *name) {
    int i = 0;
    while (steps[i].name != NULL && strncmp(steps[i].name, name, strcspn(name, "/")) != 0)
        ++i;
    return i; /* the libraries come behind the steps */
}

static bool on_gpu(const struct row *row) {
    return strcmp(row->device, "CPU device") != 0;
}

static int shape_number(const struct row *row) {
    const struct sizes *order = &shape_order[on_gpu(row)];
    int number = 0;
    for (int kind = SHAPE_GEMM; kind <= SHAPE_VECTOR; ++kind)
        for (int i = 0; i < order->of[kind].count; ++i, ++number)
            if (strcmp(order->of[kind].shape[i].name, row->shape) == 0)
                return number;
    return number;
}

/* By device, then by shape, then by step. */
static int by_place(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    int devices = on_gpu(y) - on_gpu(x);
    int shapes = shape_number(x) - shape_number(y),
        numbers = step_number(x->step) - step_number(y->step);
    return devices != 0   ? devices
           : shapes != 0  ? shapes
           : numbers != 0 ? numbers
                          : strcmp(y->step, x->step); /* "08_x/baseline" before "08_x" */
}

/* Prints all rows in order, each library once a shape, and counts them. Returns an exit status. */
static int print_all(struct ladder *l, bool table) {
    int verified = 0, failed = 0, skipped = 0;
    bool figures = false;
    if (l->count > 0)
        qsort(l->rows, (size_t)l->count, sizeof *l->rows, by_place);
    for (int i = 0; i < l->report.fact_count && table; ++i)
        printf("%s\n", l->report.facts[i]);
    for (int i = 0; i < l->count; ++i)
        figures = figures || !isnan(l->rows[i].rate);
    if (table)
        row_table_header(stdout, figures);
    for (int i = 0; i < l->count; ++i) {
        const struct row *row = &l->rows[i];
        verified += strcmp(row->status, STATUS_VERIFIED) == 0;
        failed += strcmp(row->status, STATUS_FAILED) == 0;
        skipped += strcmp(row->status, STATUS_SKIPPED) == 0;
        bool again = i > 0 && strcmp(row->status, STATUS_LIBRARY) == 0 &&
                     by_place(row, row - 1) == 0 && strcmp(row->shape, row[-1].shape) == 0;
        if (table && !again)
            row_table(stdout, row, figures);
    }
    if (table)
        printf("%s%d verified, %d failed, %d skipped; skipped is not verified\n",
               interrupted ? "interrupted, so not complete: " : "", verified, failed, skipped);
    return interrupted     ? EXIT_SIGNAL + interrupted
           : failed > 0    ? EXIT_FAULT
           : verified == 0 ? EXIT_SKIPPED
                           : EXIT_OK;
}

int main(int argc, char **argv) {
    struct ladder_options options;
    struct ladder ladder = {.count = 0};
    char directory[PATH_SIZE - 128];
    int status = parse(&options, argc, argv);
    if (status >= 0)
        return status;
    if (!program_folder(directory, sizeof directory))
        return EXIT_FAULT;
    if (options.gpu && steps[0].missing == NULL && !take_gpu())
        return EXIT_USAGE;
    if (!report_open(&ladder.report, options.csv, options.json))
        return EXIT_USAGE;
    bool table = ladder.report.table != NULL;
    ladder.report.table = NULL;
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    if (options.gpu)
        run_device(&ladder, &options, directory, true);
    if (options.cpu && !interrupted)
        run_device(&ladder, &options, directory, false);
    status = print_all(&ladder, table);
    free(ladder.rows);
    if (interrupted)
        fprintf(stderr, "interrupted: what was measured until then is written\n");
    if (table && (fflush(stdout) != 0 || ferror(stdout))) {
        fprintf(stderr, "stdout could not be written: %s\n", strerror(errno));
        status = status == EXIT_OK ? EXIT_FAULT : status;
    }
    if (!report_close(&ladder.report) && status == EXIT_OK)
        status = EXIT_FAULT;
    return status;
}
