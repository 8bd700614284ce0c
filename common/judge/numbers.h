/**
 * @file numbers.h
 * Number types, the input hash and the error bounds, for host and device code alike.
 */
#ifndef OVERLAP_NUMBERS_H
#define OVERLAP_NUMBERS_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define OVERLAP_HD __host__ __device__
#else
#define OVERLAP_HD
#endif

/** Number type of a step's arithmetic. The inputs and the output are FP32, or uint32 for #TYPE_U32. */
enum number_type {
    TYPE_F32,  /**< FP32 products and sums */
    TYPE_TF32, /**< inputs rounded to TF32 (11 significant bits), FP32 sums on Tensor Cores */
    TYPE_U32   /**< unsigned integers modulo 2^32 */
};

/** As in steps.list: "f32", "tf32" or "u32". */
static inline const char *number_type_name(enum number_type type) {
    return type == TYPE_F32 ? "f32" : type == TYPE_TF32 ? "tf32" : "u32";
}

/** What a problem is filled with. */
enum fill_mode {
    FILL_EXACT, /**< small integers: every partial sum is exact, so results are compared for equality */
    FILL_NEAR, /**< those times 1 + 2^-13 or 1 - 2^-13: rounding to TF32 gives the integers back */
    FILL_REAL, /**< uniform in [-1, 1), multiples of 2^-23 */
    FILL_HUGE /**< uniform in [-1e30, 1e30): left behind in memory before another run, never compared */
};

/** 64 well-mixed bits of (seed, row, column): the finaliser of SplitMix64 (Steele et al., 2014). */
static inline OVERLAP_HD uint64_t number_hash(uint64_t seed, uint64_t row, uint64_t column) {
    uint64_t z =
        seed * 0x9e3779b97f4a7c15u + row * 0xd1342543de82ef95u + column * 0x2545f4914f6cdd1du;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/**
 * The element at (row, column) of an input matrix.
 * @param range  for #FILL_EXACT and #FILL_NEAR: integers from -range to range, see exact_range().
 */
static inline OVERLAP_HD float number_fill(enum fill_mode mode, int range, uint64_t seed,
                                           uint64_t row, uint64_t column) {
    uint64_t h = number_hash(seed, row, column);
    float integer = (float)((int)((h >> 32) % (uint64_t)(2 * range + 1)) - range);
    if (mode == FILL_EXACT)
        return integer;
    if (mode == FILL_NEAR)
        return integer * (1.0f + ((h & 1) != 0 ? 1.0f : -1.0f) / (1 << 13));
    float unit = (float)((int32_t)(h >> 40) - (1 << 23)) * (1.0f / (1 << 23));
    return mode == FILL_REAL ? unit : unit * 1e30f;
}

/**
 * Largest range of integers whose products sum exactly in FP32 over `terms` terms, whatever the
 * order: range^2 * terms <= 2^24. At most 8, which TF32 and BF16 hold too. 0: there is none.
 */
static inline int exact_range(int64_t terms) {
    int range = 8;
    while (range > 0 && (int64_t)range * range * terms > (INT64_C(1) << 24))
        --range;
    return range;
}

/**
 * Largest believable |c - ref| of an inner product of K terms, where ref is exact and
 * magnitude = sum of |a||b|.
 *
 * Sums. With unit roundoff u = 2^-24, an FP32 sum in any order errs by at most about K u magnitude
 * (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1). For rounding
 * errors that are independent and of mean zero, min(K, lambda sqrt(K)) u magnitude holds with
 * probability 1 - 2 exp(-lambda^2 / 2) an operation (Higham and Mary, A New Approach to
 * Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41(5), 2019). With
 * lambda = 10 that fails once in 10^21 operations; no problem here has nearly as many.
 *
 * Tensor Cores truncate where FP32 units round (Fasi et al., Numerical Behavior of NVIDIA Tensor
 * Cores, PeerJ Computer Science 7:e330, 2021): the error of a sum has a sign, so #TYPE_TF32 takes
 * the bound of any order with u = 2^-23. Rounding both inputs to TF32 (unit roundoff 2^-11) adds
 * (2^-10 + 2^-22) magnitude.
 */
static inline OVERLAP_HD double gemm_bound(enum number_type type, double K, double magnitude) {
    const double u = 1.0 / (1 << 24);
    if (type == TYPE_TF32)
        return (1.0 / (1 << 10) + 1.0 / (1 << 22) + K * 2 * u) * magnitude;
    double terms = fmin(K, 10.0 * sqrt(K));
    return (terms * u + K * u * u) * magnitude;
}

/**
 * Largest believable |sum - ref| of n random reals of #FILL_REAL, summed in FP32 in any order.
 *
 * Every intermediate sum of m inputs has mean 0 and variance m/3, and its rounding adds an independent
 * error of at most u times it, u = 2^-24. No order has more than n - 1 sums of at most n inputs: the
 * error has a standard deviation of at most u n / sqrt(3). Ten of them are never exceeded.
 */
static inline OVERLAP_HD double sum_bound(double n) {
    return 10 * n / sqrt(3.0) / (1 << 24);
}

/** True if `got` is within `bound` of `want`. NaN and infinities never are. */
static inline OVERLAP_HD int number_close(float got, double want, double bound) {
    return fabs((double)got - want) <= bound && bound <= 1e300;
}

#endif
