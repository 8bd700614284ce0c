#include "run/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/json.h"

/* The columns, in order. */
#define TEXT(field) COLUMN_TEXT(struct row, field)
#define FIGURE(field) COLUMN_FIGURE(struct row, field)
// clang-format off
static const struct column columns[] = {
    TEXT(step), TEXT(base), TEXT(device), TEXT(shape), FIGURE(m), FIGURE(n), FIGURE(k), TEXT(type),
    TEXT(path), TEXT(status), FIGURE(error), TEXT(unit), FIGURE(rate), FIGURE(rate_low), FIGURE(rate_high),
    FIGURE(microseconds), FIGURE(samples), TEXT(l2), FIGURE(library), FIGURE(ceiling), FIGURE(copy), FIGURE(speedup),
    TEXT(build), TEXT(note),
    FIGURE(sectors), FIGURE(sectors_ideal), FIGURE(thread_bytes), FIGURE(copy_bytes), FIGURE(in_flight),
};
// clang-format on
enum { COLUMNS = sizeof columns / sizeof *columns };

static double figure_of(const struct row *row, const struct column *c) {
    double value;
    memcpy(&value, (const char *)row + c->offset, sizeof value);
    return value;
}

void row_clear(struct row *row) {
    memset(row, 0, sizeof *row);
    const double none = NAN;
    for (int i = 0; i < COLUMNS; ++i)
        if (columns[i].size == 0)
            memcpy((char *)row + columns[i].offset, &none, sizeof none);
}

void row_csv_header(FILE *file) {
    for (int i = 0; i < COLUMNS; ++i)
        fprintf(file, "%s%s", i > 0 ? "," : "", columns[i].name);
    fputc('\n', file);
}

void row_csv(FILE *file, const struct row *row) {
    for (int i = 0; i < COLUMNS; ++i) {
        if (i > 0)
            fputc(',', file);
        if (columns[i].size == 0) {
            if (isfinite(figure_of(row, &columns[i])))
                json_figure(file, figure_of(row, &columns[i]));
            continue;
        }
        const char *text = (const char *)row + columns[i].offset;
        bool quote = text[strcspn(text, ",\"")] != '\0';
        if (quote)
            fputc('"', file);
        for (; *text != '\0'; ++text)
            fprintf(file, *text == '"' ? "\"\"" : "%c", (unsigned char)*text < ' ' ? ' ' : *text);
        if (quote)
            fputc('"', file);
    }
    fputc('\n', file);
}

bool row_csv_parse(const char *line, struct row *row) {
    char cell[512];
    row_clear(row);
    for (int i = 0; i < COLUMNS; ++i) {
        size_t length = 0;
        bool quoted = *line == '"';
        line += quoted;
        while (*line != '\0' && *line != '\n' && (quoted || *line != ',')) {
            if (quoted && *line == '"' && *++line != '"')
                break;
            if (length + 1 >= sizeof cell)
                return false;
            cell[length++] = *line++;
        }
        cell[length] = '\0';
        if (*line != (i + 1 < COLUMNS ? ',' : '\n') && !(i + 1 == COLUMNS && *line == '\0'))
            return false;
        ++line;
        char *target = (char *)row + columns[i].offset, *end;
        if (columns[i].size > 0) {
            if (length >= columns[i].size)
                return false;
            memcpy(target, cell, length + 1);
        } else if (length > 0) {
            double value = strtod(cell, &end);
            if (*end != '\0')
                return false;
            memcpy(target, &value, sizeof value);
        }
    }
    return true;
}

void row_json(FILE *file, const struct row *row) {
    json_object(file, columns, COLUMNS, row);
}

/* A figure right-aligned in `width` columns, or a dash. */
static void cell(FILE *file, int width, int decimals, double value, const char *suffix) {
    if (isnan(value))
        fprintf(file, " %*s", width, "-");
    else
        fprintf(file, " %*.*f%s", width - (int)strlen(suffix), decimals, value, suffix);
}

void row_table_header(FILE *file, bool figures) {
    fprintf(file, "%-27s %-12s %-16s %-16s %-9s", "step", "base", "device", "shape", "verified");
    if (figures)
        fprintf(file, " %8s %-8s %17s %7s %7s %7s %7s", "rate", "unit", "5%..95%", "library",
                "ceiling", "copy", "base x");
    fprintf(file, "  remarks\n");
}

/* What a counted run did, in words. */
static void remark_of_counters(const struct row *row, char *text, size_t size) {
    if (!isnan(row->sectors))
        snprintf(
            text, size,
            "%.0f sectors, %.2f x ideal; %.0f bytes by threads, %.0f by copies; %.0f %s in flight",
            row->sectors, row->sectors_ideal > 0 ? row->sectors / row->sectors_ideal : 1.0,
            row->thread_bytes, row->copy_bytes, row->in_flight,
            row->in_flight == 1 ? "group" : "groups");
}

void row_table(FILE *file, const struct row *row, bool figures) {
    char error[40] = "", counters[160] = "";
    if (figures && !isnan(row->error) && row->error > 0)
        snprintf(error, sizeof error, "error %.2g", row->error);
    remark_of_counters(row, counters, sizeof counters);
    const char *remarks[] = {row->path,  error,    strcmp(row->l2, "warm") == 0 ? "warm L2" : "",
                             row->build, counters, row->note};
    bool more = figures; /* something follows the status */
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; ++i)
        more = more || remarks[i][0] != '\0';
    fprintf(file, "%-27s %-12s %-16.16s %-16s %-*s", row->step, row->base, row->device, row->shape,
            more ? 9 : 0, strcmp(row->status, STATUS_VERIFIED) == 0 ? "yes" : row->status);
    if (figures) {
        char spread[40] = "-";
        if (!isnan(row->rate))
            snprintf(spread, sizeof spread, "%.2f..%.2f", row->rate_low, row->rate_high);
        cell(file, 8, 2, row->rate, "");
        fprintf(file, " %-8s %17s", row->unit, spread);
        cell(file, 7, 1, row->library, "%");
        cell(file, 7, 1, row->ceiling, "%");
        cell(file, 7, 1, row->copy, "%");
        cell(file, 7, 2, row->speedup, "");
    }
    const char *between = "  ";
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; ++i)
        if (remarks[i][0] != '\0') {
            fprintf(file, "%s%s", between, remarks[i]);
            between = "; ";
        }
    fputc('\n', file);
}
