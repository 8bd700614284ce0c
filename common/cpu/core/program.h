/** @file program.h This program's source lines and symbols, as the binutils (addr2line, readelf) list them.
 * Without the binutils a place is an address, and shared memory has no names. */
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <vector>
#include "core/kernel_side.h"

namespace cpu {
struct Line {
    std::string file, name;     ///< "04_regblock/kernel.cu" and ":52" behind it; "address 0x..." if not known
    unsigned number = 0;        ///< 0: not known
    bool in_kernel = false;     ///< rather than in the device itself, or unknown
    std::filesystem::path path; ///< as the compiler had it
};
const Line &line_of(Place place);
inline const std::string &source_line(Place place) { return line_of(place).name; }
std::string source_text(Place place); ///< what is written in that line
/// Looks up many lines at once: much faster than one by one.
void look_up_lines(const std::vector<Place> &places);

/// A function or a thread-local variable.
struct Symbol {
    size_t value, size;
    bool thread_local_;
    std::string name, file; ///< no file if it is not local to one
    bool operator<(const Symbol &b) const { return std::tie(name, file) < std::tie(b.name, b.file); }
};
const std::set<Symbol> &symbols();

constexpr uintptr_t outside = ~uintptr_t(0); ///< of the program
/// An address as the program's symbols have it, wherever the program was loaded.
uintptr_t offset_in_program(const void *address);
Place place_in_program(uintptr_t offset);
} // namespace cpu
