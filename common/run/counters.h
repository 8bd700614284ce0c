/**
 * @file counters.h
 * What a run did, as the checked programs count it: the records and their table.
 */
#ifndef OVERLAP_COUNTERS_H
#define OVERLAP_COUNTERS_H

#include "run/report.h"

/** The sums over a run; common/cpu/README.md defines each. */
struct counter_sums {
    uint64_t load_sectors, load_ideal, store_sectors, store_ideal, copy_sectors, copy_ideal,
        thread_bytes, copy_bytes, shared_cycles, conflicts, barriers, waits, in_flight, mma,
        tensor_flops;
};

/** What one run counted. */
struct counters {
    const char *step, *shape;
    struct counter_sums sums;
    const struct counter_line *lines;
    unsigned line_count;
};

/** Puts the main sums into a row. */
void counters_row(struct row *row, const struct counters *counters);
/** Writes a run's counters as a JSON object. */
void counters_json(FILE *file, const struct counters *counters);
/** Prints what a run counted by source line. */
void counters_print_lines(FILE *file, const struct counters *counters);
/** Prints the sums of a run, and, unless null, of its base beside them with ratios. */
void counters_print_sums(FILE *file, const struct counters *step, const struct counters *base);

#endif
