// 10_cg_copy: 05_wmma with cooperative_groups::memcpy_async() and wait() in place of loads and
// stores. The copies bypass the registers, but the block still waits for every K-tile.
#include <cooperative_groups/memcpy_async.h>
#include <mma.h>
#include "gemm.h"
using namespace nvcuda;
namespace cg = cooperative_groups;

enum {
    BM = 128,   // rows of C a block computes
    BN = 64,    // columns of C a block computes
    BK = 16,    // depth of a K-tile
    STAGES = 1, // K-tiles in shared memory
    WARPS_M = 2,
    WARPS_N = 1,
    WMMA_M = 16, // mma_sync() adds WMMA_K products to each of WMMA_M x WMMA_N sums
    WMMA_N = 16,
    WMMA_K = 8,
    FRAGS_M = BM / WARPS_M / WMMA_M, // a warp computes FRAGS_M x FRAGS_N fragments of C
    FRAGS_N = BN / WARPS_N / WMMA_N,
    THREADS = WARPS_M * WARPS_N * 32,
    MIN_BLOCKS = 4, // minimum resident blocks per SM: up to 255 registers a thread
    PAD_B = 8       // floats after a row of B: the 4 x 8 elements that a warp reads lie in 32 banks
};
static_assert(BM % (WARPS_M * WMMA_M) == 0 && BN % (WARPS_N * WMMA_N) == 0, "whole fragments");
static_assert(BK % WMMA_K == 0 && PAD_B % 4 == 0, "whole fragments, rows of 16-byte vectors");
static_assert(THREADS % BK == 0 && THREADS % BN == 0, "threads load whole rows of a tile");
static_assert(BM % (THREADS * 4 / BK) == 0 && BK % (THREADS * 4 / BN) == 0, "and all of them");

typedef wmma::precision::tf32 tf32;
typedef wmma::fragment<wmma::matrix_a, WMMA_M, WMMA_N, WMMA_K, tf32, wmma::row_major> FragA;
typedef wmma::fragment<wmma::matrix_b, WMMA_M, WMMA_N, WMMA_K, tf32, wmma::row_major> FragB;
typedef wmma::fragment<wmma::accumulator, WMMA_M, WMMA_N, WMMA_K, float> FragC;
typedef struct {
    float A[BM][BK]; // a pad would spare the reads bank conflicts, and cause more in the copies
    float B[BK][BN + PAD_B];
} Stage;
static_assert(STAGES * sizeof(Stage) <= 46 * 1024, "with the staging buffers, 48 KB at most");

// Copies a height x width tile to shared memory, with zeros beyond the rows x cols that src has.
static __device__ void load_tile(float *tile, int pitch, int height, int width, const float *src,
                                 int ld, int rows, int cols) {
    cg::thread_block_tile<1> thread = cg::tiled_partition<1>(cg::this_thread_block());
    int c = threadIdx.x % width;
    for (int i = 0; i < height; i += THREADS / width) {
        int r = i + threadIdx.x / width;
        bool in = r < rows && c < cols;
        if (in)
            cg::memcpy_async(thread, &tile[r * pitch + c], &src[(size_t)r * ld + c], sizeof(float));
        else
            tile[r * pitch + c] = 0.0f;
    }
}

// The same by 16-byte vectors, where none straddles an edge and K does not end in the tile.
static __device__ void load_tile16(float *tile, int pitch, int height, int width, const float *src,
                                   int ld, int rows, int cols) {
    cg::thread_block_tile<1> thread = cg::tiled_partition<1>(cg::this_thread_block());
    int c = threadIdx.x * 4 % width, r = threadIdx.x * 4 / width;
    int left = c < cols ? rows - r : 0; // rows of the matrix from r on, in this column
    size_t step = (size_t)(THREADS * 4 / width) * ld;
    tile += r * pitch + c;
    src += (size_t)r * ld + c; // one address that moves on: one for each row would cost registers
    for (int i = 0; i < height; i += THREADS * 4 / width, src += step)
        if (i < left)
            cg::memcpy_async(thread, (float4 *)&tile[i * pitch], (const float4 *)src, 16);
        else
            *(float4 *)&tile[i * pitch] = make_float4(0, 0, 0, 0);
}

