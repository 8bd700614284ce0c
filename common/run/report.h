/**
 * @file report.h
 * Where a program's records go: a table for people, CSV and JSON for programs.
 */
#ifndef OVERLAP_REPORT_H
#define OVERLAP_REPORT_H

#include "run/records.h"

/** The outputs of a program. */
struct report {
    struct output_file {
        FILE *file; /**< null: not asked for */
        const char *name;
        int error;             /**< errno of the first write that failed; 0: none did */
    } table, csv, json, trace; /**< the trace: what struct trace writes */
    bool rows;                 /**< the rows have begun */
    bool later;                /**< the table has facts, and the caller writes its rows at the end */
    bool figures;              /**< the table has columns of figures; to be set before the first row */
    struct list {              /**< the elements of a list of the JSON, which is written at the end */
        FILE *file;
        char *text;
        size_t size;
    } list[4];
};

/**
 * Opens the files, and locks them: two programs that write one file would mix their rows. "-" is
 * stdout, and there is no table then; null is no file. Nothing is overwritten unless all can be.
 *
 * The JSON is written by report_close(), exit(), SIGINT or SIGTERM, whichever comes first.
 * @return false, after one line on stderr, if one cannot be written.
 */
bool report_open(struct report *report, const char *csv, const char *json, const char *trace);
/** Writes a fact about the run, such as "driver: 580.0": a line of the table, a comment in CSV. */
void report_fact(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Writes a row to all that is open. */
void report_row(struct report *report, const struct row *row);
/** Keeps a fault for the JSON; prints to stderr what happened in which run, and how to repeat it. */
void report_fault(struct report *report, const struct fault *fault);
/** Keeps a fault for the JSON that was printed already. */
void report_fault_silently(struct report *report, const struct fault *fault);
/** Keeps what a run counted for the JSON. */
void report_counters(struct report *report, const struct counters *counters);

/** Closes the files. @return false, after one line on stderr, if something could not be written. */
bool report_close(struct report *report);
/** Writes the JSON of the open report, if there is one, in a program that is about to end. */
void report_end(void);

#endif
