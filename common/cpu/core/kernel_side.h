/** @file kernel_side.h The seam between the stand-in headers in include/, which kernels see, and the CPU device.
 * Whatever a kernel calls and that synchronises, moves memory or can be at fault is an ordinary function of the
 * device. The return address of the call is its source line. */
#pragma once
#include <cstdint>
#include <type_traits>
#include "../include/cuda_runtime_api.h"

namespace cpu {
constexpr unsigned warp_size = 32, max_threads = 1024;
constexpr size_t shared_default = 48 * 1024; ///< shared memory of a block without opting in
constexpr size_t shared_optin = 227 * 1024;  ///< with cudaFuncSetAttribute()

/// A place in the program: the last byte of a call, so that its line is the call's.
using Place = const void *;
/// For calls whose line matters: two of them in two branches stay two. GCC has options for it.
#if defined(__clang__)
#define CPU_DEVICE_DISTINCT __attribute__((nomerge))
#else
#define CPU_DEVICE_DISTINCT
#endif
#define CPU_DEVICE_CALLER (static_cast<const char *>(__builtin_return_address(0)) - 1)

struct Launch {
    dim3 grid, block;
    size_t dynamic_shared;
    const void *kernel;
    void (*run)(void *arguments); ///< calls the kernel, as one CUDA thread
    void *arguments;              ///< the caller's: a stream that finishes later would copy them
    Place place;                  ///< where it was launched
};
/// Runs the whole grid, or leaves an error for cudaGetLastError().
CPU_DEVICE_DISTINCT void launch(Launch launch);

/// The build rewrites `kernel<<<grid, block>>>(x)` to `kernel ->* cpu::configure(grid, block)(x)`.
inline auto configure(dim3 grid, dim3 block, size_t dynamic = 0, cudaStream_t = nullptr) {
    return [=](auto... arguments) {
        return [=](auto kernel) {
            auto call = [=] { kernel(arguments...); };
            auto run = [](void *c) { (*static_cast<decltype(call) *>(c))(); };
            launch({grid, block, dynamic, reinterpret_cast<const void *>(kernel), run, &call, nullptr});
        };
    };
}
template<class... P, class Call> void operator->*(void (*kernel)(P...), Call call) { call(kernel); }

// One axis each. Constant while a kernel's frame lives, so a compiler may keep what it got.
unsigned thread_index(int axis) __attribute__((const));
unsigned block_index(int axis) __attribute__((const));
unsigned block_dim(int axis) __attribute__((const));
unsigned grid_dim(int axis) __attribute__((const));

enum class Shuffle { index, up, down, exclusive_or };
CPU_DEVICE_DISTINCT uint64_t shuffle(const char *what, Shuffle kind, unsigned mask, uint64_t value,
                                     int operand, int width);

/// Before a read-modify-write. One thread runs at a time, so a plain read and write will do for it.
void prepare_atomic(Place place, const void *p, unsigned size);
void prepare_atomic(Place place, const void *p, unsigned size, bool writes); ///< of a load or a store
} // namespace cpu
