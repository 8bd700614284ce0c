/* The oracle of the CPU device, whose memory is host memory: the plain loops. */
#include "judge/oracle.h"

void oracle_fill(float *x, int rows, int cols, int ld, enum fill_mode mode, int range,
                 uint64_t seed) {
    host_fill(x, rows, cols, ld, mode, range, seed);
}

void oracle_poison(uint32_t *base, size_t words) {
    for (size_t w = 0; w < words; ++w)
        base[w] = ORACLE_POISON;
}

void oracle_reference(const struct product *p) {
    host_reference(p);
}

void oracle_compare(const struct product *p, enum number_type type, int exact,
                    struct comparison *result) {
    host_compare(p, type, exact, result);
}

uint64_t oracle_outside(const uint32_t *base, size_t words, size_t before, int rows, int cols,
                        int ld) {
    return host_outside(base, words, before, rows, cols, ld);
}

uint64_t oracle_digest(const float *x, int rows, int cols, int ld) {
    return host_digest(x, rows, cols, ld);
}

void oracle_fill_vector(uint32_t *x, size_t n, enum vector_fill fill, uint64_t seed) {
    host_fill_vector(x, n, fill, seed);
}

double oracle_sum(const uint32_t *x, size_t n) {
    return host_sum(x, n);
}

uint64_t oracle_check_scan(const uint32_t *x, const uint32_t *y, size_t n, uint64_t *first) {
    return host_check_scan(x, y, n, first);
}

size_t oracle_workspace(int M, int N, int K) {
    (void)M, (void)N, (void)K;
    return 0;
}

cudaError_t oracle_probe(void) {
    return cudaSuccess;
}

int oracle_has_device_debugging(void) {
    return 0;
}
