/**
 * @file shapes.h
 * Named problem sizes and sets of them, from shapes.txt: GEMM shapes and lengths of vectors.
 */
#ifndef OVERLAP_SHAPES_H
#define OVERLAP_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Longest name of a shape or of a set, with its final zero. */
#define SHAPE_NAME_SIZE 40
/** Most shapes that one list holds. */
#define SHAPES_MAX 256

/** Largest M, N or K: leaves room in an int for a tile beyond the edge and for padding a row. */
#define SHAPE_SIZE_MAX 2147483392

/** Longest vector. */
#define VECTOR_SIZE_MAX (INT64_C(1) << 33)

/** What a size is one of. */
enum shape_kind {
    SHAPE_GEMM,   /**< M, N and K */
    SHAPE_VECTOR, /**< n alone */
    SHAPE_ANY     /**< for shapes_find(): either */
};

/** One size: M, N and K of a product, or n of a vector, each from 0 up. */
struct shape {
    char name[SHAPE_NAME_SIZE]; /**< from the file, or MxNxK, or the length */
    int64_t m, n, k;            /**< m and k are 0 for a vector */
    enum shape_kind kind;
};

/** A list of shapes in the order in which they were asked for. */
struct shapes {
    int count;
    struct shape shape[SHAPES_MAX];
};

/** A line of shapes.txt, as the build read it. */
struct known_shape {
    struct shape shape;
    const char *sets; /**< with commas */
};

/** All of them; `sets` of the last is null. Made by common/cmake/Shapes.cmake. */
extern const struct known_shape known_shapes[];

/** The text of shapes.txt, for --list. */
extern const char shapes_text[];

/**
 * Appends the sizes of one kind that `what` names: a comma-separated list of names, sets and MxNxK or
 * lengths (a number, or 2^E, 2^E+D, 2^E-D). A size that is named twice is there once.
 *
 * @param error  where one line goes that says what is wrong; at least 256 bytes.
 * @return false if a word is neither, or the list is full.
 */
bool shapes_find(enum shape_kind kind, const char *what, struct shapes *list, char *error);

/** Takes the first word of a comma-separated list, cut to `size`. @return the rest, null at the end. */
const char *next_word(const char *list, char *word, size_t size);

/** Whether `word` is one of the words of a comma-separated list. */
bool has_word(const char *list, const char *word);

/**
 * Reads a whole number from 0 to `max`.
 * @return false if `word` holds anything else: a sign, a fraction, blanks, nothing, more than `max`.
 */
bool parse_count(const char *word, int64_t max, int64_t *value);

#endif
