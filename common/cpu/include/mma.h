/**
 * @file mma.h
 * Stand-in for the CUDA header of this name: WMMA for tf32 (16x16x8), fp16 and bf16 (16x16x16),
 * with fp32 accumulation.
 *
 * A load or store moves each lane's own elements when that lane gets there; only mma_sync meets.
 * Real warps are kinder. Elements lie as in mma.sync's documented register layout.
 */
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

/// Nearest, ties away from zero, as cvt.rna.tf32. A NaN stays one: rounded up, the poison would wrap
/// to 0. (An H200 cuts its low bits off, which makes an infinity of some.)
inline float __float_to_tf32(float f) {
    return f != f ? f : __uint_as_float((__float_as_uint(f) + 0x1000) & 0xffffe000);
}

namespace detail {

template<class T> struct storage { using type = T; };
template<> struct storage<precision::tf32> { using type = float; };

struct Position {
    int row, col;
};

/// Shape of a fragment, and where in it element e of a lane lies.
template<class Use, int K> struct shape;
template<> struct shape<matrix_a, 8> {
    enum { rows = 16, cols = 8 };
    static constexpr Position at(int lane, int e) { return {lane / 4 + 8 * (e % 2), lane % 4 + 4 * (e / 2)}; }
};
template<> struct shape<matrix_b, 8> {
    enum { rows = 8, cols = 16 };
    static constexpr Position at(int lane, int e) { return {lane % 4 + 4 * (e % 2), 8 * (e / 2) + lane / 4}; }
};
template<int K> struct shape<accumulator, K> {
    enum { rows = 16, cols = 16 };
    static constexpr Position at(int lane, int e) {
        return {lane / 4 + 8 * (e / 2 % 2), 8 * (e / 4) + 2 * (lane % 4) + e % 2};
    }
};
template<> struct shape<matrix_a, 16> : shape<accumulator, 16> {};
template<> struct shape<matrix_b, 16> {
    enum { rows = 16, cols = 16 };
    static constexpr Position at(int lane, int e) {
        return {2 * (lane % 4) + e % 2 + 8 * (e / 2 % 2), 8 * (e / 4) + lane / 4};
    }
};

/// The row-major index of each lane's elements.
template<class Shape> struct Table {
    enum { elements = Shape::rows * Shape::cols / 32 };
    uint8_t index[32][elements];
    constexpr Table() : index() {
        for (int lane = 0; lane < 32; ++lane)
            for (int e = 0; e < elements; ++e) {
                Position p = Shape::at(lane, e);
                index[lane][e] = uint8_t(p.row * Shape::cols + p.col);
            }
    }
};
template<class Shape> inline constexpr Table<Shape> table{};

template<class Layout> constexpr bool is_row_major = true;
template<> inline constexpr bool is_row_major<col_major> = false;

/// Reports a pointer or leading dimension that WMMA does not allow.
void check_operand(cpu::Place place, const void *p, unsigned ldm, unsigned element_size);
/// d = a * b + c, dense row-major: 16xK times Kx16.
void multiply(cpu::Place place, float *d, const float *a, const float *b, const float *c, int K);

/// Calls move(fragment element, address) for each of the lane's elements.
template<class Fragment, class P, class Move>
__attribute__((no_sanitize("thread"))) inline void each_element(cpu::Place place, Fragment &f, P *p,
                                                                unsigned ldm, bool row_major,
                                                                cpu::Access access, Move move) {
    check_operand(place, p, ldm, sizeof(P));
    int lane = int(cpu::lane());
    for (int e = 0; e < f.num_elements; ++e) {
        Position at = Fragment::shape::at(lane, e);
        P *q = p + (row_major ? at.row * size_t(ldm) + at.col : at.col * size_t(ldm) + at.row);
        cpu::note_access(place, q, sizeof(P), access);
        move(f.x[e], *q);
    }
}

/// What one lane hands to mma_sync.
template<int K, class T> struct Operands {
    cpu::Place place;
    const typename storage<T>::type *a, *b;
    const float *c;
    float *d;
};

/// mma_sync for a whole warp: `lanes` are Operands. Elements of an exited lane are NaN.
template<int K, class T>
__attribute__((no_sanitize("thread"))) void multiply_lanes(void *const *lanes, unsigned mask) {
    float a[16 * K], b[K * 16], c[256], d[256];
    const auto &in_a = table<shape<matrix_a, K>>.index;
    const auto &in_b = table<shape<matrix_b, K>>.index;
    const auto &in_c = table<shape<accumulator, K>>.index;
    cpu::Place place = nullptr;
    for (int l = 0; l < 32; ++l) {
        auto *lane = static_cast<const Operands<K, T> *>(lanes[l]);
        bool here = mask >> l & 1;
        if (here)
            place = lane->place;
        for (int e = 0; e < K / 2; ++e) {
            a[in_a[l][e]] = here ? float(lane->a[e]) : NAN;
            b[in_b[l][e]] = here ? float(lane->b[e]) : NAN;
        }
        for (int e = 0; e < 8; ++e)
            c[in_c[l][e]] = here ? lane->c[e] : NAN;
    }
    multiply(place, d, a, b, c, K);
    for (int l = 0; l < 32; ++l)
        for (int e = 0; mask >> l & 1 && e < 8; ++e)
            static_cast<const Operands<K, T> *>(lanes[l])->d[e] = d[in_c[l][e]];
}

} // namespace detail

