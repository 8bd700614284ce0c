// Kernels that are wrong on purpose. A line that must be named in a report ends in "// at NAME".
#include "checker.h"
#include <cuda_pipeline.h>
#include <mma.h>

static __global__ void fifth_of_four(const int *in, int *out) {
    __shared__ int s[16][32];
    int t = threadIdx.x;
    for (int i = 0; i < 16; ++i) {
        __pipeline_memcpy_async(&s[i][t], &in[i * 4 + t], 4); // at FIFTH_COPY
        __pipeline_commit();
    }
    __pipeline_wait_prior(12);
    out[t] = s[3][t];
    out[t] += s[4][t]; // at FIFTH_READ
    __pipeline_wait_prior(0);
}

static __global__ void mirror_no_barrier(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4); // at MIRROR_COPY
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = s[63 - t]; // at MIRROR_READ
}

static __global__ void barrier_before_wait(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4); // at EARLY_COPY
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    out[t] = s[63 - t]; // at EARLY_READ
}

static __global__ void refill_no_barrier(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; ++i) {
        __pipeline_memcpy_async(&s[t], &in[i * 64 + t], 4); // at REFILL_COPY
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[63 - t]; // at REFILL_READ
    }
    out[t] = sum;
}

static __global__ void ring_too_short(const int *in, int *out) {
    __shared__ int s[3][64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; ++i) {
        __pipeline_memcpy_async(&s[i][t], &in[i * 64 + t], 4);
        __pipeline_commit();
    }
    for (int i = 0; i < 8; ++i) {
        __pipeline_wait_prior(2);
        __syncthreads();
        if (i + 3 < 8) __pipeline_memcpy_async(&s[i % 3][t], &in[(i + 3) * 64 + t], 4); // at RING_COPY
        __pipeline_commit();
        sum += s[i % 3][63 - t]; // at RING_READ
    }
    __pipeline_wait_prior(0);
    out[t] = sum;
}

static __global__ void last_word_of_copy(const int *in, int *out) {
    __shared__ __align__(16) int s[8];
    int t = threadIdx.x;
    if (t == 0) __pipeline_memcpy_async(&s[0], in, 16); // at LAST_COPY
    __pipeline_commit();
    __syncwarp();
    if (t == 1) out[t] = s[3]; // at LAST_READ
    __syncwarp();
    __pipeline_wait_prior(0);
}

static __global__ void wide_read_of_copy(const int *in, int *out) {
    __shared__ __align__(16) int s[8];
    int t = threadIdx.x;
    if (t < 8) s[t] = 5;
    __syncwarp();
    if (t == 0) __pipeline_memcpy_async(&s[6], in, 4); // at NARROW_COPY
    __pipeline_commit();
    __syncwarp();
    if (t == 1) {
        int4 v = *(int4 *)&s[4]; // at WIDE_READ
        out[t] = v.x + v.y + v.z + v.w;
    }
    __syncwarp();
    __pipeline_wait_prior(0);
}

static __global__ void overwrites_copy(const int *in, int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4); // at OVER_COPY
    __pipeline_commit();
    s[t] = 1; // at OVER_WRITE
    __pipeline_wait_prior(0);
    out[t] = s[t];
}

static __global__ void fragment_no_syncwarp(int *out) {
    __shared__ __align__(32) float s[256];
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 8, float> acc;
    nvcuda::wmma::fill_fragment(acc, 1.0f);
    nvcuda::wmma::store_matrix_sync(s, acc, 16, nvcuda::wmma::mem_row_major); // at FRAGMENT_STORE
    for (int i = threadIdx.x; i < 256; i += 32) out[i] = (int)s[i];           // at FRAGMENT_READ
}

static __global__ void shuffle_orders_nothing(const int *in, int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t]; // at SHUFFLE_WRITE
    __shfl_sync(0xffffffffu, t, 0);
    out[t] = s[31 - t]; // at SHUFFLE_READ
}

static __global__ void two_writers(const int *in, int *out) {
    __shared__ int s;
    if (threadIdx.x % 32 == 0) s = in[threadIdx.x]; // at TWO_WRITES
    __syncthreads();
    out[threadIdx.x] = s;
}

static __global__ void byte_of_a_word(const int *in, int *out) {
    __shared__ __align__(4) unsigned char s[64];
    int t = threadIdx.x;
    s[t] = (unsigned char)in[t]; // at BYTE_WRITE
    __syncwarp();
    out[t] = *(int *)&s[t / 4 * 4 % 32]; // at BYTE_READ
}

