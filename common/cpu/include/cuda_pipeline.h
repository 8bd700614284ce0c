/** @file cuda_pipeline.h Stand-in for the CUDA header of this name: its C primitives only. */
#pragma once
#include "cuda_awbarrier_primitives.h"

/// Copies size - zfill bytes and sets the last zfill to zero. `size` is 4, 8 or 16.
CPU_DEVICE_DISTINCT void __pipeline_memcpy_async(void *dst_shared, const void *src_global, size_t size,
                                                 size_t zfill = 0);
/// Closes the calling thread's group of copies.
CPU_DEVICE_DISTINCT void __pipeline_commit();
/// Waits for the calling thread's groups, except the `prior` youngest.
CPU_DEVICE_DISTINCT void __pipeline_wait_prior(size_t prior);
/// The open phase of the barrier also waits for all copies that the calling thread has in flight.
CPU_DEVICE_DISTINCT void __pipeline_arrive_on(__mbarrier_t *barrier);

namespace cpu {
/// One thread's share of a group's copy, in units that are aligned to `align`, or to what is found out.
struct CopyBy {
    unsigned rank, ranks, align;
    bool finds_alignment;
};
CPU_DEVICE_DISTINCT bool copy_part(void *dst, const void *src, size_t size, CopyBy by); ///< asynchronously?
template<class T> constexpr unsigned align_of = alignof(T);
template<> inline constexpr unsigned align_of<void> = 1;
} // namespace cpu
