/** @file cuda_awbarrier_primitives.h Stand-in for the CUDA header of this name: barriers in shared memory. */
#pragma once
#include "cuda_runtime.h"

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

namespace cpu {
CPU_DEVICE_DISTINCT void barrier_initialise(const void *barrier, uint64_t expected);
CPU_DEVICE_DISTINCT uint64_t barrier_arrive(const void *barrier, uint64_t count,
                                            bool drop); ///< gives a token
CPU_DEVICE_DISTINCT void barrier_wait(const void *barrier, uint64_t token);
CPU_DEVICE_DISTINCT void barrier_wait_parity(const void *barrier, bool parity);
CPU_DEVICE_DISTINCT bool barrier_test(const void *barrier, uint64_t token);
CPU_DEVICE_DISTINCT bool barrier_test_parity(const void *barrier, bool parity);
void barrier_invalidate(const void *barrier);
} // namespace cpu

__forceinline__ void __mbarrier_init(__mbarrier_t *b, uint32_t n) { cpu::barrier_initialise(b, n); }
__forceinline__ void __mbarrier_inval(__mbarrier_t *b) { cpu::barrier_invalidate(b); }
__forceinline__ uint64_t __mbarrier_arrive(__mbarrier_t *b) { return cpu::barrier_arrive(b, 1, false); }
__forceinline__ uint64_t __mbarrier_arrive_and_drop(__mbarrier_t *b) {
    return cpu::barrier_arrive(b, 1, true);
}
__forceinline__ bool __mbarrier_test_wait(__mbarrier_t *b, uint64_t token) {
    return cpu::barrier_test(b, token);
}
__forceinline__ bool __mbarrier_try_wait(__mbarrier_t *b, uint64_t token, uint32_t) {
    return cpu::barrier_test(b, token);
}
__forceinline__ bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool parity) {
    return cpu::barrier_test_parity(b, parity);
}
__forceinline__ bool __mbarrier_try_wait_parity(__mbarrier_t *b, bool parity, uint32_t) {
    return cpu::barrier_test_parity(b, parity);
}
