// 08_reduction_async: copies do not make a sum faster. Streaming is all its work: they hide nothing.
//
// Order of summation, the same in every run and on every GPU: from its first element on a 128-byte
// line, x is dealt in 16-byte pieces, TILE of them to each of BLOCKS blocks in turn, and a tile's
// pieces to the block's THREADS threads in turn. A thread keeps four sums, one for each element of
// a piece, in ascending order of address, and ends with (s0 + s1) + (s2 + s3). The up to 31
// elements before the first piece, then the up to three after the last, go to block 0, one to a
// thread. Lanes are summed in pairs at distance 16, 8, 4, 2, 1, then warps likewise, and then the
// blocks' sums: b, b + THREADS, ... to thread b of the last block to finish, its threads as before.
#include "reduce.h"
#include <stdint.h>
#include <cuda_pipeline.h>

enum {
    THREADS = 128,
    WARPS = THREADS / 32,
    LOADS = 16,                   // pieces of a tile that a thread loads before it adds the first
    TILE = THREADS * LOADS,       // pieces
    STAGES = 2,                   // tiles of a block that are on their way at any time
    BLOCKS_PER_SM = 3,            // 192 KB of copies on their way; there is no room for a fourth
    BLOCKS = 132 * BLOCKS_PER_SM, // a constant: the order of summation must not depend on the GPU
};

static_assert(THREADS % 32 == 0 && WARPS <= 32, "one whole warp adds up the sums of all");
static_assert(BLOCKS_PER_SM * (STAGES * TILE * 16 + 2048) <= 228 * 1024, "an SM's shared memory");

struct partials {
    unsigned finished;     // blocks whose partial sum stands
    float partial[BLOCKS]; // by block
};

// The pieces of a tile from this thread's first on; its next ones follow THREADS apart.
static __device__ long long pieces_left(size_t pieces, size_t tile) {
    return (long long)(pieces - tile * TILE) - threadIdx.x;
}

// Outside, it copies nothing and clears the piece; `aligned` is any aligned address to name then.
static __device__ void copy_tile(float4 stage[TILE], const float4 *x, size_t pieces, size_t tile,
                                 const void *aligned) {
    const long long left = pieces_left(pieces, tile);
    x += tile * TILE + threadIdx.x;
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const bool inside = i * THREADS < left;
        __pipeline_memcpy_async(&stage[i * THREADS + threadIdx.x],
                                inside ? &x[i * THREADS] : aligned, 16, inside ? 0 : 16);
    }
    __pipeline_commit();
}

static __device__ void load_tile(float4 piece[LOADS], const float4 stage[TILE]) {
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        piece[i] = stage[i * THREADS + threadIdx.x];
}

static __device__ void add_tile(float4 *sum, const float4 piece[LOADS]) {
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        sum->x += piece[i].x;
        sum->y += piece[i].y;
        sum->z += piece[i].z;
        sum->w += piece[i].w;
    }
}

static __device__ float warp_sum(float sum) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    return sum;
}

// The sum over the block, in warp 0. A second call must be a barrier away from the first.
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
    extern __shared__ float4 smem[]; // [STAGES][TILE]
    __shared__ bool last;
    const float4 *body = (const float4 *)(x + head);
    const size_t pieces = (n - head) / 4;
    const size_t tail = head + 4 * pieces;

    float4 acc = make_float4(0, 0, 0, 0);
    for (int s = 0; s < STAGES; s++)
        copy_tile(&smem[s * TILE], body, pieces, blockIdx.x + (size_t)s * gridDim.x, ws);
    int buf = 0;
    for (size_t tile = blockIdx.x; tile * TILE < pieces; tile += gridDim.x) {
        float4 piece[LOADS];
        // The oldest of STAGES groups: a thread waits for its own copies, and reads no other's, so
        // that no barrier is needed, neither here nor before its next copies overwrite the stage.
        __pipeline_wait_prior(STAGES - 1);
        load_tile(piece, &smem[buf * TILE]);
        add_tile(&acc, piece);
        copy_tile(&smem[buf * TILE], body, pieces, tile + (size_t)STAGES * gridDim.x, ws);
        buf = (buf + 1) % STAGES;
    }
    __pipeline_wait_prior(0); // the last groups were zero-filled: no copy may outlive its thread

    float part = (acc.x + acc.y) + (acc.z + acc.w);
    if (blockIdx.x == 0 && threadIdx.x < head)
        part += x[threadIdx.x];
    if (blockIdx.x == 0 && threadIdx.x < n - tail)
        part += x[tail + threadIdx.x];

    part = block_sum(part);
    if (threadIdx.x == 0) {
        ws->partial[blockIdx.x] = part;
        __threadfence(); // whoever sees this block counted must find its partial sum
        last = atomicAdd(&ws->finished, 1) == gridDim.x - 1;
    }
    __syncthreads(); // all wait for thread 0 to learn whether every other block has finished
    if (!last)
        return;
    __threadfence(); // no partial sum is read before the count that vouches for it

    part = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS)
        part += __ldcg(&ws->partial[b]); // from L2: L1 does not see what other SMs write
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

    code_path("16-byte copies");
    const int bytes = STAGES * TILE * (int)sizeof(float4);
    const cudaError_t opt_in =
        cudaFuncSetAttribute(reduce_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (opt_in != cudaSuccess)
        return opt_in;
    const cudaError_t error = cudaMemsetAsync(&ws->finished, 0, sizeof ws->finished, stream);
    if (error != cudaSuccess)
        return error;
    reduce_kernel<<<blocks, THREADS, bytes, stream>>>(n, x, head, sum, ws);
    return cudaGetLastError();
}
