/**
 * @file library.h
 * NVIDIA's libraries, called on the same buffers as the steps.
 */
#ifndef OVERLAP_LIBRARY_H
#define OVERLAP_LIBRARY_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#include "judge/numbers.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Such as "cuBLAS FP32"; null where there is no library: on the CPU device. */
const char *library_gemm_name(enum number_type type);

/** The arguments of gemm(), computed by cuBLAS: true FP32 for #TYPE_F32, TF32 for #TYPE_TF32. */
cudaError_t library_gemm(enum number_type type, int M, int N, int K, const float *A, int lda,
                         const float *B, int ldb, float *C, int ldc, cudaStream_t stream);

/** "CUB Scan" or "CUB Reduce"; null on the CPU device. */
const char *library_vector_name(int scan);

/**
 * The inclusive scan of n uint32, or the sum of n floats, by CUB.
 * @param workspace  null: only sets *bytes to what is needed.
 */
cudaError_t library_vector(int scan, size_t n, const void *x, void *y, void *workspace,
                           size_t *bytes, cudaStream_t stream);

/** Writes such as "cuBLAS 13.0.0" to `text`; "" on the CPU device. */
void library_version(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
