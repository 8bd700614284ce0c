/**
 * @file test.c
 * Tests of the CPU device: that right kernels give the right bits under every schedule, and that
 * wrong ones are caught, with their line.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "cpu_device.h"
#include "kernels.h"

enum { WORDS = 256, NAN_BITS = -1 };

static int *in, *out; /* device memory */

static int setup(void **state) {
    int host[WORDS];
    (void)state;
    for (int i = 0; i < WORDS; ++i) host[i] = (i * 37 + 11) % 101;
    if (cudaMalloc((void **)&in, sizeof host) || cudaMalloc((void **)&out, sizeof host)) return -1;
    return cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess;
}

static int teardown(void **state) {
    (void)state;
    cpu_faults_clear();
    cpu_schedule_set(&cpu_schedules[0]);
    return cudaFree(in) || cudaFree(out);
}

/** The sentence of fault `i`; "" if there is none. */
static const char *text_of(unsigned i) {
    const struct cpu_fault *fault = cpu_fault(i);
    return fault ? fault->text : "";
}

static void get(const void *device, void *host, size_t size) {
    assert_int_equal(cudaMemcpy(host, device, size, cudaMemcpyDeviceToHost), cudaSuccess);
}

/* ---- Right kernels -------------------------------------------------------------------------- */

static const struct {
    enum right kernel;
    const char *name;
} right_kernels[] = {
    {MIRROR, "block barrier"},
    {EARLY_EXIT, "barrier after some threads exited"},
    {BARRIER_VOTES, "__syncthreads_count, _and, _or"},
    {SHUFFLES, "shuffles"},
    {PARTIAL_WARP, "partial warp"},
    {SPLIT_WARP, "two halves of a warp apart"},
    {VOTES, "votes"},
    {DYNAMIC_SHARED, "dynamic shared memory"},
    {HISTOGRAM, "atomics"},
    {COMPARE_AND_SWAP, "compare and swap"},
    {SPIN, "spinning on an atomic"},
    {INDICES, "indices in three dimensions"},
    {VECTORS, "vectors and cache hints"},
    {DEVICE_VARIABLE, "__device__ variable"},
    {LIBRARY_VARIABLE, "thread-local variable of a library"},
    {ASYNC_MIRROR, "asynchronous copy"},
    {ASYNC_GROUPS, "asynchronous groups"},
    {ASYNC_REFILL, "asynchronous refill"},
    {ASYNC_SKIP, "asynchronous copy, predicated off"},
    {ASYNC_ZERO_FILL, "asynchronous copy, zero-filled"},
};

