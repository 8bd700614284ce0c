/** @file counters.cpp What a warp's instructions cost. */
#include <unordered_map>
#include "checked/counters.h"

namespace cpu {
bool counting;

namespace {
struct Site {
    Place place;
    uint64_t instructions, cost, ideal; ///< sectors of global memory or cycles of shared memory
};
cpu_counters sums;
std::unordered_map<Place, Spot> spots;
std::vector<Place> new_places; ///< whose line is not known yet
std::map<decltype(LogEntry().key()), Site> sites;

cpu_trace_call *trace;
void *trace_context;
const char *const operations[] = {"load", "store",  "atomic",  "copy", "wait",
                                  "mma",  "commit", "barrier", "wait"};
const char *memory_of(Op op, bool shared) { return op >= Op::wait ? "" : shared ? "shared" : "global"; }

void find_lines() {
    look_up_lines(new_places);
    for (Place place : new_places) {
        Spot &spot = spots[place];
        spot.line = keep(source_line(place));
        if (trace) spot.text = keep(source_text(place));
    }
    new_places.clear();
}
const Spot *spot_of(Place place) {
    auto [spot, fresh] = spots.try_emplace(place, Spot{place, nullptr, ""});
    if (fresh) new_places.push_back(place);
    return &spot->second;
}

/// Hands an instruction on to cpu_trace()'s function.
void tell(const Block &block, unsigned warp, const std::vector<LogEntry> &lanes) {
    if (!trace || block.number >= CPU_TRACE_BLOCKS) return;
    std::vector<uint64_t> addresses;
    const LogEntry &e = lanes[0];
    unsigned mask = 0;
    for (const LogEntry &l : lanes) addresses.push_back(l.address), mask |= 1u << l.lane;
    const cpu_trace_event event = {e.spot->line,
                                   e.spot->text,
                                   operations[int(e.op)],
                                   memory_of(e.op, e.shared),
                                   unsigned(block.number),
                                   warp,
                                   e.size,
                                   e.address,
                                   mask,
                                   addresses.data()};
    trace(trace_context, &event);
}

/// The distinct segments of `unit` bytes that accesses touch.
std::vector<uint64_t> segments(const std::vector<uint64_t> &addresses, unsigned size, unsigned unit) {
    std::vector<uint64_t> all;
    for (uint64_t a : addresses)
        for (uint64_t p = a / unit; p <= (a + size - 1) / unit; ++p) all.push_back(p);
    if (!std::is_sorted(all.begin(), all.end())) std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

/// Whether all lanes want the same as the lane whose number differs in one bit.
bool by_twos(const std::vector<LogEntry> &lanes, unsigned bit) {
    return lanes.size() == warp_size && std::all_of(lanes.begin(), lanes.end(), [&](const LogEntry &l) {
               return l.address == lanes[l.lane ^ bit].address;
           });
}

/// One instruction of a warp.
void count(const std::vector<LogEntry> &lanes) {
    std::vector<uint64_t> part;
    const LogEntry &e = lanes[0];
    uint64_t bytes = e.size * lanes.size(), cost = 0, ideal = 0;
    if (e.op == Op::commit || e.op == Op::acquire) return;
    if (e.op == Op::wait) ++sums.waits;
    else if (e.op == Op::multiply) ++sums.mma, sums.tensor_flops += e.address;
    else if (e.shared) {
        // 8 bytes a lane go out in two groups of lanes, 16 bytes in four, or in two if lanes read by twos.
        bool twos = e.op == Op::load && e.size == 16 && (by_twos(lanes, 1) || by_twos(lanes, 2));
        unsigned together = e.size <= 4 ? 32 : e.size <= 8 || twos ? 16 : 8;
        for (size_t i = 0; i < lanes.size(); part.clear(), ++ideal) {
            unsigned group = lanes[i].lane / together, words[32] = {}, most = 0; // of each bank
            while (i < lanes.size() && lanes[i].lane / together == group) part.push_back(lanes[i++].address);
            for (uint64_t word : segments(part, e.size, 4)) most = std::max(most, ++words[word % 32]);
            cost += most;
        }
        sums.shared_cycles += cost;
        sums.conflicts += cost - ideal;
        if (e.op == Op::store) sums.thread_bytes += bytes;
        if (e.op == Op::copy) sums.copy_bytes += bytes;
    } else {
        for (const LogEntry &lane : lanes) part.push_back(lane.address);
        unsigned word = std::min<unsigned>(e.size, 4);
        cost = segments(part, e.size, 32).size();
        ideal = (segments(part, e.size, word).size() * word + 31) / 32;
        if (e.op == Op::copy && e.size == 16) { // once for each 32 bytes of shared memory
            std::set<std::pair<uint64_t, uint64_t>> pairs;
            for (const LogEntry &lane : lanes) pairs.emplace(lane.address / 32, lane.to / 32);
            cost = pairs.size();
        }
        if (e.op == Op::load) sums.load_sectors += cost, sums.load_ideal += ideal;
        if (e.op == Op::store) sums.store_sectors += cost, sums.store_ideal += ideal;
        if (e.op == Op::copy) sums.copy_sectors += cost, sums.copy_ideal += ideal;
    }
    Site &site = sites[e.key()];
    site.place = e.spot->place;
    ++site.instructions, site.cost += cost, site.ideal += ideal;
}
} // namespace

void count_later(Agent thread, Op op, bool shared, Place place, uint64_t address, unsigned size,
                 uint64_t to) {
    Log &log = thread.block.trace->logs[thread.number];
    const auto lane = uint8_t(thread.number % warp_size);
    log.entries.push_back({address, to, spot_of(place), op, shared, lane, uint16_t(size)});
    if (op == Op::wait) log.begins = true;
    if (op == Op::load && shared && log.begins) {
        log.begins = false;
        const Thread &t = thread.block.thread[thread.number];
        std::set<unsigned> groups; // in flight
        for (const AsyncCopy &c : t.copies)
            if (c.batch < t.batch) groups.insert(c.batch);
        sums.in_flight = std::max<uint64_t>(sums.in_flight, groups.size());
    }
}

/// The lowest place of a lane that has yet to come to an instruction.
static const LogEntry *ahead_of(Log *begin, Log *end, const decltype(LogEntry().key()) &key) {
    const LogEntry *first = nullptr;
    for (Log *log = begin; log < end; ++log) {
        const auto &all = log->entries;
        auto comes = [&](const LogEntry &e) { return e.key() == key; };
        if (!all.empty() && !comes(all[0]) && (!first || all[0].spot->place < first->spot->place) &&
            std::any_of(all.begin(), all.end(), comes))
            first = &all[0];
    }
    return first;
}

void count_warp(Block &block, unsigned warp) {
    Log *const begin = &block.trace->logs[warp * warp_size];
    Log *const end = begin + std::min(warp_size, block.threads - warp * warp_size);
    find_lines();
    for (std::vector<LogEntry> together;; together.clear()) {
        const LogEntry *first = nullptr;
        for (Log *log = begin; log < end; ++log)
            if (const auto &all = log->entries;
                !all.empty() && (!first || all[0].spot->place < first->spot->place))
                first = &all[0];
        if (!first) break;
        // Lanes that leave a loop's branches one after the other wait, or commit, together.
        if (first->op >= Op::wait)
            if (const LogEntry *other = ahead_of(begin, end, first->key())) first = other;
        const auto key = first->key();
        for (Log *log = begin; log < end; ++log)
            if (auto &all = log->entries; !all.empty() && all[0].key() == key) {
                together.push_back(all[0]);
                all.pop_front();
            }
        count(together);
        tell(block, warp, together);
    }
}

void count_block(Block &block, bool barrier) {
    sums.barriers += barrier;
    for (unsigned w = 0; w < block.warp.size(); ++w) count_warp(block, w);
    if (barrier && trace) {
        const Spot *spot = spot_of(block.barrier.place);
        find_lines();
        for (unsigned w = 0; w < block.warp.size(); ++w)
            tell(block, w, {{0, 0, spot, Op::barrier, false, 0, 0}});
    }
    if (barrier)
        for (Log &log : block.trace->logs) log.begins = true;
}

cpu_counters Counter::counters() { return sums; }
void Counter::trace_to(cpu_trace_call *call, void *context) { trace = call, trace_context = context; }
void Counter::reset_counters() {
    counting = true;
    sums = {};
    sites.clear();
}
unsigned Counter::counter_lines(const cpu_counter_line **lines) {
    static std::vector<cpu_counter_line> all;
    all.clear();
    for (const auto &[key, site] : sites) {
        const auto &[name, shared, op, size] = key;
        const Line &line = line_of(site.place);
        all.push_back({line.file.c_str(), line.number, operations[int(op)], memory_of(op, shared), size,
                       site.instructions, site.cost, site.ideal, keep(source_text(site.place))});
    }
    std::stable_sort(all.begin(), all.end(), [](const cpu_counter_line &a, const cpu_counter_line &b) {
        return std::make_tuple(strcmp(a.file, b.file), a.line) < std::make_tuple(0, b.line);
    });
    *lines = all.data();
    return unsigned(all.size());
}
} // namespace cpu
