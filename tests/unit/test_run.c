/* Unit tests of common/run and of what common/device judges: statistics, options, shapes, report, facts, compatibility. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/cuda_compat.h"
#include "run/options.h"
#include "run/report.h"
#include "run/timing.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- statistics ---- */

static void quantiles_interpolate(void **state) {
    (void)state;
    double x[] = {5, 1, 4, 2, 3};
    assert_true(stats_quantile(x, 5, 0.5) == 3);
    assert_true(stats_quantile(x, 5, 0) == 1);
    assert_true(stats_quantile(x, 5, 1) == 5);
    assert_true(fabs(stats_quantile(x, 5, 0.05) - 1.2) < 1e-12);
    double one[] = {7};
    assert_true(stats_quantile(one, 1, 0.95) == 7);
}

static void median_error_shrinks_with_samples(void **state) {
    (void)state;
    double x[400], y[100]; /* of one distribution */
    for (int i = 0; i < 400; ++i) x[i] = 100 + i / 400.0;
    for (int i = 0; i < 100; ++i) y[i] = 100 + i / 100.0;
    assert_true(stats_median_error(x, 5) == 1);
    assert_true(fabs(stats_median_error(y, 100) / stats_median_error(x, 400) - 2) < 0.1);
    assert_true(fabs(stats_median_error(x, 400) - 0.0005) < 0.0001);
}

/* ---- options ---- */

/* Parses the words; puts what went to stderr into `said`. */
static int parse_words(struct options *o, const char *line, char *said, size_t size) {
    static char copy[512]; /* the options point into it */
    char *argv[32] = {(char *)"program"};
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) argv[argc++] = word;
    argv[argc] = NULL;
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    dup2(fileno(file), STDERR_FILENO);
    int status = options_parse(o, SHAPE_GEMM, argc, argv);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    said[fread(said, 1, size - 1, file)] = '\0';
    fclose(file);
    return status;
}

static void options_are_read(void **state) {
    (void)state;
    struct options o;
    char said[1024];
    assert_int_equal(parse_words(&o,
                                 "--m 3 --n 0 --k 2147483392 --seed 7 --samples 9 --warm --verify-only "
                                 "--device 2 --pad 5 --schedule x --csv - --json f",
                                 said, sizeof said),
                     -1);
    assert_string_equal(said, "");
    assert_int_equal(o.shapes.count, 1);
    assert_string_equal(o.shapes.shape[0].name, "3x0x2147483392");
    assert_true(o.shapes.shape[0].m == 3 && o.shapes.shape[0].n == 0 && o.shapes.shape[0].k == 2147483392);
    assert_true(o.seed == 7 && o.samples == 9 && o.warm && o.verify_only && o.device == 2 && o.pad == 5 &&
                o.repeats == 1);
    assert_string_equal(o.schedule, "x");
    assert_int_equal(parse_words(&o, "", said, sizeof said), -1);
    assert_true(o.seed == 1 && o.samples == 0 && !o.warm && !o.verify_only && o.shapes.count == 0);
}

static void bad_options_get_one_line_and_exit_2(void **state) {
    (void)state;
    static const struct {
        const char *line, *value;
    } table[] = {
        {"--m -1 --n 2 --k 3", "-1"},
        {"--m 1.5 --n 2 --k 3", "1.5"},
        {"--m +1 --n 2 --k 3", "+1"},
        {"--m 0x10 --n 2 --k 3", "0x10"},
        {"--m 1e3 --n 2 --k 3", "1e3"},
        {"--m x --n 2 --k 3", "x"},
        {"--m 2147483393 --n 2 --k 3", "2147483393"},
        {"--m 99999999999999999999 --n 2 --k 3", "99999999999999999999"},
        {"--m 1 --n 2", "--k"},
        {"--n 2 --k 3", "--m"},
        {"--samples 0", "0"},
        {"--samples 100001", "100001"},
        {"--seed -3", "-3"},
        {"--device 1024", "1024"},
        {"--pad 4097", "4097"},
        {"--shape nonsense", "nonsense"},
        {"--shape 1x2", "1x2"},
        {"--shape 1x2x3x4", "1x2x3x4"},
        {"--shape 1x2x", "1x2x"},
        {"--shape 1x2x-3", "1x2x-3"},
        {"--shape book,,book", "''"},
        {"--shape 1x1x2147483393", "1x1x2147483393"},
        {"--shape "
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "aaaa"},
        {"--offset 1", "--offset"},
        {"--repeats 0", "0"},
        {"--unknown", "unknown"},
        {"--m", "m"},
        {"stray", "stray"},
    };
    for (size_t i = 0; i < COUNT(table); ++i) {
        struct options o;
        char said[1024];
        int status = parse_words(&o, table[i].line, said, sizeof said);
        char *end = strchr(said, '\n');
        if (status != EXIT_USAGE || strstr(said, table[i].value) == NULL || end == NULL || end[1] != '\0')
            fail_msg("'%s': status %d, said '%s'", table[i].line, status, said);
    }
}

/* ---- shapes ---- */

