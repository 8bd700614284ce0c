/* What surrounds a run on the CPU device: schedules, faults, counters. */
#include "device/device.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cpu_device.h"
#include "run/counters.h"
#include "track/code_path.h"

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

static char error_text[512]; /* of the last device_error() */

const char *device_error(cudaError_t launch) {
    cudaError_t run = cudaDeviceSynchronize();
    if (launch == cudaSuccess)
        launch = run;
    snprintf(error_text, sizeof error_text, "%s",
             cpu_faults() > 0        ? cpu_fault(0)->text
             : launch != cudaSuccess ? cuda_explain(launch)
                                     : "");
    return error_text[0] != '\0' ? error_text : NULL;
}

/* Puts what the device found into a fault that tells of whose run it is. */
static void describe(struct fault *f, const struct cpu_fault *c) {
    snprintf(f->id, sizeof f->id, "%s", c->id);
    snprintf(f->place, sizeof f->place, "%s", c->place);
    snprintf(f->other, sizeof f->other, "%s", c->other);
    snprintf(f->memory, sizeof f->memory, "%s", c->memory);
    snprintf(f->schedule, sizeof f->schedule, "%s", c->schedule);
    snprintf(f->text, sizeof f->text, "%s", c->text);
    snprintf(f->mend, sizeof f->mend, "%s", c->mend);
    snprintf(f->thread, sizeof f->thread, "%s", c->thread);
    snprintf(f->block, sizeof f->block, "%s", c->block);
    snprintf(f->other_thread, sizeof f->other_thread, "%s", c->other_thread);
    snprintf(f->other_block, sizeof f->other_block, "%s", c->other_block);
}

bool device_faults(struct report *report, const struct fault *context) {
    struct fault fault = *context;
    const bool any = cpu_faults() > 0 || error_text[0] != '\0';
    for (unsigned i = 0; i < cpu_faults(); ++i) {
        describe(&fault, cpu_fault(i));
        (i == 0 ? report_fault : report_fault_silently)(report, &fault);
    }
    if (cpu_faults() == 0 && error_text[0] != '\0') {
        snprintf(fault.id, sizeof fault.id, "device.error");
        snprintf(fault.text, sizeof fault.text, "%s", error_text);
        report_fault(report, &fault);
    }
    error_text[0] = '\0';
    cpu_faults_clear();
    return any;
}

static struct report *report_of_run; /* null: nobody has said */
static struct fault context_of_run;

static void on_crash(void) {
    if (report_of_run != NULL)
        device_faults(report_of_run, &context_of_run);
    report_end();
}

void device_watch(struct report *report, const struct fault *context) {
    report_of_run = report;
    context_of_run = *context;
    cpu_on_crash(on_crash);
}

const char *counters_report(const struct counted *counted, struct report *report) {
    struct row *rows[2] = {counted->row, counted->base};
    struct counters counters[2];
    int count = counted->base != NULL ? 2 : 1;
    for (int i = 0; i < count; ++i) {
        const struct cpu_counter_line *lines;
        struct cpu_counters sums;
        struct counters *c = &counters[i];
        cpu_counters_reset();
        code_path("");
        const char *error = counted->run(counted->context, i > 0);
        if (error != NULL)
            return error;
        /* The device has types of its own, with the same members. */
        static_assert(sizeof c->sums == sizeof sums && sizeof *c->lines == sizeof *lines, "");
        cpu_counters_get(&sums);
        memcpy(&c->sums, &sums, sizeof sums);
        c->line_count = cpu_counter_lines(&lines);
        c->lines = (const struct counter_line *)lines;
        c->step = rows[i]->step, c->shape = rows[i]->shape;
        counters_row(rows[i], c);
        snprintf(rows[i]->path, sizeof rows[i]->path, "%s", code_path_taken());
        report_counters(report, c);
        if (report->table.file != NULL)
            counters_print_lines(report->table.file, c);
    }
    if (report->table.file != NULL)
        counters_print_sums(report->table.file, &counters[0], count == 2 ? &counters[1] : NULL);
    return NULL;
}
