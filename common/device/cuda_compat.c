#include "device/cuda_compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOWEST_MAJOR = 7 }; /* steps.list has no step for an older GPU */

enum gpu_code gpu_code_for(const char *architectures, int major, int minor) {
    enum gpu_code best = GPU_CODE_NONE;
    for (const char *at = architectures; *at >= '0' && *at <= '9';) {
        char *end;
        int number = (int)strtol(at, &end, 10);
        bool same = number / 10 == major, exactly = same && number % 10 == minor;
        size_t rest = strcspn(end, ",");
        bool real = strncmp(end, "-virtual", rest) != 0 || rest == 0;
        bool ptx = strncmp(end, "-real", rest) != 0 || rest == 0;
        if (*end == 'a' || *end == 'f') /* of this one GPU, or family */
            ptx = false, real = *end == 'a' ? exactly : same && number % 10 <= minor;
        else
            real = real && same && number % 10 <= minor;
        if (real)
            return GPU_CODE_REAL;
        if (ptx && number <= 10 * major + minor)
            best = GPU_CODE_PTX;
        at = end + rest + (end[rest] == ',');
    }
    return best;
}

bool gpu_driver_too_old(int driver, int runtime, char *text, size_t size) {
    if (driver / 1000 >= runtime / 1000)
        return false;
    snprintf(text, size,
             "the driver serves CUDA %d.%d, the programs need %d.%d: update the driver (sudo "
             "apt-get install nvidia-driver), or build with CUDA %d",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, driver / 1000);
    return true;
}

bool gpu_architecture_missing(const char *architectures, int major, int minor, bool takes_ptx,
                              char *text, size_t size) {
    enum gpu_code code = gpu_code_for(architectures, major, minor);
    if (code == GPU_CODE_REAL || (code == GPU_CODE_PTX && takes_ptx))
        return false;
    if (major < LOWEST_MAJOR)
        snprintf(text, size,
                 "this GPU is sm_%d%d, Overlap needs sm_%d0 or newer; the programs under cpu/ need "
                 "no GPU",
                 major, minor, LOWEST_MAJOR);
    else
        snprintf(text, size, "built for sm_{%s}, this GPU is sm_%d%d%s: %s%d%d", architectures,
                 major, minor, code == GPU_CODE_PTX ? ", and its driver is older than the PTX" : "",
                 "cmake -S . -B build -DCMAKE_CUDA_ARCHITECTURES=", major, minor);
    return true;
}
