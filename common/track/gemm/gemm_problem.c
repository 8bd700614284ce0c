#include "track/gemm/gemm_problem.h"

#include <limits.h>
#include <stdio.h>

#include "track/library.h"

enum { ROW_BYTES = 128, SEED_A = 1, SEED_B = 2 };

static const struct input inputs[] = {
    {"huge", FILL_HUGE, false, false}, /* a stale one is seen in what comes after */
    {"integer", FILL_EXACT, true, true},
    {"near-integer", FILL_NEAR, true, true},
    {"real", FILL_REAL, false, true},
};

/* A matrix whose rows start on boundaries, but for `pad` elements more. */
static struct matrix matrix_of(enum element_type type, int64_t rows, int64_t cols, int pad) {
    const size_t boundary = ROW_BYTES / element_size(type);
    size_t ld = ((size_t)cols + boundary - 1) / boundary * boundary + (size_t)pad;
    return (struct matrix){element_storage(type), NULL, (size_t)rows, (size_t)cols, ld > 0 ? ld : 1};
}

/* Allocates it up to its last element. */
static void allocate(struct problem *p, struct matrix *x) {
    x->at = problem_memory(p, (double)matrix_extent(x) * (double)element_size(x->type));
}

static struct product *product_of(const struct solver *s) {
    struct gemm_problem *g = (struct gemm_problem *)s->problem;
    struct product *q = &g->side[s->output == &g->side[1].C].product;
    q->types = s->types;
    return q;
}

/* Says what A, B and C of a side are, without their memory. Returns false if a row is too long. */
static bool lay_out(const struct problem *p, struct product *q, struct element_types types) {
    const struct shape *shape = p->shape;
    const int pad = p->options->pad;
    q->types = types;
    q->A = matrix_of(types.in, shape->m, shape->k, pad);
    q->B = matrix_of(types.in, shape->k, shape->n, pad);
    q->C = matrix_of(types.out, shape->m, shape->n, pad);
    size_t longest = q->A.ld > q->C.ld ? q->A.ld : q->C.ld;
    if (longest <= INT_MAX) return true;
    fprintf(stderr,
            "--pad %d: not allowed with %lldx%lldx%lld; allowed: rows of up to %d elements, not %zu\n", pad,
            (long long)shape->m, (long long)shape->n, (long long)shape->k, INT_MAX, longest);
    return false;
}

static bool same_storage(struct element_types a, struct element_types b) {
    return element_storage(a.in) == element_storage(b.in) && element_storage(a.out) == element_storage(b.out);
}

static void add_library(struct problem *p, struct element_types types) {
    const char *name = gemm_library != NULL ? gemm_library->name(types) : NULL;
    if (name != NULL) problem_add(p, SOLVER_LIBRARY, name, types);
}

static int create(struct problem *p) {
    struct gemm_problem *g = (struct gemm_problem *)p;
    const double M = (double)p->shape->m, N = (double)p->shape->n, K = (double)p->shape->k;
    const struct element_types types = p->solvers[0].types;
    const bool with_base = p->base != NULL && (problem_is_timed(p) || p->options->counters);
    const int sides = with_base && !same_storage(types, p->base->types) ? 2 : 1;
    const double bytes = M * N * sizeof(double);
    double *ref = problem_memory(p, bytes), *mag = problem_memory(p, bytes);
    for (int i = 0; i < sides; ++i) {
        struct product *q = &g->side[i].product;
        if (!lay_out(p, q, p->solvers[i].types)) return EXIT_USAGE;
        allocate(p, &q->A);
        allocate(p, &q->B);
        output_create(p, &g->side[i].C, &q->C, 0);
        q->C = g->side[i].C.matrix;
        q->ref = ref;
        q->mag = mag;
    }
    const double flush = 2.0 * (double)p->device->l2_bytes,
                 work = judge->workspace != NULL ? judge->workspace(M, N, K) : 0;
    int status = problem_fits(p, fmax(work, flush));
    if (status != EXIT_OK) return status;
    add_library(p, types);
    if (types.in == ELEMENT_TF32)
        add_library(p, (struct element_types){ELEMENT_F32, ELEMENT_F32, ELEMENT_F32});
    for (int i = 0; i < p->count; ++i) {
        struct solver *s = &p->solvers[i];
        s->output = &g->side[s == p->base && sides == 2].C;
        s->work = 2 * M * N * K;
        s->ceiling = device_peak_flops(p->device, s->types.in);
    }
    return EXIT_OK;
}

