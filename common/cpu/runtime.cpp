/**
 * @file runtime.cpp
 * The CUDA runtime calls, and whether a device would accept a launch. All work is done when a call
 * returns, so there is little to wait for.
 */
#include "block.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>

namespace cpu {
namespace {
cudaError_t last_error;

// As on a device, a fault makes every later call fail; here until cpu_faults_clear().
cudaError_t call(cudaError_t error) {
    if (cpu_faults()) error = cudaErrorLaunchFailure;
    if (error != cudaSuccess) last_error = error;
    return error;
}
/// Runs `action` if the call is right as far as we can tell, or gives `value`.
template<class Action> cudaError_t call(cudaError_t error, Action action) {
    if (call(error) != cudaSuccess) return last_error;
    action();
    return cudaSuccess;
}

template<class T> cudaError_t give(cudaError_t error, T *result, T value) {
    return call(error, [=] { *result = value; });
}

struct Kernel {
    size_t fixed, max_dynamic; ///< shared memory; the second as set by cudaFuncSetAttribute()
};
Kernel &known(const void *kernel) {
    static std::map<const void *, Kernel> kernels;
    if (auto at = kernels.find(kernel); at != kernels.end()) return at->second;
    size_t fixed = static_shared(kernel);
    return kernels[kernel] = {fixed, shared_default - std::min(fixed, shared_default)};
}

// CUDA 13 calls every wrong size an invalid value; older ones called some an invalid configuration.
cudaError_t check(const Launch &l) {
    const dim3 &g = l.grid, &b = l.block;
    if (!l.kernel) return cudaErrorInvalidDeviceFunction;
    if (g.x == 0 || g.y == 0 || g.z == 0 || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        return cudaErrorInvalidValue;
    if (b.x == 0 || b.y == 0 || b.z == 0 || b.x > max_threads || b.y > max_threads || b.z > 64 ||
        b.x * b.y * b.z > max_threads)
        return cudaErrorInvalidValue;
    const Kernel &k = known(l.kernel);
    return k.fixed > shared_default || l.dynamic_shared > k.max_dynamic ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t check_copy(const void *dst, size_t dst_size, const void *src, size_t src_size,
                       cudaMemcpyKind kind) {
    bool any = kind == cudaMemcpyDefault, both = kind == cudaMemcpyDeviceToDevice;
    auto is_right = [](const void *p, size_t size, bool on_device) {
        return on_device ? in_allocation(p, size) : p && !is_device_pointer(p);
    };
    bool to_device = any ? is_device_pointer(dst) : both || kind == cudaMemcpyHostToDevice;
    bool from_device = any ? is_device_pointer(src) : both || kind == cudaMemcpyDeviceToHost;
    return is_right(dst, dst_size, to_device) && is_right(src, src_size, from_device) ? cudaSuccess
                                                                                      : cudaErrorInvalidValue;
}

} // namespace

void launch(Launch l) {
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    l.place = CPU_DEVICE_CALLER;
    if (call(check(l)) != cudaSuccess) return;
    run_on_worker(run_grid, l);
    check_canaries(l.place);
}
} // namespace cpu

struct CUevent_st {
    std::chrono::steady_clock::time_point time;
    bool recorded;
};

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
    case name:                       \
        return by_name ? #name : text;
        CPU_DEVICE_ERRORS(CPU_ENTRY)
    }
    return "unrecognized error code";
}
const char *cudaGetErrorName(cudaError_t error) { return describe(error, true); }
const char *cudaGetErrorString(cudaError_t error) { return describe(error, false); }
cudaError_t cudaDeviceSynchronize(void) { return call(cudaSuccess); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return call(cudaSuccess); }

// ---- The device and kernels ----
cudaError_t cudaGetDeviceCount(int *count) { return give(cudaSuccess, count, 1); }
cudaError_t cudaSetDevice(int device) { return call(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaGetDevice(int *device) { return give(cudaSuccess, device, 0); }
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int device) {
    static const std::map<int, int> facts = {
        {cudaDevAttrMaxGridDimY, 65535},
        {cudaDevAttrMultiProcessorCount, 1}, // stands for nothing
        {cudaDevAttrComputeCapabilityMajor, 9},
        {cudaDevAttrComputeCapabilityMinor, 0},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 * 1024},
    };
    if (device != 0 || !facts.count(attr))
        return call(device != 0 ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    return give(cudaSuccess, value, facts.at(attr));
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device) {
    cudaDeviceProp p = {"CPU device", 0};
    size_t available;
    available_memory(&available, &p.totalGlobalMem);
    return give(device == 0 ? cudaSuccess : cudaErrorInvalidDevice, prop, p);
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    available_memory(available, total);
    return call(cudaSuccess);
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attr, int value) {
    if (attr != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        size_t(value) + known(kernel).fixed > shared_optin)
        return call(cudaErrorInvalidValue);
    return give(cudaSuccess, &known(kernel).max_dynamic, size_t(value));
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, const void *kernel) {
    return give(cudaSuccess, attr, cudaFuncAttributes{known(kernel).fixed});
}

// ---- Memory ----
cudaError_t cudaMalloc(void **pointer, size_t size) {
    *pointer = nullptr;
    if (call(cudaSuccess) != cudaSuccess || size == 0) return last_error;
    *pointer = allocate(size);
    return call(*pointer ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void *pointer) {
    // Even after a fault: whoever cleans up must not leak.
    return call(!pointer || release(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
    if (width == 0 || height == 0) return call(cudaSuccess);
    if (width > dpitch || width > spitch) return call(cudaErrorInvalidValue);
    size_t dst_size = (height - 1) * dpitch + width, src_size = (height - 1) * spitch + width;
    return call(check_copy(dst, dst_size, src, src_size, kind), [=] {
        for (size_t row = 0; row < height; ++row)
            memmove(static_cast<char *>(dst) + row * dpitch, static_cast<const char *>(src) + row * spitch,
                    width);
    });
}
cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, cudaMemcpyKind kind) {
    return cudaMemcpy2D(dst, size, src, size, size, 1, kind);
}
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy(dst, src, size, kind);
}
cudaError_t cudaMemset(void *dst, int value, size_t size) {
    return call(!size || in_allocation(dst, size) ? cudaSuccess : cudaErrorInvalidValue, [=] {
        if (size) memset(dst, value, size);
    });
}
cudaError_t cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t) {
    return cudaMemset(dst, value, size);
}

// ---- Streams and events ----
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return give(cudaSuccess, stream, cudaStream_t()); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return call(cudaSuccess); }
cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return give(cudaSuccess, event, new CUevent_st{{}, false});
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return call(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    return call(event ? cudaSuccess : cudaErrorInvalidResourceHandle, [=] {
        *event = {std::chrono::steady_clock::now(), true};
    });
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return call(
        start && end && start->recorded && end->recorded ? cudaSuccess : cudaErrorInvalidResourceHandle,
        [=] { *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count(); });
}