/** What `kernel` makes of x in y, whose words are 1 before. */
static void expected(enum right kernel, const int *x, int *y) {
    int sum = 0;
    for (int t = 0; t < WORDS; ++t) {
        int warp = t / 32 * 32, lane = t % 32;
        switch (kernel) {
        case MIRROR:
            if (t < 96) y[t] = x[95 - t];
            break;
        case EARLY_EXIT:
            if (t < 70) y[t] = x[69 - t];
            break;
        case BARRIER_VOTES:
            if (t < 96) y[t] = 321010;
            break;
        case SHUFFLES:
            if (t < 64)
                y[t] = x[warp + 5] + x[t % 8 < 3 ? t : t - 3] * 100 + x[lane < 12 ? t + 20 : t] * 10000 +
                       x[t ^ 9] * 1000000;
            break;
        case PARTIAL_WARP:
            if (lane == 0 && t < 64) {
                int lanes = t ? 20 : 32, v[32];
                memcpy(v, &x[t], sizeof v);
                for (int d = 16; d; d /= 2)
                    for (int l = 0; l + d < lanes; ++l)
                        v[l] += v[l + d]; /* upwards: v[l + d] is still the old one */
                for (int l = 0; l < lanes; ++l) y[t + l] = v[0] + (t ? 0xfffff : -1);
            }
            break;
        case SPLIT_WARP:
            if (t < 64) y[t] = lane < 16 ? x[t ^ 15] : x[warp + 31] + 1;
            break;
        case VOTES:
            if (t < 64) {
                unsigned ballot = 0;
                for (int l = 0; l < 32; ++l) ballot |= (unsigned)((warp + l) % 5 == 0) << l;
                y[t] = (int)(ballot ^ (t < 32 ? 4 : 2));
            }
            break;
        case DYNAMIC_SHARED:
            if (t < 200) y[t] = x[99 - t % 100];
            break;
        case HISTOGRAM:
            if (t < 200) {
                const float hundred = 100.0f;
                y[x[t] % 8]++;
                y[8] = x[t] > y[8] ? x[t] : y[8];
                y[9] = -x[t] < y[9] ? -x[t] : y[9];
                y[10] = -1, y[11] = 0, y[13]--, y[15] = 100, y[16] = 7;
                y[14] = 1; /* 1 + 200 modulo 5 */
                memcpy(&y[12], &hundred, 4);
            }
            break;
        case COMPARE_AND_SWAP: y[0] = 59049; break;
        case SPIN:
            if (t < 64) y[63 - t] = sum += x[t ? 63 - t : 0];
            break;
        case INDICES:
            if (t < 240) y[t] = t / 20 * 1000 + t % 20;
            break;
        case VECTORS: y[t] = x[t / 4 * 4 + 3 - t % 4]; break;
        case DEVICE_VARIABLE:
            if (t < 64) sum += x[t];
            for (int i = 0; i < 64; ++i) y[i] = 1000 + sum;
            break;
        case LIBRARY_VARIABLE: y[t] = t < 64 ? 0 : 1; break;
        case ASYNC_MIRROR: y[t] = x[255 - t]; break;
        case ASYNC_GROUPS:
            if (t < 32) {
                y[t] = 0;
                for (int i = 0; i < 16; ++i) y[t] += x[i * 4 + t];
            }
            break;
        case ASYNC_REFILL:
            if (t < 64) y[t] = x[63 - t] * 9 + x[127 - t] * 3 + x[191 - t];
            break;
        case ASYNC_SKIP:
        case ASYNC_ZERO_FILL:
            if (t < 128) y[127 - t] = t < 8 ? x[t] : kernel == ASYNC_SKIP ? -1 : 0;
            break;
        case RIGHT_KERNELS: break;
        }
    }
}

static void test_right_kernels(void **state) {
    int x[WORDS], want[WORDS], got[WORDS], ones[WORDS];
    (void)state;
    get(in, x, sizeof x);
    for (int i = 0; i < WORDS; ++i) ones[i] = 1;
    for (size_t k = 0; k < sizeof right_kernels / sizeof *right_kernels; ++k) {
        memcpy(want, ones, sizeof want);
        expected(right_kernels[k].kernel, x, want);
        for (const struct cpu_schedule *s = cpu_schedules; s->name; ++s) {
            cpu_schedule_set(s);
            cudaMemcpy(out, ones, sizeof ones, cudaMemcpyHostToDevice);
            assert_int_equal(run_right(right_kernels[k].kernel, in, out), cudaSuccess);
            assert_int_equal(cpu_faults(), 0);
            get(out, got, sizeof got);
            for (int i = 0; i < WORDS; ++i)
                if (got[i] != want[i])
                    fail_msg("%s, schedule %s: word %d is %d, not %d", right_kernels[k].name, s->name, i,
                             got[i], want[i]);
        }
    }
}

/* ---- Kernels that are wrong by value -------------------------------------------------------- */

/** Runs a kernel under every schedule. Bit i of the result: it gave `want` under schedule i. */
static unsigned schedules_right(enum wrong kernel, const int *want, int words) {
    unsigned right = 0, bit = 1;
    for (const struct cpu_schedule *s = cpu_schedules; s->name; ++s, bit *= 2) {
        int got[WORDS];
        cpu_schedule_set(s);
        cudaMemset(out, 0x11, sizeof got);
        assert_int_equal(run_wrong(kernel, in, out, WORDS), cudaSuccess);
        get(out, got, sizeof got);
        if (memcmp(got, want, (size_t)words * sizeof *got) == 0) right |= bit;
    }
    return right;
}

enum { NO_SCHEDULE = 0, EARLY_ONES = 0x0c, ALL_SCHEDULES = 0x7f };

