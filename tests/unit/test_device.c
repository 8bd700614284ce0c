/* What device.c says of a build that is not optimised, and whose code is for sm_80 alone: so it is built here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/device.h"

static void a_row_names_the_build(void **state) {
    (void)state;
    const struct device device = {.gpu = true};
    const struct shape shape = {.name = "1x1x1"};
    struct row row;
    device_row(&row, &device, &shape, ELEMENT_F32, "step", "base");
    assert_string_equal(row.build, "not optimised");
}

/* The CPU device answers for sm_90. */
static void code_for_another_gpu_is_explained(void **state) {
    (void)state;
    assert_non_null(strstr(cuda_explain(cudaErrorNoKernelImageForDevice),
                           "cudaErrorNoKernelImageForDevice: built for sm_{80-real}, this GPU is "
                           "sm_90: cmake -S . -B build -DCMAKE_CUDA_ARCHITECTURES=90"));
    assert_string_equal(cuda_explain(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation: out of memory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_names_the_build),
        cmocka_unit_test(code_for_another_gpu_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
