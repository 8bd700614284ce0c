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

/* Runs a task on both sides. Returns whether both found the same, but for the rounding of sums. */
static bool run_both(const struct judge *tested, const struct task task[2]) {
    struct found want = host_judge.run(&task[0]), got = tested->run(&task[1]);
    bool nan = isnan(want.sum) && isnan(got.sum);
    return want.count == got.count && want.first == got.first &&
           isnan(want.largest) == isnan(got.largest) && (nan || fabs(want.sum - got.sum) < 1e-6);
}

/* The tasks of both sides. */
struct tasks {
    struct task fill_a[2], fill_b[2], poison[2], sum[2], scan[2], compare[2], outside[2], digest[2];
};

static void tasks_set(struct tasks *t, int d, struct element_types types, bool exact) {
    const enum fill_mode mode = exact ? FILL_EXACT : FILL_REAL;
    void **at = memory[d], *c = (char *)at[IN_C] + BEFORE * element_size(types.out);
    const struct matrix A = {types.in, at[IN_A], M, K, LDA}, B = {types.in, at[IN_B], K, N, LDB},
                        C = {types.out, c, M, N, LDC}, row = {types.in, at[IN_A], 1, K, K},
                        sums = {types.out, c, 1, K, K};
    const struct product p = {types, A, B, C, at[IN_REF], at[IN_MAG]};
    const struct fill a = fill_product(types, K, 5, false, mode),
                      b = fill_product(types, K, 6, true, mode);
    const struct output y = {C, at[IN_C], COUNT};
    t->fill_a[d] = (struct task){.kind = TASK_FILL, .count = lengths[IN_A], .x = A, .fill = a};
    t->fill_b[d] = (struct task){.kind = TASK_FILL, .count = lengths[IN_B], .x = B, .fill = b};
    t->poison[d] = (struct task){.kind = TASK_POISON, .count = COUNT, .y = y};
    t->sum[d] = (struct task){.kind = TASK_SUM, .count = K, .x = row};
    t->scan[d] = (struct task){.kind = TASK_SCAN, .count = K, .x = row, .y = {.matrix = sums}};
    t->compare[d] =
        (struct task){.kind = TASK_COMPARE, .count = M * N, .product = p, .exact = exact};
    t->outside[d] = (struct task){.kind = TASK_OUTSIDE, .count = COUNT, .y = y};
    t->digest[d] = (struct task){.kind = TASK_DIGEST, .count = M * N, .x = C};
}

/* All of the judge in one combination of types. Returns null, or in what the two disagree. */
static const char *test_types(const struct judge *tested, struct element_types types, bool exact) {
    struct tasks t;
    tasks_set(&t, 0, types, exact);
    tasks_set(&t, 1, types, exact);
    if (!run_both(tested, t.fill_a) || !alike(IN_A, types.in) || !run_both(tested, t.fill_b) ||
        !alike(IN_B, types.in))
        return "the elements of A and B";
    if (!run_both(tested, t.sum))
        return "the sum of a vector";
    if (!run_both(tested, t.poison) || !alike(IN_C, types.out))
        return "poison";
    const bool product = types.in != ELEMENT_U32;
    struct matrix *C = &t.compare[0].product.C;
    const double *ref = memory[0][IN_REF], *mag = memory[0][IN_MAG];
    if (product) {
        host_judge.reference(&t.compare[0].product);
        tested->reference(&t.compare[1].product);
        if (!close(IN_REF) || !close(IN_MAG))
            return "A * B and |A| * |B|";
    }
    /* A right C or scan; then with a wrong element, a NaN, and an element written outside. */
    for (size_t i = 0; i < M * N && product; ++i)
        element_store(C->type, C->at, i / N * LDC + i % N, element_round(C->type, ref[i]));
    for (uint32_t i = 0, sum = 0; i < K && !product; ++i)
        element_store(C->type, C->at, i, sum += element_bits(types.in, memory[0][IN_A], i));
    for (unsigned planted = 0; planted <= 1; ++planted) {
        if (planted) {
            uint32_t wrong = product ? element_round(C->type, 2 * mag[3 * N + 4] + 1) : 12345;
            element_store(C->type, C->at, product ? 3 * LDC + 4 : K - 3, wrong);
            element_store(C->type, C->at, 9 * LDC + 1, element_round(C->type, product ? NAN : 0));
            element_store(C->type, memory[0][IN_C], COUNT - 1, 0);
        }
        CUDA_CHECK(cudaMemcpy(memory[1][IN_C], memory[0][IN_C], bytes_of(IN_C, types.out),
                              cudaMemcpyHostToDevice));
        struct task *judged = product ? t.compare : t.scan;
        struct found wrong = host_judge.run(judged);
        if (wrong.count != 2 * planted || !run_both(tested, judged) ||
            (planted && wrong.first != (product ? 3 * N + 4 : K - 3)))
            return "which elements are wrong";
        if (product && (host_judge.run(t.outside).count != planted || !run_both(tested, t.outside)))
            return "what was written outside";
        if (!run_both(tested, t.digest))
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
