// Kernels that are right: the same bits under every schedule.
#include "kernels.h"
#include <cuda_pipeline.h>

enum { WARP = 32 };
static const unsigned ALL = 0xffffffffu;

static __global__ void mirror(const int *in, int *out) {
    __shared__ int s[96];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    out[t] = s[95 - t];
}

static __global__ void early_exit(const int *in, int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t >= 70) return; // the barrier does not wait for them
    s[t] = in[t];
    __syncthreads();
    out[t] = s[69 - t];
}

static __global__ void barrier_votes(int *out) {
    int t = threadIdx.x;
    int count = __syncthreads_count(t % 3 == 0);
    int all = __syncthreads_and(t < 96), not_all = __syncthreads_and(t != 95);
    int any = __syncthreads_or(t == 95), none = __syncthreads_or(0);
    out[t] = count * 10000 + all * 1000 + not_all * 100 + any * 10 + none;
}

static __global__ void shuffles(const int *in, int *out) {
    int t = threadIdx.x, v = in[t];
    float f = __shfl_sync(ALL, (float)v, 5);
    double d = __shfl_up_sync(ALL, (double)v, 3, 8);
    long long l = __shfl_down_sync(ALL, (long long)v << 33, 20) >> 33;
    unsigned x = __shfl_xor_sync(ALL, (unsigned)v, 9, 16);
    out[t] = (int)f + (int)d * 100 + (int)l * 10000 + (int)x * 1000000;
}

static __global__ void partial_warp(const int *in, int *out) {
    int t = threadIdx.x, v = in[t]; // 52 threads: the second warp has 20 lanes
    unsigned mask = t < WARP ? 0xffffffffu : 0xfffffu;
    for (int d = 16; d > 0; d /= 2) {
        int other = __shfl_down_sync(mask, v, d);
        if (t % WARP + d < (t < WARP ? WARP : 20)) v += other;
    }
    out[t] = __shfl_sync(mask, v, 0) + (int)__ballot_sync(ALL, 1);
}

static __global__ void split_warp(const int *in, int *out) {
    int t = threadIdx.x, v = in[t];
    if (t % WARP < 16) {
        v = __shfl_xor_sync(0xffffu, v, 15);
        __syncwarp(0xffffu);
    } else {
        v = __shfl_sync(0xffff0000u, v, 31) + 1;
    }
    out[t] = v;
}

static __global__ void votes(int *out) {
    int t = threadIdx.x;
    unsigned ballot = __ballot_sync(ALL, t % 5 == 0);
    int any = __any_sync(ALL, t == 40), all = __all_sync(ALL, t < WARP);
    unsigned active = __activemask();
    out[t] = (int)(ballot ^ (unsigned)any << 1 ^ (unsigned)all << 2) + ((active >> t % WARP & 1) == 0);
}

static __global__ void dynamic_shared(const int *in, int *out) {
    extern __shared__ __align__(128) int smem[];
    int t = threadIdx.x;
    smem[t + blockIdx.x] = in[t];
    __syncthreads();
    out[blockIdx.x * 100 + t] = smem[99 - t + blockIdx.x];
}

static __global__ void histogram(const int *in, int *out) {
    __shared__ unsigned bin[8];
    int t = threadIdx.x;
    if (t < 8) bin[t] = 0;
    __syncthreads();
    atomicAdd(&bin[in[t] % 8], 1);
    __syncthreads();
    if (t < 8) atomicAdd(&out[t], (int)bin[t]);
    atomicMax(&out[8], in[t]);
    atomicMin(&out[9], -in[t]);
    atomicOr((unsigned *)&out[10], 1u << t % 32);
    atomicAnd(&out[11], ~(1 << t % 3));
    atomicAdd((float *)&out[12], 0.5f);
    atomicSub(&out[13], 1);
    atomicInc((unsigned *)&out[14], 4);
    if (t == 0) out[15] = atomicExch(&out[16], 7) * 100;
}

static __global__ void compare_and_swap(int *out) {
    int next; // a multiplication by 3, atomic
    for (int old = *(volatile int *)out;; old = next) {
        next = atomicCAS(&out[0], old, old * 3);
        if (next == old) break;
    }
}

static __global__ void spin(const int *in, int *out) {
    __shared__ int turn;
    int t = threadIdx.x;
    if (t == 0) turn = 0;
    __syncthreads();
    while (atomicAdd(&turn, 0) != 63 - t) // 63 goes first
        __nanosleep(10);
    __threadfence_block(); // what the others wrote before their turn was over
    out[t] = t == 63 ? in[0] : out[t + 1] + in[t];
    __threadfence_block();
    atomicAdd(&turn, 1);
}

static __global__ void indices(int *out) {
    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[b * (int)(blockDim.x * blockDim.y * blockDim.z) + t] = b * 1000 + t;
}

static __global__ void vectors(const int *in, int *out) {
    int t = threadIdx.x;
    int4 v = __ldg((const int4 *)in + t), w = __ldcs(&((const int4 *)in)[t]);
    __stcs((int4 *)out + t, make_int4(v.w, v.z, w.y, w.x));
}

