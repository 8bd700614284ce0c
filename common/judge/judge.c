#include "judge/judge.h"

void judge_fill(const struct matrix *x, const struct fill *fill) {
    judge->run(&(struct task){.kind = TASK_FILL, .count = matrix_extent(x), .x = *x, .fill = *fill});
}

void judge_poison(const struct output *y) {
    judge->run(&(struct task){.kind = TASK_POISON, .count = y->count, .y = *y});
}

struct found judge_compare(const struct product *p, bool exact) {
    return judge->run(
        &(struct task){.kind = TASK_COMPARE, .count = p->C.rows * p->C.cols, .product = *p, .exact = exact});
}

double judge_sum(const struct matrix *x) {
    return judge->run(&(struct task){.kind = TASK_SUM, .count = x->cols, .x = *x}).sum;
}

struct found judge_scan(const struct matrix *x, const struct matrix *y) {
    return judge->run(&(struct task){TASK_SCAN, .count = x->cols, .x = *x, .y.matrix = *y});
}

uint64_t judge_outside(const struct output *y) {
    return judge->run(&(struct task){.kind = TASK_OUTSIDE, .count = y->count, .y = *y}).count;
}

uint64_t judge_digest(const struct matrix *x) {
    return judge->run(&(struct task){.kind = TASK_DIGEST, .count = x->rows * x->cols, .x = *x}).count;
}
