/* Unit tests of the judge: fill, reference, comparison, bounds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "judge/oracle.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- fill ---- */

static void fill_is_never_constant_and_never_periodic(void **state) {
    (void)state;
    enum { N = 64 };
    static float x[N * N];
    host_fill(x, N, N, N, FILL_REAL, 0, 1);
    for (int shift = 1; shift < N * N / 2; ++shift) {
        int equal = 0;
        for (int i = 0; i + shift < N * N; ++i)
            equal += x[i] == x[i + shift];
        assert_true(equal < 8);
    }
    double sum = 0, square = 0;
    for (int i = 0; i < N * N; ++i) {
        assert_true(x[i] >= -1 && x[i] < 1);
        sum += x[i], square += (double)x[i] * x[i];
    }
    assert_true(fabs(sum / (N * N)) < 0.03);               /* mean 0, 3 standard deviations */
    assert_true(fabs(square / (N * N) - 1.0 / 3) < 0.015); /* variance 1/3 */
}

static void fill_depends_on_seed_row_and_column(void **state) {
    (void)state;
    assert_true(number_hash(1, 2, 3) != number_hash(2, 2, 3));
    assert_true(number_hash(1, 2, 3) != number_hash(1, 3, 2));
    assert_true(number_hash(1, 2, 3) != number_hash(1, 2, 4));
    assert_true(number_hash(1, 0, 4096) != number_hash(1, 1, 0));
}

static void fill_exact_takes_every_integer_of_its_range(void **state) {
    (void)state;
    int seen[17] = {0};
    for (int i = 0; i < 1000; ++i) {
        float x = number_fill(FILL_EXACT, 8, 1, 0, (uint64_t)i);
        assert_true(x == floorf(x) && x >= -8 && x <= 8);
        seen[(int)x + 8] = 1;
    }
    for (size_t i = 0; i < COUNT(seen); ++i)
        assert_int_equal(seen[i], 1);
}

static void fill_puts_nan_between_rows_only(void **state) {
    (void)state;
    float x[3 * 5 + 1];
    x[13] = x[14] = x[15] = 7;
    host_fill(x, 3, 3, 5, FILL_REAL, 0, 1);
    assert_true(isnan(x[3]) && isnan(x[4]) && isnan(x[8]) && isnan(x[9]));
    assert_true(!isnan(x[0]) && !isnan(x[5]) && !isnan(x[12]));
    assert_true(x[13] == 7 && x[14] == 7); /* behind the last element there may be nothing */
}

static void exact_range_keeps_sums_exact(void **state) {
    (void)state;
    static const struct {
        int64_t terms;
        int range;
    } table[] = {{0, 8},       {1, 8},       {262144, 8},       {262145, 7},
                 {1 << 20, 4}, {1 << 24, 1}, {(1 << 24) + 1, 0}};
    for (size_t i = 0; i < COUNT(table); ++i)
        assert_int_equal(exact_range(table[i].terms), table[i].range);
}

/* ---- reference and comparison ---- */

static void reference_is_right_for_a_rectangle(void **state) {
    (void)state;
    const float A[2 * 4] = {1, 2, 3, NAN, -4, 5, -6, NAN}, B[3 * 2] = {1, -2, 3, 4, 5, 6};
    double ref[4], mag[4];
    struct product p = {2, 2, 3, 4, 2, 2, A, B, NULL, ref, mag};
    host_reference(&p);
    const double want[4] = {22, 24, -19, -8}, magnitude[4] = {22, 28, 49, 64};
    for (int i = 0; i < 4; ++i) {
        assert_true(ref[i] == want[i]);
        assert_true(mag[i] == magnitude[i]);
    }
}

static void close_is_a_comparison_that_nan_cannot_pass(void **state) {
    (void)state;
    const double inf = INFINITY;
    static const double nan = NAN;
    const struct {
        float got;
        double want, bound;
        int close;
    } table[] = {
        {1, 1, 0, 1},
        {0.0f, -0.0, 0, 1},
        {-0.0f, 0.0, 0, 1},
        {1, 2, 1, 1},
        {1, 2.001, 1, 0},
        {(float)nan, 1, 10, 0},
        {1, nan, 10, 0},
        {(float)nan, nan, 10, 0},
        {(float)inf, 1, 10, 0},
        {(float)inf, inf, 10, 0},
        {-(float)inf, inf, inf, 0},
        {1, 1, nan, 0},
        {1, 2, inf, 0},
        {(float)nan, nan, inf, 0},
    };
    for (size_t i = 0; i < COUNT(table); ++i)
        if (number_close(table[i].got, table[i].want, table[i].bound) != table[i].close)
            fail_msg("row %zu: got %g, want %g, bound %g", i, table[i].got, table[i].want,
                     table[i].bound);
}

