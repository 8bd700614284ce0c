#include "step_path.h"

static const char *taken = "";

void step_path(const char *path) {
    taken = path;
}

const char *step_path_taken(void) {
    return taken;
}
