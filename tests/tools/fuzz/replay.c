/*
 * Runs a fuzz target over the inputs of a file: one a line, in C's escapes \n, \t, \\ and \xNN; `#` starts a comment.
 *
 *   replay-NAME FILE [FOLDER]    FOLDER: where each also goes as a file of its own, for libFuzzer
 */
#include "fuzz.h"

/* Takes the escapes out of a line. Returns its length then. */
static size_t unescape(char *line) {
    char *to = line;
    for (char *from = line; *from != '\0' && *from != '\n'; ++to) {
        unsigned byte;
        if (*from != '\\') {
            *to = *from++;
        } else if (from[1] == 'x') {
            REQUIRE(sscanf(from + 2, "%2x", &byte) == 1);
            *to = (char)byte;
            from += 4;
        } else {
            REQUIRE(from[1] == 'n' || from[1] == 't' || from[1] == '\\');
            *to = from[1] == 'n' ? '\n' : from[1] == 't' ? '\t' : '\\';
            from += 2;
        }
    }
    return (size_t)(to - line);
}

static void write_file(const char *folder, int number, const char *data, size_t size) {
    char name[512];
    snprintf(name, sizeof name, "%s/%d", folder, number);
    FILE *out = fopen(name, "wb");
    REQUIRE(out != NULL && fwrite(data, 1, size, out) == size && fclose(out) == 0);
}

int main(int argc, char **argv) {
    static char line[1 << 16];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    int inputs = 0;
    REQUIRE(file != NULL);
    for (int number = 1; fgets(line, sizeof line, file) != NULL; ++number) {
        if (line[0] == '#') continue;
        fprintf(stderr, "-- %s:%d\n", argv[1], number);
        size_t size = unescape(line);
        if (argc > 2) write_file(argv[2], number, line, size);
        LLVMFuzzerTestOneInput((const uint8_t *)line, size);
        ++inputs;
    }
    fclose(file);
    printf("%d inputs\n", inputs);
    return inputs > 0 ? 0 : 1;
}
