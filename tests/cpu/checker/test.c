/**
 * @file test.c
 * Tests of the checked flavour: wrong kernels are reported by kind and line under every schedule, right
 * ones never, and counters are what can be worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "checker.h"
#include "cpu_device.h"
#include "kernels.h"

enum { WORDS = 1024 };
static int *in, *out; /* device memory */
static unsigned *flag;

static int setup(void **state) {
    (void)state;
    return cudaMalloc((void **)&in, WORDS * 4) || cudaMalloc((void **)&out, WORDS * 4) ||
           cudaMalloc((void **)&flag, 4) || cudaMemset(in, 1, WORDS * 4);
}

static int teardown(void **state) {
    (void)state;
    cpu_faults_clear();
    return cudaFree(in) || cudaFree(out) || cudaFree(flag);
}

static void prepare(const struct cpu_schedule *s) {
    cpu_faults_clear();
    cpu_schedule_set(s);
    assert_int_equal(cudaMemset(out, 0, WORDS * 4), cudaSuccess);
    assert_int_equal(cudaMemset(flag, 0, 4), cudaSuccess);
}

static void test_silent(void **state) {
    (void)state;
    assert_true(cpu_is_checked());
    for (const struct cpu_schedule *s = cpu_schedules; s->name; ++s) {
        for (int k = 0; k < SILENT_KERNELS; ++k) {
            prepare(s);
            if (run_silent(k, in, out, flag) != cudaSuccess)
                fail_msg("kernel %d, schedule %s: %s", k, s->name, cpu_fault(0)->text);
        }
        for (int k = 0; k < RIGHT_KERNELS; ++k) {
            prepare(s);
            if (run_right(k, in, out) != cudaSuccess)
                fail_msg("right kernel %d, schedule %s: %s", k, s->name, cpu_fault(0)->text);
        }
    }
}

/* ---- Races ---------------------------------------------------------------------------------- */

#define IN_FLIGHT "read of what an asynchronous copy is still writing"
#define ONE_WAITED "read of an asynchronous copy that only its own thread has waited for"
#define OVER_READ "asynchronous copy over what may still be read"
#define UNORDERED "read and write that nothing orders"
#define BLOCKS "in device memory: accesses of two blocks that nothing orders"

static const struct {
    enum racy kernel;
    const char *a, *b; /* the two lines, in either order */
    const char *kinds[3];
} races[] = {
    {FIFTH_OF_FOUR, "FIFTH_READ", "FIFTH_COPY", {IN_FLIGHT, 0, 0}},
    {MIRROR_NO_BARRIER, "MIRROR_READ", "MIRROR_COPY", {IN_FLIGHT, ONE_WAITED, OVER_READ}},
    {BARRIER_BEFORE_WAIT, "EARLY_READ", "EARLY_COPY", {IN_FLIGHT, ONE_WAITED, 0}},
    {REFILL_NO_BARRIER, "REFILL_READ", "REFILL_COPY", {OVER_READ, IN_FLIGHT, 0}},
    {RING_TOO_SHORT, "RING_READ", "RING_COPY", {IN_FLIGHT, OVER_READ, 0}},
    {LAST_WORD_OF_COPY, "LAST_READ", "LAST_COPY", {IN_FLIGHT, 0, 0}},
    {WIDE_READ_OF_COPY, "WIDE_READ", "NARROW_COPY", {IN_FLIGHT, 0, 0}},
    {OVERWRITES_COPY,
     "OVER_WRITE",
     "OVER_COPY",
     {"write over what an asynchronous copy is still writing", 0, 0}},
    {FRAGMENT_NO_SYNCWARP, "FRAGMENT_READ", "FRAGMENT_STORE", {UNORDERED, 0, 0}},
    {SHUFFLE_ORDERS_NOTHING, "SHUFFLE_READ", "SHUFFLE_WRITE", {UNORDERED, 0, 0}},
    {TWO_WRITERS, "TWO_WRITES", "TWO_WRITES", {"two writes that nothing orders", 0, 0}},
    {BYTE_OF_A_WORD, "BYTE_READ", "BYTE_WRITE", {UNORDERED, 0, 0}},
    {ZEROED_BY_ONE_BLOCK, "ZERO", "ADD", {BLOCKS, 0, 0}},
    {BLOCKS_OVERLAP, "OVERLAP", "OVERLAP", {BLOCKS, 0, 0}},
    {NO_RELEASE, "PART_READ", "PART_WRITE", {BLOCKS, 0, 0}},
    {NO_ACQUIRE, "PART_READ", "PART_WRITE", {BLOCKS, 0, 0}},
    {BLOCK_FENCE_ONLY, "PART_READ", "PART_WRITE", {BLOCKS, 0, 0}},
    {WARP_SYNCHRONOUS, "QUARTER", "HALF", {UNORDERED, 0, 0}},
    {WARP_SYNCHRONOUS_LATE, "QUARTER", "HALF", {UNORDERED, 0, 0}},
    {BARRIER_IN_BRANCH, "BRANCH_BARRIER", "OTHER_BARRIER", {"divergent barrier", 0, 0}},
    {BARRIERS_APART, "WAITS_FOR_WARP", "", {"deadlock: 16 of 64 threads wait at __syncwarp", 0, 0}},
    {BARRIERS_APART, "WAITS_FOR_BLOCK", "", {"deadlock: 48 of 64 threads wait at __syncthreads", 0, 0}},
};

