/** @file cp_async.cpp Asynchronous copies to shared memory by threads: cp.async, its groups and its rules. */
#include "core/tracer.h"
#include "include/cuda_pipeline.h"

using namespace cpu;

static void land(AsyncCopy &c) {
    memcpy(c.dst, c.src, c.size - c.zfill);
    if (c.zfill) memset(static_cast<char *>(c.dst) + c.size - c.zfill, 0, c.zfill);
    c.landed = true;
}

void __pipeline_memcpy_async(void *dst, const void *src, size_t size, size_t zfill) {
    Place place = CPU_DEVICE_CALLER;
    Grid &grid = self->block->grid;
    if (size != 4 && size != 8 && size != 16) return fault(place, FaultKind::copy_size, size);
    if (zfill > size) return fault(place, FaultKind::copy_zero_fill, size, zfill);
    if (uintptr_t(dst) % size) return fault(place, FaultKind::copy_to_misaligned, size);
    if (uintptr_t(src) % size) return fault(place, FaultKind::copy_from_misaligned, size);
    if (!self->block->shared.allows(dst, size)) return fault(place, FaultKind::copy_not_shared);
    size_t read = size - zfill;
    if (read && !in_allocation(grid.device, src, read))
        return fault(place, FaultKind::copy_bounds, describe_address(grid.device, src, read).second);
    AsyncCopy c{dst, src, unsigned(size), unsigned(zfill), self->group, false, place};
    tracer->async_issue(running_thread(), c);
    if (grid.schedule.async == CPU_EITHER ? grid.random_number() % 2 : grid.schedule.async == CPU_LATE)
        memset(dst, poison, size); // until the wait, which is also when the source is read
    else land(c);
    self->copies.push_back(c);
}

void __pipeline_commit() {
    ++self->group;
    tracer->event(running_thread(), CPU_DEVICE_CALLER, Event::commit);
    preempt();
}

void __pipeline_wait_prior(size_t prior) {
    preempt();
    // Group numbers count up, so copies stand in the order of their groups. The open group is not
    // waited for, even if prior is 0.
    size_t done = 0;
    auto &copies = self->copies;
    for (; done < copies.size() && copies[done].group + prior < self->group; ++done) {
        if (!copies[done].landed) land(copies[done]);
        tracer->async_land(running_thread(), copies[done]);
    }
    copies.erase(copies.begin(), copies.begin() + long(done));
    tracer->event(running_thread(), CPU_DEVICE_CALLER, Event::wait, prior);
}

void cpu::check_copies_at_exit() {
    for (const AsyncCopy &c : self->copies) {
        fault(c.place,
              c.group == self->group ? FaultKind::copy_never_committed : FaultKind::copy_never_waited_for);
        tracer->async_land(running_thread(), c);
    }
    self->copies.clear();
}
