/* The plain loops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/judge.h"

static void fill(const struct matrix *x, const struct fill *how) {
    for (size_t r = 0; r < x->rows && x->cols > 0; ++r)
        for (size_t c = 0; c < (r + 1 < x->rows ? x->ld : x->cols); ++c)
            element_store(x->type, x->at, r * x->ld + c,
                          c < x->cols ? element_round(x->type, fill_element(how, r, c))
                                      : element_poison(x->type));
}

static void poison(const struct output *y) {
    const enum element_type type = y->matrix.type;
    for (size_t i = 0; i < y->count; ++i)
        element_store(type, y->base, i, element_poison(type));
}

/* One row in FP64. A loop for each type, so that the compiler makes vectors of it. */
static void widen(double *wide, const struct matrix *x, size_t row) {
    const size_t start = row * x->ld;
    if (element_storage(x->type) == ELEMENT_F32)
        for (size_t i = 0; i < x->cols; ++i)
            wide[i] = ((const float *)x->at)[start + i];
    else
        for (size_t i = 0; i < x->cols; ++i)
            wide[i] = element_load(x->type, x->at, start + i);
}

static void reference(const struct product *p) {
    const size_t M = p->C.rows, N = p->C.cols, K = p->A.cols;
    double *a = malloc((K + K * N + 1) * sizeof *a), *b = a + K;
    if (a == NULL) {
        fprintf(stderr, "no host memory for a reference of %zu x %zu x %zu\n", M, N, K);
        exit(EXIT_FAILURE);
    }
    for (size_t k = 0; k < K; ++k)
        widen(b + k * N, &p->B, k);
    for (size_t i = 0; i < M; ++i) {
        double *restrict ref = p->ref + i * N, *restrict mag = p->mag + i * N;
        memset(ref, 0, N * sizeof *ref);
        memset(mag, 0, N * sizeof *mag);
        widen(a, &p->A, i);
        for (size_t k = 0; k < K; ++k)
            for (size_t j = 0; j < N; ++j) {
                double product = a[k] * b[k * N + j];
                ref[j] += product;
                mag[j] += fabs(product);
            }
    }
    free(a);
}

static void compare(const struct product *p, bool exact, struct comparison *result) {
    const struct matrix *C = &p->C;
    double sum = 0;
    memset(result, 0, sizeof *result);
    for (size_t i = 0; i < C->rows; ++i)
        for (size_t j = 0; j < C->cols; ++j) {
            size_t at = i * C->cols + j;
            double c = element_load(C->type, C->at, i * C->ld + j), ref = p->ref[at],
                   mag = p->mag[at], error = mag > 0 ? (c - ref) / mag : 0;
            if (!is_close(c, product_wants(p, exact, ref), product_allows(p, exact, ref, mag)) &&
                result->wrong++ == 0)
                result->first = at;
            if (!(fabs(error) <= result->max_error)) /* a NaN gets in, and stays */
                result->max_error = isnan(result->max_error) ? NAN : fabs(error);
            sum += error;
        }
    result->bias = C->rows * C->cols > 0 ? sum / (double)(C->rows * C->cols) : 0;
}

static double sum(const struct matrix *x) {
    double sum = 0;
    for (size_t i = 0; i < x->cols; ++i)
        sum += element_load(x->type, x->at, i);
    return sum;
}

static uint64_t scan(const struct matrix *x_vector, const struct matrix *y_vector,
                     uint64_t *first) {
    const uint32_t *x = x_vector->at, *y = y_vector->at;
    uint64_t wrong = 0;
    for (size_t i = 0; i < x_vector->cols; ++i)
        if (y[i] != (i > 0 ? y[i - 1] : 0) + x[i] && wrong++ == 0)
            *first = i;
    return wrong;
}

static uint64_t changed(const struct output *y, size_t from, size_t to) {
    const enum element_type type = y->matrix.type;
    uint64_t count = 0;
    for (size_t i = from; i < to; ++i)
        count += element_bits(type, y->base, i) != element_poison(type);
    return count;
}

static uint64_t outside(const struct output *y) {
    const struct matrix *m = &y->matrix;
    size_t at = (size_t)((char *)m->at - (char *)y->base) / element_size(m->type);
    uint64_t count = changed(y, 0, at);
    for (size_t r = 0; r < m->rows; ++r, at += m->ld)
        count += changed(y, at + m->cols, r + 1 < m->rows ? at + m->ld : y->count);
    return m->rows > 0 ? count : count + changed(y, at, y->count);
}

static uint64_t digest(const struct matrix *x) {
    uint64_t digest = 0;
    for (size_t r = 0; r < x->rows; ++r)
        for (size_t c = 0; c < x->cols; ++c)
            digest += number_hash(element_bits(x->type, x->at, r * x->ld + c), r, c);
    return digest;
}

const struct judge host_judge = {
    .fill = fill,
    .poison = poison,
    .reference = reference,
    .compare = compare,
    .sum = sum,
    .scan = scan,
    .outside = outside,
    .digest = digest,
};
