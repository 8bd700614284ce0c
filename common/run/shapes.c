#include "run/shapes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_SIZE = 256 };

bool parse_count(const char *word, int64_t max, int64_t *value) {
    if (!isdigit((unsigned char)word[0])) return false;
    char *end;
    errno = 0;
    long long v = strtoll(word, &end, 10);
    if (errno != 0 || *end != '\0' || v > max) return false;
    *value = v;
    return true;
}

const char *next_word(const char *list, char *word, size_t size) {
    const size_t length = strcspn(list, ",");
    snprintf(word, size, "%.*s", (int)length, list);
    return list[length] == ',' ? list + length + 1 : NULL;
}

bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *s = list; *s != '\0'; s += strcspn(s, ","), s += *s == ',')
        if (strncmp(s, word, length) == 0 && (s[length] == ',' || s[length] == '\0')) return true;
    return false;
}

static bool parse_dimensions(const char *word, struct shape *shape) {
    char m[24], n[24], k[24], extra;
    return sscanf(word, "%23[0-9]x%23[0-9]x%23[0-9]%c", m, n, k, &extra) == 3 &&
           parse_count(m, SHAPE_SIZE_MAX, &shape->m) && parse_count(n, SHAPE_SIZE_MAX, &shape->n) &&
           parse_count(k, SHAPE_SIZE_MAX, &shape->k);
}

/* A length: a number, or 2^E with a number added or subtracted. */
static bool parse_length(const char *word, struct shape *shape) {
    char power[24], sign = '+', delta[24] = "0", extra;
    int64_t exponent, difference;
    if (parse_count(word, VECTOR_SIZE_MAX, &shape->n)) return true;
    int found = sscanf(word, "2^%23[0-9]%c%23[0-9]%c", power, &sign, delta, &extra);
    if ((found != 1 && found != 3) || (sign != '+' && sign != '-') || !parse_count(power, 33, &exponent) ||
        !parse_count(delta, VECTOR_SIZE_MAX, &difference))
        return false;
    shape->n = (INT64_C(1) << exponent) + (sign == '+' ? difference : -difference);
    return shape->n >= 0 && shape->n <= VECTOR_SIZE_MAX;
}

/* A size that is there already is not added again: two rows of one name could not be told apart. */
static bool append(struct shapes *list, const struct shape *shape, char *error) {
    for (int i = 0; i < list->count; ++i)
        if (list->shape[i].kind == shape->kind && strcmp(list->shape[i].name, shape->name) == 0) return true;
    if (list->count == SHAPES_MAX) {
        snprintf(error, ERROR_SIZE, "more than %d shapes", SHAPES_MAX);
        return false;
    }
    list->shape[list->count++] = *shape;
    return true;
}

static bool find_word(enum shape_kind kind, const char *word, struct shapes *list, char *error) {
    struct shape shape;
    memset(&shape, 0, sizeof shape);
    snprintf(shape.name, sizeof shape.name, "%s", word);
    const bool gemm = kind != SHAPE_VECTOR && parse_dimensions(word, &shape);
    if (gemm || (kind != SHAPE_GEMM && parse_length(word, &shape))) {
        shape.kind = gemm ? SHAPE_GEMM : SHAPE_VECTOR;
        return append(list, &shape, error);
    }
    bool found = false;
    for (const struct known_shape *s = known_shapes; s->sets != NULL; ++s)
        if ((kind == SHAPE_ANY || s->shape.kind == kind) &&
            (strcmp(s->shape.name, word) == 0 || has_word(s->sets, word))) {
            found = true;
            if (!append(list, &s->shape, error)) return false;
        }
    char products[64];
    snprintf(products, sizeof products, "MxNxK (each 0 to %d)", SHAPE_SIZE_MAX);
    if (!found)
        snprintf(error, ERROR_SIZE,
                 "no %s or set '%.60s': allowed are %s%s%s, and the names that --list prints",
                 kind == SHAPE_VECTOR ? "length" : "shape", word, kind == SHAPE_VECTOR ? "" : products,
                 kind == SHAPE_ANY ? " or " : "",
                 kind == SHAPE_GEMM ? "" : "0 to 2^33, such as 1000, 2^28 or 2^31-1");
    return found;
}

bool shapes_find(enum shape_kind kind, const char *what, struct shapes *list, char *error) {
    char word[SHAPE_NAME_SIZE * 2];
    while (what != NULL) {
        if (strcspn(what, ",") >= sizeof word) {
            snprintf(error, ERROR_SIZE, "'%.60s...' is too long for a shape", what);
            return false;
        }
        what = next_word(what, word, sizeof word);
        if (!find_word(kind, word, list, error)) return false;
    }
    return true;
}
