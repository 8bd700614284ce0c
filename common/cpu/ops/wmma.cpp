/** @file wmma.cpp The Tensor Core as WMMA has it: fragments in registers, and their product by a warp. */
#include "core/program.h"
#include "core/tracer.h"
#include "include/mma.h"

using namespace cpu;

namespace nvcuda::wmma::detail {
/// Where element e of a lane lies.
struct Layout {
    uint8_t row[32][8], col[32][8];
    constexpr Layout(Form form) : row(), col() {
        for (int lane = 0; lane < 32; ++lane)
            for (int e = 0; e < 8; ++e) {
                int group = lane / 4, in = lane % 4, e0 = e % 2, e1 = e / 2 % 2, e2 = e / 4;
                int r = group + 8 * e1, k = 2 * in + e0 + 8 * e2; // a16 and c
                if (form == a8) r = group + 8 * e0, k = in + 4 * e1;
                if (form == b8) r = in + 4 * e0, k = group + 8 * e1;
                if (form == b16) r = 2 * in + e0 + 8 * e1, k = group + 8 * e2;
                row[lane][e] = uint8_t(r), col[lane][e] = uint8_t(k);
            }
    }
};
static constexpr Layout layouts[] = {a8, b8, b16, c};

template<class E> void transfer(Form form, E *x, E *p, unsigned ldm, bool row_major, bool write) {
    Place place = CPU_DEVICE_CALLER;
    constexpr unsigned unit = 16 / sizeof(E);
    if (uintptr_t(p) % 32) fault(place, FaultKind::wmma_misaligned);
    if (ldm % unit) fault(place, FaultKind::wmma_leading_dimension, ldm, unit);
    const uint8_t *row = layouts[form].row[lane()], *col = layouts[form].col[lane()];
    bool twos = form == c && row_major; // neighbours, in one instruction
    for (int e = 0; e < elements(form); ++e) {
        E *memory = p + (row_major ? row[e] * size_t(ldm) + col[e] : col[e] * size_t(ldm) + row[e]);
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

/// Reports the first element of lane `l` that cutting off changes.
static void report_unrounded(Place place, unsigned l, const char *operand, const float *x) {
    for (int e = 0; e < elements(a8); ++e)
        if (cut_off(x[e]) < x[e] || cut_off(x[e]) > x[e]) { // and no NaN
            char text[64];
            snprintf(text, sizeof text, "%.9g in operand %s", double(x[e]), operand);
            const Block &block = *self->block;
            const unsigned rank = self->rank / warp_size * warp_size + l;
            return report_once({FaultKind::wmma_unrounded_tf32,
                                source_line(place),
                                {text},
                                position(block.grid, rank, block.number),
                                "",
                                "",
                                {},
                                false});
        }
}
static void report_unrounded(Place, unsigned, const char *, const __half *) {}
static void report_unrounded(Place, unsigned, const char *, const __nv_bfloat16 *) {}

/// For a whole warp. Elements of an exited lane are NaN.
template<class E> static void multiply_lanes(const Meeting &m) {
    constexpr int K = sizeof(E) == 4 ? 8 : 16;
    constexpr const Layout &in_a = layouts[form<matrix_a, K>], &in_b = layouts[form<matrix_b, K>],
                           &in_c = layouts[c];
    float a[16][K], b[K][16], sum[16][16];
    bool rounded = true;
    auto operand = [&rounded](float x) {
        const float cut = cut_off(x);
        rounded &= !(cut < x) & !(cut > x); // a NaN is
        return cut;
    };
    auto operands = [&](int l) { return static_cast<const Operands<E> *>(m.lane[l]); }; // null if absent
    for (int l = 0; l < int(warp_size); ++l) {
        const Operands<E> *lane = operands(l);
        for (int e = 0; e < 8; ++e) sum[in_c.row[l][e]][in_c.col[l][e]] = lane ? lane->c[e] : NAN;
        for (int e = 0; e < K / 2; ++e) {
            a[in_a.row[l][e]][in_a.col[l][e]] = lane ? operand(lane->a[e]) : NAN;
            b[in_b.row[l][e]][in_b.col[l][e]] = lane ? operand(lane->b[e]) : NAN;
        }
    }
    for (int row = 0; row < 16; ++row)
        for (int k = 0; k < K; ++k)
            for (int col = 0; col < 16; ++col) sum[row][col] += a[row][k] * b[k][col];
    for (int l = 0; l < int(warp_size); ++l)
        for (int e = 0; operands(l) && e < 8; ++e) operands(l)->d[e] = sum[in_c.row[l][e]][in_c.col[l][e]];
    for (unsigned l = 0; !rounded && l < warp_size; ++l)
        if (const Operands<E> *lane = operands(int(l))) {
            report_unrounded(m.place, l, "a", lane->a);
            report_unrounded(m.place, l, "b", lane->b);
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
