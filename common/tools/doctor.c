/* The doctor: what there is, what is missing, and the one command that mends it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

enum { PATH_SIZE = 1024, GPUS_MAX = 64 };

/* What the driver says; asked without CUDA's runtime, so that a build without it can ask too. */
struct driver {
    int version; /* of CUDA that it serves; 0: there is no driver */
    int error;   /* why it does not start; 0: it does */
    int gpus;
    struct gpu {
        char name[96];
        int major, minor;
        size_t bytes;
    } gpu[GPUS_MAX];
};

/* Programs that something here calls, and their packages: Debian's, or NVIDIA's, to whose names the version belongs. */
static const struct tool {
    const char *name, *use, *package;
} tools[] = {
    {"addr2line", "lines of a fault", "binutils"},
    {"patch", "tests", "patch"},
    {"python3", "docs, measuring", "python3"},
    {"doxygen", "site", "doxygen"},
    {"pygmentize", "diffs in colour", "python3-pygments"},
    {"chromium", "test of the site", "chromium"},
    {"gnuplot", "plots", "gnuplot-nox"},
    {"clang-format-14", "formatting", "clang-format-14"},
};
static const struct tool gpu_tools[] = {
    {"nvidia-smi", "clocks and power in the results", "nvidia-smi"},
    {"compute-sanitizer", "tests", "cuda-sanitizer-"},
    {"ncu", "counters of a GPU", "cuda-nsight-compute-"},
};

static int faults;

static void show(const char *what, const char *format, ...) {
    va_list arguments;
    printf("%-18s ", what);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

/* What keeps something that was built from running. */
static void wrong(const char *what, const char *why) {
    show(what, "WRONG: %s", why);
    ++faults;
}

/* Asks the driver's library; its functions and figures are those of cuda.h. */
static void ask_driver(struct driver *d) {
    enum { MAJOR = 75, MINOR = 76, NO_DEVICE = 100 };
    int (*init)(unsigned), (*version)(int *), (*count)(int *), (*name)(char *, int, int);
    int (*attribute)(int *, int, int), (*memory)(size_t *, int);
    memset(d, 0, sizeof *d);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL)
        return;
    *(void **)&init = dlsym(library, "cuInit");
    *(void **)&version = dlsym(library, "cuDriverGetVersion");
    *(void **)&count = dlsym(library, "cuDeviceGetCount");
    *(void **)&name = dlsym(library, "cuDeviceGetName");
    *(void **)&attribute = dlsym(library, "cuDeviceGetAttribute");
    *(void **)&memory = dlsym(library, "cuDeviceTotalMem_v2");
    if (!init || !version || !count || !name || !attribute || !memory || version(&d->version) != 0)
        return;
    d->error = init(0);
    if (d->error == NO_DEVICE)
        d->error = 0;
    else if (d->error == 0 && count(&d->gpus) != 0)
        d->gpus = 0;
    if (d->gpus > GPUS_MAX)
        d->gpus = GPUS_MAX;
    for (int i = 0; i < d->gpus; ++i) {
        struct gpu *g = &d->gpu[i];
        if (name(g->name, sizeof g->name, i) != 0 || attribute(&g->major, MAJOR, i) != 0 ||
            attribute(&g->minor, MINOR, i) != 0 || memory(&g->bytes, i) != 0)
            snprintf(g->name, sizeof g->name, "(does not answer)");
    }
}

/* Whether an executable of this name is in one of the colon-separated folders. */
static bool found_in(const char *folders, const char *name) {
    char path[PATH_SIZE];
    for (const char *at = folders; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);
        if (access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static void show_tools(const struct tool *list, size_t count, int cuda) {
    char version[16];
    snprintf(version, sizeof version, "%d-%d", cuda / 1000, cuda % 1000 / 10);
    for (size_t i = 0; i < count; ++i) {
        const struct tool *t = &list[i];
        const char *more = t->package[strlen(t->package) - 1] == '-' ? version : "";
        if (found_in(getenv("PATH"), t->name) || found_in(BUILT_CUDA_BIN, t->name))
            show(t->name, "found");
        else
            show(t->name, "missing (%s): sudo apt-get install %s%s", t->use, t->package, more);
    }
}

/* Lets the first step's program verify a small shape. */
static void try_program(const char *folder, const char *device, bool broken) {
    char program[PATH_SIZE], what[32], said[512] = "", line[512];
    int ends[2], status = 0;
    snprintf(what, sizeof what, "%s programs", strcmp(device, "cpu") == 0 ? "CPU" : "GPU");
    snprintf(program, sizeof program, "%s/%s/%s", folder, device, steps[0].name);
    if (access(program, X_OK) != 0) {
        show(what, "not built: cmake --build %s", folder);
        return;
    }
    fflush(stdout);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(program, program, "--verify-only", "--shape", "35x79x19", (char *)NULL);
        _exit(EXIT_FAULT);
    }
    if (child < 0) {
        wrong(what, strerror(errno));
        return;
    }
    close(ends[1]);
    FILE *errors = fdopen(ends[0], "r");
    while (errors != NULL && fgets(line, sizeof line, errors) != NULL)
        if (said[0] == '\0')
            snprintf(said, sizeof said, "%.*s", (int)strcspn(line, "\n"), line);
    if (errors != NULL)
        fclose(errors);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OK)
        show(what, "%s verifies", steps[0].name);
    else if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED)
        show(what, "skipped: %s", said);
    else if (broken) /* said already */
        show(what, "%s does not run", steps[0].name);
    else
        wrong(what, said[0] != '\0' ? said : "ended by a signal");
}