static void shapes_are_found_by_name_set_and_size(void **state) {
    (void)state;
    struct shapes list = {0};
    char error[256];
    assert_true(shapes_find(SHAPE_GEMM, "book,7x8x9", &list, error));
    assert_int_equal(list.count, 2);
    assert_true(list.shape[0].m == 4096 && list.shape[0].n == 2048 && list.shape[0].k == 4096);
    assert_true(list.shape[1].m == 7 && list.shape[1].n == 8 && list.shape[1].k == 9);
    list.count = 0;
    assert_true(shapes_find(SHAPE_GEMM, "deepbench", &list, error));
    assert_int_equal(list.count, 12);
    list.count = 0;
    assert_true(shapes_find(SHAPE_GEMM, "real", &list, error));
    assert_true(list.count > 30 && list.count < SHAPES_MAX);
}

static void lengths_of_vectors_are_found(void **state) {
    (void)state;
    static const struct {
        const char *word;
        int64_t n; /* -1: refused */
    } table[] = {
        {"0", 0},
        {"1000", 1000},
        {"2^28", 1 << 28},
        {"2^31-1", 2147483647},
        {"2^20+7", 1048583},
        {"2^33", VECTOR_SIZE_MAX},
        {"2^33+1", -1},
        {"2^34", -1},
        {"2^0-2", -1},
        {"2^", -1},
        {"2^5*3", -1},
        {"2^5+", -1},
        {"-1", -1},
        {"1x1x1", -1},
        {"book", -1},
        {"9999999999", -1},
    };
    for (size_t i = 0; i < COUNT(table); ++i) {
        struct shapes list = {0};
        char error[256];
        bool found = shapes_find(SHAPE_VECTOR, table[i].word, &list, error);
        if (found != (table[i].n >= 0) || (found && list.shape[0].n != table[i].n))
            fail_msg("'%s'", table[i].word);
    }
}

static void too_many_shapes_are_refused(void **state) {
    (void)state;
    struct shapes list = {0};
    char error[256];
    assert_false(shapes_find(SHAPE_GEMM, "k-tiles-17,nowhere", &list, error));
    list.count = 1;
    for (int i = 0; i < SHAPES_MAX - 1; ++i) {
        char word[16];
        snprintf(word, sizeof word, "1x1x%d", i);
        assert_true(shapes_find(SHAPE_GEMM, word, &list, error));
    }
    assert_true(shapes_find(SHAPE_GEMM, "1x1x1,1x1x1", &list, error)); /* is there already */
    assert_int_equal(list.count, SHAPES_MAX);
    assert_false(shapes_find(SHAPE_GEMM, "2x1x1", &list, error));
    assert_non_null(strstr(error, "256"));
}

/* ---- report ---- */

