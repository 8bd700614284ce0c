/* The programs that the ladder starts. */
#include "tools/ladder.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/cuda_compat.h"
#include "run/options.h"
#include "tools/child.h"

enum { PATH_SIZE = 1280, LINE_SIZE = 2048 };

/* More FLOP or elements than this take minutes on the CPU device, which goes through every schedule. */
static const double cpu_flops_max = 4e9, cpu_length_max = 2e7;
/* The checked programs, which count a CPU row's remarks, are slower by far, but run once. */
static const double counted_flops_max = 2e7, counted_length_max = 2e6;

/* What the checked program of a step counted, by shape; its base's too, where that is no step. */
static struct row counted_rows[2 * SHAPES_MAX];
static int counted_count;

static bool is_gemm(const struct step *step) {
    return strcmp(step->track, "gemm") == 0;
}

static bool within(const struct step *step, const struct shape *s, double flops, double length) {
    return is_gemm(step) ? 2.0 * (double)s->m * (double)s->n * (double)s->k <= flops
                         : (double)s->n <= length;
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
    ladder_add(l, &row);
}

/* Says on a terminal how far a step is; a null step: nothing any more. */
static void progress(const struct step *step, bool gpu, int done, int of) {
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K");
    if (step != NULL)
        fprintf(stderr, "%s on the %s: %d of %d shapes", step->name, gpu ? "GPU" : "CPU device",
                done, of);
}

/* Copies what a program complained of to stderr; puts its last line into `last`. */
static void read_errors(FILE *errors, bool show, char *last, size_t size) {
    char line[LINE_SIZE];
    while (fgets(line, sizeof line, errors) != NULL) {
        if (show)
            fputs(line, stderr);
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != ' ') /* an indented line goes on about the one before */
            snprintf(last, size, "%s", line);
    }
}

static void append_name(char *words, size_t size, const char *name) {
    snprintf(words + strlen(words), size - strlen(words), "%s%s", words[0] != '\0' ? "," : "",
             name);
}

static void count_shapes(const char *folder, const struct step *step, const struct shapes *shapes) {
    char program[PATH_SIZE], words[SHAPES_MAX * SHAPE_NAME_SIZE] = "", line[LINE_SIZE];
    char *arguments[] = {program, "--counters", "--csv", "-", "--shape", words, NULL};
    struct child child;
    counted_count = 0;
    for (int i = 0; i < shapes->count; ++i)
        if (within(step, &shapes->shape[i], counted_flops_max, counted_length_max))
            append_name(words, sizeof words, shapes->shape[i].name);
    snprintf(program, sizeof program, "%s/cpu-checked/%s", folder, step->name);
    if (words[0] == '\0' || access(program, X_OK) != 0 || !child_start(&child, arguments))
        return;
    while (fgets(line, sizeof line, child.out) != NULL)
        if (counted_count < 2 * SHAPES_MAX && row_csv_parse(line, &counted_rows[counted_count]))
            ++counted_count;
    child_wait(&child);
    fclose(child.errors);
}

static void add_counters(struct row *row) {
    for (const struct row *c = counted_rows; c < counted_rows + counted_count; ++c)
        if (strcmp(c->step, row->step) == 0 && strcmp(c->shape, row->shape) == 0) {
            row->sectors = c->sectors, row->sectors_ideal = c->sectors_ideal;
            row->thread_bytes = c->thread_bytes, row->copy_bytes = c->copy_bytes;
            row->in_flight = c->in_flight;
        }
}

/* Why this step does not run on the GPU; false if nothing speaks against it. */
static bool needs_other_gpu(const struct driver *d, const struct step *s, char *why, size_t size) {
    const struct gpu *g = &d->gpu[0];
    const char *suffix = s->arch + strspn(s->arch, "0123456789");
    if (s->missing != NULL)
        snprintf(why, size, "%s", s->missing);
    else if (d->gpus > 0 && gpu_code_for(s->arch, g->major, g->minor) == GPU_CODE_NONE)
        snprintf(why, size, "needs sm_%s%s, this GPU is sm_%d%d", s->arch,
                 *suffix == '\0' ? " or newer" : "", g->major, g->minor);
    else if (d->gpus > 0 && d->gpus < s->gpus)
        snprintf(why, size, "needs %d GPUs, there is %d", s->gpus, d->gpus);
    else
        return false;
    return true;
}

