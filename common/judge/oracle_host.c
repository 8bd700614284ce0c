#include "judge/oracle.h"

#include <string.h>

void host_fill(float *x, int rows, int cols, int ld, enum fill_mode mode, int range,
               uint64_t seed) {
    for (int r = 0; r < rows && cols > 0; ++r)
        for (int c = 0; c < (r + 1 < rows ? ld : cols); ++c)
            x[(size_t)r * ld + c] =
                c < cols ? number_fill(mode, range, seed, (uint64_t)r, (uint64_t)c) : NAN;
}

void host_reference(const struct product *p) {
    for (int i = 0; i < p->M; ++i) {
        double *ref = p->ref + (size_t)i * p->N, *mag = p->mag + (size_t)i * p->N;
        memset(ref, 0, (size_t)p->N * sizeof *ref);
        memset(mag, 0, (size_t)p->N * sizeof *mag);
        for (int k = 0; k < p->K; ++k) {
            double a = p->A[(size_t)i * p->lda + k];
            const float *b = p->B + (size_t)k * p->ldb;
            for (int j = 0; j < p->N; ++j) {
                ref[j] += a * b[j];
                mag[j] += fabs(a * b[j]);
            }
        }
    }
}

void host_compare(const struct product *p, enum number_type type, int exact,
                  struct comparison *result) {
    double sum = 0;
    memset(result, 0, sizeof *result);
    for (int i = 0; i < p->M; ++i)
        for (int j = 0; j < p->N; ++j) {
            size_t at = (size_t)i * p->N + j;
            float c = p->C[(size_t)i * p->ldc + j];
            double error = p->mag[at] > 0 ? (c - p->ref[at]) / p->mag[at] : 0;
            if (!number_close(c, p->ref[at], exact ? 0 : gemm_bound(type, p->K, p->mag[at])) &&
                result->wrong++ == 0)
                result->first = at;
            if (!(fabs(error) <= result->max_error)) /* a NaN gets in, and stays */
                result->max_error = isnan(result->max_error) ? NAN : fabs(error);
            sum += error;
        }
    result->bias = p->M > 0 && p->N > 0 ? sum / ((double)p->M * p->N) : 0;
}

uint64_t host_outside(const uint32_t *base, size_t words, size_t before, int rows, int cols,
                      int ld) {
    uint64_t changed = 0;
    for (size_t w = 0; w < words; ++w) {
        int inside = w >= before && rows > 0 && (w - before) / (size_t)ld < (size_t)rows &&
                     (w - before) % (size_t)ld < (size_t)cols;
        changed += !inside && base[w] != ORACLE_POISON;
    }
    return changed;
}

uint64_t host_digest(const float *x, int rows, int cols, int ld) {
    uint64_t digest = 0;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) {
            uint32_t bits;
            memcpy(&bits, &x[(size_t)r * ld + c], sizeof bits);
            digest += number_hash(bits, (uint64_t)r, (uint64_t)c);
        }
    return digest;
}

void host_fill_vector(uint32_t *x, size_t n, enum vector_fill fill, uint64_t seed) {
    for (size_t i = 0; i < n; ++i)
        x[i] = vector_element(fill, seed, n, i);
}

double host_sum(const uint32_t *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
        float f;
        memcpy(&f, &x[i], sizeof f);
        sum += f;
    }
    return sum;
}

uint64_t host_check_scan(const uint32_t *x, const uint32_t *y, size_t n, uint64_t *first) {
    uint64_t wrong = 0;
    for (size_t i = 0; i < n; ++i)
        if (y[i] != (i > 0 ? y[i - 1] : 0) + x[i] && wrong++ == 0)
            *first = i;
    return wrong;
}
