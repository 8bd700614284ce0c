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

#include "numbers.h"

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
uint64_t host_outside(const uint32_t *base, size_t words, size_t before, int rows, int cols,
                      int ld);
/**@}*/

#ifdef __cplusplus
}
#endif
#endif
