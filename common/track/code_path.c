#include "track/code_path.h"

static const char *taken = "";

void code_path(const char *path) {
    taken = path;
}

const char *code_path_taken(void) {
    return taken;
}
