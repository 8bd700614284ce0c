/**
 * @file report.h
 * What a program found: rows, counters, faults and facts, as a table for people and as CSV and JSON
 * for programs. docs/records.md has the schema.
 */
#ifndef OVERLAP_REPORT_H
#define OVERLAP_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "run/row.h"

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

/** What the instructions of one kind at one source line did. */
struct counter_line {
    const char *file;
    unsigned line;
    const char *operation; /**< load, store, atomic, copy, wait or mma */
    const char *memory;    /**< global or shared, or empty */
    unsigned bytes;        /**< of each lane */
    uint64_t instructions; /**< of warps */
    uint64_t cost, ideal;  /**< sectors of global memory or cycles of shared memory */
    const char *text;      /**< the line */
};

/** Most facts of a run. */
#define REPORT_FACTS_MAX 32

/** Where a program's records go. */
struct report {
    struct output_file {
        FILE *file; /**< null: not asked for */
        const char *name;
        int error; /**< errno of the first write that failed; 0: none did */
    } table, csv, json;
    bool rows;    /**< the rows have begun */
    bool figures; /**< the table has columns of figures; to be set before the first row */
    char facts[REPORT_FACTS_MAX][256];
    int fact_count;
    struct list { /**< the elements of a list of the JSON, which is written at the end */
        FILE *file;
        char *text;
        size_t size;
    } list[4];
};

/**
 * Opens the files, and locks them: two programs that write one file would mix their rows. "-" is
 * stdout, and there is no table then; null is no file. Nothing is overwritten unless all can be.
 *
 * The JSON is written when the program ends, however it does: by report_close(), exit() or a signal.
 * @return false, after one line on stderr, if one cannot be written.
 */
bool report_open(struct report *report, const char *csv, const char *json);
/** Writes a fact about the run, such as "driver: 580.0": a line of the table, a comment in CSV. */
void report_fact(struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Writes a row to all that is open. */
void report_row(struct report *report, const struct row *row);

/** Empties a fault. */
void fault_clear(struct fault *fault);
/** Keeps a fault for the JSON, and prints to stderr what happened in which run, and how to repeat it. */
void report_fault(struct report *report, const struct fault *fault);
/** Keeps a fault for the JSON that was printed already. */
void report_fault_silently(struct report *report, const struct fault *fault);

struct counters;
/** Keeps what a run counted for the JSON. */
void report_counters(struct report *report, const struct counters *counters);

/** Closes an output. @return false, after one line on stderr, if something could not be written. */
bool output_close(struct output_file *output);
/** Closes the files. @return false, after one line on stderr, if something could not be written. */
bool report_close(struct report *report);
/** Writes the JSON of the open report, if there is one, in a program that is about to end. */
void report_end(void);

#endif
