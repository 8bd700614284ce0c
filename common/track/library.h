/**
 * @file library.h
 * NVIDIA's libraries, called on the same buffers as the steps. On the CPU device there are none.
 */
#ifndef OVERLAP_LIBRARY_H
#define OVERLAP_LIBRARY_H

#include <cuda_runtime_api.h>

#include "judge/element.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Such as "cuBLAS FP32"; null if there is none for these types. */
const char *library_gemm_name(struct element_types types);

/** The arguments of gemm(), computed by cuBLAS: true FP32 for FP32, TF32 for TF32. */
cudaError_t library_gemm(struct element_types types, int M, int N, int K, const void *A, int lda,
                         const void *B, int ldb, void *C, int ldc, cudaStream_t stream);

/** "CUB Scan" or "CUB Reduce"; null if there is none. */
const char *library_vector_name(bool scan);

/**
 * The inclusive scan of n uint32, or the sum of n floats, by CUB.
 * @param workspace  null: only sets *bytes to what is needed.
 */
cudaError_t library_vector(bool scan, size_t n, const void *x, void *y, void *workspace,
                           size_t *bytes, cudaStream_t stream);

/** Writes such as "cuBLAS 13.0.0" to `text`; "" where there is none. */
void library_version(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
