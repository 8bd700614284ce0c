/* A program that was built without optimisation says so in every row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device.h"

static void a_row_names_the_build(void **state) {
    (void)state;
    const struct device device = {.gpu = true};
    const struct shape shape = {.name = "1x1x1"};
    struct row row;
    device_row(&row, &device, &shape, TYPE_F32, "step", "base");
    assert_string_equal(row.build, "not optimised");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_row_names_the_build)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
