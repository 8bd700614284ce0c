#include "run/stats.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double stats_quantile(double *values, int count, double fraction) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    double rank = fraction * (count - 1);
    int below = (int)rank, above = below + 1 < count ? below + 1 : below;
    return values[below] + (rank - below) * (values[above] - values[below]);
}

double stats_median_error(const double *sorted, int count) {
    double half = 0.98 * sqrt(count);
    int low = (int)floor(count / 2.0 - half), high = (int)ceil(count / 2.0 + half);
    if (low < 0 || high >= count || count < 6)
        return 1;
    return (sorted[high] - sorted[low]) / 2 / sorted[count / 2];
}
