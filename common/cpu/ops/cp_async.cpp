/** @file cp_async.cpp Asynchronous copies to shared memory by threads: cp.async, its groups and its rules. */
#include "core/tracer.h"
#include "include/cuda_pipeline.h"

using namespace cpu;

static void land(AsyncCopy &c) {
    memcpy(c.dst, c.src, c.size - c.zfill);
    if (c.zfill) memset(static_cast<char *>(c.dst) + c.size - c.zfill, 0, c.zfill);
    c.landed = true;
}

void cpu::copy_async(Place place, void *dst, const void *src, size_t size, size_t zfill) {
    Grid &grid = self->block->grid;
    if (size != 4 && size != 8 && size != 16) return fault(place, FaultKind::copy_size, size);
    if (zfill > size) return fault(place, FaultKind::copy_zero_fill, size, zfill);
    if (uintptr_t(dst) % size) return fault(place, FaultKind::copy_to_misaligned, size);
    if (uintptr_t(src) % size) return fault(place, FaultKind::copy_from_misaligned, size);
    if (!self->block->shared.allows(dst, size)) return fault(place, FaultKind::copy_not_shared);
    size_t read = size - zfill;
    if (read && !in_allocation(grid.device, src, read))
        return fault(place, FaultKind::copy_bounds, describe_address(grid.device, src, read).second);
    AsyncCopy c{dst, src, unsigned(size), unsigned(zfill), self->group, self->batch, false, place};
    tracer->async_issue(running_thread(), c);
    if (grid.schedule.async == CPU_EITHER ? grid.random_number() % 2 : grid.schedule.async == CPU_LATE)
        memset(dst, poison, size); // until the wait, which is also when the source is read
    else land(c);
    self->copies.push_back(c);
}

void __pipeline_memcpy_async(void *dst, const void *src, size_t size, size_t zfill) {
    copy_async(CPU_DEVICE_CALLER, dst, src, size, zfill);
}

void __pipeline_commit() {
    ++self->group, ++self->batch;
    tracer->event(running_thread(), CPU_DEVICE_CALLER, Event::commit);
    preempt();
}

void cpu::land_copies(Thread &thread, size_t count, const void *barrier) {
    for (size_t i = 0; i < count; ++i) {
        if (!thread.copies[i].landed) land(thread.copies[i]);
        tracer->async_land({*thread.block, thread.rank, Proxy::generic}, thread.copies[i], barrier);
    }
    thread.copies.erase(thread.copies.begin(), thread.copies.begin() + long(count));
    thread.landed += count;
}

unsigned cpu::batches_in_flight() { return self->copies.empty() ? 0 : self->batch - self->copies[0].batch; }

void __pipeline_wait_prior(size_t prior) {
    preempt();
    // Group numbers count up, so copies stand in the order of their groups. The open group is not
    // waited for, even if prior is 0.
    size_t done = 0;
    const auto &copies = self->copies;
    while (done < copies.size() && copies[done].group + prior < self->group) ++done;
    land_copies(*self, done);
    tracer->event(running_thread(), CPU_DEVICE_CALLER, Event::wait, prior);
}

/// What a barrier waits for may outlast the thread: see check_barriers().
void cpu::check_copies_at_exit() {
    for (size_t i = self->copies.size(); i-- > 0 && self->landed + i >= self->tracked;
         self->copies.pop_back()) {
        const AsyncCopy &c = self->copies[i];
        fault(c.place,
              c.group == self->group ? FaultKind::copy_never_committed : FaultKind::copy_never_waited_for);
        tracer->async_land(running_thread(), c);
    }
}
