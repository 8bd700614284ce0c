/**
 * @file gemm_problem.h
 * The track gemm: C = A B.
 */
#ifndef OVERLAP_GEMM_PROBLEM_H
#define OVERLAP_GEMM_PROBLEM_H

#include "track/problem.h"

/** gemm() of gemm.h, of any types: A, B and C point to elements of the step's. */
typedef cudaError_t gemm_function(int M, int N, int K, const void *A, int lda, const void *B, int ldb,
                                  void *C, int ldc, cudaStream_t stream);

/** A step of this track. */
struct gemm_step {
    struct step_entry entry;
    gemm_function *run;
};

/** The matrices in the types of one step. */
struct gemm_side {
    struct product product;
    struct output C;
};

/** A, B and C. A base of other types has its own, filled from the same numbers. */
struct gemm_problem {
    struct problem problem;
    struct gemm_side side[2];
};

/**
 * Judged on integers, for equality (see fill_product()), and on random reals, within
 * product_bound(), after a run on huge values.
 *
 * Rows start on 128-byte boundaries, unless options->pad adds elements; A and B end with their last
 * element.
 */
extern const struct track gemm_track;

#endif
