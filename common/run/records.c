#include "run/records.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns: the members of the records, in order ---- */

struct column {
    const char *name, *label; /* label: in a table for people */
    enum { TEXT, POINTER, FIGURE, NUMBER, COUNT } type;
    size_t offset, size;
};
// clang-format off
#define COLUMN(record, label, member)                                                              \
    {#member, label,                                                                               \
     _Generic(((struct record *)0)->member, char *: TEXT, const char *: POINTER, double: FIGURE,   \
              unsigned: NUMBER, uint64_t: COUNT),                                                  \
     offsetof(struct record, member), sizeof ((struct record *)0)->member}
#define ROW(member) COLUMN(row, NULL, member)
#define FAULT(member) COLUMN(fault, NULL, member)
#define LINE(member) COLUMN(cpu_counter_line, NULL, member)
#define SUM(label, member) COLUMN(cpu_counters, label, member)
static const struct column row_columns[] = {
    ROW(step), ROW(base), ROW(device), ROW(shape), ROW(m), ROW(n), ROW(k), ROW(type), ROW(path), ROW(status),
    ROW(error), ROW(unit), ROW(rate), ROW(rate_low), ROW(rate_high), ROW(microseconds), ROW(samples), ROW(l2),
    ROW(library), ROW(ceiling), ROW(copy), ROW(speedup), ROW(build), ROW(note),
    ROW(sectors), ROW(sectors_ideal), ROW(thread_bytes), ROW(copy_bytes), ROW(in_flight), {0}};
static const struct column fault_columns[] = {
    FAULT(id), FAULT(step), FAULT(shape), FAULT(inputs), FAULT(schedule), FAULT(place), FAULT(other),
    FAULT(thread), FAULT(block), FAULT(other_thread), FAULT(other_block), FAULT(memory), FAULT(text),
    FAULT(mend), FAULT(repeat), {0}};
static const struct column line_columns[] = {
    LINE(file), LINE(line), LINE(operation), LINE(memory), LINE(bytes), LINE(instructions), LINE(cost),
    LINE(ideal), LINE(text), {0}};
// clang-format on
static const struct column sum_columns[] = {SUM("global loads, sectors", load_sectors),
                                            SUM("  at least", load_ideal),
                                            SUM("global stores, sectors", store_sectors),
                                            SUM("  at least", store_ideal),
                                            SUM("asynchronous copies, sectors", copy_sectors),
                                            SUM("  at least", copy_ideal),
                                            SUM("to shared memory by threads, bytes", thread_bytes),
                                            SUM("to shared memory by copies, bytes", copy_bytes),
                                            SUM("shared memory, cycles", shared_cycles),
                                            SUM("  of them bank conflicts", conflicts),
                                            SUM("block barriers", barriers),
                                            SUM("waits for copies, by warps", waits),
                                            SUM("groups in flight in a multiply", in_flight),
                                            SUM("mma_sync, by warps", mma),
                                            SUM("  floating-point operations", tensor_flops),
                                            {0}};

/* Null for a figure. */
static const char *text_of(const struct column *c, const void *record) {
    const char *at = (const char *)record + c->offset;
    return c->type == TEXT ? at : c->type == POINTER ? *(const char *const *)at : NULL;
}

static double figure_of(const struct column *c, const void *record) {
    const void *at = (const char *)record + c->offset;
    return c->type == NUMBER  ? *(const unsigned *)at
           : c->type == COUNT ? (double)*(const uint64_t *)at
                              : *(const double *)at;
}

/* A number, a whole one with all its digits; `none` for NAN and infinities. */
static void print_figure(FILE *file, double value, const char *none) {
    if (isfinite(value)) fprintf(file, value == floor(value) && fabs(value) < 1e15 ? "%.0f" : "%.9g", value);
    else fputs(none, file);
}

void row_clear(struct row *row) {
    memset(row, 0, sizeof *row);
    for (const struct column *c = row_columns; c->name != NULL; ++c)
        if (c->type == FIGURE) *(double *)((char *)row + c->offset) = NAN;
}

/* ---- CSV ---- */

