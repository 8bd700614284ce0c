/** @file cuda_runtime_api.h Stand-in for the CUDA header of this name, for C and C++: the part of the runtime
 * that this repository uses, with CUDA's names and values. A call has done its work when it returns. */
#pragma once
#include <stddef.h>
#include "vector_types.h"

#ifdef __cplusplus
#define CPU_DEFAULT(value) = value
extern "C" {
#else
#define CPU_DEFAULT(value)
#endif

/** X(name, value, text) for every error known here. */
#define CPU_DEVICE_ERRORS(X)                                                                 \
    X(cudaSuccess, 0, "no error")                                                            \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                          \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                         \
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                         \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                 \
    X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for the device")   \
    X(cudaErrorUnsupportedPtxVersion, 222, "PTX was compiled with an unsupported toolchain") \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                        \
    X(cudaErrorLaunchFailure, 719, "unspecified launch failure")

#define CPU_ENUMERATOR(name, value, text) name = value,
typedef enum cudaError { CPU_DEVICE_ERRORS(CPU_ENUMERATOR) } cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaDeviceAttr {
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81
};
struct cudaDeviceProp {
    char name[256];
};
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attr, int value);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaMalloc(void **pointer, size_t size);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream CPU_DEFAULT(0));
cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemset(void *dst, int value, size_t size);
cudaError_t cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t stream CPU_DEFAULT(0));
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream CPU_DEFAULT(0));
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

#ifdef __cplusplus
}
#endif
