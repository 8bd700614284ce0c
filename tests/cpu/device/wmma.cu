// One matrix product of each type, in every combination of layouts.
#include "kernels.h"
#include <mma.h>
#include <type_traits>
using namespace nvcuda;

template<class T> struct Tile {
    enum { K = 16 };
};
template<> struct Tile<float> {
    enum { K = 8 };
};

// Fragment is the type in fragments, Element the one in memory: they differ for tf32.
template<class Fragment, class Element, class LayoutA, class LayoutB, bool CONVERT>
static __global__ void product(const float *a, const float *b, float *c) {
    enum { K = Tile<Element>::K };
    __shared__ __align__(32) Element A[16 * K], B[16 * K];
    for (int i = threadIdx.x; i < 16 * K; i += 32) {
        A[i] = Element(a[i]);
        B[i] = Element(b[i]);
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, K, Fragment, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, K, Fragment, LayoutB> fb;
    wmma::fragment<wmma::accumulator, 16, 16, K, float> acc;
    const bool a_rows = std::is_same<LayoutA, wmma::row_major>::value;
    const bool b_rows = std::is_same<LayoutB, wmma::row_major>::value;
    wmma::load_matrix_sync(fa, A, a_rows ? K : 16);
    wmma::load_matrix_sync(fb, B, b_rows ? 16 : K);
    if (CONVERT) {
        for (int e = 0; e < fa.num_elements; ++e) fa.x[e] = wmma::__float_to_tf32(fa.x[e]);
        for (int e = 0; e < fb.num_elements; ++e) fb.x[e] = wmma::__float_to_tf32(fb.x[e]);
    }
    wmma::fill_fragment(acc, 0.0f);
    wmma::mma_sync(acc, fa, fb, acc);
    wmma::store_matrix_sync(c, acc, 16, wmma::mem_col_major);
    __syncwarp();
    wmma::load_matrix_sync(acc, c, 16, wmma::mem_col_major);
    __syncwarp();
    wmma::store_matrix_sync(c, acc, 16, wmma::mem_row_major);
}

template<class Fragment, class Element, bool CONVERT>
static void pick(int a_col, int b_col, const float *a, const float *b, float *c) {
    if (a_col && b_col)
        product<Fragment, Element, wmma::col_major, wmma::col_major, CONVERT><<<1, 32>>>(a, b, c);
    else if (a_col) product<Fragment, Element, wmma::col_major, wmma::row_major, CONVERT><<<1, 32>>>(a, b, c);
    else if (b_col) product<Fragment, Element, wmma::row_major, wmma::col_major, CONVERT><<<1, 32>>>(a, b, c);
    else product<Fragment, Element, wmma::row_major, wmma::row_major, CONVERT><<<1, 32>>>(a, b, c);
}

cudaError_t run_wmma(enum wmma_type type, int a_col, int b_col, const float *a, const float *b, float *c) {
    if (type == TF32) pick<wmma::precision::tf32, float, true>(a_col, b_col, a, b, c);
    if (type == TF32_NOT_CONVERTED) pick<wmma::precision::tf32, float, false>(a_col, b_col, a, b, c);
    if (type == FP16) pick<half, half, false>(a_col, b_col, a, b, c);
    if (type == BF16) pick<__nv_bfloat16, __nv_bfloat16, false>(a_col, b_col, a, b, c);
    return cudaGetLastError();
}

static __global__ void round_all(enum wmma_type type, const float *in, float *out) {
    float x = in[threadIdx.x];
    if (type == TF32) x = wmma::__float_to_tf32(x);
    if (type == FP16) x = __half2float(__float2half(x));
    if (type == BF16) x = __bfloat162float(__float2bfloat16(x));
    out[threadIdx.x] = x;
}
cudaError_t run_round(enum wmma_type type, const float *in, float *out, int n) {
    round_all<<<1, n>>>(type, in, out);
    return cudaGetLastError();
}
