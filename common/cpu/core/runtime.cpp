/** @file runtime.cpp The CUDA runtime calls, and whether a device would accept a launch. */
#include <chrono>
#include <fstream>
#include <mutex>
#include <unistd.h>
#include "core/block.h"

namespace cpu {
// What CUDA keeps for each thread of the host.
static thread_local int current_device;
static thread_local cudaError_t last_error;

static Device &current() { return devices[current_device]; }

/// What a call gives: `wrong` unless it is right as far as we can tell. As on a device, a fault makes every
/// later call fail; here until cpu_faults_clear().
static cudaError_t call(bool right = true, cudaError_t wrong = cudaErrorInvalidValue) {
    cudaError_t error = cpu_faults() ? cudaErrorLaunchFailure : right ? cudaSuccess : wrong;
    if (error != cudaSuccess) last_error = error;
    return error;
}
template<class T> static cudaError_t give(T *result, T value) {
    if (call() == cudaSuccess) *result = value;
    return call();
}

static Kernel &known(const void *kernel) {
    auto &kernels = current().kernels;
    if (auto at = kernels.find(kernel); at != kernels.end()) return at->second;
    size_t fixed = static_shared(kernel);
    return kernels[kernel] = {fixed, shared_default - std::min(fixed, shared_default)};
}

/// Why a device refuses a launch; "" if it does not.
static std::string refusal(const Launch &l) {
    const dim3 &g = l.grid, &b = l.block;
    const Kernel &k = known(l.kernel);
    auto words = [](const dim3 &d) { return part(d.x) + " x " + part(d.y) + " x " + part(d.z); };
    if (!g.x || !g.y || !g.z || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        return "a grid of " + words(g) + " blocks; allowed: from 1 to 2147483647 x 65535 x 65535";
    if (!b.x || !b.y || !b.z || b.x > max_threads || b.y > max_threads || b.z > 64 ||
        b.x * b.y * b.z > max_threads)
        return "a block of " + words(b) + " threads; allowed: from 1 to 1024, and 64 in z";
    if (k.fixed > shared_default)
        return part(k.fixed) + " bytes of static shared memory; allowed: " + part(shared_default);
    if (l.dynamic_shared > k.max_dynamic)
        return part(l.dynamic_shared) + " bytes of dynamic shared memory; allowed: " + part(k.max_dynamic) +
               " (cudaFuncSetAttribute() allows more)";
    return "";
}

/// Of one side of a copy; `device`: the kind of those whose this side is on the device.
static bool is_right(const void *p, size_t size, cudaMemcpyKind kind, cudaMemcpyKind device) {
    bool on_device = kind == cudaMemcpyDefault ? find_allocation(current(), p) != nullptr
                                               : kind == device || kind == cudaMemcpyDeviceToDevice;
    return on_device ? in_allocation(current(), p, size) : p && !find_allocation(current(), p);
}

void launch(Launch l) {
    static std::mutex one_at_a_time; // whatever the thread, the device and the stream
    std::lock_guard<std::mutex> lock(one_at_a_time);
    l.place = CPU_DEVICE_CALLER;
    // CUDA 13 calls every wrong size an invalid value; older ones called some an invalid configuration.
    const std::string refused = refusal(l);
    if (!refused.empty()) suspect_once(l.place, {FaultKind::launch_refused, source_line(l.place), {refused}});
    if (call(refused.empty()) != cudaSuccess) return;
    Grid grid = {l, current(), next_schedule, 0, nullptr, 0, 0, {}};
    run_on_worker(grid);
    check_canaries(current(), l.place);
}
} // namespace cpu

using namespace cpu;

// ---- Errors, and waiting for what is done already ----
cudaError_t cudaPeekAtLastError(void) { return cpu_faults() ? cudaErrorLaunchFailure : last_error; }
cudaError_t cudaGetLastError(void) {
    cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

static const char *describe(cudaError_t error, bool by_name) {
    switch (error) {
#define CPU_ENTRY(name, value, text) \
    case name: return by_name ? #name : text;
        CPU_DEVICE_ERRORS(CPU_ENTRY)
    }
    return "unrecognized error code";
}
const char *cudaGetErrorName(cudaError_t error) { return describe(error, true); }
const char *cudaGetErrorString(cudaError_t error) { return describe(error, false); }
cudaError_t cudaDeviceSynchronize(void) { return call(); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return call(); }

// ---- The device and kernels ----
static bool exists(int device) { return device >= 0 && device < device_count; }
cudaError_t cudaSetDevice(int device) {
    if (exists(device)) current_device = device;
    return call(exists(device), cudaErrorInvalidDevice);
}
cudaError_t cudaGetDevice(int *device) { return give(device, current_device); }
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int device) {
    if (!exists(device)) return call(false, cudaErrorInvalidDevice);
    switch (attr) {
    case cudaDevAttrMaxGridDimY: return give(value, 65535);
    case cudaDevAttrMultiProcessorCount: return give(value, 1); // stands for nothing
    case cudaDevAttrComputeCapabilityMajor: return give(value, 9);
    case cudaDevAttrComputeCapabilityMinor: return give(value, 0);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return give(value, 228 * 1024);
    default: return call(false);
    }
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device) {
    return exists(device) ? give(prop, {"CPU device"}) : call(false, cudaErrorInvalidDevice);
}
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attr, int value) {
    bool right = attr == cudaFuncAttributeMaxDynamicSharedMemorySize && value >= 0;
    if (!right || size_t(value) + known(kernel).fixed > shared_optin) return call(false);
    return give(&known(kernel).max_dynamic, size_t(value));
}

