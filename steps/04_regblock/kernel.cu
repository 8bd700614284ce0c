// 04_regblock: a thread computes 8 x 8 elements in registers, so that 16 floats read from shared
// memory feed 64 multiply-adds. It still stops at every slab: load, barrier, multiply, barrier.
#include <stdint.h>
#include "gemm.h"

enum {
    BM = 128, // rows of C a block computes
    BN = 64,  // columns of C a block computes
    BK = 32,  // depth of a slab
    PAD_A = 4, // floats between the rows of a slab, so that ...
    PAD_B = 0,
    STAGES = 1, // slabs in shared memory
    TM = 8, // rows of C a thread computes
    TN = 8, // columns of C a thread computes
    WARPS_M = 4,
    WARPS_N = 1,
    LANES_M = BM / WARPS_M / TM, // a warp's threads: LANES_M x LANES_N microtiles
    LANES_N = BN / WARPS_N / TN,
    THREADS = WARPS_M * WARPS_N * 32
};
static_assert(LANES_M * LANES_N == 32, "a warp covers its part of the tile");
static_assert(BK % 4 == 0 && PAD_A % 4 == 0 && PAD_B % 4 == 0, "rows of whole 16-byte vectors");
static_assert(THREADS % BK == 0 && THREADS % BN == 0, "threads cover whole rows of a slab");

typedef struct {
    float A[BM][BK + PAD_A];
    float B[BK][BN + PAD_B];
} Slab;
static_assert(STAGES * sizeof(Slab) <= 99 * 1024, "dynamic shared memory of the smallest sm_8x");

// Copies a height x width tile to shared memory, 4 bytes at a time. From src on, rows x cols elements
// of the matrix are left; what lies beyond them becomes zero.
static __device__ void load_tile(float *tile, int pitch, int height, int width, const float *src,
                                 int ld, int rows, int cols) {
    int c = threadIdx.x % width;
    for (int i = 0; i < height; i += THREADS / width) {
        int r = i + threadIdx.x / width;
        bool in = r < rows && c < cols;
        tile[r * pitch + c] = in ? src[(size_t)r * ld + c] : 0.0f;
    }
}

// The same, 16 bytes at a time, where all columns of the tile exist and rows start on 16 bytes.
static __device__ void load_tile16(float *tile, int pitch, int height, int width, const float *src,
                                   int ld, int rows) {
    int c = threadIdx.x * 4 % width;
    for (int i = 0; i < height; i += THREADS * 4 / width) {
        int r = i + threadIdx.x * 4 / width;
        bool in = r < rows;
        float4 zero = {};
        *(float4 *)&tile[r * pitch + c] = in ? *(const float4 *)&src[(size_t)r * ld + c] : zero;
    }
}

static __device__ void load_slab(Slab *slab, int k0, int rows, int cols, int K, const float *A,
                                 int lda, const float *B, int ldb, bool wide) {
    A += k0;
    B += (size_t)k0 * ldb;
    if (wide && K - k0 >= BK && cols >= BN) {
        load_tile16(slab->A[0], BK + PAD_A, BM, BK, A, lda, rows);
        load_tile16(slab->B[0], BN + PAD_B, BK, BN, B, ldb, K - k0);
    } else {
        load_tile(slab->A[0], BK + PAD_A, BM, BK, A, lda, rows, K - k0);
        load_tile(slab->B[0], BN + PAD_B, BK, BN, B, ldb, K - k0, cols);
    }
}

static __device__ void multiply(float acc[TM][TN], const Slab *slab, int row, int col) {
    for (int k = 0; k < BK; k += 4) {
        float4 a[TM];
        for (int i = 0; i < TM; i++)
            a[i] = *(const float4 *)&slab->A[row + i * LANES_M][k];
        for (int kk = 0; kk < 4; kk++) {
            float4 b[TN / 4];
            for (int j = 0; j < TN / 4; j++)
                b[j] = *(const float4 *)&slab->B[k + kk][col + j * LANES_N * 4];
            for (int i = 0; i < TM; i++)
                for (int j = 0; j < TN; j++)
                    acc[i][j] += ((const float *)&a[i])[kk] * ((const float *)b)[j];
        }
    }
}

static __device__ void store(float acc[TM][TN], float *C, int ldc, int rows, int cols, int row,
                             int col) {
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            int r = row + i * LANES_M, c = col + j / 4 * LANES_N * 4 + j % 4;
            if (r < rows && c < cols)
                C[(size_t)r * ldc + c] = acc[i][j];
        }
}

static __global__ void __launch_bounds__(THREADS)
    gemm_kernel(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                int ldc, bool wide) {
    extern __shared__ __align__(128) float smem[];
    Slab *slab = (Slab *)smem;
    // A one-dimensional grid, because gridDim.y and gridDim.z stop at 65535 and gridDim.x does not.
    int tiles_n = (N + BN - 1) / BN;
    int row0 = blockIdx.x / tiles_n * BM, col0 = blockIdx.x % tiles_n * BN;
    int rows = M - row0, cols = N - col0; // left of the matrix, from this block's corner on
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = warp / WARPS_N * LANES_M * TM + lane / (2 * LANES_N) * 2 + lane % 2;
    int col = warp % WARPS_N * LANES_N * TN + lane / 2 % LANES_N * 4;
    float acc[TM][TN] = {};

    A += (size_t)row0 * lda;
    B += col0;
    C += (size_t)row0 * ldc + col0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        load_slab(slab, k0, rows, cols, K, A, lda, B, ldb, wide);
        __syncthreads(); // the slab is complete before any thread reads it
        multiply(acc, slab, row, col);
        __syncthreads(); // every thread has read the slab before any overwrites it
    }
    store(acc, C, ldc, rows, cols, row, col);
}

cudaError_t gemm(int M, int N, int K, const float *A, int lda, const float *B, int ldb, float *C,
                 int ldc, cudaStream_t stream) {
    if (M == 0 || N == 0)
        return cudaSuccess;
    bool wide = lda % 4 == 0 && ldb % 4 == 0 && ((uintptr_t)A | (uintptr_t)B) % 16 == 0;
    step_path(wide ? "16-byte copies" : "4-byte copies");
    unsigned blocks = (unsigned)((M + BM - 1) / BM) * (unsigned)((N + BN - 1) / BN);
    size_t bytes = STAGES * sizeof(Slab);
    cudaError_t error =
        cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    gemm_kernel<<<blocks, THREADS, bytes, stream>>>(M, N, K, A, lda, B, ldb, C, ldc, wide);
    return cudaGetLastError();
}
