/** @file cuda_fp16.h Stand-in for the CUDA header of this name: storage, conversions to nearest even. */
#pragma once
#include "cuda_runtime.h"

struct __half {
    uint16_t bits;
    __half() = default;
    __half(float f) {
        uint32_t sign = __float_as_uint(f) >> 16 & 0x8000, a = __float_as_uint(f) & 0x7fffffff;
        if (a > 0x7f800000) a = 0x7fff;       // NaN
        else if (a >= 0x477ff000) a = 0x7c00; // rounds beyond 65504
        else if (a < 0x38800000)              // subnormal: adding 0.5 leaves units of 2^-24
            a = __float_as_uint(__uint_as_float(a) + 0.5f) - 0x3f000000;
        else a = (a + 0xc8000fff + (a >> 13 & 1)) >> 13;
        bits = uint16_t(sign | a);
    }
    operator float() const {
        uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 1023;
        if (exponent == 0) return __uint_as_float(sign | __float_as_uint(float(mantissa) * 0x1p-24f));
        return __uint_as_float(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13);
    }
};
using half = __half;
inline __half __float2half(float f) { return f; }
inline float __half2float(__half h) { return h; }
