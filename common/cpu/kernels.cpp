/**
 * @file kernels.cpp
 * What is known of each kernel, and whether a device would accept its launch.
 */
#include "block.h"
#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cpu {
namespace {

struct Kernel {
    size_t static_shared;
    size_t max_dynamic; ///< as set by cudaFuncSetAttribute()
};

/// Adds up the sizes of the __shared__ variables in a kernel's body. They are thread-local
/// symbols named after it: _ZZ6kernelPfE4tile in _Z6kernelPf. Those in functions that it calls
/// are not counted, and none are in a stripped program.
size_t measure_static_shared(const void *kernel) {
    struct stat file;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &file) != 0)
        return 0;
    void *mapped = mmap(nullptr, size_t(file.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED)
        return 0;
    uintptr_t base = 0;
    dl_iterate_phdr(
        [](dl_phdr_info *program, size_t, void *out) {
            *static_cast<uintptr_t *>(out) = program->dlpi_addr;
            return 1;
        },
        &base);
    const char *image = static_cast<const char *>(mapped);
    auto *header = reinterpret_cast<const ElfW(Ehdr) *>(image);
    auto *sections = reinterpret_cast<const ElfW(Shdr) *>(image + header->e_shoff);
    size_t total = 0;
    for (const auto *s = sections; s < sections + header->e_shnum; ++s) {
        if (s->sh_type != SHT_SYMTAB)
            continue;
        auto *symbol = reinterpret_cast<const ElfW(Sym) *>(image + s->sh_offset);
        auto *end = symbol + s->sh_size / sizeof *symbol;
        const char *names = image + sections[s->sh_link].sh_offset;
        auto is_kernel = [&](const ElfW(Sym) & y) {
            return ELF64_ST_TYPE(y.st_info) == STT_FUNC && y.st_value == uintptr_t(kernel) - base &&
                   strncmp(names + y.st_name, "_Z", 2) == 0;
        };
        auto *found = std::find_if(symbol, end, is_kernel);
        if (found == end)
            continue;
        // Two files may have static kernels of one name. The symbols of a file stand together.
        auto is_file = [](const ElfW(Sym) & y) { return ELF64_ST_TYPE(y.st_info) == STT_FILE; };
        std::string prefix = std::string("_ZZ") + (names + found->st_name + 2) + "E";
        if (ELF64_ST_BIND(found->st_info) == STB_LOCAL) {
            end = std::find_if(found, end, is_file);
            while (found > symbol && !is_file(found[-1]))
                --found;
            symbol = found;
        }
        for (; symbol < end; ++symbol)
            if (ELF64_ST_TYPE(symbol->st_info) == STT_TLS &&
                strncmp(names + symbol->st_name, prefix.c_str(), prefix.size()) == 0)
                total += (symbol->st_size + 15) / 16 * 16;
    }
    munmap(mapped, size_t(file.st_size));
    return total;
}

Kernel &known(const void *kernel) {
    static std::map<const void *, Kernel> kernels;
    auto at = kernels.find(kernel);
    if (at == kernels.end()) {
        size_t fixed = measure_static_shared(kernel);
        at = kernels.insert({kernel, {fixed, shared_default - std::min(fixed, shared_default)}})
                 .first;
    }
    return at->second;
}

cudaError_t check(const Launch &l) {
    if (!l.kernel)
        return cudaErrorInvalidDeviceFunction;
    const dim3 &g = l.grid, &b = l.block;
    if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0)
        return cudaErrorInvalidConfiguration;
    if (g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (b.x > max_threads || b.y > max_threads || b.z > 64 || b.x * b.y * b.z > max_threads)
        return cudaErrorInvalidConfiguration;
    const Kernel &k = known(l.kernel);
    if (k.static_shared > shared_default || l.dynamic_shared > k.max_dynamic)
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

} // namespace

void launch(Launch l) {
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    l.place = CPU_DEVICE_CALLER;
    if (cpu_faults() || set_last_error(check(l)) != cudaSuccess)
        return;
    run_on_worker(run_grid, l);
    check_canaries(l.place);
}

} // namespace cpu

using namespace cpu;

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attr, int value) {
    if (attr == cudaFuncAttributePreferredSharedMemoryCarveout)
        return set_last_error(cudaSuccess);
    Kernel &k = known(kernel);
    if (attr != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        size_t(value) + k.static_shared > shared_optin)
        return set_last_error(cudaErrorInvalidValue);
    k.max_dynamic = size_t(value);
    return set_last_error(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, const void *kernel) {
    *attr = cudaFuncAttributes{};
    attr->sharedSizeBytes = known(kernel).static_shared;
    attr->maxDynamicSharedSizeBytes = int(known(kernel).max_dynamic);
    attr->maxThreadsPerBlock = int(max_threads);
    attr->ptxVersion = attr->binaryVersion = 90;
    return set_last_error(cudaSuccess);
}

// By threads and shared memory alone: nothing is known about registers.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int threads, size_t dynamic_shared) {
    if (threads < 1 || threads > int(max_threads))
        return set_last_error(cudaErrorInvalidValue);
    size_t shared = known(kernel).static_shared + dynamic_shared + 1024;
    *blocks = int(std::min(
        {size_t(32), size_t(2048 / ((threads + 31) / 32 * 32)), size_t(228 * 1024) / shared}));
    return set_last_error(cudaSuccess);
}
