// 08_reduction_async, its base: a sum only streams its input: it needs enough loads in flight.
//
// The order of summation is fixed, so that every run on every GPU gives the same bits:
// - From its first 128-byte aligned element on, x is cut into 16-byte vectors, and these into tiles
//   of TILE. Block b of BLOCKS sums the tiles b, b + BLOCKS, ..., its thread t the vectors t,
//   t + THREADS, ... of each. A thread has a sum for each of a vector's elements, and at the end
//   adds (s0 + s1) + (s2 + s3).
// - Thread t of block 0 adds element t of the head (up to 31 elements before the vectors), then of
//   the tail (up to 3 after them).
// - Lanes are added in pairs at distance 16, 8, 4, 2, 1, and then the sums of the warps likewise.
// - The last block to finish adds the sums of the blocks: thread t those of t, t + THREADS, ...,
//   and its threads' sums as before.
#include "reduce.h"
#include <stdint.h>

enum {
    THREADS = 128,
    WARPS = THREADS / 32,
    LOADS = 16,                   // vectors that a thread loads before it adds the first of them
    TILE = THREADS * LOADS,       // vectors
    BLOCKS_PER_SM = 3,            // 96 KB of loads in flight an SM; a fourth block adds nothing
    BLOCKS = 132 * BLOCKS_PER_SM, // a constant: the order of summation must not depend on the GPU
};

static_assert(THREADS % 32 == 0 && WARPS <= 32, "one whole warp adds up the sums of all");

struct partials {
    unsigned finished;     // blocks that have stored their partial sum
    float partial[BLOCKS]; // by block
};

// Vectors of x from this thread's first of the tile on. Its next ones follow THREADS apart.
static __device__ long long vectors_left(size_t vectors, size_t tile) {
    return (long long)(vectors - tile * TILE) - threadIdx.x;
}

static __device__ void load_tile(float4 v[LOADS], const float4 *x, size_t vectors, size_t tile) {
    const long long left = vectors_left(vectors, tile);
    x += tile * TILE + threadIdx.x;
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        v[i] = i * THREADS < left ? x[i * THREADS] : make_float4(0, 0, 0, 0);
}

static __device__ void add_tile(float4 *sum, const float4 v[LOADS]) {
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        sum->x += v[i].x;
        sum->y += v[i].y;
        sum->z += v[i].z;
        sum->w += v[i].w;
    }
}

static __device__ float warp_sum(float sum) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    return sum;
}

// The sum over the block, valid in warp 0. Between two calls there must be a block barrier.
static __device__ float block_sum(float sum) {
    __shared__ float of_warp[WARPS];

    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads(); // warp 0 waits for the sums of all warps
    return threadIdx.x < 32 ? warp_sum(threadIdx.x < WARPS ? of_warp[threadIdx.x] : 0) : 0;
}

static __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    reduce_kernel(size_t n, const float *x, size_t head, float *sum, partials *ws) {
    __shared__ bool last;
    const float4 *body = (const float4 *)(x + head);
    const size_t vectors = (n - head) / 4;
    const size_t tail = head + 4 * vectors;

    float4 acc = make_float4(0, 0, 0, 0);
    for (size_t tile = blockIdx.x; tile * TILE < vectors; tile += gridDim.x) {
        float4 v[LOADS];
        load_tile(v, body, vectors, tile);
        add_tile(&acc, v);
    }

    float part = (acc.x + acc.y) + (acc.z + acc.w);
    if (blockIdx.x == 0 && threadIdx.x < head)
        part += x[threadIdx.x];
    if (blockIdx.x == 0 && threadIdx.x < n - tail)
        part += x[tail + threadIdx.x];

    part = block_sum(part);
    if (threadIdx.x == 0) {
        ws->partial[blockIdx.x] = part;
        __threadfence(); // release: who sees this block counted also sees its partial sum
        last = atomicAdd(&ws->finished, 1) == gridDim.x - 1;
    }
    __syncthreads(); // all wait for thread 0's answer: is this the last block to finish?
    if (!last)
        return;
    __threadfence(); // acquire: the partial sums are read after the count

    part = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS)
        part += __ldcg(&ws->partial[b]); // from L2: L1 may hold old values
    part = block_sum(part);
    if (threadIdx.x == 0)
        *sum = part;
}

extern "C" size_t reduce_workspace(size_t n) {
    return n ? sizeof(partials) : 0;
}

extern "C" cudaError_t reduce(size_t n, const float *x, float *sum, void *workspace,
                              cudaStream_t stream) {
    if (n == 0)
        return cudaMemsetAsync(sum, 0, sizeof *sum, stream);

    partials *ws = (partials *)workspace;
    const size_t to_aligned = (128 - (uintptr_t)x % 128) % 128 / 4;
    const size_t head = to_aligned < n ? to_aligned : n;
    const size_t tiles = (n / 4 + TILE - 1) / TILE;
    const unsigned busy = tiles < BLOCKS ? (unsigned)tiles : (unsigned)BLOCKS;
    const unsigned blocks = busy ? busy : 1; // n < 4 has no tile, but still a head or a tail

    code_path("16-byte loads");
    const cudaError_t error = cudaMemsetAsync(&ws->finished, 0, sizeof ws->finished, stream);
    if (error != cudaSuccess)
        return error;
    reduce_kernel<<<blocks, THREADS, 0, stream>>>(n, x, head, sum, ws);
    return cudaGetLastError();
}
