// 06_wmma_db: 05_wmma with two slabs that asynchronous copies fill: the next slab travels, past the
// registers, while the Tensor Cores multiply this one.
#include <cuda_pipeline.h>
#include <mma.h>
#include "gemm.h"
using namespace nvcuda;

enum {
    BM = 128,   // rows of C a block computes
    BN = 64,    // columns of C a block computes
    BK = 16,    // depth of a slab
    STAGES = 2, // slabs in shared memory
    F = 16,     // rows and columns of C in a fragment
    FK = 8,     // products that one instruction adds to each
    WARPS_M = 2,
    WARPS_N = 1,
    TM = BM / WARPS_M / F, // a warp computes TM x TN fragments
    TN = BN / WARPS_N / F,
    THREADS = WARPS_M * WARPS_N * 32,
    BLOCKS = 4, // wanted on a multiprocessor: 255 registers a thread
    PAD_B = 8   // floats after a row of B: the 4 x 8 elements that a warp reads lie in 32 banks
};
static_assert(BM % (WARPS_M * F) == 0 && BN % (WARPS_N * F) == 0, "the warps cover the tile");
static_assert(BK % FK == 0 && PAD_B % 4 == 0, "whole fragments, rows of 16-byte vectors");
static_assert(THREADS % BK == 0 && THREADS % BN == 0, "threads load whole rows of a tile");
static_assert(BM % (THREADS * 4 / BK) == 0 && BK % (THREADS * 4 / BN) == 0, "and all of them");
typedef wmma::fragment<wmma::matrix_a, F, F, FK, wmma::precision::tf32, wmma::row_major> FragA;
typedef wmma::fragment<wmma::matrix_b, F, F, FK, wmma::precision::tf32, wmma::row_major> FragB;
typedef wmma::fragment<wmma::accumulator, F, F, FK, float> FragC;
typedef struct {
    float A[BM][BK]; // padding would spare reads bank conflicts, and give more to the copies
    float B[BK][BN + PAD_B];
} Slab;
static_assert(STAGES == 2, "buf ^ 1 is the other of two slabs");
static_assert(STAGES * sizeof(Slab) <= 46 * 1024, "beside the patches, 48 KB at most");

// Copies a height x width tile to shared memory: zero beyond the rows x cols left of the matrix.
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

// The same, 16 bytes at a time, where no vector straddles an edge and K does not end in the tile.
static __device__ void load_tile16(float *tile, int pitch, int height, int width, const float *src,
                                   int ld, int rows, int cols) {
    int c = threadIdx.x * 4 % width, r = threadIdx.x * 4 / width;
    int left = c < cols ? rows - r : 0; // rows of the matrix from r on, in this column
    size_t step = (size_t)(THREADS * 4 / width) * ld;
    tile += r * pitch + c;
    src += (size_t)r * ld + c; // one address that walks: one a row would cost registers
    for (int i = 0; i < height; i += THREADS * 4 / width, src += step)
        __pipeline_memcpy_async(&tile[i * pitch], src, 16, i < left ? 0 : 16);
}

static __device__ void load_slab(Slab *slab, int k0, int rows, int cols, int K, const float *A,
                                 int lda, const float *B, int ldb, bool wide) {
    if (k0 >= K)
        return; // nothing is left to copy
    A += k0;
    B += (size_t)k0 * ldb;
    if (wide && K - k0 >= BK && (cols >= BN || cols % 4 == 0)) {
        load_tile16(slab->A[0], BK, BM, BK, A, lda, rows, BK);
        load_tile16(slab->B[0], BN + PAD_B, BK, BN, B, ldb, BK, cols);
    } else {
        load_tile(slab->A[0], BK, BM, BK, A, lda, rows, K - k0);
        load_tile(slab->B[0], BN + PAD_B, BK, BN, B, ldb, K - k0, cols);
    }
    __pipeline_commit();
}

