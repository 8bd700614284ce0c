#include "device/device.h"

#include <stdio.h>
#include <string.h>

#include "cpu_device.h"

int device_open(int ordinal, struct device *device) {
    char number[16];
    struct cudaDeviceProp properties;
    snprintf(number, sizeof number, "%d", ordinal);
    if (ordinal != 0)
        return option_refused("--device", number, "0, the one CPU device");
    memset(device, 0, sizeof *device);
    CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1,
             properties.name);
    CUDA_CHECK(cudaDeviceGetAttribute(&device->major, cudaDevAttrComputeCapabilityMajor, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&device->minor, cudaDevAttrComputeCapabilityMinor, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&device->sms, cudaDevAttrMultiProcessorCount, 0));
    return EXIT_OK;
}

int device_check_options(const struct options *options, const struct device *device) {
    char known[256] = "";
    bool found = options->schedule == NULL;
    (void)device;
    for (const struct cpu_schedule *s = cpu_schedules; s->name != NULL; ++s) {
        found = found || strcmp(s->name, options->schedule) == 0;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                 s > cpu_schedules ? " " : "", s->name);
    }
    if (!found)
        return option_refused("--schedule", options->schedule, known);
    if (options->counters && !cpu_is_checked())
        return option_refused("--counters", "here",
                              "the program of this name under cpu-checked/, which counts");
    return EXIT_OK;
}
