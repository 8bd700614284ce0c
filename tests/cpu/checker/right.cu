// Kernels that are right, in ways that a careless checker rejects.
#include "checker.h"
#include <cuda_pipeline.h>

static __global__ void neighbour_bytes(const int *in, int *out) {
    __shared__ unsigned char s[64];
    s[threadIdx.x] = (unsigned char)in[threadIdx.x];
    s[threadIdx.x] += 1;
    ((unsigned char *)out)[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}

static __global__ void warp_rows(const int *in, int *out) {
    __shared__ __align__(16) int s[2][2][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < 4; ++i) {
        if (lane < 8) __pipeline_memcpy_async(&s[warp][i % 2][lane * 4], &in[i * 32 + lane * 4], 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncwarp(); // the row is there before any lane reads it
        out[(warp * 4 + i) * 32 + lane] = s[warp][i % 2][31 - lane];
        // Row i + 2 overwrites row i behind the next warp barrier.
    }
}

static __global__ void warp_exchange(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, v = in[t];
    for (int i = 1; i < 32; i *= 2) {
        s[t] = v;
        __syncwarp();
        v += s[t ^ i];
        __syncwarp();
    }
    out[t] = v;
}

static __global__ void word_behind_copy(const int *in, int *out) {
    __shared__ __align__(16) int s[8];
    int t = threadIdx.x;
    if (t < 8) s[t] = 5;
    __syncwarp();
    if (t == 0) __pipeline_memcpy_async(&s[0], in, 16);
    __pipeline_commit();
    out[t] = s[4];
    __pipeline_wait_prior(0);
}

static __global__ void ring_of_three(const int *in, int *out) {
    __shared__ int s[3][64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 2; ++i) {
        __pipeline_memcpy_async(&s[i][t], &in[i * 64 + t], 4);
        __pipeline_commit();
    }
    for (int i = 0; i < 8; ++i) {
        __pipeline_wait_prior(1);
        __syncthreads(); // row i is there, and row i - 1 has been read
        if (i + 2 < 8) __pipeline_memcpy_async(&s[(i + 2) % 3][t], &in[(i + 2) * 64 + t], 4);
        __pipeline_commit();
        sum += s[i % 3][63 - t];
    }
    __pipeline_wait_prior(0);
    out[t] = sum;
}

static __global__ void atomics(const int *in, int *out) {
    atomicAdd(&out[threadIdx.x % 8], in[threadIdx.x]);
    atomicMax(&out[8], (int)blockIdx.x);
}

template<bool ALL> static __global__ void last_block(const int *in, int *out, unsigned *flag) {
    __shared__ bool last;
    int t = threadIdx.x;
    out[blockIdx.x * 64 + t] = in[t];
    if (ALL) __threadfence();
    __syncthreads();
    if (t == 0) {
        if (!ALL) __threadfence();
        last = atomicAdd(flag, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += out[b * 64 + 63 - t];
    out[gridDim.x * 64 + t] = sum;
}

static __global__ void flag_in_block(const int *in, int *out) {
    __shared__ int s[32];
    __shared__ volatile int ready;
    int t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t < 32) {
        s[t] = in[t];
        __threadfence_block();
        __syncwarp();
        if (t == 0) ready = 1;
    } else {
        while (ready == 0) __nanosleep(1);
        __threadfence_block();
        out[t - 32] = s[63 - t];
    }
}

static __global__ void flag_back(const int *in, int *out) {
    __shared__ int s[32];
    __shared__ volatile int full, rounds;
    int t = threadIdx.x % 32;
    if (threadIdx.x == 0) full = rounds = 0;
    __syncthreads();
    for (int i = 0; i < 3; ++i) {
        const bool writes = threadIdx.x < 32;
        while (full == writes) __nanosleep(1);
        __threadfence_block();
        if (writes) s[t] = in[i * 32 + t];
        else out[i * 32 + t] = s[31 - t];
        __threadfence_block();
        __syncwarp();
        if (t == 0) rounds = i, full = writes;
        __syncwarp();
    }
}

static __global__ void packed_word(const int *in, int *out) {
    volatile unsigned long long *word = (volatile unsigned long long *)out;
    if (threadIdx.x == 0) word[blockIdx.x] = 1ull << 32 | (unsigned)in[blockIdx.x];
    unsigned sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) {
        unsigned long long seen = word[b];
        sum += seen >> 32 == 1 ? (unsigned)seen : 0;
    }
    out[512 + blockIdx.x * 32 + threadIdx.x] = (int)sum;
}

static __global__ void chain_of_blocks(const int *in, int *out, unsigned *flag) {
    if (atomicAdd(&flag[0], 0) != blockIdx.x) return; // under another order of blocks: nothing to see
    __threadfence();
    out[blockIdx.x] = blockIdx.x ? out[0] + in[blockIdx.x] : in[0];
    __threadfence();
    atomicAdd(&flag[0], 1);
}

static __global__ void same_word_by_a_warp(const int *in, int *out) { out[threadIdx.x / 32] = in[0]; }

static __global__ void shared_of_each(int *out, unsigned *flag) {
    extern __shared__ int smem[];
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = smem[t] = (int)blockIdx.x;
    if (t == 0) atomicAdd(flag, 1); // others run now
    __syncthreads();
    if (t == 0) atomicAdd(flag, 1);
    __syncthreads();
    if (s[63 - t] == (int)blockIdx.x && smem[63 - t] == (int)blockIdx.x) atomicAdd(&out[blockIdx.x], 1);
    __syncthreads();
    if (t == 0 && out[blockIdx.x] != 64) *(volatile int *)nullptr = 1; // a fault is what the test sees
}

static __global__ void tickets_spin(int *out, unsigned *flag) {
    volatile int *done = out;
    int ticket = (int)atomicAdd(flag, 1);
    if (ticket > 0)
        while (!done[ticket - 1]) {
        }
    done[ticket] = 1;
}

cudaError_t run_silent(enum silent kernel, const int *in, int *out, unsigned *flag) {
    switch (kernel) {
    case NEIGHBOUR_BYTES: neighbour_bytes<<<3, 64>>>(in, out); break;
    case WARP_ROWS: warp_rows<<<1, 64>>>(in, out); break;
    case WARP_EXCHANGE: warp_exchange<<<1, 64>>>(in, out); break;
    case WORD_BEHIND_COPY: word_behind_copy<<<1, 32>>>(in, out); break;
    case RING_OF_THREE: ring_of_three<<<1, 64>>>(in, out); break;
    case ATOMICS: atomics<<<4, 64>>>(in, out); break;
    case LAST_BLOCK: last_block<false><<<5, 64>>>(in, out, flag); break;
    case LAST_BLOCK_ALL: last_block<true><<<5, 64>>>(in, out, flag); break;
    case FLAG_IN_BLOCK: flag_in_block<<<1, 64>>>(in, out); break;
    case FLAG_BACK: flag_back<<<1, 64>>>(in, out); break;
    case PACKED_WORD: packed_word<<<4, 32>>>(in, out); break;
    case CHAIN_OF_BLOCKS: chain_of_blocks<<<3, 1>>>(in, out, flag); break;
    case SAME_WORD_BY_A_WARP: same_word_by_a_warp<<<1, 64>>>(in, out); break;
    case SHARED_OF_EACH: shared_of_each<<<50, 64, 256>>>(out, flag); break;
    case TICKETS_SPIN: tickets_spin<<<50, 1>>>(out, flag); break;
    case SILENT_KERNELS: break;
    }
    return cudaGetLastError();
}

static __global__ void strides(int stride, int pitch, const int *in, int *out) {
    __shared__ int s[32 * 33];
    int l = threadIdx.x;
    s[l * pitch] = in[l * stride];
    __syncwarp();
    out[l] = s[l * pitch];
}
static __global__ void vec16_strides(int stride, int pitch, const int *in, int *out) {
    __shared__ __align__(16) int s[32 * 36];
    int l = threadIdx.x;
    *(int4 *)&s[l * pitch] = *(const int4 *)&in[l * stride];
    __syncwarp();
    *(int4 *)&out[l * 4] = *(const int4 *)&s[l * pitch];
}
cudaError_t run_strides(int stride, int pitch, int vec16, const int *in, int *out) {
    if (vec16) vec16_strides<<<1, 32>>>(stride, pitch, in, out);
    else strides<<<1, 32>>>(stride, pitch, in, out);
    return cudaGetLastError();
}
