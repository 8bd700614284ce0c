// 07_fp32_db: 04_regblock with two stages: asynchronous copies load the next K-tile, past the
// registers, while this one is multiplied. It gains little: other blocks already cover the wait.
#include <cuda_pipeline.h>
#include "gemm.h"

enum {
    BM = 128,   // rows of C a block computes
    BN = 64,    // columns of C a block computes
    BK = 32,    // depth of a K-tile
    STAGES = 2, // K-tiles in shared memory
    TM = 8,     // rows of C a thread computes, LANES_M apart
    TN = 8,     // columns of C a thread computes: vectors, 4 * LANES_N apart
    WARPS_M = 4,
    WARPS_N = 1,
    LANES_M = BM / WARPS_M / TM, // a warp computes LANES_M * TM rows
    LANES_N = BN / WARPS_N / TN, // and LANES_N * TN columns
    THREADS = WARPS_M * WARPS_N * 32,
    MIN_BLOCKS = 4, // minimum resident blocks per SM: up to 128 registers a thread
    PAD_A = 4       // floats after a row of A: two rows read at once lie in different banks
};
static_assert(LANES_M * LANES_N == 32 && LANES_M % 2 == 0 && TN % 4 == 0, "lanes in pairs of rows");
static_assert(BK % 4 == 0 && BN % 4 == 0 && PAD_A % 4 == 0, "rows of whole 16-byte vectors");
static_assert(THREADS % BK == 0 && THREADS % BN == 0, "threads load whole rows of a tile");
static_assert(BM % (THREADS * 4 / BK) == 0 && BK % (THREADS * 4 / BN) == 0, "and all of them");

typedef struct {
    float A[BM][BK + PAD_A];
    float B[BK][BN];
} Stage;
static_assert(STAGES == 2, "buf ^ 1 is the other of two stages");
static_assert(STAGES * sizeof(Stage) <= 99 * 1024, "what every GPU since sm_80 grants a block");

// Copies a height x width tile to shared memory, with zeros beyond the rows x cols that src has.
static __device__ void load_tile(float *tile, int pitch, int height, int width, const float *src,
                                 int ld, int rows, int cols) {
    int c = threadIdx.x % width;
    for (int i = 0; i < height; i += THREADS / width) {
        int r = i + threadIdx.x / width;
        bool in = r < rows && c < cols;
        __pipeline_memcpy_async(&tile[r * pitch + c], in ? &src[(size_t)r * ld + c] : src, 4,
                                in ? 0 : 4);
    }
}

// The same by 16-byte vectors, where none straddles an edge and K does not end in the tile.
static __device__ void load_tile16(float *tile, int pitch, int height, int width, const float *src,
                                   int ld, int rows, int cols) {
    int c = threadIdx.x * 4 % width, r = threadIdx.x * 4 / width;
    int left = c < cols ? rows - r : 0; // rows of the matrix from r on, in this column
    size_t step = (size_t)(THREADS * 4 / width) * ld;
    tile += r * pitch + c;
    src += (size_t)r * ld + c; // one address that moves on: one for each row would cost registers
    for (int i = 0; i < height; i += THREADS * 4 / width, src += step)
        __pipeline_memcpy_async(&tile[i * pitch], src, 16, i < left ? 0 : 16);
}

static __device__ void load_stage(Stage *stage, int k0, int rows, int cols, int K, const float *A,
                                  int lda, const float *B, int ldb, bool vec16) {
    if (k0 >= K)
        return; // nothing is left to copy
    A += k0;
    B += (size_t)k0 * ldb;
    if (vec16 && K - k0 >= BK && (cols >= BN || cols % 4 == 0)) {
        load_tile16(stage->A[0], BK + PAD_A, BM, BK, A, lda, rows, BK);
        load_tile16(stage->B[0], BN, BK, BN, B, ldb, BK, cols);
    } else {
        load_tile(stage->A[0], BK + PAD_A, BM, BK, A, lda, rows, K - k0);
        load_tile(stage->B[0], BN, BK, BN, B, ldb, K - k0, cols);
    }
    __pipeline_commit();
}