static void test_wrong_by_value(void **state) {
    int x[WORDS], want[WORDS];
    (void)state;
    get(in, x, sizeof x);
    for (int t = 0; t < 64; ++t) want[t] = x[63 - t];
    assert_int_equal(schedules_right(NO_BARRIER, want, 64), NO_SCHEDULE);
    assert_int_equal(schedules_right(ASYNC_NO_BARRIER, want, 64), NO_SCHEDULE);
    for (int t = 0; t < 64; ++t) want[t] = x[t ^ 1];
    assert_int_equal(schedules_right(NO_SYNCWARP, want, 64), NO_SCHEDULE);
    for (int t = 0; t < 64; ++t) want[t] = x[63 - t] * 9 + x[127 - t] * 3 + x[191 - t];
    assert_int_equal(schedules_right(ASYNC_REFILL_NO_BARRIER, want, 64), NO_SCHEDULE);
    for (int i = 0; i < WORDS; ++i) want[i] = 1;
    assert_int_equal(schedules_right(WMMA_NO_SYNCWARP, want, WORDS), NO_SCHEDULE);
    /* The copy of the fifth group may have landed, but whoever reads it must not rely on it. */
    memcpy(want, x + 16, sizeof *x * 32);
    unsigned right = schedules_right(ASYNC_FIFTH_OF_FOUR, want, 32);
    assert_int_equal(right & EARLY_ONES, EARLY_ONES);
    assert_int_equal(right & 3, 0);
    for (int t = 0; t < 32; ++t) want[t] = t % 2 ? x[3] : 5;
    assert_int_equal(schedules_right(ASYNC_LAST_WORD, want, 32) & 3, 0);
    for (int t = 0; t < 32; ++t) /* the neighbour of the copied words is not touched */
        want[t] = t % 2 ? NAN_BITS : 5;
    assert_int_equal(schedules_right(ASYNC_LAST_WORD, want, 32) & 3, 3);
}

static void test_poison(void **state) {
    int want[WORDS], *fresh, got[64];
    (void)state;
    for (int i = 0; i < WORDS; ++i) want[i] = i / 64 == 1 ? 7 : NAN_BITS;
    assert_int_equal(schedules_right(UNSET_SHARED, want, 192), ALL_SCHEDULES);
    memset(want, 0xff, sizeof want);
    assert_int_equal(schedules_right(UNSET_FRAGMENT, want, WORDS), ALL_SCHEDULES);
    memset(want, 0, sizeof want);
    if (LOCALS_ARE_POISONED) /* not by GCC 11 */
        assert_int_equal(schedules_right(UNSET_LOCAL, want, 64), NO_SCHEDULE);
    assert_int_equal(cudaMalloc((void **)&fresh, sizeof got), cudaSuccess);
    get(fresh, got, sizeof got);
    memset(want, 0xff, sizeof want);
    assert_memory_equal(got, want, sizeof got);
    assert_int_equal(cudaFree(fresh), cudaSuccess);
}

/* ---- Faults --------------------------------------------------------------------------------- */

/** The line of wrong.cu that is marked "at NAME". */
static int line_of(const char *name) {
    char text[300], mark[80];
    FILE *f = fopen(WRONG_CU, "r");
    int line = 0, found = 0;
    assert_non_null(f);
    snprintf(mark, sizeof mark, "// at %s\n", name);
    while (!found && ++line && fgets(text, sizeof text, f)) found = strstr(text, mark) ? line : 0;
    fclose(f);
    assert_true(found);
    return found;
}

static void assert_report(const char *text, const char *mark, const char *message) {
    char start[80];
    snprintf(start, sizeof start, "device/wrong.cu:%d: ", line_of(mark));
    if (!strstr(text, start) || !strstr(text, message))
        fail_msg("no report of \"%s\" at %s in: %s", message, start, text);
}

