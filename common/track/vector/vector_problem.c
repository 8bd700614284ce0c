#include "track/vector/vector_problem.h"

#include <stdio.h>

#include "track/library.h"

enum { SEED_X = 3 };

enum { INTEGERS, ONES, ONE_NAN, REALS, SUM_INPUTS };
static const struct input sum_inputs[SUM_INPUTS] = {
    [INTEGERS] = {"integer", true, true},
    [ONES] = {"all-one", false, true},
    [ONE_NAN] = {"one-NaN", false, true},
    [REALS] = {"real", false, true},
};
static const enum fill_mode sum_modes[SUM_INPUTS] = {FILL_SUM, FILL_ONES, FILL_NAN, FILL_REAL};
static const struct input scan_inputs[] = {{"random", true, true}};

static int create(struct problem *p, bool scan) {
    struct vector_problem *v = (struct vector_problem *)p;
    const struct element_types types = p->solvers[0].types;
    const size_t n = (size_t)p->shape->n, offset = (size_t)p->options->offset,
                 outputs = scan ? n : 1, size = element_size(types.in);
    size_t workspace = 0;
    v->scan = scan;
    v->library_bytes = 0;
    for (int i = 0; i < p->count; ++i) {
        size_t bytes = ((const struct vector_step *)p->solvers[i].entry)->workspace(n);
        workspace = bytes > workspace ? bytes : workspace;
    }
    const bool timed = problem_is_timed(p), library = timed && vector_library != NULL;
    if (library)
        CUDA_CHECK(vector_library(scan, n, NULL, NULL, NULL, &v->library_bytes, 0));
    const struct matrix y = {types.out, NULL, 1, outputs, outputs};
    const size_t words = (workspace + 3) / 4;
    char *x = problem_memory(p, (double)(offset + n) * (double)size);
    p->workspace =
        (struct matrix){ELEMENT_U32, problem_memory(p, 4.0 * (double)words), 1, words, words};
    output_create(p, &v->y, &y, offset);
    v->library_workspace = library ? problem_memory(p, (double)v->library_bytes) : NULL;
    /* A scan's time is compared with a copy onto its output; a sum's needs a place of its own. */
    v->copy = timed && !scan ? problem_memory(p, (double)n * (double)size) : NULL;
    int status = problem_fits(p, 2.0 * (double)p->device->l2_bytes);
    if (status != EXIT_OK)
        return status;

    v->x = (struct matrix){types.in, x + offset * size, 1, n, n};
    if (library)
        problem_add(p, SOLVER_LIBRARY, scan ? "CUB Scan" : "CUB Reduce", types);
    if (timed)
        problem_add(p, SOLVER_COPY, "copy", types);
    for (int i = 0; i < p->count; ++i) {
        struct solver *s = &p->solvers[i];
        s->output = &v->y;
        s->work = (scan || s->role == SOLVER_COPY ? 2.0 : 1.0) * (double)(n * size);
        s->ceiling = p->device->memory_bytes > 0 ? p->device->memory_bytes : NAN;
    }
    return EXIT_OK;
}

static int create_sum(struct problem *p) {
    return create(p, false);
}

static int create_scan(struct problem *p) {
    return create(p, true);
}

static bool fill(struct problem *p, const struct solver *s, int input) {
    struct vector_problem *v = (struct vector_problem *)p;
    (void)s;
    if (v->x.cols == 0 && !v->scan && input == ONE_NAN)
        return false;
    const struct fill fill = {.mode = v->scan ? FILL_BITS : sum_modes[input],
                              .seed = p->options->seed * 8 + SEED_X,
                              .terms = v->x.cols};
    judge_fill(&v->x, &fill);
    if (!v->scan)
        v->sum = judge_sum(&v->x);
    return true;
}

static cudaError_t run(struct problem *p, const struct solver *s, cudaStream_t stream) {
    struct vector_problem *v = (struct vector_problem *)p;
    const size_t n = v->x.cols;
    void *y = v->y.matrix.at;
    if (s->role == SOLVER_COPY)
        return cudaMemcpyAsync(v->copy != NULL ? v->copy : y, v->x.at, n * element_size(v->x.type),
                               cudaMemcpyDeviceToDevice, stream);
    if (s->role == SOLVER_LIBRARY)
        return vector_library(v->scan, n, v->x.at, y, v->library_workspace, &v->library_bytes,
                              stream);
    return ((const struct vector_step *)s->entry)->run(n, v->x.at, y, p->workspace.at, stream);
}

static const char *wrong_sum(struct problem *p, const struct solver *s, int input,
                             struct row *row) {
    const struct vector_problem *v = (const struct vector_problem *)p;
    const enum element_type out = s->types.out;
    const double n = (double)v->x.cols;
    uint32_t bits = 0;
    char text[48];
    CUDA_CHECK(cudaMemcpy(&bits, v->y.matrix.at, element_size(out), cudaMemcpyDeviceToHost));
    const double sum = element_value(out, bits),
                 bound = input == INTEGERS ? 0
                         : input == ONES   ? ones_bound(s->types, n)
                                           : sum_bound(s->types, n, v->sum),
                 want = input == INTEGERS ? element_value(out, element_round(out, v->sum)) : v->sum;
    if (input == ONE_NAN ? isnan(sum) && bits != element_poison(out) : is_close(sum, want, bound)) {
        double error = fabs(sum - want) / (0.5 * n); /* the mean of |x| is 1/2 */
        if (input == REALS && n > 0 && !(row->error >= error))
            row->error = error;
        return NULL;
    }
    const char *id = value_text(text, sizeof text, out, bits, want);
    snprintf(row->note, sizeof row->note, "got %s, wanted %.9g, bound %.3g", text, want, bound);
    return id;
}

static const char *wrong_scan(struct problem *p, const struct solver *s, int input,
                              struct row *row) {
    const struct vector_problem *v = (const struct vector_problem *)p;
    const uint32_t *in = v->x.at, *out = v->y.matrix.at;
    const struct found found = judge_scan(&v->x, &v->y.matrix);
    const size_t first = found.first;
    uint32_t before = 0, got, x;
    char text[48];
    (void)input;
    if (found.count == 0)
        return NULL;
    if (first > 0)
        CUDA_CHECK(cudaMemcpy(&before, out + first - 1, sizeof before, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&got, out + first, sizeof got, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&x, in + first, sizeof x, cudaMemcpyDeviceToHost));
    const char *id =
        value_text(text, sizeof text, s->types.out, got, (double)(uint32_t)(before + x));
    snprintf(row->note, sizeof row->note,
             "%llu of %zu wrong; first at element %zu: got %s, wanted %u + %u", found.count,
             v->x.cols, first, text, before, x);
    return id;
}

const struct track reduce_track = {
    .kind = SHAPE_VECTOR,
    .unit = "GB/s",
    .scale = 1e9,
    .inputs = sum_inputs,
    .input_count = SUM_INPUTS,
    .create = create_sum,
    .fill = fill,
    .run = run,
    .wrong = wrong_sum,
};
const struct track scan_track = {
    .kind = SHAPE_VECTOR,
    .unit = "GB/s",
    .scale = 1e9,
    .inputs = scan_inputs,
    .input_count = 1,
    .create = create_scan,
    .fill = fill,
    .run = run,
    .wrong = wrong_scan,
};
