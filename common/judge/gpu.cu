/* The judge on a GPU: a kernel for each task, cuBLAS DGEMM for the reference. */
#include <stdio.h>
#include <stdlib.h>

#include <cublas_v2.h>

#include "device/device.h"
#include "judge/judge.h"

enum { THREADS = 256, BLOCKS = 132 * 16 };

/* Goes over `count` items with a grid of any size. */
#define FOR_EACH(i, count) \
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < (count); i += (size_t)gridDim.x * THREADS)

/* `largest` is compared as bits: the bits of doubles from 0 up, NaN last, are in order. */
static __global__ void task_kernel(struct task task, struct found *found) {
    struct found mine = found_nothing();
    FOR_EACH (i, task.count) task_item(&task, i, &mine);
    if (mine.count != 0) atomicAdd(&found->count, mine.count);
    if (mine.first != ~0ull) atomicMin(&found->first, mine.first);
    if (mine.largest != 0)
        atomicMax((unsigned long long *)&found->largest,
                  (unsigned long long)__double_as_longlong(fabs(mine.largest)));
    if (mine.sum != 0) atomicAdd(&found->sum, mine.sum);
}

/* The cols x rows column-major (rows x cols row-major) matrix x in FP64, without padding. */
static __global__ void to_fp64_kernel(double *copy, struct matrix x, bool absolute) {
    FOR_EACH (i, x.rows * x.cols) {
        double v = element_load(x.type, x.at, i / x.cols * x.ld + i % x.cols);
        copy[i] = absolute ? fabs(v) : v;
    }
}

static struct found run(const struct task *task) {
    static struct found *device; /* until the program ends */
    struct found found = found_nothing();
    if (device == NULL) CUDA_CHECK(cudaMalloc((void **)&device, sizeof found));
    CUDA_CHECK(cudaMemcpy(device, &found, sizeof found, cudaMemcpyHostToDevice));
    task_kernel<<<BLOCKS, THREADS>>>(*task, device);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&found, device, sizeof found, cudaMemcpyDeviceToHost));
    return found;
}

static void check_cublas(cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    fprintf(stderr, "cuBLAS DGEMM, which makes the reference: %s\n", cublasGetStatusString(status));
    exit(EXIT_FAILURE);
}

static double workspace(double M, double N, double K) { return (M * K + K * N) * sizeof(double); }

static void reference(const struct product *p) {
    const int64_t M = (int64_t)p->C.rows, N = (int64_t)p->C.cols, K = (int64_t)p->A.cols;
    const double one = 1, zero = 0;
    double *a, *b;
    cublasHandle_t handle;
    if (M == 0 || N == 0) return;
    CUDA_CHECK(cudaMemset(p->ref, 0, M * N * sizeof(double)));
    CUDA_CHECK(cudaMemset(p->mag, 0, M * N * sizeof(double)));
    if (K == 0) return;
    check_cublas(cublasCreate(&handle));
    CUDA_CHECK(cudaMalloc((void **)&a, M * K * sizeof(double)));
    CUDA_CHECK(cudaMalloc((void **)&b, K * N * sizeof(double)));
    for (int absolute = 0; absolute <= 1; ++absolute) {
        to_fp64_kernel<<<BLOCKS, THREADS>>>(a, p->A, absolute);
        to_fp64_kernel<<<BLOCKS, THREADS>>>(b, p->B, absolute);
        CUDA_CHECK(cudaGetLastError());
        /* cuBLAS is column-major: it sees the transposes, and C^T = B^T A^T. */
        check_cublas(cublasDgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, b, N, a, K, &zero,
                                    absolute ? p->mag : p->ref, N));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    cublasDestroy(handle);
}

static cudaError_t probe(void) {
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, task_kernel);
}

#ifdef __CUDACC_DEBUG__
static const bool debugging = true;
#else
static const bool debugging = false;
#endif
static const struct judge gpu_judge = {run, reference, workspace, probe, debugging};
extern "C" {
extern const struct judge *const judge = &gpu_judge;
}
