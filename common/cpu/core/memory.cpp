/** @file memory.cpp Device memory. Each allocation ends at an inaccessible page, begins after another, and becomes
 * inaccessible when it is freed. Addresses are never used again.
 *
 *     | guard | lead-in (canary) | the allocation | slack (canary) | guard |
 *             ^ page             ^ 256 bytes                       ^ page */
#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include "core/device.h"

namespace cpu {
constexpr size_t alignment = 256;
const size_t page_size = size_t(sysconf(_SC_PAGESIZE));
Device devices[device_count];

char *map_memory(void *at, size_t size, int access, int more_flags) {
    void *p = mmap(at, size, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more_flags, -1, 0);
    if (p != MAP_FAILED) return static_cast<char *>(p);
    return perror("CPU device: mmap"), nullptr;
}

const Allocation *find_allocation(const Device &device, const void *p) {
    auto at = device.allocations.upper_bound(static_cast<const char *>(p));
    return at != device.allocations.end() && p >= at->second.mapped ? &at->second : nullptr;
}

bool in_allocation(const Device &device, const void *p, size_t size) {
    const Allocation *a = find_allocation(device, p);
    const char *c = static_cast<const char *>(p);
    return a && !a->freed && c >= a->begin && c <= a->end && size <= size_t(a->end - c);
}

void *allocate(Device &device, size_t size) {
    size_t inside = round_up(size, page_size), guard = page_size;
    char *p = map_memory(nullptr, inside + 2 * guard, PROT_NONE);
    if (!p || !map_memory(p + guard, inside, PROT_READ | PROT_WRITE, MAP_FIXED)) return nullptr;
    memset(p + guard, poison, inside); // the canaries too
    char *begin = p + guard + inside - round_up(size, alignment), *end = p + inside + 2 * guard;
    device.allocations[end] = {p, begin, begin + size, end, false};
    return begin;
}

bool release(Device &device, void *p) {
    const Allocation *a = find_allocation(device, p);
    if (!a || a->begin != p || a->freed) return false;
    check_canaries(device, nullptr);
    // Gives the memory back and keeps the addresses, so that late accesses are caught.
    map_memory(a->mapped, size_t(a->mapped_end - a->mapped), PROT_NONE, MAP_FIXED);
    return device.allocations[a->mapped_end].freed = true;
}

void check_canaries(Device &device, Place place) {
    for (const auto &[key, a] : device.allocations)
        for (auto [from, to] :
             {std::pair(a.mapped + page_size, a.begin), {a.end, a.mapped_end - page_size}}) {
            if (a.freed) continue;
            char *bad = std::find_if(from, to, [](char c) { return c != char(poison); });
            if (bad != to)
                fault(place, FaultKind::bounds_global, "write", describe_address(device, bad, 1).second);
            std::fill(bad, to, char(poison)); // said once
        }
}

std::pair<FaultKind, std::string> describe_address(const Device &device, const void *p, size_t size) {
    const char *c = static_cast<const char *>(p);
    const Allocation *a = find_allocation(device, p);
    char text[64];
    snprintf(text, sizeof text, "%#zx", size_t(p));
    const std::string at = text;
    if (uintptr_t(p) < 65536) return {FaultKind::bounds_null, "through a null pointer (address " + at + ")"};
    if (!a) return {FaultKind::bounds_not_device, "at " + at + ", which is not device memory"};
    const std::string whole = " of a device allocation of " + part(a->size()) + " bytes";
    if (a->freed) return {FaultKind::bounds_freed, whole.substr(1) + " that was freed"};
    const bool before = c < a->begin, past = c >= a->end;
    const size_t bytes = before ? size_t(a->begin - c) : past ? size_t(c - a->end) : size;
    const char *side = before ? "before the start" : past ? "past the end" : "across the end";
    return {FaultKind::bounds_global, part(bytes) + " bytes " + side + whole};
}
} // namespace cpu
