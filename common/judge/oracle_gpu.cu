/* The oracle of the GPU: kernels of its own for filling and comparing, cuBLAS DGEMM for the reference. */
#include "judge/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cublas_v2.h>

#include "device/device.h"

enum { THREADS = 256, BLOCKS = 132 * 16 };

/* Every kernel here goes over `count` items with a grid of any size. */
#define FOR_EACH(i, count)                                                   \
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < (count); \
         i += (size_t)gridDim.x * THREADS)

static __global__ void fill_kernel(float *x, size_t count, int rows, int cols, int ld,
                                   enum fill_mode mode, int range, uint64_t seed) {
    FOR_EACH (i, count) {
        size_t row = i / ld, col = i % ld;
        x[i] = row < (size_t)rows && col < (size_t)cols ? number_fill(mode, range, seed, row, col)
                                                        : NAN;
    }
}

static __global__ void poison_kernel(uint32_t *base, size_t words) {
    FOR_EACH (i, words)
        base[i] = ORACLE_POISON;
}

/* The cols x rows column-major (rows x cols row-major) matrix x in FP64, without padding. */
static __global__ void widen_kernel(double *wide, const float *x, size_t count, int cols, int ld,
                                    int absolute) {
    FOR_EACH (i, count) {
        double v = x[i / cols * (size_t)ld + i % cols];
        wide[i] = absolute ? fabs(v) : v;
    }
}

/* max_error is compared as bits: the bits of doubles from 0 up, NaN last, are in order. */
static __global__ void compare_kernel(struct product p, enum number_type type, int exact,
                                      unsigned long long *wrong, unsigned long long *first,
                                      unsigned long long *max_error, double *sum) {
    double mine = 0, largest = 0;
    FOR_EACH (i, (size_t)p.M * p.N) {
        float c = p.C[i / p.N * (size_t)p.ldc + i % p.N];
        double error = p.mag[i] > 0 ? (c - p.ref[i]) / p.mag[i] : 0;
        if (!number_close(c, p.ref[i], exact ? 0 : gemm_bound(type, p.K, p.mag[i]))) {
            atomicAdd(wrong, 1ull);
            atomicMin(first, (unsigned long long)i);
        }
        largest = fabs(error) <= largest ? largest : isnan(largest) ? largest : fabs(error);
        mine += error;
    }
    atomicMax(max_error, (unsigned long long)__double_as_longlong(fabs(largest)));
    atomicAdd(sum, mine);
}

static __global__ void outside_kernel(const uint32_t *base, size_t words, size_t before, int rows,
                                      int cols, int ld, unsigned long long *changed) {
    FOR_EACH (i, words) {
        bool inside =
            i >= before && (i - before) / ld < (size_t)rows && (i - before) % ld < (size_t)cols;
        if (!inside && base[i] != ORACLE_POISON)
            atomicAdd(changed, 1ull);
    }
}

static __global__ void digest_kernel(const float *x, size_t count, int cols, int ld,
                                     unsigned long long *digest) {
    unsigned long long mine = 0;
    FOR_EACH (i, count) {
        size_t row = i / cols, col = i % cols;
        mine += number_hash(__float_as_uint(x[row * ld + col]), row, col);
    }
    atomicAdd(digest, mine);
}

static __global__ void fill_vector_kernel(uint32_t *x, size_t n, enum vector_fill fill,
                                          uint64_t seed) {
    FOR_EACH (i, n)
        x[i] = vector_element(fill, seed, n, i);
}

static __global__ void sum_kernel(const float *x, size_t n, double *sum) {
    double mine = 0;
    FOR_EACH (i, n)
        mine += x[i];
    atomicAdd(sum, mine);
}

static __global__ void check_scan_kernel(const uint32_t *x, const uint32_t *y, size_t n,
                                         unsigned long long *wrong, unsigned long long *first) {
    FOR_EACH (i, n) {
        if (y[i] != (i > 0 ? y[i - 1] : 0) + x[i]) {
            atomicAdd(wrong, 1ull);
            atomicMin(first, (unsigned long long)i);
        }
    }
}

extern "C" cudaError_t oracle_probe(void) {
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, poison_kernel);
}

extern "C" int oracle_has_device_debugging(void) {
#ifdef __CUDACC_DEBUG__
    return 1;
#else
    return 0;
#endif
}

