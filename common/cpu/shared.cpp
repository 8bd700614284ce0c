/**
 * @file shared.cpp
 * Shared memory: the thread-local block of the program, on the worker thread.
 *
 * Only what kernels declare may be thread-local in the program: everything else in the block is
 * poisoned with it. The device itself keeps nothing there.
 */
#include "block.h"
#include <cstring>
#include <link.h>

/// Dynamic shared memory. Kernels declare it as `extern __shared__ T smem[]` with any T: the
/// symbol's name does not carry the type.
alignas(1024) thread_local unsigned char smem[cpu::shared_optin];

namespace cpu {

static char *shared_begin, *shared_end;

static int find_thread_locals(dl_phdr_info *program, size_t, void *) {
    for (int i = 0; i < program->dlpi_phnum; ++i)
        if (program->dlpi_phdr[i].p_type == PT_TLS) {
            shared_begin = static_cast<char *>(program->dlpi_tls_data);
            shared_end = shared_begin + program->dlpi_phdr[i].p_memsz;
        }
    return 1; // the first object is the program itself: no need to see the libraries
}

void find_shared() {
    dl_iterate_phdr(find_thread_locals, nullptr);
    memset(smem, poison, sizeof smem);
}

void poison_shared() {
    char *dynamic = reinterpret_cast<char *>(smem), *after = dynamic + sizeof smem;
    memset(shared_begin, poison, size_t(dynamic - shared_begin));
    memset(dynamic, poison, block.launch->dynamic_shared); // the rest stays untouched
    memset(after, poison, size_t(shared_end - after));
}

bool in_shared(const void *p, size_t size) {
    const char *c = static_cast<const char *>(p), *dynamic = reinterpret_cast<char *>(smem);
    if (c >= dynamic && c < dynamic + sizeof smem)
        return c + size <= dynamic + block.launch->dynamic_shared;
    return c >= shared_begin && c + size <= shared_end;
}

void check_dynamic_shared(Place place) {
    size_t used = block.launch->dynamic_shared, rest = sizeof smem - used;
    const unsigned char *p = smem + used;
    if (rest == 0 || (*p == poison && memcmp(p, p + 1, rest - 1) == 0))
        return;
    while (*p == poison)
        ++p;
    fault(place, "write to byte %td of smem, beyond the %zu bytes that the launch asked for", p - smem, used);
}

} // namespace cpu
