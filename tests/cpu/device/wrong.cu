// Kernels that are wrong on purpose. A line that must be named in a report ends in "// at NAME".
#include "kernels.h"
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;

enum { WARP = 32 };
static const unsigned ALL = 0xffffffffu;

// ---- Wrong by value -----------------------------------------------------------------------------

static __global__ void unset_shared(int *out, int block_that_sets) {
    __shared__ int s[64];
    if ((int)blockIdx.x == block_that_sets) s[threadIdx.x] = 7; // the next block must not see it
    out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}

static __global__ void unset_local(const int *in, int *out) {
    int a[8];
    if (in[0] == 12345) a[in[1] & 7] = 1;
    out[threadIdx.x] = a[in[2] & 7];
}

static __global__ void unset_fragment(int *out) {
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc; // no fill
    wmma::store_matrix_sync((float *)out, acc, 16, wmma::mem_row_major);
}

static __global__ void no_barrier(const int *in, int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[63 - threadIdx.x];
}

static __global__ void no_syncwarp(const int *in, int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}

static __global__ void async_no_barrier(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = s[63 - t];
}

static __global__ void async_fifth_of_four(const int *in, int *out) {
    __shared__ int s[16][WARP];
    int t = threadIdx.x;
    for (int i = 0; i < 16; ++i) {
        __pipeline_memcpy_async(&s[i][t], &in[i * 4 + t], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(12);
    out[t] = s[4][t];
    __pipeline_wait_prior(0);
}

static __global__ void async_refill_no_barrier(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; ++i) {
        __pipeline_memcpy_async(&s[t], &in[i * 64 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum = sum * 3 + s[63 - t];
    }
    out[t] = sum;
}

static __global__ void async_last_word(const int *in, int *out) {
    __shared__ __align__(16) int s[8];
    int t = threadIdx.x;
    if (t < 8) s[t] = 5;
    __syncwarp();
    if (t == 0) {
        __pipeline_memcpy_async(&s[0], in, 16);
        __pipeline_commit();
    }
    __syncwarp();
    out[t] = t % 2 ? s[3] : s[4]; // the last word of the copy, and the one after it
    __syncwarp();
    __pipeline_wait_prior(0);
}

static __global__ void wmma_no_syncwarp(int *out) {
    __shared__ __align__(32) float s[256];
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc;
    wmma::fill_fragment(acc, 1.0f);
    wmma::store_matrix_sync(s, acc, 16, wmma::mem_row_major);
    for (int i = threadIdx.x; i < 256; i += WARP) out[i] = (int)s[i];
}

// ---- Reported -----------------------------------------------------------------------------------

static __global__ void divergent_barrier(int *out) {
    if (threadIdx.x < 64) __syncthreads(); // at FIRST_BARRIER
    else __syncthreads();                  // at SECOND_BARRIER
    out[threadIdx.x] = 1;
}

static __global__ void deadlock(int *out) {
    if (threadIdx.x < 16) __syncwarp(); // at DEADLOCK_WARP
    else __syncthreads();               // at DEADLOCK_BLOCK
    out[threadIdx.x] = 1;
}

static __global__ void mixed_collectives(int *out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(ALL, 1, 0); // at MIXED_SHUFFLE
    else out[threadIdx.x] = (int)__ballot_sync(ALL, 1);              // at MIXED_BALLOT
}

static __global__ void not_in_mask(int *out) {
    out[threadIdx.x] = __shfl_sync(0xffff, 1, 0); // at NOT_IN_MASK
}

static __global__ void reads_outside_mask(int *out) {
    if (threadIdx.x < 4) out[threadIdx.x] = __shfl_xor_sync(0xf, 1, 16); // at OUTSIDE_MASK
}

static __global__ void async_rules(enum wrong what, const int *in, int *out, int n) {
    __shared__ __align__(16) int s[64];
    int *local = out + 64;
    s[threadIdx.x] = 3;
    __syncwarp();
    switch (what) {
    case ASYNC_MISALIGNED_DST:
        __pipeline_memcpy_async(&s[1], in, 16); // at ASYNC_MISALIGNED_DST
        break;
    case ASYNC_MISALIGNED_SRC:
        __pipeline_memcpy_async(&s[4], in + 1, 8); // at ASYNC_MISALIGNED_SRC
        break;
    case ASYNC_SIZE:
        __pipeline_memcpy_async(&s[0], in, 12); // at ASYNC_SIZE
        break;
    case ASYNC_FILL_SIZE:
        __pipeline_memcpy_async(&s[0], in, 4, 8); // at ASYNC_FILL_SIZE
        break;
    case ASYNC_OUT_OF_BOUNDS:
        __pipeline_memcpy_async(&s[0], out + n, 16); // at ASYNC_OUT_OF_BOUNDS
        break;
    case ASYNC_NOT_SHARED:
        __pipeline_memcpy_async(local, in, 4); // at ASYNC_NOT_SHARED
        break;
    case ASYNC_NOT_WAITED:
        __pipeline_memcpy_async(&s[8], in, 4); // at ASYNC_NOT_WAITED
        __pipeline_commit();
        return;
    default:
        __pipeline_memcpy_async(&s[12], in, 4); // at ASYNC_NOT_COMMITTED
        __pipeline_wait_prior(0);
        return;
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

static __global__ void past_dynamic_shared(int *out) {
    extern __shared__ int smem[];
    smem[threadIdx.x + 1] = 1;
    __syncthreads();
    out[threadIdx.x] = smem[threadIdx.x];
}

static __global__ void write_at(int *p) { *p = 1; }

static __global__ void wmma_rules(float *p, int ldm) {
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc;
    wmma::fill_fragment(acc, 1.0f);
    wmma::store_matrix_sync(p, acc, ldm, wmma::mem_row_major); // at WMMA_RULES
}

static __global__ void atomic_misaligned(int *out) {
    atomicAdd((int *)((char *)out + 2), 1); // at ATOMIC_MISALIGNED
}

// ---- Fatal --------------------------------------------------------------------------------------

static __global__ void read_past_end(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = out[i + n]; // at READ_PAST_END
}

static __device__ void store(int *p, int value) {
    *p = value; // at WRITE_PAST_END
}
static __global__ void write_past_end(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    store(&out[i < 200 ? i : n + 16], i);
}

static __global__ void null_pointer(const int *in, int *out) {
    const int *p = in[0] < 0 ? in : nullptr;
    out[threadIdx.x] = p[1]; // at NULL_POINTER
}

static __device__ __noinline__ int recurse(volatile int *x, int n) {
    volatile int local[100] = {*x}; // at STACK_OVERFLOW
    return n < 0 ? 0 : recurse(&local[n % 100], n + 1) + local[n % 100];
}
static __global__ void stack_overflow(int *out) { out[0] = recurse(out, 1); }

static __global__ void division_by_zero(const int *in, int *out) {
    out[0] = 5 / (in[0] - 11); // at DIVISION_BY_ZERO
}

static __global__ void misaligned_vector(const int *in, int *out) {
    ((int4 *)out)[0] = *(const int4 *)(in + 1); // at MISALIGNED_VECTOR
}

static __global__ void endless(volatile int *out) {
    while (out[0] != 1234567) { // at ENDLESS
    }
}

/* Never ends, and is in the C library nearly always, with its lock held. */
static __global__ void endless_in_library(volatile int *out) {
    while (out[0] != 1234567) free(malloc(100000 + (size_t)out[1] % 8)); // at ENDLESS_IN_LIBRARY
}

cudaError_t run_wrong(enum wrong kernel, const int *in, int *out, int n) {
    switch (kernel) {
    case UNSET_SHARED: unset_shared<<<3, 64>>>(out, 1); break;
    case UNSET_LOCAL: unset_local<<<1, 64>>>(in, out); break;
    case UNSET_FRAGMENT: unset_fragment<<<1, WARP>>>(out); break;
    case NO_BARRIER: no_barrier<<<1, 64>>>(in, out); break;
    case NO_SYNCWARP: no_syncwarp<<<1, 64>>>(in, out); break;
    case ASYNC_NO_BARRIER: async_no_barrier<<<1, 64>>>(in, out); break;
    case ASYNC_FIFTH_OF_FOUR: async_fifth_of_four<<<1, WARP>>>(in, out); break;
    case ASYNC_REFILL_NO_BARRIER: async_refill_no_barrier<<<1, 64>>>(in, out); break;
    case ASYNC_LAST_WORD: async_last_word<<<1, WARP>>>(in, out); break;
    case WMMA_NO_SYNCWARP: wmma_no_syncwarp<<<1, WARP>>>(out); break;
    case DIVERGENT_BARRIER: divergent_barrier<<<1, 128>>>(out); break;
    case DEADLOCK: deadlock<<<1, 64>>>(out); break;
    case MIXED_COLLECTIVES: mixed_collectives<<<1, WARP>>>(out); break;
    case NOT_IN_MASK: not_in_mask<<<1, WARP>>>(out); break;
    case READS_OUTSIDE_MASK: reads_outside_mask<<<1, WARP>>>(out); break;
    case PAST_DYNAMIC_SHARED:
        past_dynamic_shared<<<1, 64, 256>>>(out); // at PAST_DYNAMIC_SHARED
        break;
    case WRITE_IN_SLACK:
        write_at<<<1, 1>>>(out + n); // at WRITE_IN_SLACK
        break;
    case WRITE_BEFORE_START:
        write_at<<<1, 1>>>(out - 1); // at WRITE_BEFORE_START
        break;
    case WMMA_POINTER: wmma_rules<<<1, WARP>>>((float *)out + 4, 8); break;
    case WMMA_LEADING_DIMENSION: wmma_rules<<<1, WARP>>>((float *)out, 10); break;
    case ATOMIC_MISALIGNED: atomic_misaligned<<<1, 1>>>(out); break;
    case READ_PAST_END: read_past_end<<<2, 64>>>(out, n); break;
    case WRITE_PAST_END: write_past_end<<<4, 64>>>(out, n); break;
    case NULL_POINTER: null_pointer<<<1, 64>>>(in, out); break;
    case STACK_OVERFLOW: stack_overflow<<<1, 1>>>(out); break;
    case DIVISION_BY_ZERO: division_by_zero<<<1, 1>>>(in, out); break;
    case MISALIGNED_VECTOR: misaligned_vector<<<1, 1>>>(in, out); break;
    case ENDLESS: endless<<<1, 1>>>(out); break;
    case ENDLESS_IN_LIBRARY: endless_in_library<<<1, 1>>>(out); break;
    default: async_rules<<<1, WARP>>>(kernel, in, out, n); break;
    }
    return cudaGetLastError();
}