static void fill_both(struct problem *p, const struct product *q, enum fill_mode mode) {
    const uint64_t seed = p->options->seed * 4, K = q->A.cols;
    struct fill a = fill_product(q->types, K, seed + SEED_A, false, mode),
                b = fill_product(q->types, K, seed + SEED_B, true, mode);
    judge_fill(&q->A, &a);
    judge_fill(&q->B, &b);
}

static bool fill(const struct solver *s, const struct input *in) {
    struct product *q = product_of(s);
    const bool near = in->mode == FILL_NEAR;
    /* TF32 rounds its inputs to the nearest: numbers near integers give the integers' result. */
    if (in->mode == (s->types.in == ELEMENT_TF32 ? FILL_EXACT : FILL_NEAR)) return false;
    fill_both(s->problem, q, near ? FILL_EXACT : in->mode);
    if (in->judged) judge->reference(q);
    if (near) fill_both(s->problem, q, FILL_NEAR);
    return true;
}

static cudaError_t run(const struct solver *s, cudaStream_t stream) {
    const struct product *q = product_of(s);
    const int M = (int)q->C.rows, N = (int)q->C.cols, K = (int)q->A.cols;
    const int lda = (int)q->A.ld, ldb = (int)q->B.ld, ldc = (int)q->C.ld;
    if (s->role == SOLVER_LIBRARY)
        return gemm_library->run(s->types, M, N, K, q->A.at, lda, q->B.at, ldb, q->C.at, ldc, stream);
    gemm_function *gemm = ((const struct gemm_step *)s->entry)->run;
    return gemm(M, N, K, q->A.at, lda, q->B.at, ldb, q->C.at, ldc, stream);
}

static void operands(const struct solver *s) {
    const struct product *q = product_of(s);
    problem_operand(s->problem, "A", &q->A);
    problem_operand(s->problem, "B", &q->B);
    problem_operand(s->problem, "C", &q->C);
}

static const char *wrong(const struct solver *s, const struct input *in, struct row *row) {
    const struct product *q = product_of(s);
    const struct found result = judge_compare(q, in->exact);
    if (result.count == 0) {
        if (in->mode == FILL_REAL) row->error = fmax(row->error, result.largest);
        return NULL;
    }
    const size_t i = result.first / q->C.cols, j = result.first % q->C.cols;
    double ref, mag;
    char got[48];
    CUDA_CHECK(cudaMemcpy(&ref, q->ref + result.first, sizeof ref, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&mag, q->mag + result.first, sizeof mag, cudaMemcpyDeviceToHost));
    const double want = product_wants(q, in->exact, ref), bound = product_allows(q, in->exact, ref, mag);
    const char *id = value_text(got, sizeof got, q->C.type, element_fetch(&q->C, i * q->C.ld + j), want);
    int length = snprintf(row->note, sizeof row->note,
                          "%llu of %zu wrong; first at row %zu, column %zu: got %s, wanted %.9g, bound %.3g",
                          result.count, q->C.rows * q->C.cols, i, j, got, want, bound);
    if (!in->exact && isfinite(result.sum)) /* a sign of its own betrays what rounds one way */
        snprintf(row->note + length, sizeof row->note - (size_t)length, "; mean error %+.1e of sum |a||b|",
                 result.sum / (double)(q->C.rows * q->C.cols));
    return id;
}

const struct track gemm_track = {SHAPE_GEMM, "TFLOP/s", 1e12, inputs,   sizeof inputs / sizeof *inputs,
                                 create,     fill,      run,  operands, wrong};
