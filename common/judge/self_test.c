/* A judge against the plain loops, at a rectangular size, with padding and guard bands all around. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "judge/task.h"

enum { M = 160, N = 96, K = 224, PAD = 3, BEFORE = 7, AFTER = 9 };
enum { LDA = K + PAD, LDB = N + PAD, LDC = N + PAD, COUNT = BEFORE + M * LDC + AFTER };

/* The same memory, [0] on the host and [1] on the device: A, B, C, ref and mag. */
enum { IN_A, IN_B, IN_C, IN_REF, IN_MAG, BUFFERS };
static const size_t lengths[BUFFERS] = {(M - 1) * LDA + K, (K - 1) * LDB + N, COUNT, M *N, M *N};
static void *memory[2][BUFFERS], *back;

static size_t bytes_of(int buffer, enum element_type type) {
    return lengths[buffer] * (buffer >= IN_REF ? sizeof(double) : element_size(type));
}

static void fetch(int buffer, enum element_type type) {
    CUDA_CHECK(cudaMemcpy(back, memory[1][buffer], bytes_of(buffer, type), cudaMemcpyDeviceToHost));
}

static bool alike(int buffer, enum element_type type) {
    fetch(buffer, type);
    return memcmp(back, memory[0][buffer], bytes_of(buffer, type)) == 0;
}

/* Whether FP64 numbers differ in rounding only. */
static bool close(int buffer) {
    const double *want = memory[0][buffer], *mag = memory[0][IN_MAG], *got = back;
    bool good = true;
    fetch(buffer, ELEMENT_F32);
    for (size_t i = 0; i < M * N; ++i)
        good = good && fabs(got[i] - want[i]) <= K * 0x1p-52 * mag[i];
    return good;
}

/* The same on both sides, with all that any task takes. */
static struct task sides[2];

/* Runs a task on both sides. Returns whether both found the same, but for the rounding of sums. */
static bool run_both(const struct judge *tested, enum task_kind kind, size_t count) {
    struct found found[2];
    for (int d = 0; d < 2; ++d) {
        sides[d].kind = kind;
        sides[d].count = count;
        found[d] = (d ? tested : &host_judge)->run(&sides[d]);
    }
    bool nan = isnan(found[0].sum) && isnan(found[1].sum);
    return found[0].count == found[1].count && found[0].first == found[1].first &&
           isnan(found[0].largest) == isnan(found[1].largest) &&
           (nan || fabs(found[0].sum - found[1].sum) < 1e-6);
}

/* What a task finds on the host. */
static bool finds(enum task_kind kind, size_t count, unsigned wrong, size_t first) {
    sides[0].kind = kind;
    sides[0].count = count;
    struct found found = host_judge.run(&sides[0]);
    return found.count == wrong && (first == 0 || found.first == first);
}

static bool fill_alike(const struct judge *tested, int buffer, struct element_types types,
                       enum fill_mode mode) {
    for (int d = 0; d < 2; ++d) {
        sides[d].x = buffer == IN_A ? sides[d].product.A : sides[d].product.B;
        sides[d].fill = fill_product(types, K, 5 + (uint64_t)buffer, buffer == IN_B, mode);
    }
    return run_both(tested, TASK_FILL, lengths[buffer]) && alike(buffer, types.in);
}

/* All of the judge in one combination of types. Returns null, or in what the two disagree. */
static const char *test_types(const struct judge *tested, struct element_types types, bool exact) {
    const enum fill_mode mode = exact ? FILL_EXACT : FILL_REAL;
    const bool product = types.in != ELEMENT_U32; /* else a scan */
    for (int d = 0; d < 2; ++d) {
        void **at = memory[d], *c = (char *)at[IN_C] + BEFORE * element_size(types.out);
        const struct matrix A = {types.in, at[IN_A], M, K, LDA},
                            B = {types.in, at[IN_B], K, N, LDB}, C = {types.out, c, M, N, LDC};
        sides[d] = (struct task){.product = {types, A, B, C, at[IN_REF], at[IN_MAG]},
                                 .y = {C, at[IN_C], COUNT},
                                 .exact = exact};
    }
    const struct matrix *C = &sides[0].y.matrix;
    const double *ref = memory[0][IN_REF], *mag = memory[0][IN_MAG];
    if (!fill_alike(tested, IN_B, types, mode) || !fill_alike(tested, IN_A, types, mode))
        return "the elements of A and B";
    if (!run_both(tested, TASK_SUM, K))
        return "the sum of a vector";
    if (!run_both(tested, TASK_POISON, COUNT) || !alike(IN_C, types.out))
        return "poison";
    if (product) {
        host_judge.reference(&sides[0].product);
        tested->reference(&sides[1].product);
        if (!close(IN_REF) || !close(IN_MAG))
            return "A * B and |A| * |B|";
    }
    /* A right C or scan; then with a wrong element, a NaN, and an element written outside. */
    const enum task_kind kind = product ? TASK_COMPARE : TASK_SCAN;
    const size_t count = product ? M * N : K, first = product ? 3 * N + 4 : K - 3;
    for (size_t i = 0; i < M * N && product; ++i)
        element_store(C->type, C->at, i / N * LDC + i % N, element_round(C->type, ref[i]));
    for (uint32_t i = 0, sum = 0; i < K && !product; ++i)
        element_store(C->type, C->at, i, sum += element_bits(types.in, memory[0][IN_A], i));
    for (unsigned planted = 0; planted <= 1; ++planted) {
        if (planted) {
            uint32_t wrong = product ? element_round(C->type, 2 * mag[first] + 1) : 12345;
            element_store(C->type, C->at, product ? 3 * LDC + 4 : first, wrong);
            element_store(C->type, C->at, 9 * LDC + 1, element_round(C->type, product ? NAN : 0));
            element_store(C->type, memory[0][IN_C], COUNT - 1, 0);
        }
        CUDA_CHECK(cudaMemcpy(memory[1][IN_C], memory[0][IN_C], bytes_of(IN_C, types.out),
                              cudaMemcpyHostToDevice));
        if (!finds(kind, count, 2 * planted, planted * first) || !run_both(tested, kind, count))
            return "which elements are wrong";
        if ((product && !finds(TASK_OUTSIDE, COUNT, planted, 0)) ||
            !run_both(tested, TASK_OUTSIDE, COUNT))
            return "what was written outside";
        if (!run_both(tested, TASK_DIGEST, M * K))
            return "the digest of a matrix";
    }
    return NULL;
}

const char *judge_self_test(const struct judge *tested) {
    static const struct element_types types[] = {
        {ELEMENT_F32, ELEMENT_F32, ELEMENT_F32},
        {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16},
        {ELEMENT_F16, ELEMENT_F32, ELEMENT_F16},
        {ELEMENT_U32, ELEMENT_U32, ELEMENT_U32},
    };
    const char *what = NULL;
    back = malloc(bytes_of(IN_A, ELEMENT_F32));
    for (int i = 0; i < BUFFERS; ++i) {
        memory[0][i] = malloc(bytes_of(i, ELEMENT_F32));
        CUDA_CHECK(memory[0][i] != NULL && back != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
        CUDA_CHECK(cudaMalloc(&memory[1][i], bytes_of(i, ELEMENT_F32)));
    }
    for (int i = 0; i < 8 && what == NULL; ++i)
        what = test_types(tested, types[i / 2], i % 2 == 1);
    for (int i = 0; i < BUFFERS; ++i) {
        free(memory[0][i]);
        cudaFree(memory[1][i]);
    }
    free(back);
    return what;
}