static __device__ void multiply(FragC acc[TM][TN], const Slab *slab, int row, int col) {
    for (int k = 0; k < BK; k += FK) {
        FragA a[TM];
        FragB b[TN];
        for (int i = 0; i < TM; i++) {
            wmma::load_matrix_sync(a[i], &slab->A[row + i * F][k], BK);
            for (int e = 0; e < a[i].num_elements; e++)
                a[i].x[e] = wmma::__float_to_tf32(a[i].x[e]);
        }
        for (int j = 0; j < TN; j++) {
            wmma::load_matrix_sync(b[j], &slab->B[k][col + j * F], BN + PAD_B);
            for (int e = 0; e < b[j].num_elements; e++)
                b[j].x[e] = wmma::__float_to_tf32(b[j].x[e]);
        }
        for (int i = 0; i < TM; i++)
            for (int j = 0; j < TN; j++)
                wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
    }
}

// By way of the warp's own patch of shared memory: which lane holds what is not specified.
static __device__ void store(FragC acc[TM][TN], float *patch, float *C, int ldc, int rows, int cols,
                             int row, int col) {
#pragma unroll
    for (int f = 0; f < TM * TN; f++) {
        wmma::store_matrix_sync(patch, acc[f / TN][f % TN], F, wmma::mem_row_major);
        __syncwarp(); // the patch is complete before any lane reads it
        for (int e = threadIdx.x % 32; e < F * F; e += 32) {
            int r = row + f / TN * F + e / F, c = col + f % TN * F + e % F;
            if (r < rows && c < cols) // the tile may overhang C
                C[(size_t)r * ldc + c] = patch[e];
        }
        __syncwarp(); // every lane has read the patch before any overwrites it
    }
}

static __global__ void __launch_bounds__(THREADS, BLOCKS)
    gemm_kernel(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                int ldc, bool wide) {
    extern __shared__ __align__(128) float smem[];
    Slab *slab = (Slab *)smem;
    __shared__ __align__(128) float patch[WARPS_M * WARPS_N][F * F];
    // A one-dimensional grid, because gridDim.y and gridDim.z stop at 65535 and gridDim.x does not.
    int tiles_n = (N + BN - 1) / BN;
    int row0 = blockIdx.x / tiles_n * BM, col0 = blockIdx.x % tiles_n * BN;
    int rows = M - row0, cols = N - col0; // left of C, from this block's corner on
    int warp = threadIdx.x / 32, row = warp / WARPS_N * TM * F, col = warp % WARPS_N * TN * F;
    FragC acc[TM][TN];
    for (int f = 0; f < TM * TN; f++)
        wmma::fill_fragment(acc[f / TN][f % TN], 0.0f);
    A += (size_t)row0 * lda;
    B += col0;
    load_slab(&slab[0], 0, rows, cols, K, A, lda, B, ldb, wide);
    for (int k0 = 0, buf = 0; k0 < K; k0 += BK, buf ^= 1) {
        __pipeline_wait_prior(0); // this thread's copies to slab[buf] have landed
        // One barrier for two hazards: all copies to slab[buf] have landed before any thread reads
        // it, and all threads have read slab[buf ^ 1], a trip ago, before any copy overwrites it.
        __syncthreads();
        load_slab(&slab[buf ^ 1], k0 + BK, rows, cols, K, A, lda, B, ldb, wide);
        multiply(acc, &slab[buf], row, col);
    }
    store(acc, patch[warp], C + (size_t)row0 * ldc + col0, ldc, rows, cols, row, col);
}

cudaError_t gemm(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                 int ldc, cudaStream_t stream) {
    if (M == 0 || N == 0) // a grid without blocks would be an error
        return cudaSuccess;
    unsigned blocks = (unsigned)((M + BM - 1) / BM) * (unsigned)((N + BN - 1) / BN);
    bool wide = lda % 4 == 0 && ldb % 4 == 0 && ((size_t)A | (size_t)B) % 16 == 0;
    bool even = K % BK == 0 && N % 4 == 0; // else edges lie between 16-byte vectors
    code_path(!wide ? "4-byte copies" : even ? "16-byte copies" : "16-byte copies, 4 at edges");
    size_t bytes = STAGES * sizeof(Slab);
    gemm_kernel<<<blocks, THREADS, bytes, stream>>>(M, N, K, A, lda, B, ldb, C, ldc, wide);
    return cudaGetLastError();
}
