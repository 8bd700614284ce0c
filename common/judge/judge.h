/**
 * @file judge.h
 * Fills inputs, computes references and compares, where the data lies.
 *
 * host.c does it in plain loops over host memory, which is also the memory of the CPU device. gpu.cu
 * does it by kernels of its own and by cuBLAS DGEMM, and self_test.c checks it against the loops, at
 * a rectangular size, before it judges anything.
 */
#ifndef OVERLAP_JUDGE_H
#define OVERLAP_JUDGE_H

#include <cuda_runtime_api.h>

#include "judge/bounds.h"
#include "judge/fill.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A matrix in device memory, row-major. A vector is a matrix of one row. */
struct matrix {
    enum element_type type;
    void *at;              /**< the first element */
    size_t rows, cols, ld; /**< ld: elements from one row to the next */
};

/** An output in memory that is wider on all sides, and poisoned there. */
struct output {
    struct matrix matrix;
    void *base;   /**< start of the memory */
    size_t count; /**< elements that the memory holds */
};

/** A product to judge: C should be A times B. */
struct product {
    struct element_types types;
    struct matrix A, B, C;
    double *ref; /**< A B in FP64, in device memory, without padding */
    double *mag; /**< |A| |B| in FP64, likewise */
};

/** What a comparison found. */
struct comparison {
    uint64_t wrong;   /**< elements outside their bound */
    uint64_t first;   /**< row * columns + column of the first of them */
    double max_error; /**< largest |c - ref| / mag; NAN if one of them is not finite */
    double bias;      /**< mean of (c - ref) / mag */
};

/** Largest believable |c - ref|. */
static inline OVERLAP_HD double product_allows(const struct product *p, bool exact, double ref,
                                               double mag) {
    return exact ? 0 : product_bound(p->types, (double)p->A.cols, mag, ref);
}

/** What C should hold where the product is `ref`: where that is exact, it is rounded once. */
static inline OVERLAP_HD double product_wants(const struct product *p, bool exact, double ref) {
    return exact ? element_value(p->C.type, element_round(p->C.type, ref)) : ref;
}

/** What judges, in one place of memory. */
struct judge {
    /** Fills a matrix as fill_element() says; what lies between its rows becomes poison. */
    void (*fill)(const struct matrix *x, const struct fill *fill);
    /** Makes all of an output's memory element_poison(). */
    void (*poison)(const struct output *y);
    /** Computes p->ref and p->mag. */
    void (*reference)(const struct product *p);
    /** Bytes of device memory that reference() needs for itself, while it runs; null: none. */
    size_t (*workspace)(size_t M, size_t N, size_t K);
    /** Compares C with ref, element by element; exact: for equality. */
    void (*compare)(const struct product *p, bool exact, struct comparison *result);
    /** Sum of a vector, in FP64. */
    double (*sum)(const struct matrix *x);
    /**
     * Checks a scan of uint32: y[0] = x[0] and y[i] = y[i-1] + x[i], which no other y fulfils.
     * @return how many elements do not; *first is the first of them.
     */
    uint64_t (*scan)(const struct matrix *x, const struct matrix *y, uint64_t *first);
    /** Elements around the matrix that no longer hold element_poison(). */
    uint64_t (*outside)(const struct output *y);
    /** A digest of the bits of a matrix: another element, or another place, changes it. */
    uint64_t (*digest)(const struct matrix *x);
    /** Whether kernels of this program run on this GPU; null: there are none. */
    cudaError_t (*probe)(void);
    bool device_debugging; /**< built with nvcc -G */
};

/** The judge of this program's device. */
extern const struct judge *const judge;
/** The plain loops, over host memory: the judge of the CPU device. */
extern const struct judge host_judge;

/** Checks `tested` against the plain loops. @return null, or in what they disagree. */
const char *judge_self_test(const struct judge *tested);

#ifdef __cplusplus
}
#endif
#endif