static __device__ void load_stage(Stage *stage, int k0, int rows, int cols, int K, const float *A,
                                  int lda, const float *B, int ldb, bool vec16) {
    A += k0;
    B += (size_t)k0 * ldb;
    if (vec16 && K - k0 >= BK && (cols >= BN || cols % 4 == 0)) {
        load_tile16(stage->A[0], BK, BM, BK, A, lda, rows, BK);
        load_tile16(stage->B[0], BN + PAD_B, BK, BN, B, ldb, BK, cols);
    } else {
        load_tile(stage->A[0], BK, BM, BK, A, lda, rows, K - k0);
        load_tile(stage->B[0], BN + PAD_B, BK, BN, B, ldb, K - k0, cols);
    }
}

static __device__ void multiply(FragC acc[FRAGS_M][FRAGS_N], const Stage *stage, int row, int col) {
    for (int k = 0; k < BK; k += WMMA_K) {
        FragA a[FRAGS_M];
        FragB b[FRAGS_N];
        for (int i = 0; i < FRAGS_M; i++) {
            wmma::load_matrix_sync(a[i], &stage->A[row + i * WMMA_M][k], BK);
            for (int e = 0; e < a[i].num_elements; e++)
                a[i].x[e] = wmma::__float_to_tf32(a[i].x[e]);
        }
        for (int j = 0; j < FRAGS_N; j++) {
            wmma::load_matrix_sync(b[j], &stage->B[k][col + j * WMMA_N], BN + PAD_B);
            for (int e = 0; e < b[j].num_elements; e++)
                b[j].x[e] = wmma::__float_to_tf32(b[j].x[e]);
        }
        for (int i = 0; i < FRAGS_M; i++)
            for (int j = 0; j < FRAGS_N; j++)
                wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
    }
}

// Through a staging buffer of the warp's own: which lane holds which element is not specified.
static __device__ void store(FragC acc[FRAGS_M][FRAGS_N], float *staging, float *C, int ldc,
                             int rows, int cols, int row, int col) {
#pragma unroll
    for (int f = 0; f < FRAGS_M * FRAGS_N; f++) {
        int i = f / FRAGS_N, j = f % FRAGS_N;
        wmma::store_matrix_sync(staging, acc[i][j], WMMA_N, wmma::mem_row_major);
        __syncwarp(); // the fragment is complete before any lane reads it
        for (int e = threadIdx.x % 32; e < WMMA_M * WMMA_N; e += 32) {
            int r = row + i * WMMA_M + e / WMMA_N, c = col + j * WMMA_N + e % WMMA_N;
            if (r < rows && c < cols) // the tile may overhang C
                C[(size_t)r * ldc + c] = staging[e];
        }
        __syncwarp(); // every lane has read the fragment before any overwrites it
    }
}

static __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm_kernel(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                int ldc, bool vec16) {
    extern __shared__ __align__(128) float smem[];
    Stage *stage = (Stage *)smem;
    __shared__ __align__(128) float staging[WARPS_M * WARPS_N][WMMA_M * WMMA_N];
    // A one-dimensional grid, because gridDim.y and gridDim.z stop at 65535 and gridDim.x does not.
    int tiles_n = (N + BN - 1) / BN;
    int row0 = blockIdx.x / tiles_n * BM, col0 = blockIdx.x % tiles_n * BN;
    int rows = M - row0, cols = N - col0; // what C has from this block's corner on
    int warp = threadIdx.x / 32;
    int row = warp / WARPS_N * FRAGS_M * WMMA_M, col = warp % WARPS_N * FRAGS_N * WMMA_N;
    FragC acc[FRAGS_M][FRAGS_N];
    for (int f = 0; f < FRAGS_M * FRAGS_N; f++)
        wmma::fill_fragment(acc[f / FRAGS_N][f % FRAGS_N], 0.0f);

    A += (size_t)row0 * lda;
    B += col0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        load_stage(stage, k0, rows, cols, K, A, lda, B, ldb, vec16);
        cg::wait(cg::this_thread_block()); // and barrier: the K-tile is complete before any read
        multiply(acc, stage, row, col);
        __syncthreads(); // every thread has read the K-tile before any overwrites it
    }
    store(acc, staging[warp], C + (size_t)row0 * ldc + col0, ldc, rows, cols, row, col);
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
    gemm_kernel<<<blocks, THREADS, bytes, stream>>>(M, N, K, A, lda, B, ldb, C, ldc, vec16);
    return cudaGetLastError();
}
