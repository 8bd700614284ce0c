/**
 * @file faults.cpp
 * The list of faults.
 */
#include "block.h"
#include <cstdarg>
#include <deque>
#include <set>

namespace cpu {

static std::deque<std::string> faults; // a deque: cpu_fault_text() hands out pointers
static std::set<std::pair<std::string, const char *>> reported; // line and kind

void fault(Place place, const char *format, ...) {
    std::string line = place ? source_line(place) : "CPU device";
    if (!reported.insert({line, format}).second)
        return;
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fault_at(line, message);
}

void fault_at(const std::string &line, const std::string &message) {
    std::string text = line + ": " + message;
    if (self)
        text += ", by " + where(self->rank);
    text += std::string(" [schedule ") + (schedule.name ? schedule.name : "?") + "]";
    faults.push_back(text);
    fprintf(stderr, "%s\n", text.c_str());
}

} // namespace cpu

unsigned cpu_faults(void) { return unsigned(cpu::faults.size()); }
const char *cpu_fault_text(unsigned i) { return i < cpu::faults.size() ? cpu::faults[i].c_str() : ""; }
void cpu_faults_clear(void) {
    cpu::faults.clear();
    cpu::reported.clear();
    cpu::forget_last_error();
}
