/**
 * @file atomics.cpp
 * Atomics and fences. One thread runs at a time, so a plain read and write will do.
 */
#include "include/cuda_runtime.h"
#include "block.h"

using namespace cpu;

template<class T> static void prepare(Place place, T *p) {
    breathe();
    if (uintptr_t(p) % sizeof(T))
        fault(place, "atomic of %zu bytes at an address that is not a multiple of it", sizeof(T));
    note_access(place, p, sizeof(T), Access::atomic);
}

#define CPU_DEFINE(name, T, value)     \
    T name(T *p, T v) {                \
        prepare(CPU_DEVICE_CALLER, p); \
        T old = *p;                    \
        *p = value;                    \
        return old;                    \
    }
CPU_DEVICE_ATOMICS(CPU_DEFINE)

#define CPU_COMPARE_AND_SWAP(T)                \
    T atomicCAS(T *p, T expected, T desired) { \
        prepare(CPU_DEVICE_CALLER, p);         \
        T old = *p;                            \
        *p = old == expected ? desired : old;  \
        return old;                            \
    }
CPU_COMPARE_AND_SWAP(int)
CPU_COMPARE_AND_SWAP(unsigned)
CPU_COMPARE_AND_SWAP(unsigned long long)

// Threads take turns, so memory is always in order: a fence is only a chance for others to run.
void __threadfence_block() {
    breathe();
}
void __threadfence() {
    breathe();
}
void __threadfence_system() {
    breathe();
}
void __nanosleep(unsigned) {
    self->breaths = ~0u;
    breathe();
}
