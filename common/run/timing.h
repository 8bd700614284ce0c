/**
 * @file timing.h
 * Times kernels on a GPU, side by side: one sample of each in turn, so that all see the same clocks.
 */
#ifndef OVERLAP_TIMING_H
#define OVERLAP_TIMING_H

#include <stdbool.h>

#include <cuda_runtime_api.h>

#include "device/device.h"
#include "run/options.h"

/** One kernel to time, and what came out. */
struct contestant {
    cudaError_t (*run)(void *context, cudaStream_t stream); /**< enqueues one run */
    void (*prepare)(void *context, cudaStream_t stream);    /**< enqueued before each, not timed; or null */
    void *context;
    double median, p5, p95; /**< seconds */
    int samples;
};

/**
 * Fills in the figures of `count` contestants.
 *
 * Warms up, then takes samples in turn: by events around one launch. Unless options->warm, the L2
 * cache is flushed before every sample by writing twice its size; with it, an untimed run goes
 * before. Stops after options->samples, or when the 95% confidence interval of every median is
 * within 0.5% of it, or after 1 second a contestant, but not before 5 samples.
 *
 * @return null, or what went wrong.
 */
const char *timing_run(struct contestant *contestants, int count, const struct device *device,
                       const struct options *options);

/**
 * Fills in a row's figures. The contestant does `work` FLOP or bytes in a run; its rate is in `unit`, which
 * is `scale` of them a second. A run too short to tell from its launch is noted.
 */
void timing_row(struct row *row, const struct contestant *contestant, double work, double scale,
                const char *unit, const struct options *options);

/** Sorts `count` > 0 values and returns the one at `fraction`, 0 to 1, interpolated between ranks. */
double stats_quantile(double *values, int count, double fraction);

/**
 * Half the width of the 95% confidence interval of the median, relative to it, from the order
 * statistics of the sorted values (ranks n/2 +- 0.98 sqrt(n)); 1 for fewer than 6 values.
 */
double stats_median_error(const double *sorted, int count);

#endif
