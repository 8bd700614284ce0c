/** @file atomics.cpp What atomics share, and fences. Threads take turns, so memory is always in order: a fence is
 * only a chance for others to run. What it orders, and for whom, the checked flavour knows. */
#include "core/tracer.h"
#include "include/cuda_runtime.h"

using namespace cpu;

void cpu::prepare_atomic(Place place, const void *p, unsigned size) {
    preempt(true);
    if (uintptr_t(p) % size) fault(place, FaultKind::atomic_misaligned, size);
    tracer->access(running_thread(), place, p, size, ATOMIC);
}

void cpu::prepare_atomic(Place place, const void *p, unsigned size, bool writes) {
    preempt(true);
    if (uintptr_t(p) % size) fault(place, FaultKind::atomic_misaligned, size);
    tracer->access(running_thread(), place, p, size, writes ? VOLATILE_WRITE : VOLATILE_READ);
}

static void fence(Place place, Event kind) {
    tracer->event(running_thread(), place, kind);
    preempt(true);
}
void __threadfence_block() { fence(CPU_DEVICE_CALLER, Event::block_fence); }
void __threadfence() { fence(CPU_DEVICE_CALLER, Event::device_fence); }
void __threadfence_system() { fence(CPU_DEVICE_CALLER, Event::device_fence); }
void __nanosleep(unsigned) { let_others_run(); }
