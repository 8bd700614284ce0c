/**
 * @file trace.h
 * The checked flavour's two halves: races (races.cpp) and counters (counters.cpp).
 */
#pragma once
#include "block.h"

namespace cpu {
/// What one thread did, to be made one instruction of its warp.
enum class Op : uint8_t {
    load,
    store,
    atomic,
    copy_read, // global memory
    shared_load,
    shared_store,
    shared_atomic,
    copy_write, // shared memory
    wait,
    mma
};

/// Adds to the running thread's log. `place` is an offset in the program.
void count_later(uint32_t place, uint64_t address, unsigned size, Op op);
void count_now(uint32_t place, Op op, uint64_t flops);
/// Makes warp instructions of the logs of a warp whose lanes have all come to one place.
void count_warp(unsigned warp);
void count_block_barrier();
void print_counters(cpu_counters &counters, FILE *lines);
void forget_counters();
} // namespace cpu
