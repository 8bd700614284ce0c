/* A GPU: it has one schedule and no counters, and CUDA says what goes wrong. */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_compat.h"
#include "judge/judge.h"

/* The answers of nvidia-smi to a query, comma-separated, about one GPU; "" without nvidia-smi. */
static void query(const char *bus_id, const char *fields, char *answer, size_t size) {
    char command[256];
    snprintf(command, sizeof command, "nvidia-smi -i %s --query-gpu=%s --format=csv,noheader 2>/dev/null",
             bus_id, fields);
    answer[0] = '\0';
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) return;
    if (fgets(answer, (int)size, pipe) == NULL) answer[0] = '\0';
    pclose(pipe);
    answer[strcspn(answer, "\n")] = '\0';
}

static void describe(int ordinal, struct device *d) {
    char bus_id[32] = "0";
    int khz = 0, memory_khz = 0, bus_bits = 0, runtime = 0, driver = 0, l2 = 0;
    device_describe(ordinal, d);
    CUDA_CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, ordinal));
    CUDA_CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, ordinal));
    CUDA_CHECK(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, ordinal));
    CUDA_CHECK(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, ordinal));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    CUDA_CHECK(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, ordinal));
    d->gpu = true;
    d->l2_bytes = (size_t)l2;
    d->clock_hz = 1e3 * khz;
    d->memory_bytes = 2 * 1e3 * memory_khz * bus_bits / 8; /* two transfers a cycle */
    snprintf(d->runtime, sizeof d->runtime, "%d.%d", runtime / 1000, runtime % 1000 / 10);
    query(bus_id, "driver_version", d->driver, sizeof d->driver);
    query(bus_id, "clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem", d->clocks, sizeof d->clocks);
    query(bus_id, "power.limit", d->power, sizeof d->power);
    if (d->driver[0] == '\0') {
        snprintf(d->driver, sizeof d->driver, "for CUDA %d.%d", driver / 1000, driver % 1000 / 10);
        snprintf(d->clocks, sizeof d->clocks, "at most %d MHz", khz / 1000);
        snprintf(d->power, sizeof d->power, "not known");
    }
}

int device_open(int ordinal, struct device *device) {
    int count = 0, driver = 0, runtime = 0;
    char text[256];
    cudaError_t error = cudaGetDeviceCount(&count);
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (error == cudaErrorInsufficientDriver && driver > 0 &&
        gpu_driver_too_old(driver, runtime, text, sizeof text)) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAULT;
    }
    if (driver > 0 && error != cudaSuccess && error != cudaErrorNoDevice) {
        fprintf(stderr, "the driver does not start: %s\n", cuda_explain(error));
        return EXIT_FAULT;
    }
    if (error != cudaSuccess || count == 0) {
        fprintf(stderr, "no GPU: %s; the programs under cpu/ need none\n",
                driver == 0 ? "there is no NVIDIA driver" : "the driver lists none");
        const char *required = getenv("OVERLAP_REQUIRE_GPU");
        return required != NULL && strcmp(required, "1") == 0 ? EXIT_FAULT : EXIT_SKIPPED;
    }
    if (ordinal >= count) {
        fprintf(stderr, "--device %d: not allowed; allowed: 0 to %d\n", ordinal, count - 1);
        return EXIT_USAGE;
    }
    CUDA_CHECK(cudaSetDevice(ordinal));
    describe(ordinal, device);
    CUDA_CHECK(judge->probe());
    const char *differs = judge_self_test(judge);
    if (differs != NULL) {
        fprintf(stderr, "the GPU's judge disagrees with the plain loops: %s\n", differs);
        return EXIT_FAULT;
    }
    return EXIT_OK;
}

const char *device_schedule(int i, const char *only) {
    (void)only;
    return i == 0 ? "hardware" : NULL;
}

bool device_fault(unsigned i, struct fault *fault) {
    (void)i, (void)fault;
    return false;
}

void device_faults_clear(void) {}
void device_suspects(void) {}

void device_watch(struct report *report, const struct fault *context) { (void)report, (void)context; }

void device_count(void) {}

void device_counted(struct counters *counters) { (void)counters; }

void device_trace(struct trace *trace) { (void)trace; }
