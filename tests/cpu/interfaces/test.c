/**
 * @file test.c
 * Tests of cooperative groups, barriers, pipelines and atomics on the CPU device, in both flavours: right kernels give
 * the right bits, silently; wrong ones are reported by id and line. Both under every schedule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "cpu_device.h"
#include "kernels.h"

enum { WORDS = 256 };
static int *in, *out, x[WORDS]; /* device memory; what is in `in` */

static int setup(void **state) {
    (void)state;
    for (int i = 0; i < WORDS; ++i) x[i] = (i * 37 + 11) % 101;
    return cudaMalloc((void **)&in, 4096) || cudaMalloc((void **)&out, sizeof x) ||
           cudaMemcpy(in, x, sizeof x, cudaMemcpyHostToDevice);
}

static int teardown(void **state) {
    (void)state;
    cpu_faults_clear();
    return cudaFree(in) || cudaFree(out);
}

static void prepare(const struct cpu_schedule *s) {
    cpu_faults_clear();
    cpu_schedule_set(s);
    assert_int_equal(cudaMemset(out, 0, sizeof x), cudaSuccess);
}

#define TEXT(kernel) #kernel,
static const char *const right_names[] = {RIGHT_KERNELS(TEXT)};
static const char *const wrong_names[] = {WRONG_KERNELS(TEXT)};

static void expected(enum right kernel, int *y) {
    memset(y, 0, sizeof x);
    for (int t = 0; t < 64; ++t) {
        const int tile = t / 8 * 8, lane = t % 8;
        int sum = 0, most = 0;
        for (int i = tile; i < tile + 8; ++i) sum += x[i], most = x[i] > most ? x[i] : most;
        if (kernel < K_barrier_ring)
            for (int i = t; i < WORDS; i += 64) y[i] = x[WORDS - 1 - i];
        else if (kernel < K_tiles)
            for (int i = 0; i < 8; ++i) y[t] = y[t] * 3 + x[i % 4 * 64 + 63 - t];
        else if (kernel == K_tiles) {
            y[t] = sum + 1000 * most;
            y[64 + t] = x[t];
            y[128 + t] = x[tile + 3] + 1000 * x[t ^ 1];
            y[192 + t] = x[lane < 6 ? t + 2 : t] + 1000 * x[lane < 2 ? t : t - 2];
        } else {
            if (t >= 32) y[t] = x[63 - t];
            y[0] = 32000 + 64 * 3;
        }
    }
}

static void test_right(void **state) {
    int want[WORDS], got[WORDS];
    (void)state;
    for (int k = 0; k < RIGHT_COUNT; ++k)
        for (const struct cpu_schedule *s = cpu_schedules; s->name; ++s) {
            prepare(s);
            expected(k, want);
            if (run_right(k, in, out) != cudaSuccess)
                fail_msg("%s, schedule %s: %s", right_names[k], s->name,
                         cpu_fault(0) ? cpu_fault(0)->text : "");
            assert_int_equal(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess);
            for (int i = 0; i < WORDS; ++i)
                if (got[i] != want[i])
                    fail_msg("%s, schedule %s: word %d is %d, not %d", right_names[k], s->name, i, got[i],
                             want[i]);
        }
}

