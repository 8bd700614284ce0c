/**
 * @file faults.h
 * How the parts of the CPU device report a fault. kinds.h lists what there is to report.
 */
#pragma once
#include <string>
#include <vector>
#include "core/kernel_side.h"
#include "faults/kinds.h"

namespace cpu {
#define CPU_FAULT_KIND(name, id, words, mend) name,
enum class FaultKind { CPU_FAULTS(CPU_FAULT_KIND) };

/// A thread and its block.
struct Position {
    bool known;
    uint3 thread, block;
};

/// A fault in parts: see struct cpu_fault.
struct FaultParts {
    FaultKind kind;
    std::string place;
    std::vector<std::string> parts; ///< what stands for each {} of the kind's words
    std::string other, memory;
    Position by, other_by;
    bool in_host_code;
};
/// Prints and keeps a fault, with the schedule.
void report(const FaultParts &fault);
/// Whether it is the first of its kind at this line: 256 threads are to make one report.
bool is_first(FaultKind kind, const std::string &place);
/// Where the running thread is; unknown if none runs.
Position running_position();

inline std::string part(const std::string &text) { return text; }
std::string part(double number);
std::string part(const Position &position); ///< "thread (1,0,0) of block (2,0,0)"
template<class T> std::enable_if_t<std::is_integral_v<T>, std::string> part(T n) { return std::to_string(n); }

/// Reports a fault once a line and kind. `place` may be null.
void fault_of(const Position &by, Place place, FaultKind kind, std::vector<std::string> parts);
/// Of the running thread, if there is one.
template<class... T> void fault(Place place, FaultKind kind, const T &...parts) {
    fault_of(running_position(), place, kind, {part(parts)...});
}
} // namespace cpu
