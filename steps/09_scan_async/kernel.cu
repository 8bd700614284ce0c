// Asynchronous copies fetch the next tiles while this one is scanned and looks back.
//
// The method is decoupled look-back: D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan
// with Decoupled Look-back", NVIDIA Technical Report NVR-2016-002. A piece is 16 bytes of x or y.
#include "scan.h"
#include <cuda_pipeline.h>

enum {
    THREADS = 512,
    WARPS = THREADS / 32,
    ROWS = 4,              // a warp's part of a tile is ROWS rows of 32 pieces
    TILE = THREADS * ROWS, // pieces
    STAGES = 2,            // tiles of a block that are on their way at any time
    BLOCKS = 264,          // two for each of 132 SMs; any number is right
    AGGREGATE = 1,         // a tile has published the sum of its own elements,
    PREFIX = 2,            // or the sum of all elements up to its last; 0: nothing yet
};

static_assert(WARPS <= 32, "one warp adds up the sums of all warps");
static_assert(STAGES * TILE * 16 <= 227 * 1024, "the ring must fit in shared memory");

typedef unsigned long long status; // AGGREGATE or PREFIX in the upper half, the sum in the lower

// The piece that this thread holds in a row of a tile. Rows of a warp follow one another.
static __device__ size_t piece_index(size_t tile, int row) {
    return tile * TILE + (threadIdx.x / 32 * ROWS + row) * 32 + threadIdx.x % 32;
}

static __device__ void copy_tile(uint4 stage[TILE], const uint4 *x, size_t pieces, size_t tile) {
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const size_t p = piece_index(tile, r);
        const bool in = p < pieces;
        __pipeline_memcpy_async(&stage[piece_index(0, r)], &x[in ? p : 0], 16, in ? 0 : 16);
    }
    __pipeline_commit();
}

static __device__ void load_tile(uint4 piece[ROWS], const uint4 stage[TILE]) {
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        piece[r] = stage[piece_index(0, r)];
}

static __device__ void store_tile(uint32_t *y, const uint4 piece[ROWS], uint32_t base,
                                  size_t pieces, size_t tile, bool aligned) {
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const size_t p = piece_index(tile, r);
        const uint4 v =
            make_uint4(piece[r].x + base, piece[r].y + base, piece[r].z + base, piece[r].w + base);
        if (p < pieces && aligned) {
            __stcs((uint4 *)y + p, v);
        } else if (p < pieces) {
            y[4 * p] = v.x;
            y[4 * p + 1] = v.y;
            y[4 * p + 2] = v.z;
            y[4 * p + 3] = v.w;
        }
    }
}

// The sum over the lanes up to this one.
static __device__ uint32_t warp_scan(uint32_t sum) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const uint32_t below = __shfl_up_sync(0xffffffffu, sum, distance);
        sum += (int)threadIdx.x % 32 >= distance ? below : 0;
    }
    return sum;
}

static __device__ uint32_t warp_sum(uint32_t sum) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    return sum;
}

// Scans the warp's part of a tile in place and returns its sum.
static __device__ uint32_t scan_rows(uint4 piece[ROWS]) {
    uint32_t before = 0; // the rows before
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        piece[r].y += piece[r].x;
        piece[r].z += piece[r].y;
        piece[r].w += piece[r].z;
        const uint32_t upto = warp_scan(piece[r].w);
        const uint32_t base = before + upto - piece[r].w;
        piece[r] =
            make_uint4(piece[r].x + base, piece[r].y + base, piece[r].z + base, piece[r].w + base);
        before += __shfl_sync(0xffffffffu, upto, 31);
    }
    return before;
}

// Up to three elements, by one thread; `sum` is that of all before them.
static __device__ uint32_t scan_few(uint32_t *y, const uint32_t *x, size_t count, uint32_t sum) {
    for (size_t i = 0; i < count; i++)
        y[i] = sum += x[i];
    return sum;
}

// The sum of all elements before a tile, by one warp, 32 tiles at a time from the nearest back.
// It waits for tiles of blocks that took their ticket earlier. Those run already, and the earliest
// of them waits for nobody: that a running block goes on running is all that progress relies on.
static __device__ uint32_t look_back(const volatile status *tiles, long long tile) {
    const int lane = threadIdx.x % 32;
    uint32_t sum = 0;
    for (long long at = tile - 1 - lane;; at -= 32) {
        status seen;
        unsigned prefixes, nearer;
        do { // until every tile nearer than the nearest prefix has published
            // One load brings the state and the sum that belongs to it: no fence between the two.
            seen = at >= 0 ? tiles[at] : (status)AGGREGATE << 32; // tile 0 has a PREFIX
            prefixes = __ballot_sync(0xffffffffu, seen >> 32 == PREFIX);
            nearer = prefixes ? (prefixes & -prefixes) * 2 - 1 : 0xffffffffu;
        } while (__ballot_sync(0xffffffffu, seen >> 32 == 0) & nearer);
        sum += nearer >> lane & 1 ? (uint32_t)seen : 0;
        if (prefixes)
            return warp_sum(sum);
    }
}

