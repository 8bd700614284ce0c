/**
 * @file gemm_problem.h
 * A GEMM problem in device memory: made, judged and timed.
 */
#ifndef OVERLAP_GEMM_PROBLEM_H
#define OVERLAP_GEMM_PROBLEM_H

#include <stdbool.h>

#include "device/device.h"
#include "track/gemm/gemm.h"
#include "run/options.h"
#include "judge/oracle.h"
#include "run/report.h"

/** What a step's kernel.cu defines, see gemm.h. */
typedef cudaError_t gemm_function(int M, int N, int K, const float *A, int lda, const float *B,
                                  int ldb, float *C, int ldc, cudaStream_t stream);

/**
 * Why this program's result is not judged: null, except in an experiment that leaves out a part of the
 * work, which the build links to a file of its own in place of gemm_unjudged.c. Never "verified" then.
 */
extern const char *const gemm_unjudged;

/** A, B and C with everything around them. */
struct gemm_problem {
    struct product
        product; /**< what the oracle judges; the leading dimensions include the padding */
    enum number_type type;    /**< of the step */
    uint32_t *c_base;         /**< C with a guard band before and behind */
    size_t c_words, c_before; /**< words of that, and those before C's first element */
    const struct options *options;
    const struct device *device;
    struct report *report; /**< of faults; to be set after gemm_problem_create() */
};

/**
 * Allocates the matrices. Rows start on 128-byte boundaries, unless options->pad adds elements; A and
 * B end with their last element.
 * @return 0, or #EXIT_USAGE after one line on stderr if the device's memory is too small for it.
 */
int gemm_problem_create(struct gemm_problem *p, const struct shape *shape, enum number_type type,
                        const struct device *device, const struct options *options);
/** Frees the matrices. */
void gemm_problem_destroy(struct gemm_problem *p);

/** Starts the row of a result: what is known before the run. */
void gemm_row(struct row *row, const struct gemm_problem *p, const struct shape *shape,
              const char *step, const char *base);

/**
 * Runs `run` under every schedule of the device, on small integers for equality and on random reals
 * within gemm_bound(), after a run on huge values, the output poisoned before every run.
 * Checks that nothing outside C was written and that all schedules give the same bits.
 *
 * Fills in the row's path, status, error and note. What is wrong goes to stderr too: how many
 * elements, the first one's row and column, got, wanted and the bound, and how to repeat it.
 * @return whether everything was right.
 */
bool gemm_verify(struct gemm_problem *p, const char *step, gemm_function *run, struct row *row);

/**
 * Counts what one run on random reals does, and with --base what one of `base` (or null) does, see
 * counters.h. Completes the row.
 * @return whether the device had nothing against it.
 */
bool gemm_count(struct gemm_problem *p, gemm_function *run, gemm_function *base, struct row *row,
                struct report *report);

/**
 * Times `run` beside `base` (or null) and the library, in turn, and checks the last output of each.
 * Completes the row, and reports it and those of the library.
 * @return whether everything was right.
 */
bool gemm_time(struct gemm_problem *p, gemm_function *run, gemm_function *base, struct row *row,
               struct report *report);

#endif
