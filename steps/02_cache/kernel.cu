// 02_cache: a thread computes 8 x 8 elements, straight from global memory, so that 16 loads feed 64
// multiply-adds. What the threads of a block load in common comes from L1. It fails on latency:
// every load needs a register, and the accumulators leave enough for only a few k at a time.
#include "gemm.h"

enum {
    TM = 8, // rows of C a thread computes, one below the other
    TN = 8, // columns of C a thread computes, LANES_N apart
    LANES_M = 4,
    LANES_N = 32,      // the 32 lanes of a warp are neighbours in a row
    BM = LANES_M * TM, // rows of C a block computes
    BN = LANES_N * TN, // columns of C a block computes
    THREADS = LANES_M * LANES_N,
    MIN_BLOCKS = 3 // minimum resident blocks per SM: with 168 registers the loads of 4 k fit
};
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps, and no more than a block holds");

// A: the first row, B: the first column of this thread's elements. C has rows x cols elements from
// there on. In place of a row beyond them the first is read again; its sums are not stored.
static __device__ void multiply(float acc[TM][TN], int rows, int cols, int K, const float *A,
                                int lda, const float *B, int ldb) {
#pragma unroll 4
    for (int k = 0; k < K; k++) {
        float b[TN];
        for (int j = 0; j < TN; j++)
            b[j] = j * LANES_N < cols ? B[(size_t)k * ldb + j * LANES_N] : 0.0f;
        for (int i = 0; i < TM; i++)
            for (int j = 0; j < TN; j++)
                acc[i][j] += A[(size_t)(i < rows ? i : 0) * lda + k] * b[j];
    }
}

static __device__ void store(float acc[TM][TN], int rows, int cols, float *C, int ldc) {
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++)
            if (i < rows && j * LANES_N < cols)
                C[(size_t)i * ldc + j * LANES_N] = acc[i][j];
}

static __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_kernel(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                int ldc) {
    // A one-dimensional grid, because gridDim.y and gridDim.z stop at 65535 and gridDim.x does not.
    int tiles_n = (N + BN - 1) / BN;
    int row = blockIdx.x / tiles_n * BM + threadIdx.x / LANES_N * TM;
    int col = blockIdx.x % tiles_n * BN + threadIdx.x % LANES_N;
    float acc[TM][TN] = {};

    if (row >= M || col >= N) // the tile overhangs C
        return;
    multiply(acc, M - row, N - col, K, A + (size_t)row * lda, lda, B + col, ldb);
    store(acc, M - row, N - col, C + (size_t)row * ldc + col, ldc);
}

cudaError_t gemm(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                 int ldc, cudaStream_t stream) {
    if (M == 0 || N == 0) // a grid without blocks would be an error
        return cudaSuccess;
    unsigned blocks = (unsigned)((M + BM - 1) / BM) * (unsigned)((N + BN - 1) / BN);
    gemm_kernel<<<blocks, THREADS, 0, stream>>>(M, N, K, A, lda, B, ldb, C, ldc);
    return cudaGetLastError();
}
