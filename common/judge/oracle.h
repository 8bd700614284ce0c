/**
 * @file oracle.h
 * Fills inputs, computes references and compares, where the data lies.
 *
 * There are two implementations. oracle_host.c does it in plain loops over host memory; the CPU
 * device's memory is host memory. oracle_gpu.cu does it by kernels of its own and by cuBLAS DGEMM,
 * and is checked against the loops, at a rectangular size, before it judges anything.
 */
#ifndef OVERLAP_ORACLE_H
#define OVERLAP_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "judge/numbers.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What every 4-byte word of an output, and of what lies around it, holds before a run: a NaN. */
#define ORACLE_POISON UINT32_C(0x7fc0dead)

/** A product to judge. A, B and C in device memory; ref and mag too, M x N, without padding. */
struct product {
    int M, N, K;
    int lda, ldb, ldc;
    const float *A, *B;
    float *C;
    double *ref; /**< A * B in FP64 */
    double *mag; /**< |A| * |B| in FP64 */
};

/** What a comparison found. */
struct comparison {
    uint64_t wrong;   /**< elements outside their bound */
    uint64_t first;   /**< row * N + column of the first of them */
    double max_error; /**< largest |c - ref| / mag; NAN if one of them is not finite */
    double bias;      /**< mean of (c - ref) / mag */
};

/** Fills a rows x cols matrix as number_fill() says; what lies between rows becomes NaN. */
void oracle_fill(float *x, int rows, int cols, int ld, enum fill_mode mode, int range,
                 uint64_t seed);

/** Sets `words` words to #ORACLE_POISON. */
void oracle_poison(uint32_t *base, size_t words);

/** Computes p->ref and p->mag. */
void oracle_reference(const struct product *p);

/**
 * Compares C with ref, element by element.
 * @param exact  1: equality; 0: within gemm_bound() of `type`.
 */
void oracle_compare(const struct product *p, enum number_type type, int exact,
                    struct comparison *result);

/**
 * Counts the words that no longer hold #ORACLE_POISON among the `words` at `base`, leaving out the
 * rows x cols matrix with leading dimension `ld` that starts `before` words behind `base`.
 */
uint64_t oracle_outside(const uint32_t *base, size_t words, size_t before, int rows, int cols,
                        int ld);

/** A digest of the bits of a rows x cols matrix: another element, or another place, changes it. */
uint64_t oracle_digest(const float *x, int rows, int cols, int ld);

/** What the input of a reduction or scan holds. */
enum vector_fill {
    VECTOR_INTEGERS, /**< floats, integers whose sums of magnitudes stay within 2^24, so exact */
    VECTOR_ONES,     /**< floats, all 1 */
    VECTOR_REALS,    /**< floats, uniform in [-1, 1) */
    VECTOR_NAN,      /**< the same, and one NaN */
    VECTOR_BITS      /**< uint32, 32 random bits */
};

/** Element i of n of a vector, as its bits. */
static inline OVERLAP_HD uint32_t vector_element(enum vector_fill fill, uint64_t seed, uint64_t n,
                                                 uint64_t i) {
    union {
        float f;
        uint32_t u;
    } x;
    uint64_t h = number_hash(seed, 0, i);
    if (fill == VECTOR_BITS)
        return (uint32_t)(h >> 32);
    uint64_t one_in =
        (n >> 24) + 2; /* of long vectors, only one element in so many is not 0, and both ends */
    if (fill == VECTOR_INTEGERS && n <= (1 << 21))
        x.f = (float)((int)((h >> 32) % 17) - 8);
    else if (fill == VECTOR_INTEGERS)
        x.f = i < 64 || i + 64 >= n || (h >> 32) % one_in == 0 ? 1.0f : 0.0f;
    else if (fill == VECTOR_ONES)
        x.f = 1;
    else
        x.f = number_fill(FILL_REAL, 0, seed, 0, i);
    if (fill == VECTOR_NAN && i == number_hash(seed, 1, n) % n)
        x.u = 0x7fc00000;
    return x.u;
}

/** Fills the n words at `x` with vector_element(). */
void oracle_fill_vector(uint32_t *x, size_t n, enum vector_fill fill, uint64_t seed);

/** Sum in FP64 of the n floats at `x`. */
double oracle_sum(const uint32_t *x, size_t n);

/**
 * Checks a scan: y[0] = x[0] and y[i] = y[i-1] + x[i] modulo 2^32, which no other y fulfils.
 * @return how many elements do not; *first is the first of them.
 */
uint64_t oracle_check_scan(const uint32_t *x, const uint32_t *y, size_t n, uint64_t *first);

/** Bytes of device memory that oracle_reference() needs for itself, while it runs. */
size_t oracle_workspace(int M, int N, int K);

/** Whether the oracle's own kernels run on this GPU. */
cudaError_t oracle_probe(void);

/** Whether this program was built with device debugging (nvcc -G). */
int oracle_has_device_debugging(void);

/** Checks the oracle against the loops of oracle_host.c, and ends the program if they disagree. */
void oracle_check(void);

/** @name The plain loops, over host memory. */
/**@{*/
void host_fill(float *x, int rows, int cols, int ld, enum fill_mode mode, int range, uint64_t seed);
void host_reference(const struct product *p);
void host_compare(const struct product *p, enum number_type type, int exact,
                  struct comparison *result);
void host_fill_vector(uint32_t *x, size_t n, enum vector_fill fill, uint64_t seed);
double host_sum(const uint32_t *x, size_t n);
uint64_t host_check_scan(const uint32_t *x, const uint32_t *y, size_t n, uint64_t *first);
uint64_t host_outside(const uint32_t *base, size_t words, size_t before, int rows, int cols,
                      int ld);
uint64_t host_digest(const float *x, int rows, int cols, int ld);
/**@}*/

#ifdef __cplusplus
}
#endif
#endif
