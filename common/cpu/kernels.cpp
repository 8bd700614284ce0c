/**
 * @file kernels.cpp
 * What is known of each kernel, and whether a device would accept its launch.
 */
#include "block.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <unistd.h>

namespace cpu {
namespace {

struct Kernel {
    size_t static_shared;
    size_t max_dynamic; ///< as set by cudaFuncSetAttribute()
};

/// Adds up the sizes of the __shared__ variables in a kernel's body, by nm of the binutils. They
/// are local symbols named after it: _ZZ6kernelPfE4tile in _Z6kernelPf. Those in functions that
/// it calls are not counted.
size_t measure_static_shared(const void *kernel) {
    char command[80], line[4096], name[4000];
    snprintf(command, sizeof command, "nm -aSp /proc/%d/exe 2>/dev/null", int(getpid()));
    FILE *nm = popen(command, "r");
    if (!nm)
        return 0;
    // Two files may have static kernels of one name: then only symbols of the same file count,
    // which stand together after the file's own. Symbols that are not local come last.
    std::map<std::string, size_t> of_file, of_all;
    std::string prefix;
    bool local = false;
    size_t address, size;
    for (char type; fgets(line, sizeof line, nm);) {
        if (sscanf(line, "%zx %c %3999s", &address, &type, name) == 3 && type == 'a') {
            if (local)
                break;
            of_file.clear();
        } else if (sscanf(line, "%zx %zx %c %3999s", &address, &size, &type, name) == 4) {
            if (strchr("bBuV", type)) {
                of_file[name] = of_all[name] = size;
            } else if (address == offset_in_program(kernel) && strncmp(name, "_Z", 2) == 0) {
                prefix = std::string("_ZZ") + (name + 2) + "E";
                local = type == 't';
            }
        }
    }
    pclose(nm);
    size_t total = 0;
    for (const auto &[variable, bytes] : local ? of_file : of_all)
        if (!prefix.empty() && variable.compare(0, prefix.size(), prefix) == 0)
            total += (bytes + 15) / 16 * 16;
    return total;
}

Kernel &known(const void *kernel) {
    static std::map<const void *, Kernel> kernels;
    auto at = kernels.find(kernel);
    if (at == kernels.end()) {
        size_t fixed = measure_static_shared(kernel);
        at = kernels.insert({kernel, {fixed, shared_default - std::min(fixed, shared_default)}}).first;
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
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads,
                                                          size_t dynamic_shared) {
    if (threads < 1 || threads > int(max_threads))
        return set_last_error(cudaErrorInvalidValue);
    size_t shared = known(kernel).static_shared + dynamic_shared + 1024;
    *blocks =
        int(std::min({size_t(32), size_t(2048 / ((threads + 31) / 32 * 32)), size_t(228 * 1024) / shared}));
    return set_last_error(cudaSuccess);
}