static const struct {
    enum wrong kernel;
    const char *id, *mark, *message, *mark2, *message2; /* the second may be null */
} faults[] = {
    {DIVERGENT_BARRIER, "barrier.divergent", "SECOND_BARRIER",
     "divergent barrier: others of the block wait at", 0, 0},
    {DEADLOCK, "deadlock", "DEADLOCK_WARP", "deadlock: 16 of 64 threads wait at __syncwarp", "DEADLOCK_BLOCK",
     "deadlock: 48 of 64 threads wait at __syncthreads"},
    {MIXED_COLLECTIVES, "warp.mixed", "MIXED_BALLOT", "__ballot_sync while other lanes", 0, 0},
    {NOT_IN_MASK, "warp.mask", "NOT_IN_MASK", "mask 0000ffff leaves out the calling lane", 0, 0},
    {ASYNC_MISALIGNED_DST, "copy.to_misaligned", "ASYNC_MISALIGNED_DST", "16 bytes to a misaligned", 0, 0},
    {ASYNC_MISALIGNED_SRC, "copy.from_misaligned", "ASYNC_MISALIGNED_SRC", "8 bytes from a misaligned", 0, 0},
    {ASYNC_SIZE, "copy.size", "ASYNC_SIZE", "copy of 12 bytes", 0, 0},
    {ASYNC_FILL_SIZE, "copy.zero_fill", "ASYNC_FILL_SIZE", "copy of 4 bytes zero-fills 8", 0, 0},
    {ASYNC_NOT_COMMITTED, "copy.never_committed", "ASYNC_NOT_COMMITTED", "never committed", 0, 0},
    {ASYNC_NOT_WAITED, "copy.never_waited_for", "ASYNC_NOT_WAITED", "never waited for", 0, 0},
    {ASYNC_OUT_OF_BOUNDS, "copy.bounds", "ASYNC_OUT_OF_BOUNDS", "reads 0 bytes past the end of a device", 0,
     0},
    {ASYNC_NOT_SHARED, "copy.not_shared", "ASYNC_NOT_SHARED", "not in shared memory", 0, 0},
    {PAST_DYNAMIC_SHARED, "bounds.smem", "PAST_DYNAMIC_SHARED", "byte 256 of smem", 0, 0},
    {WMMA_POINTER, "wmma.misaligned", "WMMA_RULES", "not a multiple of 32 bytes", 0, 0},
    {WMMA_LEADING_DIMENSION, "wmma.leading_dimension", "WMMA_RULES", "leading dimension of 10", 0, 0},
    {ATOMIC_MISALIGNED, "atomic.misaligned", "ATOMIC_MISALIGNED", "atomic of 4 bytes", 0, 0},
};

static void test_faults(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i)
        for (const struct cpu_schedule *s = cpu_schedules; s->name; ++s) {
            const int both = faults[i].mark2 || faults[i].kernel == MIXED_COLLECTIVES;
            cpu_schedule_set(s);
            assert_int_equal(run_wrong(faults[i].kernel, in, out, WORDS), cudaErrorLaunchFailure);
            assert_int_equal(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
            assert_int_equal(cpu_faults(), faults[i].mark2 ? 2 : 1);
            const char *first = text_of(0);
            assert_string_equal(cpu_fault(0)->id, faults[i].id);
            assert_string_equal(cpu_fault(0)->schedule, s->name);
            assert_memory_equal(first, cpu_fault(0)->place, strlen(cpu_fault(0)->place));
            assert_null(cpu_fault(2));
            if (faults[i].kernel == DIVERGENT_BARRIER || both) {
                /* Which side comes first, and so is named, depends on the schedule. */
                assert_non_null(strstr(first, "device/wrong.cu:"));
            } else {
                assert_report(first, faults[i].mark, faults[i].message);
            }
            if (s == cpu_schedules || faults[i].mark2) {
                const char *second = text_of(1);
                int swapped = faults[i].mark2 && !strstr(first, faults[i].message);
                assert_report(swapped ? second : first, faults[i].mark, faults[i].message);
                if (faults[i].mark2)
                    assert_report(swapped ? first : second, faults[i].mark2, faults[i].message2);
            }
            assert_non_null(strstr(first, s->name));
            cpu_faults_clear();
            assert_int_equal(cpu_faults(), 0);
            assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
            assert_int_equal(cudaGetLastError(), cudaSuccess);
        }
}

