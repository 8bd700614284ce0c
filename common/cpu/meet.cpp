/**
 * @file meet.cpp
 * Where threads meet: block barriers, and the warp's barriers, votes, shuffles and reductions.
 */
#include "include/cuda_runtime.h"
#include "block.h"

namespace cpu {

// ---- Block barriers -----------------------------------------------------------------------------

static void release_barrier() {
    std::vector<unsigned> ranks;
    ranks.swap(block.at_barrier);
    if (tracer)
        tracer->synchronised(ranks.data(), unsigned(ranks.size()), true);
    for (unsigned rank : ranks)
        block.thread[rank].met = {unsigned(ranks.size()), block.votes};
    block.votes = 0;
    make_ready(ranks.data(), unsigned(ranks.size()));
}

void release_barrier_if_complete() {
    if (!block.at_barrier.empty() && block.at_barrier.size() == block.alive)
        release_barrier();
}

Met block_barrier(Place place, const char *what, bool vote) {
    preempt();
    if (block.at_barrier.empty())
        block.barrier_place = place;
    // Compilers duplicate calls: other addresses of the same line are the same barrier.
    if (place != block.barrier_place && source_line(place) != source_line(block.barrier_place))
        fault(place, "divergent barrier: others of the block wait at %s",
              source_line(block.barrier_place).c_str());
    block.at_barrier.push_back(self->rank);
    block.votes += vote;
    if (block.at_barrier.size() < block.alive) {
        wait_here(what, place);
    } else {
        release_barrier();
        leave(); // any of them may go on first
    }
    return self->met;
}

// ---- Warp meetings ------------------------------------------------------------------------------

/// Lets the lanes of a complete meeting go on. The running thread, if it is one of them, just does.
static void finish_meeting(unsigned warp, size_t which) {
    WarpMeeting m = block.meetings[warp][which];
    block.meetings[warp].erase(block.meetings[warp].begin() + long(which));
    if (m.work)
        m.work(m.argument, m.here);
    unsigned all[warp_size], others[warp_size], n = 0, waiting = 0;
    for (unsigned l = 0; l < warp_size; ++l)
        if (m.here >> l & 1) {
            unsigned rank = all[n++] = warp * warp_size + l;
            if (block.thread[rank].state == State::waiting)
                others[waiting++] = rank;
        }
    if (tracer && m.orders_memory)
        tracer->synchronised(all, n, false);
    if (tracer && m.here == block.live[warp])
        tracer->converged(warp);
    make_ready(others, waiting);
}

static bool is_complete(unsigned warp, const WarpMeeting &m) {
    return m.here == (m.mask & block.live[warp]); // exited lanes are not waited for
}

void release_meetings_if_complete(unsigned warp) {
    for (size_t i = 0; i < block.meetings[warp].size();)
        if (is_complete(warp, block.meetings[warp][i]))
            finish_meeting(warp, i);
        else
            ++i;
}

void warp_meet(Place place, const char *what, unsigned mask, WarpWork work, void *argument,
               bool orders_memory) {
    unsigned warp = self->rank / warp_size, bit = 1u << lane();
    auto &meetings = block.meetings[warp];
    if (!(mask & bit)) {
        fault(place, "%s whose mask %08x leaves out the calling lane %u", what, mask, lane());
        return;
    }
    size_t i = 0;
    while (i < meetings.size() && (meetings[i].mask != mask || meetings[i].here & bit))
        ++i;
    if (i == meetings.size())
        meetings.push_back({what, place, mask, 0, work, orders_memory, {}});
    WarpMeeting &m = meetings[i];
    if (m.what != what)
        fault(place, "%s while other lanes of the warp wait at %s in %s", what, m.what,
              source_line(m.place).c_str());
    m.here |= bit;
    m.argument[lane()] = argument;
    if (is_complete(warp, m))
        finish_meeting(warp, i);
    else
        wait_here(what, place);
}

namespace {

struct ShuffleLane {
    Shuffle kind;
    int operand, width;
    uint64_t in, out;

