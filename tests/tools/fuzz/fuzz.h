/**
 * @file fuzz.h
 * What the fuzz targets share. Each is one LLVMFuzzerTestOneInput(): libFuzzer makes up inputs for it
 * (the CMake targets fuzz-NAME, with Clang), and replay.c runs the kept ones (CTest, with any compiler).
 */
#ifndef OVERLAP_FUZZ_H
#define OVERLAP_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/shapes.h"

/** Ends the process, by a signal that a fuzzer sees, unless the condition holds. */
#define REQUIRE(condition)                                                          \
    do                                                                              \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What follows the first byte of an input that is not empty, as a text to be freed; the first byte gives the kind. */
static inline char *text_and_kind(const uint8_t *data, size_t size, enum shape_kind *kind) {
    char *text = (char *)malloc(size);
    REQUIRE(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    *kind = data[0] % 2 == 0 ? SHAPE_GEMM : SHAPE_VECTOR;
    return text;
}

/** A size that was accepted is one that the programs can work on. */
static inline void require_size(enum shape_kind kind, const struct shape *s) {
    int64_t max = kind == SHAPE_GEMM ? SHAPE_SIZE_MAX : VECTOR_SIZE_MAX;
    REQUIRE(s->m >= 0 && s->m <= max && s->n >= 0 && s->n <= max && s->k >= 0 && s->k <= max);
    REQUIRE(kind == SHAPE_GEMM || (s->m == 0 && s->k == 0));
}

#endif
