/**
 * @file kernel_side.h
 * The seam between the stand-in headers in include/, which kernels see, and the CPU device.
 *
 * Whatever a kernel calls and that synchronises, moves memory or can be at fault is an ordinary
 * function of the device. The return address of the call is its source line.
 */
#pragma once
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include "include/cuda_runtime_api.h"

namespace cpu {

constexpr unsigned warp_size = 32;
constexpr unsigned max_threads = 1024;
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

// ---- Launching ----------------------------------------------------------------------------------

struct Launch {
    dim3 grid, block;
    size_t dynamic_shared;
    const void *kernel;
    void (*run)(void *arguments); ///< calls the kernel, as one CUDA thread
    void *arguments;
    Place place; ///< where it was launched
};
/// Runs the whole grid, or leaves an error for cudaGetLastError().
CPU_DEVICE_DISTINCT void launch(Launch launch);

template<class... A> struct ConfiguredCall {
    dim3 grid, block;
    size_t dynamic_shared;
    std::tuple<A...> arguments;
};
struct Configuration {
    dim3 grid, block;
    size_t dynamic_shared;
    template<class... A> ConfiguredCall<A...> operator()(A... arguments) const {
        return {grid, block, dynamic_shared, std::tuple<A...>(arguments...)};
    }
};
inline Configuration configure(dim3 grid, dim3 block, size_t dynamic_shared = 0, cudaStream_t = nullptr) {
    return {grid, block, dynamic_shared};
}

/// The build rewrites `kernel<<<grid, block>>>(x)` to `kernel ->* cpu::configure(grid, block)(x)`.
template<class... P, class... A> void operator->*(void (*kernel)(P...), const ConfiguredCall<A...> &call) {
    struct Bound {
        void (*kernel)(P...);
        std::tuple<P...> arguments;
    } bound{kernel, std::tuple<P...>(call.arguments)};
    auto run = [](void *b) {
        std::apply(static_cast<Bound *>(b)->kernel, static_cast<Bound *>(b)->arguments);
    };
    launch({call.grid, call.block, call.dynamic_shared, reinterpret_cast<const void *>(kernel), run, &bound,
            nullptr});
}

// ---- Who runs -----------------------------------------------------------------------------------

extern "C" {
// One axis each. Constant while a kernel's frame lives, so a compiler may keep what it got.
unsigned cpu_thread_index(int axis) __attribute__((const));
unsigned cpu_block_index(int axis) __attribute__((const));
unsigned cpu_block_dim(int axis) __attribute__((const));
unsigned cpu_grid_dim(int axis) __attribute__((const));
}
unsigned lane();

// ---- Meeting other threads ----------------------------------------------------------------------

/// The threads that met at a block barrier, and how many of them voted yes.
struct Met {
    unsigned threads, votes;
};
Met block_barrier(Place place, const char *what, bool vote = false);

/// What the last lane to arrive does for all: `lanes[i]` is lane i's argument, null if absent.
using WarpWork = void (*)(void *const *lanes, unsigned mask);

/// Waits for every live lane of `mask` to call with the same `what`; then `work` ran once.
/// @param orders_memory  whether the lanes' earlier writes become visible to each other.
void warp_meet(Place place, const char *what, unsigned mask, WarpWork work, void *argument,
               bool orders_memory = false);

enum class Shuffle { index, up, down, exclusive_or };
CPU_DEVICE_DISTINCT uint64_t shuffle(const char *what, Shuffle kind, unsigned mask, uint64_t value,
                                     int operand, int width);
CPU_DEVICE_DISTINCT int64_t reduce(const char *what, unsigned mask, int64_t value,
                                   int64_t (*combine)(int64_t, int64_t));

/// Lets other threads run now and then: called by whatever a thread may spin on.
void breathe();

// ---- Faults and tracing -------------------------------------------------------------------------

/// Prints and keeps a fault, with its place, the running thread and the schedule. Once a line and
/// kind (`format`), so that 256 threads make one report.
void fault(Place place, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum class Access : uint8_t { read, write, atomic };

/**
 * What a checked build installs to follow a launch: null in the plain one. Ranks are linear
 * indices of threads in their block; calls come from the running thread where one is running.
 */
struct Tracer {
    virtual ~Tracer() = default;
    virtual void launch_begin(const Launch &) = 0;
    virtual void launch_end() = 0;
    virtual void block_begin(unsigned threads) = 0;
    virtual void block_end() = 0;
    /// A memory access that compiled code does not show: atomics, WMMA loads and stores.
    virtual void access(Place, const void *, unsigned size, Access) = 0;
    virtual void async_issue(Place, void *dst, const void *src, unsigned size, unsigned read) = 0;
    virtual void async_commit() = 0;
    /// A wait for all but the `prior` youngest groups; async_land() follows for each copy.
    virtual void async_wait(Place, unsigned prior) = 0;
    virtual void async_land(void *dst, unsigned size) = 0;
    /// These threads met, and what each wrote before is visible to all.
    virtual void synchronised(const unsigned *ranks, unsigned n, bool whole_block) = 0;
    /// All live lanes of a warp stand at one place.
    virtual void converged(unsigned warp) = 0;
    virtual void matrix_multiply(Place, unsigned m, unsigned n, unsigned k) = 0;
};
extern Tracer *tracer;

inline void note_access(Place place, const void *p, unsigned size, Access kind) {
    if (tracer)
        tracer->access(place, p, size, kind);
}

} // namespace cpu
