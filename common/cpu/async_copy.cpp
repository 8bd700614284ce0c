/**
 * @file async_copy.cpp
 * Asynchronous copies to shared memory: cp.async, its groups and its rules.
 */
#include "include/cuda_pipeline_primitives.h"
#include "block.h"

using namespace cpu;

static void land(AsyncCopy &c) {
    memcpy(c.dst, c.src, c.size - c.zfill);
    memset(c.dst + (c.size - c.zfill), 0, c.zfill);
    c.landed = true;
}

void __pipeline_memcpy_async(void *dst, const void *src, size_t size, size_t zfill) {
    Place place = CPU_DEVICE_CALLER;
    if (size != 4 && size != 8 && size != 16)
        return fault(place, "asynchronous copy of %zu bytes: only 4, 8 and 16 exist", size);
    if (zfill > size)
        return fault(place, "asynchronous copy of %zu bytes zero-fills %zu", size, zfill);
    if (uintptr_t(dst) % size)
        return fault(place, "asynchronous copy of %zu bytes to a misaligned address", size);
    if (uintptr_t(src) % size)
        return fault(place, "asynchronous copy of %zu bytes from a misaligned address", size);
    if (!in_shared(dst, size))
        return fault(place, "asynchronous copy to an address that is not in shared memory");
    unsigned read = unsigned(size - zfill);
    if (read && !in_allocation(src, read))
        return fault(place, "asynchronous copy reads %s", describe_address(src, read).c_str());
    if (tracer)
        tracer->async_issue(place, dst, src, unsigned(size), read);
    AsyncCopy c{static_cast<char *>(dst),
                static_cast<const char *>(src),
                unsigned(size),
                unsigned(zfill),
                self->group,
                false,
                place};
    bool late = schedule.async == CPU_LATE;
    if (schedule.async == CPU_EITHER)
        late = random_number() % 2;
    if (late)
        memset(dst, poison, size); // until the wait, which is also when the source is read
    else
        land(c);
    self->copies.push_back(c);
}

void __pipeline_commit() {
    if (tracer)
        tracer->async_commit();
    ++self->group;
    preempt();
}

void __pipeline_wait_prior(size_t prior) {
    Place place = CPU_DEVICE_CALLER;
    preempt();
    if (tracer)
        tracer->async_wait(place, unsigned(prior));
    // Group numbers count up, so copies stand in the order of their groups. The open group is not
    // waited for, even if prior is 0.
    size_t done = 0;
    auto &copies = self->copies;
    for (; done < copies.size() && copies[done].group + prior < self->group; ++done) {
        if (!copies[done].landed)
            land(copies[done]);
        if (tracer)
            tracer->async_land(copies[done].dst, copies[done].size);
    }
    copies.erase(copies.begin(), copies.begin() + long(done));
}

void cpu::check_copies_at_exit() {
    for (const AsyncCopy &c : self->copies)
        if (c.group == self->group)
            fault(c.place, "asynchronous copy that was never committed");
        else
            fault(c.place, "asynchronous copy that was never waited for");
    self->copies.clear();
}
