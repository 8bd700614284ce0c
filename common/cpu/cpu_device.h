/** @file cpu_device.h The CPU device's own controls, beside the CUDA runtime calls that it implements. */
#ifndef OVERLAP_CPU_DEVICE_H
#define OVERLAP_CPU_DEVICE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Order in which the threads of a block, and the blocks of a grid, get to run. */
enum cpu_order { CPU_FORWARD, CPU_REVERSE, CPU_RANDOM };
/** When an asynchronous copy lands: at the wait that covers it, at its issue, or either. */
enum cpu_async { CPU_LATE, CPU_EARLY, CPU_EITHER };
/** In which order a kernel runs, and when its copies land. `seed` matters where `order` or `async` is random. */
struct cpu_schedule {
    const char *name; /**< such as "reverse-late" */
    enum cpu_order order;
    enum cpu_async async;
    unsigned seed;
    unsigned resident; /**< the most blocks at once, of the checked flavour; one of the plain */
};

/** The schedules that verification goes through; the end is an entry whose name is null. */
extern const struct cpu_schedule cpu_schedules[];
/** Later launches follow `*schedule` (copied). The first entry of cpu_schedules is the default. */
void cpu_schedule_set(const struct cpu_schedule *schedule);

/** A fault: out-of-bounds access, divergent barrier, deadlock, race, ... A text is "" where it does not apply. */
struct cpu_fault {
    const char *id;            /**< its kind, as faults/kinds.def has it; "host." before it: of host code */
    const char *place, *other; /**< source lines, such as "04_regblock/kernel.cu:52" */
    const char *memory;        /**< the shared variable, or "device memory" */
    const char *schedule, *text, *mend;     /**< text: all of it, in one sentence; mend: what usually helps */
    const char *thread, *block;             /**< who did it, such as "(1,0,0)" */
    const char *other_thread, *other_block; /**< who did the other part of a race */
};

/** How many faults there were since cpu_faults_clear(). Each was printed to stderr when it was found; a
 * launch that had one fails with cudaErrorLaunchFailure. */
unsigned cpu_faults(void);
/** Fault `i`, or null; the device's until cpu_faults_clear(). */
const struct cpu_fault *cpu_fault(unsigned i);
/** What is allowed, and explains a wrong result: a launch that was refused, a shuffle from a lane outside its mask. Makes
 * faults of it, or, with 0, forgets it. */
void cpu_suspects(int as_faults);
/** Forgets the faults, and the error that they left in the runtime. */
void cpu_faults_clear(void);
/** `call` is called once if a kernel or host code has crashed or does not end: then the process ends, with
 * status 1, for its threads cannot go on. The faults are there. */
void cpu_on_crash(void (*call)(void));

/** What all launches since cpu_counters_reset() did. README.md defines each. */
struct cpu_counters {
    uint64_t load_sectors, load_ideal;   /**< global loads, 32 bytes each */
    uint64_t store_sectors, store_ideal; /**< global stores */
    uint64_t copy_sectors, copy_ideal;   /**< global reads of asynchronous copies */
    uint64_t thread_bytes, copy_bytes;   /**< to shared memory, by threads and by asynchronous copies */
    uint64_t shared_cycles, conflicts;   /**< of shared memory; what bank conflicts add to them */
    uint64_t barriers, waits;            /**< of blocks; for asynchronous copies, warp instructions */
    uint64_t in_flight;                  /**< most groups in flight when a multiply begins */
    uint64_t mma, tensor_flops;          /**< mma_sync, warp instructions; what they compute */
};

/** Whether this program is of the checked flavour: whether it counts, and reports races. */
int cpu_is_checked(void);
void cpu_counters_reset(void);
void cpu_counters_get(struct cpu_counters *counters);

/** What the instructions of one kind at one source line did. */
struct cpu_counter_line {
    const char *file;                   /**< such as "04_regblock/kernel.cu" */
    unsigned line;                      /**< 0, and the address for a file, if it is not known */
    const char *operation, *memory;     /**< load, store, atomic, copy, wait or mma; global, shared or "" */
    unsigned bytes;                     /**< of a lane */
    uint64_t instructions, cost, ideal; /**< of warps; sectors, or cycles of shared memory */
    const char *text;                   /**< what is written in the line */
};
/** Gives how many there are, in order, and the first in `*lines`: the device's until the next call. */
unsigned cpu_counter_lines(const struct cpu_counter_line **lines);

/** What a warp did in one instruction, where it is counted too; and what it did at a barrier or a commit. */
struct cpu_trace_event {
    const char *line, *text;        /**< such as "04_regblock/kernel.cu:52", and what is written there */
    const char *operation, *memory; /**< as in struct cpu_counter_line; also barrier and commit */
    unsigned block, warp;           /**< linear index in the grid and in the block */
    unsigned bytes;                 /**< of a lane */
    uint64_t what;                  /**< wait: how many groups may stay in flight; mma: operations */
    unsigned lanes;                 /**< a bit each */
    const uint64_t *address;        /**< of those lanes, in order; in shared memory from its beginning */
};
typedef void cpu_trace_call(void *context, const struct cpu_trace_event *event);
/** Calls `call` for each event of the first #CPU_TRACE_BLOCKS blocks of a grid, while the checked flavour
 * counts: warp by warp from one barrier to the next. Null: no more. */
void cpu_trace(cpu_trace_call *call, void *context);
enum { CPU_TRACE_BLOCKS = 4 };

#ifdef __cplusplus
}
#endif
#endif
