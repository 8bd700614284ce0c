// 02_cache: a thread computes 8 x 8 elements, straight from global memory, so that 16 loads feed 64
// multiply-adds. It leans on the caches: the loads of a block overlap, and L1 serves most of them.
#include "gemm.h"

enum {
    TM = 8, // rows of C a thread computes
    TN = 8, // columns of C a thread computes
    LANES_M = 8,
    LANES_N = 32,
    BM = LANES_M * TM, // rows of C a block computes
    BN = LANES_N * TN, // columns of C a block computes: lanes of a warp are neighbours in a row
    THREADS = LANES_M * LANES_N
};
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps, and no more than a block holds");

static __global__ void __launch_bounds__(THREADS)
    gemm_kernel(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                int ldc) {
    // A one-dimensional grid, because gridDim.y and gridDim.z stop at 65535 and gridDim.x does not.
    int tiles_n = (N + BN - 1) / BN;
    int row = blockIdx.x / tiles_n * BM + threadIdx.x / LANES_N * TM;
    int col = blockIdx.x % tiles_n * BN + threadIdx.x % LANES_N;
    const float *a[TM];
    const float *b[TN];
    float acc[TM][TN] = {};

    for (int i = 0; i < TM; i++)
        a[i] = A + (size_t)(row + i < M ? row + i : M - 1) * lda;
    for (int j = 0; j < TN; j++)
        b[j] = B + (col + j * LANES_N < N ? col + j * LANES_N : N - 1);
    for (int k = 0; k < K; k++)
        for (int i = 0; i < TM; i++)
            for (int j = 0; j < TN; j++)
                acc[i][j] += a[i][k] * b[j][(size_t)k * ldb];

    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++)
            if (row + i < M && col + j * LANES_N < N)
                C[(size_t)(row + i) * ldc + col + j * LANES_N] = acc[i][j];
}

cudaError_t gemm(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                 int ldc, cudaStream_t stream) {
    if (M == 0 || N == 0)
        return cudaSuccess;
    unsigned blocks = (unsigned)((M + BM - 1) / BM) * (unsigned)((N + BN - 1) / BN);
    gemm_kernel<<<blocks, THREADS, 0, stream>>>(M, N, K, A, lda, B, ldb, C, ldc);
    return cudaGetLastError();
}
