// Kernels that are right: silent, and the same bits under every schedule.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include "kernels.h"
namespace cg = cooperative_groups;

enum { THREADS = 64, WORDS = 256, ROWS = 8, STAGES = 3 };
typedef cuda::barrier<cuda::thread_scope_block> Barrier;
typedef cuda::pipeline<cuda::thread_scope_block> BlockPipeline;
typedef cuda::pipeline<cuda::thread_scope_thread> ThreadPipeline;

// Who copied a word is never who reads it.
static __device__ void mirror(const int *s, int *out) {
    for (int i = threadIdx.x; i < WORDS; i += THREADS)
        out[i] = s[WORDS - 1 - i];
}

static __global__ void cg_block(const int *in, int *out) {
    __shared__ int s[WORDS];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof s);
    cg::wait(block);
    mirror(s, out);
}

static __global__ void cg_bytes(const int *in, int *out) { // 5 bytes, then what can go asynchronously, then the rest
    __shared__ __align__(16) char s[4 * WORDS];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, (void *)s, (const void *)in, 11);
    cg::memcpy_async(block, (void *)(s + 11), (const void *)((const char *)in + 11), sizeof s - 11);
    cg::wait(block);
    mirror((const int *)s, out);
}

static __global__ void cg_typed(const int *in, int *out) {
    __shared__ __align__(16) int s[WORDS];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, 128, in, 1000); // elements: the lesser number
    cg::memcpy_async(block, s + 128, in + 128, cuda::aligned_size_t<16>(512));
    cg::wait(block);
    mirror(s, out);
}

static __global__ void cg_prior(const int *in, int *out) {
    __shared__ int s[2][WORDS / 2];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s[0], in, sizeof s[0]);
    cg::memcpy_async(block, s[1], in + 128, sizeof s[1]);
    cg::wait_prior<1>(block);
    for (int i = block.thread_rank(); i < 128; i += block.size())
        out[255 - i] = s[0][i];
    cg::wait_prior<0>(block);
    for (int i = block.thread_rank(); i < 128; i += block.size())
        out[127 - i] = s[1][i];
}

static __global__ void cg_tile(const int *in, int *out) {
    __shared__ int s[WORDS];
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(cg::this_thread_block());
    int first = tile.meta_group_rank() * 64;
    cg::memcpy_async(tile, &s[first], &in[first], 64 * sizeof(int));
    cg::wait(tile); // a tile's own words need no more
    for (int i = tile.thread_rank(); i < 64; i += tile.num_threads())
        out[255 - (first + 63 - i)] = s[first + 63 - i];
}

static __global__ void cg_leader(const int *in, int *out) { // the overload without a group: one thread may call it
    __shared__ Barrier full;
    __shared__ __align__(16) int s[WORDS];
    if (threadIdx.x == 0)
        init(&full, THREADS);
    __syncthreads();
    if (threadIdx.x == 0)
        cuda::memcpy_async(s, in, cuda::aligned_size_t<16>(sizeof s), full);
    full.arrive_and_wait();
    mirror(s, out);
}

static __global__ void barrier_group(const int *in, int *out) {
    __shared__ Barrier full;
    __shared__ int s[WORDS];
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&full, block.size());
    block.sync();
    cuda::memcpy_async(block, s, in, sizeof s, full);
    full.arrive_and_wait();
    mirror(s, out);
}

static __global__ void barrier_bytes(const int *in, int *out) { // of alignment 1: not asynchronous at all
    __shared__ Barrier full;
    __shared__ __align__(16) char s[4 * WORDS];
    if (threadIdx.x == 0)
        init(&full, THREADS);
    __syncthreads();
    cuda::memcpy_async(cg::this_thread_block(), s, (const char *)in, sizeof s, full);
    full.arrive_and_wait();
    mirror((const int *)s, out);
}

static __global__ void arrive_on(const int *in, int *out) {
    __shared__ Barrier full;
    __shared__ __align__(16) int s[WORDS];
    if (threadIdx.x == 0)
        init(&full, THREADS);
    __syncthreads();
    __pipeline_memcpy_async(&s[threadIdx.x * 4], &in[threadIdx.x * 4], 16);
    __pipeline_arrive_on((__mbarrier_t *)cuda::device::barrier_native_handle(full));
    Barrier::arrival_token token = full.arrive();
    full.wait(cuda::std::move(token));
    mirror(s, out);
}

static __global__ void primitives(const int *in, int *out) {
    __shared__ __mbarrier_t full;
    __shared__ __align__(16) int s[WORDS];
    if (threadIdx.x == 0)
        __mbarrier_init(&full, THREADS);
    __syncthreads();
    __pipeline_memcpy_async(&s[threadIdx.x * 4], &in[threadIdx.x * 4], 16);
    __pipeline_arrive_on(&full);
    __mbarrier_token_t token = __mbarrier_arrive(&full);
    while (!__mbarrier_try_wait(&full, token, 1000))
        ;
    mirror(s, out);
}

