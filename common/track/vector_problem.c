#include "track/vector_problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "track/library.h"
#include "judge/oracle.h"
#include "track/code_path.h"
#include "run/timing.h"

enum {
    GUARD_WORDS = 2048, /* before and behind the output; a multiple of 256 bytes */
    ALLOCATIONS = 8,    /* each rounded up by the device */
    SEED_X = 3,
    SEED_GARBAGE = 4
};

static size_t at_least_one(size_t n) {
    return n > 0 ? n : 1;
}

int vector_problem_create(struct vector_problem *p, const struct shape *shape,
                          const struct vector_step *step, const struct vector_step *base,
                          const struct device *device, const struct options *options) {
    memset(p, 0, sizeof *p);
    p->n = (size_t)shape->n;
    p->scan = step->scan != NULL;
    p->options = options;
    p->device = device;
    p->outputs = p->scan ? p->n : 1;
    size_t offset = (size_t)options->offset;
    size_t x_words = at_least_one(offset + p->n), workspace = step->workspace(p->n);
    if (base->workspace(p->n) > workspace)
        workspace = base->workspace(p->n);
    p->y_words = 2 * GUARD_WORDS + offset + p->outputs;
    p->workspace_words = (workspace + 3) / 4;

    size_t free_bytes = 0, total = 0;
    /* A scan's time is compared with a copy onto its output; a sum's needs a place of its own. */
    double need = 4.0 * ((double)x_words + (double)p->y_words + (double)p->workspace_words +
                         (p->scan || options->verify_only ? 0.0 : (double)p->n)) +
                  2.0 * (double)device->l2_bytes + ALLOCATIONS * 2.0 * (1 << 20);
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (need > (double)free_bytes) {
        fprintf(stderr,
                "size %s: needs %.2f GB of memory on %s; allowed: %.2f GB, which are free\n",
                shape->name, 1e-9 * need, device->name, 1e-9 * (double)free_bytes);
        return EXIT_USAGE;
    }
    CUDA_CHECK(cudaMalloc((void **)&p->x_base, x_words * 4));
    CUDA_CHECK(cudaMalloc((void **)&p->y_base, p->y_words * 4));
    CUDA_CHECK(cudaMalloc((void **)&p->workspace, at_least_one(p->workspace_words) * 4));
    p->x = p->x_base + offset;
    p->y = p->y_base + GUARD_WORDS + offset;
    return 0;
}

void vector_problem_destroy(struct vector_problem *p) {
    cudaFree(p->x_base);
    cudaFree(p->y_base);
    cudaFree(p->workspace);
}

void vector_row(struct row *row, const struct vector_problem *p, const struct shape *shape,
                const char *step, const char *base) {
    device_row(row, p->device, shape, p->scan ? TYPE_U32 : TYPE_F32, step, base);
    row->n = (double)p->n;
}

static cudaError_t run_step(const struct vector_problem *p, const struct vector_step *step,
                            cudaStream_t stream) {
    if (step->scan != NULL)
        return step->scan(p->n, p->x, p->y, p->workspace, stream);
    return step->reduce(p->n, (const float *)p->x, (float *)p->y, p->workspace, stream);
}

