/* cuBLAS's side of library.h. */
#include <stdio.h>

#include <cublas_v2.h>

#include "track/library.h"

/* What cuBLAS computes, by the type of the inputs. Pedantic: FP32 products and sums throughout, no TF32
 * and no split of an input. */
static const struct {
    const char *name;
    cublasComputeType_t compute;
    cudaDataType_t in_out;
} rows[] = {
    [ELEMENT_F32] = {"cuBLAS FP32", CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F},
    [ELEMENT_TF32] = {"cuBLAS TF32", CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F},
    [ELEMENT_BF16] = {"cuBLAS BF16", CUBLAS_COMPUTE_32F, CUDA_R_16BF},
    [ELEMENT_F16] = {"cuBLAS FP16", CUBLAS_COMPUTE_32F, CUDA_R_16F},
};

static cublasHandle_t handle;

static const char *name(struct element_types types) {
    bool known =
        types.in <= ELEMENT_F16 && types.acc == ELEMENT_F32 && types.out == element_storage(types.in);
    return known ? rows[types.in].name : NULL;
}

static cudaError_t run(struct element_types types, int M, int N, int K, const void *A, int lda, const void *B,
                       int ldb, void *C, int ldc, cudaStream_t stream) {
    const float one = 1, zero = 0;
    if (handle == NULL && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return cudaErrorMemoryAllocation;
    if (M == 0 || N == 0) return cudaSuccess;
    cublasSetStream(handle, stream);
    /* Column-major cuBLAS sees the transposes, and C^T = B^T A^T. */
    const cudaDataType_t type = rows[types.in].in_out;
    cublasStatus_t status =
        cublasGemmEx_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, type, ldb, A, type, lda, &zero, C,
                        type, ldc, rows[types.in].compute, CUBLAS_GEMM_DEFAULT);
    return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

static void version(char *text, size_t size) {
    snprintf(text, size, "cuBLAS %d.%d.%d, CUB of the same toolkit", CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR,
             CUBLAS_VER_PATCH);
}

static const struct gemm_library cublas = {name, run, version};
const struct gemm_library *const gemm_library = &cublas;
