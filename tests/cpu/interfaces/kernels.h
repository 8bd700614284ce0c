/**
 * @file kernels.h
 * Kernels over the interfaces of asynchronous copy: cooperative groups, barriers, pipelines, atomics. Each is one block
 * of 64 threads, reads `in` and writes the 256 words of `out`.
 */
#ifndef INTERFACES_TEST_KERNELS_H
#define INTERFACES_TEST_KERNELS_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Right: right.cu. Up to RINGS out[i] = in[255 - i]; then each has sums of its own, see test.c. */
#define RIGHT_KERNELS(X)                                                                                     \
    X(cg_block)                                                                                              \
    X(cg_bytes) X(cg_typed) X(cg_prior) X(cg_tile) X(cg_leader) X(barrier_group) X(barrier_bytes)            \
        X(arrive_on) X(primitives) X(two_stages) X(thread_producer_commit) X(barrier_ring) X(parity_ring)    \
            X(test_ring) X(dropped) X(pipeline_ring) X(role_ring) X(count_ring) X(thread_ring) X(prior_ring) \
                X(tiles) X(flags)
/** Wrong: wrong.cu. The line at fault ends in "// at NAME". */
#define WRONG_KERNELS(X)                                                                                    \
    X(no_init)                                                                                              \
    X(init_not_visible) X(one_too_many) X(one_leaves) X(arrives_too_often) X(expects_nobody) X(waits_twice) \
        X(stale_token) X(other_token) X(copy_after_arrive) X(wrong_parity) X(no_wait) X(nobody_waits)       \
            X(not_committed) X(two_acquires) X(nothing_committed) X(release_too_often) X(commit_unacquired) \
                X(after_quit) X(read_before_wait) X(release_before_read) X(thread_overwrites) X(too_far)    \
                    X(leader_alone) X(barrier_before_wait) X(own_slot_only) X(same_range) X(no_order)

#define NAME(kernel) K_##kernel,
enum right { RIGHT_KERNELS(NAME) RIGHT_COUNT };
enum wrong { WRONG_KERNELS(NAME) WRONG_COUNT };
cudaError_t run_right(enum right kernel, const int *in, int *out);
cudaError_t run_wrong(enum wrong kernel, const int *in, int *out);

#ifdef __cplusplus
}
#endif
#endif
