#include "run/report.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The columns, in order: texts have a size, figures have none. */
#define TEXT(field) \
    { #field, offsetof(struct row, field), sizeof((struct row *)0)->field }
#define FIGURE(field) \
    { #field, offsetof(struct row, field), 0 }
static const struct column {
    const char *name;
    size_t offset, size;
} columns[] = {
    TEXT(step),      TEXT(base),       TEXT(device),      TEXT(shape),
    FIGURE(m),       FIGURE(n),        FIGURE(k),         TEXT(type),
    TEXT(path),      TEXT(status),     FIGURE(error),     TEXT(unit),
    FIGURE(rate),    FIGURE(rate_low), FIGURE(rate_high), FIGURE(microseconds),
    FIGURE(samples), TEXT(l2),         FIGURE(library),   FIGURE(ceiling),
    FIGURE(copy),    FIGURE(speedup),  TEXT(build),       TEXT(note),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *text_of(const struct row *row, const struct column *c) {
    return (const char *)row + c->offset;
}

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
            if (!isnan(figure_of(row, &columns[i])))
                fprintf(file, "%.9g", figure_of(row, &columns[i]));
            continue;
        }
        const char *text = text_of(row, &columns[i]);
        bool quote = text[strcspn(text, ",\"")] != '\0';
        if (quote)
            fputc('"', file);
        for (; *text != '\0'; ++text)
            fprintf(file, *text == '"' ? "\"\"" : "%c", *text == '\n' ? ' ' : *text);
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

static void json_text(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text != '\0'; ++text) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        if ((unsigned char)*text < 0x20)
            fprintf(file, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, file);
    }
    fputc('"', file);
}

void row_json(FILE *file, const struct row *row) {
    fputs("{", file);
    for (int i = 0; i < COLUMNS; ++i) {
        fprintf(file, "%s\"%s\": ", i > 0 ? ", " : "", columns[i].name);
        if (columns[i].size > 0)
            json_text(file, text_of(row, &columns[i]));
        else if (isfinite(figure_of(row, &columns[i])))
            fprintf(file, "%.9g", figure_of(row, &columns[i]));
        else
            fputs("null", file);
    }
    fputs("}", file);
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

void row_table(FILE *file, const struct row *row, bool figures) {
    char error[40] = "";
    if (figures && !isnan(row->error) && row->error > 0)
        snprintf(error, sizeof error, "error %.2g", row->error);
    const char *remarks[] = {row->path, error, strcmp(row->l2, "warm") == 0 ? "warm L2" : "",
                             row->build, row->note};
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

static bool open_file(const char *name, FILE **file) {
    *file = name != NULL && strcmp(name, "-") == 0 ? stdout : NULL;
    if (name == NULL || *file != NULL)
        return true;
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const char *why = NULL;
    struct stat status;
    bool regular = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (regular && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        why = "another program is writing it";
    else if (fd >= 0 && (!regular || ftruncate(fd, 0) == 0)) /* a device may be shared */
        *file = fdopen(fd, "w");
    if (*file == NULL)
        fprintf(stderr, "%s: cannot be written: %s\n", name, why != NULL ? why : strerror(errno));
    if (*file == NULL && fd >= 0)
        close(fd);
    return *file != NULL;
}

bool report_open(struct report *report, const char *csv, const char *json) {
    bool on_stdout =
        (csv != NULL && strcmp(csv, "-") == 0) || (json != NULL && strcmp(json, "-") == 0);
    report->table = on_stdout ? NULL : stdout;
    report->csv_name = csv;
    report->json_name = json;
    report->error = 0;
    report->fact_count = 0;
    report->rows = false;
    report->figures = false;
    if (!open_file(csv, &report->csv) || !open_file(json, &report->json))
        return false;
    if (report->json != NULL)
        fputs("{\"rows\": [", report->json);
    return true;
}

void report_fact(struct report *report, const char *fact) {
    if (report->table != NULL)
        fprintf(report->table, "%s\n", fact);
    if (report->csv != NULL)
        fprintf(report->csv, "# %s\n", fact);
    if (report->fact_count < REPORT_FACTS_MAX)
        snprintf(report->facts[report->fact_count++], sizeof report->facts[0], "%s", fact);
}

/* Before the first row. */
static void start_rows(struct report *report) {
    if (report->table != NULL)
        row_table_header(report->table, report->figures);
    if (report->csv != NULL)
        row_csv_header(report->csv);
    report->rows = true;
}

void report_row(struct report *report, const struct row *row) {
    if (!report->rows)
        start_rows(report);
    else if (report->json != NULL)
        fputc(',', report->json);
    if (report->table != NULL)
        row_table(report->table, row, report->figures);
    if (report->csv != NULL)
        row_csv(report->csv, row);
    if (report->json != NULL) {
        fputc('\n', report->json);
        row_json(report->json, row);
    }
    FILE *const files[] = {report->table, report->csv, report->json};
    for (int i = 0; i < 3; ++i) /* what was measured is kept, whatever comes next */
        if (files[i] != NULL && fflush(files[i]) != 0 && report->error == 0)
            report->error = errno;
}

void fault_clear(struct fault *fault) {
    memset(fault, 0, sizeof *fault);
}

void report_fault(struct report *report, const struct fault *f) {
    (void)report;
    fprintf(stderr, "%s %s, %s inputs, schedule %s: %s\n", f->step, f->shape, f->inputs,
            f->schedule, f->text);
    if (f->repeat[0] != '\0')
        fprintf(stderr, "  repeat: %s\n", f->repeat);
}

static bool close_file(FILE *file, const char *name, int error) {
    if (file == NULL)
        return true;
    bool good = !ferror(file);
    if ((file == stdout ? fflush(file) : fclose(file)) != 0) {
        good = false;
        error = errno;
    }
    if (!good)
        fprintf(stderr, "%s could not be written: %s\n", file == stdout ? "stdout" : name,
                strerror(error));
    return good;
}

bool report_close(struct report *report) {
    if (!report->rows)
        start_rows(report);
    if (report->json != NULL) {
        fputs("\n], \"facts\": [", report->json);
        for (int i = 0; i < report->fact_count; ++i) {
            fputs(i > 0 ? ", " : "", report->json);
            json_text(report->json, report->facts[i]);
        }
        fputs("]}\n", report->json);
    }
    bool good = close_file(report->csv, report->csv_name, report->error);
    good = close_file(report->json, report->json_name, report->error) && good;
    return close_file(report->table, NULL, report->error) && good;
}