// ---- Memory ----
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    *available = *total = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
    std::ifstream meminfo("/proc/meminfo");
    std::string key;
    for (size_t kilobytes; meminfo >> key >> kilobytes; meminfo.ignore(80, '\n'))
        if (key == "MemAvailable:") *available = kilobytes * 1024;
    size_t limit, used; // a container may allow less than the machine has
    if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&
        std::ifstream("/sys/fs/cgroup/memory.current") >> used)
        *available = std::min(*available, limit - std::min(limit, used));
    return call();
}
cudaError_t cudaMalloc(void **pointer, size_t size) {
    size_t available, total;
    bool fits = cudaMemGetInfo(&available, &total) == cudaSuccess && size <= available;
    *pointer = size && fits ? allocate(current(), size) : nullptr;
    return call(*pointer || !size, cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void *pointer) {
    return call(!pointer || release(current(), pointer)); // even after a fault: no leak
}
cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
    size_t before = height - 1; // rows
    cudaError_t error = call(!width || !height ||
                             (width <= dpitch && width <= spitch &&
                              is_right(dst, before * dpitch + width, kind, cudaMemcpyHostToDevice) &&
                              is_right(src, before * spitch + width, kind, cudaMemcpyDeviceToHost)));
    for (size_t row = 0; width && row < height && error == cudaSuccess; ++row)
        memmove(static_cast<char *>(dst) + row * dpitch, static_cast<const char *>(src) + row * spitch,
                width);
    return error;
}
cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, cudaMemcpyKind kind) {
    return cudaMemcpy2D(dst, size, src, size, size, 1, kind);
}
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy(dst, src, size, kind);
}
cudaError_t cudaMemset(void *dst, int value, size_t size) {
    cudaError_t error = call(!size || in_allocation(current(), dst, size));
    if (error == cudaSuccess && size) memset(dst, value, size);
    return error;
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t) { return cudaMemset(p, value, n); }

// ---- Streams and events ----
struct CUevent_st {
    std::chrono::steady_clock::time_point time;
    bool recorded;
};
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return give(stream, cudaStream_t()); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return call(); }
cudaError_t cudaEventCreate(cudaEvent_t *event) { return give(event, new CUevent_st()); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, call(); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    if (event) *event = {std::chrono::steady_clock::now(), true};
    return call(event, cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (!start || !end || !start->recorded || !end->recorded)
        return call(false, cudaErrorInvalidResourceHandle);
    return give(milliseconds, std::chrono::duration<float, std::milli>(end->time - start->time).count());
}
