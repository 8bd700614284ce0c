/** @file device.h The devices, of which there is one, and their memory. */
#pragma once
#include <map>
#include "faults/faults.h"

namespace cpu {
constexpr int poison = 0xff; ///< every byte of it: a NaN in every floating-point format

struct Allocation {
    char *mapped, *begin, *end, *mapped_end; ///< guards included, and without them
    bool freed;
    size_t size() const { return size_t(end - begin); }
};

struct Kernel {
    size_t fixed, max_dynamic; ///< shared memory; the second as set by cudaFuncSetAttribute()
};

struct Device {
    std::map<const char *, Allocation> allocations; ///< by `mapped_end`
    std::map<const void *, Kernel> kernels;
};
constexpr int device_count = 1;
extern Device devices[device_count];

void *allocate(Device &device, size_t size);
bool release(Device &device, void *p); ///< false if p is no allocation
/// The allocation, perhaps freed, that p is in or beside; null if there is none.
const Allocation *find_allocation(const Device &device, const void *p);
bool in_allocation(const Device &device, const void *p, size_t size); ///< that lives
/// Reports bytes beside allocations that were overwritten since the last check.
void check_canaries(Device &device, Place place);

/// What is wrong with an address, and in words: "64 bytes past the end of ...".
std::pair<FaultKind, std::string> describe_address(const Device &device, const void *p, size_t size);

/// Maps memory. Null, and a line on stderr, if there is no address space.
char *map_memory(void *at, size_t size, int access, int more_flags = 0);
inline size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }
extern const size_t page_size;
} // namespace cpu
