/**
 * @file vector_problem.h
 * The tracks reduce and scan: a sum, and running sums, of a vector.
 */
#ifndef OVERLAP_VECTOR_PROBLEM_H
#define OVERLAP_VECTOR_PROBLEM_H

#include "track/problem.h"

/** reduce() of reduce.h and scan() of scan.h, of any types: x and y point to elements of the step's. */
typedef cudaError_t vector_function(size_t n, const void *x, void *y, void *workspace, cudaStream_t stream);
/** reduce_workspace() or scan_workspace(). */
typedef size_t workspace_function(size_t n);

/** A step of these tracks. */
struct vector_step {
    struct step_entry entry;
    vector_function *run;
    workspace_function *workspace;
};

/** Input and output. */
struct vector_problem {
    struct problem problem;
    struct matrix x; /**< options->offset elements behind a boundary */
    struct output y;
    double sum; /**< what a sum should be */
    void *copy; /**< where the copy of x goes */
    void *library_workspace;
    size_t library_bytes;
};

/**
 * A sum is judged on integers, for equality; on ones, within ones_bound(); with one NaN; and on random
 * reals, within sum_bound().
 */
extern const struct track reduce_track;
/** A scan is judged on random 32-bit numbers: every element must be its predecessor plus its input. */
extern const struct track scan_track;

#endif
