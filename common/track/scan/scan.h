/**
 * @file scan.h
 * The contract of a scan step: what its kernel.cu and baseline.cu define.
 */
#ifndef OVERLAP_SCAN_H
#define OVERLAP_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <cuda_runtime_api.h>

#include "../code_path.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of device memory that scan() needs beside its input and output; 0 is allowed. */
size_t scan_workspace(size_t n);

/**
 * y[i] = x[0] + ... + x[i] modulo 2^32, for every i below n (an inclusive scan).
 *
 * n = 0 writes nothing and launches no kernel.
 *
 * @param n          number of elements, up to 2^33.
 * @param x,y        device memory, each aligned to 4 bytes at least. No overlap.
 * @param workspace  scan_workspace(n) bytes of device memory, aligned to 256 bytes, of any content.
 * @param stream     where the work is enqueued. The call does not wait for it.
 * @return cudaSuccess, or why the launch was refused.
 */
cudaError_t scan(size_t n, const uint32_t *x, uint32_t *y, void *workspace, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
