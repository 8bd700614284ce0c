/* The CPU device's side of counters.h. */
#include "device/counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cpu_device.h"

/* The sums, in the order of the table. */
#define SUM(field) offsetof(struct cpu_counters, field)
static const struct {
    const char *name;
    size_t offset;
} sums[] = {
    {"global loads, sectors", SUM(load_sectors)},
    {"  at least", SUM(load_ideal)},
    {"global stores, sectors", SUM(store_sectors)},
    {"  at least", SUM(store_ideal)},
    {"asynchronous copies, sectors", SUM(copy_sectors)},
    {"  at least", SUM(copy_ideal)},
    {"to shared memory by threads, bytes", SUM(thread_bytes)},
    {"to shared memory by copies, bytes", SUM(copy_bytes)},
    {"shared memory, cycles", SUM(shared_cycles)},
    {"  of them bank conflicts", SUM(conflicts)},
    {"block barriers", SUM(barriers)},
    {"waits for copies, by warps", SUM(waits)},
    {"groups in flight in a multiply", SUM(in_flight)},
    {"mma_sync, by warps", SUM(mma)},
    {"  floating-point operations", SUM(tensor_flops)},
};
enum { SUMS = sizeof sums / sizeof *sums };

static uint64_t value_of(const struct cpu_counters *c, int i) {
    return *(const uint64_t *)((const char *)c + sums[i].offset);
}

static void print_ratio(uint64_t step, uint64_t base) {
    if (base > 0)
        printf(" %9.3f", (double)step / (double)base);
    else
        printf(" %9s", step > 0 ? "new" : "-");
}

static void summarise(const struct cpu_counters *c, char *text, size_t size) {
    uint64_t sectors = c->load_sectors + c->store_sectors + c->copy_sectors,
             ideal = c->load_ideal + c->store_ideal + c->copy_ideal;
    snprintf(text, size,
             "%" PRIu64 " sectors, %.2f x ideal; %" PRIu64 " bytes by threads, %" PRIu64
             " by copies; %" PRIu64 " %s in flight",
             sectors, ideal > 0 ? (double)sectors / (double)ideal : 1.0, c->thread_bytes,
             c->copy_bytes, c->in_flight, c->in_flight == 1 ? "group" : "groups");
}

static void print_lines(void) {
    const struct cpu_counter_line *lines;
    unsigned count = cpu_counter_lines(&lines);
    printf("%-36s %-13s %5s %12s %12s %12s  %s\n", "line", "operation", "bytes", "instructions",
           "cost", "ideal", "text");
    for (unsigned i = 0; i < count; ++i) {
        const struct cpu_counter_line *l = &lines[i];
        bool shared = strcmp(l->memory, "shared") == 0, copy = strcmp(l->operation, "copy") == 0;
        char place[128], operation[32];
        snprintf(place, sizeof place, l->line > 0 ? "%s:%u" : "%s", l->file, l->line);
        snprintf(operation, sizeof operation, "%s%s%s", shared && !copy ? "shared " : "",
                 strcmp(l->operation, "mma") == 0 ? "mma_sync" : l->operation,
                 !copy    ? ""
                 : shared ? ", write"
                          : ", read");
        printf("%-36s %-13s %5u %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "  %s\n", place, operation,
               l->bytes, l->instructions, l->cost, l->ideal, l->text);
    }
}

const char *counters_report(const struct counted *counted, const struct report *report) {
    struct row *rows[2] = {counted->row, counted->base};
    struct cpu_counters c[2];
    int count = counted->base != NULL ? 2 : 1;
    for (int i = 0; i < count; ++i) {
        cpu_counters_reset();
        const char *error = counted->run(counted->context, i > 0);
        if (error != NULL)
            return error;
        if (report->table != NULL)
            printf("counters: %s, %s\n", rows[i]->step, rows[i]->shape);
        if (report->table != NULL)
            print_lines();
        cpu_counters_get(&c[i]);
        summarise(&c[i], rows[i]->note, sizeof rows[i]->note);
    }
    if (report->table == NULL)
        return NULL;
    printf("\n%-36s %27s", "sum", rows[0]->step);
    if (count == 2)
        printf(" %27s %9s", rows[1]->step, "ratio");
    printf("\n");
    for (int i = 0; i < SUMS; ++i) {
        printf("%-36s %27" PRIu64, sums[i].name, value_of(&c[0], i));
        if (count == 2) {
            printf(" %27" PRIu64, value_of(&c[1], i));
            print_ratio(value_of(&c[0], i), value_of(&c[1], i));
        }
        printf("\n");
    }
    printf("\n");
    return NULL;
}