/* Puts into `note` what is wrong with the output; false if nothing is. */
static bool judge(const struct vector_problem *p, enum vector_fill fill, double ref,
                  struct row *row) {
    char *note = row->note;
    const size_t size = sizeof row->note;
    if (p->scan) {
        uint64_t first = 0, wrong = oracle_check_scan(p->x, p->y, p->n, &first);
        uint32_t pair[2] = {0, 0}, x;
        if (wrong > 0) {
            CUDA_CHECK(cudaMemcpy(&pair[first == 0], p->y + first - (first > 0), first > 0 ? 8 : 4,
                                  cudaMemcpyDeviceToHost));
            CUDA_CHECK(cudaMemcpy(&x, p->x + first, sizeof x, cudaMemcpyDeviceToHost));
            snprintf(note, size,
                     "%llu of %zu wrong; first at element %llu: got %u%s, wanted %u + %u",
                     (unsigned long long)wrong, p->n, (unsigned long long)first, pair[1],
                     pair[1] == ORACLE_POISON ? " (never written)" : "", pair[0], x);
            return true;
        }
    } else {
        float sum;
        uint32_t bits;
        CUDA_CHECK(cudaMemcpy(&sum, p->y, sizeof sum, cudaMemcpyDeviceToHost));
        memcpy(&bits, &sum, sizeof bits);
        /* Ones sum exactly while they stay within 2^24, and where all partial sums are alike. */
        bool exact = fill == VECTOR_INTEGERS ||
                     (fill == VECTOR_ONES && (p->n <= 1 << 24 || (p->n & (p->n - 1)) == 0));
        double bound = exact                 ? 0
                       : fill == VECTOR_ONES ? ref * 10 * sqrt(ref) / (1 << 24)
                                             : sum_bound((double)p->n);
        bool good = fill == VECTOR_NAN ? isnan(sum) && bits != ORACLE_POISON
                                       : number_close(sum, ref, bound);
        if (!good) {
            snprintf(note, size, "got %.9g%s, wanted %.9g, bound %.3g", sum,
                     bits == ORACLE_POISON ? " (never written)" : "", ref, bound);
            return true;
        }
        if (fill == VECTOR_REALS && p->n > 0) {
            double error = fabs(sum - ref) / (0.5 * (double)p->n); /* the mean of |x| is 1/2 */
            row->error = row->error >= error ? row->error : error;
        }
    }
    size_t before = (size_t)(p->y - p->y_base), after = before + p->outputs;
    uint64_t outside = oracle_outside(p->y_base, before, 0, 0, 0, 1) +
                       oracle_outside(p->y_base + after, p->y_words - after, 0, 0, 0, 1);
    if (outside > 0)
        snprintf(note, size, "%llu words outside the output were written",
                 (unsigned long long)outside);
    return outside > 0;
}

/* Starts the record of a fault in a run of `name`, and says that this run comes next. */
static struct fault begin_run(const struct vector_problem *p, const char *name,
                              const char *schedule, const char *fill) {
    struct fault f;
    fault_clear(&f);
    snprintf(f.step, sizeof f.step, "%s", name);
    snprintf(f.shape, sizeof f.shape, "%zu", p->n);
    snprintf(f.inputs, sizeof f.inputs, "%s", fill);
    snprintf(f.schedule, sizeof f.schedule, "%s", schedule);
    int length = snprintf(f.repeat, sizeof f.repeat, "%s --n %zu --seed %llu --repeats %d", name,
                          p->n, (unsigned long long)p->options->seed, p->options->repeats);
    if (p->options->offset > 0)
        length += snprintf(f.repeat + length, sizeof f.repeat - (size_t)length, " --offset %d",
                           p->options->offset);
    if (!p->device->gpu)
        snprintf(f.repeat + length, sizeof f.repeat - (size_t)length, " --schedule %s", schedule);
    device_watch(p->report, &f);
    return f;
}

static void describe_failure(const struct vector_problem *p, const char *name, const char *schedule,
                             const char *fill, struct row *row) {
    struct fault f = begin_run(p, name, schedule, fill);
    snprintf(row->status, sizeof row->status, STATUS_FAILED);
    if (device_faults(p->report, &f))
        return;
    snprintf(f.id, sizeof f.id, "%s",
             strstr(row->note, " outside ")    ? "judge.written_outside"
             : strstr(row->note, "other bits") ? "judge.bits_differ"
                                               : "judge.wrong_values");
    snprintf(f.text, sizeof f.text, "%s", row->note);
    report_fault(p->report, &f);
}

