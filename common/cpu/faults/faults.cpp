/**
 * @file faults.cpp
 * Faults as records, and the sentences that are made of them.
 */
#include "faults/faults.h"
#include <cstring>
#include <deque>
#include <set>
#include "core/block.h"
#include "core/program.h"

namespace cpu {
static const struct {
    const char *id, *host_id, *words, *mend;
} kinds[] = {
#define FAULT(name, id, words, mend) {id, "host." id, words, mend},
#include "faults/kinds.def"
#undef FAULT
};

struct Record {
    FaultParts parts;
    std::string schedule, text;
    struct cpu_fault fault; ///< points into the others
};
static std::deque<Record> records; // a deque: cpu_fault() hands out pointers
static std::set<std::pair<std::string, FaultKind>> reported;

Position running_position() {
    return self ? position(self->block->grid, self->rank, self->block->number) : Position{};
}

std::string part(const Position &p) {
    char text[120];
    snprintf(text, sizeof text, "thread (%u,%u,%u) of block (%u,%u,%u)", p.thread.x, p.thread.y, p.thread.z,
             p.block.x, p.block.y, p.block.z);
    return text;
}

std::string place_text(Place place) { return place ? source_line(place) : "CPU device"; }

void report_once(const FaultParts &f) {
    if (reported.insert({f.place, f.kind}).second) report(f);
}

/// The words of a kind, with the parts that they name.
static std::string fill_in(const char *words, const FaultParts &f) {
    std::string text;
    auto next = f.parts.begin();
    for (const char *c = words; *c; ++c) {
        if (*c != '{') {
            text += *c;
            continue;
        }
        const std::string name(c + 1, strchr(c, '}'));
        text += name == "other" ? f.other : name == "memory" ? f.memory : name == "by" ? part(f.by) : *next++;
        c += name.size() + 1;
    }
    return text;
}

void report(const FaultParts &f) {
    const auto &kind = kinds[int(f.kind)];
    const char *schedule = (resident ? resident->grid.schedule : next_schedule).name;
    records.push_back({f, schedule ? schedule : "?", "", {}});
    Record &r = records.back();
    r.text = f.place + (f.in_host_code ? ": host code: " : ": ") + fill_in(kind.words, f);
    if (f.other_by.known) r.text += "; here " + part(f.by) + ", there " + part(f.other_by);
    else if (f.by.known && !strstr(kind.words, "{by}")) r.text += ", by " + part(f.by);
    if (*kind.mend) r.text += std::string("; usual mend: ") + kind.mend;
    r.text += " [schedule " + r.schedule + "]";
    fprintf(stderr, "%s\n", r.text.c_str());

    r.fault = {};
    r.fault.id = f.in_host_code ? kind.host_id : kind.id;
    r.fault.place = r.parts.place.c_str(), r.fault.other = r.parts.other.c_str();
    r.fault.memory = r.parts.memory.c_str(), r.fault.schedule = r.schedule.c_str();
    r.fault.text = r.text.c_str(), r.fault.mend = kind.mend;
    auto copy = [](unsigned *to, const uint3 &from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; };
    copy(r.fault.thread, f.by.thread), copy(r.fault.block, f.by.block);
    copy(r.fault.other_thread, f.other_by.thread), copy(r.fault.other_block, f.other_by.block);
    r.fault.has_thread = f.by.known, r.fault.has_other = f.other_by.known;
}
} // namespace cpu

unsigned cpu_faults(void) { return unsigned(cpu::records.size()); }
const struct cpu_fault *cpu_fault(unsigned i) {
    return i < cpu::records.size() ? &cpu::records[i].fault : nullptr;
}
void cpu_faults_clear(void) {
    cpu::records.clear();
    cpu::reported.clear();
    cudaGetLastError(); // and the error that they left
}
