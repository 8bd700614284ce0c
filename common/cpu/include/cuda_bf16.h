/**
 * @file cuda_bf16.h
 * Stand-in for the CUDA header of this name: storage and conversions, rounded to nearest even.
 */
#pragma once
#include "cuda_runtime.h"

namespace cpu {
inline uint16_t float_to_bfloat16(float f) {
    uint32_t bits = __float_as_uint(f);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff; // NaN
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
} // namespace cpu

struct __nv_bfloat16 {
    uint16_t bits;
    __nv_bfloat16() = default;
    __nv_bfloat16(float f) : bits(cpu::float_to_bfloat16(f)) {}
    operator float() const { return __uint_as_float(uint32_t(bits) << 16); }
};
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

inline __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
inline __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
inline float __bfloat162float(__nv_bfloat16 h) { return float(h); }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
