/**
 * @file json.h
 * Values of JSON.
 */
#ifndef OVERLAP_JSON_H
#define OVERLAP_JSON_H

#include <stddef.h>
#include <stdio.h>

/** A member of a struct: a text, which has a size, or a figure, which is a double and has none. */
struct column {
    const char *name;
    size_t offset, size;
};
#define COLUMN_TEXT(type, field) \
    { #field, offsetof(type, field), sizeof((type *)0)->field }
#define COLUMN_FIGURE(type, field) \
    { #field, offsetof(type, field), 0 }

/** Writes a string: in quotes, escaped; a byte that is not UTF-8 becomes U+FFFD. */
void json_text(FILE *file, const char *text);

/** Writes a number, a whole one with all its digits; NAN and infinities become null. */
void json_figure(FILE *file, double value);

/** Writes a struct that has these columns as an object. */
void json_object(FILE *file, const struct column *columns, int count, const void *object);

#endif
