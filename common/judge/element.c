#include "judge/element.h"

#include <string.h>

static const char *const names[] = {"f32", "tf32", "bf16", "f16", "u32"};

const char *element_name(enum element_type type) { return names[type]; }

bool element_types_parse(const char *text, struct element_types *types) {
    enum element_type found[3];
    int count = 0;
    do {
        size_t length = strcspn(text, ":"), i = 0;
        while (i < sizeof names / sizeof *names &&
               (strlen(names[i]) != length || strncmp(names[i], text, length) != 0))
            ++i;
        if (i == sizeof names / sizeof *names || count == 3) return false;
        found[count++] = (enum element_type)i;
        text += length;
    } while (*text++ == ':');
    *types = (struct element_types){found[0], found[count / 2], found[count - 1]};
    return count != 2;
}
