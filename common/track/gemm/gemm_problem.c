#include "track/gemm/gemm_problem.h"

#include <string.h>

#include "track/library.h"
#include "track/code_path.h"
#include "run/timing.h"

enum {
    ROW_ELEMENTS = 32,  /* elements in 128 bytes */
    GUARD_WORDS = 2048, /* before and behind C; a multiple of 128 bytes, so that C stays aligned */
    BOUNDARIES = 7,     /* allocations, each rounded up by the device */
    SEED_A = 1,
    SEED_B = 2
};

static int leading_dimension(int64_t cols, int pad) {
    return (int)((cols + ROW_ELEMENTS - 1) / ROW_ELEMENTS * ROW_ELEMENTS + pad);
}

/* Elements from the first to the last of a matrix; at least one, as nothing cannot be allocated. */
static size_t extent(int rows, int cols, int ld) {
    return rows == 0 || cols == 0 ? 1 : (size_t)(rows - 1) * (size_t)ld + (size_t)cols;
}

int gemm_problem_create(struct gemm_problem *p, const struct shape *shape, enum number_type type,
                        const struct device *device, const struct options *options) {
    memset(p, 0, sizeof *p);
    p->type = type;
    p->device = device;
    p->options = options;
    struct product *q = &p->product;
    q->M = (int)shape->m, q->N = (int)shape->n, q->K = (int)shape->k;
    q->lda = leading_dimension(shape->k, options->pad);
    q->ldb = q->ldc = leading_dimension(shape->n, options->pad);
    if (q->lda == 0)
        q->lda = 1;
    if (q->ldb == 0)
        q->ldb = q->ldc = 1;

    size_t a = extent(q->M, q->K, q->lda) * sizeof(float),
           b = extent(q->K, q->N, q->ldb) * sizeof(float);
    size_t c = (size_t)q->M * (size_t)q->ldc * sizeof(float) + 2 * GUARD_WORDS * sizeof(float);
    size_t wide = extent(q->M, q->N, q->N) * sizeof(double), free_bytes = 0, total = 0;
    size_t for_oracle = oracle_workspace(q->M, q->N, q->K), for_flush = 2 * device->l2_bytes;
    double need = (double)a + (double)b + (double)c + 2.0 * (double)wide +
                  BOUNDARIES * 2.0 * (1 << 20) +
                  (double)(for_oracle > for_flush ? for_oracle : for_flush);
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (need > (double)free_bytes) {
        fprintf(stderr,
                "shape %s: needs %.2f GB of memory on %s; allowed: %.2f GB, which are free\n",
                shape->name, 1e-9 * need, device->name, 1e-9 * (double)free_bytes);
        return EXIT_USAGE;
    }
    p->c_words = c / sizeof(float);
    p->c_before = GUARD_WORDS;
    CUDA_CHECK(cudaMalloc((void **)&q->A, a));
    CUDA_CHECK(cudaMalloc((void **)&q->B, b));
    CUDA_CHECK(cudaMalloc((void **)&p->c_base, c));
    CUDA_CHECK(cudaMalloc((void **)&q->ref, wide));
    CUDA_CHECK(cudaMalloc((void **)&q->mag, wide));
    q->C = (float *)p->c_base + p->c_before;
    return 0;
}

void gemm_problem_destroy(struct gemm_problem *p) {
    cudaFree((void *)p->product.A);
    cudaFree((void *)p->product.B);
    cudaFree(p->c_base);
    cudaFree(p->product.ref);
    cudaFree(p->product.mag);
}

void gemm_row(struct row *row, const struct gemm_problem *p, const struct shape *shape,
              const char *step, const char *base) {
    device_row(row, p->device, shape, p->type, step, base);
    row->m = p->product.M, row->n = p->product.N, row->k = p->product.K;
}

static void fill(struct gemm_problem *p, enum fill_mode mode, int range) {
    struct product *q = &p->product;
    oracle_fill((float *)q->A, q->M, q->K, q->lda, mode, range, p->options->seed * 4 + SEED_A);
    oracle_fill((float *)q->B, q->K, q->N, q->ldb, mode, range, p->options->seed * 4 + SEED_B);
}

