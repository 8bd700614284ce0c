/** @file wmma.cpp The Tensor Core as WMMA has it: fragments in registers, and their product by a warp. */
#include "core/tracer.h"
#include "include/mma.h"

using namespace cpu;

namespace nvcuda::wmma::detail {
/// Where element e of a lane lies.
struct Element {
    int row, col;
    constexpr size_t offset(bool row_major, size_t ldm) const {
        return row_major ? size_t(row) * ldm + size_t(col) : size_t(col) * ldm + size_t(row);
    }
};
static constexpr Element place_of(Form form, int lane, int e) {
    int group = lane / 4, in = lane % 4, e0 = e % 2, e1 = e / 2 % 2, e2 = e / 4;
    if (form == a8) return {group + 8 * e0, in + 4 * e1};
    if (form == b8) return {in + 4 * e0, group + 8 * e1};
    if (form == b16) return {2 * in + e0 + 8 * e1, group + 8 * e2};
    return {group + 8 * e1, 2 * in + e0 + 8 * e2}; // a16 and c
}

template<class E> void transfer(Form form, E *x, E *p, unsigned ldm, bool row_major, bool write) {
    Place place = CPU_DEVICE_CALLER;
    constexpr unsigned unit = 16 / sizeof(E);
    if (uintptr_t(p) % 32) fault(place, FaultKind::wmma_misaligned);
    if (ldm % unit) fault(place, FaultKind::wmma_leading_dimension, ldm, unit);
    bool twos = form == c && row_major; // neighbours, in one instruction
    for (int e = 0; e < elements(form); ++e) {
        E *memory = p + place_of(form, int(lane()), e).offset(row_major, ldm);
        if (!(twos && e % 2))
            tracer->access(running_thread(), place, memory, sizeof(E) << twos, write ? WRITE : READ);
        if (write) *memory = x[e];
        else x[e] = *memory;
    }
}

/// What one lane hands to mma_sync.
template<class E> struct Operands {
    float *d;
    const E *a, *b;
    const float *c;
};

/// The Tensor Core does not look at the low 13 bits of tf32, which fp16 and bf16 do not have.
static float cut_off(float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000); }
static bool is_cut(float x) { return unsigned(cut_off(x) < x) | unsigned(cut_off(x) > x); } ///< a NaN is not

/// Reports the first element of lane `l` that is cut off.
template<class E> static void report_unrounded(Place place, unsigned l, const char *operand, const E *x) {
    for (int e = 0; e < elements(a8); ++e)
        if (is_cut(x[e])) {
            char text[64];
            snprintf(text, sizeof text, "%.9g in operand %s", double(float(x[e])), operand);
            const Block &block = *self->block;
            const unsigned rank = self->rank / warp_size * warp_size + l;
            Fault f = {FaultKind::wmma_unrounded_tf32, source_line(place), {text}};
            f.by = position(block.grid, rank, block.number);
            return report_once(f);
        }
}

/// Where elements lie in a matrix of `columns` columns, row by row.
template<int columns> struct Offsets {
    uint8_t at[32][8];
    constexpr Offsets(Form form) : at() {
        for (int lane = 0; lane < 32; ++lane)
            for (int e = 0; e < elements(form); ++e)
                at[lane][e] = uint8_t(place_of(form, lane, e).offset(true, columns));
    }
};

using Row = float __attribute__((vector_size(64), may_alias)); ///< what a compiler adds up at once

/// For a whole warp. Elements of an exited lane are NaN.
template<class E> static void multiply_lanes(const Meeting &m) {
    constexpr int K = sizeof(E) == 4 ? 8 : 16;
    static constexpr Offsets<K> in_a(form<matrix_a, K>);
    static constexpr Offsets<16> in_b(form<matrix_b, K>), in_c(c);
    alignas(sizeof(Row)) float a[16 * 16], b[16 * 16], sum[16 * 16];
    if (m.here != ~0u)
        for (float *x : {a, b, sum}) std::fill_n(x, 16 * 16, NAN);
    unsigned unrounded = 0; // lanes
    for (unsigned l = 0; l < warp_size; ++l) {
        const auto *lane = static_cast<const Operands<E> *>(m.lane[l]);
        if (!lane) continue;
        for (int e = 0; e < 8; ++e) sum[in_c.at[l][e]] = lane->c[e];
        for (int e = 0; e < K / 2; ++e) {
            const float x = lane->a[e], y = lane->b[e];
            a[in_a.at[l][e]] = cut_off(x), b[in_b.at[l][e]] = cut_off(y);
            unrounded |= (unsigned(is_cut(x)) | unsigned(is_cut(y))) << l;
        }
    }
    for (int row = 0; row < 16; ++row) {
        Row total = reinterpret_cast<Row *>(sum)[row];
        for (int k = 0; k < K; ++k) total += a[row * K + k] * reinterpret_cast<Row *>(b)[k];
        reinterpret_cast<Row *>(sum)[row] = total;
    }
    for (unsigned l = 0; l < warp_size; ++l)
        if (const auto *lane = static_cast<const Operands<E> *>(m.lane[l])) {
            for (int e = 0; e < 8; ++e) lane->d[e] = sum[in_c.at[l][e]];
            if (unrounded >> l & 1)
                for (auto [operand, x] : {std::pair("a", lane->a), std::pair("b", lane->b)})
                    report_unrounded(m.place, l, operand, x);
        }
    tracer->event(running_thread(), m.place, Event::multiply, 2 * 16 * 16 * K);
}

template<class E> void multiply(float *d, const E *a, const E *b, const float *c) {
    Operands<E> mine{d, a, b, c};
    warp_meet(CPU_DEVICE_CALLER, "mma_sync", ~0u, multiply_lanes<E>, &mine);
}
#define CPU_WMMA(E)                                               \
    template void transfer(Form, E *, E *, unsigned, bool, bool); \
    template void multiply(float *, const E *, const E *, const float *);
CPU_WMMA(float)
CPU_WMMA(__half)
CPU_WMMA(__nv_bfloat16)
} // namespace nvcuda::wmma::detail
