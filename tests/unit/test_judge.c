/* Unit tests of common/judge, on the host loops: element types, fills, references, comparisons, bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/judge.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct element_types f32 = {ELEMENT_F32, ELEMENT_F32, ELEMENT_F32};
static const struct element_types tf32 = {ELEMENT_TF32, ELEMENT_F32, ELEMENT_F32};
static const struct element_types bf16 = {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16};

/* ---- element types ---- */

static void types_are_parsed(void **state) {
    (void)state;
    struct element_types t;
    assert_true(element_types_parse("f32", &t) && memcmp(&t, &f32, sizeof t) == 0);
    assert_true(element_types_parse("tf32:f32:f32", &t) && memcmp(&t, &tf32, sizeof t) == 0);
    assert_true(element_types_parse("bf16:f32:bf16", &t) && memcmp(&t, &bf16, sizeof t) == 0);
    static const char *const bad[] = {"", "f", "f3", "f320", "f32:", "f32:f32", "f32:f32:f32:f32"};
    for (size_t i = 0; i < COUNT(bad); ++i)
        if (element_types_parse(bad[i], &t)) fail_msg("'%s'", bad[i]);
}

static void short_types_survive_both_ways(void **state) {
    (void)state;
    static const enum element_type types[] = {ELEMENT_BF16, ELEMENT_F16};
    for (size_t t = 0; t < COUNT(types); ++t)
        for (uint32_t bits = 0; bits < 0x10000; ++bits) {
            double value = element_value(types[t], bits);
            uint32_t back = element_round(types[t], value);
            if (isnan(value) ? !isnan(element_value(types[t], back)) : back != bits)
                fail_msg("%s %04x: %g, %04x", element_name(types[t]), bits, value, back);
        }
}

static void rounding_is_to_nearest_even(void **state) {
    (void)state;
    static const struct {
        enum element_type type;
        double value, rounded;
    } table[] = {
        {ELEMENT_BF16, 257, 256},
        {ELEMENT_BF16, 259, 260},
        {ELEMENT_BF16, -258.9, -258},
        {ELEMENT_BF16, 3.4e38, INFINITY},
        {ELEMENT_F16, 2049, 2048},
        {ELEMENT_F16, 2051, 2052},
        {ELEMENT_F16, 65519, 65504},
        {ELEMENT_F16, 65520, INFINITY},
        {ELEMENT_F16, 0x1p-25, 0},
        {ELEMENT_F16, 0x1.8p-24, 0x1p-23},
        {ELEMENT_F16, 0x1.8p-25, 0x1p-24},
        {ELEMENT_F32, 16777217, 16777216},
        {ELEMENT_U32, 4294967295.0, 4294967295.0},
    };
    for (size_t i = 0; i < COUNT(table); ++i) {
        double got = element_value(table[i].type, element_round(table[i].type, table[i].value));
        if (got != table[i].rounded) fail_msg("row %zu: %g", i, got);
    }
}

static void poison_is_nan(void **state) {
    (void)state;
    for (int t = ELEMENT_F32; t < ELEMENT_U32; ++t) assert_true(isnan(element_value(t, element_poison(t))));
}

/* ---- fill ---- */

