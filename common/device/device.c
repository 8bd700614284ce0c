#include "device/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/cuda_compat.h"
#include "track/library.h"
#include "judge/judge.h"

void device_report(const struct device *d, const struct options *options, struct report *report) {
    char text[256], date[32], library[64] = "";
    time_t now = time(NULL);
    report->figures = d->gpu && !options->verify_only;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&now));
    snprintf(text, sizeof text, "date: %s", date);
    report_fact(report, text);
    snprintf(text, sizeof text, "device: %s, sm_%d%d, %d SMs", d->name, d->major, d->minor, d->sms);
    report_fact(report, text);
    if (d->gpu) {
        if (gemm_library != NULL)
            gemm_library->version(library, sizeof library);
        snprintf(text, sizeof text,
                 "L2: %.0f MB; clocks (SM, at most, memory, at most): %s; power limit: %s",
                 (double)d->l2_bytes / (1 << 20), d->clocks, d->power);
        report_fact(report, text);
        snprintf(text, sizeof text, "driver: %s; CUDA runtime: %s; library: %s", d->driver,
                 d->runtime, library);
        report_fact(report, text);
        snprintf(text, sizeof text,
                 "timing: events around each launch, 3 warm-up runs, L2 %s; median",
                 options->warm ? "as an untimed run before each sample left it"
                               : "flushed before each sample");
        report_fact(report, text);
    }
    snprintf(text, sizeof text, "seed: %llu%s%s", (unsigned long long)options->seed,
             device_build_label()[0] != '\0' ? "; build: " : "", device_build_label());
    report_fact(report, text);
}

void device_row(struct row *row, const struct device *d, const struct shape *shape,
                enum element_type type, const char *step, const char *base) {
    row_clear(row);
    snprintf(row->step, sizeof row->step, "%s", step);
    snprintf(row->base, sizeof row->base, "%s", base);
    snprintf(row->device, sizeof row->device, "%s", d->name);
    snprintf(row->shape, sizeof row->shape, "%s", shape->name);
    snprintf(row->type, sizeof row->type, "%s", element_name(type));
    snprintf(row->build, sizeof row->build, "%s", device_build_label());
}

double device_peak_flops(const struct device *d, enum element_type type) {
    /* Fused multiply-adds a cycle and SM. */
    static const struct {
        int major, minor, f32, tf32;
    } table[] = {
        {8, 0, 64, 512},   {8, 6, 128, 128},   {8, 7, 128, 256},   {8, 9, 128, 128},
        {9, 0, 128, 1024}, {10, 0, 128, 2048}, {10, 3, 128, 2048}, {12, 0, 128, 128},
    };
    for (size_t i = 0; d->gpu && i < sizeof table / sizeof *table; ++i)
        if (table[i].major == d->major && table[i].minor == d->minor && d->clock_hz > 0) {
            int rate = type == ELEMENT_F32    ? table[i].f32
                       : type == ELEMENT_TF32 ? table[i].tf32
                                              : 2 * table[i].tf32;
            return 2.0 * d->sms * d->clock_hz * rate;
        }
    return NAN;
}

const char *cuda_explain(cudaError_t error) {
    static char text[384];
    int length = snprintf(text, sizeof text, "%s: ", cudaGetErrorName(error));
    char *rest = text + length;
    const size_t size = sizeof text - (size_t)length;
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion ||
        error == cudaErrorInvalidDeviceFunction) {
        int device = 0, major = 0, minor = 0;
        bool takes_ptx = error != cudaErrorUnsupportedPtxVersion;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
        if (gpu_architecture_missing(OVERLAP_ARCHITECTURES, major, minor, takes_ptx, rest, size))
            return text;
        snprintf(rest, size,
                 "the step needs a newer GPU than sm_%d%d (see steps/steps.list); to leave it out: "
                 "cmake -S . -B build -DCMAKE_CUDA_ARCHITECTURES=%d%d",
                 major, minor, major, minor);
    } else {
        snprintf(rest, size, "%s", cudaGetErrorString(error));
    }
    return text;
}

void cuda_check(cudaError_t error, const char *call, const char *file, int line) {
    if (error == cudaSuccess)
        return;
    const char *slash = strrchr(file, '/');
    fprintf(stderr, "%s:%d: %s: %s\n", slash != NULL ? slash + 1 : file, line, call,
            cuda_explain(error));
    exit(EXIT_FAULT);
}

const char *device_build_label(void) {
    if (judge->device_debugging)
        return "device debugging";
#ifdef __OPTIMIZE__
    return "";
#else
    return "not optimised";
#endif
}
