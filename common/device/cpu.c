/* The CPU device: its schedules, faults and counters. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

#include "cpu/cpu_device.h"

int device_open(int ordinal, struct device *device) {
    char number[16];
    snprintf(number, sizeof number, "%d", ordinal);
    if (ordinal != 0) return option_refused("--device", number, "0, the one CPU device");
    device_describe(0, device);
    device->counts = cpu_is_checked();
    return EXIT_OK;
}

const char *device_schedule(int i, const char *only) {
    for (const struct cpu_schedule *s = cpu_schedules; s->name != NULL; ++s)
        if ((only == NULL || strcmp(s->name, only) == 0) && i-- == 0) {
            cpu_schedule_set(s);
            return s->name;
        }
    return NULL;
}

bool device_fault(unsigned i, struct fault *f) {
    const struct cpu_fault *c = cpu_fault(i);
    if (c == NULL) return false;
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
    return true;
}

void device_faults_clear(void) { cpu_faults_clear(); }

static struct report *report_of_run;
static struct fault context_of_run;
static struct trace *trace_of_run;

static void on_crash(void) {
    device_faults(report_of_run, &context_of_run);
    report_end();
    if (trace_of_run != NULL) trace_close(trace_of_run);
}

void device_suspects(void) { cpu_suspects(1); }

void device_watch(struct report *report, const struct fault *context) {
    cpu_suspects(0);
    report_of_run = report;
    context_of_run = *context;
    cpu_on_crash(on_crash);
}

void device_count(void) { cpu_counters_reset(); }

void device_counted(struct counters *c) {
    cpu_counters_get(&c->sums);
    c->line_count = cpu_counter_lines(&c->lines);
}

void device_trace(struct trace *trace) {
    trace_of_run = trace;
    cpu_trace(trace != NULL ? trace_event : NULL, trace);
}
