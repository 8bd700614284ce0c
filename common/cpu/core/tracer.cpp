/** @file tracer.cpp The flavour of this program. */
#include "core/tracer.h"

namespace cpu {
Tracer plain_tracer, *tracer = &plain_tracer;
}

int cpu_is_checked(void) { return cpu::tracer != &cpu::plain_tracer; }
void cpu_counters_reset(void) { cpu::tracer->reset_counters(); }
void cpu_counters_get(cpu_counters *counters) { *counters = cpu::tracer->counters(); }
unsigned cpu_counter_lines(const cpu_counter_line **lines) { return cpu::tracer->counter_lines(lines); }