static __global__ void two_stages(const int *in, int *out) { // two acquires ahead of a release: of two stages
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int s[2][WORDS / 2];
    cg::thread_block block = cg::this_thread_block();
    BlockPipeline pipe = cuda::make_pipeline(block, &state);
    for (int i = 0; i < 2; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, s[i], in + i * 128, sizeof s[i], pipe);
        pipe.producer_commit();
    }
    pipe.consumer_wait();
    pipe.consumer_release();
    pipe.consumer_wait();
    pipe.consumer_release();
    mirror(s[0], out);
    pipe.quit();
}

static __global__ void thread_producer_commit(const int *in, int *out) {
    __shared__ Barrier full;
    __shared__ __align__(16) int s[WORDS];
    ThreadPipeline pipe = cuda::make_pipeline();
    if (threadIdx.x == 0)
        init(&full, THREADS);
    __syncthreads();
    cuda::memcpy_async((int4 *)s + threadIdx.x, (const int4 *)in + threadIdx.x, sizeof(int4), pipe);
    cuda::pipeline_producer_commit(pipe, full);
    full.arrive_and_wait();
    mirror(s, out);
}

// ---- Rings: out[t] = the sum of 3^(7 - i) times the mirrored word of row i ---------------------------------

static __global__ void barrier_ring(const int *in, int *out) { // 11_barrier's two stages
    __shared__ Barrier full[2];
    __shared__ int s[2][THREADS];
    int t = threadIdx.x, sum = 0;
    if (t < 2)
        init(&full[t], THREADS);
    __syncthreads();
    cuda::memcpy_async(&s[0][t], &in[t], sizeof(int), full[0]);
    Barrier::arrival_token token = full[0].arrive();
    for (int i = 0; i < ROWS; i++) {
        full[i % 2].wait(cuda::std::move(token));
        if (i + 1 < ROWS)
            cuda::memcpy_async(&s[(i + 1) % 2][t], &in[(i + 1) % 4 * 64 + t], sizeof(int), full[(i + 1) % 2]);
        sum = sum * 3 + s[i % 2][63 - t];
        token = full[(i + 1) % 2].arrive();
    }
    out[t] = sum;
}

static __global__ void parity_ring(const int *in, int *out) { // a producer warp, which leaves first, and a consumer warp
    __shared__ Barrier full[STAGES], empty[STAGES];
    __shared__ int s[STAGES][THREADS];
    int t = threadIdx.x, sum = 0, other = 0;
    if (t < STAGES) {
        init(&full[t], 32);
        init(&empty[t], 32);
    }
    __syncthreads();
    if (t < 32) {
        for (int i = 0; i < ROWS; i++) {
            empty[i % STAGES].wait_parity((i / STAGES + 1) % 2); // at first it is: phase -1 has ended
            cuda::memcpy_async((int2 *)s[i % STAGES] + t, (const int2 *)(in + i % 4 * 64) + t, sizeof(int2),
                               full[i % STAGES]);
            (void)full[i % STAGES].arrive();
        }
        return;
    }
    for (int i = 0; i < ROWS; i++) {
        full[i % STAGES].wait_parity(i / STAGES % 2);
        sum = sum * 3 + s[i % STAGES][63 - t];
        other = other * 3 + s[i % STAGES][95 - t];
        (void)empty[i % STAGES].arrive();
    }
    out[t] = sum;
    out[t - 32] = other;
}