/* One run on a poisoned output. Returns null, or the device's error. */
static const char *run_once(struct gemm_problem *p, gemm_function *run) {
    const struct product *q = &p->product;
    oracle_poison(p->c_base, p->c_words);
    return device_error(run(q->M, q->N, q->K, q->A, q->lda, q->B, q->ldb, q->C, q->ldc, 0));
}

/* Puts into `note` what is wrong with C; false if nothing is. */
static bool judge(struct gemm_problem *p, enum number_type type, bool exact,
                  struct comparison *result, char *note, size_t size) {
    struct product *q = &p->product;
    oracle_compare(q, type, exact, result);
    if (result->wrong > 0) {
        size_t row = result->first / (size_t)q->N, col = result->first % (size_t)q->N;
        double ref, mag;
        float got;
        CUDA_CHECK(cudaMemcpy(&ref, q->ref + result->first, sizeof ref, cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpy(&mag, q->mag + result->first, sizeof mag, cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpy(&got, q->C + row * (size_t)q->ldc + col, sizeof got,
                              cudaMemcpyDeviceToHost));
        uint32_t bits;
        memcpy(&bits, &got, sizeof bits);
        int length = snprintf(
            note, size,
            "%llu of %llu wrong; first at row %zu, column %zu: got %.9g%s, wanted %.9g, bound %.3g",
            (unsigned long long)result->wrong, (unsigned long long)q->M * (unsigned long long)q->N,
            row, col, got, bits == ORACLE_POISON ? " (never written)" : "", ref,
            exact ? 0 : gemm_bound(type, q->K, mag));
        if (!exact && isfinite(result->bias)) /* a sign of its own betrays what rounds one way */
            snprintf(note + length, size - (size_t)length, "; mean error %+.1e of sum |a||b|",
                     result->bias);
        return true;
    }
    uint64_t outside = oracle_outside(p->c_base, p->c_words, p->c_before, q->M, q->N, q->ldc);
    if (outside > 0) {
        snprintf(note, size, "%llu words outside C were written", (unsigned long long)outside);
        return true;
    }
    return false;
}

/* Starts the record of a fault in a run of `step`, and says that this run comes next. */
static struct fault begin_run(const struct gemm_problem *p, const char *step, const char *schedule,
                              const char *mode) {
    const struct product *q = &p->product;
    struct fault f;
    fault_clear(&f);
    snprintf(f.step, sizeof f.step, "%s", step);
    snprintf(f.shape, sizeof f.shape, "%dx%dx%d", q->M, q->N, q->K);
    snprintf(f.inputs, sizeof f.inputs, "%s", mode);
    snprintf(f.schedule, sizeof f.schedule, "%s", schedule);
    int length = snprintf(f.repeat, sizeof f.repeat, "%s --m %d --n %d --k %d --seed %llu", step,
                          q->M, q->N, q->K, (unsigned long long)p->options->seed);
    if (p->options->pad > 0)
        length += snprintf(f.repeat + length, sizeof f.repeat - (size_t)length, " --pad %d",
                           p->options->pad);
    if (!p->device->gpu)
        snprintf(f.repeat + length, sizeof f.repeat - (size_t)length, " --schedule %s", schedule);
    device_watch(p->report, &f);
    return f;
}

static void describe_failure(const struct gemm_problem *p, const char *step, const char *schedule,
                             const char *mode, struct row *row) {
    struct fault f = begin_run(p, step, schedule, mode);
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

/* One run on inputs of `mode`, judged unless they are huge. Returns whether it was right. */
static bool run_and_judge(struct gemm_problem *p, gemm_function *run, enum fill_mode mode,
                          struct row *row) {
    struct comparison result;
    const char *error = run_once(p, run);
    if (error != NULL) {
        snprintf(row->note, sizeof row->note, "%s", error);
        return false;
    }
    if (mode == FILL_HUGE || gemm_unjudged != NULL)
        return true;
    if (judge(p, p->type, mode != FILL_REAL, &result, row->note, sizeof row->note))
        return false;
    if (mode == FILL_REAL && !(row->error >= result.max_error))
        row->error = result.max_error;
    return true;
}

/* All schedules and repeats on inputs of one kind; see gemm_verify(). */
static bool verify_mode(struct gemm_problem *p, const char *step, gemm_function *run,
                        enum fill_mode mode, struct row *row) {
    static const char *const mode_names[] = {"integer", "near-integer", "real", "huge"};
    const struct product *q = &p->product;
    const char *schedule;
    bool first = true;
    uint64_t first_digest = 0;
    for (int i = 0; (schedule = device_schedule(i, p->options->schedule)) != NULL; ++i)
        for (int repeat = 0; repeat < p->options->repeats; ++repeat) {
            begin_run(p, step, schedule, mode_names[mode]);
            bool good = run_and_judge(p, run, mode, row);
            uint64_t digest = good ? oracle_digest(q->C, q->M, q->N, q->ldc) : 0;
            if (first)
                first_digest = digest;
            else if (good && digest != first_digest) {
                good = false;
                snprintf(row->note, sizeof row->note, "other bits than in the first run");
            }
            if (!good) {
                describe_failure(p, step, schedule, mode_names[mode], row);
                return false;
            }
            first = false;
        }
    return true;
}

bool gemm_verify(struct gemm_problem *p, const char *step, gemm_function *run, struct row *row) {
    const struct product *q = &p->product;
    int range = exact_range(q->K);
    device_schedule(0, p->options->schedule);
    code_path("");
    /* The huge values stay behind in shared memory and registers, where a stale one is seen. */
    fill(p, FILL_HUGE, 0);
    begin_run(p, step, device_schedule(0, p->options->schedule), "huge");
    bool good = run_and_judge(p, run, FILL_HUGE, row);
    if (!good)
        describe_failure(p, step, device_schedule(0, p->options->schedule), "huge", row);
    if (good && range > 0) {
        /* TF32 rounds its inputs to the nearest: numbers near integers give the integers' result. */
        enum fill_mode inputs = p->type == TYPE_TF32 ? FILL_NEAR : FILL_EXACT;
        fill(p, FILL_EXACT, range);
        oracle_reference(&p->product);
        fill(p, inputs, range);
        good = verify_mode(p, step, run, inputs, row);
    }
    if (good) {
        fill(p, FILL_REAL, 0);
        oracle_reference(&p->product);
        good = verify_mode(p, step, run, FILL_REAL, row);
    }
    snprintf(row->path, sizeof row->path, "%s", code_path_taken());
    if (good)
        snprintf(row->status, sizeof row->status,
                 gemm_unjudged != NULL ? STATUS_UNJUDGED : STATUS_VERIFIED);
    if (good && gemm_unjudged != NULL)
        snprintf(row->note, sizeof row->note, "not verified: %s", gemm_unjudged);
    else if (good && range == 0)
        snprintf(row->note, sizeof row->note, "K too large for exact sums: real inputs only");
    return good;
}

/* A step and its base, to count. */
struct pair {
    struct gemm_problem *problem;
    gemm_function *run[2];
};

static const char *run_counted(void *context, bool base) {
    struct pair *pair = context;
    return run_once(pair->problem, pair->run[base]);
}

bool gemm_count(struct gemm_problem *p, gemm_function *run, gemm_function *base, struct row *row,
                struct report *report) {
    struct pair pair = {p, {run, base}};
    struct row base_row = *row;
    snprintf(base_row.step, sizeof base_row.step, "%s", row->base);
    struct counted counted = {run_counted, &pair, row,
                              p->options->base && base != NULL ? &base_row : NULL};
    const char *schedule = device_schedule(0, p->options->schedule);
    fill(p, FILL_REAL, 0);
    begin_run(p, row->step, schedule, "real");
    const char *error = counters_report(&counted, report);
    snprintf(row->status, sizeof row->status, STATUS_COUNTED);
    if (error != NULL) {
        snprintf(row->note, sizeof row->note, "%s", error);
        describe_failure(p, row->step, schedule, "real", row);
    }
    return error == NULL;
}

/* A kernel to time: a step, or the library. */
struct timed {
    struct gemm_problem *problem;
    gemm_function *run; /* null: the library, in `type` */
    enum number_type type;
};

static cudaError_t run_timed(void *context, cudaStream_t stream) {
    const struct timed *t = context;
    const struct product *q = &t->problem->product;
    if (t->run == NULL)
        return library_gemm(t->type, q->M, q->N, q->K, q->A, q->lda, q->B, q->ldb, q->C, q->ldc,
                            stream);
    return t->run(q->M, q->N, q->K, q->A, q->lda, q->B, q->ldb, q->C, q->ldc, stream);
}

static void poison_timed(void *context, cudaStream_t stream) {
    const struct timed *t = context;
    CUDA_CHECK(
        cudaMemsetAsync(t->problem->c_base, 0xff, t->problem->c_words * sizeof(float), stream));
}

bool gemm_time(struct gemm_problem *p, gemm_function *run, gemm_function *base, struct row *row,
               struct report *report) {
    const struct product *q = &p->product;
    const double flops = 2.0 * q->M * q->N * q->K;
    struct timed timed[4] = {{p, run, p->type}};
    struct contestant contestants[4];
    struct comparison result = {0};
    double errors[4];
    const char *names[4] = {row->step, row->base};
    int count = 1, base_at = 0;
    if (base != NULL)
        timed[base_at = count++] = (struct timed){p, base, p->type};
    int library_at = count;
    timed[count++] = (struct timed){p, NULL, p->type};
    if (p->type != TYPE_F32)
        timed[count++] = (struct timed){p, NULL, TYPE_F32};
    for (int i = 0; i < count; ++i)
        contestants[i] =
            (struct contestant){.run = run_timed, .prepare = poison_timed, .context = &timed[i]};

    int at_fault = 0;
    const char *failure = timing_run(contestants, count, p->device, p->options);
    for (int i = 0; i < count && failure == NULL; ++i) {
        oracle_poison(p->c_base, p->c_words);
        failure = device_error(run_timed(&timed[i], 0));
        if (failure == NULL && (i > 0 || gemm_unjudged == NULL) &&
            judge(p, timed[i].type, false, &result, row->note, sizeof row->note))
            failure = row->note;
        errors[i] = result.max_error;
        at_fault = i;
    }
    if (failure != NULL) {
        if (failure != row->note)
            snprintf(row->note, sizeof row->note, "%s", failure);
        const char *name =
            timed[at_fault].run == NULL ? library_gemm_name(timed[at_fault].type) : names[at_fault];
        describe_failure(p, name, "hardware", "after timing, real", row);
        report_row(report, row);
        return false;
    }

    timing_row(row, &contestants[0], flops, 1e12, "TFLOP/s", p->options);
    row->library = 100 * contestants[library_at].median / contestants[0].median;
    row->ceiling = 100 * 1e12 * row->rate / device_peak_flops(p->device, p->type);
    if (base != NULL)
        row->speedup = contestants[base_at].median / contestants[0].median;
    report_row(report, row);
    for (int i = library_at; i < count; ++i) {
        struct row library = *row;
        snprintf(library.step, sizeof library.step, "%s", library_gemm_name(timed[i].type));
        snprintf(library.status, sizeof library.status, STATUS_LIBRARY);
        snprintf(library.type, sizeof library.type, "%s", number_type_name(timed[i].type));
        library.base[0] = library.path[0] = library.note[0] = '\0';
        library.speedup = library.library = NAN;
        library.error = errors[i];
        timing_row(&library, &contestants[i], flops, 1e12, "TFLOP/s", p->options);
        library.ceiling = 100 * 1e12 * library.rate / device_peak_flops(p->device, timed[i].type);
        report_row(report, &library);
    }
    return true;
}