static void a_row_survives_csv(void **state) {
    (void)state;
    struct row row, back;
    char line[2048];
    row_clear(&row);
    snprintf(row.step, sizeof row.step, "04_regblock");
    snprintf(row.note, sizeof row.note, "first, \"quoted\", last");
    row.rate = 38.25;
    row.m = 4096;
    FILE *file = tmpfile();
    row_csv(file, &row);
    rewind(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_true(row_csv_parse(line, &back));
    assert_string_equal(back.step, row.step);
    assert_string_equal(back.note, row.note);
    assert_true(back.rate == row.rate && back.m == row.m && isnan(back.speedup));
}

static void what_is_not_a_row_is_refused(void **state) {
    (void)state;
    static const char *const lines[] = {"", "\n", "a,b,c\n", "# date: today\n", "\"unfinished"};
    for (size_t i = 0; i < COUNT(lines); ++i) {
        struct row row;
        assert_false(row_csv_parse(lines[i], &row));
    }
}

static void a_locked_file_is_refused(void **state) {
    (void)state;
    char name[] = "/tmp/overlap-test-XXXXXX";
    struct report first, second;
    close(mkstemp(name));
    assert_true(report_open(&first, name, NULL, NULL));
    assert_false(report_open(&second, name, NULL, NULL));
    first.table.file = NULL;
    assert_true(report_close(&first));
    assert_true(report_open(&second, name, NULL, NULL)); /* free again */
    second.table.file = NULL;
    assert_true(report_close(&second));
    unlink(name);
}

/* ---- what is said of a run on a GPU ---- */

static void the_facts_of_a_run_are_complete(void **state) {
    (void)state;
    struct device device = {.gpu = true,
                            .name = "Fake GPU",
                            .major = 9,
                            .sms = 132,
                            .l2_bytes = 50 << 20,
                            .driver = "580.1",
                            .runtime = "13.0",
                            .clocks = "1980 MHz, 1981 MHz",
                            .power = "700.00 W"};
    struct options options = {.seed = 42};
    struct report report = {.later = true};
    static const char *const wanted[] = {
        "date: 20",       "device: Fake GPU, sm_90, 132 SMs",
        "L2: 50 MB",      "1980 MHz, 1981 MHz",
        "power limit: 7", "driver: 580.1",
        "runtime: 13.0",  "library: ",
        "3 warm-up runs", "flushed before each sample",
        "median",         "seed: 42",
    };
    char *all;
    size_t size;
    report.table.file = open_memstream(&all, &size);
    device_report(&device, &options, &report);
    assert_int_equal(fclose(report.table.file), 0);
    for (size_t i = 0; i < COUNT(wanted); ++i)
        if (strstr(all, wanted[i]) == NULL) fail_msg("no '%s' in:\n%s", wanted[i], all);
    free(all);
}

static void an_empty_kernel_is_launch_bound(void **state) {
    (void)state;
    struct options options = {.warm = true};
    struct contestant c = {.median = 3e-6, .p5 = 2e-6, .p95 = 4e-6, .samples = 9};
    struct row row;
    row_clear(&row);
    timing_row(&row, &c, 6e6, 1e12, "TFLOP/s", &options);
    assert_non_null(strstr(row.note, "launch-bound"));
    assert_string_equal(row.l2, "warm");
    assert_true(fabs(row.rate - 2) < 1e-9 && fabs(row.rate_low - 1.5) < 1e-9 &&
                fabs(row.rate_high - 3) < 1e-9);
    c.median = 11e-6;
    row_clear(&row);
    timing_row(&row, &c, 6e6, 1e12, "TFLOP/s", &options);
    assert_string_equal(row.note, "");
}

static void code_fits_a_gpu_or_not(void **state) {
    (void)state;
    static const struct {
        const char *architectures;
        int major, minor;
        enum gpu_code code;
    } table[] = {
        {"90", 9, 0, GPU_CODE_REAL},        {"80,90", 9, 0, GPU_CODE_REAL},
        {"80", 8, 6, GPU_CODE_REAL},        {"86", 8, 0, GPU_CODE_NONE},
        {"80", 9, 0, GPU_CODE_PTX},         {"80-real", 9, 0, GPU_CODE_NONE},
        {"90-virtual", 9, 0, GPU_CODE_PTX}, {"90-virtual", 8, 0, GPU_CODE_NONE},
        {"90", 8, 9, GPU_CODE_NONE},        {"80-virtual,90-real", 9, 0, GPU_CODE_REAL},
        {"90", 10, 0, GPU_CODE_PTX},        {"100", 9, 0, GPU_CODE_NONE},
        {"90a", 9, 0, GPU_CODE_REAL},       {"90a", 10, 0, GPU_CODE_NONE},
        {"90a", 12, 0, GPU_CODE_NONE},      {"90a-real,80-real", 10, 0, GPU_CODE_NONE},
        {"100f", 10, 3, GPU_CODE_REAL},     {"100f", 12, 0, GPU_CODE_NONE},
        {"", 9, 0, GPU_CODE_NONE},
    };
    for (size_t i = 0; i < COUNT(table); ++i)
        if (gpu_code_for(table[i].architectures, table[i].major, table[i].minor) != table[i].code)
            fail_msg("'%s' on sm_%d%d", table[i].architectures, table[i].major, table[i].minor);
}

static void what_does_not_fit_is_explained(void **state) {
    (void)state;
    char text[256];
    assert_false(gpu_driver_too_old(13000, 13000, text, sizeof text));
    assert_false(gpu_driver_too_old(13000, 13020, text, sizeof text)); /* same major version */
    assert_false(gpu_driver_too_old(13000, 12080, text, sizeof text));
    assert_true(gpu_driver_too_old(12080, 13000, text, sizeof text));
    assert_non_null(strstr(text, "serves CUDA 12.8, the programs need 13.0: update"));
    assert_false(gpu_architecture_missing("80", 9, 0, true, text, sizeof text));
    assert_true(gpu_architecture_missing("80", 9, 0, false, text, sizeof text));
    assert_non_null(strstr(text, "built for sm_{80}, this GPU is sm_90, and its driver is older"));
    assert_true(gpu_architecture_missing("80-real", 9, 0, true, text, sizeof text));
    assert_non_null(strstr(text, "built for sm_{80-real}, this GPU is sm_90: cmake"));
    assert_true(gpu_architecture_missing("80", 6, 1, true, text, sizeof text));
    assert_non_null(strstr(text, "sm_61, Overlap needs sm_70"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_interpolate),
        cmocka_unit_test(median_error_shrinks_with_samples),
        cmocka_unit_test(options_are_read),
        cmocka_unit_test(bad_options_get_one_line_and_exit_2),
        cmocka_unit_test(shapes_are_found_by_name_set_and_size),
        cmocka_unit_test(lengths_of_vectors_are_found),
        cmocka_unit_test(too_many_shapes_are_refused),
        cmocka_unit_test(a_row_survives_csv),
        cmocka_unit_test(what_is_not_a_row_is_refused),
        cmocka_unit_test(a_locked_file_is_refused),
        cmocka_unit_test(the_facts_of_a_run_are_complete),
        cmocka_unit_test(an_empty_kernel_is_launch_bound),
        cmocka_unit_test(code_fits_a_gpu_or_not),
        cmocka_unit_test(what_does_not_fit_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