/* Reads a program's rows. Returns how many of the shapes have one, and marks them. */
static void read_rows(struct ladder *l, FILE *out, const struct step *step, bool gpu,
                      const struct shapes *shapes, bool *reported) {
    char line[LINE_SIZE];
    int seen = 0;
    struct row row;
    progress(step, gpu, 0, shapes->count);
    while (fgets(line, sizeof line, out) != NULL) {
        if (line[0] == '#' && (l->facts_of[gpu] == NULL || l->facts_of[gpu] == step)) {
            l->facts_of[gpu] = step;
            report_fact(&l->report, "%.*s", (int)strcspn(line + 2, "\n"), line + 2);
        }
        if (line[0] == '#' || !row_csv_parse(line, &row))
            continue;
        if (!gpu)
            add_counters(&row);
        ladder_add(l, &row);
        for (int i = 0; i < shapes->count; ++i)
            if (!reported[i] && strcmp(row.step, step->name) == 0 &&
                strcmp(row.shape, shapes->shape[i].name) == 0) {
                reported[i] = true;
                progress(step, gpu, ++seen, shapes->count);
            }
    }
    progress(NULL, gpu, 0, 0);
}

/* Runs one program over the shapes; collects its rows, or the reason why there are none. */
static void run_program(struct ladder *l, const char *folder, const struct step *step, bool gpu,
                        const struct shapes *shapes) {
    char program[PATH_SIZE], words[SHAPES_MAX * SHAPE_NAME_SIZE] = "", samples[16], text[LINE_SIZE];
    char *arguments[10] = {program, "--csv", "-", "--shape", words};
    bool reported[SHAPES_MAX] = {false};
    struct child child;
    int count = 5;
    for (int i = 0; i < shapes->count; ++i)
        append_name(words, sizeof words, shapes->shape[i].name);
    snprintf(program, sizeof program, "%s/%s/%s", folder, gpu ? "gpu" : "cpu", step->name);
    snprintf(samples, sizeof samples, "%d", l->samples);
    if (l->samples > 0)
        arguments[count++] = "--samples", arguments[count++] = samples;
    if (l->warm)
        arguments[count++] = "--warm";
    if (gpu && needs_other_gpu(&l->driver, step, text, sizeof text)) {
        add_plain(l, step, gpu, "-", STATUS_SKIPPED, text);
        return;
    }
    if (step->variant && access(program, X_OK) != 0) {
        add_plain(l, step, gpu, "-", STATUS_SKIPPED, "not built: build the target variants");
        return;
    }
    if (!child_start(&child, arguments)) {
        snprintf(text, sizeof text, "%s: cannot be started: %s", program, strerror(errno));
        add_plain(l, step, gpu, "-", STATUS_FAILED, text);
        return;
    }
    read_rows(l, child.out, step, gpu, shapes, reported);
    const int status = child_wait(&child), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    char last[256] = "";
    read_errors(child.errors, code != EXIT_OK && code != EXIT_SKIPPED && !child_interrupted, last,
                sizeof last);
    fclose(child.errors);
    if (child_interrupted)
        return;
    if (code == EXIT_SKIPPED) {
        add_plain(l, step, gpu, "-", STATUS_SKIPPED, last);
        return;
    }
    const char *ended_at = NULL;
    for (int i = 0; i < shapes->count; ++i) {
        if (reported[i])
            continue;
        const char *name = shapes->shape[i].name;
        if (ended_at != NULL)
            snprintf(text, sizeof text, "not run: the program ended at %s", ended_at);
        else if (code >= 0)
            snprintf(text, sizeof text, "exit status %d: %s", code, last);
        else
            snprintf(text, sizeof text, "killed by signal %d (%s): %s", WTERMSIG(status),
                     strsignal(WTERMSIG(status)), last);
        add_plain(l, step, gpu, name, ended_at != NULL ? STATUS_SKIPPED : STATUS_FAILED, text);
        ended_at = ended_at != NULL ? ended_at : name;
    }
}

/* Whether `name` is among the comma-separated words of `list`. */
static bool listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; ++at)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

void ladder_run(struct ladder *l, const char *folder, bool gpu) {
    static struct shapes shapes;
    for (const struct step *s = steps; s->name != NULL && !child_interrupted; ++s) {
        const struct shapes *all = &l->sizes[gpu].of[is_gemm(s) ? SHAPE_GEMM : SHAPE_VECTOR];
        if (l->steps != NULL ? !listed(l->steps, s->name) : s->variant != l->variants)
            continue;
        shapes.count = 0;
        for (int i = 0; i < all->count; ++i)
            if (!gpu && !within(s, &all->shape[i], cpu_flops_max, cpu_length_max))
                add_plain(l, s, gpu, all->shape[i].name, STATUS_SKIPPED,
                          "too large for the CPU device in a ladder");
            else
                shapes.shape[shapes.count++] = all->shape[i];
        if (!gpu)
            count_shapes(folder, s, &shapes);
        if (shapes.count > 0)
            run_program(l, folder, s, gpu, &shapes);
    }
}
