/* The command line of a step: one argument a line, the first byte says whether of a GEMM or of a vector. */
#include "fuzz.h"
#include "run/options.h"

enum { ARGUMENTS = 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct options options;
    char *argv[ARGUMENTS + 2] = {"step"};
    int argc = 1;
    if (size == 0) return 0;
    enum shape_kind kind;
    char *text = text_and_kind(data, size, &kind);
    for (char *line = text; line != NULL && argc <= ARGUMENTS;) {
        argv[argc++] = line;
        if ((line = strchr(line, '\n')) != NULL) *line++ = '\0';
    }
    int status = options_parse(&options, kind, argc, argv);
    REQUIRE(status == -1 || status == EXIT_OK || status == EXIT_USAGE);
    if (status == -1) {
        REQUIRE(options.shapes.count >= 0 && options.shapes.count <= SHAPES_MAX);
        REQUIRE(options.samples >= 0 && options.samples <= 100000);
        REQUIRE(options.repeats >= 1 && options.repeats <= 100000);
        REQUIRE(options.device >= 0 && options.device <= 1023);
        REQUIRE(options.pad >= 0 && options.pad <= 4096);
        REQUIRE(options.offset >= 0 && options.offset <= 63);
    }
    for (int i = 0; status == -1 && i < options.shapes.count; ++i)
        require_size(kind, &options.shapes.shape[i]);
    free(text);
    return 0;
}
