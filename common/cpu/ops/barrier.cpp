/** @file barrier.cpp The block barriers: __syncthreads() and its votes. */
#include "core/tracer.h"
#include "include/cuda_runtime.h"

namespace cpu {
void release_barrier_if_complete(Block &block) {
    Barrier &b = block.barrier;
    if (b.waiting.empty() || b.waiting.size() < block.alive) return; // it does not wait for the exited
    tracer->synchronised(block, b.waiting, true);
    b.voted = b.votes, b.votes = 0;
    make_ready(block, b.waiting);
    b.waiting.clear();
}

[[gnu::noinline]] static void arrive(Place place, const char *what, bool vote) {
    preempt();
    Block &block = *self->block;
    Barrier &b = block.barrier;
    if (b.waiting.empty()) b.place = place;
    // Compilers duplicate calls: one line is one barrier. Without the binutils no line is known.
    if (place != b.place && line_of(place).number && source_line(place) != source_line(b.place))
        report_once({FaultKind::barrier_divergent, source_line(place), {}, source_line(b.place)});
    b.waiting.push_back(self->rank);
    b.votes += vote;
    self->waits_at = what, self->wait_place = place;
    release_barrier_if_complete(block);
}

/// Gives how many threads voted yes.
static unsigned block_barrier(Place place, const char *what, bool vote = false) {
    arrive(place, what, vote);
    leave(); // even if all are here: any of them may go on first
    return self->block->barrier.voted;
}
} // namespace cpu

using namespace cpu;

void __syncthreads() { block_barrier(CPU_DEVICE_CALLER, "__syncthreads"); }
int __syncthreads_count(int yes) { return int(block_barrier(CPU_DEVICE_CALLER, "__syncthreads_count", yes)); }
int __syncthreads_and(int yes) { return block_barrier(CPU_DEVICE_CALLER, "__syncthreads_and", !yes) == 0; }
int __syncthreads_or(int yes) { return block_barrier(CPU_DEVICE_CALLER, "__syncthreads_or", yes) != 0; }