/* Ids of which one is reported, at line `mark`; the checked flavour alone: `mark2` is the line at the other side. */
static const struct {
    enum wrong kernel;
    const char *ids, *mark, *mark2, *says;
} faults[] = {
    {K_no_init, "barrier.uninitialised", "NO_INIT", 0, "arrival at a barrier"},
    {K_init_not_visible, "race.barrier_init barrier.uninitialised", "NOT_VISIBLE", "", "initialised"},
    {K_one_too_many, "deadlock.phase", "ONE_TOO_MANY", 0,
     "64 of 64 threads wait at wait(), the first is thread (0,0,0) of block (0,0,0), for phase 0 of a "
     "barrier "
     "in b: of 65 "
     "arrivals it has 64; threads that have arrived: 0 to 63, that have not: nobody; 0 have exited"},
    {K_one_leaves, "deadlock.phase", "ONE_LEAVES", 0,
     "of 64 arrivals it has 63; threads that have arrived: 0 to 39 and 41 to 63, that have not: 40; 1 have "
     "exited"},
    {K_arrives_too_often, "barrier.arrivals", "TOO_OFTEN", 0,
     "4 arrivals at once, where the phase waits for 3"},
    {K_expects_nobody, "barrier.count", "NOBODY", 0, "expects 0 arrivals"},
    {K_waits_twice, "barrier.waited_twice", "TWICE", 0, "second wait of a thread for phase 0"},
    {K_stale_token, "barrier.token", "STALE", 0, "a token of phase 0, while phase"},
    {K_other_token, "barrier.token", "OTHER", 0, "no phase of this barrier"},
    {K_copy_after_arrive, "copy.never_committed", "AFTER_COPY", 0, "never committed"},
    {K_copy_after_arrive, "race.read_of_copy_in_flight", "AFTER_READ", "AFTER_COPY", "race in s"},
    {K_wrong_parity, "race.read_of_copy_in_flight", "PARITY_READ", "PARITY_COPY", "race in s"},
    {K_no_wait, "race.read_of_copy_in_flight", "NO_WAIT_READ", "NO_WAIT_COPY", "race in s"},
    {K_nobody_waits, "copy.never_waited_for", "NEVER_WAITED", 0, "never waited for"},
    {K_not_committed, "copy.never_committed", "NEVER_COMMITTED", 0, "never committed"},
    {K_two_acquires, "deadlock.acquire", "ACQUIRE", 0,
     "64 of 64 threads wait at producer_acquire, the first is thread (0,0,0) of block (0,0,0), for a free "
     "stage of state, "
     "whose use 0 is not over: of 64 releases it has 0; threads that have released: nobody, that have not: 0 "
     "to 63"},
    {K_nothing_committed, "deadlock.stage", "NOTHING", 0,
     "of 64 commits it has 16; threads that have committed: 0 to 15, that have not: 16 to 63"},
    {K_release_too_often, "pipeline.order", "RELEASE", 0, "consumer_release without consumer_wait"},
    {K_commit_unacquired, "pipeline.order", "COMMIT", 0, "producer_commit without producer_acquire"},
    {K_after_quit, "pipeline.quit", "QUIT", 0, "producer_acquire after"},
    {K_read_before_wait, "race.read_of_copy_in_flight", "BEFORE_READ", "BEFORE_COPY", "race in s"},
    {K_release_before_read, "race.copy_over_read race.read_of_copy_in_flight", "RELEASED_READ",
     "RELEASED_COPY", "race in s"},
    {K_thread_overwrites, "race.write_over_copy_in_flight", "OVERWRITES", "OVERWRITES", "race in s"},
    {K_too_far, "race.write_over_copy_in_flight", "TOO_FAR", "TOO_FAR", "race in s"},
    {K_leader_alone, "copy.collective", "ALONE", 0, "1 of its 64 threads"},
    {K_barrier_before_wait, "race.read_of_copy_in_flight race.read_of_copy_waited_for_elsewhere",
     "EARLY_READ", "EARLY_COPY", "race in s"},
    {K_own_slot_only,
     "race.read_of_copy_in_flight race.read_of_copy_waited_for_elsewhere race.copy_over_read", "SLOT_READ",
     "SLOT_COPY", "race in s"},
    {K_same_range, "race.copy_over_read race.copy_over_write race.write_over_copy_in_flight", "SAME_RANGE",
     "", "race in s"},
    {K_no_order, "race.read_write", "ORDER_READ", "ORDER_WRITE", "race in s"},
};

/** "interfaces/wrong.cu:N" of the line that is marked "at NAME". */
static void place_of(const char *name, char *place, size_t size) {
    char text[300], mark[80];
    int line = 0, found = 0;
    FILE *f = fopen(WRONG_CU, "r");
    assert_non_null(f);
    snprintf(mark, sizeof mark, "// at %s\n", name);
    while (!found && ++line && fgets(text, sizeof text, f)) found = strstr(text, mark) != NULL;
    fclose(f);
    assert_true(found);
    snprintf(place, size, "interfaces/wrong.cu:%d", line);
}

static int reported(size_t i, const char *a, const char *b) {
    for (unsigned n = 0; n < cpu_faults(); ++n) {
        const struct cpu_fault *f = cpu_fault(n);
        const int there = !strcmp(f->place, a) && (!*b || !strcmp(f->other, b));
        const int swapped = !strcmp(f->other, a) && (!*b || !strcmp(f->place, b));
        if (strstr(faults[i].ids, f->id) && strstr(f->text, faults[i].says) && (there || swapped)) return 1;
    }
    return 0;
}

static void test_wrong(void **state) {
    (void)state;
    assert_int_equal(sizeof wrong_names / sizeof *wrong_names, WRONG_COUNT);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
        char a[80], b[80] = "";
        place_of(faults[i].mark, a, sizeof a);
        if (faults[i].mark2 && *faults[i].mark2) place_of(faults[i].mark2, b, sizeof b);
        for (const struct cpu_schedule *s = cpu_schedules; s->name; ++s) {
            prepare(s);
            const cudaError_t error = run_wrong(faults[i].kernel, in, out);
            if (faults[i].mark2 && !cpu_is_checked()) continue; /* a race */
            if (error != cudaErrorLaunchFailure || !reported(i, a, b))
                fail_msg("%s, schedule %s: no report of %s at %s, \"%s\", in: %s",
                         wrong_names[faults[i].kernel], s->name, faults[i].ids, a, faults[i].says,
                         cpu_fault(0) ? cpu_fault(0)->text : "nothing");
        }
    }
}

/* A copy lands when its phase, or stage, is waited for, and not before: late schedules show it without the checker. */
static void test_late(void **state) {
    static const enum wrong kernels[] = {K_copy_after_arrive, K_wrong_parity, K_no_wait, K_read_before_wait};
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
        int got[WORDS], wrong = 0;
        prepare(&cpu_schedules[0]);
        run_wrong(kernels[i], in, out);
        cpu_faults_clear();
        assert_int_equal(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess);
        for (int t = 0; t < 64; ++t) wrong += got[t] == -1; /* poison */
        if (wrong < 32) fail_msg("%s: %d of 64 words are poison", wrong_names[kernels[i]], wrong);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_right, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(test_late, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