static void fill_is_never_constant_and_never_periodic(void **state) {
    (void)state;
    enum { N = 64 };
    static float x[N * N];
    struct matrix m = {ELEMENT_F32, x, N, N, N};
    struct fill fill = {.mode = FILL_REAL, .seed = 1};
    judge_fill(&m, &fill);
    for (int shift = 1; shift < N * N / 2; ++shift) {
        int equal = 0;
        for (int i = 0; i + shift < N * N; ++i) equal += x[i] == x[i + shift];
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

static void fill_puts_nan_between_rows_only(void **state) {
    (void)state;
    float x[3 * 5 + 1];
    struct matrix m = {ELEMENT_F32, x, 3, 3, 5};
    struct fill fill = {.mode = FILL_REAL, .seed = 1};
    x[13] = x[14] = x[15] = 7;
    judge_fill(&m, &fill);
    assert_true(isnan(x[3]) && isnan(x[4]) && isnan(x[8]) && isnan(x[9]));
    assert_true(!isnan(x[0]) && !isnan(x[5]) && !isnan(x[12]));
    assert_true(x[13] == 7 && x[14] == 7); /* behind the last element there may be nothing */
}

/* Significant bits of an integer. */
static int digits_of(double value) {
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    int digits = 0;
    for (; fraction != floor(fraction); fraction *= 2) ++digits;
    return digits;
}

/* A row of A and a column of B: for each k one is wide, of all its type's bits, and sums stay exact. */
static void exact_inputs_are_as_wide_as_their_type(void **state) {
    (void)state;
    static const struct {
        struct element_types types;
        int digits;
    } table[] = {
        {{ELEMENT_F32, ELEMENT_F32, ELEMENT_F32}, 12},  {{ELEMENT_TF32, ELEMENT_F32, ELEMENT_F32}, 11},
        {{ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16}, 8}, {{ELEMENT_F16, ELEMENT_F32, ELEMENT_F32}, 11},
        {{ELEMENT_F16, ELEMENT_F32, ELEMENT_F16}, 7},   {{ELEMENT_F16, ELEMENT_F16, ELEMENT_F16}, 3}};
    static const uint64_t depth[] = {1, 2, 100, 4096, 4097, 100003, 3000000};
    for (size_t t = 0; t < COUNT(table); ++t)
        for (size_t d = 0; d < COUNT(depth); ++d) {
            const struct element_types types = table[t].types;
            struct fill a = fill_product(types, depth[d], 1, false, FILL_EXACT),
                        b = fill_product(types, depth[d], 2, true, FILL_EXACT);
            double magnitude = 0;
            int wide_a = 0, wide_b = 0;
            for (uint64_t k = 0; k < depth[d]; ++k) {
                double x = fill_element(&a, 7, k), y = fill_element(&b, k, 9);
                int of_x = digits_of(x), of_y = digits_of(y);
                assert_true((of_x == table[t].digits && of_y <= 1) || (of_y == table[t].digits && of_x <= 1));
                assert_true(element_value(types.in, element_round(types.in, x)) == x);
                magnitude += fabs(x * y);
                wide_a += of_x > 1 && y != 0, wide_b += of_y > 1 && x != 0;
            }
            magnitude /= a.scale;
            assert_true(magnitude <= (double)((uint64_t)1 << element_digits(types.acc)));
            if (types.out == ELEMENT_F16) assert_true(magnitude <= 65504);
            if (depth[d] >= 4096) assert_true(wide_a > 20 && wide_b > 20);
        }
}

static void near_integers_round_to_the_integers(void **state) {
    (void)state;
    for (uint64_t k = 0; k < 1000; ++k) {
        struct fill exact = fill_product(tf32, 1000, 1, false, FILL_EXACT), near = exact;
        near.mode = FILL_NEAR;
        union element_float x = {(float)fill_element(&near, 3, k)};
        assert_true(fill_element(&near, 3, k) == x.value); /* no rounding on the way */
        x.bits = (x.bits + 0x1000) & ~0x1fffu;             /* to TF32, as cvt.rna does */
        assert_true(x.value == fill_element(&exact, 3, k));
    }
}

/* ---- reference and comparison ---- */

static void reference_is_right_for_a_rectangle(void **state) {
    (void)state;
    float A[2 * 4] = {1, 2, 3, NAN, -4, 5, -6, NAN}, B[3 * 2] = {1, -2, 3, 4, 5, 6};
    double ref[4], mag[4];
    struct product p = {
        f32, {ELEMENT_F32, A, 2, 3, 4}, {ELEMENT_F32, B, 3, 2, 2}, {ELEMENT_F32, NULL, 2, 2, 2}, ref, mag};
    judge->reference(&p);
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
        double got, want, bound;
        bool close;
    } table[] = {
        {1, 1, 0, true},      {0.0, -0.0, 0, true},   {-0.0, 0.0, 0, true},    {1, 2, 1, true},
        {1, 2.001, 1, false}, {nan, 1, 10, false},    {1, nan, 10, false},     {nan, nan, 10, false},
        {inf, 1, 10, false},  {inf, inf, 10, false},  {-inf, inf, inf, false}, {1, 1, nan, false},
        {1, 2, inf, false},   {nan, nan, inf, false},
    };
    for (size_t i = 0; i < COUNT(table); ++i)
        if (is_close(table[i].got, table[i].want, table[i].bound) != table[i].close)
            fail_msg("row %zu: got %g, want %g, bound %g", i, table[i].got, table[i].want, table[i].bound);
}

static void comparison_finds_the_first_wrong_element(void **state) {
    (void)state;
    float C[2 * 4] = {1, 2, 3, 99, 4, 5, 6, 99};
    double ref[6] = {1, 2, 3, 4, 5, 6}, mag[6] = {1, 2, 3, 4, 5, 6};
    struct product p = {
        f32, {ELEMENT_F32, NULL, 2, 1, 1}, {ELEMENT_F32, NULL, 1, 3, 3}, {ELEMENT_F32, C, 2, 3, 4}, ref, mag};
    struct found r = judge_compare(&p, true);
    assert_int_equal(r.count, 0);
    assert_true(r.largest == 0);
    C[6] = NAN;
    C[5] = 5.5f;
    r = judge_compare(&p, false);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.first, 1 * 3 + 1);
    assert_true(isnan(r.largest));
}

