#include "track/problem.h"

#include <stdio.h>
#include <string.h>

#include "run/timing.h"
#include "track/code_path.h"

enum {
    GUARD_BYTES = 8192, /* on both sides of an output; a multiple of 256: it stays aligned */
    BOUNDARY = 2 << 20, /* to which the device rounds up what is allocated */
    SEED_GARBAGE = 4
};

static const char *path_taken = ""; /* the last that was named */

void code_path(const char *path) { path_taken = path; }

void *problem_memory(struct problem *p, double bytes) {
    void *at = NULL;
    p->need += bytes + BOUNDARY;
    if (p->need > p->available) return NULL;
    CUDA_CHECK(cudaMalloc(&at, bytes > 0 ? (size_t)bytes : 1));
    return p->memory[p->memory_count++] = at;
}

int problem_fits(struct problem *p, double more) {
    if (p->need + more <= p->available) return EXIT_OK;
    fprintf(stderr, "shape %s: needs %.2f GB of memory on %s; allowed: %.2f GB, which are free\n",
            p->shape->name, 1e-9 * (p->need + more), p->device->name, 1e-9 * p->available);
    return EXIT_USAGE;
}

bool problem_is_timed(const struct problem *p) { return p->device->gpu && !p->options->verify_only; }

struct solver *problem_add(struct problem *p, enum solver_role role, const char *name,
                           struct element_types types) {
    struct solver *s = &p->solvers[p->count++];
    *s = (struct solver){.problem = p, .role = role, .types = types, .ceiling = NAN};
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

void output_create(struct problem *p, struct output *y, const struct matrix *matrix, size_t offset) {
    const size_t size = element_size(matrix->type);
    y->matrix = *matrix;
    y->count = 2 * GUARD_BYTES / size + offset + matrix->rows * matrix->ld;
    y->base = problem_memory(p, (double)y->count * (double)size);
    if (y->base != NULL) y->matrix.at = (char *)y->base + GUARD_BYTES + offset * size;
}

const char *value_text(char *text, size_t size, enum element_type type, uint32_t bits, double want) {
    const double got = element_value(type, bits);
    const bool poison = bits == element_poison(type);
    snprintf(text, size, "%.*g%s", type == ELEMENT_U32 ? 10 : 9, got, poison ? " (never written)" : "");
    return poison                                             ? "judge.never_written"
           : isnan(got)                                       ? "judge.nan"
           : fabs(got - want) <= 0.01 * fmax(1.0, fabs(want)) ? "judge.slightly_wrong"
                                                              : "judge.wrong_values";
}

void problem_operand(const struct problem *p, const char *name, const struct matrix *x) {
    if (x->at != NULL) trace_operand(p->trace, name, x->at, x->rows, x->cols, x->ld, element_size(x->type));
}

uint32_t element_fetch(const struct matrix *x, size_t i) {
    const size_t size = element_size(x->type);
    uint32_t bits = 0; /* little-endian */
    CUDA_CHECK(cudaMemcpy(&bits, (char *)x->at + i * size, size, cudaMemcpyDeviceToHost));
    return bits;
}

/* Adds an option to the command that repeats a run. */
static void repeat_with(struct fault *f, bool given, const char *option, long long value) {
    const size_t length = strlen(f->repeat);
    if (given) snprintf(f->repeat + length, sizeof f->repeat - length, " --%s %lld", option, value);
}

/* Starts the record of a fault in a run of `s`, and says that this run comes next. */
static struct fault begin_run(const struct solver *s, const char *schedule, const struct input *in) {
    const struct problem *p = s->problem;
    const struct options *o = p->options;
    const bool gemm = p->track->kind == SHAPE_GEMM;
    struct fault f;
    memset(&f, 0, sizeof f);
    snprintf(f.step, sizeof f.step, "%s", s->name);
    snprintf(f.shape, sizeof f.shape, "%s", p->shape->name);
    snprintf(f.inputs, sizeof f.inputs, "%s", in->name);
    snprintf(f.schedule, sizeof f.schedule, "%s", schedule);
    /* The program that ran is the step's, whoever failed in it. */
    snprintf(f.repeat, sizeof f.repeat, "%s", p->solvers[0].name);
    repeat_with(&f, gemm, "m", p->shape->m);
    repeat_with(&f, true, "n", p->shape->n);
    repeat_with(&f, gemm, "k", p->shape->k);
    repeat_with(&f, true, "seed", (long long)o->seed);
    repeat_with(&f, o->repeats > 1, "repeats", o->repeats);
    repeat_with(&f, o->pad > 0, "pad", o->pad);
    repeat_with(&f, o->offset > 0, "offset", o->offset);
    const size_t length = strlen(f.repeat);
    if (!p->device->gpu) snprintf(f.repeat + length, sizeof f.repeat - length, " --schedule %s", schedule);
    device_watch(p->report, &f);
    return f;
}

/*
 * Reports that the run of `s` that begin_run() gave `f` for went wrong, `when` it was timed or after:
 * what the device found in it, or else `id` and `text`. The row says it too. Returns false.
 */
static bool fail(const struct solver *s, struct fault *f, const char *id, const char *when, const char *text,
                 struct row *row) {
    const bool named = when[0] != '\0' && s->role != SOLVER_STEP; /* it is in the step's row */
    snprintf(f->id, sizeof f->id, "%s", id);
    snprintf(f->text, sizeof row->note, "%s%s%s%s", named ? s->name : "", named ? ", " : "", when, text);
    memcpy(row->note, f->text, sizeof row->note);
    snprintf(row->status, sizeof row->status, STATUS_FAILED);
    if (!device_faults(s->problem->report, f)) report_fault(s->problem->report, f);
    device_suspects();
    device_faults(s->problem->report, f);
    return false;
}

/* One run on a poisoned output, number `run` of its kind. Returns null, or the device's error. */
static const char *run_once(const struct solver *s, int run) {
    struct problem *p = s->problem;
    judge_poison(s->output);
    /* Garbage every other time; what the run before left in between, which is more like truth. */
    if (p->workspace.cols > 0 && run % 2 == 0) {
        struct fill garbage = {.mode = FILL_BITS, .seed = SEED_GARBAGE + (uint64_t)run};
        judge_fill(&p->workspace, &garbage);
    }
    return device_error(p->track->run(s, 0));
}

/* One run, judged. Returns null, or the id of what is wrong, which row->note says. */
static const char *run_and_judge(const struct solver *s, const struct input *in, int run, struct row *row) {
    const char *error = run_once(s, run);
    if (error != NULL) {
        snprintf(row->note, sizeof row->note, "%s", error);
        return "judge.device_error";
    }
    if (!in->judged || (s->entry != NULL && s->entry->unjudged != NULL)) return NULL;
    const char *wrong = s->problem->track->wrong(s, in, row);
    if (wrong != NULL) return wrong;
    uint64_t outside = judge_outside(s->output);
    if (outside == 0) return NULL;
    snprintf(row->note, sizeof row->note, "%llu elements outside the output were written",
             (unsigned long long)outside);
    return "judge.written_outside";
}

/*
 * Runs one kind of input, see verify(). Returns how many runs failed, under `*schedules`; behind the
 * first that does, others are run only where options->each_schedule asks for them.
 */
static int verify_input(const struct solver *s, const struct input *in, const char *when, struct row *row,
                        int *schedules) {
    const struct options *options = s->problem->options;
    const bool once = !in->judged || when[0] != '\0';
    const int repeats = once ? 1 : options->repeats;
    const char *schedule;
    uint64_t first_digest = 0;
    int run = 0, failed = 0, i = 0;
    for (; (i == 0 || !once) && (schedule = device_schedule(i, options->schedule)) != NULL; ++i)
        for (int repeat = 0; repeat < repeats; ++repeat, ++run) {
            struct fault fault = begin_run(s, schedule, in);
            const char *id = run_and_judge(s, in, run, row);
            uint64_t digest = id == NULL && !once ? judge_digest(&s->output->matrix) : 0;
            if (run == failed) /* the first that is right */
                first_digest = digest;
            if (id == NULL && digest != first_digest) {
                id = "judge.bits_differ";
                snprintf(row->note, sizeof row->note, "other bits than in the first run");
            }
            if (id == NULL) continue;
            fail(s, &fault, id, when, row->note, row);
            ++failed;
            if (!options->each_schedule) return failed;
        }
    *schedules = i;
    return failed;
}

/*
 * Runs `s` options->repeats times under every schedule of the device, on every kind of input, the
 * output poisoned before every run; `when` not empty: on each input once. Nothing outside the output
 * may be written, and the bits must be the same in every run. Returns whether all was right.
 */
static bool verify(const struct solver *s, const char *when, struct row *row) {
    const struct problem *p = s->problem;
    bool done = false;
    int failed = 0, runs = 0;
    device_schedule(0, p->options->schedule);
    code_path("");
    for (int i = 0; i < p->track->input_count && !done; ++i) {
        const struct input *in = &p->track->inputs[i];
        int schedules = 0;
        if (!p->track->fill(s, in)) continue;
        int wrong = verify_input(s, in, when, row, &schedules);
        failed += wrong;
        runs += schedules;
        done = failed > 0 && (!p->options->each_schedule || (in->judged && wrong >= schedules));
    }
    snprintf(row->path, sizeof row->path, "%s", path_taken);
    if (failed > 0) return false;
    if (runs == 0) {
        snprintf(row->status, sizeof row->status, STATUS_FAILED);
        snprintf(row->note, sizeof row->note, "not verified: there was no run");
        return false;
    }
    const char *unjudged = s->entry != NULL ? s->entry->unjudged : NULL;
    snprintf(row->status, sizeof row->status, unjudged != NULL ? STATUS_UNJUDGED : STATUS_VERIFIED);
    if (unjudged != NULL) snprintf(row->note, sizeof row->note, "not verified: %s", unjudged);
    return true;
}

/* The input that is counted and timed. */
static const struct input *last_input(const struct problem *p) {
    return &p->track->inputs[p->track->input_count - 1];
}

/* Counts what one run does, and what one of the base does if it has no program, or with --base. */
static bool count(struct problem *p, struct row *rows) {
    const int solvers = p->own_base || (p->base != NULL && p->options->base) ? 2 : 1;
    const struct input *in = last_input(p);
    const char *schedule = device_schedule(0, p->options->schedule);
    FILE *table = p->report->table.file;
    struct counters counters[2];
    for (int i = 0; i < solvers; ++i) {
        const struct solver *s = &p->solvers[i];
        p->track->fill(s, in);
        struct fault fault = begin_run(s, schedule, in);
        device_count();
        code_path("");
        if (p->trace != NULL) {
            trace_run(p->trace, s->name, p->shape->name, schedule);
            p->track->operands(s);
            device_trace(p->trace);
        }
        const char *error = run_once(s, 0);
        if (error != NULL) return fail(s, &fault, "judge.device_error", "", error, rows);
        counters[i].step = rows[i].step, counters[i].shape = rows[i].shape;
        device_counted(&counters[i]);
        counters_row(&rows[i], &counters[i]);
        snprintf(rows[i].status, sizeof rows[i].status, STATUS_COUNTED);
        snprintf(rows[i].path, sizeof rows[i].path, "%s", path_taken);
        report_counters(p->report, &counters[i]);
        if (table != NULL) counters_print_lines(table, &counters[i]);
    }
    if (table != NULL) counters_print_sums(table, &counters[0], solvers == 2 ? &counters[1] : NULL);
    return true;
}

static cudaError_t run_timed(void *context, cudaStream_t stream) {
    const struct solver *s = context;
    s->problem->latest = s;
    return s->problem->track->run(s, stream);
}

static void poison_timed(void *context, cudaStream_t stream) {
    const struct output *y = ((const struct solver *)context)->output;
    CUDA_CHECK(cudaMemsetAsync(y->base, 0xff, y->count * element_size(y->matrix.type), stream));
}

/* Times all solvers in turn, and judges each once more. If one fails, the step's row names it. */
static bool time_all(struct problem *p, struct contestant *contestants, struct row *rows) {
    for (int i = 0; i < p->count; ++i) {
        contestants[i] =
            (struct contestant){.run = run_timed, .prepare = poison_timed, .context = &p->solvers[i]};
        if (i == 0 || p->solvers[i].output != p->solvers[0].output) /* inputs of its own */
            p->track->fill(&p->solvers[i], last_input(p));
    }
    p->latest = p->solvers;
    const char *failure = timing_run(contestants, p->count, p->device, p->options);
    if (failure != NULL) {
        struct fault fault = begin_run(p->latest, "hardware", last_input(p));
        return fail(p->latest, &fault, "judge.device_error", "timing: ", failure, rows);
    }
    for (int i = 0; i < p->count; ++i)
        if (p->solvers[i].role != SOLVER_COPY && !verify(&p->solvers[i], "after timing: ", &rows[i])) {
            memmove(rows->note, rows[i].note, sizeof rows->note);
            memmove(rows->status, rows[i].status, sizeof rows->status);
            return false;
        }
    return true;
}

/* Times, and reports a row of each but of a base that has a program of its own. */
static bool measure(struct problem *p, struct row *rows) {
    struct contestant contestants[SOLVERS_MAX];
    const struct contestant *library = NULL, *copy = NULL;
    if (!time_all(p, contestants, rows)) {
        report_row(p->report, &rows[0]);
        return false;
    }
    for (int i = p->count - 1; i >= 0; --i) {
        if (p->solvers[i].role == SOLVER_LIBRARY) library = &contestants[i]; /* the first */
        if (p->solvers[i].role == SOLVER_COPY) copy = &contestants[i];
    }
    for (int i = 0; i < p->count; ++i) {
        const struct solver *s = &p->solvers[i];
        const double median = contestants[i].median;
        struct row *row = &rows[i];
        timing_row(row, &contestants[i], s->work, p->track->scale, p->track->unit, p->options);
        row->ceiling = 100 * s->work / median / s->ceiling;
        if (s->role > SOLVER_BASE) snprintf(row->status, sizeof row->status, STATUS_LIBRARY);
        else if (library != NULL) row->library = 100 * library->median / median;
        if (copy != NULL && s->role != SOLVER_COPY)
            row->copy = 100 * s->work / median * copy->median / p->solvers[p->count - 1].work;
        if (s->role == SOLVER_STEP && p->base != NULL) row->speedup = contestants[1].median / median;
        if (s != p->base || p->own_base) report_row(p->report, row);
    }
    return true;
}

/* Verifies and times, or counts. Returns an exit status. */
static int run_solvers(struct problem *p) {
    struct row rows[SOLVERS_MAX]; /* of each solver */
    bool good = true;
    for (int i = 0; i < p->count; ++i) {
        const struct solver *s = &p->solvers[i];
        device_row(&rows[i], p->device, p->shape, s->types.in, s->name,
                   i == 0 && p->base != NULL ? p->base->entry->name : "");
        rows[i].n = (double)p->shape->n;
        if (p->track->kind == SHAPE_GEMM) rows[i].m = (double)p->shape->m, rows[i].k = (double)p->shape->k;
    }
    for (int i = p->own_base; i >= 0 && !p->options->counters; --i)
        good = verify(&p->solvers[i], "", &rows[i]) && good;
    if (p->options->counters) good = count(p, rows);
    if (good && problem_is_timed(p) && p->solvers[0].work > 0) return measure(p, rows) ? EXIT_OK : EXIT_FAULT;
    for (int i = p->own_base; i >= 0; --i) report_row(p->report, &rows[i]);
    return good ? EXIT_OK : EXIT_FAULT;
}

/* One shape: sets up the solvers and their memory. Returns an exit status. */
static int run_shape(struct problem *p, const struct step_entry *step, const struct step_entry *base) {
    const struct step_entry *const entries[] = {step, base};
    char name[64];
    size_t available = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&available, &total));
    p->available = (double)available;
    p->need = p->count = p->memory_count = 0;
    for (int i = 0; i < 2 && entries[i] != NULL; ++i) {
        struct element_types types;
        if (!element_types_parse(entries[i]->types, &types)) {
            fprintf(stderr, "%s: no element types: %s\n", entries[i]->name, entries[i]->types);
            return EXIT_FAULT;
        }
        bool own = i == 1 && p->own_base;
        snprintf(name, sizeof name, "%s%s%s", own ? step->name : "", own ? "/" : "", entries[i]->name);
        problem_add(p, i == 0 ? SOLVER_STEP : SOLVER_BASE, name, types)->entry = entries[i];
    }
    int status = p->track->create(p);
    if (status == EXIT_OK) status = run_solvers(p);
    for (int i = 0; i < p->memory_count; ++i) cudaFree(p->memory[i]);
    return status;
}

