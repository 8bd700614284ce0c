/**
 * @file faults.h
 * How the parts of the CPU device report a fault. kinds.def lists what there is to report.
 */
#pragma once
#include <string>
#include <vector>
#include "core/kernel_side.h"

namespace cpu {
enum class FaultKind {
#define FAULT(name, id, words, mend) name,
#include "faults/kinds.def"
#undef FAULT
};

/// A thread and its block.
struct Position {
    bool known;
    uint3 thread, block;
};
Position running_position(); ///< unknown if no thread runs

/// A fault in parts: see struct cpu_fault.
struct FaultParts {
    FaultKind kind;
    std::string place;
    std::vector<std::string> parts; ///< what stands for each {} of the kind's words
    Position by = {};
    std::string other = "", memory = "";
    Position other_by = {};
    bool in_host_code = false;
};
/// Prints and keeps a fault, with the schedule.
void report(const FaultParts &fault);
/// The same once a line and kind: 256 threads are to make one report.
void report_once(const FaultParts &fault);

inline std::string part(const std::string &text) { return text; }
std::string part(const Position &position); ///< "thread (1,0,0) of block (2,0,0)"
template<class T> std::enable_if_t<std::is_integral_v<T>, std::string> part(T n) { return std::to_string(n); }

std::string place_text(Place place); ///< its line; "CPU device" if there is none
/// Reports a fault of the running thread once a line and kind.
template<class... T> [[gnu::noinline, gnu::cold]] void fault(Place place, FaultKind kind, const T &...parts) {
    report_once({kind, place_text(place), {part(parts)...}, running_position()});
}
} // namespace cpu
