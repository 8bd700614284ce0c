/**
 * @file library.h
 * NVIDIA's libraries, called on the same buffers as the steps.
 */
#ifndef OVERLAP_LIBRARY_H
#define OVERLAP_LIBRARY_H

#include <cuda_runtime_api.h>

#include "judge/element.h"

#ifdef __cplusplus
extern "C" {
#endif

/** cuBLAS. */
struct gemm_library {
    /** Such as "cuBLAS FP32"; null if it has nothing for these types. */
    const char *(*name)(struct element_types types);
    /** The arguments of gemm(): true FP32 for FP32, TF32 for TF32. */
    cudaError_t (*run)(struct element_types types, int M, int N, int K, const void *A, int lda, const void *B,
                       int ldb, void *C, int ldc, cudaStream_t stream);
    void (*version)(char *text, size_t size); /**< such as "cuBLAS 13.0.0" */
};

/** CUB: the inclusive scan of n uint32, or the sum of n floats; no other types. Without a workspace, sets *bytes only. */
typedef cudaError_t vector_library_function(bool scan, size_t n, const void *x, void *y, void *workspace,
                                            size_t *bytes, cudaStream_t stream);

/** Null on the CPU device, which has no library. */
extern const struct gemm_library *const gemm_library;
extern vector_library_function *const vector_library;

#ifdef __cplusplus
}
#endif
#endif