extern "C" void oracle_fill(float *x, int rows, int cols, int ld, enum fill_mode mode, int range,
                            uint64_t seed) {
    if (rows == 0 || cols == 0)
        return;
    size_t count = (size_t)(rows - 1) * ld + cols;
    fill_kernel<<<BLOCKS, THREADS>>>(x, count, rows, cols, ld, mode, range, seed);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
}

extern "C" void oracle_poison(uint32_t *base, size_t words) {
    poison_kernel<<<BLOCKS, THREADS>>>(base, words);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
}

static void check_cublas(cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return;
    fprintf(stderr, "cuBLAS DGEMM, which makes the reference: %s\n", cublasGetStatusString(status));
    exit(1);
}

extern "C" size_t oracle_workspace(int M, int N, int K) {
    return ((size_t)M * K + (size_t)K * N) * sizeof(double);
}

extern "C" void oracle_reference(const struct product *p) {
    size_t a_count = (size_t)p->M * p->K, b_count = (size_t)p->K * p->N;
    if (p->M == 0 || p->N == 0)
        return;
    if (p->K == 0) {
        CUDA_CHECK(cudaMemset(p->ref, 0, (size_t)p->M * p->N * sizeof(double)));
        CUDA_CHECK(cudaMemset(p->mag, 0, (size_t)p->M * p->N * sizeof(double)));
        return;
    }
    double *a, *b;
    const double one = 1, zero = 0;
    cublasHandle_t handle;
    check_cublas(cublasCreate(&handle));
    CUDA_CHECK(cudaMalloc((void **)&a, a_count * sizeof(double)));
    CUDA_CHECK(cudaMalloc((void **)&b, b_count * sizeof(double)));
    for (int absolute = 0; absolute <= 1; ++absolute) {
        widen_kernel<<<BLOCKS, THREADS>>>(a, p->A, a_count, p->K, p->lda, absolute);
        widen_kernel<<<BLOCKS, THREADS>>>(b, p->B, b_count, p->N, p->ldb, absolute);
        CUDA_CHECK(cudaGetLastError());
        /* cuBLAS is column-major: it sees the transposes, and C^T = B^T A^T. */
        check_cublas(cublasDgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, p->N, p->M, p->K, &one, b,
                                    p->N, a, p->K, &zero, absolute ? p->mag : p->ref, p->N));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    cublasDestroy(handle);
}

