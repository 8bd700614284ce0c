/* The judge on a GPU: kernels of its own for filling and comparing, cuBLAS DGEMM for the reference. */
#include "judge/judge.h"

#include <stdio.h>
#include <stdlib.h>

#include <cublas_v2.h>

#include "device/device.h"

enum { THREADS = 256, BLOCKS = 132 * 16 };

typedef unsigned long long counter; /* what atomicAdd() takes */

/* Every kernel here goes over `count` items with a grid of any size. */
#define FOR_EACH(i, count)                                                   \
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < (count); \
         i += (size_t)gridDim.x * THREADS)

/* Starts a kernel and waits for it. */
#define RUN(kernel, ...)                          \
    do {                                          \
        kernel<<<BLOCKS, THREADS>>>(__VA_ARGS__); \
        CUDA_CHECK(cudaGetLastError());           \
        CUDA_CHECK(cudaDeviceSynchronize());      \
    } while (0)

static __global__ void fill_kernel(struct matrix x, struct fill how, size_t count) {
    FOR_EACH (i, count) {
        size_t row = x.rows > 1 ? i / x.ld : 0, col = i - row * x.ld;
        element_store(x.type, x.at, i,
                      col < x.cols ? element_round(x.type, fill_element(&how, row, col))
                                   : element_poison(x.type));
    }
}

static __global__ void poison_kernel(struct output y) {
    FOR_EACH (i, y.count)
        element_store(y.matrix.type, y.base, i, element_poison(y.matrix.type));
}

/* The cols x rows column-major (rows x cols row-major) matrix x in FP64, without padding. */
static __global__ void widen_kernel(double *wide, struct matrix x, bool absolute) {
    FOR_EACH (i, x.rows * x.cols) {
        double v = element_load(x.type, x.at, i / x.cols * x.ld + i % x.cols);
        wide[i] = absolute ? fabs(v) : v;
    }
}

/* What a kernel finds out. */
struct found {
    counter count, first, max_error;
    double sum;
};

static __device__ void found_wrong(struct found *found, size_t i) {
    atomicAdd(&found->count, 1ull);
    atomicMin(&found->first, (counter)i);
}

/* max_error is compared as bits: the bits of doubles from 0 up, NaN last, are in order. */
static __global__ void compare_kernel(struct product p, bool exact, struct found *found) {
    double mine = 0, largest = 0;
    FOR_EACH (i, p.C.rows * p.C.cols) {
        double c = element_load(p.C.type, p.C.at, i / p.C.cols * p.C.ld + i % p.C.cols);
        double ref = p.ref[i], mag = p.mag[i], error = mag > 0 ? (c - ref) / mag : 0;
        if (!is_close(c, product_wants(&p, exact, ref), product_allows(&p, exact, ref, mag)))
            found_wrong(found, i);
        largest = fabs(error) <= largest ? largest : isnan(largest) ? largest : fabs(error);
        mine += error;
    }
    atomicMax(&found->max_error, (counter)__double_as_longlong(fabs(largest)));
    atomicAdd(&found->sum, mine);
}

static __global__ void sum_kernel(struct matrix x, struct found *found) {
    double mine = 0;
    FOR_EACH (i, x.cols)
        mine += element_load(x.type, x.at, i);
    atomicAdd(&found->sum, mine);
}

static __global__ void scan_kernel(const uint32_t *x, const uint32_t *y, size_t n,
                                   struct found *found) {
    FOR_EACH (i, n) {
        if (y[i] != (i > 0 ? y[i - 1] : 0) + x[i])
            found_wrong(found, i);
    }
}

static __global__ void outside_kernel(struct output y, size_t before, struct found *found) {
    const struct matrix m = y.matrix;
    FOR_EACH (i, y.count) {
        size_t row = i < before ? m.rows : m.rows > 1 ? (i - before) / m.ld : 0;
        bool inside = row < m.rows && i - before - row * m.ld < m.cols;
        if (!inside && element_bits(m.type, y.base, i) != element_poison(m.type))
            atomicAdd(&found->count, 1ull);
    }
}

static __global__ void digest_kernel(struct matrix x, struct found *found) {
    counter mine = 0;
    FOR_EACH (i, x.rows * x.cols) {
        size_t row = x.rows > 1 ? i / x.cols : 0, col = i - row * x.cols;
        mine += number_hash(element_bits(x.type, x.at, row * x.ld + col), row, col);
    }
    atomicAdd(&found->count, mine);
}

