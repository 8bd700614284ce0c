/** @file cuda_runtime.h Stand-in for the CUDA header of this name: CUDA C++ as a host compiler sees it. */
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "../core/kernel_side.h"

#define __host__
#define __device__
#define __global__
#define __constant__
// Kernels run on one OS thread, so its thread-local block is the block's shared memory. Inside a
// function thread_local implies static, after extern it does not: one macro serves both.
#define __shared__ thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ // only a hint, and a name that the C++ library uses
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

#define threadIdx (uint3{cpu::thread_index(0), cpu::thread_index(1), cpu::thread_index(2)})
#define blockIdx (uint3{cpu::block_index(0), cpu::block_index(1), cpu::block_index(2)})
#define blockDim (uint3{cpu::block_dim(0), cpu::block_dim(1), cpu::block_dim(2)})
#define gridDim (uint3{cpu::grid_dim(0), cpu::grid_dim(1), cpu::grid_dim(2)})
#define warpSize 32

// ---- Barriers, votes, shuffles ----
CPU_DEVICE_DISTINCT void __syncthreads();
CPU_DEVICE_DISTINCT int __syncthreads_count(int predicate);
CPU_DEVICE_DISTINCT int __syncthreads_and(int predicate);
CPU_DEVICE_DISTINCT int __syncthreads_or(int predicate);
CPU_DEVICE_DISTINCT void __syncwarp(unsigned mask = 0xffffffffu);

CPU_DEVICE_DISTINCT unsigned __ballot_sync(unsigned mask, int predicate);
CPU_DEVICE_DISTINCT int __any_sync(unsigned mask, int predicate);
CPU_DEVICE_DISTINCT int __all_sync(unsigned mask, int predicate);
/// The caller alone: a legal answer, and the one that trusts least in convergence.
unsigned __activemask();

#define CPU_SHUFFLE(name, kind, operand)                                                              \
    template<class T> __forceinline__ T name(unsigned mask, T value, operand, int width = warpSize) { \
        static_assert(sizeof(T) <= 8, "a shuffle moves 8 bytes at most");                             \
        uint64_t bits = 0;                                                                            \
        __builtin_memcpy(&bits, &value, sizeof value);                                                \
        bits = cpu::shuffle(#name, cpu::Shuffle::kind, mask, bits, int(from), width);                 \
        __builtin_memcpy(&value, &bits, sizeof value);                                                \
        return value;                                                                                 \
    }
CPU_SHUFFLE(__shfl_sync, index, int from)
CPU_SHUFFLE(__shfl_up_sync, up, unsigned from)
CPU_SHUFFLE(__shfl_down_sync, down, unsigned from)
CPU_SHUFFLE(__shfl_xor_sync, exclusive_or, int from)

void __threadfence_block();
void __threadfence();
void __threadfence_system();
void __nanosleep(unsigned nanoseconds);

// ---- Atomics ----
// Neither inlined nor instrumented, so that the line is the kernel's and the access is noted once. Only
// the pointer tells T: other arguments convert, as they would were the function not a template.
#define CPU_ATOMIC(name, becomes, ...)                                                             \
    template<class T> __attribute__((noinline, no_sanitize("thread"))) T name(T *p, __VA_ARGS__) { \
        cpu::prepare_atomic(CPU_DEVICE_CALLER, p, sizeof(T));                                      \
        T old = *p;                                                                                \
        *p = becomes;                                                                              \
        return old;                                                                                \
    }
#define CPU_VALUE std::common_type_t<T>
CPU_ATOMIC(atomicAdd, old + v, CPU_VALUE v)
CPU_ATOMIC(atomicSub, old - v, CPU_VALUE v)
CPU_ATOMIC(atomicExch, v, CPU_VALUE v)
CPU_ATOMIC(atomicMax, old < v ? v : old, CPU_VALUE v)
CPU_ATOMIC(atomicMin, v < old ? v : old, CPU_VALUE v)
CPU_ATOMIC(atomicAnd, old &v, CPU_VALUE v)
CPU_ATOMIC(atomicOr, old | v, CPU_VALUE v)
CPU_ATOMIC(atomicXor, old ^ v, CPU_VALUE v)
CPU_ATOMIC(atomicInc, old >= v ? 0 : old + 1, CPU_VALUE v)
CPU_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1, CPU_VALUE v)
CPU_ATOMIC(atomicCAS, old == v ? desired : old, CPU_VALUE v, CPU_VALUE desired)

// ---- Loads and stores with a cache hint: the hint means nothing here ----
template<class T> __forceinline__ T __ldg(const T *p) { return *p; }
template<class T> __forceinline__ T __ldcg(const T *p) { return *p; }
template<class T> __forceinline__ T __ldcs(const T *p) { return *p; }
template<class T> __forceinline__ void __stcg(T *p, T value) { *p = value; }
template<class T> __forceinline__ void __stcs(T *p, T value) { *p = value; }

// ---- Arithmetic ----
// One operand signed, one not: compared as unsigned, like CUDA's.
template<class A, class B, class T = decltype(A() + B())> T min(A a, B b) { return T(b) < T(a) ? b : a; }
template<class A, class B, class T = decltype(A() + B())> T max(A a, B b) { return T(a) < T(b) ? b : a; }
inline float min(float a, float b) { return fminf(a, b); } // a NaN loses, as on the device
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
#define rsqrtf(x) (1.0f / sqrtf(x)) // a macro: newer C libraries declare a function of this name
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __float_as_int(float f) { return __builtin_bit_cast(int, f); }
inline unsigned __float_as_uint(float f) { return __builtin_bit_cast(unsigned, f); }
inline float __int_as_float(int i) { return __builtin_bit_cast(float, i); }
inline float __uint_as_float(unsigned u) { return __builtin_bit_cast(float, u); }
inline long long clock64() { return 0; } // time means nothing here

// ---- Typed forms of runtime calls ----
template<class T> cudaError_t cudaMalloc(T **p, size_t n) {
    return cudaMalloc(reinterpret_cast<void **>(p), n);
}
template<class T> cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attr, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attr, value);
}
template<class T> cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t n, size_t offset = 0) {
    memcpy(dst, reinterpret_cast<const char *>(&symbol) + offset, n);
    return cudaGetLastError();
}
