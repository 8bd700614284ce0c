/**
 * @file cuda_compat.h
 * Whether what was built runs with a driver and on a GPU. Nothing here asks the driver or the GPU:
 * the caller has asked, and a test makes the answers up.
 *
 * Versions are CUDA's numbers: 13020 is 13.2.
 */
#ifndef OVERLAP_CUDA_COMPAT_H
#define OVERLAP_CUDA_COMPAT_H

#include <stdbool.h>
#include <stddef.h>

/** What a GPU finds in a program. */
enum gpu_code {
    GPU_CODE_NONE, /**< nothing that it can run */
    GPU_CODE_PTX,  /**< PTX that the driver can compile for it */
    GPU_CODE_REAL  /**< machine code that it runs as it is */
};

/**
 * What a GPU of compute capability major.minor finds in a program built for `architectures`, as CMake
 * has them, with commas: "80,90", "80-real", "90-virtual"; "90a" is for sm_90 alone, "100f" for sm_10x.
 */
enum gpu_code gpu_code_for(const char *architectures, int major, int minor);

/**
 * Writes to `text` why a driver that serves CUDA `driver` cannot run programs built with CUDA
 * `runtime`, and what mends it.
 * @return false, without a text, if it can: a driver runs the programs of its major version, and older ones.
 */
bool gpu_driver_too_old(int driver, int runtime, char *text, size_t size);

/**
 * The same of a GPU and a program built for `architectures`.
 * @param takes_ptx  whether the driver can compile the PTX: not if it is older than the compiler.
 */
bool gpu_architecture_missing(const char *architectures, int major, int minor, bool takes_ptx, char *text,
                              size_t size);

#endif