/* Memory for what a kernel finds, and what it holds in the end. */
static struct found *begin(void) {
    struct found start = {0, ~0ull, 0, 0}, *device;
    CUDA_CHECK(cudaMalloc((void **)&device, sizeof start));
    CUDA_CHECK(cudaMemcpy(device, &start, sizeof start, cudaMemcpyHostToDevice));
    return device;
}

static struct found end(struct found *device) {
    struct found result;
    CUDA_CHECK(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    return result;
}

static void fill(const struct matrix *x, const struct fill *how) {
    if (x->rows > 0 && x->cols > 0)
        RUN(fill_kernel, *x, *how, (x->rows - 1) * x->ld + x->cols);
}

static void poison(const struct output *y) {
    RUN(poison_kernel, *y);
}

static void check_cublas(cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return;
    fprintf(stderr, "cuBLAS DGEMM, which makes the reference: %s\n", cublasGetStatusString(status));
    exit(1);
}

static size_t workspace(size_t M, size_t N, size_t K) {
    return (M * K + K * N) * sizeof(double);
}

static void reference(const struct product *p) {
    const size_t M = p->C.rows, N = p->C.cols, K = p->A.cols;
    const double one = 1, zero = 0;
    double *a, *b;
    cublasHandle_t handle;
    if (M == 0 || N == 0)
        return;
    CUDA_CHECK(cudaMemset(p->ref, 0, M * N * sizeof(double)));
    CUDA_CHECK(cudaMemset(p->mag, 0, M * N * sizeof(double)));
    if (K == 0)
        return;
    check_cublas(cublasCreate(&handle));
    CUDA_CHECK(cudaMalloc((void **)&a, M * K * sizeof(double)));
    CUDA_CHECK(cudaMalloc((void **)&b, K * N * sizeof(double)));
    for (int absolute = 0; absolute <= 1; ++absolute) {
        RUN(widen_kernel, a, p->A, absolute);
        RUN(widen_kernel, b, p->B, absolute);
        /* cuBLAS is column-major: it sees the transposes, and C^T = B^T A^T. */
        check_cublas(cublasDgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, (int64_t)N, (int64_t)M,
                                    (int64_t)K, &one, b, (int64_t)N, a, (int64_t)K, &zero,
                                    absolute ? p->mag : p->ref, (int64_t)N));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    cublasDestroy(handle);
}

static void compare(const struct product *p, bool exact, struct comparison *result) {
    struct found *found = begin();
    RUN(compare_kernel, *p, exact, found);
    struct found f = end(found);
    size_t count = p->C.rows * p->C.cols;
    result->wrong = f.count;
    result->first = f.count > 0 ? f.first : 0;
    memcpy(&result->max_error, &f.max_error, sizeof f.max_error);
    result->bias = count > 0 ? f.sum / (double)count : 0;
}

static double sum(const struct matrix *x) {
    struct found *found = begin();
    RUN(sum_kernel, *x, found);
    return end(found).sum;
}

static uint64_t scan(const struct matrix *x, const struct matrix *y, uint64_t *first) {
    struct found *found = begin();
    RUN(scan_kernel, (const uint32_t *)x->at, (const uint32_t *)y->at, x->cols, found);
    struct found f = end(found);
    if (f.count > 0)
        *first = f.first;
    return f.count;
}

static uint64_t outside(const struct output *y) {
    struct found *found = begin();
    size_t before = (size_t)((char *)y->matrix.at - (char *)y->base) / element_size(y->matrix.type);
    RUN(outside_kernel, *y, before, found);
    return end(found).count;
}

static uint64_t digest(const struct matrix *x) {
    struct found *found = begin();
    RUN(digest_kernel, *x, found);
    return end(found).count;
}

static cudaError_t probe(void) {
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, poison_kernel);
}

#ifdef __CUDACC_DEBUG__
enum { DEBUGGING = true };
#else
enum { DEBUGGING = false };
#endif
static const struct judge gpu_judge = {fill, poison,  reference, workspace, compare,       sum,
                                       scan, outside, digest,    probe,     DEBUGGING != 0};

extern "C" {
extern const struct judge *const judge = &gpu_judge;
}
