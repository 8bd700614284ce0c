/**
 * @file judge.h
 * Fills inputs, computes references and compares, where the data lies.
 *
 * What is done to each element stands in task.h, for host and device code alike. host.c does it in
 * plain loops over host memory, which is also the memory of the CPU device. gpu.cu does it in a kernel,
 * and has its reference from cuBLAS DGEMM; self_test.c checks it against the loops, at a rectangular
 * size, before it judges anything.
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

/** Elements from the first to the last, with what lies between the rows. */
static inline size_t matrix_extent(const struct matrix *x) {
    return x->rows > 0 && x->cols > 0 ? (x->rows - 1) * x->ld + x->cols : 0;
}

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

/** What was found out about a number of elements. */
struct found {
    unsigned long long count; /**< of wrong ones; or a digest */
    unsigned long long first; /**< the first of them: row * columns + column */
    double largest;           /**< largest error relative to mag; NAN if one is not finite */
    double sum;               /**< of these errors with their signs; or of the elements */
};

/** What C should hold where the product is `ref`: where that is exact, it is rounded once. */
static inline OVERLAP_HD double product_wants(const struct product *p, bool exact, double ref) {
    return exact ? element_value(p->C.type, element_round(p->C.type, ref)) : ref;
}

/** Largest believable difference from that. */
static inline OVERLAP_HD double product_allows(const struct product *p, bool exact, double ref,
                                               double mag) {
    return exact ? 0 : product_bound(p->types, (double)p->A.cols, mag, ref);
}

/** Fills a matrix as fill_element() says; what lies between its rows becomes poison. */
void judge_fill(const struct matrix *x, const struct fill *fill);
/** Makes all of an output's memory element_poison(). */
void judge_poison(const struct output *y);
/** Compares C with ref, element by element; exact: for equality. */
struct found judge_compare(const struct product *p, bool exact);
/** Sum of a vector, in FP64. */
double judge_sum(const struct matrix *x);
/** Checks a scan of uint32: y[0] = x[0] and y[i] = y[i-1] + x[i], which no other y fulfils. */
struct found judge_scan(const struct matrix *x, const struct matrix *y);
/** How many elements around the matrix no longer hold element_poison(). */
uint64_t judge_outside(const struct output *y);
/** A digest of the bits of a matrix: another element, or another place, changes it. */
uint64_t judge_digest(const struct matrix *x);

struct task;

/** What judges, in one kind of memory. */
struct judge {
    struct found (*run)(const struct task *task);
    void (*reference)(const struct product *p); /**< computes p->ref and p->mag */
    /** Bytes of device memory that reference() needs for itself, while it runs; null: none. */
    double (*workspace)(double M, double N, double K);
    /** Whether kernels of this program run on this GPU; null: there are none. */
    cudaError_t (*probe)(void);
    bool device_debugging; /**< built with nvcc -G */
};

/** The judge of this program's device. */
extern const struct judge *const judge;
/** The plain loops over host memory: the judge of the CPU device. */
extern const struct judge host_judge;

/** Checks `tested` against the plain loops. @return null, or in what they disagree. */
const char *judge_self_test(const struct judge *tested);

#ifdef __cplusplus
}
#endif
#endif
