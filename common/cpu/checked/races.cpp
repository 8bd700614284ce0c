/** @file races.cpp The race detector. */
#include "checked/races.h"
#include <numeric>
#include <set>
#include "core/program.h"

namespace cpu::races {
ShadowPage &find_page(const Block &block, const void *p) {
    auto [at, fresh] = block.grid.trace->pages.try_emplace(uintptr_t(p) / page_bytes);
    ShadowPage &page = at->second;
    if (fresh) {
        const Allocation *a = find_allocation(block.grid.device, p);
        page.begin = a ? a->begin : nullptr;
        page.end = a ? a->end : reinterpret_cast<const char *>(UINTPTR_MAX);
        page.ignored = !a && !block.shared.has(p) && offset_in_program(p) == outside;
        page.shift = 2;
        page.cells.resize(page.ignored ? 0 : page_bytes >> 2);
    }
    return page;
}

static VectorClock joined(const VectorClock &a, const VectorClock &b) {
    VectorClock r = a;
    for (size_t i = 0; i < r.size(); ++i) r[i] = std::max(r[i], b[i]);
    return r;
}
static Known joined(const Known &a, const Known &b) {
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

static bool same_warp(Epoch a, Epoch b) {
    return a.block == b.block && a.agent / warp_size == b.agent / warp_size;
}

namespace {
/// One access on its way through shadow memory.
struct Check {
    Block &block;
    const AgentClock &clock;
    const uint32_t *common;
    Epoch now;
    bool write, shared;

    bool ordered(Epoch before) const {
        if (before.block == now.block)
            return before.agent == now.agent || before.clock <= common[before.agent] ||
                   (clock.has_own && before.clock <= clock.own[before.agent]);
        if (shared || !clock.acquired) return shared; // shared memory: of a block that is over
        auto at = clock.acquired->find(uint64_t(before.block) * 2);
        return at != clock.acquired->end() && before.clock <= (*at->second)[before.agent];
    }
    bool unordered(Epoch before) const {
        return before.clock && !(now.atomic && before.atomic) && !ordered(before);
    }
    /// Lanes of a warp may write to one address by one instruction: CUDA promises that one of them wins.
    bool one_instruction(Epoch before) const {
        return write && before.place == now.place && before.kind == plain && same_warp(now, before);
    }

    void race(RaceKind kind, Epoch there, const void *p) const {
        Race race = {there.block != now.block ? BLOCKS : kind, now, there, p, &block};
        auto [at, fresh] =
            block.grid.trace->races.insert({{race.kind, uint32_t(now.place), uint32_t(there.place)}, race});
        if (!fresh && same_warp(at->second.here, at->second.there) && !same_warp(now, there))
            at->second = race; // says more
    }
    void after_write(Epoch w, const void *p) const {
        if (w.clock == 0) return;
        if (w.kind == in_flight && w.block == now.block) race(write ? WRITE_EARLY : READ_EARLY, w, p);
        else if (unordered(w) && !one_instruction(w))
            race(now.kind != plain  ? OVER_WRITE
                 : write            ? WRITE_WRITE
                 : w.kind == copied ? READ_COPY
                                    : READ_WRITE,
                 w, p);
    }
    /// An access takes the place of those that it comes after, for whatever comes after it comes after them
    /// too. An atomic one does not take a plain one's: other atomics need no order with it.
    void operator()(ShadowCell &cell, const void *p) const {
        after_write(cell.write, p);
        after_write(cell.atomic, p);
        if (!write) return remember_read(cell);
        for (Epoch r : cell.read)
            if (unordered(r)) race(now.kind != plain ? OVER_READ : READ_WRITE, r, p);
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
} // namespace

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

void access(Agent agent, Place place, const void *p, unsigned size, bool write, bool atomic, EpochKind kind) {
    static const uintptr_t program_begin = uintptr_t(place_in_program(0));
    Block &block = agent.block;
    const BlockTrace &trace = *block.trace;
    const AgentClock &clock = trace.agents[agent.number];
    const Epoch now = {clock.now,
                       uint32_t(uintptr_t(place) - program_begin),
                       uint32_t(block.number),
                       uint16_t(agent.number),
                       atomic,
                       uint64_t(kind)};
    const Check check = {block, clock, trace.common.data(), now, write, block.shared.has(p)};
    each_cell(block, p, size, check);
}

void land(Agent agent, const void *dst, unsigned size) {
    const uint32_t now = agent.block.trace->agents[agent.number].now;
    each_cell(agent.block, dst, size, [&](ShadowCell &cell, const char *) {
        Epoch &w = cell.write;
        if (w.kind == in_flight && w.agent == agent.number && w.block == uint32_t(agent.block.number))
            w.kind = copied, w.clock = now;
    });
}

void use_flag(Agent agent, const void *p, bool reads, bool writes) {
    AgentClock &clock = agent.block.trace->agents[agent.number];
    auto &flags = agent.block.grid.trace->flags;
    auto at = flags.find(p);
    const Known here = at == flags.end() ? nullptr : at->second;
    if (reads) clock.seen = joined(clock.seen, here);
    // A write without a fence before it tells nothing, and what others told no longer holds.
    if (writes && (clock.released || !reads))
        flags[p] = reads ? joined(here, clock.released) : clock.released;
}

void fence(Agent agent, bool device) {
    BlockTrace &trace = *agent.block.trace;
    AgentClock &clock = trace.agents[agent.number];
    BlockClocks others, told;
    const uint64_t number = uint32_t(agent.block.number);
    VectorClock known = clock.has_own ? clock.own : trace.common;
    for (const auto &[block, theirs] : clock.seen ? *clock.seen : BlockClocks())
        if (block / 2 == number) {
            clock.own = known = joined(known, *theirs);
            clock.has_own = true;
        } else if (device && block % 2 == 0) {
            others.insert({block, theirs});
        }
    clock.acquired = joined(clock.acquired, std::make_shared<BlockClocks>(others));
    if (device) told = *clock.acquired;
    known[agent.number] = clock.now++;
    told[number * 2 + !device] = std::make_shared<VectorClock>(known);
    clock.released = joined(clock.released, std::make_shared<BlockClocks>(told));
}

void synchronise(Block &block, const std::vector<unsigned> &agents, bool whole_block) {
    BlockTrace &trace = *block.trace;
    std::vector<unsigned> all = agents;
    if (whole_block) { // with those that have exited
        all.resize(trace.agents.size());
        std::iota(all.begin(), all.end(), 0u);
    }
    Known acquired, seen, released;
    VectorClock clock = trace.common;
    for (unsigned i : all) {
        const AgentClock &a = trace.agents[i];
        acquired = joined(acquired, a.acquired);
        seen = joined(seen, a.seen);
        released = joined(released, a.released);
        if (a.has_own && !whole_block) clock = joined(clock, a.own);
    }
    for (unsigned i : all) clock[i] = trace.agents[i].now++;
    for (unsigned i : all) {
        AgentClock &a = trace.agents[i];
        a.acquired = acquired, a.seen = seen, a.released = released;
        a.has_own = !whole_block;
        if (!whole_block) a.own = clock;
    }
    if (whole_block) trace.common = clock;
}

void begin_block(Block &block) {
    BlockTrace &trace = *block.trace;
    auto &flags = block.grid.trace->flags;
    for (auto at = flags.begin(); at != flags.end();)
        at = block.shared.has(at->first) ? flags.erase(at) : std::next(at);
    for (size_t i = 0; i < trace.agents.size(); ++i) {
        AgentClock &a = trace.agents[i];
        a.acquired = a.seen = a.released = nullptr;
        a.has_own = false;
        trace.common[i] = a.now++;
    }
}

static std::string line_of(Epoch e) { return source_line(place_in_program(e.place)); }

static void report(const Grid &grid, const Race &r) {
    const bool in_warp = same_warp(r.here, r.there);
    static const FaultKind kinds[] = {FaultKind::race_read_in_flight,  FaultKind::race_write_in_flight,
                                      FaultKind::race_read_of_copy,    FaultKind::race_copy_over_read,
                                      FaultKind::race_copy_over_write, FaultKind::race_read_write,
                                      FaultKind::race_write_write,     FaultKind::race_blocks};
    FaultKind kind = kinds[r.kind];
    if (r.kind == READ_WRITE && in_warp) kind = FaultKind::race_read_write_in_warp;
    if (r.kind == WRITE_WRITE && in_warp) kind = FaultKind::race_write_write_in_warp;
    cpu::report({kind,
                 line_of(r.here),
                 {},
                 position(grid, r.here.agent, r.here.block),
                 line_of(r.there),
                 memory_name(r.block->shared, r.address),
                 position(grid, r.there.agent, r.there.block),
                 false});
}

void report(Grid &grid) {
    auto &races = grid.trace->races;
    std::vector<Place> places;
    for (const auto &[key, r] : races)
        for (const Epoch &e : {r.here, r.there}) places.push_back(place_in_program(e.place));
    look_up_lines(places);
    std::set<std::pair<RaceKind, std::set<std::string>>> told; // a pair of lines, whichever came first
    for (const auto &[key, r] : races)
        if (told.insert({r.kind, {line_of(r.here), line_of(r.there)}}).second) report(grid, r);
    races.clear();
}
} // namespace cpu::races
