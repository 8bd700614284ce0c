/** @file memory_barrier.h What pipelines make of barriers in shared memory. Phases are numbers from 0. */
#pragma once
#include "core/tracer.h"

namespace cpu {
MemoryBarrier *find_barrier(Place place, const char *what,
                            const void *p); ///< null, and a fault, if it is none
void initialise(Place place, const void *p, uint64_t expected);
/// The open phase also waits for all copies that the running thread has in flight.
void track_copies(Place place, const void *p, MemoryBarrier &b);
uint64_t arrive(Place place, const void *p, MemoryBarrier &b, uint64_t count, bool drop); ///< gives the phase
/// Until so many phases have ended.
void wait_for_phase(Place place, const char *what, const void *p, MemoryBarrier &b, uint64_t phase,
                    Event kind);
bool test_phase(Place place, const char *what, const void *p, MemoryBarrier &b, uint64_t ended);
} // namespace cpu
