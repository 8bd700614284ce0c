// 09_scan_async: copies do not make a scan faster. It is the look-back that waits, not the loads.
//
// The method is decoupled look-back: D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan
// with Decoupled Look-back", NVIDIA Technical Report NVR-2016-002. A block that looks back loads
// nothing, so its tile is as large as registers and shared memory together can hold. A vector is 16
// bytes of x or y; a warp's part of a tile is ROWS rows of 32 vectors.
#include "scan.h"
#include <cuda_pipeline.h>

enum {
    THREADS = 384,
    WARPS = THREADS / 32,
    BLOCKS_PER_SM = 2,
    SHARED_ROWS = 14,                   // rows held in shared memory
    ROWS = SHARED_ROWS + 8,             // the others are held in registers
    TILE = THREADS * ROWS,              // vectors
    BYTES = THREADS * SHARED_ROWS * 16, // of shared memory
    AGGREGATE = 1,                      // status of a tile: the sum of its own elements is known,
    PREFIX = 2,                         // or that of all elements up to its last; 0: neither
    STRIDE = 16, // from one status to the next: each has a 128-byte line of its own, so that
};               // blocks that write and blocks that poll do not contend for one

static_assert(THREADS % 32 == 0 && WARPS <= 32, "one whole warp adds up the sums of all");
static_assert(BLOCKS_PER_SM * (BYTES + 1280) <= 228 * 1024, "the blocks of an SM share its memory");

typedef unsigned long long tile_status; // upper half: AGGREGATE or PREFIX; lower: the sum

// This thread's vector in the warp's first row. Those in the next rows follow 32 apart.
static __device__ int first_vector(int rows) {
    return threadIdx.x / 32 * rows * 32 + threadIdx.x % 32;
}

static __device__ uint4 load_vector(const uint4 *x, bool inside) {
    return inside ? __ldcs(x) : make_uint4(0, 0, 0, 0);
}

// A vector outside of x becomes zero: nothing is read then, and `aligned` serves as the address.
static __device__ void copy_vector(uint4 *stage, const uint4 *x, bool inside, const void *aligned) {
    __pipeline_memcpy_async(stage, inside ? x : aligned, 16, inside ? 0 : 16);
}

// Adds `base` and stores: 16 bytes, or four times 4 where y is not aligned as x is.
static __device__ void store_vector(uint32_t *y, uint4 v, uint32_t base, bool aligned) {
    const uint32_t sum[4] = {v.x + base, v.y + base, v.z + base, v.w + base};
    if (aligned)
        __stcs((uint4 *)y, make_uint4(sum[0], sum[1], sum[2], sum[3]));
    else
        for (int i = 0; i < 4; i++)
            y[i] = sum[i];
}

static __device__ uint32_t warp_sum(uint32_t sum) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    return sum;
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

// Scans a row in place, on from `before`, the sum of the warp's earlier rows; returns the new sum.
static __device__ uint32_t scan_row(uint4 *v, uint32_t before) {
    v->y += v->x;
    v->z += v->y;
    v->w += v->z;
    const uint32_t upto = warp_scan(v->w);
    const uint32_t base = before + upto - v->w;
    *v = make_uint4(v->x + base, v->y + base, v->z + base, v->w + base);
    return before + __shfl_sync(0xffffffffu, upto, 31);
}

// Scans the head or the tail, fewer than 32 elements, by one warp. `sum`: of all elements before.
static __device__ uint32_t scan_few(uint32_t *y, const uint32_t *x, size_t count, uint32_t sum) {
    const size_t lane = threadIdx.x % 32;
    sum += warp_scan(lane < count ? x[lane] : 0);
    if (lane < count)
        y[lane] = sum;
    return __shfl_sync(0xffffffffu, sum, 31);
}

// The sum of all elements before a tile, by one warp, which reads the status of 32 tiles at a time,
// from the nearest back. It waits only for tiles with earlier tickets. Their blocks are resident,
// and the earliest waits for nobody: so it ends if every resident block keeps running.
static __device__ uint32_t look_back(const volatile tile_status *status, long long entry) {
    const int lane = threadIdx.x % 32;
    uint32_t sum = 0;
    for (long long at = entry - 1 - lane;; at -= 32) {
        tile_status seen;
        unsigned prefixes, needed;
        do { // until every tile from the nearest back to the nearest PREFIX has a status
            // One 8-byte load gets the flag and the sum that belongs to it, so no fence is needed.
            seen = at >= 0 ? status[at * STRIDE] : 0;
            prefixes = __ballot_sync(0xffffffffu, seen >> 32 == PREFIX);
            needed = prefixes ? (prefixes & -prefixes) * 2 - 1 : 0xffffffffu;
        } while (__ballot_sync(0xffffffffu, seen >> 32 == 0) & needed);
        sum += needed >> lane & 1 ? (uint32_t)seen : 0;
        if (prefixes)
            return warp_sum(sum);
    }
}