int problem_main(struct problem *p, const struct track *track, const struct step_entry *step,
                 const struct step_entry *base, int argc, char **argv) {
    struct options options;
    struct device device;
    struct report report;
    int status = options_parse(&options, track->kind, argc, argv);
    if (status >= 0 || (status = device_open(options.device, &device)) != EXIT_OK ||
        (status = device_check_options(&options, &device)) != EXIT_OK ||
        (status = options_default_shapes(&options, track->kind, device.gpu)) != EXIT_OK)
        return status;
    if (!report_open(&report, options.csv, options.json, options.trace)) return EXIT_USAGE;
    struct trace *trace = options.trace != NULL ? trace_open(report.trace.file) : NULL;
    if (options.trace != NULL && trace == NULL) return EXIT_FAULT;
    if (options.quiet) report.table.file = NULL;
    device_report(&device, &options, &report);
    *p = (struct problem){
        .track = track, .options = &options, .device = &device, .report = &report, .trace = trace};
    p->base = base != NULL ? &p->solvers[1] : NULL;
    p->own_base = base != NULL && strcmp(base->name, "baseline") == 0;
    for (int i = 0; i < options.shapes.count; ++i) {
        p->shape = &options.shapes.shape[i];
        int one = run_shape(p, step, base);
        if (status == EXIT_OK) status = one;
    }
    device_trace(NULL);
    if (trace != NULL && !trace_close(trace) && status == EXIT_OK) status = EXIT_FAULT;
    if (!report_close(&report) && status == EXIT_OK) status = EXIT_FAULT;
    return status;
}
