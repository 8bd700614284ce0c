/**
 * @file problem.h
 * What the tracks share: problems are made, judged, counted and timed, shape by shape.
 *
 * A track (gemm, reduce, scan) says how its problem is laid out in memory, filled, solved and judged,
 * see struct track. All else is here.
 */
#ifndef OVERLAP_PROBLEM_H
#define OVERLAP_PROBLEM_H

#include "device/device.h"
#include "judge/judge.h"
#include "run/options.h"
#include "run/report.h"

/** A step as its main.c declares it: the first member of a struct that holds its functions too. */
struct step_entry {
    const char *name;
    const char *types;    /**< "in:acc:out" */
    const char *unjudged; /**< null, or why its result says nothing: it leaves out a part */
};

enum solver_role { SOLVER_STEP, SOLVER_BASE, SOLVER_LIBRARY, SOLVER_COPY };

/** What runs on the problem: the step, its base, a library, or a copy to compare with. */
struct solver {
    struct problem *problem;
    enum solver_role role;
    char name[32];                  /**< in its row */
    const struct step_entry *entry; /**< of the step and its base, else null */
    struct element_types types;
    struct output *output;
    double work;    /**< FLOP or bytes of one run */
    double ceiling; /**< of the device, the same a second; NAN: not known */
};

struct track;

/** Most solvers and allocations of a problem. */
enum { SOLVERS_MAX = 4, MEMORY_MAX = 12 };

/** One problem in device memory: the first member of what a track adds. */
struct problem {
    const struct track *track;
    const struct options *options;
    const struct device *device;
    struct report *report;
    const struct shape *shape;
    struct solver solvers[SOLVERS_MAX]; /**< the step, then its base if there is one */
    int count;
    const struct solver *base;   /**< or null */
    const struct solver *latest; /**< the one that was timed last */
    bool own_base;               /**< named "baseline": it has no program of its own, and is reported too */
    double need, available;      /**< bytes of device memory asked for; free before */
    void *memory[MEMORY_MAX];
    int memory_count;
    struct trace *trace;     /**< null: not asked for */
    struct matrix workspace; /**< of #ELEMENT_U32, full of garbage before a run; cols = 0: none */
};

/** One kind of input. */
struct input {
    const char *name; /**< such as "real", for "real inputs" */
    enum fill_mode mode;
    bool exact;  /**< results are compared for equality */
    bool judged; /**< false: run once, for what it leaves behind in memory */
};

/** What a track does its own way. */
struct track {
    enum shape_kind kind;
    const char *unit; /**< of the rate: TFLOP/s or GB/s */
    double scale;     /**< units of work in one of those */
    /** All inputs, in this order; the last one is counted and timed. */
    const struct input *inputs;
    int input_count;

    /**
     * Allocates what the problem's shape and solvers need, completes the solvers and adds the library's.
     * @return #EXIT_OK, or #EXIT_USAGE after one line on stderr if it is too large.
     */
    int (*create)(struct problem *p);
    /** Makes the inputs, and the reference. @return false if `s` has none of that kind. */
    bool (*fill)(const struct solver *s, const struct input *in);
    /** Enqueues one run. */
    cudaError_t (*run)(const struct solver *s, cudaStream_t stream);
    /** Tells a trace what operands a run has, by problem_operand(). */
    void (*operands)(const struct solver *s);
    /**
     * Puts into row->note what is wrong with the values of s->output, and the largest error on real
     * inputs into row->error. @return null if nothing is wrong, or the fault's id, see value_text().
     */
    const char *(*wrong)(const struct solver *s, const struct input *in, struct row *row);
};

/**
 * The program of a step: reads the options, opens the device, and verifies (or counts) each shape
 * before it times it. `base` may be null. @return the exit status.
 */
int problem_main(struct problem *problem, const struct track *track, const struct step_entry *step,
                 const struct step_entry *base, int argc, char **argv);

/* For tracks: */

/** Allocates device memory for as long as the problem lasts. @return null if it is not free, see problem_fits(). */
void *problem_memory(struct problem *p, double bytes);
/**
 * Whether all that was asked of problem_memory() was free, and `more` bytes still are.
 * @return #EXIT_OK, or #EXIT_USAGE after one line on stderr.
 */
int problem_fits(struct problem *p, double more);
/** Whether the problem will be timed. */
bool problem_is_timed(const struct problem *p);
/** Adds a solver. */
struct solver *problem_add(struct problem *p, enum solver_role role, const char *name,
                           struct element_types types);
/** Allocates an output like `matrix`, with guard bands, `offset` elements behind a boundary. */
void output_create(struct problem *p, struct output *y, const struct matrix *matrix, size_t offset);
/** Names an operand of the run that is traced. */
void problem_operand(const struct problem *p, const char *name, const struct matrix *x);
/** The bits of an element in device memory, `i` elements behind the first. */
uint32_t element_fetch(const struct matrix *x, size_t i);
/**
 * Writes a wrong value as a fault shows it, and whether it was never written.
 * @return the fault's id: "judge.never_written", "judge.nan", "judge.slightly_wrong" (by 1% at most), or
 *         "judge.wrong_values".
 */
const char *value_text(char *text, size_t size, enum element_type type, uint32_t bits, double want);

#endif
