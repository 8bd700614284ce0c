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

#define CPU_DEFINE(name, becomes)                              \
    template<class T> T name(T *p, typename Same<T>::type v) { \
        prepare(CPU_DEVICE_CALLER, p);                         \
        T old = *p;                                            \
        *p = becomes;                                          \
        return old;                                            \
    }
CPU_DEVICE_ATOMICS(CPU_DEFINE)

template<class T> T atomicCAS(T *p, typename Same<T>::type expected, typename Same<T>::type desired) {
    prepare(CPU_DEVICE_CALLER, p);
    T old = *p;
    *p = old == expected ? desired : old;
    return old;
}

#define CPU_FOR_INT(name, becomes) template int name(int *, int);
#define CPU_FOR_UNSIGNED(name, becomes) template unsigned name(unsigned *, unsigned);
#define CPU_FOR_LONG(name, becomes) \
    template unsigned long long name(unsigned long long *, unsigned long long);
CPU_DEVICE_ATOMICS(CPU_FOR_INT)
CPU_DEVICE_ATOMICS(CPU_FOR_UNSIGNED)
CPU_DEVICE_ATOMICS(CPU_FOR_LONG)
template float atomicAdd(float *, float);
template float atomicExch(float *, float);
template double atomicAdd(double *, double);
template int atomicCAS(int *, int, int);
template unsigned atomicCAS(unsigned *, unsigned, unsigned);
template unsigned long long atomicCAS(unsigned long long *, unsigned long long, unsigned long long);

// Threads take turns, so memory is always in order: a fence is only a chance for others to run.
void __threadfence_block() { breathe(); }
void __threadfence() { breathe(); }
void __threadfence_system() { breathe(); }
void __nanosleep(unsigned) {
    self->breaths = ~0u;
    breathe();
}
