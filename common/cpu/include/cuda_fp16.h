/**
 * @file cuda_fp16.h
 * Stand-in for the CUDA header of this name: storage and conversions, rounded to nearest even.
 * Arithmetic goes through float.
 */
#pragma once
#include "cuda_runtime.h"

namespace cpu {
inline uint16_t float_to_half(float f) {
    uint32_t bits = __float_as_uint(f), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;
    if (a > 0x7f800000)
        return uint16_t(sign | 0x7fff); // NaN
    if (a >= 0x477ff000)
        return uint16_t(sign | 0x7c00); // rounds beyond 65504
    if (a < 0x38800000)                 // subnormal: adding 0.5 leaves units of 2^-24
        return uint16_t(sign | (__float_as_uint(__uint_as_float(a) + 0.5f) - 0x3f000000));
    return uint16_t(sign | (a + 0xc8000fff + (a >> 13 & 1)) >> 13);
}
inline float half_to_float(uint16_t h) {
    uint32_t sign = uint32_t(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 1023;
    if (exponent == 0)
        return __uint_as_float(sign | __float_as_uint(float(mantissa) * 0x1p-24f));
    return __uint_as_float(sign | (exponent == 31 ? 0x7f800000 : (exponent + 112) << 23) | mantissa << 13);
}
} // namespace cpu

struct __half {
    uint16_t bits;
    __half() = default;
    __half(float f) : bits(cpu::float_to_half(f)) {}
    operator float() const { return cpu::half_to_float(bits); }
};
struct __align__(4) __half2 {
    __half x, y;
};
typedef __half half;
typedef __half2 half2;

inline __half __float2half(float f) { return __half(f); }
inline __half __float2half_rn(float f) { return __half(f); }
inline float __half2float(__half h) { return float(h); }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline float2 __half22float2(__half2 h) { return {float(h.x), float(h.y)}; }
