/**
 * @file task.h
 * What the judge does to each element, for host and device code alike.
 */
#ifndef OVERLAP_TASK_H
#define OVERLAP_TASK_H

#include "judge/judge.h"

enum task_kind {
    TASK_FILL,
    TASK_POISON,
    TASK_COMPARE,
    TASK_SUM,
    TASK_SCAN,
    TASK_OUTSIDE,
    TASK_DIGEST
};

/** One thing to do to `count` elements: judge.h says what, and with which of these. */
struct task {
    enum task_kind kind;
    size_t count;
    struct matrix x;
    struct output y;
    struct fill fill;
    struct product product;
    bool exact;
};

/** What is found out about no element. */
static inline OVERLAP_HD struct found found_nothing(void) {
    struct found f = {0, ~0ull, 0, 0};
    return f;
}

static inline OVERLAP_HD void found_wrong(struct found *f, size_t i) {
    f->count += 1;
    f->first = i < f->first ? i : f->first;
}

/* Row and column of item i, of which a row has `width`; a vector takes no division. */
static inline OVERLAP_HD size_t task_row(const struct matrix *x, size_t width, size_t *i) {
    size_t row = x->rows > 1 ? *i / width : 0;
    *i -= row * width;
    return row;
}

static inline OVERLAP_HD void task_compare(const struct task *t, size_t i, struct found *f) {
    const struct product *p = &t->product;
    size_t col = i, row = task_row(&p->C, p->C.cols, &col);
    double c = element_load(p->C.type, p->C.at, row * p->C.ld + col), ref = p->ref[i],
           mag = p->mag[i], error = mag > 0 ? (c - ref) / mag : 0;
    if (!is_close(c, product_wants(p, t->exact, ref), product_allows(p, t->exact, ref, mag)))
        found_wrong(f, i);
    if (!(fabs(error) <= f->largest)) /* a NaN gets in, and stays */
        f->largest = isnan(f->largest) ? f->largest : fabs(error);
    f->sum += error;
}

static inline OVERLAP_HD bool task_is_inside(const struct output *y, size_t i) {
    const struct matrix *m = &y->matrix;
    size_t before = (size_t)((char *)m->at - (char *)y->base) / element_size(m->type);
    if (i < before || m->rows == 0)
        return false;
    i -= before;
    return task_row(m, m->ld, &i) < m->rows && i < m->cols;
}

/** Does the task to item i. */
static inline OVERLAP_HD void task_item(const struct task *t, size_t i, struct found *f) {
    const struct matrix *x = &t->x, *y = &t->y.matrix;
    const uint32_t poison = element_poison(y->type);
    size_t col = i, row;
    switch (t->kind) {
    case TASK_FILL:
        row = task_row(x, x->ld, &col);
        element_store(x->type, x->at, i,
                      col < x->cols ? element_round(x->type, fill_element(&t->fill, row, col))
                                    : element_poison(x->type));
        break;
    case TASK_POISON:
        element_store(y->type, t->y.base, i, poison);
        break;
    case TASK_COMPARE:
        task_compare(t, i, f);
        break;
    case TASK_SUM:
        f->sum += element_load(x->type, x->at, i);
        break;
    case TASK_SCAN:
        if (element_bits(y->type, y->at, i) !=
            (i > 0 ? element_bits(y->type, y->at, i - 1) : 0) + element_bits(x->type, x->at, i))
            found_wrong(f, i);
        break;
    case TASK_OUTSIDE:
        if (element_bits(y->type, t->y.base, i) != poison && !task_is_inside(&t->y, i))
            f->count += 1;
        break;
    case TASK_DIGEST:
        row = task_row(x, x->cols, &col);
        f->count += number_hash(element_bits(x->type, x->at, row * x->ld + col), row, col);
        break;
    }
}

#endif
