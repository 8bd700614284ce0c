/* The CPU device has no library to compare with. */
#include "track/library.h"

#include <stddef.h>

const char *library_gemm_name(enum number_type type) {
    (void)type;
    return NULL;
}

cudaError_t library_gemm(enum number_type type, int M, int N, int K, const float *A, int lda,
                         const float *B, int ldb, float *C, int ldc, cudaStream_t stream) {
    (void)type, (void)M, (void)N, (void)K, (void)A, (void)lda, (void)B, (void)ldb, (void)C,
        (void)ldc;
    (void)stream;
    return cudaErrorNotSupported;
}

const char *library_vector_name(int scan) {
    (void)scan;
    return NULL;
}

cudaError_t library_vector(int scan, size_t n, const void *x, void *y, void *workspace,
                           size_t *bytes, cudaStream_t stream) {
    (void)scan, (void)n, (void)x, (void)y, (void)workspace, (void)bytes, (void)stream;
    return cudaErrorNotSupported;
}

void library_version(char *text, size_t size) {
    if (size > 0)
        text[0] = '\0';
}
