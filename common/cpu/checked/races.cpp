/** @file races.cpp The race detector: vector clocks as in DJIT+, and for each granule of memory epochs as in
 * FastTrack. GCC's -fsanitize=thread makes compiled kernels call __tsan_read4() and the like, which are here.
 *
 * Every agent of a block has a clock, and a vector clock of what it knows of the others: an access whose
 * epoch (clock at agent) is within it happened before. Shadow memory keeps, for each granule, its latest
 * writes and two of the reads since. README.md says what orders accesses; barriers also hand on what a thread
 * has released or seen. An asynchronous copy is unordered from its issue to the wait of its own agent. */
#include <numeric>
#include <unordered_map>
#include "checked/counters.h"

namespace cpu {
namespace {
using VectorClock = std::vector<uint32_t>; ///< by agent of a block
/// Of several blocks: by twice the block's number, plus one for what is visible in that block only.
using BlockClocks = std::map<uint64_t, std::shared_ptr<const VectorClock>>;
using Known = std::shared_ptr<const BlockClocks>; ///< null: of none

/// An access: its epoch, and what a report says of it. Bit-fields, so that it travels in two registers.
struct Epoch {
    uint64_t clock : 32, place : 32;
    uint64_t block : 32, agent : 16;
    uint64_t atomic : 2; ///< a Strength: 0 of a plain access
    uint64_t kind : 3;
    uint64_t via : 11; ///< of a copy that a barrier in memory waits for: its place in that clock, and 1
};
enum EpochKind { plain, copied, in_flight, initialised };
/// Of accesses that do not race with each other, unless both are loose: volatile ones of shared memory with no fence
/// before the write, as in the warp-synchronous code of before sm_70.
enum Strength { loose = 1, strong };

/// Barriers in memory have clocks that count the phases of those that share a place, behind the threads'.
constexpr size_t barrier_clocks = 64;
size_t place_of(uint64_t barrier) { return barrier / 8 % barrier_clocks; }

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

/// By flags: what an agent knows of other blocks; what it will know at its next fence, from flags that it has
/// read; and what its own flags tell, since its last fence.
struct Flags {
    Known acquired, seen, released;
    bool fenced = false; ///< a fence, and no volatile read of shared memory since: the next write is a flag
};
struct AgentClock {
    uint32_t now = 1;
    bool has_own = false; ///< whether `own` says more than the block's `common`
    VectorClock own = {};
    Flags flags = {};
};
struct BlockClock : BlockTrace {
    VectorClock common; ///< what all agents know of each other
    std::vector<AgentClock> agents;
    struct Phase {
        VectorClock open, ended; ///< what its arrivals tell, and those of the last one
        Flags open_flags, ended_flags;
    };
    std::map<uint64_t, Phase> barriers; ///< by address
    uint32_t phases[barrier_clocks] = {};
    explicit BlockClock(size_t n) : BlockTrace{std::vector<Log>(n)}, common(n + barrier_clocks), agents(n) {
        std::fill_n(phases, barrier_clocks, 1);
    }
};

struct Race {
    Epoch here, there;
    const void *address;
    Block *block; ///< where it was found
};
} // namespace

struct GridTrace {
    std::unordered_map<uintptr_t, ShadowPage> pages;
    std::pair<uintptr_t, ShadowPage *> recent[64];
    std::unordered_map<uintptr_t, Known> flags;
    std::map<std::tuple<FaultKind, uint32_t, uint32_t>, Race> races; ///< by kind and places
};

namespace {
constexpr size_t page_bytes = 4096;
BlockClock &clock_of(const Block &block) { return static_cast<BlockClock &>(*block.trace); }
AgentClock &clock_of(Agent agent) { return clock_of(agent.block).agents[agent.number]; }

/// An address, of which shared memory has one for each resident block.
uintptr_t where(const Block &block, const void *p) {
    return uintptr_t(p) | (block.shared.has(p) ? uintptr_t(block.slot) << 52 : 0);
}

ShadowPage &find_page(const Block &block, const void *p) {
    auto [at, fresh] = block.grid.trace->pages.try_emplace(where(block, p) / page_bytes);
    if (!fresh) return at->second;
    const Allocation *a = find_allocation(block.grid.device, p);
    const char *end = a ? a->end : reinterpret_cast<const char *>(UINTPTR_MAX);
    const bool ignored = !a && !block.shared.has(p) && offset_in_program(p) == outside;
    std::vector<ShadowCell> cells(ignored ? 0 : page_bytes >> 2);
    return at->second = {ignored, a ? a->begin : nullptr, end, 2, cells};
}

ShadowPage &page_of(const Block &block, const void *p) {
    uintptr_t number = where(block, p) / page_bytes;
    auto &slot = block.grid.trace->recent[number % 64];
    if (slot.first != number) slot = {number, &find_page(block, p)};
    return *slot.second;
}

VectorClock joined(const VectorClock &a, const VectorClock &b) {
    VectorClock r = a;
    for (size_t i = 0; i < r.size(); ++i) r[i] = std::max(r[i], b[i]);
    return r;
}
Known joined(const Known &a, const Known &b) {
    if (!a || a == b) return b;
    if (!b) return a;
    auto both = std::make_shared<BlockClocks>(*a);
    for (const auto &[block, clock] : *b) {
        auto &mine = (*both)[block];
        if (!mine) mine = clock;
        else if (mine != clock) mine = std::make_shared<VectorClock>(joined(*mine, *clock));
    }
    return both;
}

Flags joined(const Flags &a, const Flags &b) {
    return {joined(a.acquired, b.acquired), joined(a.seen, b.seen), joined(a.released, b.released),
            a.fenced || b.fenced};
}

bool same_warp(Epoch a, Epoch b) { return a.block == b.block && a.agent / warp_size == b.agent / warp_size; }

/// One access on its way through shadow memory.
struct Check {
    Block &block;
    const AgentClock &clock;
    const uint32_t *common;
    Epoch now;
    bool write, shared;

