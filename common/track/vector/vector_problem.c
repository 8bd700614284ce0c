#include "track/vector/vector_problem.h"

#include <stdio.h>

#include "track/library.h"

enum { SEED_X = 3 };

static const struct input sum_inputs[] = {
    {"integer", FILL_SUM, true, true},
    {"all-one", FILL_ONES, false, true},
    {"one-NaN", FILL_NAN, false, true},
    {"real", FILL_REAL, false, true},
};
static const struct input scan_inputs[] = {{"random", FILL_BITS, true, true}};

static int create(struct problem *p) {
    struct vector_problem *v = (struct vector_problem *)p;
    const bool scan = p->track == &scan_track;
    const struct element_types types = p->solvers[0].types;
    const size_t n = (size_t)p->shape->n, offset = (size_t)p->options->offset, outputs = scan ? n : 1,
                 size = element_size(types.in);
    size_t workspace = 0;
    v->library_bytes = 0;
    for (int i = 0; i < p->count; ++i) {
        size_t bytes = ((const struct vector_step *)p->solvers[i].entry)->workspace(n);
        workspace = bytes > workspace ? bytes : workspace;
    }
    const bool timed = problem_is_timed(p),
               known = types.in == types.out && types.in == (scan ? ELEMENT_U32 : ELEMENT_F32),
               library = timed && known && vector_library != NULL;
    if (library) CUDA_CHECK(vector_library(scan, n, NULL, NULL, NULL, &v->library_bytes, 0));
    const struct matrix y = {types.out, NULL, 1, outputs, outputs};
    const size_t words = (workspace + 3) / 4;
    char *x = problem_memory(p, (double)(offset + n) * (double)size);
    p->workspace = (struct matrix){ELEMENT_U32, problem_memory(p, 4.0 * (double)words), 1, words, words};
    output_create(p, &v->y, &y, offset);
    v->library_workspace = library ? problem_memory(p, (double)v->library_bytes) : NULL;
    /* A scan's time is compared with a copy onto its output; a sum's needs a place of its own. */
    v->copy = timed && !scan ? problem_memory(p, (double)n * (double)size) : NULL;
    int status = problem_fits(p, 2.0 * (double)p->device->l2_bytes);
    if (status != EXIT_OK) return status;

    v->x = (struct matrix){types.in, x + offset * size, 1, n, n};
    if (library) problem_add(p, SOLVER_LIBRARY, scan ? "CUB Scan" : "CUB Reduce", types);
    if (timed) problem_add(p, SOLVER_COPY, "copy", types);
    for (int i = 0; i < p->count; ++i) {
        struct solver *s = &p->solvers[i];
        s->output = &v->y;
        s->work = (scan || s->role == SOLVER_COPY ? 2.0 : 1.0) * (double)(n * size);
        s->ceiling = p->device->memory_bytes > 0 ? p->device->memory_bytes : NAN;
    }
    return EXIT_OK;
}

static bool fill(const struct solver *s, const struct input *in) {
    struct vector_problem *v = (struct vector_problem *)s->problem;
    if (v->x.cols == 0 && in->mode == FILL_NAN) return false;
    const struct fill fill = {
        .mode = in->mode, .seed = s->problem->options->seed * 8 + SEED_X, .terms = v->x.cols};
    judge_fill(&v->x, &fill);
    if (s->problem->track == &reduce_track) v->sum = judge_sum(&v->x);
    return true;
}

static cudaError_t run(const struct solver *s, cudaStream_t stream) {
    struct vector_problem *v = (struct vector_problem *)s->problem;
    const size_t n = v->x.cols;
    void *y = v->y.matrix.at;
    if (s->role == SOLVER_COPY)
        return cudaMemcpyAsync(v->copy != NULL ? v->copy : y, v->x.at, n * element_size(v->x.type),
                               cudaMemcpyDeviceToDevice, stream);
    if (s->role == SOLVER_LIBRARY)
        return vector_library(v->problem.track == &scan_track, n, v->x.at, y, v->library_workspace,
                              &v->library_bytes, stream);
    return ((const struct vector_step *)s->entry)->run(n, v->x.at, y, v->problem.workspace.at, stream);
}

static void operands(const struct solver *s) {
    const struct vector_problem *v = (const struct vector_problem *)s->problem;
    problem_operand(&v->problem, "x", &v->x);
    problem_operand(&v->problem, "y", &v->y.matrix);
    problem_operand(&v->problem, "workspace", &v->problem.workspace);
}

static const char *wrong_sum(const struct solver *s, const struct input *in, struct row *row) {
    const struct vector_problem *v = (const struct vector_problem *)s->problem;
    const enum element_type out = s->types.out;
    const double n = (double)v->x.cols;
    const uint32_t bits = element_fetch(&v->y.matrix, 0);
    char text[48];
    const double sum = element_value(out, bits),
                 want = in->exact ? element_value(out, element_round(out, v->sum)) : v->sum,
                 bound = in->exact               ? 0
                         : in->mode == FILL_ONES ? ones_bound(s->types, n)
                                                 : sum_bound(s->types, n, v->sum);
    if (in->mode == FILL_NAN ? isnan(sum) && bits != element_poison(out) : is_close(sum, want, bound)) {
        if (in->mode == FILL_REAL && n > 0) /* the mean of |x| is 1/2 */
            row->error = fmax(row->error, fabs(sum - want) / (0.5 * n));
        return NULL;
    }
    const char *id = value_text(text, sizeof text, out, bits, want);
    snprintf(row->note, sizeof row->note, "got %s, wanted %.9g, bound %.3g", text, want, bound);
    return id;
}

static const char *wrong_scan(const struct solver *s, const struct input *in, struct row *row) {
    const struct vector_problem *v = (const struct vector_problem *)s->problem;
    const struct found found = judge_scan(&v->x, &v->y.matrix);
    const size_t first = found.first;
    char text[48];
    (void)in;
    if (found.count == 0) return NULL;
    const uint32_t before = first > 0 ? element_fetch(&v->y.matrix, first - 1) : 0,
                   got = element_fetch(&v->y.matrix, first), x = element_fetch(&v->x, first);
    const char *id = value_text(text, sizeof text, s->types.out, got, (double)(uint32_t)(before + x));
    snprintf(row->note, sizeof row->note, "%llu of %zu wrong; first at element %zu: got %s, wanted %u + %u",
             found.count, v->x.cols, first, text, before, x);
    return id;
}

const struct track reduce_track = {SHAPE_VECTOR, "GB/s", 1e9, sum_inputs, 4,
                                   create,       fill,   run, operands,   wrong_sum};
const struct track scan_track = {SHAPE_VECTOR, "GB/s", 1e9, scan_inputs, 1,
                                 create,       fill,   run, operands,    wrong_scan};
