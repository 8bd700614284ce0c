#include "tools/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Asks the driver's library; its functions and figures are those of cuda.h. */
void driver_ask(struct driver *d) {
    enum { MAJOR = 75, MINOR = 76, NO_DEVICE = 100, GPUS = sizeof d->gpu / sizeof *d->gpu };
    int (*init)(unsigned), (*version)(int *), (*count)(int *), (*name)(char *, int, int);
    int (*attribute)(int *, int, int), (*memory)(size_t *, int), (*bus_id)(char *, int, int);
    memset(d, 0, sizeof *d);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) return;
    *(void **)&init = dlsym(library, "cuInit");
    *(void **)&version = dlsym(library, "cuDriverGetVersion");
    *(void **)&count = dlsym(library, "cuDeviceGetCount");
    *(void **)&name = dlsym(library, "cuDeviceGetName");
    *(void **)&attribute = dlsym(library, "cuDeviceGetAttribute");
    *(void **)&memory = dlsym(library, "cuDeviceTotalMem_v2");
    *(void **)&bus_id = dlsym(library, "cuDeviceGetPCIBusId");
    if (!init || !version || !count || !name || !attribute || !memory || !bus_id || version(&d->version) != 0)
        return;
    d->error = init(0);
    if (d->error == NO_DEVICE) d->error = 0;
    else if (d->error == 0 && count(&d->gpus) != 0) d->gpus = 0;
    if (d->gpus > GPUS) d->gpus = GPUS;
    for (int i = 0; i < d->gpus; ++i) {
        struct gpu *g = &d->gpu[i];
        if (name(g->name, sizeof g->name, i) != 0 || attribute(&g->major, MAJOR, i) != 0 ||
            attribute(&g->minor, MINOR, i) != 0 || memory(&g->bytes, i) != 0 ||
            bus_id(g->bus_id, sizeof g->bus_id, i) != 0)
            snprintf(g->name, sizeof g->name, "(does not answer)");
    }
}