static __device__ int total;
// Host code, as no GPU would have it: it stands for the runtime of C++, which may be linked into the program.
static __global__ void ask_library(int *out) { out[threadIdx.x] = library_variable(); }

static __global__ void set_total(int value) { total = value; }
static __global__ void add_total(const int *in, int *out) {
    atomicAdd(&total, in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = total;
}

static __global__ void async_mirror(const int *in, int *out) {
    __shared__ __align__(16) int s[256];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t * 4], &in[t * 4], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads(); // who copied a word is not who reads it
    for (int i = 0; i < 4; ++i) out[t * 4 + i] = s[255 - (t * 4 + i)];
}

static __global__ void async_groups(const int *in, int *out) {
    __shared__ int s[16][WARP];
    int t = threadIdx.x;
    for (int i = 0; i < 16; ++i) {
        __pipeline_memcpy_async(&s[i][t], &in[i * 4 + t], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(12); // the oldest four are there
    out[t] = s[0][t] + s[1][t] + s[2][t] + s[3][t];
    __pipeline_wait_prior(0);
    for (int i = 4; i < 16; ++i) out[t] += s[i][t];
}

static __global__ void async_refill(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; ++i) {
        __pipeline_memcpy_async(&s[t], &in[i * 64 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum = sum * 3 + s[63 - t];
        __syncthreads(); // all have read it before it is filled again
    }
    out[t] = sum;
}

// 128 words preset to -1; of 32 threads two copy, 16 bytes each.
template<bool ZERO_FILL> static __global__ void async_edge(const int *in, int *out) {
    __shared__ alignas(16) int s[128];
    int t = threadIdx.x;
    for (int i = t; i < 128; i += WARP) s[i] = -1;
    __syncwarp();
    if (ZERO_FILL) __pipeline_memcpy_async(&s[t * 4], t < 2 ? &in[t * 4] : in, 16, t < 2 ? 0 : 16);
    else if (t < 2) __pipeline_memcpy_async(&s[t * 4], &in[t * 4], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    for (int i = t; i < 128; i += WARP) out[i] = s[127 - i];
}

cudaError_t run_right(enum right kernel, const int *in, int *out) {
    switch (kernel) {
    case MIRROR: mirror<<<1, 96>>>(in, out); break;
    case EARLY_EXIT: early_exit<<<1, 128>>>(in, out); break;
    case BARRIER_VOTES: barrier_votes<<<1, 96>>>(out); break;
    case SHUFFLES: shuffles<<<1, 64>>>(in, out); break;
    case PARTIAL_WARP: partial_warp<<<1, 52>>>(in, out); break;
    case SPLIT_WARP: split_warp<<<1, 64>>>(in, out); break;
    case VOTES: votes<<<1, 64>>>(out); break;
    case DYNAMIC_SHARED: dynamic_shared<<<2, 100, 101 * sizeof(int)>>>(in, out); break;
    case HISTOGRAM: histogram<<<1, 200>>>(in, out); break;
    case COMPARE_AND_SWAP: compare_and_swap<<<1, 10>>>(out); break;
    case SPIN: spin<<<1, 64>>>(in, out); break;
    case INDICES: {
        dim3 grid(3, 2, 2), block(2, 5, 2);
        indices<<<grid, block>>>(out);
        break;
    }
    case VECTORS: vectors<<<1, 64>>>(in, out); break;
    case DEVICE_VARIABLE:
        set_total<<<1, 1>>>(1000);
        add_total<<<1, 64>>>(in, out);
        break;
    case LIBRARY_VARIABLE: ask_library<<<1, 64>>>(out); break;
    case ASYNC_MIRROR: async_mirror<<<1, 64>>>(in, out); break;
    case ASYNC_GROUPS: async_groups<<<1, WARP>>>(in, out); break;
    case ASYNC_REFILL: async_refill<<<1, 64>>>(in, out); break;
    case ASYNC_SKIP: async_edge<false><<<1, WARP>>>(in, out); break;
    case ASYNC_ZERO_FILL: async_edge<true><<<1, WARP>>>(in, out); break;
    case RIGHT_KERNELS: break;
    }
    return cudaGetLastError();
}

static __global__ void one(int *out) { out[0] = 1; }
cudaError_t run_shape(dim3 grid, dim3 block, size_t dynamic, int *out) {
    one<<<grid, block, dynamic>>>(out);
    return cudaGetLastError();
}
cudaError_t opt_in(int bytes) {
    return cudaFuncSetAttribute(one, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

static __global__ void static_40k(int *out) {
    __shared__ int s[10 * 1024];
    s[threadIdx.x * 100] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[(31 - threadIdx.x) * 100];
}
static __global__ void static_50k(int *out) {
    __shared__ int s[50 * 256];
    s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
cudaError_t run_static_50k(int *out) {
    static_50k<<<1, 32>>>(out);
    return cudaGetLastError();
}
cudaError_t run_static_40k(size_t dynamic, int *out) {
    static_40k<<<1, 32, dynamic>>>(out);
    return cudaGetLastError();
}