/** "checker/wrong.cu:N" of the line that is marked "at NAME"; "" for no name. */
static const char *place_of(const char *name, char *place, size_t size) {
    char text[300], mark[80];
    int line = 0, found = name[0] == '\0';
    FILE *f = fopen(WRONG_CU, "r");
    assert_non_null(f);
    snprintf(mark, sizeof mark, "// at %s\n", name);
    while (!found && ++line && fgets(text, sizeof text, f)) found = strstr(text, mark) != NULL;
    fclose(f);
    assert_true(found);
    snprintf(place, size, name[0] ? "checker/wrong.cu:%d" : "", line);
    return place;
}

static int reported(size_t i, const char *a, const char *b) {
    for (unsigned f = 0; f < cpu_faults(); ++f)
        for (int k = 0; k < 3 && races[i].kinds[k]; ++k) {
            const char *text = cpu_fault(f)->text, *first = strstr(text, a);
            if (first && strstr(text, races[i].kinds[k]) && strstr(a == b ? first + 1 : text, b)) return 1;
        }
    return 0;
}

static void test_races(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof races / sizeof *races; ++i) {
        char a[80], b[80];
        place_of(races[i].a, a, sizeof a);
        place_of(races[i].b, b, sizeof b);
        for (const struct cpu_schedule *s = cpu_schedules; s->name; ++s) {
            prepare(s);
            if (run_racy(races[i].kernel, in, out, flag) != cudaErrorLaunchFailure)
                fail_msg("silent on %s, schedule %s", races[i].a, s->name);
            if (!reported(i, a, strcmp(a, b) ? b : a))
                fail_msg("no report of \"%s\" at %s and %s in: %s [%s]", races[i].kinds[0], a, b,
                         cpu_fault(0)->text, s->name);
        }
    }
}

static void test_report(void **state) {
    (void)state;
    prepare(&cpu_schedules[0]);
    run_racy(SHUFFLE_ORDERS_NOTHING, in, out, flag);
    assert_int_equal(cpu_faults(), 1); /* one for a pair of lines, whichever came first */
    const char *text = cpu_fault(0)->text;
    assert_non_null(strstr(text, "race in s: "));
    assert_non_null(strstr(text, "here thread ("));
    assert_non_null(strstr(text, ",0,0) of block (0,0,0), there thread ("));
    assert_non_null(strstr(text, "usual mend: __syncwarp()"));
    prepare(&cpu_schedules[0]); /* nothing is left over */
    assert_int_equal(run_silent(WARP_EXCHANGE, in, out, flag), cudaSuccess);
}

/* ---- Counters ------------------------------------------------------------------------------- */

static void test_counters(void **state) {
    static const struct {
        int stride, pitch, vec16;
        unsigned load, load_ideal, cycles, conflicts; /* cycles: of the store and of the load */
    } table[] = {
        {1, 1, 0, 4, 4, 2, 0},     /* neighbours */
        {0, 1, 0, 1, 1, 2, 0},     /* one word for all */
        {2, 2, 0, 8, 4, 4, 2},     /* every other word: two to a bank */
        {8, 32, 0, 32, 4, 64, 62}, /* a sector each; all in one bank */
        {8, 33, 0, 32, 4, 2, 0},   /* padded */
        {4, 4, 1, 16, 16, 8, 0},   /* 16 bytes a lane: four groups of eight */
        {8, 8, 1, 32, 16, 16, 8},  /* rows of 32 bytes: two to a bank in each group */
        {4, 36, 1, 16, 16, 8, 0},  /* rows of 36 words: none */
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        for (const struct cpu_schedule *s = cpu_schedules; s->name; ++s) {
            struct cpu_counters c;
            prepare(s);
            cpu_counters_reset();
            assert_int_equal(run_strides(table[i].stride, table[i].pitch, table[i].vec16, in, out),
                             cudaSuccess);
            cpu_counters_get(&c);
            assert_int_equal(c.load_sectors, table[i].load);
            assert_int_equal(c.load_ideal, table[i].load_ideal);
            assert_int_equal(c.store_sectors, table[i].vec16 ? 16 : 4);
            assert_int_equal(c.shared_cycles, table[i].cycles);
            assert_int_equal(c.conflicts, table[i].conflicts);
            assert_int_equal(c.thread_bytes, table[i].vec16 ? 512 : 128);
        }
    struct cpu_counters c;
    prepare(&cpu_schedules[0]);
    cpu_counters_reset();
    assert_int_equal(run_silent(RING_OF_THREE, in, out, flag), cudaSuccess);
    cpu_counters_get(&c);
    assert_int_equal(c.in_flight, 2); /* distance 2: the two rows behind the one that is read */
    assert_int_equal(c.copy_bytes, 8 * 64 * 4);
    assert_int_equal(c.copy_sectors, 8 * 64 * 4 / 32);
    assert_int_equal(c.waits, 9 * 2);
    assert_int_equal(c.barriers, 8);
    assert_int_equal(c.thread_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_silent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_races, setup, teardown),
        cmocka_unit_test_setup_teardown(test_report, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counters, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
