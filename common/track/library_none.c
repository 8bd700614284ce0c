/* The CPU device has no library to compare with, and none is called. */
#include "track/library.h"

const char *library_gemm_name(struct element_types types) {
    (void)types;
    return NULL;
}

const char *library_vector_name(bool scan) {
    (void)scan;
    return NULL;
}

cudaError_t library_gemm(struct element_types types, int M, int N, int K, const void *A, int lda,
                         const void *B, int ldb, void *C, int ldc, cudaStream_t stream) {
    (void)types, (void)M, (void)N, (void)K, (void)A, (void)lda, (void)B, (void)ldb, (void)C;
    (void)ldc, (void)stream;
    return cudaErrorNotSupported;
}

cudaError_t library_vector(bool scan, size_t n, const void *x, void *y, void *workspace,
                           size_t *bytes, cudaStream_t stream) {
    (void)scan, (void)n, (void)x, (void)y, (void)workspace, (void)bytes, (void)stream;
    return cudaErrorNotSupported;
}

void library_version(char *text, size_t size) {
    if (size > 0)
        text[0] = '\0';
}