static void elements_outside_the_matrix_are_counted(void **state) {
    (void)state;
    uint32_t x[3 + 2 * 5 + 4];
    struct output y = {{ELEMENT_F32, x + 3, 2, 3, 5}, x, COUNT(x)};
    judge_poison(&y);
    x[3] = x[3 + 5 + 2] = 0; /* inside */
    assert_int_equal(judge_outside(&y), 0);
    x[2] = 0;         /* before */
    x[3 + 3] = 0;     /* padding of row 0 */
    x[3 + 2 * 5] = 0; /* behind */
    assert_int_equal(judge_outside(&y), 3);
    y.matrix.rows = 0;
    assert_int_equal(judge_outside(&y), 5);

    uint16_t h[3 + 2 * 5 + 4];
    struct output short_y = {{ELEMENT_BF16, h + 3, 2, 3, 5}, h, COUNT(h)};
    judge_poison(&short_y);
    assert_true(isnan(element_load(ELEMENT_BF16, h, 0)));
    h[3] = h[2] = 0;
    assert_int_equal(judge_outside(&short_y), 1);
}

static void digest_sees_every_bit_and_place(void **state) {
    (void)state;
    float x[2][4] = {{0, 1, 2, NAN}, {3, 4, 5, NAN}}; /* 2 x 3, and padding */
    struct matrix m = {ELEMENT_F32, x, 2, 3, 4}, none = {ELEMENT_F32, x, 0, 3, 4};
    uint64_t digest = judge_digest(&m);
    x[0][3] = 7; /* padding */
    assert_true(judge_digest(&m) == digest);
    x[0][0] = -0.0f;
    assert_false(judge_digest(&m) == digest);
    x[0][0] = 0;
    x[0][1] = 2, x[0][2] = 1; /* swapped */
    assert_false(judge_digest(&m) == digest);
    assert_int_equal(judge_digest(&none), 0);
}

/* ---- bounds ---- */

/* The bound must pass honest rounding and still fail a result that lacks one tile of 8. */
static void bound_tells_rounding_from_a_dropped_tile(void **state) {
    (void)state;
    static const int depth[] = {8, 64, 1024, 16384};
    struct fill a = {.mode = FILL_REAL, .seed = 1}, b = {.mode = FILL_REAL, .seed = 2};
    for (size_t d = 0; d < COUNT(depth); ++d) {
        int K = depth[d], caught = 0;
        for (uint64_t trial = 0; trial < 200; ++trial) {
            float sum = 0, dropped = 0;
            double ref = 0, mag = 0;
            for (int k = 0; k < K; ++k) {
                float x = (float)fill_element(&a, trial, (uint64_t)k);
                float y = (float)fill_element(&b, (uint64_t)k, trial);
                sum += x * y;
                dropped += k < 8 ? 0 : x * y;
                ref += (double)x * y;
                mag += fabs((double)x * y);
            }
            assert_true(is_close(sum, ref, product_bound(f32, K, mag, ref)));
            assert_true(is_close(sum, ref, product_bound(tf32, K, mag, ref)));
            caught += !is_close(dropped, ref, product_bound(f32, K, mag, ref));
        }
        assert_true(caught > 100);
    }
}

