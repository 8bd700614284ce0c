/**
 * @file element.h
 * The types of the elements that a step reads, adds up in and writes, for host and device code alike.
 * A new type is a row of element_facts(), and a case of element_value() and element_round().
 */
#ifndef OVERLAP_ELEMENT_H
#define OVERLAP_ELEMENT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define OVERLAP_HD __host__ __device__
#else
#define OVERLAP_HD
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum element_type {
    ELEMENT_F32,
    ELEMENT_TF32, /**< stored as FP32; the step rounds it to 11 significant bits */
    ELEMENT_BF16,
    ELEMENT_F16,
    ELEMENT_U32 /**< modulo 2^32 */
};

/** The types of a step. */
struct element_types {
    enum element_type in;  /**< of the inputs */
    enum element_type acc; /**< in which products are added up */
    enum element_type out; /**< of the output */
};

/** As in steps.list: "f32", "tf32", "bf16", "f16" or "u32". */
const char *element_name(enum element_type type);

/** Reads "in:acc:out", or one name where all three are alike. @return false if it is neither. */
bool element_types_parse(const char *text, struct element_types *types);

/** The type in which elements of `type` lie in memory. */
static inline OVERLAP_HD enum element_type element_storage(enum element_type type) {
    return type == ELEMENT_TF32 ? ELEMENT_F32 : type;
}

/** What a type is like. */
struct element_facts {
    size_t size;     /**< bytes */
    int digits;      /**< significant bits: the unit roundoff is 2 to the power of minus this */
    uint32_t poison; /**< what outputs and their surroundings hold before a run: a NaN, if there is one */
};

static inline OVERLAP_HD struct element_facts element_facts(enum element_type type) {
    struct element_facts f = {0, 0, 0}; /* of a type that is forgotten below: compilers warn */
    switch (type) {
    case ELEMENT_F32: f.size = 4, f.digits = 24, f.poison = 0x7fc0dead; break;
    case ELEMENT_TF32: f.size = 4, f.digits = 11, f.poison = 0x7fc0dead; break;
    case ELEMENT_BF16: f.size = 2, f.digits = 8, f.poison = 0x7fad; break;
    case ELEMENT_F16: f.size = 2, f.digits = 11, f.poison = 0x7ead; break;
    case ELEMENT_U32: f.size = 4, f.digits = 32, f.poison = 0x7fc0dead; break;
    }
    return f;
}

static inline OVERLAP_HD size_t element_size(enum element_type type) { return element_facts(type).size; }
static inline OVERLAP_HD int element_digits(enum element_type type) { return element_facts(type).digits; }
static inline OVERLAP_HD uint32_t element_poison(enum element_type type) {
    return element_facts(type).poison;
}

/** The bits of element i. */
static inline OVERLAP_HD uint32_t element_bits(enum element_type type, const void *x, size_t i) {
    return element_size(type) == 2 ? ((const uint16_t *)x)[i] : ((const uint32_t *)x)[i];
}

/** Makes `bits` element i. */
static inline OVERLAP_HD void element_store(enum element_type type, void *x, size_t i, uint32_t bits) {
    if (element_size(type) == 2) ((uint16_t *)x)[i] = (uint16_t)bits;
    else ((uint32_t *)x)[i] = bits;
}

/** A float, and its bits. */
union element_float {
    float value;
    uint32_t bits;
};

/** The value that `bits` stand for. */
static inline OVERLAP_HD double element_value(enum element_type type, uint32_t bits) {
    union element_float f = {0};
    if (type == ELEMENT_U32) return bits;
    if (type == ELEMENT_F16) {
        uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023, sign = (bits & 0x8000) << 16;
        f.value = (float)mantissa / (1 << 24); /* a subnormal number */
        if (exponent > 0) f.bits = (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13;
        f.bits |= sign;
    } else {
        f.bits = type == ELEMENT_BF16 ? bits << 16 : bits;
    }
    return f.value;
}

/** The bits of `value`, rounded to FP32 and then, as a step's output is, to the nearest of `type`. */
static inline OVERLAP_HD uint32_t element_round(enum element_type type, double value) {
    union element_float f;
    if (type == ELEMENT_U32) return (uint32_t)(int64_t)value;
    f.value = (float)value;
    if (type == ELEMENT_BF16) return value != value ? 0x7fff : (f.bits + 0x7fff + (f.bits >> 16 & 1)) >> 16;
    if (type != ELEMENT_F16) return f.bits;
    uint32_t sign = f.bits >> 16 & 0x8000;
    f.bits &= 0x7fffffff;
    if (f.bits > 0x7f800000) return sign | 0x7fff;  /* NaN */
    if (f.bits >= 0x477ff000) return sign | 0x7c00; /* rounds beyond 65504 */
    if (f.bits >= 0x38800000) return sign | (f.bits + 0xc8000fff + (f.bits >> 13 & 1)) >> 13;
    f.value += 0.5f; /* subnormal: a sum of 1/2 and more has units of 2^-24 */
    return sign | (f.bits - 0x3f000000);
}

/** Element i, as a number. */
static inline OVERLAP_HD double element_load(enum element_type type, const void *x, size_t i) {
    return element_value(type, element_bits(type, x, i));
}

#ifdef __cplusplus
}
#endif
#endif