static __global__ void __launch_bounds__(THREADS, 2)
    scan_kernel(size_t n, const uint32_t *x, uint32_t *y, size_t head, unsigned tiles,
                unsigned *ticket, volatile status *published) {
    extern __shared__ uint4 smem[]; // [STAGES][TILE]
    __shared__ uint32_t of_warp[WARPS], prefix;
    __shared__ unsigned next[STAGES];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t pieces = (n - head) / 4;
    const size_t tail = head + 4 * pieces;
    const bool aligned = (uintptr_t)(y + head) % 16 == 0;

    const uint4 *body = (const uint4 *)(x + head);
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++)
            next[s] = atomicAdd(ticket, 1);
    __syncthreads(); // all wait for thread 0's tickets
    for (int s = 0; s < STAGES; s++)
        copy_tile(&smem[s * TILE], body, pieces, next[s]);
    int buf = 0;
    for (unsigned tile = next[0]; tile < tiles; tile = next[buf]) {
        uint4 piece[ROWS];
        // The oldest of STAGES groups: a thread waits for its own copies, and reads no other's, so
        // that no barrier is needed, neither here nor before its next copies overwrite the stage.
        __pipeline_wait_prior(STAGES - 1);
        load_tile(piece, &smem[buf * TILE]);
        const uint32_t sum = scan_rows(piece);
        if (lane == 0)
            of_warp[warp] = sum;
        __syncthreads(); // all wait for the sums of all warps, and have read prefix and next
        const uint32_t others = lane < WARPS ? of_warp[lane] : 0;
        if (warp == 0) {
            // A block publishes before it looks back, so that nobody waits for one that waits.
            const uint32_t own = warp_sum(others);
            if (lane == 0 && tile > 0)
                published[tile] = (status)AGGREGATE << 32 | own;
            const uint32_t before = tile ? look_back(published, tile) : 0;
            if (lane == 0) {
                prefix = tile ? before : scan_few(y, x, head, 0);
                published[tile] = (status)PREFIX << 32 | (uint32_t)(prefix + own);
                if (tile == tiles - 1)
                    scan_few(y + tail, x + tail, n - tail, prefix + own);
                next[buf] = atomicAdd(ticket, 1);
            }
        }
        const uint32_t base = warp_sum(lane < warp ? others : 0);
        __syncthreads(); // all wait for warp 0's prefix and next, and have read of_warp
        copy_tile(&smem[buf * TILE], body, pieces, next[buf]);
        buf = (buf + 1) % STAGES;
        store_tile(y + head, piece, prefix + base, pieces, tile, aligned);
    }
}

// Every tile is full but the last; n < 4 has no piece, but still a head or a tail.
static size_t tile_count(size_t n) {
    return n < 4 * TILE ? 1 : (n + 4 * TILE - 1) / (4 * TILE);
}

extern "C" size_t scan_workspace(size_t n) {
    return n ? (1 + tile_count(n)) * sizeof(status) : 0;
}

extern "C" cudaError_t scan(size_t n, const uint32_t *x, uint32_t *y, void *workspace,
                            cudaStream_t stream) {
    if (n == 0)
        return cudaSuccess;

    status *ticket = (status *)workspace;
    const size_t to_aligned = (16 - (uintptr_t)x % 16) % 16 / 4;
    const size_t head = to_aligned < n ? to_aligned : n;
    const unsigned tiles = (unsigned)tile_count(n);
    const unsigned blocks = tiles < BLOCKS ? tiles : (unsigned)BLOCKS;

    step_path((uintptr_t)(y + head) % 16 == 0 ? "16-byte stores" : "4-byte stores");
    const int bytes = STAGES * TILE * (int)sizeof(uint4);
    const cudaError_t opt_in =
        cudaFuncSetAttribute(scan_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (opt_in != cudaSuccess)
        return opt_in;
    const cudaError_t error = cudaMemsetAsync(workspace, 0, scan_workspace(n), stream);
    if (error != cudaSuccess)
        return error;
    scan_kernel<<<blocks, THREADS, bytes, stream>>>(n, x, y, head, tiles, (unsigned *)ticket,
                                                    ticket + 1);
    return cudaGetLastError();
}
