/**
 * @file fill.h
 * What inputs hold: every element is a hash of its place, for host and device code alike.
 */
#ifndef OVERLAP_FILL_H
#define OVERLAP_FILL_H

#include "judge/element.h"

/** What an input is filled with. */
enum fill_mode {
    FILL_EXACT, /**< a product's inputs, integers as fill_product() says: sums are exact */
    FILL_NEAR,  /**< those times 1 + 2^-13 or 1 - 2^-13: rounding to TF32 gives the integers back */
    FILL_REAL,  /**< uniform in [-1, 1), multiples of 2^-23, rounded to the type */
    FILL_HUGE,  /**< those times 1e30: left behind in memory before another run, never compared */
    FILL_SUM,   /**< integers whose sums of magnitudes stay within 2^24, so exact in FP32 */
    FILL_ONES,  /**< 1 */
    FILL_NAN,   /**< as FILL_REAL, and one NaN among `terms` */
    FILL_BITS   /**< 32 random bits */
};

/** A way to fill a matrix, or a vector: a matrix of one row. */
struct fill {
    enum fill_mode mode;
    uint64_t seed;
    uint64_t terms;  /**< numbers or products that are added up */
    bool down;       /**< of a product's B, which is added up along its columns */
    int digits;      /**< FILL_EXACT: significant bits of the odd integers */
    uint64_t stride; /**< FILL_EXACT: one product in every `stride` is not 0 */
    double scale;    /**< FILL_EXACT: the odd integers are multiplied by it */
};

/** 64 well-mixed bits of (seed, row, column): the finaliser of SplitMix64 (Steele et al., 2014). */
static inline OVERLAP_HD uint64_t number_hash(uint64_t seed, uint64_t row, uint64_t column) {
    uint64_t z = seed * 0x9e3779b97f4a7c15u + row * 0xd1342543de82ef95u + column * 0x2545f4914f6cdd1du;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/**
 * Inputs of a product whose sums of `terms` products are exact in any order, but not if the step
 * computes in a type that is narrower than its own.
 *
 * For each k, one of the two operands holds odd integers of as many bits as the type has (12 if it
 * has more), the other 0, 1 and -1. In a type of fewer bits each odd integer is rounded, by one in
 * its last place or more: FP32 in TF32, TF32 in BF16. Where TF32 and BF16 are added up in FP32, the
 * odd integers are multiplied so that they begin at 2^16, which FP16 does not hold.
 *
 * The sum of magnitudes must not exceed 2 to the significant bits of the accumulator, nor the
 * largest FP16. So of many terms only one in `stride` is not 0, and a type whose sums would be of
 * less than 256 terms gets smaller integers.
 */
static inline struct fill fill_product(struct element_types types, uint64_t terms, uint64_t seed, bool down,
                                       enum fill_mode mode) {
    int limit = element_digits(types.acc), digits = element_digits(types.in);
    if (types.out == ELEMENT_F16 && limit > 15) limit = 15;
    if (digits > 12) digits = 12;
    if (digits > limit - 8) digits = limit - 8;
    bool scaled = (types.in == ELEMENT_TF32 || types.in == ELEMENT_BF16) && types.acc == ELEMENT_F32 &&
                types.out != ELEMENT_F16;
    uint64_t most = UINT64_C(1) << (limit - digits);
    double scale = scaled ? (double)(1 << (17 - digits)) : 1;
    struct fill fill = {mode, seed, terms, down, digits, (terms + most - 1) / most, scale};
    return fill;
}

/* FILL_EXACT, and with h FILL_NEAR. */
static inline OVERLAP_HD double fill_integer(const struct fill *f, uint64_t row, uint64_t column,
                                             uint64_t h) {
    uint64_t k = f->down ? row : column, other = f->down ? column : row, group = k, at = 0;
    if (f->stride > 1) {
        group = k / f->stride;
        at = k % f->stride - number_hash(f->seed, group, other) % f->stride;
    }
    int64_t low = (int64_t)1 << (f->digits - 1), random = (int64_t)(h >> 32);
    double value = at != 0 ? 0 : (double)(random % 3 - 1);
    if ((number_hash(0, 0, group) & 1) == f->down) /* the operand with odd integers */
        value = (double)(random % low | low | 1) * ((h & 2) != 0 ? f->scale : -f->scale);
    if (f->mode == FILL_NEAR) value *= (h & 1) != 0 ? 1 + 0x1p-13 : 1 - 0x1p-13;
    return value;
}

/** The element at (row, column), before it is rounded to its type. */
static inline OVERLAP_HD double fill_element(const struct fill *f, uint64_t row, uint64_t column) {
    uint64_t h = number_hash(f->seed, row, column), n = f->terms;
    double real = (double)((int64_t)(h >> 40) - (1 << 23)) * (1.0 / (1 << 23));
    switch (f->mode) {
    case FILL_EXACT:
    case FILL_NEAR: return fill_integer(f, row, column, h);
    case FILL_HUGE: return real * 1e30;
    case FILL_SUM: /* of long vectors, only one element in so many is not 0, and both ends */
        if (n <= 1 << 21) return (double)((int64_t)(h >> 32) % 17 - 8);
        return column < 64 || column + 64 >= n || (h >> 32) % ((n >> 24) + 2) == 0 ? 1 : 0;
    case FILL_ONES: return 1;
    case FILL_BITS: return (double)(h >> 32);
    case FILL_NAN: return column == number_hash(f->seed, 1, n) % n ? NAN : real;
    default: return real;
    }
}

#endif
