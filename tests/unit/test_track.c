/* Unit tests of common/track: whole programs of made-up steps, of several element types, as problem_main() runs
 * them. A GPU is made up too, and a library that poses as cuBLAS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "judge/judge.h"
#include "track/gemm/gemm_problem.h"
#include "track/library.h"
#include "track/vector/vector_problem.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* gemm.cu and reduce.cu, as tests/unit/CMakeLists.txt builds them. */
gemm_function gemm_f32, gemm_tf32, gemm_f32_by_bf16, gemm_f32_by_f16, gemm_bf16, gemm_bf16_by_f16,
    gemm_bf16_drops_16, gemm_f16, gemm_f32_drops_1;
vector_function reduce_running, reduce_chunks;
workspace_function reduce_workspace_running, reduce_workspace_chunks;

/* ---- a GPU and a library ---- */

static bool pretend_gpu;
static gemm_function *library; /* what "cuBLAS FP32" runs; null: there is no library */

int __real_device_open(int ordinal, struct device *device);
int __wrap_device_open(int ordinal, struct device *device);
int __wrap_device_open(int ordinal, struct device *device) {
    int status = __real_device_open(ordinal, device);
    device->gpu = pretend_gpu;
    device->l2_bytes = 1 << 16;
    return status;
}

static const char *library_name(struct element_types types) {
    return library != NULL && types.in == ELEMENT_F32 ? "cuBLAS FP32" : NULL;
}

static cudaError_t library_run(struct element_types types, int M, int N, int K, const void *A, int lda,
                               const void *B, int ldb, void *C, int ldc, cudaStream_t stream) {
    (void)types;
    return library(M, N, K, A, lda, B, ldb, C, ldc, stream);
}

static void library_version(char *text, size_t size) { snprintf(text, size, "made up"); }

/* In the place of common/track/cpu.c. */
static const struct gemm_library made_up = {library_name, library_run, library_version};
const struct gemm_library *const gemm_library = &made_up;

static bool sum_asked; /* whether the library that poses as CUB was called */
static cudaError_t sum_of_floats(bool scan, size_t n, const void *x, void *y, void *workspace, size_t *bytes,
                                 cudaStream_t stream) {
    sum_asked = true;
    if (workspace == NULL) *bytes = reduce_workspace_chunks(n) + 1;
    return workspace == NULL || scan ? cudaSuccess : reduce_chunks(n, x, y, workspace, stream);
}
vector_library_function *const vector_library = sum_of_floats;
const struct judge *const judge = &host_judge;

static cudaError_t refused(int M, int N, int K, const void *A, int lda, const void *B, int ldb, void *C,
                           int ldc, cudaStream_t stream) {
    (void)M, (void)N, (void)K, (void)A, (void)lda, (void)B, (void)ldb, (void)C, (void)ldc, (void)stream;
    return cudaErrorInvalidValue;
}

/* ---- programs ---- */

/* Runs the program of a step; puts what it printed to stdout and stderr into `said`. */
static int run(const struct track *track, const struct step_entry *step, const struct step_entry *base,
               const char *line, char *said, size_t size) {
    static union {
        struct gemm_problem gemm;
        struct vector_problem vector;
    } problem;
    char copy[256], *argv[16] = {(char *)"step"};
    int argc = 1, saved[2];
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) argv[argc++] = word;
    FILE *file = tmpfile();
    fflush(NULL);
    for (int fd = 1; fd <= 2; ++fd) saved[fd - 1] = dup(fd), dup2(fileno(file), fd);
    int status = problem_main((struct problem *)&problem, track, step, base, argc, argv);
    fflush(NULL);
    for (int fd = 1; fd <= 2; ++fd) dup2(saved[fd - 1], fd), close(saved[fd - 1]);
    rewind(file);
    said[fread(said, 1, size - 1, file)] = '\0';
    fclose(file);
    return status;
}

