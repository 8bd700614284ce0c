/**
 * @file wmma.cpp
 * The Tensor Core: what WMMA checks and multiplies.
 */
#include "include/mma.h"
#include "block.h"

namespace nvcuda {
namespace wmma {
namespace detail {

void check_operand(cpu::Place place, const void *p, unsigned ldm, unsigned element_size) {
    if (uintptr_t(p) % 32)
        cpu::fault(place, "WMMA at an address that is not a multiple of 32 bytes");
    if (ldm * element_size % 16)
        cpu::fault(place, "WMMA with a leading dimension of %u: not a multiple of %u", ldm,
                   16 / element_size);
}

void multiply(cpu::Place place, float *__restrict d, const float *a, const float *b, const float *c, int K) {
    // The Tensor Core does not look at the low 13 bits of a tf32 operand. In a product of fp16 or
    // bf16 they are zero.
    float ta[256], tb[256];
    for (int i = 0; i < 16 * K; ++i) {
        ta[i] = __uint_as_float(__float_as_uint(a[i]) & 0xffffe000);
        tb[i] = __uint_as_float(__float_as_uint(b[i]) & 0xffffe000);
    }
    memcpy(d, c, 256 * sizeof(float));
    for (int row = 0; row < 16; ++row)
        for (int k = 0; k < K; ++k)
            for (int col = 0; col < 16; ++col)
                d[row * 16 + col] += ta[row * K + k] * tb[k * 16 + col];
    if (cpu::tracer)
        cpu::tracer->matrix_multiply(place, 16, 16, unsigned(K));
}

} // namespace detail
} // namespace wmma
} // namespace nvcuda
