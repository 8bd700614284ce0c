/**
 * @file checker.h
 * The kernels that the checked flavour is tested with. Each has 1024 words `in` and `out`, and one
 * zeroed word `flag`.
 */
#ifndef CHECKER_TEST_H
#define CHECKER_TEST_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kernels that are right: right.cu. None may be reported. */
enum silent {
    NEIGHBOUR_BYTES,     /**< each thread has a byte of a word */
    WARP_ROWS,           /**< warps copy rows of their own and meet at a warp barrier only */
    WARP_EXCHANGE,       /**< through shared memory, with warp barriers */
    WORD_BEHIND_COPY,    /**< a read next to a copy in flight */
    RING_OF_THREE,       /**< prefetch distance 2 */
    ATOMICS,             /**< of all blocks, on the same words */
    LAST_BLOCK,          /**< thread 0 fences and counts, behind a barrier */
    LAST_BLOCK_ALL,      /**< every thread fences, then a barrier, then thread 0 counts */
    FLAG_IN_BLOCK,       /**< one warp waits for a volatile flag of another */
    FLAG_BACK,           /**< and tells the other when it has read */
    PACKED_WORD,         /**< flag and value in one volatile word */
    CHAIN_OF_BLOCKS,     /**< block 0 tells block 1, block 1 tells block 2 */
    SAME_WORD_BY_A_WARP, /**< one instruction of a warp writes one word */
    SHARED_OF_EACH,      /**< blocks that take turns have shared memory of their own */
    TICKETS_SPIN,        /**< a block waits in a plain loop for a volatile word of the block before it */
    SILENT_KERNELS
};
cudaError_t run_silent(enum silent kernel, const int *in, int *out, unsigned *flag);

/** Kernels that are wrong: wrong.cu. Lines to be named end in "// at NAME", see test.c. */
enum racy {
    FIFTH_OF_FOUR,
    MIRROR_NO_BARRIER,
    BARRIER_BEFORE_WAIT,
    REFILL_NO_BARRIER,
    RING_TOO_SHORT,
    LAST_WORD_OF_COPY,
    WIDE_READ_OF_COPY,
    OVERWRITES_COPY,
    FRAGMENT_NO_SYNCWARP,
    SHUFFLE_ORDERS_NOTHING,
    TWO_WRITERS,
    BYTE_OF_A_WORD,
    ZEROED_BY_ONE_BLOCK,
    BLOCKS_OVERLAP,
    NO_RELEASE,
    NO_ACQUIRE,
    BLOCK_FENCE_ONLY,
    WARP_SYNCHRONOUS,
    WARP_SYNCHRONOUS_LATE,
    BARRIER_IN_BRANCH,
    BARRIERS_APART
};
cudaError_t run_racy(enum racy kernel, const int *in, int *out, unsigned *flag);

/** One warp: lane l loads in[l * stride], stores it to shared word l * pitch and out[l], 16 bytes if vec16. */
cudaError_t run_strides(int stride, int pitch, int vec16, const int *in, int *out);

#ifdef __cplusplus
}
#endif
#endif
