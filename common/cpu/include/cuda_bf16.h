/** @file cuda_bf16.h Stand-in for the CUDA header of this name: storage, conversions to nearest even. */
#pragma once
#include "cuda_runtime.h"

struct __nv_bfloat16 {
    uint16_t bits;
    __nv_bfloat16() = default;
    __nv_bfloat16(float f) {
        uint32_t b = __float_as_uint(f);
        bits = f != f ? 0x7fff : uint16_t((b + 0x7fff + (b >> 16 & 1)) >> 16);
    }
    operator float() const { return __uint_as_float(uint32_t(bits) << 16); }
};
inline __nv_bfloat16 __float2bfloat16(float f) { return f; }
inline float __bfloat162float(__nv_bfloat16 h) { return h; }
