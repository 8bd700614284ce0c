/** @file counters.h What a warp's instructions cost. Each lane's accesses are logged; where all lanes of a warp
 * have come to one place the logs are merged, the lowest address in the program first, which is where lanes
 * that parted meet again. Accesses of one kind and source line are one instruction, of which the compiler
 * may have made several. So the sums do not depend on the order in which lanes ran. */
#pragma once
#include "core/tracer.h"

namespace cpu {
enum class Op : uint8_t { load, store, atomic, copy, wait, multiply, commit, barrier, acquire };

/// A place in the program, and its line: one pointer for all that have the same.
struct Spot {
    Place place;
    const char *line, *text; ///< text: of a trace
};
struct LogEntry {
    uint64_t address, to; ///< to: of a copy's read, in shared memory
    const Spot *spot;
    Op op;
    bool shared;
    uint8_t lane;
    uint16_t size;
    /// The same for what is one instruction.
    auto key() const { return std::make_tuple(spot->line, shared, op, size); }
};
struct Log { ///< of a thread
    std::deque<LogEntry> entries;
    bool begins; ///< the next read of shared memory begins a multiply
};
struct BlockTrace {
    std::vector<Log> logs; ///< of its threads
};

extern bool counting; ///< since the first cpu_counters_reset(): races are found without
/// Adds what a thread did to its log, to be made one instruction of its warp. `to`: where in shared
/// memory a copy of global memory goes.
void count_later(Agent thread, Op op, bool shared, Place place, uint64_t address, unsigned size,
                 uint64_t to = 0);
/// Makes warp instructions of the logs of a warp whose lanes have all come to one place, or of all warps.
void count_warp(Block &block, unsigned warp);
void count_block(Block &block, bool barrier);
/// The part of a tracer that gives what was counted.
struct Counter : Tracer {
    void reset_counters() override;
    cpu_counters counters() override;
    void trace_to(cpu_trace_call *call, void *context) override;
    unsigned counter_lines(const cpu_counter_line **lines) override;
};
} // namespace cpu
