/**
 * @file steps.h
 * The list of steps and variants, as the build read it from steps/steps.list and tests/diffs/variants/.
 */
#ifndef OVERLAP_STEPS_H
#define OVERLAP_STEPS_H

#include <stdbool.h>

#include "run/shapes.h"

/** One line of steps.list, or one file of tests/diffs/variants/. */
struct step {
    const char *name;     /**< such as "04_regblock" */
    const char *base;     /**< the step it is a diff of, "baseline", or "-" */
    const char *track;    /**< what it computes: a folder of common/track/ */
    enum shape_kind kind; /**< of its sizes: KIND in the folder's track.cmake */
    const char *types;    /**< element types, "in:accumulator:out" */
    const char *arch;     /**< "80": sm_80 or newer; "90a": sm_90a and no other */
    int gpus;             /**< how many GPUs it needs at least */
    const char *missing;  /**< why there is no GPU program, or null if there is one */
    bool variant;         /**< an experiment: a diff of `base`, for `ladder --variants` */
};

/** All steps in order, then all variants; the end is an entry whose name is null. Made by the build. */
extern const struct step steps[];

#endif
