#include "run/timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SOLVERS = 8, SAMPLES = 100000 }; /* as many as --samples allows */

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
    if (low < 0 || high >= count || count < 6) return 1;
    return (sorted[high] - sorted[low]) / 2 / sorted[count / 2];
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What the samples of one call share. */
struct session {
    cudaStream_t stream;
    cudaEvent_t start, stop;
    void *flush;
    size_t flush_bytes;
    bool warm;
};

static double times[SOLVERS][SAMPLES]; /* seconds */

/* One run, in seconds. */
static cudaError_t sample(struct session *s, struct contestant *c, double *seconds) {
    float ms = 0;
    if (c->prepare != NULL) c->prepare(c->context, s->stream);
    if (s->warm) c->run(c->context, s->stream);
    else CUDA_CHECK(cudaMemsetAsync(s->flush, 0, s->flush_bytes, s->stream));
    CUDA_CHECK(cudaEventRecord(s->start, s->stream));
    cudaError_t error = c->run(c->context, s->stream);
    if (error != cudaSuccess) return error;
    CUDA_CHECK(cudaEventRecord(s->stop, s->stream));
    if ((error = cudaEventSynchronize(s->stop)) != cudaSuccess) return error;
    CUDA_CHECK(cudaEventElapsedTime(&ms, s->start, s->stop));
    *seconds = 1e-3 * ms;
    return cudaSuccess;
}

static bool settled(int count, int taken) {
    double copy[512];
    if (taken < 10 || taken % 5 != 0) return false;
    for (int i = 0; i < count; ++i) {
        int n = taken < 512 ? taken : 512; /* the latest: more than enough to judge by */
        memcpy(copy, times[i] + taken - n, (size_t)n * sizeof *copy);
        stats_quantile(copy, n, 0.5); /* sorts */
        if (stats_median_error(copy, n) > 0.005) return false;
    }
    return true;
}

const char *timing_run(struct contestant *contestants, int count, const struct device *device,
                       const struct options *options) {
    struct session s = {.warm = options->warm, .flush_bytes = 2 * device->l2_bytes};
    int most = options->samples > 0 ? options->samples : 2000, taken = 0;
    cudaError_t error = cudaSuccess;
    CUDA_CHECK(cudaStreamCreate(&s.stream));
    CUDA_CHECK(cudaEventCreate(&s.start));
    CUDA_CHECK(cudaEventCreate(&s.stop));
    CUDA_CHECK(cudaMalloc(&s.flush, s.flush_bytes));
    for (int i = 0; i < 3 * count && error == cudaSuccess; ++i) /* to warm up */
        error = sample(&s, &contestants[i / 3], times[i / 3]);
    double end = now() + 1.0 * count;
    while (error == cudaSuccess && taken < most) {
        for (int i = 0; i < count && error == cudaSuccess; ++i)
            error = sample(&s, &contestants[i], &times[i][taken]);
        ++taken;
        if (options->samples == 0 && (settled(count, taken) || (taken >= 5 && now() > end))) break;
    }
    for (int i = 0; i < count && error == cudaSuccess; ++i) {
        contestants[i].samples = taken;
        contestants[i].median = stats_quantile(times[i], taken, 0.5);
        contestants[i].p5 = stats_quantile(times[i], taken, 0.05);
        contestants[i].p95 = stats_quantile(times[i], taken, 0.95);
    }
    cudaFree(s.flush);
    cudaEventDestroy(s.start);
    cudaEventDestroy(s.stop);
    cudaStreamDestroy(s.stream);
    cudaGetLastError(); /* forgotten, for it is returned */
    return error != cudaSuccess ? cuda_explain(error) : NULL;
}

void timing_row(struct row *row, const struct contestant *c, double work, double scale, const char *unit,
                const struct options *options) {
    snprintf(row->unit, sizeof row->unit, "%s", unit);
    snprintf(row->l2, sizeof row->l2, options->warm ? "warm" : "cold");
    row->rate = work / scale / c->median;
    row->rate_low = work / scale / c->p95;
    row->rate_high = work / scale / c->p5;
    row->microseconds = 1e6 * c->median;
    row->samples = c->samples;
    if (c->median < 10e-6) snprintf(row->note, sizeof row->note, "launch-bound: below 10 us");
}