static void csv_text(FILE *file, const char *text) {
    const bool quote = text[strcspn(text, ",\"")] != '\0';
    fputs(quote ? "\"" : "", file);
    for (; *text != '\0'; ++text)
        fprintf(file, *text == '"' ? "\"\"" : "%c", (unsigned char)*text < ' ' ? ' ' : *text);
    fputs(quote ? "\"" : "", file);
}

void row_csv(FILE *file, const struct row *row) {
    for (const struct column *c = row_columns; c->name != NULL; ++c) {
        fputs(c > row_columns ? "," : "", file);
        if (row == NULL) fputs(c->name, file);
        else if (c->type == TEXT) csv_text(file, text_of(c, row));
        else print_figure(file, figure_of(c, row), "");
    }
    fputc('\n', file);
}

bool row_csv_parse(const char *line, struct row *row) {
    char cell[512], *end;
    row_clear(row);
    for (const struct column *c = row_columns; c->name != NULL; ++c) {
        size_t length = 0;
        const bool quoted = *line == '"', last = c[1].name == NULL;
        line += quoted;
        while (*line != '\0' && *line != '\n' && (quoted || *line != ',')) {
            if (quoted && *line == '"' && *++line != '"') break;
            if (length + 1 >= sizeof cell) return false;
            cell[length++] = *line++;
        }
        cell[length] = '\0';
        if (*line != (last ? '\n' : ',') && !(last && *line == '\0')) return false;
        ++line;
        char *target = (char *)row + c->offset;
        if (c->type == TEXT && length >= c->size) return false;
        if (c->type == TEXT) memcpy(target, cell, length + 1);
        else if (length > 0 && (*(double *)target = strtod(cell, &end), *end != '\0')) return false;
    }
    return true;
}

/* ---- JSON ---- */

