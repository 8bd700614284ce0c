/**
 * @file trace.h
 * Writes what the warps of a block did, in order, as Chrome trace events: Perfetto and chrome://tracing open them.
 *
 * docs/trace.md has the format. It is an order of events and not time: an instruction of a warp is one unit long, and a
 * barrier as long as the warp waits for the others.
 */
#ifndef OVERLAP_TRACE_H
#define OVERLAP_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cpu/cpu_device.h"

/** What is traced so far. */
struct trace;

/** Begins the trace that trace_close() writes to `file`. @return null, after one line on stderr, without memory. */
struct trace *trace_open(FILE *file);

/** Later events are those of a run of `step` at this shape under this schedule. */
void trace_run(struct trace *trace, const char *step, const char *shape, const char *schedule);

/** An operand of that run in device memory, row-major: accesses to it are told by its name. Sizes in elements. */
void trace_operand(struct trace *trace, const char *name, const void *at, size_t rows, size_t cols, size_t ld,
                   size_t element_bytes);

/** Adds an event; `context` is the struct trace. For cpu_trace(). */
cpu_trace_call trace_event;

/** Writes the trace, and frees it. @return false, after one line on stderr, if there was no memory for all of it. */
bool trace_close(struct trace *trace);

#endif
