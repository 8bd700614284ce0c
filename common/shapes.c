#include "shapes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_SIZE = 256, LINE_SIZE = 512 };

bool parse_count(const char *word, int64_t max, int64_t *value) {
    if (!isdigit((unsigned char)word[0]))
        return false;
    char *end;
    errno = 0;
    long long v = strtoll(word, &end, 10);
    if (errno != 0 || *end != '\0' || v > max)
        return false;
    *value = v;
    return true;
}

/* One line of the file. */
struct line {
    struct shape shape;
    char sets[96];
};

/* Reads the line at `*text` and moves past it. Returns 1 for a shape, 0 for none, -1 if malformed. */
static int read_line(const char **text, struct line *line, char *error) {
    size_t length = strcspn(*text, "\n");
    char copy[LINE_SIZE], m[24], n[24], k[24], extra;
    snprintf(copy, sizeof copy, "%.*s", (int)(length < LINE_SIZE ? length : LINE_SIZE - 1), *text);
    *text += length + ((*text)[length] == '\n');
    char *first = copy + strspn(copy, " \t\r");
    if (*first == '\0' || *first == '#')
        return 0;
    if (length >= LINE_SIZE ||
        sscanf(first, "%39s %23s %23s %23s %95s %c", line->shape.name, m, n, k, line->sets,
               &extra) < 5 ||
        !parse_count(m, SHAPE_SIZE_MAX, &line->shape.m) ||
        !parse_count(n, SHAPE_SIZE_MAX, &line->shape.n) ||
        !parse_count(k, SHAPE_SIZE_MAX, &line->shape.k)) {
        snprintf(error, ERROR_SIZE,
                 "shapes: '%.80s': wanted: name M N K sets source, sizes from 0 to %d", first,
                 SHAPE_SIZE_MAX);
        return -1;
    }
    return 1;
}

static bool in_sets(const char *sets, const char *word) {
    size_t length = strlen(word);
    for (const char *s = sets; *s != '\0'; s += strcspn(s, ","), s += *s == ',')
        if (strncmp(s, word, length) == 0 && (s[length] == ',' || s[length] == '\0'))
            return true;
    return false;
}

static bool parse_dimensions(const char *word, struct shape *shape) {
    char m[24], n[24], k[24], extra;
    return sscanf(word, "%23[0-9]x%23[0-9]x%23[0-9]%c", m, n, k, &extra) == 3 &&
           parse_count(m, SHAPE_SIZE_MAX, &shape->m) && parse_count(n, SHAPE_SIZE_MAX, &shape->n) &&
           parse_count(k, SHAPE_SIZE_MAX, &shape->k);
}

static bool append(struct shapes *list, const struct shape *shape, char *error) {
    if (list->count == SHAPES_MAX) {
        snprintf(error, ERROR_SIZE, "more than %d shapes", SHAPES_MAX);
        return false;
    }
    list->shape[list->count++] = *shape;
    return true;
}

static bool find_word(const char *text, const char *word, struct shapes *list, char *error) {
    struct line line;
    memset(&line, 0, sizeof line);
    if (parse_dimensions(word, &line.shape)) {
        snprintf(line.shape.name, sizeof line.shape.name, "%s", word);
        return append(list, &line.shape, error);
    }
    int before = list->count, status;
    while (*text != '\0') {
        if ((status = read_line(&text, &line, error)) < 0)
            return false;
        if (status == 0 || (strcmp(line.shape.name, word) != 0 && !in_sets(line.sets, word)))
            continue;
        if (!append(list, &line.shape, error))
            return false;
    }
    if (list->count == before)
        snprintf(error, ERROR_SIZE,
                 "no shape or set '%.60s': allowed are MxNxK (each 0 to %d) and the names that "
                 "--list prints",
                 word, SHAPE_SIZE_MAX);
    return list->count > before;
}

bool shapes_find(const char *text, const char *what, struct shapes *list, char *error) {
    do {
        char word[SHAPE_NAME_SIZE * 2];
        size_t length = strcspn(what, ",");
        if (length >= sizeof word) {
            snprintf(error, ERROR_SIZE, "'%.60s...' is too long for a shape", what);
            return false;
        }
        snprintf(word, sizeof word, "%.*s", (int)length, what);
        if (!find_word(text, word, list, error))
            return false;
        what += length;
    } while (*what++ == ',');
    return true;
}

void shapes_print(const char *text) {
    fputs(text, stdout);
}
