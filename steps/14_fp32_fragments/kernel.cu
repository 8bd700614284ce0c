// 14_fp32_fragments: 07_fp32_db with a second pipeline, from shared memory to registers: the elements
// of A and B for the next k are loaded while those of this k are multiplied, across K-tiles too.
#include <cuda_pipeline.h>
#include "gemm.h"

enum {
    BM = 128,   // rows of C a block computes
    BN = 256,   // columns of C a block computes
    BK = 16,    // depth of a K-tile
    STAGES = 2, // K-tiles in shared memory
    TM = 8,     // rows of C a thread computes: vectors, 4 * LANES_M apart
    TN = 16,    // columns of C a thread computes: vectors, 4 * LANES_N apart
    WARPS_M = 4,
    WARPS_N = 2,
    LANES_M = BM / WARPS_M / TM, // a warp computes LANES_M * TM rows
    LANES_N = BN / WARPS_N / TN, // and LANES_N * TN columns
    THREADS = WARPS_M * WARPS_N * 32,
    MIN_BLOCKS = 1, // minimum resident blocks per SM: up to 255 registers a thread
    PAD_A = 4,      // floats after a column of A: its transposed stores meet in fewer banks
    PART_A = BM * BK / THREADS / 4 // vectors of A a thread loads
};
static_assert(LANES_M * LANES_N == 32 && LANES_M % 2 == 0 && TN % 4 == 0, "lanes in pairs of rows");
static_assert(BK % 4 == 0 && BN % 4 == 0 && PAD_A % 4 == 0, "rows of whole 16-byte vectors");
static_assert(THREADS % BK == 0 && THREADS % BN == 0, "threads load whole rows of a tile");
static_assert(BM % (THREADS * 4 / BK) == 0 && BK % (THREADS * 4 / BN) == 0, "and all of them");

typedef struct {
    float A[BK][BM + PAD_A]; // transposed, so that a thread's TM rows are vectors
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

// A's part of a K-tile, through registers: no asynchronous copy transposes. With zeros beyond an edge.
static __device__ void load_A(float4 part[PART_A], int k0, int rows, int K, const float *A, int lda,
                              bool vec16, bool whole) {
    for (int p = 0; p < PART_A; p++) {
        int r = (threadIdx.x + p * THREADS) * 4 / BK, k = k0 + threadIdx.x * 4 % BK;
        part[p] = make_float4(0, 0, 0, 0);
        if (whole || (vec16 && k0 + BK <= K)) {
            if (r < rows)
                part[p] = *(const float4 *)&A[(size_t)r * lda + k];
        } else
            for (int e = 0; e < 4; e++)
                if (r < rows && k + e < K)
                    ((float *)&part[p])[e] = A[(size_t)r * lda + k + e];
    }
}

static __device__ void store_A(Stage *stage, const float4 part[PART_A]) {
    for (int p = 0; p < PART_A; p++)
        for (int e = 0; e < 4; e++)
            stage->A[threadIdx.x * 4 % BK + e][(threadIdx.x + p * THREADS) * 4 / BK] = ((const float *)&part[p])[e];
}

static __device__ void load_B(Stage *stage, int k0, int cols, int K, const float *B, int ldb,
                              bool vec16, bool whole) {
    if (!whole && k0 >= K)
        return; // nothing is left to copy
    B += (size_t)k0 * ldb;
    if (whole || (vec16 && K - k0 >= BK && (cols >= BN || cols % 4 == 0)))
        load_tile16(stage->B[0], BN, BK, BN, B, ldb, BK, cols);
    else
        load_tile(stage->B[0], BN, BK, BN, B, ldb, K - k0, cols);
    __pipeline_commit();
}

static __device__ void load_fragments(float4 a[TM / 4], float4 b[TN / 4], const Stage *stage, int row,
                                      int col, int k) {
    for (int j = 0; j < TN / 4; j++)
        b[j] = *(const float4 *)&stage->B[k][col + j * LANES_N * 4];
    for (int i = 0; i < TM / 4; i++)
        a[i] = *(const float4 *)&stage->A[k][row + i * LANES_M * 4];
}

static __device__ void multiply(float acc[TM][TN], const float4 a[TM / 4], const float4 b[TN / 4]) {
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++)
            acc[i][j] += ((const float *)a)[i] * ((const float *)b)[j];
}

static __device__ void store(float acc[TM][TN], float *C, int ldc, int rows, int cols, int row,
                             int col) {
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            int r = row + i / 4 * LANES_M * 4 + i % 4, c = col + j / 4 * LANES_N * 4 + j % 4;
            if (r < rows && c < cols) // the tile may overhang C
                C[(size_t)r * ldc + c] = acc[i][j];
        }
}

// All K-tiles of a tile of C. It is compiled twice, since a branch in an iteration would keep the compiler
// from moving loads: for whole K-tiles of aligned rows, and for all others.
static __device__ __forceinline__ void accumulate(float acc[TM][TN], Stage *stage, int row, int col,
                                                  int rows, int cols, int K, const float *A, int lda,
                                                  const float *B, int ldb, bool vec16, bool whole) {
    float4 part[PART_A], a[2][TM / 4], b[2][TN / 4]; // a, b: of this k, and of the next one
    load_A(part, 0, rows, K, A, lda, vec16, whole);
    load_B(&stage[0], 0, cols, K, B, ldb, vec16, whole);
    store_A(&stage[0], part);
    __pipeline_wait_prior(0); // this thread's copies to stage[0] have landed
    __syncthreads();          // and all others'
    load_fragments(a[0], b[0], &stage[0], row, col, 0);
    for (int k0 = 0, buf = 0; k0 < K; k0 += BK, buf ^= 1) {
        int next = whole ? min(k0 + BK, K - BK) : k0 + BK; // the last one again, rather than a branch
        load_A(part, next, rows, K, A, lda, vec16, whole);
        load_B(&stage[buf ^ 1], next, cols, K, B, ldb, vec16, whole);
#pragma unroll
        for (int k = 0; k < BK; k++) {
            if (k + 1 == BK) {
                store_A(&stage[buf ^ 1], part);
                __pipeline_wait_prior(0); // this thread's copies to stage[buf ^ 1] have landed
                // One barrier for two hazards: the next K-tile is complete before any thread reads it,
                // and all have read stage[buf] for the last time before it is overwritten.
                __syncthreads();
            }
            load_fragments(a[(k + 1) % 2], b[(k + 1) % 2], &stage[k + 1 < BK ? buf : buf ^ 1], row, col,
                           (k + 1) % BK);
            multiply(acc, a[k % 2], b[k % 2]);
        }
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
    // Neighbouring lanes alternate between two vectors of A: a warp's read takes 2 cycles, not 4.
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = warp / WARPS_N * LANES_M * TM + (lane / (2 * LANES_N) * 2 + lane % 2) * 4;
    int col = warp % WARPS_N * LANES_N * TN + lane / 2 % LANES_N * 4;
    float acc[TM][TN] = {};

    A += (size_t)row0 * lda;
    B += col0;
    if (vec16 && K % BK == 0 && K > 0 && cols >= BN)
        accumulate(acc, stage, row, col, rows, cols, K, A, lda, B, ldb, true, true);
    else
        accumulate(acc, stage, row, col, rows, cols, K, A, lda, B, ldb, vec16, false);
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
