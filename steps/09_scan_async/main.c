/* The driver of a scan step: verifies every size, and only then times it. The same in every step. */
#include "track/vector/vector_problem.h"

#ifndef STEP_UNJUDGED
#define STEP_UNJUDGED NULL
#endif

/* The build names this step's functions and its base's, see scan.h; without a base, BASE is not defined. */
vector_function STEP_FUNCTION;
workspace_function STEP_FUNCTION_WORKSPACE;
static const struct vector_step step = {
    {STEP_NAME, STEP_TYPES, STEP_UNJUDGED}, STEP_FUNCTION, STEP_FUNCTION_WORKSPACE};
#ifdef BASE_NAME
vector_function BASE_FUNCTION;
workspace_function BASE_FUNCTION_WORKSPACE;
static const struct vector_step base = {
    {BASE_NAME, BASE_TYPES, NULL}, BASE_FUNCTION, BASE_FUNCTION_WORKSPACE};
#define BASE &base.entry
#else
#define BASE NULL
#endif

int main(int argc, char **argv) {
    static struct vector_problem problem;
    return problem_main(&problem.problem, &scan_track, &step.entry, BASE, argc, argv);
}