static __device__ void multiply(float acc[TM][TN], const Stage *stage, int row, int col) {
    float4 b[2][TN / 4]; // the row of B in use, and the next one, which is being loaded
    for (int j = 0; j < TN / 4; j++)
        b[0][j] = *(const float4 *)&stage->B[0][col + j * LANES_N * 4];
#pragma unroll 2
    for (int k = 0; k < BK; k += 4) {
        float4 a[TM]; // four columns of A
        for (int i = 0; i < TM; i++)
            a[i] = *(const float4 *)&stage->A[row + i * LANES_M][k];
        for (int kk = 0; kk < 4; kk++) {
            if (k + kk + 1 < BK)
                for (int j = 0; j < TN / 4; j++)
                    b[(kk + 1) % 2][j] =
                        *(const float4 *)&stage->B[k + kk + 1][col + j * LANES_N * 4];
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    acc[i][j] += ((const float *)&a[i])[kk] * ((const float *)b[kk % 2])[j];
        }
    }
}

static __device__ void store(float acc[TM][TN], float *C, int ldc, int rows, int cols, int row,
                             int col) {
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            int r = row + i * LANES_M, c = col + j / 4 * LANES_N * 4 + j % 4;
            if (r < rows && c < cols) // the tile may overhang C
                C[(size_t)r * ldc + c] = acc[i][j];
        }
}

static __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_kernel(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                int ldc, bool vec16) {
    extern __shared__ __align__(128) float smem[];
    Stage *stage = (Stage *)smem;
    // A one-dimensional grid, because gridDim.y and gridDim.z stop at 65535 and gridDim.x does not.
    int tiles_n = (N + BN - 1) / BN;
    int row0 = blockIdx.x / tiles_n * BM, col0 = blockIdx.x % tiles_n * BN;
    int rows = M - row0, cols = N - col0; // what C has from this block's corner on
    // Neighbouring lanes alternate between two rows: a warp's 16-byte read takes 2 cycles, not 4.
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = warp / WARPS_N * LANES_M * TM + lane / (2 * LANES_N) * 2 + lane % 2;
    int col = warp % WARPS_N * LANES_N * TN + lane / 2 % LANES_N * 4;
    float acc[TM][TN] = {};

    A += (size_t)row0 * lda;
    B += col0;
    load_stage(&stage[0], 0, rows, cols, K, A, lda, B, ldb, vec16);
    for (int k0 = 0, buf = 0; k0 < K; k0 += BK, buf ^= 1) {
        __pipeline_wait_prior(0); // this thread's copies to stage[buf] have landed
        // One barrier for two hazards: all copies to stage[buf] have landed before any thread reads
        // it, and the last iteration's reads of stage[buf ^ 1] are done before it is overwritten.
        __syncthreads();
        load_stage(&stage[buf ^ 1], k0 + BK, rows, cols, K, A, lda, B, ldb, vec16);
        multiply(acc, &stage[buf], row, col);
    }
    store(acc, C + (size_t)row0 * ldc + col0, ldc, rows, cols, row, col);
}

cudaError_t gemm(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                 int ldc, cudaStream_t stream) {
    if (M == 0 || N == 0) // a grid without blocks would be an error
        return cudaSuccess;
    unsigned blocks = (unsigned)((M + BM - 1) / BM) * (unsigned)((N + BN - 1) / BN);
    bool vec16 = lda % 4 == 0 && ldb % 4 == 0 && ((size_t)A | (size_t)B) % 16 == 0;
    bool edges = K % BK != 0 || N % 4 != 0; // tiles that load_tile16() cannot load
    code_path(!vec16 ? "4-byte copies" : edges ? "16-byte copies, 4 at edges" : "16-byte copies");
    size_t bytes = STAGES * sizeof(Stage);
    cudaError_t error = // without this, 48 KB is the limit
        cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    gemm_kernel<<<blocks, THREADS, bytes, stream>>>(M, N, K, A, lda, B, ldb, C, ldc, vec16);
    return cudaGetLastError();
}