/* All-positive inputs round with a bias; the bound must hold for them too. */
static void bound_holds_for_positive_inputs(void **state) {
    (void)state;
    enum { K = 16384 };
    struct fill a = {.mode = FILL_REAL, .seed = 1};
    for (uint64_t trial = 0; trial < 50; ++trial) {
        float sum = 0;
        double ref = 0;
        for (uint64_t k = 0; k < K; ++k) {
            float x = (float)fabs(fill_element(&a, trial, k));
            sum += x * x;
            ref += (double)x * x;
        }
        assert_true(is_close(sum, ref, product_bound(f32, K, ref, ref)));
    }
}

/* In 16 bits: sums rounded once pass, and so does a tie that FP32 decided otherwise; others do not. */
static void short_types_get_one_rounding(void **state) {
    (void)state;
    static const struct {
        enum element_type type;
        double unit; /* a unit in the last place relative to the smallest number of its binade */
    } table[] = {{ELEMENT_BF16, 0x1p-7}, {ELEMENT_F16, 0x1p-10}};
    for (size_t t = 0; t < COUNT(table); ++t) {
        const struct element_types types = {table[t].type, ELEMENT_F32, table[t].type};
        struct fill a = {.mode = FILL_REAL, .seed = 1}, b = {.mode = FILL_REAL, .seed = 2};
        int caught = 0;
        enum { K = 512, TRIALS = 200, TAIL = 16 };
        for (uint64_t trial = 0; trial < TRIALS; ++trial) {
            float sum = 0, tail = 0;
            double ref = 0, mag = 0;
            for (uint64_t k = 0; k < K; ++k) {
                double x = element_value(types.in, element_round(types.in, fill_element(&a, trial, k))),
                       y = element_value(types.in, element_round(types.in, fill_element(&b, k, trial)));
                sum += (float)(x * y);
                tail += k < K - TAIL ? 0 : (float)(x * y);
                ref += x * y;
                mag += fabs(x * y);
            }
            double bound = product_bound(types, K, mag, ref),
                   got = element_value(types.out, element_round(types.out, sum)),
                   short_of = element_value(types.out, element_round(types.out, sum - tail));
            assert_true(is_close(got, ref, bound));
            assert_false(is_close(got + 4 * table[t].unit * fabs(got) + 0.1, ref, bound));
            caught += !is_close(short_of, ref, bound);
        }
        assert_true(caught > TRIALS / 2);
    }
    /* -65.74 is nearer to -65.5, but an FP32 sum may see it beyond the tie at -65.75: -66 is one unit
     * in the last place from it. */
    assert_true(is_close(-66, -65.74, product_bound(bf16, 256, 1000, -65.74)));
    assert_true(is_close(-65.5, -65.74, product_bound(bf16, 256, 1000, -65.74)));
    assert_false(is_close(-65.0, -65.74, product_bound(bf16, 256, 1000, -65.74)));
    assert_true(product_bound(bf16, 4096, 1, 0) > product_bound(bf16, 256, 1, 0));
}

/* Ones added up in FP16 stick at 2048; 65536 does not fit FP16, but BF16. */
static void short_sums_neither_stick_nor_overflow(void **state) {
    (void)state;
    static const struct {
        struct element_types types;
        double got, want;
        bool close;
    } table[] = {
        {{ELEMENT_F16, ELEMENT_F32, ELEMENT_F16}, 4096, 4096, true},
        {{ELEMENT_F16, ELEMENT_F32, ELEMENT_F16}, 2048, 4096, false},
        {{ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16}, 65536, 65536, true},
        {{ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16}, INFINITY, 65536, false},
        {{ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16}, 65536, 65537, true}, /* rounded once */
        {{ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16}, 66048, 65537, false},
    };
    for (size_t i = 0; i < COUNT(table); ++i) {
        uint16_t c = (uint16_t)element_round(table[i].types.out, table[i].got);
        double ref = table[i].want, mag = table[i].want;
        struct product p = {table[i].types,
                            {table[i].types.in, NULL, 1, 1024, 1024},
                            {table[i].types.in, NULL, 1024, 1, 1},
                            {table[i].types.out, &c, 1, 1, 1},
                            &ref,
                            &mag};
        if ((judge_compare(&p, true).count == 0) != table[i].close) fail_msg("row %zu", i);
    }
}

