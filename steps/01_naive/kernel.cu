// 01_naive: one thread computes one element of C, straight from global memory. It fails on loads:
// every multiply-add needs two, and nothing that a thread has loaded serves another element.
#include "gemm.h"

enum {
    BM = 16, // rows of C a block computes
    BN = 32, // columns of C a block computes: the 32 lanes of a warp are neighbours in a row
    THREADS = BM * BN
};
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps, and no more than a block holds");

// A: the row, B: the column of this thread's element. In a warp, A[k] is one address for all lanes
// and B[k] 32 neighbouring floats.
static __device__ void multiply(float *acc, int K, const float *A, const float *B, int ldb) {
    for (int k = 0; k < K; k++)
        *acc += A[k] * B[(size_t)k * ldb];
}

static __global__ void __launch_bounds__(THREADS)
    gemm_kernel(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                int ldc) {
    // A one-dimensional grid, because gridDim.y and gridDim.z stop at 65535 and gridDim.x does not.
    int tiles_n = (N + BN - 1) / BN;
    int row = blockIdx.x / tiles_n * BM + threadIdx.x / BN;
    int col = blockIdx.x % tiles_n * BN + threadIdx.x % BN;
    float acc = 0.0f;

    if (row >= M || col >= N) // the tile overhangs C
        return;
    multiply(&acc, K, A + (size_t)row * lda, B + col, ldb);
    C[(size_t)row * ldc + col] = acc;
}

cudaError_t gemm(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                 int ldc, cudaStream_t stream) {
    if (M == 0 || N == 0) // a grid without blocks would be an error
        return cudaSuccess;
    unsigned blocks = (unsigned)((M + BM - 1) / BM) * (unsigned)((N + BN - 1) / BN);
    gemm_kernel<<<blocks, THREADS, 0, stream>>>(M, N, K, A, lda, B, ldb, C, ldc);
    return cudaGetLastError();
}
