/** @file pipeline.cpp cuda::pipeline of block scope: a ring of stages, each with two barriers in shared memory. A phase
 * of the first ends when every producer has committed, and its copies have landed; of the second, when every consumer
 * has released. Each thread counts for itself: what it has acquired, committed, waited for and released. */
#include "ops/memory_barrier.h"
#include "include/cuda/pipeline"

namespace cpu {
static const void *committed(const Pipeline &p) { return &p.state[p.head % p.stages * 2]; }
static const void *to_read(const Pipeline &p) { return &p.state[p.tail % p.stages * 2]; }
static const void *released(const Pipeline &p, uint64_t n) { return &p.state[n % p.stages * 2 + 1]; }

/// Whether the pipeline may still be used, and this after that.
static MemoryBarrier *find(Place place, const Pipeline &p, const char *what, const char *first, bool done,
                           const void *barrier) {
    preempt();
    if (!p.active) return fault(place, FaultKind::pipeline_quit, what), nullptr;
    if (!done) fault(place, FaultKind::pipeline_order, what, first);
    return find_barrier(place, what, barrier);
}

void pipeline_initialise(uint64_t *state, unsigned stages, unsigned producers, unsigned consumers) {
    Place place = CPU_DEVICE_CALLER;
    for (unsigned i = 0; i < stages; ++i) {
        initialise(place, &state[i * 2], producers);
        initialise(place, &state[i * 2 + 1], consumers);
    }
    state[stages * 2] = producers + consumers;
}

void pipeline_acquire(Pipeline &p) {
    Place place = CPU_DEVICE_CALLER;
    const void *stage = released(p, p.head);
    MemoryBarrier *b = find(place, p, "producer_acquire", "", true, stage);
    if (b) wait_for_phase(place, "producer_acquire", stage, *b, p.head / p.stages, Event::acquire);
    p.acquired = p.head + 1;
}

void pipeline_commit(Pipeline &p) {
    Place place = CPU_DEVICE_CALLER;
    const void *stage = committed(p);
    MemoryBarrier *b = find(place, p, "producer_commit", "producer_acquire", p.acquired > p.head, stage);
    if (!b) return;
    track_copies(place, stage, *b);
    arrive(place, stage, *b, 1, false);
    ++p.head;
}

void pipeline_wait(Pipeline &p) {
    Place place = CPU_DEVICE_CALLER;
    const void *stage = to_read(p);
    if (MemoryBarrier *b = find(place, p, "consumer_wait", "", true, stage))
        wait_for_phase(place, "consumer_wait", stage, *b, p.tail / p.stages + 1, Event::wait);
    p.waited = p.tail + 1;
}

bool pipeline_test(Pipeline &p) {
    Place place = CPU_DEVICE_CALLER;
    const void *stage = to_read(p);
    MemoryBarrier *b = find(place, p, "consumer_wait", "", true, stage);
    if (b && !test_phase(place, "consumer_wait_for", stage, *b, p.tail / p.stages + 1)) return false;
    p.waited = p.tail + 1;
    return true;
}

void pipeline_release(Pipeline &p) {
    Place place = CPU_DEVICE_CALLER;
    const void *stage = released(p, p.tail);
    MemoryBarrier *b = find(place, p, "consumer_release", "consumer_wait", p.waited > p.tail, stage);
    if (!b) return;
    arrive(place, stage, *b, 1, false);
    ++p.tail;
}

bool pipeline_quit(Pipeline &p) {
    const bool last =
        self && p.active && --p.state[p.stages * 2] == 0; // no thread, if it is stuck: it is unwound
    p.active = false;
    for (unsigned i = 0; last && i < p.stages * 2; ++i) self->block->memory_barriers.erase(&p.state[i]);
    return last;
}
} // namespace cpu
