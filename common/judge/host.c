/* The plain loops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/judge.h"

static struct found run(const struct task *task) {
    const struct task t = *task; /* a copy, of which no element can be a part */
    struct found found = found_nothing();
    for (size_t i = 0; i < t.count; ++i) task_item(&t, i, &found);
    return found;
}

static void reference(const struct product *p) {
    const size_t M = p->C.rows, N = p->C.cols, K = p->A.cols;
    if (M == 0 || N == 0) return;
    double *b = malloc((K * N + 1) * sizeof *b);
    if (b == NULL) {
        fprintf(stderr, "no host memory for a reference of %zu x %zu x %zu\n", M, N, K);
        exit(EXIT_FAILURE);
    }
    for (size_t k = 0; k < K; ++k)
        for (size_t j = 0; j < N; ++j) b[k * N + j] = element_load(p->B.type, p->B.at, k * p->B.ld + j);
    for (size_t i = 0; i < M; ++i) {
        double *restrict ref = p->ref + i * N, *restrict mag = p->mag + i * N;
        memset(ref, 0, N * sizeof *ref);
        memset(mag, 0, N * sizeof *mag);
        for (size_t k = 0; k < K; ++k) {
            const double a = element_load(p->A.type, p->A.at, i * p->A.ld + k);
            for (size_t j = 0; j < N; ++j) {
                double product = a * b[k * N + j];
                ref[j] += product;
                mag[j] += fabs(product);
            }
        }
    }
    free(b);
}

const struct judge host_judge = {.run = run, .reference = reference};
