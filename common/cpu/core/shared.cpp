/** @file shared.cpp Shared memory is the thread-local block of the program, on the OS thread that runs a block.
 * Only what kernels declare may be thread-local in the program: what else lies ahead of smem is poisoned. */
#include <cxxabi.h>
#include <link.h>
#include "core/block.h"

/// Dynamic shared memory. Kernels declare it as `extern __shared__ T smem[]` with any T: the
/// symbol's name does not carry the type.
alignas(1024) thread_local unsigned char smem[cpu::shared_optin];

namespace cpu {
__thread Thread *self;
__thread Block *resident;

SharedMemory find_shared(size_t dynamic_size) {
    SharedMemory shared = {nullptr, nullptr, reinterpret_cast<char *>(smem), dynamic_size};
    auto thread_locals = [](dl_phdr_info *program, size_t, void *found) {
        auto *s = static_cast<SharedMemory *>(found);
        for (int i = 0; i < program->dlpi_phnum; ++i)
            if (const auto &part = program->dlpi_phdr[i]; part.p_type == PT_TLS) {
                s->begin = static_cast<char *>(program->dlpi_tls_data);
                s->end = s->begin + part.p_memsz;
            }
        return 1; // the first object is the program itself: no need to see the libraries
    };
    dl_iterate_phdr(thread_locals, &shared);
    memset(smem, poison, sizeof smem);
    return shared;
}

/// What kernels declare comes first, for objects are linked before libraries; behind smem are other variables.
template<class F> static void set_shared(F set) {
    Thread *const thread = self; // these two may lie in between
    Block *const block = resident;
    set();
    self = thread, resident = block;
}
void poison_shared(const SharedMemory &s) {
    set_shared([&] { memset(s.begin, poison, s.used()); }); // the rest stays untouched
}
void put_aside(Block &b) { b.aside.assign(b.shared.begin, b.shared.begin + b.shared.used()); }
void take_again(Block &b) {
    set_shared([&] { std::copy(b.aside.begin(), b.aside.end(), b.shared.begin); });
}

/// Variables in a kernel's body are named after it: _ZZ6kernelPfE4tile in _Z6kernelPf. Those in
/// functions that it calls are not counted.
size_t static_shared(const void *kernel) {
    size_t total = 0;
    for (const Symbol &k : symbols())
        if (!k.thread_local_ && k.value == offset_in_program(kernel) && k.name.compare(0, 2, "_Z") == 0)
            for (const Symbol &v : symbols())
                if (std::string prefix = "_ZZ" + k.name.substr(2) + "E";
                    v.thread_local_ && v.file == k.file && v.name.compare(0, prefix.size(), prefix) == 0)
                    total += round_up(v.size, 16);
    return total;
}

std::string memory_name(const SharedMemory &shared, const void *p) {
    for (const Symbol &v : symbols())
        if (v.thread_local_ && shared.has(p) && shared.offset(p) - v.value < v.size) {
            char *plain = abi::__cxa_demangle(v.name.c_str(), nullptr, nullptr, nullptr);
            std::string name = plain ? plain : v.name; // "kernel(float*)::tile"
            free(plain);
            return name.substr(name.rfind(':') + 1);
        }
    return shared.has(p) ? "shared memory" : "device memory";
}

void check_dynamic_shared(const SharedMemory &shared, Place place) {
    size_t used = shared.dynamic_size, rest = sizeof smem - used;
    const unsigned char *p = smem + used;
    if (rest == 0 || (*p == poison && memcmp(p, p + 1, rest - 1) == 0)) return;
    while (*p == poison) ++p;
    fault(place, FaultKind::bounds_smem, p - smem, used);
}
} // namespace cpu
