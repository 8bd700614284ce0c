/**
 * @file counters.cpp
 * What a warp's instructions cost. Each lane's accesses are logged; where all lanes of a warp have come
 * to one place the logs are merged, the lowest address in the program first, which is where lanes that
 * parted meet again. Accesses of one kind and source line are one instruction, of which the compiler may
 * have made several. So the sums do not depend on the order in which lanes ran.
 */
#include "block.h"
#include <cinttypes>

namespace cpu {
namespace {
/// A place in the program, and its line: the first spot that has the same.
struct Spot {
    Place place;
    const Spot *line;
};
struct Entry {
    uint64_t address, to; ///< to: of a copy's read, in shared memory
    const Spot *spot;
    Op op;
    bool shared;
    uint8_t lane;
    uint16_t size;
    /// The same for what is one instruction.
    auto key() const { return std::make_tuple(spot->line, shared, op, size); }
};
struct Site {
    uint64_t instructions, cost, ideal; ///< sectors of global memory or cycles of shared memory
};
struct Log {
    std::deque<Entry> entries;
    bool begins; ///< the next read of shared memory begins a multiply
};

Log logs[max_threads];
std::unordered_map<Place, Spot> spots;
std::vector<Spot *> new_spots; ///< whose line is not known yet
std::map<const void *, std::map<decltype(Entry().key()), Site>> kernels;
cpu_counters sums;
bool counting; ///< since the first cpu_counters_reset(): races are found without

void find_lines() {
    static std::map<std::string, const Spot *> first;
    std::vector<Place> places;
    for (const Spot *spot : new_spots) places.push_back(spot->place);
    look_up_lines(places);
    for (Spot *spot : new_spots) spot->line = first.try_emplace(source_line(spot->place), spot).first->second;
    new_spots.clear();
}

/// The distinct pieces of `unit` bytes that accesses touch.
std::vector<uint64_t> pieces(const std::vector<uint64_t> &addresses, unsigned size, unsigned unit) {
    std::vector<uint64_t> all;
    for (uint64_t a : addresses)
        for (uint64_t p = a / unit; p <= (a + size - 1) / unit; ++p) all.push_back(p);
    if (!std::is_sorted(all.begin(), all.end())) std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

/// Whether all lanes want the same as the lane whose number differs in one bit.
bool by_twos(const std::vector<Entry> &lanes, unsigned bit) {
    return lanes.size() == warp_size && std::all_of(lanes.begin(), lanes.end(), [&](const Entry &l) {
               return l.address == lanes[l.lane ^ bit].address;
           });
}

/// One instruction of a warp.
void count(const std::vector<Entry> &lanes) {
    std::vector<uint64_t> part;
    const Entry &e = lanes[0];
    uint64_t bytes = e.size * lanes.size(), cost = 0, ideal = 0;
    if (e.op == Op::wait) {
        ++sums.waits;
    } else if (e.op == Op::multiply) {
        ++sums.mma;
        sums.tensor_flops += e.address;
    } else if (e.shared) {
        // 8 bytes a lane go out in two groups of lanes, 16 bytes in four, or in two if lanes read by twos.
        bool twos = e.op == Op::load && e.size == 16 && (by_twos(lanes, 1) || by_twos(lanes, 2));
        unsigned together = e.size <= 4 ? 32 : e.size <= 8 || twos ? 16 : 8;
        for (size_t i = 0; i < lanes.size(); part.clear(), ++ideal) {
            unsigned group = lanes[i].lane / together, words[32] = {}, most = 0; // of each bank
            for (; i < lanes.size() && lanes[i].lane / together == group; ++i)
                part.push_back(lanes[i].address);
            for (uint64_t word : pieces(part, e.size, 4)) most = std::max(most, ++words[word % 32]);
            cost += most;
        }
        sums.shared_cycles += cost;
        sums.conflicts += cost - ideal;
        if (e.op == Op::store) sums.register_bytes += bytes;
        if (e.op == Op::copy) sums.copy_bytes += bytes;
    } else {
        for (const Entry &lane : lanes) part.push_back(lane.address);
        unsigned word = std::min<unsigned>(e.size, 4);
        cost = pieces(part, e.size, 32).size();
        ideal = (pieces(part, e.size, word).size() * word + 31) / 32;
        if (e.op == Op::copy && e.size == 16) { // once for each 32 bytes of shared memory
            std::set<std::pair<uint64_t, uint64_t>> pairs;
            for (const Entry &lane : lanes) pairs.emplace(lane.address / 32, lane.to / 32);
            cost = pairs.size();
        }
        if (e.op == Op::load) sums.load_sectors += cost, sums.load_ideal += ideal;
        if (e.op == Op::store) sums.store_sectors += cost, sums.store_ideal += ideal;
        if (e.op == Op::copy) sums.copy_sectors += cost, sums.copy_ideal += ideal;
    }
    Site &site = kernels[block.launch->kernel][e.key()];
    ++site.instructions, site.cost += cost, site.ideal += ideal;
}

void print(FILE *out, const std::map<decltype(Entry().key()), Site> &sites) {
    static const char *const names[2][6] = {{"load", "store", "atomic", "copy, read", "wait", "mma_sync"},
                                            {"shared load", "shared store", "shared atomic", "copy, write"}};
    // In order of the lines' numbers: a longer one comes later.
    std::map<std::tuple<std::string, size_t, std::string, bool, Op, unsigned>, std::pair<Place, Site>> lines;
    for (const auto &[key, site] : sites) {
        const auto &[line, shared, op, size] = key;
        std::string name = source_line(line->place);
        lines[{name.substr(0, name.rfind(':')), name.size(), name, shared, op, size}] = {line->place, site};
    }
    fprintf(out, "%-36s %-13s %5s %12s %12s %12s  %s\n", "line", "operation", "bytes", "instructions", "cost",
            "ideal", "text");
    for (const auto &[at, line] : lines) {
        const auto &[path, length, name, shared, op, size] = at;
        const Site &site = line.second;
        fprintf(out, "%-36s %-13s %5u %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "  %s\n", name.c_str(),
                names[shared][int(op)], size, site.instructions, site.cost, site.ideal,
                source_text(line.first).c_str());
    }
}
} // namespace

void count_later(Op op, bool shared, Place place, uint64_t address, unsigned size, uint64_t to) {
    if (__builtin_expect(!counting, true)) return;
    auto [spot, fresh] = spots.try_emplace(place, Spot{place, nullptr});
    if (fresh) new_spots.push_back(&spot->second);
    Log &log = logs[self->rank];
    log.entries.push_back({address, to, &spot->second, op, shared, uint8_t(lane()), uint16_t(size)});
    if (op == Op::wait) log.begins = true;
    if (op == Op::load && shared && log.begins) {
        log.begins = false;
        std::set<unsigned> groups; // in flight
        for (const AsyncCopy &c : self->copies)
            if (c.group < self->group) groups.insert(c.group);
        sums.in_flight = std::max<uint64_t>(sums.in_flight, groups.size());
    }
}

void count_warp(unsigned warp) {
    static std::vector<Entry> together;
    find_lines();
    for (;;) {
        const Entry *first = nullptr;
        for (Log *log = logs + warp * warp_size; log < logs + (warp + 1) * warp_size; ++log)
            if (const auto &all = log->entries;
                !all.empty() && (!first || all[0].spot->place < first->spot->place))
                first = &all[0];
        if (!first) break;
        const auto key = first->key();
        together.clear();
        for (Log *log = logs + warp * warp_size; log < logs + (warp + 1) * warp_size; ++log)
            if (auto &all = log->entries; !all.empty() && all[0].key() == key) {
                together.push_back(all[0]);
                all.pop_front();
            }
        count(together);
    }
}

void count_block(bool barrier) {
    sums.barriers += barrier;
    for (unsigned w = 0; w * warp_size < block.threads; ++w) count_warp(w);
    for (unsigned i = 0; barrier && i < block.threads; ++i) logs[i].begins = true;
}

void print_counters(cpu_counters &counters, FILE *lines) {
    counters = sums;
    for (const auto &[kernel, sites] : kernels)
        if (lines) print(lines, sites);
}
void forget_counters() {
    counting = true;
    sums = {};
    kernels.clear();
}
} // namespace cpu