// status[0] is that of the head, the elements before the vectors; status[tile + 1] that of a tile.
static __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    scan_kernel(size_t n, const uint32_t *x, uint32_t *y, size_t head, unsigned *tickets,
                volatile tile_status *status) {
    extern __shared__ uint4 smem[]; // [WARPS][SHARED_ROWS][32]
    __shared__ uint32_t of_warp[WARPS], before_tile;
    __shared__ unsigned ticket;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t vectors = (n - head) / 4;
    const size_t tail = head + 4 * vectors;

    if (threadIdx.x == 0)
        ticket = atomicAdd(tickets, 1);
    __syncthreads(); // all wait for thread 0's ticket: tiles start in this order, not by blockIdx
    const unsigned tile = ticket;
    const size_t begin = (size_t)tile * TILE;
    const int size = vectors - begin < TILE ? (int)(vectors - begin) : (int)TILE;
    const int first = first_vector(ROWS);
    const uint4 *from = (const uint4 *)(x + head) + begin + first;
    uint4 *shared_row = &smem[first_vector(SHARED_ROWS)], row[ROWS - SHARED_ROWS];

    // Each thread reads from shared memory only what it put there itself: no barrier is needed.
#pragma unroll
    for (int r = 0; r < SHARED_ROWS; r++)
        copy_vector(&shared_row[r * 32], &from[r * 32], first + r * 32 < size, tickets);
    __pipeline_commit();
#pragma unroll
    for (int r = SHARED_ROWS; r < ROWS; r++)
        row[r - SHARED_ROWS] = load_vector(&from[r * 32], first + r * 32 < size);

    uint32_t sum = 0;
    __pipeline_wait_prior(0); // each thread waits for its own copies
#pragma unroll 4
    for (int r = 0; r < SHARED_ROWS; r++) {
        uint4 v = shared_row[r * 32];
        sum = scan_row(&v, sum);
        shared_row[r * 32] = v;
    }
#pragma unroll
    for (int r = SHARED_ROWS; r < ROWS; r++)
        sum = scan_row(&row[r - SHARED_ROWS], sum);
    if (lane == 0)
        of_warp[warp] = sum;
    __syncthreads(); // all wait for every warp's sum
    const uint32_t others = lane < WARPS ? of_warp[lane] : 0;
    if (warp == 0) {
        // Its own sum is published before it looks back: no later tile waits for that.
        const uint32_t own = warp_sum(others);
        if (lane == 0)
            status[(tile + 1) * (size_t)STRIDE] = (tile_status)AGGREGATE << 32 | own;
        const uint32_t few = tile == 0 ? scan_few(y, x, head, 0) : 0;
        if (lane == 0 && tile == 0)
            status[0] = (tile_status)PREFIX << 32 | few;
        const uint32_t before = look_back(status, tile + 1ll);
        if (lane == 0) {
            status[(tile + 1) * (size_t)STRIDE] = (tile_status)PREFIX << 32 | (before + own);
            before_tile = before;
        }
        if (begin + size == vectors)
            scan_few(y + tail, x + tail, n - tail, before + own);
    }
    const uint32_t of_warps_before = warp_sum(lane < warp ? others : 0);
    __syncthreads(); // all wait for warp 0 to look back

    const uint32_t base = before_tile + of_warps_before;
    const bool aligned = (uintptr_t)(y + head) % 16 == 0;
    uint32_t *to = y + head + 4 * (begin + first);
#pragma unroll 4
    for (int r = 0; r < SHARED_ROWS; r++)
        if (first + r * 32 < size)
            store_vector(&to[4 * 32 * r], shared_row[r * 32], base, aligned);
#pragma unroll
    for (int r = SHARED_ROWS; r < ROWS; r++)
        if (first + r * 32 < size)
            store_vector(&to[4 * 32 * r], row[r - SHARED_ROWS], base, aligned);
}

// One at least: it scans the head and the tail too.
static size_t tile_count(size_t vectors) {
    return vectors ? (vectors + TILE - 1) / TILE : 1;
}

extern "C" size_t scan_workspace(size_t n) {
    return n ? (tile_count(n / 4) + 2) * STRIDE * sizeof(tile_status) : 0;
}

extern "C" cudaError_t scan(size_t n, const uint32_t *x, uint32_t *y, void *workspace,
                            cudaStream_t stream) {
    if (n == 0)
        return cudaSuccess;

    const size_t to_aligned = (128 - (uintptr_t)x % 128) % 128 / 4;
    const size_t head = to_aligned < n ? to_aligned : n;
    const unsigned tiles = (unsigned)tile_count((n - head) / 4);
    unsigned *tickets = (unsigned *)workspace;
    tile_status *status = (tile_status *)workspace + STRIDE;

    code_path((uintptr_t)(y + head) % 16 == 0 ? "16-byte stores" : "4-byte stores");
    const cudaError_t opt_in =
        cudaFuncSetAttribute(scan_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    if (opt_in != cudaSuccess)
        return opt_in;
    const cudaError_t error = cudaMemsetAsync(workspace, 0, scan_workspace(n), stream);
    if (error != cudaSuccess)
        return error;
    scan_kernel<<<tiles, THREADS, BYTES, stream>>>(n, x, y, head, tickets, status);
    return cudaGetLastError();
}
