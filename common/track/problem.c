#include "track/problem.h"

#include <stdio.h>
#include <string.h>

#include "run/timing.h"
#include "track/code_path.h"

enum {
    GUARD_BYTES =
        8192, /* before and behind an output; a multiple of 256, so that it stays aligned */
    BOUNDARY = 2 << 20, /* to which the device rounds up what is allocated */
    SEED_GARBAGE = 4
};

void *problem_memory(struct problem *p, double bytes) {
    void *at = NULL;
    p->need += bytes + BOUNDARY;
    if (p->need > p->available)
        return NULL;
    CUDA_CHECK(cudaMalloc(&at, bytes > 0 ? (size_t)bytes : 1));
    return p->memory[p->memory_count++] = at;
}

int problem_fits(struct problem *p, double more) {
    if (p->need + more <= p->available)
        return EXIT_OK;
    fprintf(stderr, "shape %s: needs %.2f GB of memory on %s; allowed: %.2f GB, which are free\n",
            p->shape->name, 1e-9 * (p->need + more), p->device->name, 1e-9 * p->available);
    return EXIT_USAGE;
}

bool problem_is_timed(const struct problem *p) {
    return p->device->gpu && !p->options->verify_only;
}

struct solver *problem_add(struct problem *p, enum solver_role role, const char *name,
                           struct element_types types) {
    struct solver *s = &p->solvers[p->count++];
    *s = (struct solver){.role = role, .types = types, .ceiling = NAN};
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

void output_create(struct problem *p, struct output *y, const struct matrix *matrix,
                   size_t offset) {
    const size_t size = element_size(matrix->type);
    y->matrix = *matrix;
    y->count = 2 * GUARD_BYTES / size + offset + matrix->rows * matrix->ld;
    y->base = problem_memory(p, (double)y->count * (double)size);
    if (y->base != NULL)
        y->matrix.at = (char *)y->base + GUARD_BYTES + offset * size;
}

const char *value_text(char *text, size_t size, enum element_type type, uint32_t bits,
                       double want) {
    const double got = element_value(type, bits);
    const bool poison = bits == element_poison(type);
    snprintf(text, size, "%.*g%s", type == ELEMENT_U32 ? 10 : 9, got,
             poison ? " (never written)" : "");
    return poison                                             ? "judge.never_written"
           : isnan(got)                                       ? "judge.nan"
           : fabs(got - want) <= 0.01 * fmax(1.0, fabs(want)) ? "judge.slightly_wrong"
                                                              : "judge.wrong_values";
}

/* Whether the solver is a base without a program of its own. */
static bool is_own_base(const struct solver *s) {
    return s->role == SOLVER_BASE && strcmp(s->entry->name, "baseline") == 0;
}

static struct solver *base_of(struct problem *p) {
    return p->count > 1 && p->solvers[1].role == SOLVER_BASE ? &p->solvers[1] : NULL;
}

/* Starts the record of a fault in a run of `s`, and says that this run comes next. */
static struct fault begin_run(const struct problem *p, const struct solver *s, const char *schedule,
                              const char *inputs) {
    const struct options *o = p->options;
    struct fault f;
    memset(&f, 0, sizeof f);
    snprintf(f.step, sizeof f.step, "%s", s->name);
    snprintf(f.shape, sizeof f.shape, "%s", p->shape->name);
    snprintf(f.inputs, sizeof f.inputs, "%s", inputs);
    snprintf(f.schedule, sizeof f.schedule, "%s", schedule);
    /* The program that ran is the step's, whoever failed in it. */
    int length = snprintf(f.repeat, sizeof f.repeat, "%s", p->solvers[0].name);
    const struct {
        const char *name;
        unsigned long long value;
        bool given;
    } options[] = {
        {"m", (unsigned long long)p->shape->m, p->track->kind == SHAPE_GEMM},
        {"n", (unsigned long long)p->shape->n, true},
        {"k", (unsigned long long)p->shape->k, p->track->kind == SHAPE_GEMM},
        {"seed", o->seed, true},
        {"repeats", (unsigned long long)o->repeats, o->repeats > 1},
        {"pad", (unsigned long long)o->pad, o->pad > 0},
        {"offset", (unsigned long long)o->offset, o->offset > 0},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; ++i)
        if (options[i].given)
            length += snprintf(f.repeat + length, sizeof f.repeat - (size_t)length, " --%s %llu",
                               options[i].name, options[i].value);
    if (!p->device->gpu)
        snprintf(f.repeat + length, sizeof f.repeat - (size_t)length, " --schedule %s", schedule);
    device_watch(p->report, &f);
    return f;
}

/* Reports that a run went wrong: what the device found in it, or else `id` and what row->note says. */
static bool fail(struct problem *p, const struct solver *s, const char *id, const char *schedule,
                 const char *inputs, const char *where, struct row *row) {
    struct fault f = begin_run(p, s, schedule, inputs);
    char note[sizeof row->note];
    snprintf(note, sizeof note, "%s%s", where, row->note);
    memcpy(row->note, note, sizeof note);
    snprintf(row->status, sizeof row->status, STATUS_FAILED);
    if (device_faults(p->report, &f))
        return false;
    snprintf(f.id, sizeof f.id, "%s", id);
    snprintf(f.text, sizeof f.text, "%s", row->note);
    report_fault(p->report, &f);
    return false;
}

/* One run on a poisoned output, number `run` of its kind. Returns null, or the device's error. */
static const char *run_once(struct problem *p, const struct solver *s, int run) {
    judge_poison(s->output);
    /* Garbage every other time; what the run before left in between, which is more like truth. */
    if (p->workspace.cols > 0 && run % 2 == 0) {
        struct fill garbage = {.mode = FILL_BITS, .seed = SEED_GARBAGE + (uint64_t)run};
        judge_fill(&p->workspace, &garbage);
    }
    return device_error(p->track->run(p, s, 0));
}

/* One run, judged. Returns null, or the id of what is wrong, which row->note says. */
static const char *run_and_judge(struct problem *p, const struct solver *s, int input, int run,
                                 struct row *row) {
    const char *error = run_once(p, s, run);
    if (error != NULL) {
        snprintf(row->note, sizeof row->note, "%s", error);
        return "judge.device_error";
    }
    if (!p->track->inputs[input].judged || (s->entry != NULL && s->entry->unjudged != NULL))
        return NULL;
    const char *wrong = p->track->wrong(p, s, input, row);
    if (wrong != NULL)
        return wrong;
    uint64_t outside = judge_outside(s->output);
    if (outside == 0)
        return NULL;
    snprintf(row->note, sizeof row->note, "%llu elements outside the output were written",
             (unsigned long long)outside);
    return "judge.written_outside";
}

/*
 * Runs one kind of input, see problem_verify(). Returns how many schedules failed, of `*schedules`; behind
 * the first that does, others are run only where options->each_schedule asks for them.
 */
static int verify_input(struct problem *p, const struct solver *s, int input, const char *where,
                        struct row *row, int *schedules) {
    const struct input *in = &p->track->inputs[input];
    const bool once = !in->judged || where[0] != '\0';
    const int repeats = once ? 1 : p->options->repeats;
    const char *schedule;
    uint64_t first_digest = 0;
    int run = 0, failed = 0, i = 0;
    for (; (i == 0 || !once) && (schedule = device_schedule(i, p->options->schedule)) != NULL; ++i)
        for (int repeat = 0; repeat < repeats; ++repeat, ++run) {
            begin_run(p, s, schedule, in->name);
            const char *id = run_and_judge(p, s, input, run, row);
            uint64_t digest = id == NULL && !once ? judge_digest(&s->output->matrix) : 0;
            if (run == failed) /* the first that is right */
                first_digest = digest;
            if (id == NULL && digest != first_digest) {
                id = "judge.bits_differ";
                snprintf(row->note, sizeof row->note, "other bits than in the first run");
            }
            if (id == NULL)
                continue;
            fail(p, s, id, schedule, in->name, where, row);
            ++failed;
            if (!p->options->each_schedule)
                return failed;
        }
    *schedules = i;
    return failed;
}

bool problem_verify(struct problem *p, const struct solver *s, const char *where, struct row *row) {
    const bool each = p->options->each_schedule;
    int failed = 0, all_failed = 0;
    device_schedule(0, p->options->schedule);
    code_path("");
    for (int input = 0; input < p->track->input_count && (failed == 0 || each) && !all_failed;
         ++input) {
        int schedules = 0, wrong = 0;
        if (p->track->fill(p, s, input))
            wrong = verify_input(p, s, input, where, row, &schedules);
        failed += wrong;
        all_failed = p->track->inputs[input].judged && wrong > 0 && wrong >= schedules;
    }
    snprintf(row->path, sizeof row->path, "%s", code_path_taken());
    if (failed > 0)
        return false;
    const char *unjudged = s->entry != NULL ? s->entry->unjudged : NULL;
    snprintf(row->status, sizeof row->status, unjudged != NULL ? STATUS_UNJUDGED : STATUS_VERIFIED);
    if (unjudged != NULL)
        snprintf(row->note, sizeof row->note, "not verified: %s", unjudged);
    return true;
}

/* Counts what one run does, and what one of the base does if it has no program, or with --base. */
static bool count(struct problem *p, struct row rows[2]) {
    const struct solver *base = base_of(p);
    const int solvers = base != NULL && (is_own_base(base) || p->options->base) ? 2 : 1;
    const int input = p->track->input_count - 1;
    const char *schedule = device_schedule(0, p->options->schedule);
    const char *inputs = p->track->inputs[input].name;
    FILE *table = p->report->table.file;
    struct counters counters[2];
    for (int i = 0; i < solvers; ++i) {
        p->track->fill(p, &p->solvers[i], input);
        begin_run(p, &p->solvers[i], schedule, inputs);
        device_count();
        code_path("");
        const char *error = run_once(p, &p->solvers[i], 0);
        if (error != NULL) {
            snprintf(rows[0].note, sizeof rows[0].note, "%s", error);
            return fail(p, &p->solvers[i], "judge.device_error", schedule, inputs, "", &rows[0]);
        }
        counters[i].step = rows[i].step, counters[i].shape = rows[i].shape;
        device_counted(&counters[i]);
        counters_row(&rows[i], &counters[i]);
        snprintf(rows[i].status, sizeof rows[i].status, STATUS_COUNTED);
        snprintf(rows[i].path, sizeof rows[i].path, "%s", code_path_taken());
        report_counters(p->report, &counters[i]);
        if (table != NULL)
            counters_print_lines(table, &counters[i]);
    }
    if (table != NULL)
        counters_print_sums(table, &counters[0], solvers == 2 ? &counters[1] : NULL);
    return true;
}

/* A solver to time. */
struct timed {
    struct problem *problem;
    const struct solver *solver, **latest; /* latest: the one that ran last */
};

static cudaError_t run_timed(void *context, cudaStream_t stream) {
    const struct timed *t = context;
    *t->latest = t->solver;
    return t->problem->track->run(t->problem, t->solver, stream);
}

static void poison_timed(void *context, cudaStream_t stream) {
    const struct output *y = ((const struct timed *)context)->solver->output;
    CUDA_CHECK(cudaMemsetAsync(y->base, 0xff, y->count * element_size(y->matrix.type), stream));
}

/* What the step's row says before what went wrong: whose fault it is, if not the step's. */
static void prefix(char *text, size_t size, const struct solver *s, const char *when) {
    bool other = s->role != SOLVER_STEP;
    snprintf(text, size, "%s%s%s", other ? s->name : "", other ? ", " : "", when);
}

bool problem_time(struct problem *p, struct row rows[2]) {
    struct timed timed[SOLVERS_MAX];
    struct contestant contestants[SOLVERS_MAX];
    struct row judged[SOLVERS_MAX];
    const struct contestant *library = NULL, *copy = NULL, *base = NULL;
    const struct solver *latest = NULL;
    const int last = p->track->input_count - 1;
    char where[48];
    for (int i = 0; i < p->count; ++i) {
        const struct solver *s = &p->solvers[i];
        timed[i] = (struct timed){p, s, &latest};
        contestants[i] =
            (struct contestant){.run = run_timed, .prepare = poison_timed, .context = &timed[i]};
        p->track->fill(p, s, last);
        if (s->role == SOLVER_LIBRARY && library == NULL)
            library = &contestants[i];
        if (s->role == SOLVER_COPY)
            copy = &contestants[i];
        if (s->role == SOLVER_BASE)
            base = &contestants[i];
    }
    const char *failure = timing_run(contestants, p->count, p->device, p->options);
    bool good = failure == NULL;
    if (!good) {
        snprintf(rows[0].note, sizeof rows[0].note, "%s", failure);
        prefix(where, sizeof where, latest, "timing: ");
        fail(p, latest, "judge.device_error", "hardware", p->track->inputs[last].name, where,
             &rows[0]);
    }
    for (int i = 0; i < p->count && good; ++i) {
        const struct solver *s = &p->solvers[i];
        judged[i] = rows[s->role == SOLVER_BASE];
        if (s->role > SOLVER_BASE)
            judged[i].error = NAN;
        if (s->role == SOLVER_COPY)
            continue;
        prefix(where, sizeof where, s, "after timing: ");
        if (!problem_verify(p, s, where, &judged[i])) {
            good = false;
            snprintf(rows[0].status, sizeof rows[0].status, STATUS_FAILED);
            snprintf(rows[0].note, sizeof rows[0].note, "%s", judged[i].note);
        }
    }
    if (!good) {
        report_row(p->report, &rows[0]);
        return false;
    }
    for (int i = 0; i < p->count; ++i) {
        const struct solver *s = &p->solvers[i];
        struct row *row = &judged[i];
        if (s->role == SOLVER_BASE && !is_own_base(s))
            continue;
        if (s->role > SOLVER_BASE) {
            snprintf(row->step, sizeof row->step, "%s", s->name);
            snprintf(row->type, sizeof row->type, "%s", element_name(s->types.in));
            snprintf(row->status, sizeof row->status, STATUS_LIBRARY);
            row->base[0] = row->path[0] = row->note[0] = '\0';
        } else if (library != NULL) {
            row->library = 100 * library->median / contestants[i].median;
        }
        timing_row(row, &contestants[i], s->work, p->track->scale, p->track->unit, p->options);
        const double rate = s->work / contestants[i].median;
        row->ceiling = 100 * rate / s->ceiling;
        if (copy != NULL && s->role != SOLVER_COPY)
            row->copy = 100 * rate * copy->median / p->solvers[p->count - 1].work;
        if (s->role == SOLVER_STEP && base != NULL)
            row->speedup = base->median / contestants[i].median;
        report_row(p->report, row);
    }
    return true;
}

/* Starts the rows of the step and its base: what is known before the run. */
static void start_rows(struct problem *p, struct row rows[2]) {
    const struct solver *base = base_of(p);
    for (int i = 0; i < 2; ++i) {
        const struct solver *s = &p->solvers[base != NULL ? i : 0];
        device_row(&rows[i], p->device, p->shape, s->types.in, s->name,
                   i == 0 && base != NULL ? base->entry->name : "");
        rows[i].n = (double)p->shape->n;
        if (p->track->kind == SHAPE_GEMM)
            rows[i].m = (double)p->shape->m, rows[i].k = (double)p->shape->k;
    }
}

/* Verifies and times, or counts. Returns an exit status. */
static int run_solvers(struct problem *p) {
    const bool own_base = base_of(p) != NULL && is_own_base(base_of(p));
    struct row rows[2];
    start_rows(p, rows);
    bool good = true;
    if (p->options->counters) {
        good = count(p, rows);
    } else {
        if (own_base)
            good = problem_verify(p, &p->solvers[1], "", &rows[1]);
        good = problem_verify(p, &p->solvers[0], "", &rows[0]) && good;
    }
    if (good && problem_is_timed(p) && p->solvers[0].work > 0) {
        good = problem_time(p, rows);
    } else {
        if (own_base)
            report_row(p->report, &rows[1]);
        report_row(p->report, &rows[0]);
    }
    return good ? EXIT_OK : EXIT_FAULT;
}

/* One shape: sets up the solvers and their memory. Returns an exit status. */
static int run_shape(struct problem *p, const struct step_entry *step,
                     const struct step_entry *base) {
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
        bool own = i == 1 && strcmp(base->name, "baseline") == 0;
        snprintf(name, sizeof name, "%s%s%s", own ? step->name : "", own ? "/" : "",
                 entries[i]->name);
        problem_add(p, i == 0 ? SOLVER_STEP : SOLVER_BASE, name, types)->entry = entries[i];
    }
    int status = p->track->create(p);
    if (status == EXIT_OK)
        status = run_solvers(p);
    for (int i = 0; i < p->memory_count; ++i)
        cudaFree(p->memory[i]);
    return status;
}

int problem_main(struct problem *p, const struct track *track, const struct step_entry *step,
                 const struct step_entry *base, int argc, char **argv) {
    struct options options;
    struct device device;
    struct report report;
    int status = options_parse(&options, track->kind, argc, argv);
    if (status >= 0)
        return status;
    status = device_open(options.device, &device);
    if (status == EXIT_OK)
        status = device_check_options(&options, &device);
    if (status == EXIT_OK)
        status = options_default_shapes(&options, track->kind, device.gpu);
    if (status != EXIT_OK)
        return status;
    if (!report_open(&report, options.csv, options.json))
        return EXIT_USAGE;
    if (options.quiet)
        report.table.file = NULL;
    device_report(&device, &options, &report);
    memset(p, 0, sizeof *p);
    p->track = track, p->options = &options, p->device = &device, p->report = &report;
    for (int i = 0; i < options.shapes.count; ++i) {
        p->shape = &options.shapes.shape[i];
        int one = run_shape(p, step, base);
        if (status == EXIT_OK)
            status = one;
    }
    if (!report_close(&report) && status == EXIT_OK)
        status = EXIT_FAULT;
    return status;
}
