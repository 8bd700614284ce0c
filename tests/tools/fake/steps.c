/* Steps that are made up, for a ladder in the tests: they all have GPU programs, whatever the build has. */
#include <stddef.h>

#include "run/steps.h"

const struct step steps[] = {
    {"01_naive", "-", "gemm", SHAPE_GEMM, "f32", "70", 1, NULL, false},
    {"90_exact", "01_naive", "gemm", SHAPE_GEMM, "f32", "90a", 1, NULL, false},
    {"91_newer", "01_naive", "gemm", SHAPE_GEMM, "f32", "90", 1, NULL, false},
    {"92_two", "01_naive", "other", SHAPE_GEMM, "f32", "70", 2, NULL, false},
    {NULL, NULL, NULL, SHAPE_ANY, NULL, NULL, 0, NULL, false},
};
