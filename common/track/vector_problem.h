/**
 * @file vector_problem.h
 * A reduction or scan problem in device memory: made, judged and timed.
 */
#ifndef OVERLAP_VECTOR_PROBLEM_H
#define OVERLAP_VECTOR_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "device/device.h"
#include "run/options.h"
#include "track/reduce/reduce.h"
#include "run/report.h"
#include "track/scan/scan.h"

/** What a reduction step's kernel.cu defines, see reduce.h. */
typedef cudaError_t reduce_function(size_t n, const float *x, float *sum, void *workspace,
                                    cudaStream_t stream);
/** What a scan step's kernel.cu defines, see scan.h. */
typedef cudaError_t scan_function(size_t n, const uint32_t *x, uint32_t *y, void *workspace,
                                  cudaStream_t stream);
/** reduce_workspace() or scan_workspace(). */
typedef size_t workspace_function(size_t n);

/** A step to run: one of the two functions is null. */
struct vector_step {
    reduce_function *reduce;
    scan_function *scan;
    workspace_function *workspace;
};

/** Input, output and workspace with everything around them. */
struct vector_problem {
    size_t n;
    bool scan;               /**< a scan of uint32; a sum of floats otherwise */
    uint32_t *x_base, *x;    /**< the input, behind options->offset elements */
    uint32_t *y_base, *y;    /**< the output, with a guard band before and behind */
    size_t outputs, y_words; /**< elements of the output, and words with the guard bands */
    uint32_t *workspace;
    size_t workspace_words;
    const struct options *options;
    const struct device *device;
    struct report *report; /**< of faults; to be set after vector_problem_create() */
};

/**
 * Allocates the vectors, and a workspace large enough for `step` and for `base`.
 * @return 0, or #EXIT_USAGE after one line on stderr if the device's memory is too small for it.
 */
int vector_problem_create(struct vector_problem *p, const struct shape *shape,
                          const struct vector_step *step, const struct vector_step *base,
                          const struct device *device, const struct options *options);
/** Frees the vectors. */
void vector_problem_destroy(struct vector_problem *p);

/** Starts the row of a result: what is known before the run. */
void vector_row(struct row *row, const struct vector_problem *p, const struct shape *shape,
                const char *step, const char *base);

/**
 * Runs `step` options->repeats times under every schedule of the device on each kind of input, the
 * output poisoned before every run, the workspace full of garbage or of what the last run left.
 *
 * A sum: of integers, for equality; of ones; of random reals, within sum_bound(); with one NaN. The
 * bits must be the same in every run. A scan: of random 32-bit numbers, where every element must be
 * its predecessor plus its input. Nothing outside the output may be written.
 *
 * Fills in the row's path, status, error and note; what is wrong goes to stderr too.
 * @return whether everything was right.
 */
bool vector_verify(struct vector_problem *p, const char *name, const struct vector_step *step,
                   struct row *row);

/**
 * Counts what one run of `step` does, and what one of `base` does, see counters.h. Completes the rows.
 * @return whether the device had nothing against it.
 */
bool vector_count(struct vector_problem *p, const struct vector_step *step,
                  const struct vector_step *base, struct row *row, struct row *base_row,
                  struct report *report);

/**
 * Times `step` beside `base`, CUB and a copy of n elements, in turn, and checks the last output of
 * each. Completes the two rows, and reports them and those of the library and of the copy.
 * @return whether everything was right.
 */
bool vector_time(struct vector_problem *p, const struct vector_step *step,
                 const struct vector_step *base, struct row *row, struct row *base_row,
                 struct report *report);

#endif