/* Bytes of the UTF-8 character that `s` begins with; 0: it begins with none. */
static int utf8_length(const unsigned char *s) {
    int length = s[0] < 0x80                   ? 1
                 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                               : 0;
    for (int i = 1; i < length; ++i)
        if ((s[i] & 0xc0) != 0x80) return 0;
    /* Longer than need be, half of a UTF-16 pair, beyond the last character. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return length;
}

void json_text(FILE *file, const void *text) {
    const unsigned char *at = text;
    fputc('"', file);
    for (int length; *at != '\0'; at += length > 0 ? length : 1) {
        length = utf8_length(at);
        if (length == 0) fputs("\\ufffd", file);
        else if (*at < 0x20) fprintf(file, "\\u%04x", (unsigned)*at);
        else fprintf(file, "%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", length, (char *)at);
    }
    fputc('"', file);
}

static void json_object(FILE *file, const struct column *columns, const void *record) {
    for (const struct column *c = columns; c->name != NULL; ++c) {
        const char *text = text_of(c, record);
        fprintf(file, "%s\"%s\": ", c == columns ? "{" : ", ", c->name);
        if (text != NULL) json_text(file, text);
        else print_figure(file, figure_of(c, record), "null");
    }
    fputc('}', file);
}

void json_row(FILE *file, const void *row) { json_object(file, row_columns, row); }

void json_fault(FILE *file, const void *fault) { json_object(file, fault_columns, fault); }

void json_counters(FILE *file, const void *counters) {
    const struct counters *c = counters;
    fputs("{\"step\": ", file);
    json_text(file, c->step);
    fputs(", \"shape\": ", file);
    json_text(file, c->shape);
    fputs(", \"sums\": ", file);
    json_object(file, sum_columns, &c->sums);
    fputs(", \"lines\": [", file);
    for (unsigned i = 0; i < c->line_count; ++i) {
        fputs(i > 0 ? ",\n  " : "\n  ", file);
        json_object(file, line_columns, &c->lines[i]);
    }
    fputs("]}", file);
}

/* ---- tables ---- */

/* A figure right-aligned in `width` columns, or a dash. */
static void cell(FILE *file, int width, int decimals, double value, const char *suffix) {
    if (isnan(value)) fprintf(file, " %*s", width, "-");
    else fprintf(file, " %*.*f%s", width - (int)strlen(suffix), decimals, value, suffix);
}

void row_table(FILE *file, const struct row *row, bool figures) {
    char error[40] = "", counted[160] = "", spread[40] = "-", remarks[768] = "";
    if (row == NULL) {
        fprintf(file, "%-27s %-12s %-16s %-16s %-9s", "step", "base", "device", "shape", "verified");
        if (figures)
            fprintf(file, " %8s %-8s %17s %7s %7s %7s %7s", "rate", "unit", "5%..95%", "library", "ceiling",
                    "copy", "base x");
        fprintf(file, "  remarks\n");
        return;
    }
    if (figures && row->error > 0) snprintf(error, sizeof error, "error %.2g", row->error);
    if (!isnan(row->sectors))
        snprintf(counted, sizeof counted,
                 "%.0f sectors, %.2f x ideal; %.0f bytes by threads, %.0f by copies; %.0f %s in flight",
                 row->sectors, row->sectors_ideal > 0 ? row->sectors / row->sectors_ideal : 1.0,
                 row->thread_bytes, row->copy_bytes, row->in_flight,
                 row->in_flight == 1 ? "group" : "groups");
    const char *parts[] = {row->path,  error,   strcmp(row->l2, "warm") == 0 ? "warm L2" : "",
                           row->build, counted, row->note};
    for (size_t i = 0, length = 0; i < sizeof parts / sizeof *parts; ++i)
        if (parts[i][0] != '\0')
            length += (size_t)snprintf(remarks + length, sizeof remarks - length, "%s%s",
                                       length > 0 ? "; " : "  ", parts[i]);
    fprintf(file, "%-27s %-12s %-16.16s %-16s %-*s", row->step, row->base, row->device, row->shape,
            figures || remarks[0] != '\0' ? 9 : 0,
            strcmp(row->status, STATUS_VERIFIED) == 0 ? "yes" : row->status);
    if (figures) {
        if (!isnan(row->rate)) snprintf(spread, sizeof spread, "%.2f..%.2f", row->rate_low, row->rate_high);
        cell(file, 8, 2, row->rate, "");
        fprintf(file, " %-8s %17s", row->unit, spread);
        cell(file, 7, 1, row->library, "%");
        cell(file, 7, 1, row->ceiling, "%");
        cell(file, 7, 1, row->copy, "%");
        cell(file, 7, 2, row->speedup, "");
    }
    fprintf(file, "%s\n", remarks);
}

void counters_row(struct row *row, const struct counters *counters) {
    const struct cpu_counters *s = &counters->sums;
    row->sectors = (double)(s->load_sectors + s->store_sectors + s->copy_sectors);
    row->sectors_ideal = (double)(s->load_ideal + s->store_ideal + s->copy_ideal);
    row->thread_bytes = (double)s->thread_bytes;
    row->copy_bytes = (double)s->copy_bytes;
    row->in_flight = (double)s->in_flight;
}

void counters_print_lines(FILE *file, const struct counters *c) {
    char place[256];
    fprintf(file, "counters: %s, %s\n%-36s %-9s %-6s %5s %12s %12s %12s  %s\n", c->step, c->shape, "line",
            "operation", "memory", "bytes", "instructions", "cost", "ideal", "text");
    for (const struct cpu_counter_line *l = c->lines; l < c->lines + c->line_count; ++l) {
        snprintf(place, sizeof place, "%s:%u", l->file, l->line);
        fprintf(file, "%-36s %-9s %-6s %5u %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "  %s\n", place,
                l->operation, l->memory, l->bytes, l->instructions, l->cost, l->ideal, l->text);
    }
}

void counters_print_sums(FILE *file, const struct counters *step, const struct counters *base) {
    fprintf(file, "\n%-36s %27s", "sum", step->step);
    if (base != NULL) fprintf(file, " %27s %9s", base->step, "ratio");
    for (const struct column *c = sum_columns; c->name != NULL; ++c) {
        const double value = figure_of(c, &step->sums);
        const double other = base != NULL ? figure_of(c, &base->sums) : 0;
        fprintf(file, "\n%-36s %27.0f", c->label, value);
        if (base != NULL) fprintf(file, " %27.0f", other);
        if (other > 0) fprintf(file, " %9.3f", value / other);
        else if (base != NULL) fprintf(file, " %9s", value > 0 ? "new" : "-");
    }
    fputs("\n\n", file);
}
