#include "device/device.h"

#include <math.h>

double device_peak_flops(const struct device *d, enum element_type type) {
    /* Fused multiply-adds a cycle and SM. BF16 and FP16 take twice the rate of TF32. */
    static const struct {
        int major, minor, f32, tf32;
    } table[] = {
        {8, 0, 64, 512},   {8, 6, 128, 128},   {8, 7, 128, 256},   {8, 9, 128, 128},
        {9, 0, 128, 1024}, {10, 0, 128, 2048}, {10, 3, 128, 2048}, {12, 0, 128, 128},
    };
    for (size_t i = 0; d->gpu && type != ELEMENT_U32 && i < sizeof table / sizeof *table; ++i)
        if (table[i].major == d->major && table[i].minor == d->minor && d->clock_hz > 0)
            return 2.0 * d->sms * d->clock_hz *
                   (type == ELEMENT_F32    ? table[i].f32
                    : type == ELEMENT_TF32 ? table[i].tf32
                                           : 2 * table[i].tf32);
    return NAN;
}