/* All schedules and repeats on one kind of input; see vector_verify(). */
static bool verify_fill(struct vector_problem *p, const char *name, const struct vector_step *step,
                        enum vector_fill fill, struct row *row) {
    static const char *const fill_names[] = {"integer", "all-one", "real", "one-NaN", "random"};
    const char *schedule;
    uint32_t bits = 0, first_bits = 0;
    int runs = 0;
    oracle_fill_vector(p->x, p->n, fill, p->options->seed * 8 + SEED_X);
    double ref = p->scan ? 0 : oracle_sum(p->x, p->n);
    for (int i = 0; (schedule = device_schedule(i, p->options->schedule)) != NULL; ++i) {
        for (int repeat = 0; repeat < p->options->repeats; ++repeat, ++runs) {
            oracle_poison(p->y_base, p->y_words);
            /* Garbage every other time; what the run before left in between, which is more like truth. */
            if (runs % 2 == 0)
                oracle_fill_vector(p->workspace, p->workspace_words, VECTOR_BITS,
                                   SEED_GARBAGE + (uint64_t)runs);
            begin_run(p, name, schedule, fill_names[fill]);
            const char *error = device_error(run_step(p, step, 0));
            if (error != NULL)
                snprintf(row->note, sizeof row->note, "%s", error);
            else if (judge(p, fill, ref, row))
                error = row->note;
            if (error == NULL && !p->scan) {
                CUDA_CHECK(cudaMemcpy(&bits, p->y, sizeof bits, cudaMemcpyDeviceToHost));
                if (runs == 0)
                    first_bits = bits;
                else if (bits != first_bits)
                    error = row->note,
                    snprintf(row->note, sizeof row->note,
                             "other bits than in the first run: %08x, %08x", bits, first_bits);
            }
            if (error != NULL) {
                describe_failure(p, name, schedule, fill_names[fill], row);
                return false;
            }
        }
    }
    return true;
}

bool vector_verify(struct vector_problem *p, const char *name, const struct vector_step *step,
                   struct row *row) {
    code_path("");
    bool good = p->scan ? verify_fill(p, name, step, VECTOR_BITS, row)
                        : verify_fill(p, name, step, VECTOR_INTEGERS, row) &&
                              verify_fill(p, name, step, VECTOR_ONES, row) &&
                              (p->n == 0 || verify_fill(p, name, step, VECTOR_NAN, row)) &&
                              verify_fill(p, name, step, VECTOR_REALS, row);
    snprintf(row->path, sizeof row->path, "%s", code_path_taken());
    if (good)
        snprintf(row->status, sizeof row->status, STATUS_VERIFIED);
    return good;
}

/* A step and its base, to count. */
struct pair {
    struct vector_problem *problem;
    const struct vector_step *step[2];
};

static const char *run_counted(void *context, bool base) {
    struct pair *pair = context;
    oracle_poison(pair->problem->y_base, pair->problem->y_words);
    return device_error(run_step(pair->problem, pair->step[base], 0));
}

bool vector_count(struct vector_problem *p, const struct vector_step *step,
                  const struct vector_step *base, struct row *row, struct row *base_row,
                  struct report *report) {
    enum vector_fill fill = p->scan ? VECTOR_BITS : VECTOR_REALS;
    struct pair pair = {p, {step, base}};
    struct counted counted = {run_counted, &pair, row, base_row};
    const char *schedule = device_schedule(0, p->options->schedule);
    oracle_fill_vector(p->x, p->n, fill, p->options->seed * 8 + SEED_X);
    begin_run(p, row->step, schedule, p->scan ? "random" : "real");
    const char *error = counters_report(&counted, report);
    snprintf(row->status, sizeof row->status, STATUS_COUNTED);
    snprintf(base_row->status, sizeof base_row->status, STATUS_COUNTED);
    if (error != NULL) {
        snprintf(row->note, sizeof row->note, "%s", error);
        describe_failure(p, row->step, schedule, p->scan ? "random" : "real", row);
    }
    return error == NULL;
}

/* Something to time: a step, CUB (step null), or a copy (copy not null). */
struct timed {
    struct vector_problem *problem;
    const struct vector_step *step;
    void *copy;
    void *library_workspace;
    size_t library_bytes;
};

