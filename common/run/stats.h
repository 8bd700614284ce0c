/**
 * @file stats.h
 * Order statistics of samples.
 */
#ifndef OVERLAP_STATS_H
#define OVERLAP_STATS_H

/** Sorts `count` > 0 values and returns the one at `fraction`, 0 to 1, interpolated between ranks. */
double stats_quantile(double *values, int count, double fraction);

/**
 * Half the width of the 95% confidence interval of the median, relative to it, from the order
 * statistics of the sorted values (ranks n/2 +- 0.98 sqrt(n)); 1 for fewer than 6 values.
 */
double stats_median_error(const double *sorted, int count);

#endif
