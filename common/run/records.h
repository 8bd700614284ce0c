/**
 * @file records.h
 * What programs write: rows, faults and counters, as JSON and CSV for scripts and as tables for
 * people. docs/records.md has the schema. A new column is a member here and its name in records.c.
 */
#ifndef OVERLAP_RECORDS_H
#define OVERLAP_RECORDS_H

#include <stdbool.h>
#include <stdio.h>

#include "cpu/cpu_device.h" /* what the CPU device counts */

/** How a row came out. */
#define STATUS_VERIFIED "verified"
#define STATUS_FAILED "FAILED"
#define STATUS_SKIPPED "skipped"
#define STATUS_LIBRARY "library"   /**< a row of NVIDIA's library */
#define STATUS_COUNTED "counted"   /**< run once for its counters; not judged */
#define STATUS_UNJUDGED "unjudged" /**< leaves out a part of the work: nothing to verify */

/** One result. A text that does not apply is empty, a figure that does not apply is NAN. */
struct row {
    char step[32]; /**< or the library's name */
    char base[32]; /**< the step that it builds on */
    char device[96];
    char shape[40];
    double m, n, k;
    char type[8];  /**< element type of the inputs */
    char path[32]; /**< which way the step took, see code_path() */
    char status[16];
    double error;        /**< largest |c - ref| / sum |a||b|, random inputs */
    char unit[16];       /**< of the next three: TFLOP/s or GB/s */
    double rate;         /**< at the median time */
    double rate_low;     /**< at the 95th percentile of the time */
    double rate_high;    /**< at the 5th */
    double microseconds; /**< median */
    double samples;
    char l2[8];           /**< cold or warm */
    double library;       /**< rate relative to the library's in the same run, per cent */
    double ceiling;       /**< relative to the device's ceiling, arithmetic or memory, per cent */
    double copy;          /**< relative to a copy's rate in the same run, per cent */
    double speedup;       /**< over the base, timed in the same run */
    char build[24];       /**< device_build_label() */
    char note[256];       /**< why it failed or was skipped, or a caution */
    double sectors;       /**< counted: sectors of global memory, loads, stores and copies */
    double sectors_ideal; /**< the fewest that could hold the same bytes */
    double thread_bytes;  /**< stored to shared memory by threads */
    double copy_bytes;    /**< written to shared memory by asynchronous copies */
    double in_flight;     /**< most groups of copies in flight when a multiply begins */
};

/** One thing that is wrong. A text that does not apply is empty. */
struct fault {
    char id[48];                              /**< what kind, see docs/records.md */
    char step[32];                            /**< whose run it was */
    char shape[40], inputs[24], schedule[24]; /**< of that run */
    char place[128], other[128];              /**< FILE:LINE, and that of the other side */
    char thread[24], block[32];               /**< such as "(1,0,0)" */
    char other_thread[24], other_block[32];   /**< of the other side */
    char memory[64];                          /**< which memory */
    char text[512];                           /**< the whole, in words */
    char mend[200];                           /**< what usually mends it */
    char repeat[256];                         /**< the command that shows it again */
};

/** What one run counted. */
struct counters {
    const char *step, *shape;
    struct cpu_counters sums;
    const struct cpu_counter_line *lines;
    unsigned line_count;
};

/** Empties a row: no text, all figures NAN. */
void row_clear(struct row *row);

/** Writes a row as a line of CSV, texts quoted where need be; null: the names of the columns. */
void row_csv(FILE *file, const struct row *row);
/** Reads a line that row_csv() wrote. @return false if it is not one. */
bool row_csv_parse(const char *line, struct row *row);

/**
 * @name As JSON.
 * Strings are escaped, a byte that is not UTF-8 becomes U+FFFD; NAN becomes null.
 */
/**@{*/
void json_text(FILE *file, const void *text);
void json_row(FILE *file, const void *row);
void json_fault(FILE *file, const void *fault);
void json_counters(FILE *file, const void *counters);
/**@}*/

/** Writes a row of the table, with the columns of a timing or without; null: the heading. */
void row_table(FILE *file, const struct row *row, bool figures);
/** Puts the main sums into a row. */
void counters_row(struct row *row, const struct counters *counters);
/** Prints what a run counted by source line. */
void counters_print_lines(FILE *file, const struct counters *counters);
/** Prints the sums of a run, and, unless null, of its base beside them with ratios. */
void counters_print_sums(FILE *file, const struct counters *step, const struct counters *base);

#endif