static cudaError_t run_timed(void *context, cudaStream_t stream) {
    struct timed *t = context;
    const struct vector_problem *p = t->problem;
    if (t->copy != NULL)
        return cudaMemcpyAsync(t->copy, p->x, p->n * 4, cudaMemcpyDeviceToDevice, stream);
    if (t->step != NULL)
        return run_step(p, t->step, stream);
    return library_vector(p->scan, p->n, p->x, p->y, t->library_workspace, &t->library_bytes,
                          stream);
}

bool vector_time(struct vector_problem *p, const struct vector_step *step,
                 const struct vector_step *base, struct row *row, struct row *base_row,
                 struct report *report) {
    const double bytes = (p->scan ? 8.0 : 4.0) * (double)p->n;
    enum { STEP, BASE, LIBRARY, COPY, COUNT };
    struct timed timed[COUNT] = {
        {.problem = p, .step = step}, {.problem = p, .step = base}, {.problem = p}, {.problem = p}};
    struct contestant contestants[COUNT];
    void *copy = NULL;
    CUDA_CHECK(library_vector(p->scan, p->n, p->x, p->y, NULL, &timed[LIBRARY].library_bytes, 0));
    CUDA_CHECK(cudaMalloc(&timed[LIBRARY].library_workspace, timed[LIBRARY].library_bytes));
    if (!p->scan)
        CUDA_CHECK(cudaMalloc(&copy, p->n * 4));
    timed[COPY].copy = p->scan ? p->y : copy;
    for (int i = 0; i < COUNT; ++i)
        contestants[i] = (struct contestant){.run = run_timed, .context = &timed[i]};

    /* What vector_verify() left: random bits for a scan, reals for a sum. */
    double ref = p->scan ? 0 : oracle_sum(p->x, p->n);
    const char *failure = timing_run(contestants, COUNT, p->device, p->options);
    for (int i = 0; i < COPY && failure == NULL; ++i) {
        oracle_poison(p->y_base, p->y_words);
        failure = device_error(run_timed(&timed[i], 0));
        struct row judged = *row; /* an error of the base or the library is not the step's */
        if (failure == NULL && judge(p, VECTOR_REALS, ref, &judged)) {
            static const char *const whose[] = {"", "the base: ", "the library: "};
            snprintf(row->note, sizeof row->note, "%s%.200s", whose[i], judged.note);
            failure = row->note;
        }
        if (i == STEP)
            row->error = judged.error;
    }
    cudaFree(timed[LIBRARY].library_workspace);
    cudaFree(copy);
    if (failure != NULL) {
        if (failure != row->note)
            snprintf(row->note, sizeof row->note, "%s", failure);
        describe_failure(p, row->step, "hardware", "after timing, real", row);
        report_row(report, row);
        return false;
    }

    const double copy_rate = 8.0 * (double)p->n / contestants[COPY].median;
    for (int i = 0; i < COUNT; ++i) {
        struct row other = *row, *r = i == STEP ? row : i == BASE ? base_row : &other;
        if (r == &other) {
            snprintf(r->step, sizeof r->step, "%s",
                     i == COPY ? "copy" : library_vector_name(p->scan));
            snprintf(r->status, sizeof r->status, STATUS_LIBRARY);
            r->base[0] = r->path[0] = r->note[0] = '\0';
            r->error = r->speedup = r->library = NAN;
        }
        timing_row(r, &contestants[i], i == COPY ? 8.0 * (double)p->n : bytes, 1e9, "GB/s",
                   p->options);
        r->ceiling =
            p->device->memory_bytes > 0 ? 100 * 1e9 * r->rate / p->device->memory_bytes : NAN;
        r->copy = i == COPY ? NAN : 100 * 1e9 * r->rate / copy_rate;
        if (i <= BASE)
            r->library = 100 * contestants[LIBRARY].median / contestants[i].median;
        if (i == STEP)
            r->speedup = contestants[BASE].median / contestants[STEP].median;
        report_row(report, r);
    }
    return true;
}