static void comparison_finds_the_first_wrong_element(void **state) {
    (void)state;
    float C[2 * 4] = {1, 2, 3, 99, 4, 5, 6, 99};
    double ref[6] = {1, 2, 3, 4, 5, 6}, mag[6] = {1, 2, 3, 4, 5, 6};
    struct product p = {2, 3, 1, 1, 3, 4, NULL, NULL, C, ref, mag};
    struct comparison r;
    host_compare(&p, TYPE_F32, 1, &r);
    assert_int_equal(r.wrong, 0);
    assert_true(r.max_error == 0);
    C[6] = NAN;
    C[5] = 5.5f;
    host_compare(&p, TYPE_F32, 0, &r);
    assert_int_equal(r.wrong, 2);
    assert_int_equal(r.first, 1 * 3 + 1);
    assert_true(isnan(r.max_error));
}

static void words_outside_the_matrix_are_counted(void **state) {
    (void)state;
    uint32_t words[3 + 2 * 5 + 4];
    for (size_t i = 0; i < COUNT(words); ++i)
        words[i] = ORACLE_POISON;
    words[3] = words[3 + 5 + 2] = 0; /* inside */
    assert_int_equal(host_outside(words, COUNT(words), 3, 2, 3, 5), 0);
    words[2] = 0;         /* before */
    words[3 + 3] = 0;     /* padding of row 0 */
    words[3 + 2 * 5] = 0; /* behind */
    assert_int_equal(host_outside(words, COUNT(words), 3, 2, 3, 5), 3);
    assert_int_equal(host_outside(words, COUNT(words), 3, 0, 3, 5), 5);
}

static void digest_sees_every_bit_and_place(void **state) {
    (void)state;
    float x[2][4] = {{0, 1, 2, NAN}, {3, 4, 5, NAN}}; /* 2 x 3, and padding */
    uint64_t digest = host_digest(x[0], 2, 3, 4);
    x[0][3] = 7; /* padding */
    assert_true(host_digest(x[0], 2, 3, 4) == digest);
    x[0][0] = -0.0f;
    assert_false(host_digest(x[0], 2, 3, 4) == digest);
    x[0][0] = 0;
    x[0][1] = 2, x[0][2] = 1; /* swapped */
    assert_false(host_digest(x[0], 2, 3, 4) == digest);
    assert_int_equal(host_digest(x[0], 0, 3, 4), 0);
}

/* The bound must pass honest rounding and still fail a result that lacks one slab of 8. */
static void bound_tells_rounding_from_a_dropped_slab(void **state) {
    (void)state;
    static const int depth[] = {8, 64, 1024, 16384};
    for (size_t d = 0; d < COUNT(depth); ++d) {
        int K = depth[d], caught = 0;
        for (int trial = 0; trial < 200; ++trial) {
            float sum = 0, dropped = 0;
            double ref = 0, mag = 0;
            for (int k = 0; k < K; ++k) {
                float a = number_fill(FILL_REAL, 0, 1, (uint64_t)trial, (uint64_t)k);
                float b = number_fill(FILL_REAL, 0, 2, (uint64_t)k, (uint64_t)trial);
                sum += a * b;
                dropped += k < 8 ? 0 : a * b;
                ref += (double)a * b;
                mag += fabs((double)a * b);
            }
            assert_true(number_close(sum, ref, gemm_bound(TYPE_F32, K, mag)));
            assert_true(number_close(sum, ref, gemm_bound(TYPE_TF32, K, mag)));
            caught += !number_close(dropped, ref, gemm_bound(TYPE_F32, K, mag));
        }
        assert_true(caught > 100);
    }
}

/* All-positive inputs round with a bias; the bound must hold for them too. */
static void bound_holds_for_positive_inputs(void **state) {
    (void)state;
    enum { K = 16384 };
    for (int trial = 0; trial < 50; ++trial) {
        float sum = 0;
        double ref = 0;
        for (int k = 0; k < K; ++k) {
            float a = fabsf(number_fill(FILL_REAL, 0, 1, (uint64_t)trial, (uint64_t)k));
            sum += a * a;
            ref += (double)a * a;
        }
        assert_true(number_close(sum, ref, gemm_bound(TYPE_F32, K, ref)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_is_never_constant_and_never_periodic),
        cmocka_unit_test(fill_depends_on_seed_row_and_column),
        cmocka_unit_test(fill_exact_takes_every_integer_of_its_range),
        cmocka_unit_test(fill_puts_nan_between_rows_only),
        cmocka_unit_test(exact_range_keeps_sums_exact),
        cmocka_unit_test(reference_is_right_for_a_rectangle),
        cmocka_unit_test(close_is_a_comparison_that_nan_cannot_pass),
        cmocka_unit_test(comparison_finds_the_first_wrong_element),
        cmocka_unit_test(words_outside_the_matrix_are_counted),
        cmocka_unit_test(digest_sees_every_bit_and_place),
        cmocka_unit_test(bound_tells_rounding_from_a_dropped_slab),
        cmocka_unit_test(bound_holds_for_positive_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