/* A result computed in TF32 is within the bound of FP32 on reals, at large K, but not on integers. */
static void tf32_cannot_pass_for_f32(void **state) {
    (void)state;
    enum { M = 8, N = 8, K = 4096 };
    static float A[M * K], B[K * N], C[M * N];
    static double ref[M * N], mag[M * N];
    struct product p = {
        f32, {ELEMENT_F32, A, M, K, K}, {ELEMENT_F32, B, K, N, N}, {ELEMENT_F32, C, M, N, N}, ref, mag};
    for (int exact = 0; exact <= 1; ++exact) {
        enum fill_mode mode = exact ? FILL_EXACT : FILL_REAL;
        struct fill a = fill_product(f32, K, 1, false, mode), b = fill_product(f32, K, 2, true, mode);
        judge_fill(&p.A, &a);
        judge_fill(&p.B, &b);
        judge->reference(&p);
        for (int round = 0; round <= 1; ++round) {
            for (int i = 0; i < M * N; ++i) {
                C[i] = 0;
                for (int k = 0; k < K; ++k) {
                    union element_float x = {A[i / N * K + k]}, y = {B[k * N + i % N]};
                    if (round) {
                        x.bits = (x.bits + 0x1000) & ~0x1fffu;
                        y.bits = (y.bits + 0x1000) & ~0x1fffu;
                    }
                    C[i] += x.value * y.value;
                }
            }
            uint64_t wrong = judge_compare(&p, exact).count;
            assert_true(exact && round ? wrong > M * N / 2 : wrong == 0);
        }
    }
}

/* More ones than FP32 counts one by one. */
static void ones_may_be_added_up_in_chunks(void **state) {
    (void)state;
    const double n = 1 << 28;
    assert_true(ones_bound(f32, 1 << 24) == 0);
    for (int chunks = 1000; chunks <= 16384; chunks += 769) {
        float chunk = ceilf((float)n / (float)chunks), sum = 0; /* a chunk's own sum is exact */
        double left = n;
        for (; left > 0; left -= chunk) sum += left < chunk ? (float)left : chunk;
        assert_true(sum != n || chunks % 2 == 0);
        assert_true(is_close(sum, n, ones_bound(f32, n)));
    }
    assert_false(is_close(1 << 24, 1 << 25, ones_bound(f32, 1 << 25))); /* one running sum */
    assert_false(is_close(n - 65536 * 16, n, ones_bound(f32, n)));
}

/* ---- the self-test ---- */

static int broken; /* the task that a judge does wrong */

static struct found run_broken(const struct task *task) {
    struct task t = *task;
    if ((int)t.kind == broken && t.count > 1) t.count -= 1 + t.count / 2;
    return host_judge.run(&t);
}

static void the_self_test_finds_a_broken_judge(void **state) {
    (void)state;
    struct judge tested = host_judge;
    assert_null(judge_self_test(&tested));
    tested.run = run_broken;
    for (broken = TASK_FILL; broken <= TASK_DIGEST; ++broken)
        if (judge_self_test(&tested) == NULL) fail_msg("task %d", broken);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_parsed),
        cmocka_unit_test(short_types_survive_both_ways),
        cmocka_unit_test(rounding_is_to_nearest_even),
        cmocka_unit_test(poison_is_nan),
        cmocka_unit_test(fill_is_never_constant_and_never_periodic),
        cmocka_unit_test(fill_depends_on_seed_row_and_column),
        cmocka_unit_test(fill_puts_nan_between_rows_only),
        cmocka_unit_test(exact_inputs_are_as_wide_as_their_type),
        cmocka_unit_test(near_integers_round_to_the_integers),
        cmocka_unit_test(reference_is_right_for_a_rectangle),
        cmocka_unit_test(close_is_a_comparison_that_nan_cannot_pass),
        cmocka_unit_test(comparison_finds_the_first_wrong_element),
        cmocka_unit_test(elements_outside_the_matrix_are_counted),
        cmocka_unit_test(digest_sees_every_bit_and_place),
        cmocka_unit_test(bound_tells_rounding_from_a_dropped_tile),
        cmocka_unit_test(bound_holds_for_positive_inputs),
        cmocka_unit_test(short_types_get_one_rounding),
        cmocka_unit_test(short_sums_neither_stick_nor_overflow),
        cmocka_unit_test(tf32_cannot_pass_for_f32),
        cmocka_unit_test(ones_may_be_added_up_in_chunks),
        cmocka_unit_test(the_self_test_finds_a_broken_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
