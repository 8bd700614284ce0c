// Kernels that are wrong on purpose. A line that must be named in a report ends in "// at NAME".
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include "kernels.h"
namespace cg = cooperative_groups;

enum { THREADS = 64 };
typedef cuda::barrier<cuda::thread_scope_block> Barrier;
typedef cuda::pipeline<cuda::thread_scope_block> BlockPipeline;

static __device__ void make(Barrier *b, int expected) {
    if (threadIdx.x == 0)
        init(b, expected);
    __syncthreads();
}

static __global__ void no_init(const int *, int *out) {
    __shared__ Barrier b;
    b.arrive_and_wait(); // at NO_INIT
    out[threadIdx.x] = 1;
}

static __global__ void init_not_visible(const int *, int *out) {
    __shared__ Barrier b;
    if (threadIdx.x == 0)
        init(&b, 1);
    (void)b.arrive(); // at NOT_VISIBLE
    out[threadIdx.x] = 1;
}

static __global__ void one_too_many(const int *, int *out) {
    __shared__ Barrier b;
    make(&b, THREADS + 1);
    b.arrive_and_wait(); // at ONE_TOO_MANY
    out[threadIdx.x] = 1;
}

static __global__ void one_leaves(const int *, int *out) {
    __shared__ Barrier b;
    make(&b, THREADS);
    if (threadIdx.x == 40)
        return;
    b.arrive_and_wait(); // at ONE_LEAVES
    out[threadIdx.x] = 1;
}

static __global__ void arrives_too_often(const int *, int *out) {
    __shared__ Barrier b;
    make(&b, 3);
    if (threadIdx.x == 0)
        out[0] = (int)b.arrive(4); // at TOO_OFTEN
}

static __global__ void expects_nobody(const int *, int *) {
    __shared__ Barrier b;
    if (threadIdx.x == 0)
        init(&b, 0); // at NOBODY
}

static __global__ void waits_twice(const int *, int *out) {
    __shared__ Barrier b;
    make(&b, THREADS);
    Barrier::arrival_token token = b.arrive();
    b.wait(cuda::std::move(token));
    b.wait(cuda::std::move(token)); // at TWICE
    out[threadIdx.x] = 1;
}

static __global__ void stale_token(const int *, int *out) {
    __shared__ Barrier b;
    make(&b, THREADS);
    Barrier::arrival_token token = b.arrive();
    for (int i = 0; i < 3; i++)
        __syncthreads(), b.arrive_and_wait();
    b.wait(cuda::std::move(token)); // at STALE
    out[threadIdx.x] = 1;
}

static __global__ void other_token(const int *, int *out) {
    __shared__ Barrier b[2];
    make(&b[0], THREADS);
    make(&b[1], THREADS);
    Barrier::arrival_token token = b[0].arrive();
    b[1].wait(cuda::std::move(token)); // at OTHER
    out[threadIdx.x] = 1;
}

static __global__ void copy_after_arrive(const int *in, int *out) {
    __shared__ Barrier b;
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    make(&b, THREADS);
    __pipeline_arrive_on(cuda::device::barrier_native_handle(b));
    __pipeline_memcpy_async(&s[t], &in[t], 4); // at AFTER_COPY
    b.arrive_and_wait();
    out[t] = s[63 - t]; // at AFTER_READ
}

static __global__ void wrong_parity(const int *in, int *out) { // an end of phase -1 is an end of none
    __shared__ Barrier b;
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    make(&b, THREADS);
    cuda::memcpy_async(&s[t], &in[t], 4, b); // at PARITY_COPY
    (void)b.arrive();
    b.wait_parity(1);
    out[t] = s[63 - t]; // at PARITY_READ
    b.wait_parity(0);
}

static __global__ void no_wait(const int *in, int *out) { // that all have arrived says nothing of their copies
    __shared__ Barrier b;
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    make(&b, THREADS);
    cuda::memcpy_async(&s[t], &in[t], 4, b); // at NO_WAIT_COPY
    Barrier::arrival_token token = b.arrive();
    __syncthreads();
    out[t] = s[63 - t]; // at NO_WAIT_READ
    __syncthreads();
    b.wait(cuda::std::move(token));
}

static __global__ void nobody_waits(const int *in, int *) {
    __shared__ Barrier b;
    __shared__ int s[THREADS];
    make(&b, THREADS);
    cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4, b); // at NEVER_WAITED
    (void)b.arrive();
}

static __global__ void not_committed(const int *in, int *out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int s[THREADS];
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    pipe.producer_acquire();
    pipe.producer_commit();
    cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4, pipe); // at NEVER_COMMITTED
    pipe.consumer_wait();
    pipe.consumer_release();
    out[threadIdx.x] = 1;
}

