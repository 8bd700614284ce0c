/**
 * @file races.cpp
 * The checked flavour. GCC's -fsanitize=thread makes compiled kernels call __tsan_read4() and the like,
 * which are here; libtsan itself is not linked. What they and the device tell goes to the counters and
 * to the race detector:
 *
 * Every thread has a clock. Each granule of memory keeps its latest writes and two of the reads since,
 * with the clocks of their threads. An access must be ordered after those that it conflicts with:
 * - in a block by barriers (__syncthreads, __syncwarp) and by the order of one thread's statements;
 * - by flags, in a block or between blocks: write, fence, atomic or volatile write of the flag; atomic
 *   or volatile read of it, fence, read. Barriers hand on what a thread has released or seen.
 * An asynchronous copy is a write that is unordered from its issue to the wait of its own thread.
 */
#include "block.h"
#include <memory>

namespace cpu {
namespace {
using Row = std::vector<uint32_t>; ///< by thread of a block: what it did up to this clock is known
/// Rows of blocks, by twice the block's number, plus one for what is visible in that block only.
using Rows = std::map<uint64_t, std::shared_ptr<const Row>>;
using Known = std::shared_ptr<const Rows>;

enum How { plain, copied, in_flight };
struct Mark { ///< one access; bit-fields, so that it travels in two registers
    uint64_t clock : 32, place : 32;
    uint64_t block : 32, thread : 16;
    uint64_t atomic : 8; ///< or volatile: such accesses do not race with each other
    uint64_t how : 8;
};
struct Cell {
    Mark write, atomic; ///< the latest plain write, and the latest atomic one since
    Mark read[2];
};
struct Page {
    bool ignored;
    const char *begin, *end; ///< what may be accessed in it
    unsigned shift;          ///< a cell is 4 bytes, or 1 once a smaller access was seen
    std::vector<Cell> cells;
};
constexpr size_t page_bytes = 4096;

/// What a thread knows of other blocks, what it saw by flags that it read, and what its own flags tell: a
/// fence is between.
struct Told {
    Known known, seen, released;
};
struct Clock {
    uint32_t now = 1;
    bool apart = false; ///< whether `row` says more than `everybody`
    Row row;
    Told told;
};

enum Kind { READ_EARLY, WRITE_EARLY, READ_COPY, OVER_READ, OVER_WRITE, READ_WRITE, WRITE_WRITE, BLOCKS };
const char *const texts[][2] = {
    // by Kind; and the usual mend
    {"read of what an asynchronous copy is still writing, issued at",
     "wait for the copy (__pipeline_wait_prior) before the read"},
    {"write over what an asynchronous copy is still writing, issued at",
     "wait for the copy (__pipeline_wait_prior) before the write"},
    {"read of an asynchronous copy that only its own thread has waited for, issued at",
     "a barrier after the wait and before the read"},
    {"asynchronous copy over what may still be read at",
     "a barrier between the read and the copy, or one more buffer"},
    {"asynchronous copy over what another thread wrote at", "a barrier between the write and the copy"},
    {"read and write that nothing orders, the other at", nullptr},
    {"two writes that nothing orders, the other at", nullptr},
    {"accesses of two blocks that nothing orders, the other at",
     "write, __threadfence(), atomic flag; atomic flag, __threadfence(), read; or atomics only, or two "
     "launches"},
};

struct Race {
    Kind kind;
    Mark here, there;
    const void *address;
};

Clock threads[max_threads];
Row everybody; ///< what all threads of the block know of each other
std::unordered_map<uintptr_t, Page> pages;
std::pair<uintptr_t, Page *> recent[64];
std::unordered_map<const void *, Known> flags;
std::map<std::tuple<Kind, uint32_t, uint32_t>, Race> races; ///< by kind and places
uint32_t this_block;
uintptr_t program_begin;

Page &find_page(const void *p) {
    auto [at, fresh] = pages.try_emplace(uintptr_t(p) / page_bytes);
    Page &page = at->second;
    if (fresh) {
        const Allocation *a = find_allocation(p);
        page.begin = a ? a->begin : nullptr;
        page.end = a ? a->end : reinterpret_cast<const char *>(UINTPTR_MAX);
        page.ignored = !a && !is_shared(p) && offset_in_program(p) == outside;
        page.shift = 2;
        page.cells.resize(page.ignored ? 0 : page_bytes >> 2);
    }
    return page;
}
inline Page &page_of(const void *p) {
    uintptr_t number = uintptr_t(p) / page_bytes;
    auto &slot = recent[number % 64];
    if (!slot.second || slot.first != number) slot = {number, &find_page(p)};
    return *slot.second;
}

Row joined(const Row &a, const Row &b) {
    Row r = a;
    for (size_t i = 0; i < r.size(); ++i) r[i] = std::max(r[i], b[i]);
    return r;
}

Known joined(const Known &a, const Known &b) {
    if (!a || a == b) return b;
    if (!b) return a;
    auto both = std::make_shared<Rows>(*a);
    for (const auto &[block, row] : *b) {
        auto &mine = (*both)[block];
        if (!mine) mine = row;
        else if (mine != row) mine = std::make_shared<Row>(joined(*mine, *row));
    }
    return both;
}

Told joined(const Told &a, const Told &b) {
    return {joined(a.known, b.known), joined(a.seen, b.seen), joined(a.released, b.released)};
}

inline bool ordered(const Clock &t, Mark m, bool shared) {
    if (m.block == this_block)
        return m.thread == self->rank || m.clock <= everybody[m.thread] ||
               (t.apart && m.clock <= t.row[m.thread]);
    if (shared || !t.told.known) return shared; // shared memory: of a block that is over
    auto at = t.told.known->find(uint64_t(m.block) * 2);
    return at != t.told.known->end() && m.clock <= (*at->second)[m.thread];
}

bool same_warp(Mark a, Mark b) { return a.block == b.block && a.thread / warp_size == b.thread / warp_size; }

void race(Kind kind, Mark here, Mark there, const void *p) {
    Race race = {there.block != this_block ? BLOCKS : kind, here, there, p};
    auto [at, fresh] = races.insert({{race.kind, uint32_t(here.place), uint32_t(there.place)}, race});
    if (!fresh && same_warp(at->second.here, at->second.there) && !same_warp(here, there))
        at->second = race; // says more
}

/// Lanes of a warp may write to one address by one instruction: CUDA promises that one of them wins.
bool one_instruction(Mark a, Mark b) { return a.place == b.place && a.how == plain && same_warp(a, b); }

inline void check(const Clock &t, Cell &cell, Mark now, bool write, bool shared, const char *p) {
    auto unordered = [&](Mark m) { return m.clock && !(now.atomic && m.atomic) && !ordered(t, m, shared); };
    bool copy = now.how != plain;
    for (Mark w : {cell.write, cell.atomic})
        if (w.clock && w.how == in_flight && w.block == this_block)
            race(write ? WRITE_EARLY : READ_EARLY, now, w, p);
        else if (unordered(w) && !(write && one_instruction(now, w)))
            race(copy              ? OVER_WRITE
                 : write           ? WRITE_WRITE
                 : w.how == copied ? READ_COPY
                                   : READ_WRITE,
                 now, w, p);
    if (write)
        for (Mark r : cell.read)
            if (unordered(r)) race(copy ? OVER_READ : READ_WRITE, now, r, p);
    // An access takes the place of those that it comes after, for whatever comes after it comes after them
    // too. An atomic one does not take a plain one's: other atomics need no order with it.
    if (write && !now.atomic) {
        cell = {now, {}, {}};
    } else if (write) {
        cell.atomic = now;
    } else {
        for (Mark &r : cell.read)
            if (!r.clock || ((r.atomic || !now.atomic) && ordered(t, r, shared))) {
                r = now;
                return;
            }
        // Of reads that nothing orders two are kept, rather of two warps.
        if (!now.atomic && same_warp(cell.read[0], cell.read[1])) cell.read[1] = now;
    }
}

/// Calls each(cell, address) for the granules of an access.
template<class F> [[gnu::always_inline]] inline void each_cell(const void *p, unsigned size, F each) {
    const char *at = static_cast<const char *>(p), *end = at + size;
    while (at < end) {
        Page &page = page_of(at);
        if (page.ignored) return;
        if (page.shift && (uintptr_t(p) | size) % 4) {
            std::vector<Cell> small(page_bytes);
            for (size_t i = 0; i < page_bytes; ++i) small[i] = page.cells[i >> 2];
            page.cells.swap(small);
            page.shift = 0;
        }
        size_t step = size_t(1) << page.shift;
        do each(page.cells[uintptr_t(at) % page_bytes >> page.shift], at);
        while ((at += step) < end && uintptr_t(at) % page_bytes);
    }
}

void touch(Place place, const void *p, unsigned size, bool shared, bool write, bool atomic, How how = plain) {
    const Clock &t = threads[self->rank];
    uint32_t offset = uint32_t(uintptr_t(place) - program_begin);
    Mark now = {t.now, offset, this_block, uint16_t(self->rank), atomic, uint64_t(how)};
    each_cell(p, size, [&](Cell &cell, const char *at) { check(t, cell, now, write, shared, at); });
}

/// An atomic or volatile access: a flag, if there are fences.
void use_flag(const void *p, bool reads, bool writes) {
    Told &told = threads[self->rank].told;
    auto at = flags.find(p);
    Known here = at == flags.end() ? nullptr : at->second;
    if (reads) told.seen = joined(told.seen, here);
    // A write without a fence before it tells nothing, and what others told no longer holds.
    if (writes && (told.released || !reads)) flags[p] = reads ? joined(here, told.released) : told.released;
}

void fence(bool device) {
    Clock &t = threads[self->rank];
    auto others = std::make_shared<Rows>(), rows = std::make_shared<Rows>();
    Row row = t.apart ? t.row : everybody;
    for (const auto &[block, theirs] : t.told.seen ? *t.told.seen : Rows())
        if (block / 2 == this_block) {
            t.row = row = joined(row, *theirs);
            t.apart = true;
        } else if (device && block % 2 == 0) {
            others->insert({block, theirs});
        }
    t.told.known = joined(t.told.known, others);
    if (device) *rows = *t.told.known;
    row[self->rank] = t.now++;
    (*rows)[uint64_t(this_block) * 2 + !device] = std::make_shared<Row>(row);
    t.told.released = joined(t.told.released, rows);
}

std::string line_of(Mark m) { return source_line(place_in_program(m.place)); }

void report(const Race &r) {
    const char *mend = texts[r.kind][1];
    if (!mend)
        mend = same_warp(r.here, r.there)
                   ? "__syncwarp() or __syncthreads() between them; a shuffle or mma_sync orders no memory"
                   : "__syncthreads() between them";
    fault_at(line_of(r.here), "race in " + memory_name(r.address) + ": " + texts[r.kind][0] + " " +
                                  line_of(r.there) + "; here " + where(r.here.thread, r.here.block) +
                                  ", there " + where(r.there.thread, r.there.block) +
                                  "; usual mend: " + mend);
}

struct Checker final : Tracer {
    void launch_begin() override {
        program_begin = uintptr_t(place_in_program(0));
        pages.clear();
        std::fill(std::begin(recent), std::end(recent), std::make_pair(uintptr_t(0), nullptr));
        flags.clear();
        everybody.assign(block.threads, 0);
        for (unsigned i = 0; i < block.threads; ++i) threads[i] = Clock();
    }
    void launch_end() override {
        std::vector<Place> places;
        for (const auto &[key, r] : races)
            for (const Mark &m : {r.here, r.there}) places.push_back(place_in_program(m.place));
        look_up_lines(places);
        std::set<std::pair<Kind, std::set<std::string>>> told; // a pair of lines, whichever came first
        for (const auto &[key, r] : races)
            if (told.insert({r.kind, {line_of(r.here), line_of(r.there)}}).second) report(r);
        races.clear();
    }
    void block_begin() override {
        this_block = uint32_t(block.number);
        for (auto at = flags.begin(); at != flags.end();)
            at = is_shared(at->first) ? flags.erase(at) : std::next(at);
        for (unsigned i = 0; i < block.threads; ++i) {
            threads[i].told = {};
            threads[i].apart = false;
            everybody[i] = threads[i].now++;
        }
    }
    void block_end() override { count_block(false); }
    void access(Place place, const void *p, unsigned size, Access kind) override {
        if (in_stacks(p)) return;
        bool shared = is_shared(p), writes = kind & WRITE;
        if (shared && !in_shared(p, size))
            return fault(place, "access past the %zu bytes of dynamic shared memory",
                         block.launch->dynamic_shared);
        const Page &page = page_of(p);
        if (page.ignored) return; // the host's: a kernel's arguments
        if (const char *c = static_cast<const char *>(p); c < page.begin || c + size > page.end)
            fault(place, "%s %s", writes ? "write" : "read", describe_address(p, size).c_str());
        Op op = kind == ATOMIC ? Op::atomic : writes ? Op::store : Op::load;
        count_later(op, shared, place, shared ? shared_offset(p) : uintptr_t(p), size);
        touch(place, p, size, shared, writes, kind & FLAG);
        if (kind & FLAG) use_flag(p, kind & READ, writes);
    }
    void async_issue(Place place, void *dst, const void *src, unsigned size, unsigned read) override {
        if (read) {
            count_later(Op::copy, false, place, uintptr_t(src), read, shared_offset(dst));
            touch(place, src, read, false, false, false);
        }
        count_later(Op::copy, true, place, shared_offset(dst), size);
        touch(place, dst, size, true, true, false, in_flight);
    }
    void async_land(const void *dst, unsigned size) override {
        each_cell(dst, size, [](Cell &cell, const char *) {
            Mark &w = cell.write;
            if (w.how == in_flight && w.thread == self->rank && w.block == this_block)
                w.how = copied, w.clock = threads[self->rank].now;
        });
    }
    void event(Place place, Event event, unsigned operations) override {
        if (event == Event::wait) count_later(Op::wait, false, place, 0, 0);
        if (event == Event::multiply) count_later(Op::multiply, false, place, operations, 0);
        if (event == Event::block_fence || event == Event::device_fence) fence(event == Event::device_fence);
    }
    void synchronised(const std::vector<unsigned> &ranks, bool whole_block) override {
        std::vector<unsigned> all = ranks;
        if (whole_block) { // with those that have exited
            all.resize(block.threads);
            std::iota(all.begin(), all.end(), 0u);
        }
        Told told;
        Row row = everybody;
        for (unsigned i : all) {
            told = joined(told, threads[i].told);
            if (threads[i].apart && !whole_block) row = joined(row, threads[i].row);
        }
        for (unsigned i : all) row[i] = threads[i].now++;
        for (unsigned i : all) {
            threads[i].told = told;
            threads[i].apart = !whole_block;
            if (!whole_block) threads[i].row = row;
        }
        if (whole_block) {
            everybody = row;
            count_block(true);
        }
    }
    void converged(unsigned warp) override { count_warp(warp); }
    void counters(cpu_counters &sums, FILE *lines) override { print_counters(sums, lines); }
    void forget_counters() override { cpu::forget_counters(); }
} checker;

const bool installed = (tracer = &checker, true);
} // namespace
} // namespace cpu

// ---- What compiled kernels call ----
#define TRACE(p, size, kind) \
    if (cpu::self) cpu::checker.access(CPU_DEVICE_CALLER, p, size, cpu::kind)
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
