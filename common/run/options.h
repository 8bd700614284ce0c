/**
 * @file options.h
 * The command line of a step's program.
 */
#ifndef OVERLAP_OPTIONS_H
#define OVERLAP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/shapes.h"

/** Exit statuses of every program here. */
enum {
    EXIT_OK = 0,      /**< all that was asked for was verified */
    EXIT_FAULT = 1,   /**< a wrong result, a fault of the kernel or an error of the device */
    EXIT_USAGE = 2,   /**< the command line asks for what is not allowed; nothing was run */
    EXIT_SKIPPED = 77 /**< there is no device to run on; CTest shows it as skipped */
};

/** What the command line asks for. */
struct options {
    struct shapes shapes; /**< at least one, once device_open() has added the default */
    uint64_t seed;        /**< of the inputs */
    int samples;          /**< timed runs; 0: until the median is settled */
    int device;           /**< number of the CUDA device */
    int pad;              /**< GEMM: elements added to every row, beyond the 128-byte boundary */
    int offset;           /**< vectors: elements between a 256-byte boundary and the first one */
    int repeats;          /**< runs that are verified, of each kind of input and each schedule */
    bool warm;            /**< do not flush the L2 cache between samples */
    bool verify_only;     /**< no timing */
    bool counters;        /**< run once and count, see counters.h */
    bool base;            /**< with counters: those of the base too */
    const char *schedule; /**< of the CPU device, by name; null: all */
    const char *csv;  /**< where rows go as CSV, "-" for stdout in place of the table; or null */
    const char *json; /**< the same as JSON */
};

/**
 * Parses the command line of a step that works on sizes of `kind`.
 *
 * @return -1 to go on, or the exit status: #EXIT_OK after --help and --list, #EXIT_USAGE after an
 *         error, for which one line with the value and what is allowed went to stderr.
 */
int options_parse(struct options *options, enum shape_kind kind, int argc, char **argv);

/** Where this program lies, without a slash at the end. @return false after one line on stderr. */
bool program_folder(char *folder, size_t size);

#endif
