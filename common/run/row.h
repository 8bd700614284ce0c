/**
 * @file row.h
 * One result. A new column is a member here and a line in row.c.
 */
#ifndef OVERLAP_ROW_H
#define OVERLAP_ROW_H

#include <stdbool.h>
#include <stdio.h>

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

/** Empties a row: no text, all figures NAN. */
void row_clear(struct row *row);

/** Writes the names of the columns as a line of CSV. */
void row_csv_header(FILE *file);
/** Writes a row as a line of CSV: figures with a decimal point, texts quoted where need be. */
void row_csv(FILE *file, const struct row *row);
/** Reads a line that row_csv() wrote. @return false if it is not one. */
bool row_csv_parse(const char *line, struct row *row);
/** Writes a row as a JSON object. */
void row_json(FILE *file, const struct row *row);
/** Writes the heading of the table, with the columns of a timing or without. */
void row_table_header(FILE *file, bool figures);
/** Writes a row of the table. */
void row_table(FILE *file, const struct row *row, bool figures);

#endif
