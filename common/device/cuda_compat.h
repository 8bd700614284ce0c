/**
 * @file cuda_compat.h
 * Whether what was built fits the driver and the GPU that are there. Judgements only: whoever asks
 * has the answers of the driver, and tests can make them up.
 *
 * Versions are CUDA's numbers: 13020 is 13.2.
 */
#ifndef OVERLAP_GPU_FIT_H
#define OVERLAP_GPU_FIT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How code gets onto a GPU. */
enum gpu_code {
    GPU_CODE_NONE, /**< not at all */
    GPU_CODE_PTX,  /**< the driver compiles it for the GPU */
    GPU_CODE_REAL  /**< as it is */
};

/**
 * How code runs that was built for `architectures`, on a GPU of compute capability major.minor.
 * @param architectures  as CMake has them, with commas: "80,90", "80-real", "90-virtual", "90a".
 */
enum gpu_code gpu_code_for(const char *architectures, int major, int minor);

/**
 * Why a driver that serves CUDA `driver` cannot run programs of a CUDA `runtime`, and what mends it.
 * @return false, and no text, if it can: a driver serves all programs of its major version.
 */
bool gpu_driver_too_old(int driver, int runtime, char *text, size_t size);

/**
 * Why a GPU of compute capability major.minor cannot run what was built, and what mends it.
 * @param takes_ptx  whether the driver compiles the PTX: not if it is older than the compiler.
 * @return false, and no text, if it can.
 */
bool gpu_architecture_missing(const char *architectures, int major, int minor, bool takes_ptx,
                              char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
