/**
 * @file ladder.h
 * The ladder: runs every step's programs over a set of shapes, and prints one table.
 */
#ifndef OVERLAP_LADDER_H
#define OVERLAP_LADDER_H

#include "run/report.h"
#include "run/shapes.h"
#include "run/steps.h"
#include "tools/driver.h"

/** The sizes that were asked for, by kind of step; the table follows their order. */
struct sizes {
    struct shapes of[2]; /**< by enum shape_kind */
};

/** What the command line asks for, and what has come in so far. */
struct ladder {
    bool gpu, cpu, warm, variants;
    int samples; /**< 0: until the median is settled */
    const char *shapes, *steps, *csv, *json;

    struct driver driver;           /**< of the GPUs, if they are asked for */
    struct report report;           /**< the files; the table is printed at the end, in order */
    struct sizes sizes[2];          /**< of the CPU device, of GPUs */
    const struct step *facts_of[2]; /**< whose facts are kept, for the CPU device and for GPUs */
    struct entry {
        int device, shape, step; /**< its place in the table */
        struct row row;
    } * entries;
    int count, capacity;
};

/** Finds every word of `what` among the sizes of at least one kind. @return false after one line on stderr. */
bool ladder_sizes(const char *what, struct sizes *sizes);
/** Runs the programs that lie in `folder`/gpu or `folder`/cpu. */
void ladder_run(struct ladder *ladder, const char *folder, bool gpu);
/** Adds a row. */
void ladder_add(struct ladder *ladder, const struct row *row);
/**
 * Prints all rows in order, each library once a shape, and how many are verified, failed and skipped.
 * @param file  null: prints nothing.
 * @return an exit status.
 */
int ladder_print(struct ladder *ladder, FILE *file);

#endif
