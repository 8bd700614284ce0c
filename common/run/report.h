/**
 * @file report.h
 * Result rows: as a table for people, as CSV and JSON for programs.
 */
#ifndef OVERLAP_REPORT_H
#define OVERLAP_REPORT_H

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
    char type[8];  /**< number type of the arithmetic */
    char path[32]; /**< which way the step took, see code_path() */
    char status[16];
    double error;        /**< largest |c - ref| / sum |a||b|, random inputs */
    char unit[16];       /**< of the next three: TFLOP/s or GB/s */
    double rate;         /**< at the median time */
    double rate_low;     /**< at the 95th percentile of the time */
    double rate_high;    /**< at the 5th */
    double microseconds; /**< median */
    double samples;
    char l2[8];     /**< cold or warm */
    double library; /**< rate relative to the library's in the same run, per cent */
    double ceiling; /**< relative to the device's ceiling, arithmetic or memory, per cent */
    double copy;    /**< relative to a copy's rate in the same run, per cent */
    double speedup; /**< over the base, timed in the same run */
    char build[24]; /**< device_build_label() */
    char note[256]; /**< why it failed or was skipped, or a caution */
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

/** One fault of a kernel or of a result; a text that does not apply is empty. */
struct fault {
    char id[48], step[32], shape[40], inputs[24], schedule[24];
    char place[128], other[128], thread[24], block[32], other_thread[24], other_block[32];
    char memory[64], text[512], mend[200], repeat[256];
};

/** Most facts of a run. */
#define REPORT_FACTS_MAX 32

/** Where the rows of a program go. */
struct report {
    FILE *table, *csv, *json; /**< null: not asked for */
    const char *csv_name, *json_name;
    int error;    /**< errno of the first write that failed; 0: none did */
    bool rows;    /**< the rows have begun */
    bool figures; /**< the table has columns of figures; to be set before the first row */
    char facts[REPORT_FACTS_MAX][256]; /**< for JSON, which has them behind the rows */
    int fact_count;
};

/**
 * Opens the files, and locks them: two programs that write one file would mix their rows. "-" is
 * stdout, and there is no table then; null is no file.
 * @return false, after one line on stderr, if one cannot be written.
 */
bool report_open(struct report *report, const char *csv, const char *json);
/** Writes a fact about the run, such as "driver: 580.0": a line of the table, a comment in CSV. */
void report_fact(struct report *report, const char *fact);
/** Writes a row to all that is open. */
void report_row(struct report *report, const struct row *row);
/** Empties a fault. */
void fault_clear(struct fault *fault);
/** Prints to stderr what happened in which run, and how to repeat it. */
void report_fault(struct report *report, const struct fault *fault);
/** Closes the files. @return false, after one line on stderr, if something could not be written. */
bool report_close(struct report *report);

#endif