    /// The lane that this one reads, which may be itself.
    int source(int lane) const {
        int first = lane / width * width, at = lane - first, from = at;
        switch (kind) {
        case Shuffle::index:
            return first + (operand & (width - 1));
        case Shuffle::up:
            from = at - operand;
            break;
        case Shuffle::down:
            from = at + operand;
            break;
        case Shuffle::exclusive_or:
            // May reach into an earlier part of the warp, not into a later one.
            from = (lane ^ operand) < first + width ? (lane ^ operand) - first : at;
            return first + from;
        }
        return first + (from < 0 || from >= width ? at : from);
    }
};

void shuffle_lanes(void *const *lanes, unsigned mask) {
    for (unsigned l = 0; l < warp_size; ++l) {
        if (!(mask >> l & 1))
            continue;
        auto *to = static_cast<ShuffleLane *>(lanes[l]);
        int from = to->source(int(l));
        // Undefined if that lane is not here: make it loud.
        to->out = mask >> from & 1 ? static_cast<ShuffleLane *>(lanes[from])->in : ~uint64_t(0);
    }
}

struct VoteLane {
    bool yes;
    unsigned ballot;
};

void count_votes(void *const *lanes, unsigned mask) {
    unsigned ballot = 0;
    for (unsigned l = 0; l < warp_size; ++l)
        if (mask >> l & 1 && static_cast<VoteLane *>(lanes[l])->yes)
            ballot |= 1u << l;
    for (unsigned l = 0; l < warp_size; ++l)
        if (mask >> l & 1)
            static_cast<VoteLane *>(lanes[l])->ballot = ballot;
}

struct ReduceLane {
    Reduce kind;
    int64_t value;
};

void reduce_lanes(void *const *lanes, unsigned mask) {
    auto lane = [&](unsigned l) { return static_cast<ReduceLane *>(lanes[l]); };
    unsigned first = unsigned(__builtin_ctz(mask));
    int64_t r = lane(first)->value;
    for (unsigned l = first + 1; l < warp_size; ++l) {
        if (!(mask >> l & 1))
            continue;
        int64_t v = lane(l)->value;
        switch (lane(first)->kind) {
        case Reduce::add:
            r += v;
            break;
        case Reduce::min:
            r = min(r, v);
            break;
        case Reduce::max:
            r = max(r, v);
            break;
        case Reduce::bit_and:
            r &= v;
            break;
        case Reduce::bit_or:
            r |= v;
            break;
        case Reduce::bit_xor:
            r ^= v;
            break;
        }
    }
    for (unsigned l = first; l < warp_size; ++l)
        if (mask >> l & 1)
            lane(l)->value = r;
}

unsigned ballot(Place place, const char *what, unsigned mask, bool yes) {
    VoteLane v{yes, 0};
    warp_meet(place, what, mask, count_votes, &v);
    return v.ballot;
}

} // namespace

uint64_t shuffle(const char *what, Shuffle kind, unsigned mask, uint64_t value, int operand,
                 int width) {
    Place place = CPU_DEVICE_CALLER;
    if (width < 1 || width > 32 || width & (width - 1))
        fault(place, "%s with a width of %d: not a power of two up to 32", what, width);
    ShuffleLane s{kind, operand, width, value, ~uint64_t(0)};
    warp_meet(place, what, mask, shuffle_lanes, &s);
    return s.out;
}

int64_t reduce(const char *what, Reduce kind, unsigned mask, int64_t value) {
    ReduceLane r{kind, value};
    warp_meet(CPU_DEVICE_CALLER, what, mask, reduce_lanes, &r);
    return r.value;
}

} // namespace cpu

using namespace cpu;

void __syncthreads() {
    block_barrier(CPU_DEVICE_CALLER, "__syncthreads");
}
int __syncthreads_count(int predicate) {
    return int(block_barrier(CPU_DEVICE_CALLER, "__syncthreads_count", predicate != 0).votes);
}
int __syncthreads_and(int predicate) {
    Met met = block_barrier(CPU_DEVICE_CALLER, "__syncthreads_and", predicate != 0);
    return met.votes == met.threads;
}
int __syncthreads_or(int predicate) {
    return block_barrier(CPU_DEVICE_CALLER, "__syncthreads_or", predicate != 0).votes != 0;
}
void __syncwarp(unsigned mask) {
    Place place = CPU_DEVICE_CALLER;
    preempt();
    warp_meet(place, "__syncwarp", mask, nullptr, nullptr, true);
}

unsigned __ballot_sync(unsigned mask, int predicate) {
    return ballot(CPU_DEVICE_CALLER, "__ballot_sync", mask, predicate != 0);
}
int __any_sync(unsigned mask, int predicate) {
    return ballot(CPU_DEVICE_CALLER, "__any_sync", mask, predicate != 0) != 0;
}
int __all_sync(unsigned mask, int predicate) {
    return ballot(CPU_DEVICE_CALLER, "__all_sync", mask, predicate == 0) == 0;
}
unsigned __activemask() {
    return 1u << lane();
}
