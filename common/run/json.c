#include "run/json.h"

#include <math.h>
#include <string.h>

/* Bytes of the UTF-8 character that `s` begins with; 0: it begins with none. */
static int utf8_length(const unsigned char *s) {
    int length = s[0] < 0x80                   ? 1
                 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                               : 0;
    for (int i = 1; i < length; ++i)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Longer than need be, half of a UTF-16 pair, beyond the last character. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return length;
}

void json_text(FILE *file, const char *text) {
    fputc('"', file);
    while (*text != '\0') {
        int length = utf8_length((const unsigned char *)text);
        if (length == 0)
            fputs("\\ufffd", file), length = 1;
        else if ((unsigned char)*text < 0x20)
            fprintf(file, "\\u%04x", (unsigned)*text);
        else
            fprintf(file, "%s%.*s", *text == '"' || *text == '\\' ? "\\" : "", length, text);
        text += length;
    }
    fputc('"', file);
}

void json_figure(FILE *file, double value) {
    if (isfinite(value))
        fprintf(file, value == floor(value) && fabs(value) < 1e15 ? "%.0f" : "%.9g", value);
    else
        fputs("null", file);
}

void json_object(FILE *file, const struct column *columns, int count, const void *object) {
    for (const struct column *c = columns; c < columns + count; ++c) {
        const char *at = (const char *)object + c->offset;
        double value;
        fprintf(file, "%s\"%s\": ", c == columns ? "{" : ", ", c->name);
        if (c->size > 0) {
            json_text(file, at);
        } else {
            memcpy(&value, at, sizeof value);
            json_figure(file, value);
        }
    }
    fputc('}', file);
}
