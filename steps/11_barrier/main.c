/* The driver of a GEMM step: verifies every shape, and only then times it. The same in every step. */
#include "track/gemm/gemm_problem.h"

#ifndef STEP_UNJUDGED
#define STEP_UNJUDGED NULL
#endif

/* The build names this step's gemm() and its base's, see gemm.h; without a base, BASE is not defined. */
gemm_function STEP_FUNCTION;
static const struct gemm_step step = {{STEP_NAME, STEP_TYPES, STEP_UNJUDGED}, STEP_FUNCTION};
#ifdef BASE_NAME
gemm_function BASE_FUNCTION;
static const struct gemm_step base = {{BASE_NAME, BASE_TYPES, NULL}, BASE_FUNCTION};
#define BASE &base.entry
#else
#define BASE NULL
#endif

int main(int argc, char **argv) {
    static struct gemm_problem problem;
    return problem_main(&problem.problem, &gemm_track, &step.entry, BASE, argc, argv);
}
