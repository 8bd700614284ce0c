/**
 * @file reduce.h
 * The contract of a reduction step: what its kernel.cu and baseline.cu define.
 */
#ifndef OVERLAP_REDUCE_H
#define OVERLAP_REDUCE_H

#include <stddef.h>
#include <cuda_runtime_api.h>

#include "../code_path.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of device memory that reduce() needs beside its input; 0 is allowed. */
size_t reduce_workspace(size_t n);

/**
 * sum[0] = x[0] + ... + x[n-1], in FP32, the same bits in every run.
 *
 * The order is the step's own, but it errs by at most 2 sqrt(n) 2^-24 (|x[0]| + ... + |x[n-1]|), which
 * chunks of sqrt(n) elements keep, added up one by one. One running sum of all does not: see ones_bound().
 *
 * n = 0 sets sum[0] to zero and launches no kernel.
 *
 * @param n          number of elements, up to 2^33.
 * @param x          device memory, aligned to 4 bytes at least.
 * @param sum        one element of device memory. It is not read.
 * @param workspace  reduce_workspace(n) bytes of device memory, aligned to 256 bytes, of any content.
 * @param stream     where the work is enqueued. The call does not wait for it.
 * @return cudaSuccess, or why the launch was refused.
 */
cudaError_t reduce(size_t n, const float *x, float *sum, void *workspace, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
