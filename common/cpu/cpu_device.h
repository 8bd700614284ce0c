/**
 * @file cpu_device.h
 * The CPU device's own controls, beside the CUDA runtime calls that it implements.
 *
 * A program linked with the CPU device runs its kernels on the host, one fiber a CUDA thread.
 * In which order threads and blocks run, and when an asynchronous copy lands, is a schedule.
 */
#ifndef OVERLAP_CPU_DEVICE_H
#define OVERLAP_CPU_DEVICE_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Order in which the threads of a block, and the blocks of a grid, get to run. */
enum cpu_order { CPU_FORWARD, CPU_REVERSE, CPU_RANDOM };

/** When an asynchronous copy lands: at the wait that covers it, at its issue, or either. */
enum cpu_async { CPU_LATE, CPU_EARLY, CPU_EITHER };

/** One schedule. `seed` matters where `order` or `async` is random. */
struct cpu_schedule {
    const char *name; /**< such as "reverse-late" */
    enum cpu_order order;
    enum cpu_async async;
    unsigned seed;
};

/** The schedules that verification goes through; the end is an entry whose name is null. */
extern const struct cpu_schedule cpu_schedules[];

/** Later launches follow `*schedule` (copied). The first entry of cpu_schedules is the default. */
void cpu_schedule_set(const struct cpu_schedule *schedule);

/**
 * Faults (out-of-bounds access, divergent barrier, deadlock, race, ...) since the last call of
 * cpu_faults_clear(). Each was printed to stderr when it was found, with file and line; a launch
 * that had one fails with cudaErrorLaunchFailure.
 */
unsigned cpu_faults(void);
/** The text of fault `i`, without a line end; owned by the device until cpu_faults_clear(). */
const char *cpu_fault_text(unsigned i);
/** Forgets the faults, and the error that they left in the runtime. */
void cpu_faults_clear(void);

/** What all launches since cpu_counters_reset() did. README.md defines each. */
struct cpu_counters {
    uint64_t load_sectors, load_ideal;   /**< global loads, 32 bytes each */
    uint64_t store_sectors, store_ideal; /**< global stores */
    uint64_t copy_sectors, copy_ideal;   /**< global reads of asynchronous copies */
    uint64_t register_bytes;             /**< stored to shared memory by threads */
    uint64_t copy_bytes;                 /**< written to shared memory by asynchronous copies */
    uint64_t shared_cycles, conflicts;   /**< of shared memory; what bank conflicts add to them */
    uint64_t barriers;                   /**< that a block went through */
    uint64_t waits;                      /**< for asynchronous copies, warp instructions */
    uint64_t in_flight;                  /**< most groups in flight when a multiply begins */
    uint64_t mma, tensor_flops;          /**< mma_sync, warp instructions; what they compute */
};

/** Whether this program is of the checked flavour: whether it counts, and reports races. */
int cpu_is_checked(void);
void cpu_counters_reset(void);
/** Gives the sums in `*counters`; `lines`, unless null, receives a table by source line. */
void cpu_counters_get(struct cpu_counters *counters, FILE *lines);

#ifdef __cplusplus
}
#endif
#endif
