/**
 * @file program.h
 * This program's source lines and symbols, as the binutils (addr2line, readelf) list them. Without the
 * binutils a place is an address, and shared memory has no names.
 */
#pragma once
#include <set>
#include <string>
#include <tuple>
#include <vector>
#include "kernel_side.h"

namespace cpu {
bool has_line(Place place);
bool in_kernel(Place place);          ///< rather than in the device itself, or unknown
unsigned line_number(Place place);    ///< 0: not known
std::string source_file(Place place); ///< "04_regblock/kernel.cu"; "address 0x..." if its line is not known
std::string source_line(Place place); ///< "04_regblock/kernel.cu:52"
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
