/* The driver of a GEMM step: verifies every shape, and only then times it. The same in every step. */
#include <stdio.h>

#include "track/gemm/gemm_problem.h"
#include "track/library.h"

/* The build names this step's gemm() and its base's, see gemm.h; without a base, BASE is not defined. */
gemm_function STEP_FUNCTION;
#ifdef BASE_FUNCTION
gemm_function BASE_FUNCTION;
#else
#define BASE_FUNCTION NULL
#define BASE_NAME ""
#endif

/* Verifies and times one shape. Returns an exit status. */
static int run_shape(const struct shape *shape, const struct device *device,
                     const struct options *options, struct report *report) {
    struct gemm_problem problem;
    struct row row;
    int status = gemm_problem_create(&problem, shape, STEP_TYPE, device, options);
    if (status != EXIT_OK)
        return status;
    problem.report = report;
    gemm_row(&row, &problem, shape, STEP_NAME, BASE_NAME);
    bool good = options->counters ? gemm_count(&problem, STEP_FUNCTION, BASE_FUNCTION, &row, report)
                                  : gemm_verify(&problem, STEP_NAME, STEP_FUNCTION, &row);
    if (good && device->gpu && !options->verify_only)
        good = gemm_time(&problem, STEP_FUNCTION, BASE_FUNCTION, &row, report);
    else
        report_row(report, &row);
    gemm_problem_destroy(&problem);
    return good ? EXIT_OK : EXIT_FAULT;
}

int main(int argc, char **argv) {
    struct options options;
    struct device device;
    struct report report;
    int status = options_parse(&options, SHAPE_GEMM, argc, argv);
    if (status >= 0)
        return status;
    status = device_open(options.device, &device);
    if (status == EXIT_OK)
        status = device_check_options(&options, &device);
    if (status == EXIT_OK)
        status = options_default_shapes(&options, SHAPE_GEMM, device.gpu);
    if (status != EXIT_OK)
        return status;
    if (!report_open(&report, options.csv, options.json))
        return EXIT_USAGE;
    device_report(&device, &options, &report);
    for (int i = 0; i < options.shapes.count; ++i) {
        int one = run_shape(&options.shapes.shape[i], &device, &options, &report);
        if (status == EXIT_OK)
            status = one;
    }
    if (!report_close(&report) && status == EXIT_OK)
        status = EXIT_FAULT;
    return status;
}
