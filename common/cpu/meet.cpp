/**
 * @file meet.cpp
 * Where threads meet: block barriers, and the warp's barriers, votes, shuffles and reductions.
 */
#include "include/cuda_runtime.h"
#include "block.h"

namespace cpu {
// ---- Block barriers ----
static void release_barrier() {
    std::vector<unsigned> ranks;
    ranks.swap(block.at_barrier);
    tracer->synchronised(ranks.data(), unsigned(ranks.size()), true);
    for (unsigned rank : ranks)
        block.thread[rank].met = unsigned(ranks.size()), block.thread[rank].votes = block.votes;
    block.votes = 0;
    make_ready(ranks.data(), unsigned(ranks.size()));
}

void release_barrier_if_complete() {
    if (!block.at_barrier.empty() && block.at_barrier.size() == block.alive) release_barrier();
}

/// Gives the running thread, whose `met` and `votes` tell who came.
static const Thread &block_barrier(Place place, const char *what, bool vote = false) {
    preempt();
    if (block.at_barrier.empty()) block.barrier_place = place;
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
    return *self;
}

// ---- Warp meetings ----
/// Lets the lanes of a complete meeting go on. The running thread, if it is one of them, just does.
static void finish_meeting(unsigned warp, size_t which) {
    WarpMeeting m = block.meetings[warp][which];
    block.meetings[warp].erase(block.meetings[warp].begin() + long(which));
    if (m.work) m.work(m.argument, m.here);
    unsigned all[warp_size], others[warp_size], n = 0, waiting = 0;
    for (unsigned l = 0; l < warp_size; ++l)
        if (m.here >> l & 1) {
            unsigned rank = all[n++] = warp * warp_size + l;
            if (block.thread[rank].state == State::waiting) others[waiting++] = rank;
        }
    if (m.orders_memory) tracer->synchronised(all, n, false);
    if (m.here == block.live[warp]) tracer->converged(warp);
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
    while (i < meetings.size() && (meetings[i].mask != mask || meetings[i].here & bit)) ++i;
    if (i == meetings.size()) meetings.push_back({what, place, mask, 0, work, orders_memory, {}});
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

/// What every lane gave, for each lane to make its own result of.
struct Exchange {
    uint64_t mine, all[warp_size];
    unsigned here;

    Exchange(Place place, const char *what, unsigned mask, uint64_t value) : mine(value), all(), here(0) {
        warp_meet(place, what, mask, give_to_all, this);
    }
    static void give_to_all(void *const *lanes, unsigned mask) {
        for (unsigned to = 0; to < warp_size; ++to)
            for (unsigned from = 0; mask >> to & 1 && from < warp_size; ++from) {
                auto *lane = static_cast<Exchange *>(lanes[to]);
                lane->here = mask;
                if (mask >> from & 1) lane->all[from] = static_cast<Exchange *>(lanes[from])->mine;
            }
    }
};

uint64_t shuffle(const char *what, Shuffle kind, unsigned mask, uint64_t value, int operand, int width) {
    Place place = CPU_DEVICE_CALLER;
    if (width < 1 || width > 32 || width & (width - 1)) {
        fault(place, "%s with a width of %d: not a power of two up to 32", what, width);
        width = 32;
    }
    const Exchange x(place, what, mask, value);
    // Below `end` it may be any lane; __shfl_xor_sync may also reach into earlier parts of a warp.
    int me = int(lane()), first = me / width * width, end = first + width, from = me;
    if (kind == Shuffle::index)
        from = first + (operand & (width - 1));
    else if (kind == Shuffle::up && me - operand >= first)
        from = me - operand;
    else if (kind == Shuffle::down && me + operand < end)
        from = me + operand;
    else if (kind == Shuffle::exclusive_or && (me ^ operand) < end)
        from = me ^ operand;
    return from >= 0 && x.here >> from & 1 ? x.all[from] : ~uint64_t(0); // undefined: make it loud
}

static unsigned ballot(Place place, const char *what, unsigned mask, bool yes) {
    const Exchange x(place, what, mask, yes);
    unsigned ballot = 0;
    for (unsigned l = 0; l < warp_size; ++l) ballot |= unsigned(x.here >> l & x.all[l] & 1) << l;
    return ballot;
}
} // namespace cpu

using namespace cpu;

void __syncthreads() { block_barrier(CPU_DEVICE_CALLER, "__syncthreads"); }
int __syncthreads_count(int yes) {
    return int(block_barrier(CPU_DEVICE_CALLER, "__syncthreads_count", yes).votes);
}
int __syncthreads_and(int yes) {
    const Thread &t = block_barrier(CPU_DEVICE_CALLER, "__syncthreads_and", yes);
    return t.votes == t.met;
}
int __syncthreads_or(int yes) { return block_barrier(CPU_DEVICE_CALLER, "__syncthreads_or", yes).votes != 0; }
void __syncwarp(unsigned mask) {
    Place place = CPU_DEVICE_CALLER;
    preempt();
    warp_meet(place, "__syncwarp", mask, nullptr, nullptr, true);
}

unsigned __ballot_sync(unsigned mask, int yes) {
    return ballot(CPU_DEVICE_CALLER, "__ballot_sync", mask, yes);
}
int __any_sync(unsigned mask, int yes) { return ballot(CPU_DEVICE_CALLER, "__any_sync", mask, yes) != 0; }
int __all_sync(unsigned mask, int yes) { return ballot(CPU_DEVICE_CALLER, "__all_sync", mask, !yes) == 0; }
unsigned __activemask() { return 1u << lane(); }
