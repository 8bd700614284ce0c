/** @file cuda_pipeline.h Stand-in for the CUDA header of this name: its C primitives only. */
#pragma once
#include "cuda_runtime.h"

/// Copies size - zfill bytes and sets the last zfill to zero. `size` is 4, 8 or 16.
CPU_DEVICE_DISTINCT void __pipeline_memcpy_async(void *dst_shared, const void *src_global, size_t size,
                                                 size_t zfill = 0);
/// Closes the calling thread's group of copies.
CPU_DEVICE_DISTINCT void __pipeline_commit();
/// Waits for the calling thread's groups, except the `prior` youngest.
CPU_DEVICE_DISTINCT void __pipeline_wait_prior(size_t prior);