template<class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    static_assert(M == 16 && N == 16 && (K == 8 || K == 16), "16x16x8 and 16x16x16 only");
    using shape = detail::shape<Use, K>;
    using element_type = typename detail::storage<T>::type;
    enum { num_elements = shape::rows * shape::cols / 32, num_storage_elements = num_elements };
    element_type x[num_elements];
    fragment() { memset(x, 0xff, sizeof x); } // NaN, for a forgotten fill or load
};

template<class Use, int K, class T, class Layout, class V>
void fill_fragment(fragment<Use, 16, 16, K, T, Layout> &f, V value) {
    for (auto &e : f.x)
        e = typename detail::storage<T>::type(value);
}

// Not inlined, so that the caller's line is the kernel's, and not instrumented: what they touch is
// noted instead.
#define CPU_WMMA_CALL __attribute__((noinline, no_sanitize("thread")))

template<class Use, int K, class T, class Layout>
CPU_WMMA_CALL void load_matrix_sync(fragment<Use, 16, 16, K, T, Layout> &f,
                                    const typename detail::storage<T>::type *p, unsigned ldm) {
    using E = typename detail::storage<T>::type;
    detail::each_element(CPU_DEVICE_CALLER, f, p, ldm, detail::is_row_major<Layout>, cpu::Access::read,
                         [](E &x, const E &memory) { x = memory; });
}

template<int K, class T>
CPU_WMMA_CALL void load_matrix_sync(fragment<accumulator, 16, 16, K, T> &f, const T *p, unsigned ldm,
                                    layout_t layout) {
    detail::each_element(CPU_DEVICE_CALLER, f, p, ldm, layout == mem_row_major, cpu::Access::read,
                         [](T &x, const T &memory) { x = memory; });
}

template<int K, class T>
CPU_WMMA_CALL void store_matrix_sync(T *p, const fragment<accumulator, 16, 16, K, T> &f, unsigned ldm,
                                     layout_t layout) {
    detail::each_element(CPU_DEVICE_CALLER, f, p, ldm, layout == mem_row_major, cpu::Access::write,
                         [](const T &x, T &memory) { memory = x; });
}

template<int K, class T, class LayoutA, class LayoutB>
CPU_WMMA_CALL void mma_sync(fragment<accumulator, 16, 16, K, float> &d,
                            const fragment<matrix_a, 16, 16, K, T, LayoutA> &a,
                            const fragment<matrix_b, 16, 16, K, T, LayoutB> &b,
                            const fragment<accumulator, 16, 16, K, float> &c) {
    detail::Operands<K, T> mine{CPU_DEVICE_CALLER, a.x, b.x, c.x, d.x};
    cpu::warp_meet(mine.place, "mma_sync", ~0u, detail::multiply_lanes<K, T>, &mine);
}

#undef CPU_WMMA_CALL
} // namespace wmma
} // namespace nvcuda