static __global__ void two_acquires(const int *, int *) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    pipe.producer_acquire();
    pipe.producer_commit();
    pipe.producer_acquire(); // at ACQUIRE
}

static __global__ void nothing_committed(const int *, int *) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    if (threadIdx.x < 16) {
        pipe.producer_acquire();
        pipe.producer_commit();
    }
    pipe.consumer_wait(); // at NOTHING
}

static __global__ void release_too_often(const int *, int *) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    pipe.producer_acquire();
    pipe.producer_commit();
    pipe.consumer_wait();
    pipe.consumer_release();
    pipe.consumer_release(); // at RELEASE
}

static __global__ void commit_unacquired(const int *, int *) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    pipe.producer_commit(); // at COMMIT
}

static __global__ void after_quit(const int *, int *) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    pipe.quit();
    pipe.producer_acquire(); // at QUIT
}

static __global__ void read_before_wait(const int *in, int *out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    pipe.producer_acquire();
    cuda::memcpy_async(&s[t], &in[t], 4, pipe); // at BEFORE_COPY
    pipe.producer_commit();
    out[t] = s[63 - t]; // at BEFORE_READ
    pipe.consumer_wait();
    pipe.consumer_release();
}

static __global__ void release_before_read(const int *in, int *out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    __shared__ int s[THREADS];
    int t = threadIdx.x, sum = 0;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    for (int i = 0; i < 3; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&s[t], &in[i * 64 + t], 4, pipe); // at RELEASED_COPY
        pipe.producer_commit();
        pipe.consumer_wait();
        pipe.consumer_release();
        sum += s[63 - t]; // at RELEASED_READ
    }
    out[t] = sum;
}

// Of thread scope, acquire lets everybody through, though there is one buffer for two stages.
static __global__ void thread_overwrites(const int *in, int *out) {
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int i = 0; i < 2; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&s[t], &in[i * 64 + t], 4, pipe); // at OVERWRITES
        pipe.producer_commit();
    }
    pipe.consumer_wait();
    pipe.consumer_wait();
    out[t] = s[t];
}

static __global__ void too_far(const int *in, int *out) { // three stages' commits, two stages' memory
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
    __shared__ int s[2][THREADS];
    int t = threadIdx.x, sum = 0;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    for (int i = 0; i < 3; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&s[i % 2][t], &in[i * 64 + t], 4, pipe); // at TOO_FAR
        pipe.producer_commit();
    }
    for (int i = 0; i < 3; i++) {
        pipe.consumer_wait();
        sum += s[i % 2][t];
        pipe.consumer_release();
    }
    out[t] = sum;
}

static __global__ void leader_alone(const int *in, int *out) {
    __shared__ int s[THREADS];
    cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0)
        cg::memcpy_async(block, s, in, sizeof s); // at ALONE
    cg::wait(block);
    out[threadIdx.x] = s[63 - threadIdx.x];
}

static __global__ void barrier_before_wait(const int *in, int *out) {
    __shared__ int s[THREADS];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof s); // at EARLY_COPY
    block.sync();
    cg::wait(cg::tiled_partition<1>(block));
    out[threadIdx.x] = s[63 - threadIdx.x]; // at EARLY_READ
}

static __global__ void own_slot_only(const int *in, int *out) { // a thread's own wait covers its own slot
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    auto thread = cg::tiled_partition<1>(cg::this_thread_block());
    cg::memcpy_async(thread, &s[t], &in[t], sizeof(int)); // at SLOT_COPY
    cg::wait(thread);
    out[t] = s[t];
    out[64 + t] = s[63 - t]; // at SLOT_READ
}

static __global__ void same_range(const int *in, int *out) { // each warp copies the same 32 words
    __shared__ int s[32];
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::memcpy_async(warp, s, in, sizeof s); // at SAME_RANGE
    cg::wait(warp);
    out[threadIdx.x] = s[31 - threadIdx.x % 32];
}

static __global__ void no_order(const int *in, int *out) {
    __shared__ int s;
    __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        s = in[0]; // at ORDER_WRITE
        ready.store(1, cuda::memory_order_relaxed);
    } else if (threadIdx.x == 32) {
        while (ready.load(cuda::memory_order_acquire) == 0)
            ;
        out[0] = s; // at ORDER_READ
    }
}

cudaError_t run_wrong(enum wrong kernel, const int *in, int *out) {
    switch (kernel) {
#define RUN(name)                                                                                             \
    case K_##name: name<<<1, THREADS>>>(in, out); break;
        WRONG_KERNELS(RUN)
    case WRONG_COUNT: break;
    }
    return cudaGetLastError();
}
