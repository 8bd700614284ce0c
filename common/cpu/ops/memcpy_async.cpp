/** @file memcpy_async.cpp What cooperative_groups::memcpy_async() and cuda::memcpy_async() make of a copy: of 4, 8 or
 * 16 bytes each where it goes from device to shared memory and is aligned, and loads and stores elsewhere. */
#include "core/tracer.h"
#include "include/cuda_pipeline.h"

using namespace cpu;

static void copy_now(Place place, char *dst, const char *src, unsigned size) {
    tracer->access(running_thread(), place, src, size, READ);
    tracer->access(running_thread(), place, dst, size, WRITE);
    memcpy(dst, src, size);
}

bool cpu::copy_part(void *dst, const void *src, size_t size, CopyBy by) {
    Place place = CPU_DEVICE_CALLER;
    const SharedMemory &shared = self->block->shared;
    auto *to = static_cast<char *>(dst);
    auto *from = static_cast<const char *>(src);
    if (by.ranks > 1) {
        auto &[calls, at] = self->collective[by.ranks];
        ++calls, at = place;
    }
    unsigned unit = std::min(by.align, 16u);
    size_t head = 0; // bytes ahead of the first unit
    if (by.finds_alignment && unit < 4) {
        const auto differ = unsigned(uintptr_t(dst) ^ uintptr_t(src)) | 16;
        unit = size < (differ & -differ) ? unit : differ & -differ;
        if (unit >= 4) head = -uintptr_t(src) & (unit - 1);
    }
    const bool async = unit >= 4 && shared.has(dst) && !shared.has(src);
    const size_t rest = size - head, tail = by.finds_alignment && by.align < 4 ? rest % unit : 0;
    const size_t units = by.finds_alignment ? rest / unit : (rest + unit - 1) / unit;
    for (size_t i = by.rank; i < head; i += by.ranks) copy_now(place, to + i, from + i, 1);
    for (size_t i = by.rank; i < units; i += by.ranks)
        if (const size_t at = head + i * unit; async) copy_async(place, to + at, from + at, unit, 0);
        else copy_now(place, to + at, from + at, unit);
    for (size_t i = size - tail + by.rank; i < size; i += by.ranks) copy_now(place, to + i, from + i, 1);
    return async;
}
