/* The driver of a scan step: verifies every size, and only then times it. The same in every step. */
#include <stdio.h>

#include "track/vector_problem.h"

/* The build names this step's functions and its base's, see scan.h. */
scan_function STEP_FUNCTION, BASE_FUNCTION;
workspace_function STEP_FUNCTION_WORKSPACE, BASE_FUNCTION_WORKSPACE;
static const struct vector_step step = {.scan = STEP_FUNCTION,
                                        .workspace = STEP_FUNCTION_WORKSPACE};
static const struct vector_step base = {.scan = BASE_FUNCTION,
                                        .workspace = BASE_FUNCTION_WORKSPACE};

/* Verifies the base too, which has no program of its own. */
static bool verify(struct vector_problem *problem, struct row *row, struct row *base_row) {
    bool good = vector_verify(problem, base_row->step, &base, base_row);
    return vector_verify(problem, row->step, &step, row) && good;
}

/* Verifies and times, or counts, one size. Returns an exit status. */
static int run_size(const struct shape *size, const struct device *device,
                    const struct options *options, struct report *report) {
    struct vector_problem problem;
    struct row row, base_row;
    int status = vector_problem_create(&problem, size, &step, &base, device, options);
    if (status != EXIT_OK)
        return status;
    problem.report = report;
    vector_row(&base_row, &problem, size, STEP_NAME "/" BASE_NAME, "");
    vector_row(&row, &problem, size, STEP_NAME, BASE_NAME);
    bool good = options->counters ? vector_count(&problem, &step, &base, &row, &base_row, report)
                                  : verify(&problem, &row, &base_row);
    if (good && device->gpu && !options->verify_only && problem.n > 0) {
        good = vector_time(&problem, &step, &base, &row, &base_row, report);
    } else {
        report_row(report, &base_row);
        report_row(report, &row);
    }
    vector_problem_destroy(&problem);
    return good ? EXIT_OK : EXIT_FAULT;
}

int main(int argc, char **argv) {
    struct options options;
    struct device device;
    struct report report;
    int status = options_parse(&options, SHAPE_VECTOR, argc, argv);
    if (status >= 0)
        return status;
    status = device_open(options.device, &device);
    if (status == EXIT_OK)
        status = device_check_options(&options, &device);
    if (status == EXIT_OK)
        status = options_default_shapes(&options, SHAPE_VECTOR, device.gpu);
    if (status != EXIT_OK)
        return status;
    if (!report_open(&report, options.csv, options.json))
        return EXIT_USAGE;
    device_report(&device, &options, &report);
    for (int i = 0; i < options.shapes.count; ++i) {
        int one = run_size(&options.shapes.shape[i], &device, &options, &report);
        if (status == EXIT_OK)
            status = one;
    }
    if (!report_close(&report) && status == EXIT_OK)
        status = EXIT_FAULT;
    return status;
}
