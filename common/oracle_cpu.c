/* The oracle of the CPU device, whose memory is host memory: the plain loops. */
#include "oracle.h"

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

size_t oracle_workspace(int M, int N, int K) {
    (void)M, (void)N, (void)K;
    return 0;
}

void oracle_check(void) {}

cudaError_t oracle_probe(void) {
    return cudaSuccess;
}

int oracle_has_device_debugging(void) {
    return 0;
}
