/**
 * @file device.h
 * The device that a program runs on: a GPU in the programs under gpu/, the CPU device under cpu/.
 */
#ifndef OVERLAP_DEVICE_H
#define OVERLAP_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "judge/element.h"
#include "run/options.h"
#include "run/report.h"
#include "run/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is known of the open device. */
struct device {
    bool gpu;            /**< false: the CPU device, whose time means nothing */
    bool counts;         /**< whether it can do --counters */
    char name[96];       /**< such as "NVIDIA H200" */
    int major, minor;    /**< compute capability */
    int sms;             /**< streaming multiprocessors */
    size_t l2_bytes;     /**< size of the L2 cache */
    double clock_hz;     /**< highest clock of the SMs; 0: not known */
    double memory_bytes; /**< nominal bandwidth of the memory, bytes a second; 0: not known */
    char driver[32];     /**< version of the driver */
    char runtime[16];    /**< version of the CUDA runtime that this program was built with */
    char clocks[96];     /**< SM and memory clocks, now and at most */
    char power[48];      /**< power limit */
};

/**
 * Opens device number `ordinal` and makes it current.
 * @return #EXIT_OK, or the exit status after one line on stderr: #EXIT_SKIPPED without any GPU,
 *         #EXIT_USAGE if there is no such number, #EXIT_FAULT if the GPU cannot run this program.
 */
int device_open(int ordinal, struct device *device);

/** For device_open(): fills in name, compute capability and SMs; empties the rest. */
void device_describe(int ordinal, struct device *device);

/** Checks the options that not every device has. @return #EXIT_OK, or #EXIT_USAGE after one line on stderr. */
int device_check_options(const struct options *options, const struct device *device);

/** Reports the facts of the run: device, versions, clocks, date, seed, how it is timed. */
void device_report(const struct device *device, const struct options *options, struct report *report);

/** Starts the row of a result on `device`: all that is known before the run but the sizes. */
void device_row(struct row *row, const struct device *device, const struct shape *shape,
                enum element_type type, const char *step, const char *base);

/**
 * Arithmetic ceiling in FLOP/s: SMs x operations a cycle x highest clock; NAN where it is not known.
 *
 * Operations a cycle and SM are those of the table "Throughput of Native Arithmetic Instructions"
 * in NVIDIA's CUDA C++ Programming Guide (FP32) and of the architecture white papers (TF32, BF16
 * and FP16, dense; on Hopper only wgmma reaches it).
 */
double device_peak_flops(const struct device *device, enum element_type type);

/**
 * Goes to schedule number `i` of those that `only` allows (null: all).
 * @return its name, or null behind the last. A GPU has one, "hardware".
 */
const char *device_schedule(int i, const char *only);

/**
 * Says whose run comes next: `context` has the step, the shape, the inputs and how to repeat it. A
 * kernel that crashes the program is reported so, see cpu_on_crash().
 */
void device_watch(struct report *report, const struct fault *context);

/**
 * Waits for the device.
 * @return the first error of the run, null if there was none: the launch's or the kernel's. Valid
 *         until the next call. It stays, on the CPU device, until device_faults().
 */
const char *device_error(cudaError_t launch);

/**
 * Reports what device_error() found, with `context`'s step, shape, inputs and so on, and clears it.
 * @return false if it had found nothing.
 */
bool device_faults(struct report *report, const struct fault *context);

/** Puts fault number `i` that the device itself found into `fault`. @return false if there is none. */
bool device_fault(unsigned i, struct fault *fault);
/** Forgets them. */
void device_faults_clear(void);

/** Makes faults of what explains a wrong result of the run that device_watch() began: a launch that was refused. */
void device_suspects(void);

/** Begins to count, from zero. */
void device_count(void);
/** Fills in what was counted since; the lines are the device's until the next call. */
void device_counted(struct counters *counters);
/** Adds what is counted from now on to a trace, and writes it if the kernel crashes; null: no more. */
void device_trace(struct trace *trace);

/** "not optimised" or "device debugging" if this program is slow for such a reason, else "". */
const char *device_build_label(void);

/** Ends the program with #EXIT_FAULT and one line on stderr unless `error` is cudaSuccess. */
void cuda_check(cudaError_t error, const char *call, const char *file, int line);
/** cuda_check() of a call. */
#define CUDA_CHECK(call) cuda_check((call), #call, __FILE__, __LINE__)

/** `error` in words; if no kernel image fits the GPU, which were built and which GPU it is. */
const char *cuda_explain(cudaError_t error);

#ifdef __cplusplus
}
#endif
#endif