    bool ordered(Epoch before) const {
        if (before.block == now.block) {
            const size_t i = before.via ? block.threads + before.via - 1 : before.agent;
            return (before.agent == now.agent && !before.via) || before.clock <= common[i] ||
                   (clock.has_own && before.clock <= clock.own[i]);
        }
        if (shared || !clock.flags.acquired) return shared; // shared memory: of a block that is over
        auto at = clock.flags.acquired->find(uint64_t(before.block) * 2);
        return at != clock.flags.acquired->end() && before.clock <= (*at->second)[before.agent];
    }
    bool unordered(Epoch before) const {
        return before.clock && !(now.atomic && before.atomic && now.atomic + before.atomic > 2 * loose) &&
               !ordered(before);
    }
    /// Lanes of a warp may write to one address by one instruction: CUDA promises that one of them wins.
    bool one_instruction(Epoch before) const {
        return write && before.place == now.place && before.kind == plain && same_warp(now, before);
    }

    void race(FaultKind kind, Epoch there, const void *p) const {
        if (there.block != now.block) kind = FaultKind::race_blocks;
        Race &race = block.grid.trace->races[{kind, uint32_t(now.place), uint32_t(there.place)}];
        if (!race.block || (same_warp(race.here, race.there) && !same_warp(now, there))) // says more
            race = {now, there, p, &block};
    }
    void after_write(Epoch w, const void *p) const {
        if (w.clock == 0) return;
        if (w.block == now.block && (w.kind == in_flight || (w.via && unordered(w))))
            race(write ? FaultKind::race_write_in_flight : FaultKind::race_read_in_flight, w, p);
        else if (unordered(w) && !one_instruction(w))
            race(w.kind == initialised || now.kind == initialised ? FaultKind::race_barrier_init
                 : now.kind != plain                              ? FaultKind::race_copy_over_write
                 : write                                          ? FaultKind::race_write_write
                 : w.kind == copied                               ? FaultKind::race_read_of_copy
                                                                  : FaultKind::race_read_write,
                 w, p);
    }
    /// An access takes the place of those that it comes after, for whatever comes after it comes after them
    /// too. An atomic one does not take a plain one's: other atomics need no order with it.
    void operator()(ShadowCell &cell, const void *p) const {
        after_write(cell.write, p);
        after_write(cell.atomic, p);
        if (!write) return remember_read(cell);
        for (Epoch r : cell.read)
            if (unordered(r))
                race(now.kind == initialised ? FaultKind::race_barrier_init
                     : now.kind != plain     ? FaultKind::race_copy_over_read
                                             : FaultKind::race_read_write,
                     r, p);
        if (now.atomic) cell.atomic = now;
        else cell = {now, {}, {}};
    }
    void remember_read(ShadowCell &cell) const {
        for (Epoch &r : cell.read)
            if (!r.clock || ((r.atomic || !now.atomic) && ordered(r))) {
                r = now;
                return;
            }
        // Of reads that nothing orders two are kept, rather of two warps.
        if (!now.atomic && same_warp(cell.read[0], cell.read[1])) cell.read[1] = now;
    }
};

/// Calls each(cell, address) for the granules of an access.
template<class F>
[[gnu::always_inline]] inline void each_cell(const Block &block, const void *p, unsigned size, F each) {
    const char *at = static_cast<const char *>(p), *end = at + size;
    while (at < end) {
        ShadowPage &page = page_of(block, at);
        if (page.ignored) return;
        if (page.shift && (uintptr_t(p) | size) % 4) {
            std::vector<ShadowCell> small(page_bytes);
            for (size_t i = 0; i < page_bytes; ++i) small[i] = page.cells[i >> 2];
            page.cells.swap(small);
            page.shift = 0;
        }
        size_t step = size_t(1) << page.shift;
        do each(page.cells[uintptr_t(at) % page_bytes >> page.shift], at);
        while ((at += step) < end && uintptr_t(at) % page_bytes);
    }
}

void touch(Agent agent, Place place, const void *p, unsigned size, bool write, int atomic,
           EpochKind kind = plain) {
    static const uintptr_t program_begin = uintptr_t(place_in_program(0));
    Block &block = agent.block;
    const BlockClock &trace = clock_of(block);
    const AgentClock &clock = trace.agents[agent.number];
    const auto offset = uint32_t(uintptr_t(place) - program_begin);
    const Epoch now = {clock.now,       offset,        uint32_t(block.number), uint16_t(agent.number),
                       uint8_t(atomic), uint8_t(kind), 0};
    const Check check = {block, clock, trace.common.data(), now, write, block.shared.has(p)};
    each_cell(block, p, size, check);
}

/// An atomic or volatile access: a flag, if there are fences.
void use_flag(Agent agent, const void *p, bool reads, bool writes) {
    AgentClock &clock = clock_of(agent);
    auto &flags = agent.block.grid.trace->flags;
    const uintptr_t address = where(agent.block, p);
    auto at = flags.find(address);
    const Known here = at == flags.end() ? nullptr : at->second;
    if (reads) clock.flags.seen = joined(clock.flags.seen, here);
    // A write without a fence before it tells nothing, and what others told no longer holds.
    if (writes && (clock.flags.released || !reads))
        flags[address] = reads ? joined(here, clock.flags.released) : clock.flags.released;
}

void fence(Agent agent, bool device) {
    AgentClock &clock = clock_of(agent);
    BlockClocks others, told;
    const uint64_t number = uint32_t(agent.block.number);
    VectorClock known = clock.has_own ? clock.own : clock_of(agent.block).common;
    for (const auto &[block, theirs] : clock.flags.seen ? *clock.flags.seen : BlockClocks())
        if (block / 2 == number) {
            clock.own = known = joined(known, *theirs);
            clock.has_own = true;
        } else if (device && block % 2 == 0) {
            others.insert({block, theirs});
        }
    clock.flags.acquired = joined(clock.flags.acquired, std::make_shared<BlockClocks>(others));
    if (device) told = *clock.flags.acquired;
    known[agent.number] = clock.now++;
    told[number * 2 + !device] = std::make_shared<VectorClock>(known);
    clock.flags.released = joined(clock.flags.released, std::make_shared<BlockClocks>(told));
    clock.flags.fenced = true;
}

/// An arrival tells the phase's waiters what the thread knows; the end of a phase, that its copies have landed.
void barrier(Agent agent, Place place, Event event, uint64_t address) {
    BlockClock &trace = clock_of(agent.block);
    AgentClock &clock = clock_of(agent);
    const auto p = reinterpret_cast<const void *>(address);
    if (event == Event::initialise) {
        trace.barriers[address] = {};
        return touch(agent, place, p, 8, true, 0, initialised);
    }
    auto &[open, ended, open_flags, ended_flags] = trace.barriers[address];
    if (event == Event::arrive) {
        touch(agent, place, p, 8, true, strong);
        open.resize(trace.common.size());
        open = joined(open, clock.has_own ? clock.own : trace.common);
        open[agent.number] = clock.now++;
        open_flags = joined(open_flags, clock.flags);
    } else if (event == Event::complete) {
        open[trace.agents.size() + place_of(address)] = trace.phases[place_of(address)]++;
        ended = std::move(open), ended_flags = open_flags;
        open = {}, open_flags = {};
    } else { // Event::pass
        touch(agent, place, p, 8, false, strong);
        if (ended.empty()) return; // a new one, by parity
        clock.own = joined(clock.has_own ? clock.own : trace.common, ended);
        clock.has_own = true;
        clock.flags = joined(clock.flags, ended_flags);
    }
}

void report_races(Grid &grid) {
    auto place = [](Epoch e) { return place_in_program(e.place); };
    auto who = [&grid](Epoch e) { return position(grid, e.agent, e.block); };
    auto &races = grid.trace->races;
    std::vector<Place> places;
    for (const auto &[key, r] : races) places.insert(places.end(), {place(r.here), place(r.there)});
    look_up_lines(places);
    std::set<std::pair<FaultKind, std::set<std::string>>> told; // a pair of lines, whichever came first
    for (const auto &[key, r] : races) {
        FaultKind kind = std::get<FaultKind>(key);
        const std::string &here = source_line(place(r.here)), &there = source_line(place(r.there));
        if (!told.insert({kind, {here, there}}).second) continue;
        const bool in_warp = same_warp(r.here, r.there);
        if (in_warp && kind == FaultKind::race_read_write) kind = FaultKind::race_read_write_in_warp;
        if (in_warp && kind == FaultKind::race_write_write) kind = FaultKind::race_write_write_in_warp;
        report({kind, here, {}, there, memory_name(r.block->shared, r.address), who(r.here), who(r.there)});
    }
    races.clear();
}

/// The tracer of the checked flavour.
struct Checker final : Counter {
    void launch_begin(Grid &grid) override { grid.trace = std::make_shared<GridTrace>(); }
    void launch_end(Grid &grid) override { report_races(grid); }
    void block_begin(Block &block) override {
        if (!block.trace) block.trace = std::make_shared<BlockClock>(block.threads);
        auto &flags = block.grid.trace->flags;
        const uintptr_t begin = where(block, block.shared.begin),
                        size = size_t(block.shared.end - block.shared.begin);
        for (auto at = flags.begin(); at != flags.end();)
            at = at->first - begin < size ? flags.erase(at) : std::next(at);
        BlockClock &clock = clock_of(block);
        clock.barriers.clear();
        for (size_t i = 0; i < barrier_clocks; ++i) clock.common[clock.agents.size() + i] = clock.phases[i]++;
        for (size_t i = 0; i < clock.agents.size(); ++i) {
            AgentClock &a = clock.agents[i];
            clock.common[i] = a.now;
            a = {a.now + 1};
        }
    }
    void block_end(Block &block) override { count_block(block, false); }
    void access(Agent agent, Place place, const void *p, unsigned size, Access kind) override {
        const Block &block = agent.block;
        if (block.stacks->has(p)) return;
        const bool shared = block.shared.has(p), writes = kind & WRITE;
        if (kind == VOLATILE_READ) preempt(true);
        else if (kind == READ && !shared && ++self->reads % 65536 == 0) let_others_run(); // __ldcg in a loop
        if (!shared && kind & FLAG) (writes ? tell_blocks : ask_blocks)(agent.block);
        if (shared && !block.shared.allows(p, size))
            return fault(place, FaultKind::bounds_shared, block.shared.dynamic_size);
        const ShadowPage &page = page_of(block, p);
        if (page.ignored) return;
        if (const char *c = static_cast<const char *>(p); c < page.begin || c + size > page.end) {
            const auto [kind, words] = describe_address(block.grid.device, p, size);
            fault(place, kind, writes ? "write" : "read", words);
        }
        const Op op = kind == ATOMIC ? Op::atomic : writes ? Op::store : Op::load;
        const uint64_t address = shared ? block.shared.offset(p) : uintptr_t(p);
        if (counting) count_later(agent, op, shared, place, address, size);
        bool &fenced = clock_of(agent).flags.fenced;
        if (shared && kind == VOLATILE_READ) fenced = false;
        const bool is_strong = kind == ATOMIC || !shared || (writes && fenced);
        touch(agent, place, p, size, writes, !(kind & FLAG) ? 0 : is_strong ? strong : loose);
        if (kind & FLAG) use_flag(agent, p, kind & READ, writes);
    }
    void async_issue(Agent agent, const AsyncCopy &c) override {
        const uint64_t to = agent.block.shared.offset(c.dst);
        if (const unsigned read = c.size - c.zfill) {
            if (counting) count_later(agent, Op::copy, false, c.place, uintptr_t(c.src), read, to);
            touch(agent, c.place, c.src, read, false, 0);
        }
        if (counting) count_later(agent, Op::copy, true, c.place, to, c.size);
        touch(agent, c.place, c.dst, c.size, true, 0, in_flight);
    }
    void async_land(Agent agent, const AsyncCopy &c, const void *barrier) override {
        const size_t place = place_of(uintptr_t(barrier));
        const uint32_t now = barrier ? clock_of(agent.block).phases[place] : clock_of(agent).now;
        each_cell(agent.block, c.dst, c.size, [&](ShadowCell &cell, const char *) {
            Epoch &w = cell.write;
            if (w.kind == in_flight && w.agent == agent.number && w.block == uint32_t(agent.block.number))
                w.kind = copied, w.clock = now, w.via = barrier ? place + 1 : 0;
        });
    }
    void event(Agent agent, Place place, Event event, uint64_t what) override {
        static constexpr Op ops[] = {Op::commit, Op::wait, Op::acquire, Op::multiply}; // of the first events
        if (event >= Event::initialise) barrier(agent, place, event, what);
        else if (event >= Event::block_fence) fence(agent, event == Event::device_fence);
        else if (counting) count_later(agent, ops[int(event)], false, place, what, 0);
    }
    void synchronised(Block &block, const std::vector<unsigned> &agents, bool whole_block) override {
        BlockClock &trace = clock_of(block);
        std::vector<unsigned> all(whole_block ? block.threads : 0); // with those that have exited
        std::iota(all.begin(), all.end(), 0u);
        if (!whole_block) all = agents;
        Flags flags;
        VectorClock clock = trace.common;
        for (unsigned i : all) {
            const AgentClock &a = trace.agents[i];
            flags = joined(flags, a.flags);
            if (a.has_own && !whole_block) clock = joined(clock, a.own);
            for (size_t b = trace.agents.size(); a.has_own && b < clock.size(); ++b)
                clock[b] = std::max(clock[b], a.own[b]);
        }
        for (unsigned i : all) clock[i] = trace.agents[i].now++;
        for (unsigned i : all) {
            AgentClock &a = trace.agents[i];
            a = {a.now, !whole_block, whole_block ? VectorClock() : clock, flags};
        }
        if (whole_block) {
            trace.common = clock;
            count_block(block, true);
        }
    }
    void converged(Block &block, unsigned warp) override { count_warp(block, warp); }
} checker;

const bool installed = (tracer = &checker, true);
} // namespace
} // namespace cpu

// ---- What compiled kernels call ----
#define TRACE(p, size, kind)                  \
    if (!cpu::Stacks::is_own(p) && cpu::self) \
    cpu::checker.access(cpu::running_thread(), CPU_DEVICE_CALLER, p, size, cpu::kind)
#define CALLBACK(name, size, kind)                              \
    void __tsan_##name##size(void *p) { TRACE(p, size, kind); } \
    void __tsan_unaligned_##name##size(void *p) { TRACE(p, size, kind); }
#define CALLBACKS(size)                          \
    CALLBACK(read, size, READ)                   \
    CALLBACK(write, size, WRITE)                 \
    CALLBACK(volatile_read, size, VOLATILE_READ) \
    CALLBACK(volatile_write, size, VOLATILE_WRITE)
extern "C" {
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)
void __tsan_read_range(void *p, size_t size) { TRACE(p, unsigned(size), READ); }
void __tsan_write_range(void *p, size_t size) { TRACE(p, unsigned(size), WRITE); }
void __tsan_init() {}
}
