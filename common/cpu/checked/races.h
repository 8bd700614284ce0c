/**
 * @file races.h
 * The race detector: vector clocks as in DJIT+, and for each granule of memory epochs as in FastTrack.
 *
 * Every agent of a block has a clock, and a vector clock of what it knows of the others: an access whose
 * epoch (clock at agent) is within it happened before. Shadow memory keeps, for each granule, its latest
 * writes and two of the reads since. An access must come after those that it conflicts with:
 * - in a block by barriers (__syncthreads, __syncwarp) and by the order of one thread's statements;
 * - by flags, in a block or between blocks: write, fence, atomic or volatile write of the flag; atomic
 *   or volatile read of it, fence, read. Barriers hand on what a thread has released or seen.
 * An asynchronous copy is a write that is unordered from its issue to the wait of its own agent.
 */
#pragma once
#include <map>
#include <unordered_map>
#include "checked/counters.h"

namespace cpu {
using VectorClock = std::vector<uint32_t>; ///< by agent of a block
/// Of several blocks: by twice the block's number, plus one for what is visible in that block only.
using BlockClocks = std::map<uint64_t, std::shared_ptr<const VectorClock>>;
using Known = std::shared_ptr<const BlockClocks>; ///< null: of none

/// An access: its epoch, and what a report says of it. Bit-fields, so that it travels in two registers.
struct Epoch {
    uint64_t clock : 32, place : 32;
    uint64_t block : 32, agent : 16;
    uint64_t atomic : 8; ///< or volatile: such accesses do not race with each other
    uint64_t kind : 8;
};
enum EpochKind { plain, copied, in_flight };

struct ShadowCell {
    Epoch write, atomic; ///< the latest plain write, and the latest atomic one since
    Epoch read[2];
};
struct ShadowPage {
    bool ignored;            ///< the host's, such as a kernel's arguments
    const char *begin, *end; ///< what may be accessed in it
    unsigned shift;          ///< a cell is 4 bytes, or 1 once a smaller access was seen
    std::vector<ShadowCell> cells;
};

struct AgentClock {
    uint32_t now = 1;
    bool has_own = false; ///< whether `own` says more than the block's `common`
    VectorClock own;
    /// What it knows of other blocks; what it will know at its next fence, from flags that it has read; and
    /// what its flags tell others, since its last fence.
    Known acquired, seen, released;
};
struct BlockTrace {
    VectorClock common; ///< what all agents know of each other
    std::vector<AgentClock> agents;
    std::vector<Log> logs; ///< of its threads, for the counters
};

enum RaceKind { READ_EARLY, WRITE_EARLY, READ_COPY, OVER_READ, OVER_WRITE, READ_WRITE, WRITE_WRITE, BLOCKS };
struct Race {
    RaceKind kind;
    Epoch here, there;
    const void *address;
    Block *block; ///< where it was found
};
struct GridTrace {
    std::unordered_map<uintptr_t, ShadowPage> pages;
    std::pair<uintptr_t, ShadowPage *> recent[64];
    std::unordered_map<const void *, Known> flags;
    std::map<std::tuple<RaceKind, uint32_t, uint32_t>, Race> races; ///< by kind and places
};

namespace races {
constexpr size_t page_bytes = 4096;
ShadowPage &find_page(const Block &block, const void *p);
inline ShadowPage &page_of(const Block &block, const void *p) {
    uintptr_t number = uintptr_t(p) / page_bytes;
    auto &slot = block.grid.trace->recent[number % 64];
    if (slot.first != number) slot = {number, &find_page(block, p)};
    return *slot.second;
}
void access(Agent agent, Place place, const void *p, unsigned size, bool write, bool atomic,
            EpochKind kind = plain);
void land(Agent agent, const void *dst, unsigned size);
/// An atomic or volatile access: a flag, if there are fences.
void use_flag(Agent agent, const void *p, bool reads, bool writes);
void fence(Agent agent, bool device);
void synchronise(Block &block, const std::vector<unsigned> &agents, bool whole_block);
void begin_block(Block &block);
void report(Grid &grid);
} // namespace races
} // namespace cpu
