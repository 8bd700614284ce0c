#include "track/library.h"

#include <stdio.h>

#include <cublas_v2.h>

static cublasHandle_t handle;

const char *library_gemm_name(enum number_type type) {
    return type == TYPE_TF32 ? "cuBLAS TF32" : "cuBLAS FP32";
}

cudaError_t library_gemm(enum number_type type, int M, int N, int K, const float *A, int lda,
                         const float *B, int ldb, float *C, int ldc, cudaStream_t stream) {
    const float one = 1, zero = 0;
    if (handle == NULL && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
        return cudaErrorMemoryAllocation;
    if (M == 0 || N == 0)
        return cudaSuccess;
    cublasSetStream(handle, stream);
    /* Pedantic: FP32 products and sums throughout, no TF32 and no split of an input. Column-major
     * cuBLAS sees the transposes, and C^T = B^T A^T. */
    cublasComputeType_t compute =
        type == TYPE_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F_PEDANTIC;
    cublasStatus_t status =
        cublasGemmEx_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, CUDA_R_32F, ldb, A,
                        CUDA_R_32F, lda, &zero, C, CUDA_R_32F, ldc, compute, CUBLAS_GEMM_DEFAULT);
    return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

void library_version(char *text, size_t size) {
    snprintf(text, size, "cuBLAS %d.%d.%d, CUB of the same toolkit", CUBLAS_VER_MAJOR,
             CUBLAS_VER_MINOR, CUBLAS_VER_PATCH);
}
