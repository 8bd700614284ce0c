/**
 * @file runtime.cpp
 * The CUDA runtime calls. All work is done when a call returns, so there is little to wait for.
 */
#include "block.h"
#include <chrono>
#include <cstring>

namespace cpu {

static cudaError_t last_error;

// As on a device, a fault makes every later call fail; here until cpu_faults_clear().
cudaError_t set_last_error(cudaError_t error) {
    if (cpu_faults())
        error = cudaErrorLaunchFailure;
    if (error != cudaSuccess)
        last_error = error;
    return error;
}
void forget_last_error() { last_error = cudaSuccess; }

/// Runs `action` if the call is right as far as we can tell.
template<class Action> static cudaError_t call(cudaError_t error, Action action) {
    if (set_last_error(error) == cudaSuccess) {
        action();
        return cudaSuccess;
    }
    return last_error;
}
static cudaError_t call(cudaError_t error) { return set_last_error(error); }

static cudaError_t check_copy(const void *dst, size_t dst_size, const void *src, size_t src_size,
                              cudaMemcpyKind kind) {
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (unsigned(kind) > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (kind == cudaMemcpyDefault) {
        to_device = is_device_pointer(dst);
        from_device = is_device_pointer(src);
    }
    if (dst_size == 0 || src_size == 0)
        return cudaSuccess;
    if (to_device ? !in_allocation(dst, dst_size) : !dst || is_device_pointer(dst))
        return cudaErrorInvalidValue;
    if (from_device ? !in_allocation(src, src_size) : !src || is_device_pointer(src))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

struct DeviceFact {
    cudaDeviceAttr attr;
    int value;
};
// The limits are those that the device enforces; the figures that mean speed stand for nothing.
static const DeviceFact facts[] = {
    {cudaDevAttrMaxThreadsPerBlock, int(max_threads)},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, 0x7fffffff},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, int(shared_default)},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, int(shared_optin)},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 * 1024},
    {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
    {cudaDevAttrWarpSize, int(warp_size)},
    {cudaDevAttrMaxRegistersPerBlock, 65536},
    {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
    {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
    {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
    {cudaDevAttrMultiProcessorCount, 1},
    {cudaDevAttrClockRate, 1000000},
    {cudaDevAttrMemoryClockRate, 1000000},
    {cudaDevAttrGlobalMemoryBusWidth, 64},
    {cudaDevAttrL2CacheSize, 1 << 20},
    {cudaDevAttrComputeCapabilityMajor, 9},
    {cudaDevAttrComputeCapabilityMinor, 0},
};

static int fact(cudaDeviceAttr attr) {
    for (const DeviceFact &f : facts)
        if (f.attr == attr)
            return f.value;
    return -1;
}

} // namespace cpu

struct CUstream_st {};
struct CUevent_st {
    std::chrono::steady_clock::time_point time;
    bool timed, recorded;
};

using namespace cpu;

// ---- Errors -------------------------------------------------------------------------------------

cudaError_t cudaPeekAtLastError(void) { return cpu_faults() ? cudaErrorLaunchFailure : last_error; }
cudaError_t cudaGetLastError(void) {
    cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

struct ErrorText {
    cudaError_t error;
    const char *name, *text;
};
static const ErrorText &describe(cudaError_t error) {
#define CPU_ENTRY(name, value, text) {name, #name, text},
    static const ErrorText texts[] = {CPU_DEVICE_ERRORS(CPU_ENTRY)};
#undef CPU_ENTRY
    static const ErrorText unknown = {error, "unrecognized error code", "unrecognized error code"};
    for (const ErrorText &t : texts)
        if (t.error == error)
            return t;
    return unknown;
}
const char *cudaGetErrorName(cudaError_t error) { return describe(error).name; }
const char *cudaGetErrorString(cudaError_t error) { return describe(error).text; }

// Whatever these wait for is done already.
cudaError_t cudaDeviceSynchronize(void) { return call(cudaSuccess); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return call(cudaSuccess); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return call(cudaSuccess); }

// ---- The device ---------------------------------------------------------------------------------

static cudaError_t check_device(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
cudaError_t cudaGetDeviceCount(int *count) {
    return call(cudaSuccess, [=] { *count = 1; });
}
cudaError_t cudaSetDevice(int device) { return call(check_device(device)); }
cudaError_t cudaGetDevice(int *device) {
    return call(cudaSuccess, [=] { *device = 0; });
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int device) {
    if (fact(attr) < 0)
        return call(cudaErrorInvalidValue);
    return call(check_device(device), [=] { *value = fact(attr); });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int device) {
    return call(check_device(device), [=] {
        cudaDeviceProp p = {};
        size_t available;
        snprintf(p.name, sizeof p.name, "CPU device");
        available_memory(&available, &p.totalGlobalMem);
        p.sharedMemPerBlock = shared_default;
        p.sharedMemPerBlockOptin = shared_optin;
        p.sharedMemPerMultiprocessor = size_t(fact(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
        p.regsPerBlock = fact(cudaDevAttrMaxRegistersPerBlock);
        p.warpSize = int(warp_size);
        p.maxThreadsPerBlock = int(max_threads);
        for (int axis = 0; axis < 3; ++axis) {
            p.maxThreadsDim[axis] = fact(cudaDeviceAttr(cudaDevAttrMaxBlockDimX + axis));
            p.maxGridSize[axis] = fact(cudaDeviceAttr(cudaDevAttrMaxGridDimX + axis));
        }
        p.major = fact(cudaDevAttrComputeCapabilityMajor);
        p.minor = fact(cudaDevAttrComputeCapabilityMinor);
        p.multiProcessorCount = fact(cudaDevAttrMultiProcessorCount);
        p.maxThreadsPerMultiProcessor = fact(cudaDevAttrMaxThreadsPerMultiProcessor);
        p.l2CacheSize = fact(cudaDevAttrL2CacheSize);
        p.memoryBusWidth = fact(cudaDevAttrGlobalMemoryBusWidth);
        *prop = p;
    });
}
cudaError_t cudaRuntimeGetVersion(int *version) {
    return call(cudaSuccess, [=] { *version = CUDART_VERSION; });
}
cudaError_t cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    return call(cudaSuccess, [=] { available_memory(available, total); });
}

// ---- Memory -------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void **pointer, size_t size) {
    *pointer = nullptr;
    if (set_last_error(cudaSuccess) != cudaSuccess || size == 0)
        return last_error;
    *pointer = allocate(size);
    return call(*pointer ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void *pointer) {
    // Even after a fault: whoever cleans up must not leak.
    return call(!pointer || release(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMallocHost(void **pointer, size_t size) {
    *pointer = malloc(size ? size : 1);
    return call(*pointer ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFreeHost(void *pointer) {
    free(pointer);
    return call(cudaSuccess);
}
cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, cudaMemcpyKind kind) {
    return call(check_copy(dst, size, src, size, kind), [=] {
        if (size)
            memmove(dst, src, size);
    });
}
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy(dst, src, size, kind);
}
cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
    if (width == 0 || height == 0)
        return call(cudaSuccess);
    if (width > dpitch || width > spitch)
        return call(cudaErrorInvalidPitchValue);
    size_t dst_size = (height - 1) * dpitch + width, src_size = (height - 1) * spitch + width;
    return call(check_copy(dst, dst_size, src, src_size, kind), [=] {
        for (size_t row = 0; row < height; ++row)
            memmove(static_cast<char *>(dst) + row * dpitch, static_cast<const char *>(src) + row * spitch,
                    width);
    });
}
cudaError_t cudaMemset(void *dst, int value, size_t size) {
    if (size && !in_allocation(dst, size))
        return call(cudaErrorInvalidValue);
    return call(cudaSuccess, [=] {
        if (size)
            memset(dst, value, size);
    });
}
cudaError_t cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t) {
    return cudaMemset(dst, value, size);
}

// ---- Streams and events -------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return call(cudaSuccess, [=] { *stream = new CUstream_st; });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    delete stream;
    return call(cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    return call(cudaSuccess, [=] { *event = new CUevent_st{{}, !(flags & cudaEventDisableTiming), false}; });
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return call(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    return call(event ? cudaSuccess : cudaErrorInvalidResourceHandle, [=] {
        event->time = std::chrono::steady_clock::now();
        event->recorded = true;
    });
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (!start || !end || !start->recorded || !end->recorded || !start->timed || !end->timed)
        return call(cudaErrorInvalidResourceHandle);
    return call(cudaSuccess, [=] {
        std::chrono::duration<float, std::milli> elapsed = end->time - start->time;
        *milliseconds = elapsed.count();
    });
}
