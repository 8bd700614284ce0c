#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_compat.h"

const char *cuda_explain(cudaError_t error) {
    static char text[384];
    int length = snprintf(text, sizeof text, "%s: ", cudaGetErrorName(error));
    char *rest = text + length;
    const size_t size = sizeof text - (size_t)length;
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion ||
        error == cudaErrorInvalidDeviceFunction) {
        int device = 0, major = 0, minor = 0;
        bool takes_ptx = error != cudaErrorUnsupportedPtxVersion;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
        if (gpu_architecture_missing(OVERLAP_ARCHITECTURES, major, minor, takes_ptx, rest, size))
            return text;
        snprintf(rest, size,
                 "the step is not for sm_%d%d (see steps/steps.list); to leave it out: "
                 "cmake -S . -B build -DCMAKE_CUDA_ARCHITECTURES=%d%d",
                 major, minor, major, minor);
    } else {
        snprintf(rest, size, "%s", cudaGetErrorString(error));
    }
    return text;
}

void cuda_check(cudaError_t error, const char *call, const char *file, int line) {
    if (error == cudaSuccess)
        return;
    const char *slash = strrchr(file, '/');
    fprintf(stderr, "%s:%d: %s: %s\n", slash != NULL ? slash + 1 : file, line, call,
            cuda_explain(error));
    exit(EXIT_FAULT);
}
