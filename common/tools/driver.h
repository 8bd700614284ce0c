/**
 * @file driver.h
 * What NVIDIA's driver says. It is asked without CUDA's runtime, so that a build without it can ask too.
 */
#ifndef OVERLAP_DRIVER_H
#define OVERLAP_DRIVER_H

#include <stddef.h>

/** The driver and the GPUs that CUDA_VISIBLE_DEVICES lets programs see. */
struct driver {
    int version; /**< of CUDA that it serves; 0: there is no driver */
    int error;   /**< why it does not start; 0: it does */
    int gpus;
    struct gpu {
        char name[96], bus_id[32];
        int major, minor; /**< compute capability */
        size_t bytes;     /**< of memory */
    } gpu[64];
};

/** Asks the driver's library. */
void driver_ask(struct driver *driver);

#endif
