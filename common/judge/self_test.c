/* A judge against the plain loops, at a rectangular size, with padding and guard bands all around. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "judge/judge.h"

enum { M = 160, N = 96, K = 224, PAD = 3, BEFORE = 7, AFTER = 9 };
enum { LDA = K + PAD, LDB = N + PAD, LDC = N + PAD, COUNT = BEFORE + M * LDC + AFTER };

/* The same memory, [0] on the host and [1] on the device: A, B, C, ref and mag. */
enum { IN_A, IN_B, IN_C, IN_REF, IN_MAG, BUFFERS };
static const size_t bytes[BUFFERS] = {4 * M * LDA, 4 * K *LDB, 4 * COUNT, 8 * M *N, 8 * M *N};
static void *memory[2][BUFFERS], *back;

/* The same on both sides, with all that any task takes. */
static struct task sides[2];
static const struct judge *judges[2] = {&host_judge};

/* In what the two disagree, first; null: in nothing. */
static const char *differs;

static void expect(bool alike, const char *what) {
    if (!alike && differs == NULL) differs = what;
}

static const void *fetch(int buffer) {
    CUDA_CHECK(cudaMemcpy(back, memory[1][buffer], bytes[buffer], cudaMemcpyDeviceToHost));
    return back;
}

/* Does a task on both sides. Both must leave the same behind and find the same, but for the rounding of sums. */
static struct found both(enum task_kind kind, size_t count, const char *what) {
    struct found found[2];
    for (int d = 0; d < 2; ++d) {
        sides[d].kind = kind;
        sides[d].count = count;
        found[d] = judges[d]->run(&sides[d]);
    }
    for (int i = IN_A; i <= IN_C; ++i) expect(memcmp(fetch(i), memory[0][i], bytes[i]) == 0, what);
    bool nan = isnan(found[0].sum) && isnan(found[1].sum);
    expect(found[0].count == found[1].count && found[0].first == found[1].first &&
               isnan(found[0].largest) == isnan(found[1].largest) &&
               (nan || fabs(found[0].sum - found[1].sum) < 1e-6),
           what);
    return found[0];
}

static void test_fill(int buffer, struct element_types types, enum fill_mode mode) {
    const bool is_b = buffer == IN_B;
    for (int d = 0; d < 2; ++d) {
        sides[d].x = is_b ? sides[d].product.B : sides[d].product.A;
        sides[d].fill = fill_product(types, K, 5 + (uint64_t)buffer, is_b, mode);
    }
    both(TASK_FILL, matrix_extent(&sides[0].x), "the elements of A and B");
}

/* FP64 numbers may differ in rounding. */
static void test_reference(void) {
    for (int d = 0; d < 2; ++d) judges[d]->reference(&sides[d].product);
    for (int buffer = IN_REF; buffer <= IN_MAG; ++buffer) {
        const double *want = memory[0][buffer], *mag = memory[0][IN_MAG], *got = fetch(buffer);
        for (size_t i = 0; i < M * N; ++i)
            expect(fabs(got[i] - want[i]) <= K * 0x1p-52 * mag[i], "A * B and |A| * |B|");
    }
}

/* All of the judge in one combination of types. */
static void test_types(struct element_types types, enum fill_mode mode) {
    const bool product = types.in != ELEMENT_U32; /* else a scan */
    for (int d = 0; d < 2; ++d) {
        void **at = memory[d], *c = (char *)at[IN_C] + BEFORE * element_size(types.out);
        const struct matrix A = {types.in, at[IN_A], M, K, LDA}, B = {types.in, at[IN_B], K, N, LDB},
                            C = {types.out, c, M, N, LDC};
        sides[d] = (struct task){.product = {types, A, B, C, at[IN_REF], at[IN_MAG]},
                                 .y = {C, at[IN_C], COUNT},
                                 .exact = mode == FILL_EXACT};
    }
    test_fill(IN_B, types, mode);
    test_fill(IN_A, types, mode);
    both(TASK_SUM, K, "the sum of a vector");
    both(TASK_POISON, COUNT, "poison");
    if (product) test_reference();
    /* A right C or scan; then with a wrong element, a NaN, and an element written outside. */
    const struct matrix *C = &sides[0].y.matrix;
    const double *ref = memory[0][IN_REF], *mag = memory[0][IN_MAG];
    const size_t first = product ? 3 * N + 4 : K - 3;
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
        CUDA_CHECK(cudaMemcpy(memory[1][IN_C], memory[0][IN_C], bytes[IN_C], cudaMemcpyHostToDevice));
        const char *what = "which elements are wrong";
        struct found found = both(product ? TASK_COMPARE : TASK_SCAN, product ? M * N : K, what);
        expect(found.count == 2 * planted && (!planted || found.first == first), what);
        what = "what was written outside";
        found = both(TASK_OUTSIDE, COUNT, what);
        expect(!product || found.count == planted, what);
        both(TASK_DIGEST, M * K, "the digest of a matrix");
    }
}

const char *judge_self_test(const struct judge *tested) {
    static const struct element_types types[] = {
        {ELEMENT_F32, ELEMENT_F32, ELEMENT_F32},
        {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16},
        {ELEMENT_F16, ELEMENT_F32, ELEMENT_F16},
        {ELEMENT_U32, ELEMENT_U32, ELEMENT_U32},
    };
    judges[1] = tested;
    differs = NULL;
    back = malloc(8 * M * N + 4 * M * LDA);
    for (int i = 0; i < BUFFERS; ++i) {
        memory[0][i] = calloc(1, bytes[i]);
        CUDA_CHECK(memory[0][i] != NULL && back != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
        CUDA_CHECK(cudaMalloc(&memory[1][i], bytes[i]));
        CUDA_CHECK(cudaMemset(memory[1][i], 0, bytes[i]));
    }
    for (int i = 0; i < 8 && differs == NULL; ++i)
        test_types(types[i / 2], i % 2 == 1 ? FILL_EXACT : FILL_REAL);
    for (int i = 0; i < BUFFERS; ++i) {
        free(memory[0][i]);
        cudaFree(memory[1][i]);
    }
    free(back);
    return differs;
}
