/** @file mma.h Stand-in for the CUDA header of this name: WMMA for tf32 (16x16x8), fp16 and bf16 (16x16x16), with
 * fp32 accumulation. A load or store moves each lane's own elements when that lane gets there; only mma_sync
 * meets. Real warps are kinder. Elements lie as in mma.sync's documented register layout. */
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda::wmma {
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
template<class T> using element =
    std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>; ///< in memory

enum Form { a8, b8, b16, c, a16 = c }; ///< how a matrix lies in the lanes; by its letter and K
template<class Use, int K> constexpr Form form = std::is_same_v<Use, matrix_a>   ? (K == 8 ? a8 : a16)
                                                 : std::is_same_v<Use, matrix_b> ? (K == 8 ? b8 : b16)
                                                                                 : c;
constexpr int elements(Form form) { return form <= b8 ? 4 : 8; } ///< of one lane

/// Moves the running lane's elements to or from memory, and reports what WMMA does not allow.
template<class E>
CPU_DEVICE_DISTINCT void transfer(Form, E *x, E *p, unsigned ldm, bool row_major, bool write);
template<class E> CPU_DEVICE_DISTINCT void multiply(float *d, const E *a, const E *b, const float *c);
} // namespace detail

template<class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    static_assert(M == 16 && N == 16 && (K == 8 || K == 16), "16x16x8 and 16x16x16 only");
    enum { num_elements = detail::elements(detail::form<Use, K>) };
    using element_type = detail::element<T>;
    static_assert(detail::form<Use, K> == detail::c || (sizeof(element_type) == 4) == (K == 8),
                  "tf32: K = 8");
    element_type x[num_elements];
    fragment() { memset(x, 0xff, sizeof x); } // NaN, for a forgotten fill or load
};
template<int K> using fragment_c = fragment<accumulator, 16, 16, K, float>;

template<class Use, int K, class T, class Layout>
void fill_fragment(fragment<Use, 16, 16, K, T, Layout> &f, float value) {
    for (auto &e : f.x) e = value;
}

// Inlined, so that the line of the call is the kernel's.
template<class Use, int K, class T, class Layout> __forceinline__ void
load_matrix_sync(fragment<Use, 16, 16, K, T, Layout> &f, const detail::element<T> *p, unsigned ldm) {
    bool row_major = !std::is_same_v<Layout, col_major>;
    detail::transfer(detail::form<Use, K>, f.x, const_cast<detail::element<T> *>(p), ldm, row_major, false);
}
template<int K>
__forceinline__ void load_matrix_sync(fragment_c<K> &f, const float *p, unsigned ldm, layout_t layout) {
    detail::transfer(detail::c, f.x, const_cast<float *>(p), ldm, layout == mem_row_major, false);
}
template<int K>
__forceinline__ void store_matrix_sync(float *p, const fragment_c<K> &f, unsigned ldm, layout_t layout) {
    detail::transfer(detail::c, const_cast<float *>(f.x), p, ldm, layout == mem_row_major, true);
}
template<int K, class T, class LayoutA, class LayoutB>
__forceinline__ void mma_sync(fragment_c<K> &d, const fragment<matrix_a, 16, 16, K, T, LayoutA> &a,
                              const fragment<matrix_b, 16, 16, K, T, LayoutB> &b, const fragment_c<K> &c) {
    detail::multiply(d.x, a.x, b.x, c.x);
}
} // namespace nvcuda::wmma
