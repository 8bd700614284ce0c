/** @file memory_barrier.cpp Barriers in shared memory: mbarrier, and what cuda::barrier makes of it. A phase ends
 * with its last arrival; if it waits for copies too, as late as can be: when somebody waits for it. */
#include "core/tracer.h"
#include "ops/memory_barrier.h"
#include "include/cuda_pipeline.h"

namespace cpu {
static Agent agent_of(Block &block, unsigned rank) { return {block, rank, Proxy::generic}; }

static void complete(const void *p, MemoryBarrier &b) {
    Block &block = *self->block;
    for (auto [rank, upto] : b.copies)
        if (Thread &t = block.thread[rank]; upto > t.landed) land_copies(t, size_t(upto - t.landed), p);
    tracer->event(running_thread(), nullptr, Event::complete, uintptr_t(p));
    for (unsigned rank : b.waiting)
        tracer->event(agent_of(block, rank), block.thread[rank].wait_place, Event::pass, uintptr_t(p));
    make_ready(block, b.waiting);
    b = {b.expected, b.expected, b.phase + 1, {}, {}, {}, std::move(b.waited)};
}

MemoryBarrier *find_barrier(Place place, const char *what, const void *p) {
    auto at = self->block->memory_barriers.find(p);
    if (at != self->block->memory_barriers.end()) return &at->second;
    fault(place, FaultKind::barrier_uninitialised, what);
    tracer->event(running_thread(), place, Event::pass, uintptr_t(p)); // whoever will initialise it races
    return nullptr;
}

void initialise(Place place, const void *p, uint64_t expected) {
    if (expected == 0 || expected >= 1 << 20) return fault(place, FaultKind::barrier_count, expected);
    tracer->event(running_thread(), place, Event::initialise, uintptr_t(p));
    self->block->memory_barriers[p] = {unsigned(expected), unsigned(expected)};
}

void track_copies(Place place, const void *p, MemoryBarrier &b) {
    if (b.pending == 0) complete(p, b); // nobody has waited for it
    self->tracked = self->landed + self->copies.size();
    if (!self->copies.empty()) b.copies.push_back({self->rank, self->tracked});
    ++self->batch;
    tracer->event(running_thread(), place, Event::commit);
}

uint64_t arrive(Place place, const void *p, MemoryBarrier &b, uint64_t count, bool drop) {
    if (b.pending == 0) complete(p, b);
    if (count == 0 || count > b.pending) {
        fault(place, FaultKind::barrier_arrivals, count, b.pending);
        count = 1;
    }
    const uint64_t phase = b.phase;
    b.arrived.push_back(self->rank);
    b.expected -= drop;
    b.pending -= unsigned(count);
    tracer->event(running_thread(), place, Event::arrive, uintptr_t(p));
    if (b.pending == 0 && (b.copies.empty() || !b.waiting.empty())) complete(p, b);
    return phase;
}

static void log(Place place, Event kind) {
    tracer->event(running_thread(), place, kind, kind == Event::wait ? batches_in_flight() : self->batch);
}

static bool has_ended(Place place, const void *p, MemoryBarrier &b, uint64_t ended, Event kind) {
    if (b.pending == 0 && b.phase + 1 == ended) complete(p, b);
    if (b.phase < ended) return false;
    tracer->event(running_thread(), place, Event::pass, uintptr_t(p));
    log(place, kind);
    return true;
}

void wait_for_phase(Place place, const char *what, const void *p, MemoryBarrier &b, uint64_t ended,
                    Event kind) {
    if (has_ended(place, p, b, ended, kind)) return;
    do {
        b.waiting.push_back(self->rank);
        self->waits_at = what, self->wait_place = place, self->waits_for = p;
        leave();
        self->waits_for = nullptr;
    } while (b.phase < ended);
    log(place, kind);
}

/// For loops: where many of them do not help, it waits.
bool test_phase(Place place, const char *what, const void *p, MemoryBarrier &b, uint64_t ended) {
    if (++self->spins % 1024 == 0) wait_for_phase(place, what, p, b, ended, Event::wait);
    else if (!has_ended(place, p, b, ended, Event::wait)) return let_others_run(), false;
    return true;
}

/// A token is a phase and the barrier's place in shared memory.
static uint64_t token_of(const void *p, uint64_t phase) {
    return (self->block->shared.offset(p) + 1) << 40 | phase;
}
static uint64_t phase_in(uint64_t token) { return token & ((uint64_t(1) << 40) - 1); }

static bool is_right(Place place, const void *p, MemoryBarrier &b, uint64_t token) {
    const uint64_t phase = phase_in(token);
    if (token == token_of(p, phase) && phase + 1 >= b.phase) return true;
    fault(place, FaultKind::barrier_token,
          token == token_of(p, phase) ? "phase " + part(phase) : part("no phase of this barrier"), b.phase);
    return false;
}

uint64_t barrier_arrive(const void *p, uint64_t count, bool drop) {
    Place place = CPU_DEVICE_CALLER;
    preempt();
    MemoryBarrier *b = find_barrier(place, "arrival", p);
    return b ? token_of(p, arrive(place, p, *b, count, drop)) : 0;
}

void barrier_wait(const void *p, uint64_t token) {
    Place place = CPU_DEVICE_CALLER;
    preempt();
    MemoryBarrier *b = find_barrier(place, "wait", p);
    const uint64_t phase = phase_in(token);
    if (!b || !is_right(place, p, *b, token)) return;
    uint64_t &waited = b->waited[self->rank];
    if (waited > phase) return fault(place, FaultKind::barrier_waited_twice, phase);
    waited = phase + 1;
    wait_for_phase(place, "wait()", p, *b, phase + 1, Event::wait);
}

/// How many phases have ended when one of this parity has, the latest that may be: phase -1 of a new barrier has.
static uint64_t ended_by(const MemoryBarrier &b, bool parity) { return b.phase + (b.phase % 2 == parity); }

void barrier_wait_parity(const void *p, bool parity) {
    Place place = CPU_DEVICE_CALLER;
    preempt();
    if (MemoryBarrier *b = find_barrier(place, "wait", p))
        wait_for_phase(place, "wait_parity()", p, *b, ended_by(*b, parity), Event::wait);
}

bool barrier_test(const void *p, uint64_t token) {
    Place place = CPU_DEVICE_CALLER;
    preempt();
    MemoryBarrier *b = find_barrier(place, "wait", p);
    return !b || !is_right(place, p, *b, token) ||
           test_phase(place, "try_wait()", p, *b, phase_in(token) + 1);
}

bool barrier_test_parity(const void *p, bool parity) {
    Place place = CPU_DEVICE_CALLER;
    preempt();
    MemoryBarrier *b = find_barrier(place, "wait", p);
    return !b || test_phase(place, "try_wait_parity()", p, *b, ended_by(*b, parity));
}

void barrier_initialise(const void *p, uint64_t expected) { initialise(CPU_DEVICE_CALLER, p, expected); }
void barrier_invalidate(const void *p) { self->block->memory_barriers.erase(p); }

/// Such as "0 to 30 and 32".
static std::string in_words(std::vector<unsigned> ranks) {
    std::string text;
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (size_t i = 0, from = 0; i < ranks.size(); from = ++i) {
        while (i + 1 < ranks.size() && ranks[i + 1] == ranks[i] + 1) ++i;
        text += (text.empty() ? "" : " and ") + part(ranks[from]) + (i > from ? " to " + part(ranks[i]) : "");
    }
    return text.empty() ? "nobody" : text;
}

static void report_stuck(const Block &block, const void *p, const MemoryBarrier &b) {
    const Thread &first = block.thread[*std::min_element(b.waiting.begin(), b.waiting.end())];
    std::vector<unsigned> others;
    for (const Thread &t : block.thread)
        if (std::find(b.arrived.begin(), b.arrived.end(), t.rank) == b.arrived.end())
            others.push_back(t.rank);
    const bool acquire = strcmp(first.waits_at, "producer_acquire") == 0;
    const bool stage = acquire || strncmp(first.waits_at, "consumer_wait", 13) == 0;
    Fault f = {acquire ? FaultKind::deadlock_acquire
               : stage ? FaultKind::deadlock_stage
                       : FaultKind::deadlock_phase,
               source_line(first.wait_place),
               {part(b.waiting.size()), part(block.threads), first.waits_at, part(b.phase), part(b.expected),
                part(b.expected - b.pending), in_words(b.arrived), in_words(others),
                part(block.threads - block.alive)}};
    f.memory = memory_name(block.shared, p);
    f.by = position(block.grid, first.rank, block.number);
    report_once(f);
}

void check_barriers(const Block &block) {
    for (const auto &[p, b] : block.memory_barriers)
        if (!b.waiting.empty()) report_stuck(block, p, b);
    for (const Thread &t : block.thread) {
        if (!block.alive && !t.copies.empty()) {
            Fault f = {FaultKind::copy_never_waited_for, source_line(t.copies[0].place)};
            f.by = position(block.grid, t.rank, block.number);
            report_once(f);
        }
        for (const auto &[size, calls] : t.collective) {
            const unsigned first = t.rank / size * size, end = std::min(first + size, block.threads);
            unsigned with = 0; // of its group
            for (unsigned r = first; r < end; ++r) {
                auto at = block.thread[r].collective.find(size);
                with += at != block.thread[r].collective.end() && at->second.first >= calls.first;
            }
            if (with == end - first) continue;
            Fault f = {
                FaultKind::copy_collective, source_line(calls.second), {part(with), part(end - first)}};
            f.by = position(block.grid, t.rank, block.number);
            report_once(f);
        }
    }
}
} // namespace cpu

using namespace cpu;

void __pipeline_arrive_on(__mbarrier_t *p) {
    Place place = CPU_DEVICE_CALLER;
    if (MemoryBarrier *b = find_barrier(place, "__pipeline_arrive_on", p)) track_copies(place, p, *b);
    preempt();
}
