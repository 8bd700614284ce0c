/**
 * @file bounds.h
 * How far a right result may be from the exact one, for host and device code alike.
 */
#ifndef OVERLAP_BOUNDS_H
#define OVERLAP_BOUNDS_H

#include "judge/element.h"

/** The unit roundoff of a type. */
static inline OVERLAP_HD double bound_unit(enum element_type type) {
    return 1.0 / (double)((uint64_t)1 << element_digits(type));
}

/** `error` of a sum near `want`, and what its one rounding to the type of the output may add. */
static inline OVERLAP_HD double bound_rounded(struct element_types types, double error, double want) {
    if (element_digits(types.out) >= element_digits(types.acc)) return error;
    double subnormal = types.out == ELEMENT_F16 ? 0x1p-25 : 0; /* those of BF16 are FP32's */
    return error + (fabs(want) + error) * bound_unit(types.out) + subnormal;
}

/**
 * Largest believable |c - want| of an inner product of K terms, where `want` is exact and
 * magnitude = sum of |a||b|.
 *
 * Sums. With unit roundoff u (2^-24 of FP32), a sum in any order errs by at most about K u magnitude
 * (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1). For rounding
 * errors that are independent and of mean zero, min(K, lambda sqrt(K)) u magnitude holds with
 * probability 1 - 2 exp(-lambda^2 / 2) an operation (Higham and Mary, A New Approach to
 * Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41(5), 2019). With
 * lambda = 10 that fails once in 10^21 operations; no problem here has nearly as many.
 *
 * Tensor Cores truncate where FP32 units round (Fasi et al., Numerical Behavior of NVIDIA Tensor
 * Cores, PeerJ Computer Science 7:e330, 2021): the error of a sum has a sign, so all inputs but FP32
 * take the bound of any order with twice the unit. A step that rounds both inputs to TF32 (unit
 * roundoff 2^-11) adds (2^-10 + 2^-22) magnitude. Inputs of the other types are what they are.
 */
static inline OVERLAP_HD double product_bound(struct element_types types, double K, double magnitude,
                                              double want) {
    const double u = bound_unit(types.acc);
    double terms = types.in == ELEMENT_F32 ? fmin(K, 10 * sqrt(K)) * u + K * u * u : K * 2 * u;
    double inputs = types.in == ELEMENT_TF32 ? 0x1p-10 + 0x1p-22 : 0;
    return bound_rounded(types, (inputs + terms) * magnitude, want);
}

/**
 * Largest believable |sum - want| of n random reals of #FILL_REAL, added up in any order.
 *
 * Every intermediate sum of m inputs has mean 0 and variance m/3, and its rounding adds an independent
 * error of at most u times it. No order has more than n - 1 sums of at most n inputs: the
 * error has a standard deviation of at most u n / sqrt(3). Ten of them are never exceeded.
 */
static inline OVERLAP_HD double sum_bound(struct element_types types, double n, double want) {
    return bound_rounded(types, 10 * n / sqrt(3.0) * bound_unit(types.acc), want);
}

/**
 * Largest |sum - n| of n ones that reduce.h allows: 2 sqrt(n) u n, and none while n u <= 1.
 *
 * Whole numbers up to 1/u are exact. Beyond, rounding a sum of at most n errs by at most u n. Where
 * an element passes through d additions on its way into the result, the roundings that can reach
 * it add up to at most d u n (Higham, section 4.2). Chunks of sqrt(n) elements that are added up one
 * by one, and then the chunks' sums one by one, have d = 2 sqrt(n); a tree of threads and blocks has
 * less. One running sum of all has d = n, and sticks at 1/u: at twice that, it has lost a half.
 */
static inline OVERLAP_HD double ones_bound(struct element_types types, double n) {
    const double u = bound_unit(types.acc);
    return bound_rounded(types, n * u <= 1 ? 0 : 2 * sqrt(n) * u * n, n);
}

/** True if `got` is within `bound` of `want`. NaN and infinities never are. */
static inline OVERLAP_HD bool is_close(double got, double want, double bound) {
    return fabs(got - want) <= bound && bound <= 1e300;
}

#endif
