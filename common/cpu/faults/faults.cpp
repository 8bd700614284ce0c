/** @file faults.cpp Faults as records, and the sentences that are made of them. */
#include "core/block.h"

namespace cpu {
static const struct {
    const char *id, *host_id, *words, *mend;
} kinds[] = {
#define FAULT(name, id, words, mend) {id, "host." id, words, mend},
#include "faults/kinds.def"
#undef FAULT
};

static std::deque<struct cpu_fault> faults; // a deque: cpu_fault() hands out pointers
static std::set<std::pair<std::string, FaultKind>> reported;

const char *keep(const std::string &text) {
    static std::set<std::string> texts;
    return texts.insert(text).first->c_str();
}

Position running_position() {
    return self ? position(self->block->grid, self->rank, self->block->number) : Position{};
}

static std::string in_words(const Position &p) { return "thread " + p.thread + " of block " + p.block; }

void report_once(const Fault &f) {
    if (reported.insert({f.place, f.kind}).second) report(f);
}

static std::map<std::pair<Place, FaultKind>, Fault> suspects;
void suspect_once(Place place, const Fault &f) { suspects.insert({{place, f.kind}, f}); }
bool is_suspect(Place place, FaultKind kind) { return suspects.count({place, kind}); }

/// The words of a kind, with the parts that they name.
static std::string fill_in(const char *words, const Fault &f) {
    std::string text;
    auto next = f.parts.begin();
    for (const char *c = words; *c; ++c) {
        if (*c != '{') {
            text += *c;
            continue;
        }
        const std::string name(c + 1, strchr(c, '}'));
        text += name == "other"    ? f.other
                : name == "memory" ? f.memory
                : name == "by"     ? in_words(f.by)
                                   : *next++;
        c += name.size() + 1;
    }
    return text;
}

void report(const Fault &f) {
    const auto &[id, host_id, words, mend] = kinds[int(f.kind)];
    const char *name = (resident ? resident->grid.schedule : next_schedule).name;
    const std::string schedule = name ? name : "?";
    std::string text = f.place + (f.in_host_code ? ": host code: " : ": ") + fill_in(words, f);
    if (!f.other_by.thread.empty()) text += "; here " + in_words(f.by) + ", there " + in_words(f.other_by);
    else if (!f.by.thread.empty() && !strstr(words, "{by}")) text += ", by " + in_words(f.by);
    if (*mend) text += std::string("; usual mend: ") + mend;
    text += " [schedule " + schedule + "]";
    fprintf(stderr, "%s\n", text.c_str());
    faults.push_back({f.in_host_code ? host_id : id, keep(f.place), keep(f.other), keep(f.memory),
                      keep(schedule), keep(text), mend, keep(f.by.thread), keep(f.by.block),
                      keep(f.other_by.thread), keep(f.other_by.block)});
}
} // namespace cpu

unsigned cpu_faults(void) { return unsigned(cpu::faults.size()); }
const struct cpu_fault *cpu_fault(unsigned i) { return i < cpu_faults() ? &cpu::faults[i] : nullptr; }
void cpu_suspects(int as_faults) {
    const auto all = std::move(cpu::suspects);
    cpu::suspects.clear();
    for (const auto &[key, fault] : all)
        if (as_faults) cpu::report_once(fault);
}
void cpu_faults_clear(void) {
    cpu::faults.clear();
    cpu::reported.clear();
    cudaGetLastError(); // and the error that they left
}
