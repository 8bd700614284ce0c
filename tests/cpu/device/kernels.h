/**
 * @file kernels.h
 * The kernels that the CPU device is tested with. Each reads `in` and writes `out`, 256 words of
 * device memory each unless it says otherwise.
 */
#ifndef CPU_DEVICE_TEST_KERNELS_H
#define CPU_DEVICE_TEST_KERNELS_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kernels that are right: right.cu. */
enum right {
    MIRROR,
    EARLY_EXIT,
    BARRIER_VOTES,
    SHUFFLES,
    PARTIAL_WARP,
    SPLIT_WARP,
    VOTES,
    DYNAMIC_SHARED,
    HISTOGRAM,
    COMPARE_AND_SWAP,
    SPIN,
    INDICES,
    VECTORS,
    DEVICE_VARIABLE,
    LIBRARY_VARIABLE,
    ASYNC_MIRROR,
    ASYNC_GROUPS,
    ASYNC_REFILL,
    ASYNC_SKIP,
    ASYNC_ZERO_FILL,
    RIGHT_KERNELS
};
cudaError_t run_right(enum right kernel, const int *in, int *out);

/** A thread-local variable of a library, which no kernel has declared: library.c. */
int library_variable(void);

/** Kernels that are wrong: wrong.cu. */
enum wrong {
    /* by value */
    UNSET_SHARED,
    UNSET_LOCAL,
    UNSET_FRAGMENT,
    NO_BARRIER,
    NO_SYNCWARP,
    ASYNC_NO_BARRIER,
    ASYNC_FIFTH_OF_FOUR,
    ASYNC_REFILL_NO_BARRIER,
    ASYNC_LAST_WORD,
    WMMA_NO_SYNCWARP,
    /* reported */
    DIVERGENT_BARRIER,
    DEADLOCK,
    MIXED_COLLECTIVES,
    NOT_IN_MASK,
    READS_OUTSIDE_MASK,
    ASYNC_MISALIGNED_DST,
    ASYNC_MISALIGNED_SRC,
    ASYNC_SIZE,
    ASYNC_FILL_SIZE,
    ASYNC_NOT_COMMITTED,
    ASYNC_NOT_WAITED,
    ASYNC_OUT_OF_BOUNDS,
    ASYNC_NOT_SHARED,
    PAST_DYNAMIC_SHARED,
    WRITE_IN_SLACK,
    WRITE_BEFORE_START,
    WMMA_POINTER,
    WMMA_LEADING_DIMENSION,
    ATOMIC_MISALIGNED,
    /* fatal */
    READ_PAST_END,
    WRITE_PAST_END,
    NULL_POINTER,
    STACK_OVERFLOW,
    DIVISION_BY_ZERO,
    MISALIGNED_VECTOR,
    ENDLESS,
    ENDLESS_IN_LIBRARY
};
/** `out` is the end of an allocation of `n` words for those that go past it. */
cudaError_t run_wrong(enum wrong kernel, const int *in, int *out, int n);

/** One block of `block` threads in `grid`, with `dynamic` bytes; it writes out[0] = 1. */
cudaError_t run_shape(dim3 grid, dim3 block, size_t dynamic, int *out);
/** Opts in to `bytes` of dynamic shared memory for the kernel of run_shape(). */
cudaError_t opt_in(int bytes);
/** The same with a kernel that has 40 KB of static shared memory; *size receives how much. */
cudaError_t run_static_40k(size_t dynamic, int *out);
/** With 50 KB, which is too much. */
cudaError_t run_static_50k(int *out);

/** c (16x16, row-major) = a * b, by one mma_sync. */
enum wmma_type { TF32, TF32_NOT_CONVERTED, FP16, BF16 };
cudaError_t run_wmma(enum wmma_type type, int a_is_col_major, int b_is_col_major, const float *a,
                     const float *b, float *c);
/** out[i] = in[i] rounded to tf32, fp16 or bf16, and back. */
cudaError_t run_round(enum wmma_type type, const float *in, float *out, int n);

#ifdef __cplusplus
}
#endif
#endif