extern "C" void oracle_compare(const struct product *p, enum number_type type, int exact,
                               struct comparison *result) {
    unsigned long long start[4] = {0, ~0ull, 0, 0}, end[4], *device;
    CUDA_CHECK(cudaMalloc((void **)&device, sizeof start));
    CUDA_CHECK(cudaMemcpy(device, start, sizeof start, cudaMemcpyHostToDevice));
    compare_kernel<<<BLOCKS, THREADS>>>(*p, type, exact, device, device + 1, device + 2,
                                        (double *)(device + 3));
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(end, device, sizeof end, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    double sum;
    result->wrong = end[0];
    result->first = end[0] > 0 ? end[1] : 0;
    memcpy(&result->max_error, &end[2], sizeof(double));
    memcpy(&sum, &end[3], sizeof sum);
    result->bias = p->M > 0 && p->N > 0 ? sum / ((double)p->M * p->N) : 0;
}

extern "C" uint64_t oracle_outside(const uint32_t *base, size_t words, size_t before, int rows,
                                   int cols, int ld) {
    unsigned long long *device, changed;
    CUDA_CHECK(cudaMalloc((void **)&device, sizeof *device));
    CUDA_CHECK(cudaMemset(device, 0, sizeof *device));
    outside_kernel<<<BLOCKS, THREADS>>>(base, words, before, rows, cols, ld, device);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&changed, device, sizeof changed, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    return changed;
}

extern "C" uint64_t oracle_digest(const float *x, int rows, int cols, int ld) {
    unsigned long long *device, digest;
    CUDA_CHECK(cudaMalloc((void **)&device, sizeof *device));
    CUDA_CHECK(cudaMemset(device, 0, sizeof *device));
    digest_kernel<<<BLOCKS, THREADS>>>(x, (size_t)rows * cols, cols, ld, device);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&digest, device, sizeof digest, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    return digest;
}

extern "C" void oracle_fill_vector(uint32_t *x, size_t n, enum vector_fill fill, uint64_t seed) {
    fill_vector_kernel<<<BLOCKS, THREADS>>>(x, n, fill, seed);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
}

extern "C" double oracle_sum(const uint32_t *x, size_t n) {
    double *device, sum;
    CUDA_CHECK(cudaMalloc((void **)&device, sizeof *device));
    CUDA_CHECK(cudaMemset(device, 0, sizeof *device));
    sum_kernel<<<BLOCKS, THREADS>>>((const float *)x, n, device);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&sum, device, sizeof sum, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    return sum;
}

extern "C" uint64_t oracle_check_scan(const uint32_t *x, const uint32_t *y, size_t n,
                                      uint64_t *first) {
    unsigned long long start[2] = {0, ~0ull}, end[2], *device;
    CUDA_CHECK(cudaMalloc((void **)&device, sizeof start));
    CUDA_CHECK(cudaMemcpy(device, start, sizeof start, cudaMemcpyHostToDevice));
    check_scan_kernel<<<BLOCKS, THREADS>>>(x, y, n, device, device + 1);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(end, device, sizeof end, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    if (end[0] > 0)
        *first = end[1];
    return end[0];
}

static void *on_device(size_t bytes) {
    void *p;
    CUDA_CHECK(cudaMalloc(&p, bytes));
    return p;
}

static void *on_host(size_t bytes) {
    void *p = calloc(bytes, 1);
    if (p == NULL) {
        fprintf(stderr, "oracle: no host memory for %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

/* Ends the program if `same` is false. */
static void require(bool same, const char *what) {
    if (same)
        return;
    fprintf(stderr, "the GPU oracle disagrees with the plain loops: %s\n", what);
    exit(1);
}

static void check_product(void) {
    enum { M = 160, N = 96, K = 224, LDA = K + 8, LDB = N + 3, LDC = N + 5, BEFORE = 7, AFTER = 9 };
    const size_t a_bytes = ((M - 1) * LDA + K) * sizeof(float),
                 b_bytes = ((K - 1) * LDB + N) * sizeof(float), c_words = BEFORE + M * LDC + AFTER,
                 wide_bytes = (size_t)M * N * sizeof(double);
    float *A = (float *)on_host(a_bytes), *B = (float *)on_host(b_bytes),
          *back = (float *)on_host(a_bytes);
    uint32_t *C = (uint32_t *)on_host(c_words * 4), *c_back = (uint32_t *)on_device(c_words * 4);
    struct product host = {M,
                           N,
                           K,
                           LDA,
                           LDB,
                           LDC,
                           A,
                           B,
                           (float *)C + BEFORE,
                           (double *)on_host(wide_bytes),
                           (double *)on_host(wide_bytes)};
    struct product gpu = {M,
                          N,
                          K,
                          LDA,
                          LDB,
                          LDC,
                          (float *)on_device(a_bytes),
                          (float *)on_device(b_bytes),
                          (float *)c_back + BEFORE,
                          (double *)on_device(wide_bytes),
                          (double *)on_device(wide_bytes)};
    double *wide = (double *)on_host(wide_bytes);
    struct comparison on_cpu, on_gpu;

    host_fill(A, M, K, LDA, FILL_REAL, 0, 5);
    host_fill(B, K, N, LDB, FILL_EXACT, 3, 6);
    oracle_fill((float *)gpu.A, M, K, LDA, FILL_REAL, 0, 5);
    oracle_fill((float *)gpu.B, K, N, LDB, FILL_EXACT, 3, 6);
    CUDA_CHECK(cudaMemcpy(back, gpu.A, a_bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < a_bytes / sizeof(float); ++i)
        require(back[i] == A[i] || (back[i] != back[i] && A[i] != A[i]), "inputs of FILL_REAL");
    CUDA_CHECK(cudaMemcpy(back, gpu.B, b_bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < b_bytes / sizeof(float); ++i)
        require(back[i] == B[i] || (back[i] != back[i] && B[i] != B[i]), "inputs of FILL_EXACT");

    host_reference(&host);
    oracle_reference(&gpu);
    CUDA_CHECK(cudaMemcpy(wide, gpu.ref, wide_bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * N; ++i)
        require(fabs(wide[i] - host.ref[i]) <= K * 0x1p-52 * host.mag[i], "A * B");
    CUDA_CHECK(cudaMemcpy(wide, gpu.mag, wide_bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * N; ++i)
        require(fabs(wide[i] - host.mag[i]) <= K * 0x1p-52 * host.mag[i], "|A| * |B|");

    /* A rounded result, then one with a wrong element, a NaN and a word written outside. */
    for (size_t w = 0; w < c_words; ++w)
        C[w] = ORACLE_POISON;
    for (int i = 0; i < M * N; ++i)
        host.C[i / N * LDC + i % N] = (float)host.ref[i];
    for (int planted = 0; planted <= 1; ++planted) {
        if (planted) {
            host.C[3 * LDC + 4] += 1.0f;
            host.C[9 * LDC + 1] = NAN;
            C[BEFORE + N] = 0;
        }
        CUDA_CHECK(cudaMemcpy(c_back, C, c_words * 4, cudaMemcpyHostToDevice));
        host_compare(&host, TYPE_F32, 0, &on_cpu);
        oracle_compare(&gpu, TYPE_F32, 0, &on_gpu);
        require(on_cpu.wrong == (planted ? 2u : 0u) && on_gpu.wrong == on_cpu.wrong,
                "how many elements are wrong");
        require(on_gpu.first == on_cpu.first, "which element is the first wrong one");
        require(isnan(on_gpu.max_error) == isnan(on_cpu.max_error) &&
                    isnan(on_cpu.max_error) == planted,
                "the largest error");
        require(host_outside(C, c_words, BEFORE, M, N, LDC) == (uint64_t)planted &&
                    oracle_outside(c_back, c_words, BEFORE, M, N, LDC) == (uint64_t)planted,
                "words written outside");
        require(host_digest(host.C, M, N, LDC) == oracle_digest(gpu.C, M, N, LDC),
                "the digest of a matrix");
    }
    void *device[] = {(void *)gpu.A, (void *)gpu.B, c_back, gpu.ref, gpu.mag};
    void *memory[] = {A, B, back, C, host.ref, host.mag, wide};
    for (size_t i = 0; i < sizeof device / sizeof *device; ++i)
        CUDA_CHECK(cudaFree(device[i]));
    for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i)
        free(memory[i]);
}

static void check_vectors(void) {
    const size_t n = 100003, bytes = n * sizeof(uint32_t);
    uint32_t *x = (uint32_t *)on_host(bytes), *y = (uint32_t *)on_host(bytes),
             *back = (uint32_t *)on_host(bytes);
    uint32_t *x_gpu = (uint32_t *)on_device(bytes), *y_gpu = (uint32_t *)on_device(bytes);
    uint64_t first_host = 0, first_gpu = 0;
    for (int fill = VECTOR_INTEGERS; fill <= VECTOR_BITS; ++fill) {
        host_fill_vector(x, n, (enum vector_fill)fill, 7);
        oracle_fill_vector(x_gpu, n, (enum vector_fill)fill, 7);
        CUDA_CHECK(cudaMemcpy(back, x_gpu, bytes, cudaMemcpyDeviceToHost));
        require(memcmp(x, back, bytes) == 0, "inputs of a vector");
        if (fill == VECTOR_NAN)
            require(isnan(host_sum(x, n)) && isnan(oracle_sum(x_gpu, n)), "a sum with a NaN");
        else if (fill != VECTOR_BITS)
            require(fabs(host_sum(x, n) - oracle_sum(x_gpu, n)) < 1e-9, "a sum");
    }
    for (size_t i = 0; i < n; ++i)
        y[i] = x[i] + (i > 0 ? y[i - 1] : 0);
    for (int planted = 0; planted <= 1; ++planted) {
        if (planted)
            y[77777] ^= 1; /* it and its successor are wrong now */
        CUDA_CHECK(cudaMemcpy(y_gpu, y, bytes, cudaMemcpyHostToDevice));
        require(host_check_scan(x, y, n, &first_host) == 2u * planted &&
                    oracle_check_scan(x_gpu, y_gpu, n, &first_gpu) == 2u * planted &&
                    first_host == first_gpu,
                "which elements of a scan are wrong");
    }
    CUDA_CHECK(cudaFree(x_gpu));
    CUDA_CHECK(cudaFree(y_gpu));
    free(x);
    free(y);
    free(back);
}

extern "C" void oracle_check(void) {
    check_product();
    check_vectors();
}
