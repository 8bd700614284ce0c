/**
 * @file meet.cpp
 * Where threads meet: block barriers, and the warp's barriers, votes and shuffles.
 */
#include "include/cuda_runtime.h"
#include "block.h"

namespace cpu {
// ---- Block barriers ----
static void release_barrier_if_complete() {
    if (block.at_barrier.empty() || block.at_barrier.size() < block.alive) return;
    std::vector<unsigned> ranks;
    ranks.swap(block.at_barrier);
    tracer->synchronised(ranks, true);
    block.voted = block.votes, block.votes = 0;
    make_ready(ranks);
}

/// Gives how many threads voted yes.
static unsigned block_barrier(Place place, const char *what, bool vote = false) {
    preempt();
    if (block.at_barrier.empty()) block.barrier_place = place;
    // Compilers duplicate calls: one line is one barrier. Without the binutils no line is known.
    if (place != block.barrier_place && has_line(place) &&
        source_line(place) != source_line(block.barrier_place))
        fault(place, "divergent barrier: others of the block wait at %s",
              source_line(block.barrier_place).c_str());
    block.at_barrier.push_back(self->rank);
    block.votes += vote;
    self->waits_at = what, self->wait_place = place;
    release_barrier_if_complete();
    leave(); // even if all are here: any of them may go on first
    return block.voted;
}

// ---- Warp meetings ----
/// Lets its lanes go on if all of them are here. The running thread, if it is one of them, just does.
static bool finish_if_complete(unsigned warp, size_t which) {
    auto &meetings = block.meetings[warp];
    if (meetings[which].here != (meetings[which].mask & block.live[warp])) return false;
    const Meeting m = meetings[which];
    meetings.erase(meetings.begin() + long(which));
    if (m.work) m.work(m);
    static std::vector<unsigned> ranks;
    ranks.clear();
    for (unsigned l = 0; l < warp_size; ++l)
        if (m.here >> l & 1) ranks.push_back(warp * warp_size + l);
    if (m.orders_memory) tracer->synchronised(ranks, false);
    if (m.here == block.live[warp]) tracer->converged(warp);
    ranks.erase(std::remove(ranks.begin(), ranks.end(), self->rank), ranks.end());
    make_ready(ranks);
    return true;
}

void exit_thread() {
    unsigned warp = self->rank / warp_size;
    --block.alive;
    block.live[warp] &= ~(1u << lane());
    release_barrier_if_complete(); // barriers do not wait for threads that have exited
    for (size_t i = 0; i < block.meetings[warp].size();)
        if (!finish_if_complete(warp, i)) ++i;
}

void warp_meet(Place place, const char *what, unsigned mask, Meeting::Work work, void *mine,
               bool orders_memory) {
    unsigned warp = self->rank / warp_size, bit = 1u << lane();
    auto &meetings = block.meetings[warp];
    if (!(mask & bit))
        return fault(place, "%s whose mask %08x leaves out the calling lane %u", what, mask, lane());
    size_t i = 0;
    while (i < meetings.size() && (meetings[i].mask != mask || meetings[i].here & bit)) ++i;
    if (i == meetings.size()) meetings.push_back({what, place, mask, 0, work, orders_memory, {}});
    Meeting &m = meetings[i];
    if (m.what != what) {
        fault(place, "%s while other lanes of the warp wait at %s in %s", what, m.what,
              source_line(m.place).c_str());
        m.work = nullptr;
    }
    m.here |= bit;
    m.lane[lane()] = mine;
    if (finish_if_complete(warp, i)) return;
    self->waits_at = what, self->wait_place = place;
    leave();
}

/// What every lane gave, for each lane to make its own result of.
struct Exchange {
    uint64_t mine, all[warp_size];
};
static Exchange exchange(Place place, const char *what, unsigned mask, uint64_t value, uint64_t absent) {
    Exchange x = {value, {}};
    std::fill(std::begin(x.all), std::end(x.all), absent);
    auto give_to_all = [](const Meeting &m) {
        for (void *to : m.lane)
            for (unsigned l = 0; to && l < warp_size; ++l)
                if (m.lane[l]) static_cast<Exchange *>(to)->all[l] = static_cast<Exchange *>(m.lane[l])->mine;
    };
    warp_meet(place, what, mask, give_to_all, &x);
    return x;
}

uint64_t shuffle(const char *what, Shuffle kind, unsigned mask, uint64_t value, int operand, int width) {
    Place place = CPU_DEVICE_CALLER;
    if (width < 1 || width > 32 || width & (width - 1)) {
        fault(place, "%s with a width of %d: not a power of two up to 32", what, width);
        width = 32;
    }
    // Below `end` it may be any lane; __shfl_xor_sync may also reach into earlier parts of a warp.
    int me = int(lane()), first = me / width * width, end = first + width, from = me;
    if (kind == Shuffle::index) from = first + (operand & (width - 1));
    else if (kind == Shuffle::up && me - operand >= first) from = me - operand;
    else if (kind == Shuffle::down && me + operand < end) from = me + operand;
    else if (kind == Shuffle::exclusive_or && (me ^ operand) < end) from = me ^ operand;
    const uint64_t undefined = ~uint64_t(0); // loud
    const Exchange x = exchange(place, what, mask, value, undefined);
    return unsigned(from) < warp_size ? x.all[from] : undefined;
}

static unsigned ballot(Place place, const char *what, unsigned mask, bool yes) {
    const Exchange x = exchange(place, what, mask, yes, 0);
    unsigned bits = 0;
    for (unsigned l = 0; l < warp_size; ++l) bits |= unsigned(x.all[l]) << l;
    return bits;
}
} // namespace cpu

using namespace cpu;

void __syncthreads() { block_barrier(CPU_DEVICE_CALLER, "__syncthreads"); }
int __syncthreads_count(int yes) { return int(block_barrier(CPU_DEVICE_CALLER, "__syncthreads_count", yes)); }
int __syncthreads_and(int yes) { return block_barrier(CPU_DEVICE_CALLER, "__syncthreads_and", !yes) == 0; }
int __syncthreads_or(int yes) { return block_barrier(CPU_DEVICE_CALLER, "__syncthreads_or", yes) != 0; }
void __syncwarp(unsigned mask) {
    preempt();
    warp_meet(CPU_DEVICE_CALLER, "__syncwarp", mask, nullptr, nullptr, true);
}

unsigned __ballot_sync(unsigned mask, int yes) {
    return ballot(CPU_DEVICE_CALLER, "__ballot_sync", mask, yes);
}
int __any_sync(unsigned mask, int yes) { return ballot(CPU_DEVICE_CALLER, "__any_sync", mask, yes) != 0; }
int __all_sync(unsigned mask, int yes) { return ballot(CPU_DEVICE_CALLER, "__all_sync", mask, !yes) == 0; }
unsigned __activemask() { return 1u << lane(); }
