/* The doctor: what there is, what is missing, and the one command that mends it. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "device/cuda_compat.h"
#include "run/options.h"
#include "run/steps.h"
#include "tools/child.h"
#include "tools/driver.h"

enum { PATH_SIZE = 1024 };

/* Programs that something here calls, and their packages: Debian's, or NVIDIA's, to whose names the version belongs. */
static const struct tool {
    bool gpu; /* of use where there is a driver */
    const char *name, *use, *package;
} tools[] = {
    {false, "addr2line", "lines of a fault", "binutils"},
    {false, "patch", "tests", "patch"},
    {false, "python3", "docs, measuring", "python3"},
    {false, "doxygen", "site", "doxygen"},
    {false, "pygmentize", "diffs in colour", "python3-pygments"},
    {false, "chromium", "test of the site", "chromium"},
    {false, "gnuplot", "plots", "gnuplot-nox"},
    {false, "clang-format-14", "formatting", "clang-format-14"},
    {true, "nvidia-smi", "clocks and power in the results", "nvidia-smi"},
    {true, "compute-sanitizer", "tests", "cuda-sanitizer-"},
    {true, "ncu", "counters of a GPU", "cuda-nsight-compute-"},
};

static int faults;
enum state { FINE, WRONG };

/* WRONG: it keeps something that was built from running. */
static void show(enum state state, const char *what, const char *format, ...) {
    va_list arguments;
    faults += state == WRONG;
    printf("%-18s %s", what, state == WRONG ? "WRONG: " : "");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

/* `cuda`: the version that NVIDIA's tools should have; 0: there is no driver. */
static void show_tools(int cuda) {
    char command[PATH_SIZE], version[16];
    snprintf(version, sizeof version, "%d-%d", cuda / 1000, cuda % 1000 / 10);
    for (const struct tool *t = tools; t < tools + sizeof tools / sizeof *tools; ++t) {
        snprintf(command, sizeof command, "PATH=\"$PATH:%s\"; command -v %s >/dev/null", BUILT_CUDA_BIN,
                 t->name);
        if (t->gpu && cuda == 0) continue;
        if (system(command) == 0) show(FINE, t->name, "found");
        else
            show(FINE, t->name, "missing (%s): sudo apt-get install %s%s", t->use, t->package,
                 t->package[strlen(t->package) - 1] == '-' ? version : "");
    }
}

/* Lets the first step's program verify a small shape. */
static void try_program(const char *folder, const char *device, bool broken) {
    char program[PATH_SIZE], what[32], said[512];
    const char *arguments[] = {program, "--verify-only", "--shape", "35x79x19", NULL};
    snprintf(what, sizeof what, "%s programs", strcmp(device, "cpu") == 0 ? "CPU" : "GPU");
    snprintf(program, sizeof program, "%s/%s/%s", folder, device, steps[0].name);
    if (access(program, X_OK) != 0) {
        show(FINE, what, "not built: cmake --build %s", folder);
        return;
    }
    const int status = child_run(arguments, NULL, false, said, sizeof said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OK) show(FINE, what, "%s verifies", steps[0].name);
    else if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED) show(FINE, what, "skipped: %s", said);
    else if (broken) /* said already */ show(FINE, what, "%s does not run", steps[0].name);
    else show(WRONG, what, "%s", said[0] != '\0' ? said : "ended by a signal");
}

/* The driver, CUDA and the GPUs. Returns whether something is wrong with them. */
static bool show_gpu(const struct driver *d, const char *source, const char *folder) {
    char text[512];
    const bool built = BUILT_RUNTIME > 0;
    const int faults_before = faults;
    if (d->version == 0) show(FINE, "driver", "none; for an NVIDIA GPU: sudo apt-get install nvidia-driver");
    else show(FINE, "driver", "serves CUDA %d.%d", d->version / 1000, d->version % 1000 / 10);
    if (built) {
        show(FINE, "runtime", "%d.%d, in the programs", BUILT_RUNTIME / 1000, BUILT_RUNTIME % 1000 / 10);
        show(FINE, "toolkit", "%s", BUILT_TOOLKIT);
        show(FINE, "built for", "sm_{%s}", BUILT_ARCHITECTURES);
    } else {
        show(FINE, "toolkit", "not used: %s", BUILT_WITHOUT_CUDA);
    }
    if (d->error != 0) {
        show(WRONG, "driver", "the driver does not start (error %d): sudo reboot", d->error);
    }
    if (built && d->version > 0 && gpu_driver_too_old(d->version, BUILT_RUNTIME, text, sizeof text))
        show(WRONG, "driver", "%s", text);
    if (d->gpus == 0) show(FINE, "GPU", "none: the GPU programs are skipped");
    for (int i = 0; i < d->gpus; ++i) {
        const struct gpu *g = &d->gpu[i];
        show(FINE, "GPU", "%s, sm_%d%d, %.0f GB", g->name, g->major, g->minor, 1e-9 * (double)g->bytes);
        if (built && gpu_architecture_missing(BUILT_ARCHITECTURES, g->major, g->minor,
                                              d->version >= BUILT_RUNTIME, text, sizeof text))
            show(WRONG, "GPU", "%s", text);
    }
    if (!built && d->gpus > 0 && strcmp(BUILT_WITHOUT_CUDA, "OVERLAP_GPU=OFF") != 0) {
        show(WRONG, "GPU programs",
             "the GPU is not used, for %s: sudo apt-get install cuda-toolkit && cmake -S %s -B %s",
             BUILT_WITHOUT_CUDA, source, folder);
    }
    return faults > faults_before;
}

int main(int argc, char **argv) {
    static struct driver driver;
    char folder[PATH_SIZE - 128];
    const struct option_word none = {NULL, NULL, OPTION_FLAG, NULL, NULL, 0, 0};
    int status =
        options_read("Says what there is to build and to run with, what is missing and what mends it.\n"
                     "exit status: 0, or 1 if something that was built cannot run\n",
                     &none, argc, argv);
    if (status >= 0) return status;
    if (!program_folder(folder, sizeof folder)) return EXIT_FAULT;
    driver_ask(&driver);
    bool broken = show_gpu(&driver, BUILT_FROM, folder);
    show(FINE, "CMake", "%s", BUILT_CMAKE);
    show(FINE, "C compiler", "%s", BUILT_C);
    show(FINE, "C++ compiler", "%s", BUILT_CXX);
    show(FINE, "checked programs", "%s",
         CPU_DEVICE_CHECKED ? "built" : "left out: cmake -S . -B build-gcc -DCMAKE_CXX_COMPILER=g++");
    show(FINE, "tests", "%s", BUILD_TESTING ? "built" : "left out: cmake -S . -B build -DBUILD_TESTING=ON");
    show_tools(driver.version > 0 && BUILT_RUNTIME > 0 ? BUILT_RUNTIME : driver.version);
    try_program(folder, "cpu", false);
    if (BUILT_RUNTIME > 0) try_program(folder, "gpu", broken);
    printf("%s\n", faults == 0 ? "What was built can run." : "Something that was built cannot run.");
    return fflush(stdout) == 0 && faults == 0 ? EXIT_OK : EXIT_FAULT;
}