static __global__ void zeroed_by_one_block(const int *in, int *out) {
    if (blockIdx.x == 0) out[threadIdx.x] = 0;     // at ZERO
    atomicAdd(&out[threadIdx.x], in[threadIdx.x]); // at ADD
}

static __global__ void blocks_overlap(const int *in, int *out) {
    out[blockIdx.x * 63 + threadIdx.x] = in[threadIdx.x]; // at OVERLAP
}

template<bool RELEASE, bool ACQUIRE, bool DEVICE>
static __global__ void last_block(const int *in, int *out, unsigned *flag) {
    __shared__ bool last;
    int t = threadIdx.x;
    out[blockIdx.x * 64 + t] = in[t]; // at PART_WRITE
    __syncthreads();
    if (t == 0) {
        if (RELEASE && DEVICE) __threadfence();
        else if (RELEASE) __threadfence_block();
        last = atomicAdd(flag, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    if (ACQUIRE) __threadfence();
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += out[b * 64 + 63 - t]; // at PART_READ
    out[gridDim.x * 64 + t] = sum;
}

static __global__ void barrier_in_branch(int *out) {
    if (threadIdx.x < 32) __syncthreads(); // at BRANCH_BARRIER
    else __syncwarp(0x0000ffffu << (threadIdx.x % 32 / 16 * 16));
    if (threadIdx.x >= 32) __syncthreads(); // at OTHER_BARRIER
    out[threadIdx.x] = 1;
}

static __global__ void barriers_apart(int *out) {
    if (threadIdx.x < 16) __syncwarp(); // at WAITS_FOR_WARP
    else __syncthreads();               // at WAITS_FOR_BLOCK
    out[threadIdx.x] = 1;
}

static __global__ void warp_synchronous(const int *in, int *out, unsigned *flag, bool late) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (late) {
        __threadfence();
        if (t == 0) atomicAdd(flag, 1);
    }
    __syncthreads();
    if (t < 16) {
        s[t] += s[t + 16]; // at HALF
        s[t] += s[t + 8];  // at QUARTER
        s[t] += s[t + 4];
    }
    __syncthreads();
    if (t == 0) out[0] = s[0] + s[1] + s[2] + s[3];
}

cudaError_t run_racy(enum racy kernel, const int *in, int *out, unsigned *flag) {
    switch (kernel) {
    case FIFTH_OF_FOUR: fifth_of_four<<<1, 32>>>(in, out); break;
    case MIRROR_NO_BARRIER: mirror_no_barrier<<<1, 64>>>(in, out); break;
    case BARRIER_BEFORE_WAIT: barrier_before_wait<<<1, 64>>>(in, out); break;
    case REFILL_NO_BARRIER: refill_no_barrier<<<1, 64>>>(in, out); break;
    case RING_TOO_SHORT: ring_too_short<<<1, 64>>>(in, out); break;
    case LAST_WORD_OF_COPY: last_word_of_copy<<<1, 32>>>(in, out); break;
    case WIDE_READ_OF_COPY: wide_read_of_copy<<<1, 32>>>(in, out); break;
    case OVERWRITES_COPY: overwrites_copy<<<1, 32>>>(in, out); break;
    case FRAGMENT_NO_SYNCWARP: fragment_no_syncwarp<<<1, 32>>>(out); break;
    case SHUFFLE_ORDERS_NOTHING: shuffle_orders_nothing<<<1, 32>>>(in, out); break;
    case TWO_WRITERS: two_writers<<<1, 64>>>(in, out); break;
    case BYTE_OF_A_WORD: byte_of_a_word<<<1, 64>>>(in, out); break;
    case ZEROED_BY_ONE_BLOCK: zeroed_by_one_block<<<3, 64>>>(in, out); break;
    case BLOCKS_OVERLAP: blocks_overlap<<<3, 64>>>(in, out); break;
    case NO_RELEASE: last_block<false, true, true><<<5, 64>>>(in, out, flag); break;
    case NO_ACQUIRE: last_block<true, false, true><<<5, 64>>>(in, out, flag); break;
    case BLOCK_FENCE_ONLY: last_block<true, true, false><<<5, 64>>>(in, out, flag); break;
    case WARP_SYNCHRONOUS: warp_synchronous<<<1, 64>>>(in, out, flag, false); break;
    case WARP_SYNCHRONOUS_LATE: warp_synchronous<<<1, 64>>>(in, out, flag, true); break;
    case BARRIER_IN_BRANCH: barrier_in_branch<<<1, 64>>>(out); break;
    case BARRIERS_APART: barriers_apart<<<1, 64>>>(out); break;
    }
    return cudaGetLastError();
}
