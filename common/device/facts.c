#include "device/device.h"

#include <stdio.h>
#include <time.h>

#include "track/library.h"
#include "judge/judge.h"

void device_report(const struct device *d, const struct options *options, struct report *report) {
    char date[32], library[64] = "";
    time_t now = time(NULL);
    report->figures = d->gpu && !options->verify_only;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&now));
    report_fact(report, "date: %s", date);
    report_fact(report, "device: %s, sm_%d%d, %d SMs", d->name, d->major, d->minor, d->sms);
    if (d->gpu) {
        if (gemm_library != NULL)
            gemm_library->version(library, sizeof library);
        report_fact(report,
                    "L2: %.0f MB; clocks (SM, at most, memory, at most): %s; power limit: %s",
                    (double)d->l2_bytes / (1 << 20), d->clocks, d->power);
        report_fact(report, "driver: %s; CUDA runtime: %s; library: %s", d->driver, d->runtime,
                    library);
        report_fact(report, "timing: events around each launch, 3 warm-up runs, L2 %s; median",
                    options->warm ? "as an untimed run before each sample left it"
                                  : "flushed before each sample");
    }
    report_fact(report, "seed: %llu%s%s", (unsigned long long)options->seed,
                device_build_label()[0] != '\0' ? "; build: " : "", device_build_label());
    for (int i = 0; options->each_schedule && device_schedule(i, NULL) != NULL; ++i)
        report_fact(report, "schedule: %s", device_schedule(i, NULL));
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

const char *device_build_label(void) {
    if (judge->device_debugging)
        return "device debugging";
#ifdef __OPTIMIZE__
    return "";
#else
    return "not optimised";
#endif
}
