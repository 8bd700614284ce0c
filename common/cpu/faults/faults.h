/** @file faults.h How the parts of the CPU device report a fault. kinds.def lists what there is to report. */
#pragma once
#include <string>
#include <vector>
#include "core/program.h"

namespace cpu {
enum class FaultKind {
#define FAULT(name, id, words, mend) name,
#include "faults/kinds.def"
#undef FAULT
};

/// A thread and its block, such as "(1,0,0)"; "" if there is none.
struct Position {
    std::string thread, block;
};
Position running_position();

/// A fault in parts: see struct cpu_fault.
struct Fault {
    FaultKind kind;
    std::string place;
    std::vector<std::string> parts = {}; ///< what stands for each {} of the kind's words
    std::string other = "", memory = "";
    Position by = running_position(), other_by = {};
    bool in_host_code = false;
};
/// Prints and keeps a fault, with the schedule.
void report(const Fault &fault);
/// The same once a line and kind: 256 threads are to make one report.
void report_once(const Fault &fault);
/// The same for what is wrong only if the result is: told when cpu_suspects() asks for it.
void suspect_once(Place place, const Fault &fault);
bool is_suspect(Place place, FaultKind kind); ///< already
const char *keep(const std::string &text); ///< the same text, for good

inline std::string part(const std::string &text) { return text; }
template<class T> std::enable_if_t<std::is_integral_v<T>, std::string> part(T n) { return std::to_string(n); }

template<class... T> [[gnu::noinline, gnu::cold]] void fault(Place place, FaultKind kind, const T &...parts) {
    report_once({kind, source_line(place), {part(parts)...}});
}
} // namespace cpu
