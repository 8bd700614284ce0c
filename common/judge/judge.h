/**
 * @file judge.h
 * Fills inputs, computes references and compares, where the data lies.
 *
 * What is done to each element stands in task_item(), for host and device code alike. host.c does it
 * in plain loops over host memory, which is also the memory of the CPU device. gpu.cu does it in a kernel,
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
static inline OVERLAP_HD double product_allows(const struct product *p, bool exact, double ref, double mag) {
    return exact ? 0 : product_bound(p->types, (double)p->A.cols, mag, ref);
}

/** What the judge does. */
enum task_kind {
    TASK_FILL,    /**< makes x what fill_element() says; what lies between its rows becomes poison */
    TASK_POISON,  /**< makes all of an output's memory element_poison() */
    TASK_COMPARE, /**< compares C with ref; exact: for equality */
    TASK_SUM,     /**< the sum of a vector x, in FP64 */
    TASK_SCAN,    /**< y[0] = x[0] and y[i] = y[i-1] + x[i], of uint32: no other y fulfils that */
    TASK_OUTSIDE, /**< counts elements around the matrix that no longer hold element_poison() */
    TASK_DIGEST   /**< a digest of x's bits: another element, or another place, changes it */
};

/** One thing to do to `count` elements. */
struct task {
    enum task_kind kind;
    size_t count;
    struct matrix x;
    struct output y;
    struct fill fill;
    struct product product;
    bool exact;
};

/** What is found out about no element. */
static inline OVERLAP_HD struct found found_nothing(void) {
    struct found f = {0, ~0ull, 0, 0};
    return f;
}

static inline OVERLAP_HD void found_wrong(struct found *f, size_t i) {
    f->count += 1;
    f->first = i < f->first ? i : f->first;
}

/* Row and column of item i, of which a row has `width`; a vector takes no division. */
static inline OVERLAP_HD size_t task_row(const struct matrix *x, size_t width, size_t *i) {
    size_t row = x->rows > 1 ? *i / width : 0;
    *i -= row * width;
    return row;
}

static inline OVERLAP_HD void task_compare(const struct task *t, size_t i, struct found *f) {
    const struct product *p = &t->product;
    size_t col = i, row = task_row(&p->C, p->C.cols, &col);
    double c = element_load(p->C.type, p->C.at, row * p->C.ld + col), ref = p->ref[i], mag = p->mag[i],
           error = mag > 0 ? (c - ref) / mag : 0;
    if (!is_close(c, product_wants(p, t->exact, ref), product_allows(p, t->exact, ref, mag)))
        found_wrong(f, i);
    if (!(fabs(error) <= f->largest)) /* a NaN gets in, and stays */
        f->largest = isnan(f->largest) ? f->largest : fabs(error);
    f->sum += error;
}

static inline OVERLAP_HD bool task_is_inside(const struct output *y, size_t i) {
    const struct matrix *m = &y->matrix;
    size_t before = (size_t)((char *)m->at - (char *)y->base) / element_size(m->type);
    if (i < before || m->rows == 0) return false;
    i -= before;
    return task_row(m, m->ld, &i) < m->rows && i < m->cols;
}

/** Does the task to item i. */
static inline OVERLAP_HD void task_item(const struct task *t, size_t i, struct found *f) {
    const struct matrix *x = &t->x, *y = &t->y.matrix;
    const uint32_t poison = element_poison(y->type);
    size_t col = i, row;
    switch (t->kind) {
    case TASK_FILL:
        row = task_row(x, x->ld, &col);
        element_store(x->type, x->at, i,
                      col < x->cols ? element_round(x->type, fill_element(&t->fill, row, col))
                                    : element_poison(x->type));
        break;
    case TASK_POISON: element_store(y->type, t->y.base, i, poison); break;
    case TASK_COMPARE: task_compare(t, i, f); break;
    case TASK_SUM: f->sum += element_load(x->type, x->at, i); break;
    case TASK_SCAN:
        if (element_bits(y->type, y->at, i) !=
            (i > 0 ? element_bits(y->type, y->at, i - 1) : 0) + element_bits(x->type, x->at, i))
            found_wrong(f, i);
        break;
    case TASK_OUTSIDE:
        if (element_bits(y->type, t->y.base, i) != poison && !task_is_inside(&t->y, i)) f->count += 1;
        break;
    case TASK_DIGEST:
        row = task_row(x, x->cols, &col);
        f->count += number_hash(element_bits(x->type, x->at, row * x->ld + col), row, col);
        break;
    }
}

/* One function a task. */
void judge_fill(const struct matrix *x, const struct fill *fill);
void judge_poison(const struct output *y);
struct found judge_compare(const struct product *p, bool exact);
double judge_sum(const struct matrix *x);
struct found judge_scan(const struct matrix *x, const struct matrix *y);
uint64_t judge_outside(const struct output *y);
uint64_t judge_digest(const struct matrix *x);

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