static void expect(const struct track *track, const struct step_entry *step, const struct step_entry *base,
                   const char *line, int status, const char *wanted) {
    static char said[16384];
    int got = run(track, step, base, line, said, sizeof said);
    if (got != status || strstr(said, wanted) == NULL || strstr(said, "repeat: cuBLAS") != NULL)
        fail_msg("%s %s: status %d, wanted %d and '%s':\n%s", step->name, line, got, status, wanted, said);
}

static void products_are_judged_by_their_types(void **state) {
    (void)state;
    static const struct {
        struct gemm_step step;
        const char *shapes;
        int status;
        const char *wanted;
    } table[] = {
        {{{"f32", "f32", NULL}, gemm_f32}, "160x96x224,5x7x4100", 0, " yes "},
        {{{"posing", "f32", NULL}, gemm_tf32}, "160x96x224", 1, "integer inputs"},
        {{{"posing", "f32", NULL}, gemm_tf32}, "5x7x4096", 1, "integer inputs"},
        {{{"posing", "f32", NULL}, gemm_f32_by_bf16}, "5x7x16384", 1, "integer inputs"},
        {{{"tf32", "tf32:f32:f32", NULL}, gemm_tf32}, "160x96x224,5x7x9000", 0, " yes "},
        {{{"posing", "tf32:f32:f32", NULL}, gemm_f32}, "17x19x224", 1, "near-integer inputs"},
        {{{"posing", "tf32:f32:f32", NULL}, gemm_f32_by_bf16}, "5x7x4096", 1, "near-integer"},
        {{{"posing", "tf32:f32:f32", NULL}, gemm_f32_by_f16}, "5x7x4096", 1, "near-integer"},
        {{{"bf16", "bf16:f32:bf16", NULL}, gemm_bf16}, "160x96x224,5x7x4100,3x5x0", 0, " yes "},
        {{{"bf16", "bf16:f32:bf16", NULL}, gemm_bf16}, "35x79x19 --pad 1", 0, " yes "},
        {{{"f16", "f16:f32:f16", NULL}, gemm_f16}, "160x96x224,5x7x4100,3x5x0", 0, " yes "},
        {{{"posing", "bf16:f32:bf16", NULL}, gemm_bf16_by_f16}, "17x19x224", 1, "got nan, wanted"},
        {{{"short", "bf16:f32:bf16", NULL}, gemm_bf16_drops_16}, "5x7x16384", 1, "integer inputs"},
        {{{"short", "f32", NULL}, gemm_f32_drops_1}, "5x7x16384", 1, "integer inputs"},
        {{{"half", "f32", "drops one"}, gemm_f32_drops_1}, "17x19x64", 0, "not verified: drops one"},
    };
    for (size_t i = 0; i < COUNT(table); ++i) {
        char line[80];
        snprintf(line, sizeof line, "--schedule forward-late --shape %s", table[i].shapes);
        expect(&gemm_track, &table[i].step.entry, NULL, line, table[i].status, table[i].wanted);
    }
}

static void a_base_of_other_types_has_its_own_inputs(void **state) {
    (void)state;
    static const struct gemm_step bf16 = {{"15_bf16", "bf16:f32:bf16", NULL}, gemm_bf16},
                                  f32 = {{"13_f32", "f32", NULL}, gemm_f32};
    pretend_gpu = true;
    expect(&gemm_track, &bf16.entry, &f32.entry, "--shape 35x79x19 --samples 5", 0, "15_bf16");
    expect(&gemm_track, &f32.entry, &bf16.entry, "--shape 35x79x19 --samples 5", 0, "13_f32");
    pretend_gpu = false;
}