static __global__ void test_ring(const int *in, int *out) {
    __shared__ Barrier full;
    __shared__ int s[THREADS];
    int t = threadIdx.x, sum = 0;
    if (t == 0)
        init(&full, THREADS);
    __syncthreads();
    for (int i = 0; i < ROWS; i++) {
        cuda::memcpy_async(&s[t], &in[i % 4 * 64 + t], sizeof(int), full);
        (void)full.arrive();
        while (!full.try_wait_parity_for(i % 2, cuda::std::chrono::nanoseconds(100)))
            ;
        sum = sum * 3 + s[63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

static __global__ void dropped(const int *in, int *out) { // a warp leaves the barrier behind row 3
    __shared__ Barrier full;
    __shared__ int s[ROWS][THREADS];
    int t = threadIdx.x, sum = 0;
    if (t == 0)
        init(&full, THREADS);
    __syncthreads();
    for (int i = 0; i < ROWS; i++) {
        if (t >= 32 && i == 4) {
            for (int j = 4; j < ROWS; j++)
                s[j][t] = in[j % 4 * 64 + t];
            full.arrive_and_drop();
            break;
        }
        s[i][t] = in[i % 4 * 64 + t];
        full.arrive_and_wait();
        sum = sum * 3 + s[i][63 - t];
    }
    __syncthreads();
    for (int i = 4; t >= 32 && i < ROWS; i++)
        sum = sum * 3 + s[i][63 - t];
    out[t] = sum;
}

// Exactly STAGES stages are committed at the top of every iteration.
template<class Pipeline> static __device__ int pass_ring(Pipeline &pipe, const int *in, bool barrier) {
    __shared__ int s[STAGES][THREADS];
    int t = threadIdx.x, sum = 0;
    for (int i = -STAGES; i < ROWS; i++) {
        if (i >= 0) {
            pipe.consumer_wait();
            if (barrier)
                __syncthreads();
            sum = sum * 3 + s[i % STAGES][63 - t];
            pipe.consumer_release();
            if (barrier)
                __syncthreads();
        }
        pipe.producer_acquire();
        int next = i + STAGES;
        if (next < ROWS)
            cuda::memcpy_async(&s[next % STAGES][t], &in[next % 4 * 64 + t], sizeof(int), pipe);
        pipe.producer_commit();
    }
    return sum;
}
static __global__ void pipeline_ring(const int *in, int *out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    out[threadIdx.x] = pass_ring(pipe, in, false);
}
static __global__ void thread_ring(const int *in, int *out) {
    ThreadPipeline pipe = cuda::make_pipeline();
    out[threadIdx.x] = pass_ring(pipe, in, true);
}

static __device__ void pass_by_role(BlockPipeline &pipe, const int *in, int *out) {
    __shared__ int s[STAGES][THREADS];
    int t = threadIdx.x, sum = 0, other = 0;
    for (int i = 0; i < ROWS; i++) {
        if (t < 32) {
            pipe.producer_acquire();
            cuda::memcpy_async((int2 *)s[i % STAGES] + t, (const int2 *)(in + i % 4 * 64) + t, sizeof(int2), pipe);
            pipe.producer_commit();
        } else {
            while (!pipe.consumer_wait_for(cuda::std::chrono::nanoseconds(100)))
                ;
            sum = sum * 3 + s[i % STAGES][63 - t];
            other = other * 3 + s[i % STAGES][95 - t];
            pipe.consumer_release();
        }
    }
    if (t >= 32)
        out[t] = sum, out[t - 32] = other;
}
static __global__ void role_ring(const int *in, int *out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    cuda::pipeline_role role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state, role);
    pass_by_role(pipe, in, out);
}
static __global__ void count_ring(const int *in, int *out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state, 32);
    pass_by_role(pipe, in, out);
}

static __global__ void prior_ring(const int *in, int *out) {
    __shared__ int s[ROWS][THREADS];
    ThreadPipeline pipe = cuda::make_pipeline();
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < ROWS; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&s[i][t], &in[i % 4 * 64 + t], sizeof(int), pipe);
        pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<3>(pipe); // five are there; 3 more to come
    __syncthreads();
    for (int i = 0; i < 5; i++)
        sum = sum * 3 + s[i][63 - t];
    for (int i = 5; i < ROWS; i++) {
        pipe.consumer_wait();
        __syncthreads();
        sum = sum * 3 + s[i][63 - t];
    }
    out[t] = sum;
}

// ---- The rest --------------------------------------------------------------------------------------------

static __global__ void tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::tiled_partition<32>(block));
    cg::thread_group pair = cg::tiled_partition(block, 2);
    int t = block.thread_rank(), v = in[t];
    out[t] = cg::reduce(tile, v, cg::plus<int>()) + 1000 * cg::reduce(tile, v, cg::greater<int>());
    out[64 + t] = cg::inclusive_scan(tile, v) - cg::exclusive_scan(tile, v);
    out[128 + t] = tile.shfl(v, 3) + 1000 * tile.shfl_xor(v, 1);
    pair.sync();
    bool right = tile.ballot(t % 8 == 2) == 4 && tile.any(t % 8 == 7) && !tile.all(t % 8) && pair.size() == 2 && (int)pair.thread_rank() == t % 2 &&
                 tile.meta_group_size() == 8 && cg::coalesced_threads().size() >= 1 && cg::group_size(block) == 64;
    out[192 + t] = right ? tile.shfl_down(v, 2) + 1000 * tile.shfl_up(v, 2) : -1;
}

// Warp 1 waits for what warp 0 wrote. A block counts in shared memory.
static __global__ void flags(const int *in, int *out) {
    __shared__ int s[32];
    __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> count[2];
    int t = threadIdx.x;
    if (t == 0)
        ready = 0;
    if (t < 2)
        count[t].store(0, cuda::std::memory_order_relaxed);
    __syncthreads();
    count[t % 2].fetch_add(1, cuda::memory_order_relaxed);
    if (t < 32) {
        s[t] = in[t];
        __syncwarp();
        if (t == 0)
            ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0)
            ;
        out[t] = s[63 - t];
    }
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_device> word(out[0]);
    if (t == 0)
        word.store((int)count[0].load() * 1000);
    __syncthreads();
    word.fetch_add(1);
    for (int old = word.load(); !word.compare_exchange_weak(old, old + 2);)
        ;
}

cudaError_t run_right(enum right kernel, const int *in, int *out) {
    switch (kernel) {
#define RUN(name)                                                                                             \
    case K_##name: name<<<1, THREADS>>>(in, out); break;
        RIGHT_KERNELS(RUN)
    case RIGHT_COUNT: break;
    }
    return cudaGetLastError();
}
