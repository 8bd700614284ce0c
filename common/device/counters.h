/**
 * @file counters.h
 * What a run did, counted by the programs under cpu-checked/: `--counters`.
 */
#ifndef OVERLAP_COUNTERS_H
#define OVERLAP_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "run/report.h"

/** What to count. */
struct counted {
    const char *(*run)(void *context, bool base); /**< null, or the device's error */
    void *context;
    struct row *row, *base; /**< of the step and of its base, or null if that is not asked for */
};

/**
 * Runs the step once, and its base if it is asked for; puts the main counters into the rows' notes. With a
 * table in `report`, prints all counters to stdout, by source line and in sum.
 * @return null, or the device's error.
 */
const char *counters_report(const struct counted *counted, const struct report *report);

#endif