static void a_failed_timing_names_who_failed(void **state) {
    (void)state;
    static const struct gemm_step right = {{"right", "f32", NULL}, gemm_f32},
                                  tf32 = {{"with_tf32", "tf32:f32:f32", NULL}, gemm_tf32},
                                  wrong = {{"wrong", "f32", NULL}, gemm_f32_drops_1};
    const char *line = "--shape 5x7x4080 --samples 5";
    pretend_gpu = true;
    expect(&gemm_track, &right.entry, &wrong.entry, line, 1, "wrong 5x7x4080, integer inputs");
    expect(&gemm_track, &right.entry, &wrong.entry, line, 1, "  repeat: right --m 5 --n 7 --k 4080");
    expect(&gemm_track, &right.entry, &wrong.entry, line, 1, "; wrong, after timing: ");
    library = gemm_f32;
    expect(&gemm_track, &right.entry, NULL, line, 0, "cuBLAS FP32");
    library = gemm_tf32; /* a library's FP32 that is TF32, beside both kinds of step */
    expect(&gemm_track, &right.entry, NULL, line, 1, "cuBLAS FP32 5x7x4080, integer inputs");
    expect(&gemm_track, &tf32.entry, NULL, line, 1, "cuBLAS FP32 5x7x4080, integer inputs");
    library = refused;
    expect(&gemm_track, &right.entry, NULL, line, 1, "timing: cudaErrorInvalidValue: ");
    library = NULL;
    pretend_gpu = false;
}

static void sums_are_judged_by_the_bound(void **state) {
    (void)state;
    static const struct vector_step running = {{"running", "f32", NULL},
                                               reduce_running,
                                               reduce_workspace_running},
                                    chunks = {{"chunks", "f32", NULL},
                                              reduce_chunks,
                                              reduce_workspace_chunks},
                                    own = {{"baseline", "f32", NULL}, reduce_chunks, reduce_workspace_chunks};
    const char *line = "--schedule forward-late --shape 2^24+99999";
    expect(&reduce_track, &chunks.entry, NULL, line, 0, " yes");
    expect(&reduce_track, &running.entry, NULL, line, 1, "all-one inputs");
    expect(&reduce_track, &chunks.entry, &own.entry, "--shape 1000", 0, "chunks/baseline ");
}

static void the_library_sums_floats_alone(void **state) {
    (void)state;
    static const struct vector_step floats = {{"floats", "f32", NULL},
                                              reduce_chunks,
                                              reduce_workspace_chunks},
                                    halves = {{"halves", "f32:f32:f16", NULL},
                                              reduce_chunks,
                                              reduce_workspace_chunks};
    pretend_gpu = true;
    expect(&reduce_track, &floats.entry, NULL, "--shape 1000 --samples 5", 0, "CUB Reduce");
    sum_asked = false;
    expect(&reduce_track, &halves.entry, NULL, "--shape 1000 --samples 5", 1, "FAILED");
    assert_false(sum_asked);
    pretend_gpu = false;
}

static void rows_too_long_for_an_int_are_refused(void **state) {
    (void)state;
    static const struct gemm_step step = {{"f32", "f32", NULL}, gemm_f32};
    expect(&gemm_track, &step.entry, NULL, "--m 0 --n 0 --k 2147483392 --pad 256", 2,
           "--pad 256: not allowed with 0x0x2147483392; allowed: rows of up to 2147483647");
    expect(&gemm_track, &step.entry, NULL, "--m 0 --n 0 --k 2147483392 --pad 255", 0, " yes");
}

static void no_run_is_no_success(void **state) {
    (void)state;
    static const struct gemm_step step = {{"f32", "f32", NULL}, gemm_f32};
    struct track nothing = gemm_track;
    nothing.input_count = 0;
    expect(&nothing, &step.entry, NULL, "--shape 3x5x7", 1, "not verified: there was no run");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_judged_by_their_types),
        cmocka_unit_test(a_base_of_other_types_has_its_own_inputs),
        cmocka_unit_test(a_failed_timing_names_who_failed),
        cmocka_unit_test(sums_are_judged_by_the_bound),
        cmocka_unit_test(no_run_is_no_success),
        cmocka_unit_test(the_library_sums_floats_alone),
        cmocka_unit_test(rows_too_long_for_an_int_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
