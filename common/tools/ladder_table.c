/* The rows of the ladder: their order, and the table. */
#include "tools/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/options.h"
#include "tools/child.h"

enum { EXIT_SIGNAL = 128 };

static int step_number(const char *name) {
    int i = 0;
    while (steps[i].name != NULL && strncmp(steps[i].name, name, strcspn(name, "/")) != 0)
        ++i;
    return i; /* the libraries come behind the steps */
}

static int shape_number(const struct sizes *order, const char *name) {
    int number = 0;
    for (int kind = SHAPE_GEMM; kind <= SHAPE_VECTOR; ++kind)
        for (int i = 0; i < order->of[kind].count; ++i, ++number)
            if (strcmp(order->of[kind].shape[i].name, name) == 0)
                return number;
    return number;
}

void ladder_add(struct ladder *l, const struct row *row) {
    const bool gpu = strcmp(row->device, "CPU device") != 0;
    if (l->count == l->capacity) {
        l->capacity = 2 * l->capacity + 64;
        l->entries = realloc(l->entries, (size_t)l->capacity * sizeof *l->entries);
        if (l->entries == NULL) {
            fprintf(stderr, "no memory for %d rows\n", l->capacity);
            exit(EXIT_FAULT);
        }
    }
    l->entries[l->count++] = (struct entry){!gpu, shape_number(&l->sizes[gpu], row->shape),
                                            step_number(row->step), *row};
    report_row(&l->report, row);
}

static int by_place(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return x->device != y->device ? x->device - y->device
           : x->shape != y->shape ? x->shape - y->shape
           : x->step != y->step   ? x->step - y->step
                                  : strcmp(y->row.step, x->row.step); /* "08_x/baseline" first */
}

int ladder_print(struct ladder *l, FILE *file) {
    int verified = 0, failed = 0, skipped = 0;
    bool figures = false;
    if (l->count > 0)
        qsort(l->entries, (size_t)l->count, sizeof *l->entries, by_place);
    for (int i = 0; i < l->report.fact_count && file != NULL; ++i)
        fprintf(file, "%s\n", l->report.facts[i]);
    for (int i = 0; i < l->count; ++i)
        figures = figures || !isnan(l->entries[i].row.rate);
    if (file != NULL)
        row_table_header(file, figures);
    for (int i = 0; i < l->count; ++i) {
        const struct entry *e = &l->entries[i];
        verified += strcmp(e->row.status, STATUS_VERIFIED) == 0;
        failed += strcmp(e->row.status, STATUS_FAILED) == 0;
        skipped += strcmp(e->row.status, STATUS_SKIPPED) == 0;
        bool again = i > 0 && strcmp(e->row.status, STATUS_LIBRARY) == 0 &&
                     by_place(e, e - 1) == 0 && strcmp(e->row.shape, e[-1].row.shape) == 0;
        if (file != NULL && !again)
            row_table(file, &e->row, figures);
    }
    if (file != NULL)
        fprintf(file, "%s%d verified, %d failed, %d skipped; skipped is not verified\n",
                child_interrupted ? "interrupted, so not complete: " : "", verified, failed,
                skipped);
    return child_interrupted ? EXIT_SIGNAL + child_interrupted
           : failed > 0      ? EXIT_FAULT
           : verified == 0   ? EXIT_SKIPPED
                             : EXIT_OK;
}
