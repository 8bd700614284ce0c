/**
 * @file symbols.cpp
 * From addresses to source lines, by addr2line of the binutils.
 */
#include "block.h"
#include <cstring>
#include <link.h>
#include <map>
#include <unistd.h>

namespace cpu {
namespace {

bool is_ours(const std::string &line) {
    static const std::string file = __FILE__, folder = file.substr(0, file.rfind('/') + 1);
    return line.compare(0, folder.size(), folder) == 0;
}

/// "/a/b/06_wmma_db/kernel.cu:52 (discriminator 3)" as "06_wmma_db/kernel.cu:52"
std::string shortened(std::string line) {
    line = line.substr(0, line.find_first_of(" \n", line.rfind(':')));
    size_t slash = line.rfind('/');
    if (slash != line.npos && slash > 0 && (slash = line.rfind('/', slash - 1)) != line.npos)
        line.erase(0, slash + 1);
    // Some compilers name the rewritten copy, whose lines are the same.
    if (size_t copy = line.rfind(".cu.cpp:"); copy != line.npos)
        line.erase(copy + 3, 4);
    return line;
}

struct Line {
    std::string text;
    bool in_kernel; ///< rather than in the device or unknown
};

/// The innermost line that is not the device's own: addr2line lists inlined functions outwards.
Line look_up(Place place) {
    size_t offset = offset_in_program(place);
    char text[32], command[120];
    snprintf(text, sizeof text, "address %p", place);
    Line result{text, false};
    if (offset == size_t(-1))
        return result;
    snprintf(command, sizeof command, "addr2line -i -e /proc/%d/exe %#zx 2>/dev/null", int(getpid()), offset);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return result;
    char line[4096];
    while (!result.in_kernel && fgets(line, sizeof line, pipe))
        if (!strchr(line, '?')) // as in "??:0" and "kernel.cu:?"
            result = {shortened(line), !is_ours(line)};
    pclose(pipe);
    return result;
}

const Line &known_line(Place place) {
    static std::map<Place, Line> known;
    auto at = known.find(place);
    return at != known.end() ? at->second : known.emplace(place, look_up(place)).first->second;
}

} // namespace

uintptr_t offset_in_program(const void *address) {
    struct Span {
        uintptr_t begin, end;
    };
    static const Span program = [] {
        Span span = {0, 0};
        dl_iterate_phdr(
            [](dl_phdr_info *info, size_t, void *out) {
                auto *to = static_cast<Span *>(out);
                to->begin = info->dlpi_addr;
                for (int i = 0; i < info->dlpi_phnum; ++i)
                    if (const auto &h = info->dlpi_phdr[i]; h.p_type == PT_LOAD)
                        to->end = to->begin + h.p_vaddr + h.p_memsz;
                return 1; // the first object is the program
            },
            &span);
        return span;
    }();
    uintptr_t a = uintptr_t(address);
    return a >= program.begin && a < program.end ? a - program.begin : uintptr_t(-1);
}

std::string source_line(Place place) { return known_line(place).text; }

std::string source_line(const Place *places, int n) {
    for (int i = 0; i < n; ++i)
        if (known_line(places[i]).in_kernel)
            return known_line(places[i]).text;
    return n ? known_line(places[0]).text : "unknown address";
}

} // namespace cpu
