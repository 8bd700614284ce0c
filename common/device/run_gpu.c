/* What surrounds a run on a GPU, which has one schedule and no counters. */
#include "device/device.h"

#include <stdio.h>

static const char *error_text; /* of the last device_error(); null: none */

const char *device_schedule(int i, const char *only) {
    (void)only;
    return i == 0 ? "hardware" : NULL;
}

const char *device_error(cudaError_t launch) {
    cudaError_t run = cudaDeviceSynchronize();
    cudaGetLastError();
    if (launch == cudaSuccess)
        launch = run;
    return error_text = launch != cudaSuccess ? cuda_explain(launch) : NULL;
}

bool device_faults(struct report *report, const struct fault *context) {
    struct fault fault = *context;
    if (error_text == NULL)
        return false;
    snprintf(fault.id, sizeof fault.id, "device.error");
    snprintf(fault.text, sizeof fault.text, "%s", error_text);
    report_fault(report, &fault);
    error_text = NULL;
    return true;
}

void device_watch(struct report *report, const struct fault *context) {
    (void)report, (void)context;
}

const char *counters_report(const struct counted *counted, struct report *report) {
    (void)counted, (void)report;
    return "a GPU program does not count";
}
