/** @file warp.cpp Where lanes of a warp meet: its barrier, votes and shuffles, and mma_sync. */
#include "core/tracer.h"
#include "include/cuda_runtime.h"

namespace cpu {
/// Lets its lanes go on if all of them are here. The running thread, if it is one of them, just does.
static bool finish_if_complete(Block &block, unsigned warp, size_t which) {
    auto &[live, meetings] = block.warp[warp];
    if (meetings[which].here != (meetings[which].mask & live)) return false;
    const Meeting &m = meetings[which];
    if (m.work) m.work(m);
    std::vector<unsigned> ranks;
    ranks.reserve(warp_size);
    for (unsigned l = 0; l < warp_size; ++l)
        if (m.here >> l & 1) ranks.push_back(warp * warp_size + l);
    if (m.orders_memory) tracer->synchronised(block, ranks, false);
    if (m.here == live) tracer->converged(block, warp);
    meetings.erase(meetings.begin() + long(which));
    ranks.erase(std::remove(ranks.begin(), ranks.end(), self->rank), ranks.end());
    make_ready(block, ranks);
    return true;
}

void finish_meetings(Block &block, unsigned warp) {
    for (size_t i = 0; i < block.warp[warp].meetings.size();)
        if (!finish_if_complete(block, warp, i)) ++i;
}

/// Whether the running thread need not wait: it is the last, or at fault.
[[gnu::noinline]] static bool join(Place place, const char *what, unsigned mask, Meeting::Work work,
                                   void *mine, bool orders_memory) {
    unsigned warp = self->rank / warp_size, bit = 1u << lane();
    auto &meetings = self->block->warp[warp].meetings;
    if (!(mask & bit)) {
        char text[16];
        snprintf(text, sizeof text, "%08x", mask);
        fault(place, FaultKind::warp_mask, what, text, lane());
        return true;
    }
    size_t i = 0;
    while (i < meetings.size() && (meetings[i].mask != mask || meetings[i].here & bit)) ++i;
    if (i == meetings.size()) meetings.push_back({what, place, mask, 0, work, orders_memory, {}});
    Meeting &m = meetings[i];
    if (m.what != what) {
        report_once({FaultKind::warp_mixed, source_line(place), {what, m.what}, source_line(m.place)});
        m.work = nullptr;
    }
    m.here |= bit;
    m.lane[lane()] = mine;
    if (finish_if_complete(*self->block, warp, i)) return true;
    self->waits_at = what, self->wait_place = place;
    return false;
}

void warp_meet(Place place, const char *what, unsigned mask, Meeting::Work work, void *mine,
               bool orders_memory) {
    if (!join(place, what, mask, work, mine, orders_memory)) leave();
}

struct Exchange { ///< what a lane brings to a shuffle, and what it gets
    uint64_t mine;
    int from; ///< a lane
    uint64_t got;
};
static void suspect_source(const Meeting &m, unsigned lane, unsigned from) {
    char text[32] = "which has exited";
    if (!(m.mask >> from & 1)) snprintf(text, sizeof text, "not in mask %08x", m.mask);
    Fault f = {FaultKind::warp_source, source_line(m.place), {m.what, part(lane), part(from), text}};
    f.by = position(self->block->grid, self->rank / warp_size * warp_size + lane, self->block->number);
    suspect_once(m.place, f);
}
static void exchange(const Meeting &m) {
    for (unsigned l = 0; l < warp_size; ++l)
        if (auto *to = static_cast<Exchange *>(m.lane[l])) {
            if (auto *from = static_cast<Exchange *>(m.lane[to->from])) to->got = from->mine;
            else if (!is_suspect(m.place, FaultKind::warp_source)) suspect_source(m, l, unsigned(to->from));
        }
}

uint64_t shuffle(const char *what, Shuffle kind, unsigned mask, uint64_t value, int operand, int width) {
    Place place = CPU_DEVICE_CALLER;
    if (width < 1 || width > 32 || width & (width - 1)) {
        fault(place, FaultKind::warp_width, what, width);
        width = 32;
    }
    // Below `end` it may be any lane; __shfl_xor_sync may also reach into earlier parts of a warp.
    int me = int(lane()), first = me / width * width, end = first + width, from = me;
    if (kind == Shuffle::index) from = first + (operand & (width - 1));
    else if (kind == Shuffle::up && me - operand >= first) from = me - operand;
    else if (kind == Shuffle::down && me + operand < end) from = me + operand;
    else if (kind == Shuffle::exclusive_or && (me ^ operand) < end) from = me ^ operand;
    Exchange x = {value, from, ~uint64_t(0)}; // undefined unless that lane comes: loud
    warp_meet(place, what, mask, exchange, &x);
    return x.got;
}

static unsigned ballot(Place place, const char *what, unsigned mask, bool yes) {
    auto count = [](const Meeting &m) { // a lane brings its vote, and gets all of them
        unsigned all = 0;
        for (unsigned l = 0; l < warp_size; ++l)
            if (m.lane[l]) all |= *static_cast<unsigned *>(m.lane[l]) << l;
        for (void *lane : m.lane)
            if (lane) *static_cast<unsigned *>(lane) = all;
    };
    unsigned votes = yes;
    warp_meet(place, what, mask, count, &votes);
    return votes;
}
} // namespace cpu

using namespace cpu;

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
