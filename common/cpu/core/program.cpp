/** @file program.cpp What the binutils know of this program. */
#include "core/program.h"
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <link.h>
#include <map>

extern "C" char _end[]; // of the program: the linker's

namespace cpu {
static std::map<Place, Line> known_lines;

const Line &line_of(Place place) {
    if (!known_lines.count(place)) look_up_lines({place});
    return known_lines[place];
}

/// Runs a tool of the binutils on this program, and calls `each` for every line that it prints.
static void ask_binutils(const std::string &command, const std::function<void(const char *)> &each) {
    // By its path: to another process, /proc/PID/exe of an emulated program is the emulator.
    static const int once =
        setenv("CPU_DEVICE_PROGRAM", std::filesystem::read_symlink("/proc/self/exe").c_str(), 1);
    FILE *pipe = once ? nullptr : popen((command + " \"$CPU_DEVICE_PROGRAM\" 2>/dev/null").c_str(), "r");
    char text[4096];
    while (pipe && fgets(text, sizeof text, pipe)) each(text);
    if (pipe) pclose(pipe);
}

/// Of the functions that were inlined at a place, which addr2line lists outwards, takes the first that is
/// not the device's own.
void look_up_lines(const std::vector<Place> &places) {
    static const std::string own = std::filesystem::path(__FILE__).parent_path().parent_path().string() + "/";
    std::string addresses;
    std::deque<Line *> asked = {nullptr};
    for (Place place : places)
        if (auto [at, fresh] = known_lines.insert({place, {}}); fresh) {
            char text[32];
            snprintf(text, sizeof text, place ? "address %p" : "CPU device", place);
            at->second.file = at->second.name = text;
            if (offset_in_program(place) == outside) continue;
            snprintf(text, sizeof text, " %#zx", offset_in_program(place));
            addresses += text;
            asked.push_back(&at->second);
        }
    if (addresses.empty()) return;
    ask_binutils("addr2line -a -i" + addresses + " -e", [&](const char *text) {
        const char *colon = strrchr(text, ':');
        const unsigned number = colon ? unsigned(atoi(colon + 1)) : 0;
        if (strncmp(text, "0x", 2) == 0) // -a: the address, ahead of its lines
            asked.pop_front();
        else if (Line *line = asked.front(); line && number && !line->in_kernel) {
            std::filesystem::path path(text, colon);
            // Some compilers name the rewritten copy, kernel.cu.cpp, whose lines are the same.
            if (path.stem().extension() == ".cu") path.replace_extension();
            bool ours = strncmp(text, own.c_str(), own.size()) == 0 || strstr(text, "/include/c++/");
            std::string file = path.parent_path().filename() / path.filename();
            *line = {file, file + ":" + std::to_string(number), number, !ours, path};
        }
    });
}

std::string source_text(Place place) {
    const Line &line = line_of(place);
    std::ifstream file(line.path);
    std::string text;
    for (unsigned n = line.number; n > 0 && std::getline(file, text);) --n;
    return text.erase(0, text.find_first_not_of(" \t"));
}

const std::set<Symbol> &symbols() {
    static std::set<Symbol> all;
    std::string file;
    auto add = [&file](const char *line) {
        size_t at, size;
        char type[16], bind[16], name[4000];
        if (sscanf(line, "%*s %zx %zi %15s %15s %*s %*s %3999s", &at, &size, type, bind, name) != 5) return;
        if (strcmp(type, "FILE") == 0) file = name;
        if (strcmp(type, "TLS") == 0 || strcmp(type, "FUNC") == 0)
            all.insert({at, size, *type == 'T', name, strcmp(bind, "LOCAL") ? "" : file});
    };
    if (all.empty()) ask_binutils("readelf -sW", add);
    return all;
}

/// The first object is the program.
static uintptr_t load_address() { return _r_debug.r_map ? _r_debug.r_map->l_addr : 0; }
uintptr_t offset_in_program(const void *address) {
    uintptr_t a = uintptr_t(address);
    return a >= load_address() && a < uintptr_t(_end) ? a - load_address() : outside;
}
Place place_in_program(uintptr_t offset) { return reinterpret_cast<Place>(load_address() + offset); }
} // namespace cpu