/* The driver, CUDA and the GPUs. Returns whether something is wrong with them. */
static bool show_gpu(const struct driver *d, const char *source, const char *folder) {
    char text[512];
    const bool built = BUILT_RUNTIME > 0;
    const int faults_before = faults;
    if (d->version == 0)
        show("driver", "none; for an NVIDIA GPU: sudo apt-get install nvidia-driver");
    else
        show("driver", "serves CUDA %d.%d", d->version / 1000, d->version % 1000 / 10);
    if (built) {
        show("runtime", "%d.%d, in the programs", BUILT_RUNTIME / 1000, BUILT_RUNTIME % 1000 / 10);
        show("toolkit", "%s", BUILT_TOOLKIT);
        show("built for", "sm_{%s}", BUILT_ARCHITECTURES);
    } else {
        show("toolkit", "not used: %s", BUILT_WITHOUT_CUDA);
    }
    if (d->error != 0) {
        snprintf(text, sizeof text, "the driver does not start (error %d): sudo reboot", d->error);
        wrong("driver", text);
    }
    if (built && d->version > 0 && gpu_driver_too_old(d->version, BUILT_RUNTIME, text, sizeof text))
        wrong("driver", text);
    if (d->gpus == 0)
        show("GPU", "none: the GPU programs are skipped");
    for (int i = 0; i < d->gpus; ++i) {
        const struct gpu *g = &d->gpu[i];
        show("GPU", "%s, sm_%d%d, %.0f GB", g->name, g->major, g->minor, 1e-9 * (double)g->bytes);
        if (built && gpu_architecture_missing(BUILT_ARCHITECTURES, g->major, g->minor,
                                              d->version >= BUILT_RUNTIME, text, sizeof text))
            wrong("GPU", text);
    }
    if (!built && d->gpus > 0 && strcmp(BUILT_WITHOUT_CUDA, "OVERLAP_GPU=OFF") != 0) {
        snprintf(
            text, sizeof text,
            "the GPU is not used, for %s: sudo apt-get install cuda-toolkit && cmake -S %s -B %s",
            BUILT_WITHOUT_CUDA, source, folder);
        wrong("GPU programs", text);
    }
    return faults > faults_before;
}

int main(int argc, char **argv) {
    static struct driver driver;
    char folder[PATH_SIZE - 128];
    if (argc > 1) {
        bool help = strcmp(argv[1], "--help") == 0;
        fprintf(help ? stdout : stderr,
                "usage: %s\nSays what there is to build and to run with, what is missing and what "
                "mends it.\nexit status: 0, or 1 if something that was built cannot run\n",
                argv[0]);
        return help ? EXIT_OK : EXIT_USAGE;
    }
    if (!program_folder(folder, sizeof folder))
        return EXIT_FAULT;
    ask_driver(&driver);
    bool broken = show_gpu(&driver, BUILT_FROM, folder);
    show("CMake", "%s", BUILT_CMAKE);
    show("C compiler", "%s", BUILT_C);
    show("C++ compiler", "%s", BUILT_CXX);
    show("checked programs", "%s",
         CPU_DEVICE_CHECKED ? "built"
                            : "left out: cmake -S . -B build-gcc -DCMAKE_CXX_COMPILER=g++");
    show("tests", "%s",
         BUILD_TESTING ? "built" : "left out: cmake -S . -B build -DBUILD_TESTING=ON");
    show_tools(tools, sizeof tools / sizeof *tools, 0);
    if (driver.version > 0)
        show_tools(gpu_tools, sizeof gpu_tools / sizeof *gpu_tools,
                   BUILT_RUNTIME > 0 ? BUILT_RUNTIME : driver.version);
    try_program(folder, "cpu", false);
    if (BUILT_RUNTIME > 0)
        try_program(folder, "gpu", broken);
    printf("%s\n",
           faults == 0 ? "What was built can run." : "Something that was built cannot run.");
    return fflush(stdout) == 0 && faults == 0 ? EXIT_OK : EXIT_FAULT;
}