/** What explains a wrong result is no fault, until it is asked for. */
static void test_suspects(void **state) {
    static const struct {
        dim3 grid, block;
        size_t dynamic;
        const char *message;
    } refused[] = {
        {{1, 1, 1}, {2000, 1, 1}, 0, "refused: a block of 2000 x 1 x 1 threads; allowed: from 1 to 1024"},
        {{1, 70000, 1},
         {1, 1, 1},
         0,
         "refused: a grid of 1 x 70000 x 1 blocks; allowed: from 1 to 2147483647"},
        {{1, 1, 1}, {1, 1, 1}, 98304, "refused: 98304 bytes of dynamic shared memory; allowed: 49152"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        cpu_suspects(0);
        assert_int_equal(run_shape(refused[i].grid, refused[i].block, refused[i].dynamic, out),
                         cudaErrorInvalidValue);
        assert_int_equal(cpu_faults(), 0);
        cpu_suspects(1);
        assert_int_equal(cpu_faults(), 1);
        assert_string_equal(cpu_fault(0)->id, "launch.refused");
        assert_non_null(strstr(text_of(0), refused[i].message));
        cpu_faults_clear();
    }
    assert_int_equal(run_static_50k(out), cudaErrorInvalidValue);
    cpu_suspects(1);
    assert_non_null(strstr(text_of(0), "refused: 51200 bytes of static shared memory; allowed: 49152"));
    cpu_faults_clear();
    for (const struct cpu_schedule *s = cpu_schedules; s->name; ++s) {
        cpu_schedule_set(s);
        assert_int_equal(run_wrong(READS_OUTSIDE_MASK, in, out, WORDS), cudaSuccess);
        cpu_suspects(1);
        assert_report(text_of(0), "OUTSIDE_MASK",
                      "__shfl_xor_sync: lane 0 reads lane 16, not in mask 0000000f");
        cpu_faults_clear();
    }
}

static void test_canaries(void **state) {
    int *odd;
    (void)state;
    assert_int_equal(cudaMalloc((void **)&odd, 100), cudaSuccess);
    assert_int_equal((uintptr_t)odd % 256, 0);
    assert_int_equal(run_wrong(WRITE_IN_SLACK, in, odd, 25), cudaErrorLaunchFailure);
    assert_report(text_of(0), "WRITE_IN_SLACK",
                  "write 0 bytes past the end of a device allocation of 100 bytes");
    cpu_faults_clear();
    assert_int_equal(run_wrong(WRITE_BEFORE_START, in, odd, 25), cudaErrorLaunchFailure);
    assert_report(text_of(0), "WRITE_BEFORE_START",
                  "write 4 bytes before the start of a device allocation of 100 bytes");
    cpu_faults_clear();
    assert_int_equal(cudaFree(odd), cudaSuccess);
}

/** Runs a kernel that ends its process, and returns what it printed to stderr. */
static const char *run_fatal(enum wrong kernel, int *p, int n) {
    static char text[4000];
    int ends[2], status;
    size_t length = 0;
    ssize_t part;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        run_wrong(kernel, in, p, n);
        _exit(99);
    }
    close(ends[1]);
    while ((part = read(ends[0], text + length, sizeof text - 1 - length)) > 0) length += (size_t)part;
    text[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
        fail_msg("status %#x rather than exit(1), and: %s", (unsigned)status, text);
    return text;
}

static void test_fatal(void **state) {
    const char *text;
    int *freed;
    (void)state;
    cpu_schedule_set(&cpu_schedules[0]);
    text = run_fatal(READ_PAST_END, out, WORDS);
    assert_report(text, "READ_PAST_END", "0 bytes past the end of a device allocation of 1024");
    assert_non_null(strstr(text, "by thread (0,0,0) of block (0,0,0) [schedule forward-late]"));
    text = run_fatal(WRITE_PAST_END, out, WORDS);
    assert_report(text, "WRITE_PAST_END", "64 bytes past the end of a device allocation of 1024");
    assert_non_null(strstr(text, "by thread (8,0,0) of block (3,0,0)"));
#ifdef __x86_64__
    assert_non_null(strstr(text, ": write 64"));
#endif
    text = run_fatal(NULL_POINTER, out, WORDS);
    assert_report(text, "NULL_POINTER", "through a null pointer (address 0x4)");
    text = run_fatal(STACK_OVERFLOW, out, WORDS);
    assert_non_null(strstr(text, "stack overflow"));
#ifdef __x86_64__
    assert_report(text, "STACK_OVERFLOW", "stack overflow"); /* elsewhere its prologue's line */
    text = run_fatal(DIVISION_BY_ZERO, out, WORDS);
    assert_report(text, "DIVISION_BY_ZERO", "integer division by zero");
    text = run_fatal(MISALIGNED_VECTOR, out, WORDS);
    assert_report(text, "MISALIGNED_VECTOR", "misaligned access");
#endif
    assert_int_equal(cudaMalloc((void **)&freed, 64), cudaSuccess);
    assert_int_equal(cudaFree(freed), cudaSuccess);
    text = run_fatal(READ_PAST_END, freed, 0);
    assert_report(text, "READ_PAST_END", "of a device allocation of 64 bytes that was freed");
    setenv("CPU_DEVICE_TIMEOUT", "0.3", 1);
    text = run_fatal(ENDLESS, out, WORDS);
    assert_report(text, "ENDLESS", "still running after 0.3 s");
    text = run_fatal(ENDLESS_IN_LIBRARY, out, WORDS);
    assert_non_null(strstr(text, "still running after 0.3 s"));
    unsetenv("CPU_DEVICE_TIMEOUT");
}

static void test_without_addr2line(void **state) {
    const char *path = getenv("PATH");
    char *old = path ? strdup(path) : NULL;
    (void)state;
    setenv("PATH", "/nowhere", 1);
    /* In a child, because addresses that were looked up are remembered. */
    const char *text = run_fatal(NULL_POINTER, out, WORDS);
    assert_non_null(strstr(text, "address 0x"));
    assert_non_null(strstr(text, "through a null pointer"));
    if (old) setenv("PATH", old, 1);
    free(old);
}

/* ---- Launches and the runtime --------------------------------------------------------------- */

static dim3 size3(unsigned x, unsigned y, unsigned z) {
    dim3 d = {x, y, z};
    return d;
}

static void test_launch_limits(void **state) {
    const struct {
        dim3 grid, block;
        cudaError_t want;
    } cases[] = {
        {{1, 1, 1}, {1024, 1, 1}, cudaSuccess},
        {{1, 1, 1}, {1025, 1, 1}, cudaErrorInvalidValue},
        {{1, 1, 1}, {32, 33, 1}, cudaErrorInvalidValue},
        {{1, 1, 1}, {1, 1, 64}, cudaSuccess},
        {{1, 1, 1}, {1, 1, 65}, cudaErrorInvalidValue},
        {{1, 1, 1}, {0, 1, 1}, cudaErrorInvalidValue},
        {{1, 0, 1}, {1, 1, 1}, cudaErrorInvalidValue},
        {{65536, 1, 1}, {1, 1, 1}, cudaSuccess},
        {{1, 65535, 1}, {1, 1, 1}, cudaSuccess},
        {{1, 65536, 1}, {1, 1, 1}, cudaErrorInvalidValue},
        {{1, 1, 65536}, {1, 1, 1}, cudaErrorInvalidValue},
        {{0x80000000u, 1, 1}, {1, 1, 1}, cudaErrorInvalidValue},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(run_shape(cases[i].grid, cases[i].block, 0, out), cases[i].want);
        assert_int_equal(run_shape(size3(1, 1, 1), size3(1, 1, 1), 0, out), cudaSuccess);
    }
}

static void test_shared_limits(void **state) {
    const dim3 one = {1, 1, 1};
    (void)state;
    assert_int_equal(run_shape(one, one, 49152, out), cudaSuccess);
    assert_int_equal(run_shape(one, one, 49153, out), cudaErrorInvalidValue);
    assert_int_equal(opt_in(227 * 1024 + 1), cudaErrorInvalidValue);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    assert_int_equal(opt_in(49153), cudaSuccess);
    assert_int_equal(run_shape(one, one, 49153, out), cudaSuccess);
    assert_int_equal(run_shape(one, one, 49154, out), cudaErrorInvalidValue);
    assert_int_equal(opt_in(227 * 1024), cudaSuccess);
    assert_int_equal(run_shape(one, one, 227 * 1024, out), cudaSuccess);
    assert_int_equal(run_shape(one, one, 227 * 1024 + 1, out), cudaErrorInvalidValue);
    assert_int_equal(run_static_40k(8192, out), cudaSuccess);
    assert_int_equal(run_static_40k(8193, out), cudaErrorInvalidValue);
}

static void test_errors(void **state) {
    int x[4] = {1, 2, 3, 4}, *gone = NULL, value;
    size_t available, total;
    (void)state;
    assert_int_equal(run_shape(size3(1, 1, 1), size3(2000, 1, 1), 0, out), cudaErrorInvalidValue);
    assert_int_equal(cudaGetLastError(), cudaSuccess); /* read once already */
    assert_int_equal(cudaMemcpy(x, out, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidValue);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(out + WORDS - 3, x, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(out + WORDS - 4, x, 16, cudaMemcpyDefault), cudaSuccess);
    assert_int_equal(cudaMemset(out, 0, sizeof(int) * WORDS + 1), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy2D(x, 4, out, 8, 8, 1, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy2D(x, 8, out + WORDS - 6, 16, 8, 2, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(x[2], 3);
    assert_int_equal(cudaMemGetInfo(&available, &total), cudaSuccess);
    assert_true(available > 0 && available <= total);
    assert_int_equal(cudaMalloc((void **)&gone, SIZE_MAX / 4), cudaErrorMemoryAllocation);
    assert_null(gone);
    assert_int_equal(cudaFree(out + 1), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(NULL), cudaSuccess);
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimY, 0), cudaSuccess);
    assert_int_equal(value, 65535);
    assert_string_equal(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure");
    assert_string_equal(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
    cudaGetLastError();
}

static void test_events(void **state) {
    cudaEvent_t start, end;
    cudaStream_t stream;
    float ms = -1;
    (void)state;
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaEventCreate(&start), cudaSuccess);
    assert_int_equal(cudaEventCreate(&end), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventRecord(start, stream), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(out, 0, 4, stream), cudaSuccess);
    assert_int_equal(cudaEventRecord(end, stream), cudaSuccess);
    assert_int_equal(cudaEventSynchronize(end), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, start, end), cudaSuccess);
    assert_true(ms >= 0 && ms < 1000);
    assert_int_equal(cudaEventDestroy(start), cudaSuccess);
    assert_int_equal(cudaEventDestroy(end), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    cudaGetLastError();
}

/* ---- Tensor Cores --------------------------------------------------------------------------- */

static float from_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void test_rounding(void **state) {
    static const struct {
        enum wmma_type type;
        uint32_t from, to;
    } table[] = {
        {TF32, 0x3f800000, 0x3f800000}, /* 1 */
        {TF32, 0x3f800fff, 0x3f800000}, /* just below the tie */
        {TF32, 0x3f801000, 0x3f802000}, /* tie: away from zero */
        {TF32, 0x3f803000, 0x3f804000}, /* tie: away, where nearest-even would go up too */
        {TF32, 0xbf801000, 0xbf802000}, /* tie below zero: away */
        {TF32, 0x3ffff000, 0x40000000}, /* into the next power of two */
        {TF32, 0x00000fff, 0x00000000}, /* subnormal */
        {TF32, 0x80001000, 0x80002000}, /* subnormal tie */
        {TF32, 0x7f7fffff, 0x7f800000}, /* the largest becomes infinite */
        {TF32, 0x7f800000, 0x7f800000}, /* infinite */
        {TF32, 0xff800000, 0xff800000}, /* infinite */
        {FP16, 0x3f801000, 0x3f800000}, /* tie: to even */
        {FP16, 0x3f803000, 0x3f804000}, /* tie: to even, up */
        {FP16, 0x477fefff, 0x477fe000}, /* 65504 */
        {FP16, 0x477ff000, 0x7f800000}, /* beyond */
        {FP16, 0x33800000, 0x33800000}, /* 2^-24, the smallest */
        {FP16, 0x33000000, 0x00000000}, /* half of it: to even */
        {BF16, 0x3f808000, 0x3f800000}, /* tie: to even */
        {BF16, 0x3f818000, 0x3f820000}, /* tie: to even, up */
        {TF32, 0xffffffff, 0xffffffff}, /* NaN, the poison: must not wrap to zero */
        {TF32, 0x7f800001, 0x7f800001}, /* NaN; an H200 gives infinity */
        {FP16, 0xffffffff, 0xffffffff}, /* NaN */
        {BF16, 0x7fffffff, 0x7fffffff}, /* NaN */
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        float x = from_bits(table[i].from), got;
        uint32_t bits;
        cudaMemcpy(out, &x, 4, cudaMemcpyHostToDevice);
        assert_int_equal(run_round(table[i].type, (float *)out, (float *)out, 1), cudaSuccess);
        get(out, &got, 4);
        memcpy(&bits, &got, 4);
        if (isnan(from_bits(table[i].to)) ? !isnan(got) : bits != table[i].to)
            fail_msg("row %zu: %#x became %#x", i, (unsigned)table[i].from, (unsigned)bits);
    }
}

/** A 16x16xK product by plain loops, with operands as the Tensor Core sees them. */
static void reference(int K, int a_col, int b_col, const float *a, const float *b, double *c) {
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) {
            c[i * 16 + j] = 0;
            for (int k = 0; k < K; ++k)
                c[i * 16 + j] +=
                    (double)a[a_col ? k * 16 + i : i * K + k] * b[b_col ? j * K + k : k * 16 + j];
        }
}

static void test_wmma(void **state) {
    static const unsigned depth[] = {8, 8, 16, 16}, size[] = {4, 4, 2, 2};
    struct cpu_counters counters;
    float a[256], b[256], ra[256], rb[256], c[256], first[256], *da, *db, *dc;
    double want[256];
    (void)state;
    assert_int_equal(cudaMalloc((void **)&da, sizeof a), cudaSuccess);
    assert_int_equal(cudaMalloc((void **)&db, sizeof b), cudaSuccess);
    assert_int_equal(cudaMalloc((void **)&dc, sizeof c), cudaSuccess);
    for (int i = 0; i < 256; ++i) {
        a[i] = (float)sin(i * 1.7);
        b[i] = (float)cos(i * 0.9);
    }
    cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
    for (int type = TF32; type <= BF16; ++type) {
        if (type == TF32_NOT_CONVERTED) {
            for (int i = 0; i < 256; ++i) {
                uint32_t bits[2];
                memcpy(&bits[0], &a[i], 4), memcpy(&bits[1], &b[i], 4);
                ra[i] = from_bits(bits[0] & 0xffffe000);
                rb[i] = from_bits(bits[1] & 0xffffe000);
            }
        } else {
            assert_int_equal(run_round(type, da, dc, 256), cudaSuccess);
            get(dc, ra, sizeof ra);
            assert_int_equal(run_round(type, db, dc, 256), cudaSuccess);
            get(dc, rb, sizeof rb);
        }
        for (int layout = 0; layout < 4; ++layout) {
            reference((int)depth[type], layout & 1, layout >> 1, ra, rb, want);
            for (const struct cpu_schedule *s = cpu_schedules; s->name; ++s) {
                cpu_schedule_set(s);
                cudaMemset(dc, 0xff, sizeof c);
                cpu_counters_reset();
                if (run_wmma(type, layout & 1, layout >> 1, da, db, dc) != cudaSuccess) {
                    assert_int_equal(type, TF32_NOT_CONVERTED); /* reported, and cut off */
                    assert_int_equal(cpu_faults(), 1);
                    assert_string_equal(cpu_fault(0)->id, "wmma.unrounded_tf32");
                    assert_non_null(strstr(cpu_fault(0)->place, "device/wmma.cu:"));
                    cpu_faults_clear();
                } else {
                    assert_int_not_equal(type, TF32_NOT_CONVERTED);
                }
                get(dc, c, sizeof c);
                for (int i = 0; i < 256; ++i)
                    if (!(fabs(c[i] - want[i]) < 4e-6)) /* 16 roundings of sums below 16 */
                        fail_msg("type %d, layout %d: element %d is %g, not %g", type, layout, i, c[i],
                                 want[i]);
                if (s == cpu_schedules) memcpy(first, c, sizeof first);
                assert_memory_equal(c, first, sizeof c);
                cpu_counters_get(&counters);
                if (cpu_is_checked()) {
                    assert_int_equal(counters.mma, 1);
                    assert_int_equal(counters.tensor_flops, 2 * 16 * 16 * depth[type]);
                    assert_int_equal(counters.thread_bytes, 2 * 16 * depth[type] * size[type]);
                }
            }
        }
    }
    assert_int_equal(cudaFree(da) || cudaFree(db) || cudaFree(dc), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_right_kernels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_by_value, setup, teardown),
        cmocka_unit_test_setup_teardown(test_poison, setup, teardown),
        cmocka_unit_test_setup_teardown(test_faults, setup, teardown),
        cmocka_unit_test_setup_teardown(test_suspects, setup, teardown),
        cmocka_unit_test_setup_teardown(test_canaries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fatal, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_addr2line, setup, teardown),
        cmocka_unit_test_setup_teardown(test_launch_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_events, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rounding, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wmma, setup, teardown),
    };
    if (cpu_is_checked()) cmocka_set_test_filter("test_wmma");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
