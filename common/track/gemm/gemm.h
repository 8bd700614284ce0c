/**
 * @file gemm.h
 * The contract of a GEMM step: what its kernel.cu defines and its main.c calls.
 *
 * Every step of the track defines `gemm` under this one name. The build renames it to
 * `gemm_NN_name`, so that a step and the step it builds on can be linked into one program and
 * timed in the same run.
 */
#ifndef OVERLAP_GEMM_H
#define OVERLAP_GEMM_H

#include <cuda_runtime_api.h>

#include "../code_path.h"

/* The elements of A and B, and of C: FP32 unless the build says otherwise, as steps.list does. */
#if defined(GEMM_IN_BF16) || defined(GEMM_OUT_BF16)
#include <cuda_bf16.h>
#endif
#if defined(GEMM_IN_F16) || defined(GEMM_OUT_F16)
#include <cuda_fp16.h>
#endif
#if defined(GEMM_IN_U32) || defined(GEMM_OUT_U32)
#error "gemm.h: no GEMM of u32; allowed: f32, tf32, bf16, f16"
#endif
#ifdef GEMM_IN_BF16
typedef __nv_bfloat16 gemm_in;
#elif defined(GEMM_IN_F16)
typedef __half gemm_in;
#else
typedef float gemm_in;
#endif
#ifdef GEMM_OUT_BF16
typedef __nv_bfloat16 gemm_out;
#elif defined(GEMM_OUT_F16)
typedef __half gemm_out;
#else
typedef float gemm_out;
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * C (M x N) = A (M x K) * B (K x N), all row-major, in device memory. C is not read.
 *
 * K = 0 sets C to zero. M = 0 or N = 0 does nothing and succeeds.
 *
 * @param M,N,K   rows of C, columns of C, inner dimension; 0 to #SHAPE_SIZE_MAX.
 * @param A,B,C   first element; aligned to the size of an element at least. No overlap.
 * @param lda     elements from one row of A to the next, at least K.
 * @param ldb     the same of B, at least N.
 * @param ldc     the same of C, at least N. Elements beyond column N are not written.
 * @param stream  where the kernel is enqueued. The call does not wait for it.
 * @return cudaSuccess, or why the launch was refused.
 */
cudaError_t gemm(int M, int N, int K, const gemm_in *A, int lda, const gemm_in *B, int ldb, gemm_out *C,
                 int ldc, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
