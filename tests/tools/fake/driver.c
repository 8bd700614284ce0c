/* Stands for NVIDIA's driver, as libcuda.so.1: answers what the environment says, and has nothing behind it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int answer(const char *name, int otherwise) {
    const char *value = getenv(name);
    return value != NULL ? atoi(value) : otherwise;
}

int cuInit(unsigned flags) {
    (void)flags;
    return answer("FAKE_INIT", answer("FAKE_GPUS", 0) > 0 ? 0 : 100); /* CUDA_ERROR_NO_DEVICE */
}

int cuDriverGetVersion(int *version) {
    *version = answer("FAKE_DRIVER", 13000);
    return 0;
}

int cuDeviceGetCount(int *count) {
    *count = answer("FAKE_GPUS", 0);
    return 0;
}

int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, (size_t)size, "Fake GPU %d", device);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    const int sm = answer("FAKE_SM", 90);
    (void)device;
    *value = attribute == 75 ? sm / 10 : attribute == 76 ? sm % 10 : 0; /* compute capability */
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    *bytes = (size_t)80 << 30;
    return 0;
}

/* The first GPU of CUDA_VISIBLE_DEVICES, which names GPU 1 "1" or "GPU-fake-1". */
int cuDeviceGetPCIBusId(char *id, int size, int device) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *bus = getenv("FAKE_BUS");
    if (visible != NULL && strncmp(visible, "GPU-fake-", 9) == 0) visible += 9;
    snprintf(id, (size_t)size, "%s:%d", bus != NULL ? bus : "fake",
             device + (visible != NULL ? atoi(visible) : 0));
    return 0;
}
