#include "device/cuda_compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOWEST_MAJOR = 7 }; /* steps.list has no step for an older GPU */

enum gpu_code gpu_code_for(const char *architectures, int major, int minor) {
    enum gpu_code best = GPU_CODE_NONE;
    for (const char *at = architectures; *at >= '0' && *at <= '9';) {
        char *end;
        const int number = (int)strtol(at, &end, 10), gpu = 10 * major + minor;
        const char suffix = *end == 'a' || *end == 'f' ? *end++ : '\0';
        const size_t rest = strcspn(end, ",");
        const bool within = number / 10 == major && number <= gpu;
        const bool fits = suffix == 'a' ? number == gpu : suffix == 'f' ? within : number <= gpu;
        if (fits && within && (rest == 0 || strncmp(end, "-virtual", rest) != 0)) return GPU_CODE_REAL;
        if (fits && (rest == 0 || strncmp(end, "-real", rest) != 0)) best = GPU_CODE_PTX;
        at = end + rest + (end[rest] == ',');
    }
    return best;
}

bool gpu_driver_too_old(int driver, int runtime, char *text, size_t size) {
    if (driver / 1000 >= runtime / 1000) return false;
    snprintf(text, size,
             "the driver serves CUDA %d.%d, the programs need %d.%d: update the driver (sudo "
             "apt-get install nvidia-driver), or build with CUDA %d",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, driver / 1000);
    return true;
}

bool gpu_architecture_missing(const char *architectures, int major, int minor, bool takes_ptx, char *text,
                              size_t size) {
    enum gpu_code code = gpu_code_for(architectures, major, minor);
    if (code == GPU_CODE_REAL || (code == GPU_CODE_PTX && takes_ptx)) return false;
    if (major < LOWEST_MAJOR)
        snprintf(text, size,
                 "this GPU is sm_%d%d, Overlap needs sm_%d0 or newer; the programs under cpu/ need "
                 "no GPU",
                 major, minor, LOWEST_MAJOR);
    else
        snprintf(text, size,
                 "built for sm_{%s}, this GPU is sm_%d%d%s: cmake -S . -B build "
                 "-DCMAKE_CUDA_ARCHITECTURES=%d%d%s",
                 architectures, major, minor,
                 code == GPU_CODE_PTX ? ", and its driver is older than the PTX" : "", major, minor,
                 major == 9 && minor == 0 ? "a" : "");
    return true;
}
