/**
 * @file options.h
 * Command lines: of a step's program, and how any program here reads its own.
 */
#ifndef OVERLAP_OPTIONS_H
#define OVERLAP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "run/shapes.h"

/** Exit statuses of every program here. */
enum {
    EXIT_OK = 0,      /**< all that was asked for was verified */
    EXIT_FAULT = 1,   /**< a wrong result, a fault of the kernel or an error of the device */
    EXIT_USAGE = 2,   /**< the command line asks for what is not allowed; nothing was run */
    EXIT_SKIPPED = 77 /**< there is no device to run on; CTest shows it as skipped */
};

/** An option that a program has, and where its value goes. */
struct option_word {
    const char *name, *argument; /**< argument: what --help calls it */
    enum {
        OPTION_FLAG,  /**< bool */
        OPTION_STOP,  /**< bool; nothing behind it is read */
        OPTION_TEXT,  /**< const char * */
        OPTION_INT,   /**< int, from `min` to `max` */
        OPTION_INT64, /**< int64_t, from `min` to `max` */
        OPTION_SHAPES /**< struct shapes, of the kind `min` */
    } type;
    void *value;
    const char *help;
    int64_t min, max; /**< max < min: an option of other programs */
};

/**
 * Reads a command line. The last of `words` has no name. --help prints `about`, and all options.
 * @return -1 to go on, or the exit status: #EXIT_OK after --help, #EXIT_USAGE after one line on stderr
 *         with the value and what is allowed. Opens stdin, stdout and stderr if they are closed: no other
 *         file gets their numbers, and what is written there fails.
 */
int options_read(const char *about, const struct option_word *words, int argc, char **argv);

/** Says on stderr that this value of an option is not allowed, and what is. @return #EXIT_USAGE */
int option_refused(const char *option, const char *value, const char *allowed);

/** Writes out what was printed to stdout. @return #EXIT_OK, or #EXIT_FAULT after one line on stderr. */
int option_printed(void);

/** What the command line of a step asks for. */
struct options {
    struct shapes shapes; /**< at least one, after options_default_shapes() */
    uint64_t seed;        /**< of the inputs */
    int samples;          /**< timed runs; 0: until the median is settled */
    int device;           /**< number of the CUDA device */
    int pad;              /**< GEMM: elements added to every row, beyond the 128-byte boundary */
    int offset;           /**< vectors: elements between a 256-byte boundary and the first one */
    int repeats;          /**< runs that are verified, of each kind of input and each schedule */
    bool warm;            /**< do not flush the L2 cache between samples */
    bool verify_only;     /**< no timing */
    bool quiet;           /**< no table */
    bool counters;        /**< run once and count */
    bool base;            /**< with counters: those of the base too */
    const char *trace; /**< where the trace of that run goes, "-" for stdout in place of the table; or null */
    const char *schedule; /**< of the CPU device, by name; null: all */
    bool each_schedule;   /**< a failure under one does not end it: the others are run too */
    const char *csv;      /**< where rows go as CSV, "-" for stdout in place of the table; or null */
    const char *json;     /**< the same as JSON */
};

/**
 * Parses the command line of a step that works on sizes of `kind`.
 * @return as options_read(), or #EXIT_OK after --list.
 */
int options_parse(struct options *options, enum shape_kind kind, int argc, char **argv);

/**
 * Adds the shapes to run where the command line names none: the set `counted` for --counters, else
 * `ladder` on a GPU and `small` on the CPU device.
 * @return #EXIT_OK, or #EXIT_FAULT after one line on stderr.
 */
int options_default_shapes(struct options *options, enum shape_kind kind, bool gpu);

#endif
