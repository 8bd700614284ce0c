/* Runs a fuzz target over the files that the command line names. */
#include <stdio.h>

#include "fuzz.h"

int main(int argc, char **argv) {
    static uint8_t data[1 << 16];
    for (int i = 1; i < argc; ++i) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) {
            perror(argv[i]);
            return 1;
        }
        size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        fprintf(stderr, "-- %s\n", argv[i]);
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("%d inputs\n", argc - 1);
    return argc > 1 ? 0 : 1;
}
