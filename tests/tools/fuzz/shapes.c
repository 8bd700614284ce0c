/* What --shape takes: names, sets and sizes. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct shapes list;
    char error[256];
    if (size == 0) return 0;
    enum shape_kind kind;
    char *what = text_and_kind(data, size, &kind);
    memset(error, 'x', sizeof error);
    list.count = 0;
    if (shapes_find(kind, what, &list, error)) {
        REQUIRE(list.count > 0 && list.count <= SHAPES_MAX);
        for (int i = 0; i < list.count; ++i) require_size(kind, &list.shape[i]);
    } else {
        REQUIRE(memchr(error, '\0', sizeof error) != NULL && error[0] != '\0');
    }
    free(what);
    return 0;
}
