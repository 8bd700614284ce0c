// 01_naive: one thread computes one element of C, straight from global memory. It fails on traffic:
// every multiply-add needs two loads, and nothing that a thread has loaded serves another.
#include "gemm.h"

enum {
    BM = 16, // rows of C a block computes
    BN = 32, // columns of C a block computes: the 32 lanes of a warp are neighbours in a row
    THREADS = BM * BN
};
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps, and no more than a block holds");

// Sum over k of A[0][k] * B[k][0]: A points to a row, B to a column.
static __device__ float multiply(int K, const float *A, const float *B, int ldb) {
    float acc = 0.0f;
    for (int k = 0; k < K; k++)
        acc += A[k] * B[(size_t)k * ldb]; // A: one address a warp; B: 32 neighbouring floats
    return acc;
}

static __global__ void __launch_bounds__(THREADS)
    gemm_kernel(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                int ldc) {
    // A one-dimensional grid, because gridDim.y and gridDim.z stop at 65535 and gridDim.x does not.
    int tiles_n = (N + BN - 1) / BN;
    int row = blockIdx.x / tiles_n * BM + threadIdx.x / BN;
    int col = blockIdx.x % tiles_n * BN + threadIdx.x % BN;

    if (row < M && col < N)
        C[(size_t)row * ldc + col] = multiply(K, A + (size_t)row * lda, B + col, ldb);
}

cudaError_t gemm(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                 int ldc, cudaStream_t stream) {
    if (M == 0 || N == 0)
        return cudaSuccess;
    unsigned blocks = (unsigned)((M + BM - 1) / BM) * (unsigned)((N + BN - 1) / BN);
    gemm_kernel<<<blocks, THREADS, 0, stream>>>(M, N, K, A, lda, B, ldb, C, ldc);
    return cudaGetLastError();
}
