// 03_tiled: the block copies a K-tile of A and of B to shared memory, and each thread reads its row
// and its column from there. It gains little: each multiply-add still needs two loads. Shared
// memory saves global traffic; what limits 01_naive is the number of loads.
#include "gemm.h"

enum {
    BM = 16, // rows of C a block computes
    BN = 32, // columns of C a block computes: the 32 lanes of a warp are neighbours in a row
    BK = 32, // depth of a K-tile
    THREADS = BM * BN
};
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps, and no more than a block holds");
static_assert(THREADS % BK == 0 && THREADS % BN == 0, "threads load whole rows of a tile");
static_assert(BM % (THREADS / BK) == 0 && BK % (THREADS / BN) == 0, "and all of them");

typedef struct {
    float A[BM][BK];
    float B[BK][BN];
} Stage;
static_assert(sizeof(Stage) <= 48 * 1024, "static shared memory");

// Copies a height x width tile to shared memory, with zeros beyond the rows x cols that src has.
static __device__ void load_tile(float *tile, int pitch, int height, int width, const float *src,
                                 int ld, int rows, int cols) {
    int c = threadIdx.x % width;
    for (int i = 0; i < height; i += THREADS / width) {
        int r = i + threadIdx.x / width;
        bool in = r < rows && c < cols;
        tile[r * pitch + c] = in ? src[(size_t)r * ld + c] : 0.0f;
    }
}

static __device__ void load_stage(Stage *stage, int k0, int rows, int cols, int K, const float *A,
                                  int lda, const float *B, int ldb) {
    load_tile(stage->A[0], BK, BM, BK, A + k0, lda, rows, K - k0);
    load_tile(stage->B[0], BN, BK, BN, B + (size_t)k0 * ldb, ldb, K - k0, cols);
}

static __device__ void multiply(float *acc, const Stage *stage, int row, int col) {
    for (int k = 0; k < BK; k++)
        *acc += stage->A[row][k] * stage->B[k][col];
}

static __global__ void __launch_bounds__(THREADS)
    gemm_kernel(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                int ldc) {
    __shared__ Stage stage;
    // A one-dimensional grid, because gridDim.y and gridDim.z stop at 65535 and gridDim.x does not.
    int tiles_n = (N + BN - 1) / BN;
    int row0 = blockIdx.x / tiles_n * BM, col0 = blockIdx.x % tiles_n * BN;
    int rows = M - row0, cols = N - col0;               // what C has from this block's corner on
    int row = threadIdx.x / BN, col = threadIdx.x % BN; // this thread's element, within the tile
    float acc = 0.0f;

    A += (size_t)row0 * lda;
    B += col0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        load_stage(&stage, k0, rows, cols, K, A, lda, B, ldb);
        __syncthreads(); // the K-tile is complete before any thread reads it
        multiply(&acc, &stage, row, col);
        __syncthreads(); // every thread has read the K-tile before any overwrites it
    }
    if (row < rows && col < cols) // the tile may overhang C
        C[(size_t)(row0 + row) * ldc + col0 + col] = acc;
}

cudaError_t gemm(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                 int ldc, cudaStream_t stream) {
    if (M == 0 || N == 0) // a grid without blocks would be an error
        return cudaSuccess;
    unsigned blocks = (unsigned)((M + BM - 1) / BM) * (unsigned)((N + BN - 1) / BN);
    gemm_kernel<<<blocks, THREADS, 0, stream>>>(M, N, K, A, lda, B, ldb, C, ldc);
    return cudaGetLastError();
}
