#include "run/counters.h"

#include <inttypes.h>
#include <string.h>

#include "run/json.h"

/* The sums, in the order of the table. */
#define SUM(key) #key, offsetof(struct counter_sums, key)
static const struct {
    const char *label, *key;
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

static uint64_t value_of(const struct counters *c, int i) {
    return *(const uint64_t *)((const char *)&c->sums + sums[i].offset);
}

void counters_row(struct row *row, const struct counters *counters) {
    const struct counter_sums *s = &counters->sums;
    row->sectors = (double)(s->load_sectors + s->store_sectors + s->copy_sectors);
    row->sectors_ideal = (double)(s->load_ideal + s->store_ideal + s->copy_ideal);
    row->thread_bytes = (double)s->thread_bytes;
    row->copy_bytes = (double)s->copy_bytes;
    row->in_flight = (double)s->in_flight;
}

static void json_pair(FILE *file, const char *before, const char *name, const char *text) {
    fprintf(file, "%s\"%s\": ", before, name);
    json_text(file, text);
}

void counters_json(FILE *file, const struct counters *c) {
    json_pair(file, "{", "step", c->step);
    json_pair(file, ", ", "shape", c->shape);
    for (int i = 0; i < SUMS; ++i)
        fprintf(file, "%s\"%s\": %" PRIu64, i == 0 ? ", \"sums\": {" : ", ", sums[i].key,
                value_of(c, i));
    fputs("}, \"lines\": [", file);
    for (const struct counter_line *l = c->lines; l < c->lines + c->line_count; ++l) {
        json_pair(file, l > c->lines ? ",\n  {" : "\n  {", "file", l->file);
        fprintf(file, ", \"line\": %u", l->line);
        json_pair(file, ", ", "operation", l->operation);
        json_pair(file, ", ", "memory", l->memory);
        fprintf(file,
                ", \"bytes\": %u, \"instructions\": %" PRIu64 ", \"cost\": %" PRIu64
                ", \"ideal\": %" PRIu64,
                l->bytes, l->instructions, l->cost, l->ideal);
        json_pair(file, ", ", "text", l->text);
        fputc('}', file);
    }
    fputs("]}", file);
}

void counters_print_lines(FILE *file, const struct counters *c) {
    char place[256], operation[32];
    fprintf(file, "counters: %s, %s\n%-36s %-13s %5s %12s %12s %12s  %s\n", c->step, c->shape,
            "line", "operation", "bytes", "instructions", "cost", "ideal", "text");
    for (const struct counter_line *l = c->lines; l < c->lines + c->line_count; ++l) {
        bool shared = strcmp(l->memory, "shared") == 0;
        snprintf(place, sizeof place, "%s:%u", l->file, l->line);
        if (strcmp(l->operation, "copy") == 0) /* reads global memory, and writes shared memory */
            snprintf(operation, sizeof operation, "copy, %s", shared ? "write" : "read");
        else
            snprintf(operation, sizeof operation, "%s%s%s", shared ? "shared " : "", l->operation,
                     strcmp(l->operation, "mma") == 0 ? "_sync" : "");
        fprintf(file, "%-36s %-13s %5u %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "  %s\n", place,
                operation, l->bytes, l->instructions, l->cost, l->ideal, l->text);
    }
}

void counters_print_sums(FILE *file, const struct counters *step, const struct counters *base) {
    fprintf(file, "\n%-36s %27s", "sum", step->step);
    if (base != NULL)
        fprintf(file, " %27s %9s", base->step, "ratio");
    for (int i = 0; i < SUMS; ++i) {
        const uint64_t value = value_of(step, i), other = base != NULL ? value_of(base, i) : 0;
        fprintf(file, "\n%-36s %27" PRIu64, sums[i].label, value);
        if (base != NULL)
            fprintf(file, " %27" PRIu64, other);
        if (other > 0)
            fprintf(file, " %9.3f", (double)value / (double)other);
        else if (base != NULL)
            fprintf(file, " %9s", value > 0 ? "new" : "-");
    }
    fputs("\n\n", file);
}
