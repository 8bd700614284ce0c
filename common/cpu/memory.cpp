/**
 * @file memory.cpp
 * Device memory. Each allocation ends at an inaccessible page, begins after another, and becomes
 * inaccessible when it is freed. Addresses are never used again.
 *
 *     | guard | lead-in (canary) | the allocation | slack (canary) | guard |
 *             ^ page             ^ 256 bytes                       ^ page
 */
#include "block.h"
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace cpu {
namespace {

constexpr size_t alignment = 256;
size_t page_size() {
    static const size_t size = size_t(sysconf(_SC_PAGESIZE));
    return size;
}
size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

struct Allocation {
    char *mapped, *mapped_end; ///< guards included
    char *begin;
    size_t size;
    char *end() const { return begin + size; }
};
using Allocations = std::map<const char *, Allocation>; // by `mapped`
Allocations live, freed;

const Allocation *find(const Allocations &in, const void *p) {
    const char *c = static_cast<const char *>(p);
    auto after = in.upper_bound(c);
    if (after == in.begin() || c >= std::prev(after)->second.mapped_end)
        return nullptr;
    return &std::prev(after)->second;
}

/// Reports and repairs one canary, if it was overwritten.
void check_canary(Place place, const Allocation &a, char *from, char *to, const char *side) {
    char *bad = std::find_if(from, to, [](char c) { return c != char(poison); });
    if (bad == to)
        return;
    if (bad >= a.end()) // the first byte that was hit; before an allocation, the last one
        fault(place, "write %td bytes %s of a device allocation of %zu bytes", bad - a.end(), side, a.size);
    else
        fault(place, "write %td bytes %s of a device allocation of %zu bytes", a.begin - bad, side, a.size);
    memset(from, poison, size_t(to - from));
}

void check_canaries(Place place, const Allocation &a) {
    check_canary(place, a, a.mapped + page_size(), a.begin, "before the start");
    check_canary(place, a, a.end(), a.mapped_end - page_size(), "past the end");
}

} // namespace

void available_memory(size_t *available, size_t *total) {
    *available = *total = size_t(sysconf(_SC_PHYS_PAGES)) * page_size();
    std::ifstream meminfo("/proc/meminfo");
    std::string key;
    for (size_t kilobytes; meminfo >> key >> kilobytes; meminfo.ignore(80, '\n'))
        if (key == "MemAvailable:")
            *available = kilobytes * 1024;
    // A container may allow less than the machine has.
    size_t limit, used;
    std::ifstream max("/sys/fs/cgroup/memory.max"), current("/sys/fs/cgroup/memory.current");
    if (max >> limit && current >> used) {
        *total = std::min(*total, limit);
        *available = std::min(*available, limit - std::min(limit, used));
    }
}

void *allocate(size_t size) {
    size_t available, total;
    available_memory(&available, &total);
    if (size > available)
        return nullptr;
    size_t inside = round_up(size, page_size()), guard = page_size();
    void *p =
        mmap(nullptr, inside + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return nullptr;
    Allocation a;
    a.mapped = static_cast<char *>(p);
    a.mapped_end = a.mapped + inside + 2 * guard;
    a.begin = a.mapped_end - guard - round_up(size, alignment);
    a.size = size;
    if (mprotect(a.mapped + guard, inside, PROT_READ | PROT_WRITE) != 0) {
        munmap(a.mapped, inside + 2 * guard);
        return nullptr;
    }
    memset(a.mapped + guard, poison, inside); // the canaries too
    live[a.mapped] = a;
    return a.begin;
}

bool release(void *p) {
    const Allocation *a = find(live, p);
    if (!a || a->begin != p)
        return false;
    check_canaries(nullptr, *a);
    // Gives the memory back and keeps the addresses, so that late accesses are caught.
    if (mmap(a->mapped, size_t(a->mapped_end - a->mapped), PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        perror("CPU device: cudaFree");
    freed[a->mapped] = *a;
    live.erase(a->mapped);
    return true;
}

bool in_allocation(const void *p, size_t size) {
    const char *c = static_cast<const char *>(p);
    const Allocation *a = find(live, p);
    return a && c >= a->begin && size <= a->size && c + size <= a->end();
}

bool is_device_pointer(const void *p) { return find(live, p) || find(freed, p); }

void check_canaries(Place place) {
    for (const auto &entry : live)
        check_canaries(place, entry.second);
}

std::string describe_address(const void *p, size_t size) {
    const char *c = static_cast<const char *>(p);
    char text[160];
    if (uintptr_t(p) < 65536) {
        snprintf(text, sizeof text, "through a null pointer (address %#zx)", size_t(uintptr_t(p)));
    } else if (const Allocation *a = find(live, p)) {
        const char *of = "of a device allocation of";
        if (c < a->begin)
            snprintf(text, sizeof text, "%td bytes before the start %s %zu bytes", a->begin - c, of, a->size);
        else if (c >= a->end())
            snprintf(text, sizeof text, "%td bytes past the end %s %zu bytes", c - a->end(), of, a->size);
        else
            snprintf(text, sizeof text, "%zu bytes across the end %s %zu bytes", size, of, a->size);
    } else if (const Allocation *f = find(freed, p)) {
        snprintf(text, sizeof text, "of a device allocation of %zu bytes that was freed", f->size);
    } else {
        snprintf(text, sizeof text, "at %p, which is not device memory", p);
    }
    return text;
}

} // namespace cpu
