/* The CPU device's side of device.h. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

#include "cpu_device.h"

static bool has_schedule(const char *only) {
    for (const struct cpu_schedule *s = cpu_schedules; s->name != NULL; ++s)
        if (strcmp(s->name, only) == 0)
            return true;
    fprintf(stderr, "--schedule %s: not allowed; allowed:", only);
    for (const struct cpu_schedule *s = cpu_schedules; s->name != NULL; ++s)
        fprintf(stderr, " %s", s->name);
    fputc('\n', stderr);
    return false;
}

int device_open(struct options *options, enum shape_kind kind, struct device *device) {
    char error[256];
    if (options->device != 0) {
        fprintf(stderr, "--device %d: not allowed; allowed: 0, the one CPU device\n",
                options->device);
        return EXIT_USAGE;
    }
    if (options->schedule != NULL && !has_schedule(options->schedule))
        return EXIT_USAGE;
    if (options->counters && !cpu_is_checked()) {
        fprintf(
            stderr,
            "--counters: not allowed here; the program of this name under cpu-checked/ counts\n");
        return EXIT_USAGE;
    }
    const char *shapes = !options->counters   ? "small"
                         : kind == SHAPE_GEMM ? "160x96x224"
                                              : "100003";
    if (options->shapes.count == 0 &&
        !shapes_find(shapes_text, kind, shapes, &options->shapes, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_FAULT;
    }
    memset(device, 0, sizeof *device);
    struct cudaDeviceProp properties;
    CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1,
             properties.name);
    CUDA_CHECK(cudaDeviceGetAttribute(&device->major, cudaDevAttrComputeCapabilityMajor, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&device->minor, cudaDevAttrComputeCapabilityMinor, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&device->sms, cudaDevAttrMultiProcessorCount, 0));
    return 0;
}

const char *device_schedule(int i, const char *only) {
    for (const struct cpu_schedule *s = cpu_schedules; s->name != NULL; ++s) {
        if (only != NULL && strcmp(s->name, only) != 0)
            continue;
        if (i-- == 0) {
            cpu_schedule_set(s);
            return s->name;
        }
    }
    return NULL;
}

const char *device_error(cudaError_t launch) {
    static char text[512];
    cudaError_t run = cudaDeviceSynchronize();
    bool faulty = cpu_faults() > 0;
    if (faulty)
        snprintf(text, sizeof text, "%.*s", (int)sizeof text - 1, cpu_fault(0)->text);
    else if (launch != cudaSuccess || run != cudaSuccess)
        snprintf(text, sizeof text, "%s", cuda_explain(launch != cudaSuccess ? launch : run));
    cpu_faults_clear();
    return faulty || launch != cudaSuccess || run != cudaSuccess ? text : NULL;
}
