/* What a GPU and the CPU device have in common. */
#include "device/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/cuda_compat.h"
#include "judge/judge.h"
#include "track/library.h"

/* ---- the device ---- */

void device_describe(int ordinal, struct device *d) {
    struct cudaDeviceProp properties;
    memset(d, 0, sizeof *d);
    CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
    snprintf(d->name, sizeof d->name, "%.*s", (int)sizeof d->name - 1, properties.name);
    CUDA_CHECK(cudaDeviceGetAttribute(&d->major, cudaDevAttrComputeCapabilityMajor, ordinal));
    CUDA_CHECK(cudaDeviceGetAttribute(&d->minor, cudaDevAttrComputeCapabilityMinor, ordinal));
    CUDA_CHECK(cudaDeviceGetAttribute(&d->sms, cudaDevAttrMultiProcessorCount, ordinal));
}

int device_check_options(const struct options *options, const struct device *device) {
    char known[256] = "";
    const char *name;
    bool found = options->schedule == NULL;
    for (int i = 0; (name = device_schedule(i, NULL)) != NULL; ++i) {
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i > 0 ? "," : "", name);
        found = found || strcmp(name, options->schedule) == 0;
    }
    if (!found) return option_refused("--schedule", options->schedule, known);
    if (options->counters && !device->counts)
        return option_refused(options->trace != NULL ? "--trace" : "--counters", "here",
                              "the program of this name under cpu-checked/, which counts");
    return EXIT_OK;
}

double device_peak_flops(const struct device *d, enum element_type type) {
    /* Fused multiply-adds a cycle and SM. BF16 and FP16 take twice the rate of TF32. */
    static const struct {
        int major, minor, f32, tf32;
    } table[] = {
        {8, 0, 64, 512},   {8, 6, 128, 128},   {8, 7, 128, 256},   {8, 9, 128, 128},
        {9, 0, 128, 1024}, {10, 0, 128, 2048}, {10, 3, 128, 2048}, {12, 0, 128, 128},
    };
    for (size_t i = 0; d->gpu && type != ELEMENT_U32 && i < sizeof table / sizeof *table; ++i)
        if (table[i].major == d->major && table[i].minor == d->minor && d->clock_hz > 0)
            return 2.0 * d->sms * d->clock_hz *
                   (type == ELEMENT_F32    ? table[i].f32
                    : type == ELEMENT_TF32 ? table[i].tf32
                                           : 2 * table[i].tf32);
    return NAN;
}

/* ---- what is reported of a run ---- */

void device_report(const struct device *d, const struct options *options, struct report *report) {
    char date[32], library[64] = "";
    time_t now = time(NULL);
    report->figures = d->gpu && !options->verify_only;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&now));
    report_fact(report, "date: %s", date);
    report_fact(report, "device: %s, sm_%d%d, %d SMs", d->name, d->major, d->minor, d->sms);
    if (d->gpu) {
        if (gemm_library != NULL) gemm_library->version(library, sizeof library);
        report_fact(report, "L2: %.0f MB; clocks (SM, at most, memory, at most): %s; power limit: %s",
                    (double)d->l2_bytes / (1 << 20), d->clocks, d->power);
        report_fact(report, "driver: %s; CUDA runtime: %s; library: %s", d->driver, d->runtime, library);
        report_fact(report, "timing: events around each launch, 3 warm-up runs, L2 %s; median",
                    options->warm ? "as an untimed run before each sample left it"
                                  : "flushed before each sample");
    }
    report_fact(report, "seed: %llu%s%s", (unsigned long long)options->seed,
                device_build_label()[0] != '\0' ? "; build: " : "", device_build_label());
    for (int i = 0; options->each_schedule && device_schedule(i, NULL) != NULL; ++i)
        report_fact(report, "schedule: %s", device_schedule(i, NULL));
}

void device_row(struct row *row, const struct device *d, const struct shape *shape, enum element_type type,
                const char *step, const char *base) {
    row_clear(row);
    snprintf(row->step, sizeof row->step, "%s", step);
    snprintf(row->base, sizeof row->base, "%s", base);
    snprintf(row->device, sizeof row->device, "%s", d->name);
    snprintf(row->shape, sizeof row->shape, "%s", shape->name);
    snprintf(row->type, sizeof row->type, "%s", element_name(type));
    snprintf(row->build, sizeof row->build, "%s", device_build_label());
}

const char *device_build_label(void) {
    if (judge->device_debugging) return "device debugging";
#ifdef __OPTIMIZE__
    return "";
#else
    return "not optimised";
#endif
}

/* ---- what goes wrong ---- */

static char error_text[sizeof((struct fault *)0)->text]; /* of the last device_error() */

const char *device_error(cudaError_t launch) {
    struct fault first;
    cudaError_t run = cudaDeviceSynchronize();
    cudaGetLastError();
    if (launch == cudaSuccess) launch = run;
    snprintf(error_text, sizeof error_text, "%s",
             device_fault(0, &first) ? first.text
             : launch != cudaSuccess ? cuda_explain(launch)
                                     : "");
    return error_text[0] != '\0' ? error_text : NULL;
}

bool device_faults(struct report *report, const struct fault *context) {
    struct fault fault = *context;
    unsigned count = 0;
    for (; device_fault(count, &fault); ++count)
        (count == 0 ? report_fault : report_fault_silently)(report, &fault);
    const bool other = count == 0 && error_text[0] != '\0';
    if (other) {
        snprintf(fault.id, sizeof fault.id, "device.error");
        snprintf(fault.text, sizeof fault.text, "%s", error_text);
        report_fault(report, &fault);
    }
    error_text[0] = '\0';
    device_faults_clear();
    return count > 0 || other;
}

const char *cuda_explain(cudaError_t error) {
    static char text[384];
    int length = snprintf(text, sizeof text, "%s: ", cudaGetErrorName(error));
    char *rest = text + length;
    const size_t size = sizeof text - (size_t)length;
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion ||
        error == cudaErrorInvalidDeviceFunction) {
        int device = 0, major = 0, minor = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
        if (!gpu_architecture_missing(OVERLAP_ARCHITECTURES, major, minor,
                                      error != cudaErrorUnsupportedPtxVersion, rest, size))
            snprintf(rest, size,
                     "the step is not for sm_%d%d (see steps/steps.list); to leave it out: "
                     "cmake -S . -B build -DCMAKE_CUDA_ARCHITECTURES=%d%d",
                     major, minor, major, minor);
    } else {
        snprintf(rest, size, "%s", cudaGetErrorString(error));
    }
    return text;
}

void cuda_check(cudaError_t error, const char *call, const char *file, int line) {
    if (error == cudaSuccess) return;
    const char *slash = strrchr(file, '/');
    fprintf(stderr, "%s:%d: %s: %s\n", slash != NULL ? slash + 1 : file, line, call, cuda_explain(error));
    exit(EXIT_FAULT);
}
