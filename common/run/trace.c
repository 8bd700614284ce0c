#include "run/trace.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/records.h"

enum { WARPS = 32, OPERANDS = 8, RUNS = 2 };

/* What a warp did from `at` on: instructions of one line and kind, or one of another kind. */
struct span {
    unsigned process, warp;
    size_t number;
    uint64_t at, length, bytes, instructions;
    uint64_t lowest; /* address that it touches in shared memory */
    struct cpu_trace_event event;
};

/* A group of asynchronous copies, of all warps: in flight from the first copy to the last wait for it. */
struct group {
    unsigned process, number;
    uint64_t begin, end, bytes, lowest, highest; /* addresses in shared memory */
};

struct process { /* one block of one run */
    bool seen;
    uint64_t now[WARPS];                      /* of each warp */
    unsigned committed[WARPS], landed[WARPS]; /* groups */
    uint64_t barrier;                         /* when it is complete */
};

struct trace {
    FILE *file;
    struct span *spans;
    struct group *groups;
    size_t span_count, group_count;
    struct process process[RUNS * CPU_TRACE_BLOCKS];
    struct {
        char step[64], shape[40], schedule[24];
        struct operand {
            const char *name;
            const char *at;
            size_t rows, cols, ld, bytes;
        } operand[OPERANDS];
        int operands;
    } run[RUNS];
    int runs;
    bool no_memory;
    FILE *accesses; /* as JSON */
    char *text;
    size_t size;
};

struct trace *trace_open(FILE *file) {
    struct trace *t = calloc(1, sizeof *t);
    if (t != NULL && (t->accesses = open_memstream(&t->text, &t->size)) != NULL) {
        t->file = file;
        return t;
    }
    fprintf(stderr, "no memory for the trace\n");
    free(t);
    return NULL;
}

void trace_run(struct trace *t, const char *step, const char *shape, const char *schedule) {
    const int r = t->runs++;
    snprintf(t->run[r].step, sizeof t->run[r].step, "%s", step);
    snprintf(t->run[r].shape, sizeof t->run[r].shape, "%s", shape);
    snprintf(t->run[r].schedule, sizeof t->run[r].schedule, "%s", schedule);
}

void trace_operand(struct trace *t, const char *name, const void *at, size_t rows, size_t cols, size_t ld,
                   size_t element_bytes) {
    const int r = t->runs - 1;
    if (t->run[r].operands < OPERANDS)
        t->run[r].operand[t->run[r].operands++] = (struct operand){name, at, rows, cols, ld, element_bytes};
}

/* Room for one more of `count` elements, which grows by doubling; null: no memory. */
static void *add(struct trace *t, void **array, size_t *count, size_t size) {
    if ((*count & (*count - 1)) == 0) {
        void *more = realloc(*array, (*count == 0 ? 1 : 2 * *count) * size);
        t->no_memory |= more == NULL;
        if (more == NULL) return NULL;
        *array = more;
    }
    return memset((char *)*array + (*count)++ * size, 0, size);
}

static bool is_operation(const struct cpu_trace_event *e, const char *operation) {
    return strcmp(e->operation, operation) == 0;
}

/* A group, if there are copies in it. */
static struct group *group_of(struct trace *t, unsigned process, unsigned number) {
    for (size_t i = t->group_count; i-- > 0;)
        if (t->groups[i].process == process && t->groups[i].number == number) return &t->groups[i];
    return NULL;
}

static struct group *new_group(struct trace *t, unsigned process, unsigned number) {
    struct group *g = add(t, (void **)&t->groups, &t->group_count, sizeof *g);
    if (g != NULL) *g = (struct group){process, number, UINT64_MAX, 0, 0, UINT64_MAX, 0};
    return g;
}

/* Whether an event can be one more instruction of a span. */
static bool continues(const struct span *s, unsigned process, const struct cpu_trace_event *e,
                      const char *operation) {
    return s->process == process && s->warp == e->warp && s->event.line == e->line &&
           (e->memory[0] != '\0' || is_operation(e, "mma")) && strcmp(s->event.operation, operation) == 0 &&
           (is_operation(e, "copy") || s->event.bytes == e->bytes);
}

/*
 * The span that an event belongs to. A statement that loads and stores is a span of loads and one of stores, even if
 * it is repeated, and in this order: compilers report some stores before the loads that they depend on.
 */
static struct span *span_of(struct trace *t, unsigned process, const struct cpu_trace_event *e) {
    struct process *p = &t->process[process];
    struct span *s = t->span_count > 0 ? &t->spans[t->span_count - 1] : NULL;
    const bool before = s != NULL && is_operation(e, "load") && continues(s, process, e, "store");
    if (before && t->span_count > 1 && continues(s - 1, process, e, "load") &&
        s[-1].event.memory == e->memory) {
        ++s->at;
        return s - 1;
    }
    if (s != NULL && continues(s, process, e, e->operation) &&
        (s->event.memory == e->memory || is_operation(e, "copy")))
        return s;
    s = add(t, (void **)&t->spans, &t->span_count, sizeof *s);
    if (s == NULL) return NULL;
    if (before) {
        s[0] = s[-1];
        ++s->at;
        --s;
    }
    *s = (struct span){
        process, e->warp, t->span_count - 1, before ? s[1].at - 1 : p->now[e->warp], 0, 0, 0, UINT64_MAX, *e};
    return s;
}

/* Writes where each lane of a span's instruction went: in bytes from the beginning of an operand, or of shared memory. */
static void write_access(struct trace *t, const struct span *s, const struct cpu_trace_event *e) {
    const struct operand *o = t->run[t->runs - 1].operand, *end = o + t->run[t->runs - 1].operands;
    const bool shared = strcmp(e->memory, "shared") == 0;
    const uint64_t first = e->address[0];
    while (!shared && o < end &&
           (first < (uintptr_t)o->at || first - (uintptr_t)o->at >= o->rows * o->ld * o->bytes))
        ++o;
    const char *name = shared ? "shared" : o < end ? o->name : "other";
    const uint64_t from = shared || o == end ? 0 : (uintptr_t)o->at;
    fprintf(t->accesses, "%s[%zu, \"%s\", %u, [", t->size > 0 || ftell(t->accesses) > 0 ? ",\n" : "",
            s->number, name, e->bytes);
    for (unsigned lane = 0, i = 0; lane < 32; ++lane) {
        fputs(lane > 0 ? "," : "", t->accesses);
        if (e->lanes >> lane & 1) fprintf(t->accesses, "%" PRIu64, e->address[i++] - from);
        else fputs("null", t->accesses);
    }
    fputs("]]", t->accesses);
}

static void copied(struct trace *t, const struct span *s, uint64_t bytes, uint64_t highest) {
    const unsigned number = t->process[s->process].committed[s->warp]; /* that a warp's copies are in now */
    struct group *g = group_of(t, s->process, number);
    if (g == NULL) g = new_group(t, s->process, number);
    if (g == NULL) return;
    if (s->at < g->begin) g->begin = s->at;
    if (s->lowest < g->lowest) g->lowest = s->lowest;
    if (highest > g->highest) g->highest = highest;
    g->bytes += bytes;
}

static void waited(struct trace *t, struct process *p, const struct span *s) {
    while (p->landed[s->warp] + s->event.what < p->committed[s->warp]) {
        struct group *g = group_of(t, s->process, p->landed[s->warp]++);
        if (g != NULL && s->at > g->end) g->end = s->at;
    }
}

static void add_event(struct trace *t, const struct cpu_trace_event *e) {
    const unsigned process = (unsigned)(t->runs - 1) * CPU_TRACE_BLOCKS + e->block;
    struct process *p = &t->process[process];
    const bool shared = strcmp(e->memory, "shared") == 0, barrier = is_operation(e, "barrier"),
               copy = is_operation(e, "copy");
    struct span *s = span_of(t, process, e);
    p->seen = true;
    if (s == NULL) return;
    if (barrier && e->warp == 0) {
        p->barrier = 0;
        for (int w = 0; w < WARPS; ++w)
            if (p->now[w] >= p->barrier) p->barrier = p->now[w] + 1;
    }
    if (e->memory[0] != '\0') write_access(t, s, e);
    uint64_t bytes = 0, highest = 0;
    for (unsigned lanes = e->lanes, i = 0; lanes != 0 && e->memory[0] != '\0'; lanes &= lanes - 1, ++i) {
        bytes += e->bytes;
        if (shared && e->address[i] < s->lowest) s->lowest = e->address[i];
        if (shared && e->address[i] + e->bytes > highest) highest = e->address[i] + e->bytes;
    }
    if (copy && !shared) return; /* its other half, which writes, comes next */
    if (copy) copied(t, s, bytes, highest);
    if (is_operation(e, "wait")) waited(t, p, s);
    if (is_operation(e, "commit")) ++p->committed[e->warp];
    s->bytes += bytes;
    ++s->instructions;
    s->length = barrier ? p->barrier - s->at : s->length + 1;
    p->now[e->warp] = barrier ? p->barrier : p->now[e->warp] + 1;
}

/* Of a kernel that is stopped, a handler of signals writes the trace: not in the middle of an event. */
void trace_event(void *context, const struct cpu_trace_event *e) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    add_event(context, e);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- what is written at the end ---- */

/* Which of the places in shared memory that groups are copied to holds an address: 0 is the lowest; -1: none. */
static int stage_of(const struct trace *t, unsigned process, uint64_t address) {
    uint64_t begin = 0, after = 0;
    int stage = -1;
    for (;; after = begin, ++stage) { /* the next higher beginning of a group */
        begin = UINT64_MAX;
        uint64_t end = 0;
        for (size_t i = 0; i < t->group_count; ++i) {
            const struct group *g = &t->groups[i];
            if (g->process != process) continue;
            if (g->highest > end) end = g->highest;
            if ((stage < 0 || g->lowest > after) && g->lowest < begin) begin = g->lowest;
        }
        if (begin == UINT64_MAX || begin > address || address >= end) return address < end ? stage : -1;
    }
}

static void write_name(struct trace *t, unsigned process, int thread, const char *what, const char *name) {
    fprintf(t->file,
            "{\"ph\": \"M\", \"pid\": %u, \"tid\": %d, \"name\": \"%s\", \"args\": {\"name\": ", process,
            thread, what);
    json_text(t->file, name);
    fputs("}},\n", t->file);
}

static void write_names(struct trace *t) {
    char name[160];
    for (unsigned i = 0; i < RUNS * CPU_TRACE_BLOCKS; ++i) {
        const struct process *p = &t->process[i];
        if (!p->seen) continue;
        snprintf(name, sizeof name, "%s, %s, block %u: an order of events, not time",
                 t->run[i / CPU_TRACE_BLOCKS].step, t->run[i / CPU_TRACE_BLOCKS].shape, i % CPU_TRACE_BLOCKS);
        write_name(t, i, 0, "process_name", name);
        for (int w = 0; w < WARPS; ++w) {
            snprintf(name, sizeof name, "warp %d", w);
            if (p->now[w] > 0) write_name(t, i, w + 1, "thread_name", name);
        }
    }
}

static void write_spans(struct trace *t) {
    int latest[RUNS * CPU_TRACE_BLOCKS][WARPS]; /* stages, which an mma has from the loads before it */
    memset(latest, 0xff, sizeof latest);
    for (size_t i = 0; i < t->span_count; ++i) {
        const struct span *s = &t->spans[i];
        const struct cpu_trace_event *e = &s->event;
        int *stage = &latest[s->process][s->warp % WARPS];
        if (s->lowest != UINT64_MAX) *stage = stage_of(t, s->process, s->lowest);
        fprintf(t->file,
                "{\"ph\": \"X\", \"pid\": %u, \"tid\": %u, \"ts\": %" PRIu64 ", \"dur\": %" PRIu64
                ", \"cat\": \"%s\", \"name\": \"%s%s%s\", \"args\": {\"event\": %zu, \"line\": ",
                s->process, s->warp + 1, s->at, s->length, e->operation, e->operation,
                e->memory[0] ? " " : "", is_operation(e, "copy") ? "to shared" : e->memory, s->number);
        json_text(t->file, e->line);
        fputs(", \"text\": ", t->file);
        json_text(t->file, e->text);
        fprintf(t->file, ", \"instructions\": %" PRIu64 ", \"bytes\": %" PRIu64, s->instructions, s->bytes);
        if (*stage >= 0 && (s->lowest != UINT64_MAX || is_operation(e, "mma")))
            fprintf(t->file, ", \"stage\": %d", *stage);
        fprintf(t->file, "}}%s\n", i + 1 < t->span_count || t->group_count > 0 ? "," : "");
    }
}

static void write_groups(struct trace *t) {
    for (size_t i = 0; i < t->group_count; ++i) {
        const struct group *g = &t->groups[i];
        const uint64_t end = g->end > g->begin ? g->end : g->begin; /* never waited for: of no length */
        for (int phase = 0; phase < 2; ++phase)
            fprintf(t->file,
                    "{\"ph\": \"%s\", \"cat\": \"in flight\", \"id\": %zu, \"pid\": %u, \"tid\": 0, \"ts\": "
                    "%" PRIu64
                    ", \"name\": \"copies in flight\", \"args\": {\"group\": %u, \"bytes\": %" PRIu64
                    ", \"stage\": %d}}%s\n",
                    phase == 0 ? "b" : "e", i, g->process, phase == 0 ? g->begin : end, g->number, g->bytes,
                    stage_of(t, g->process, g->lowest), phase == 0 || i + 1 < t->group_count ? "," : "");
    }
}

static void write_runs(struct trace *t) {
    for (int r = 0; r < t->runs; ++r) {
        fprintf(t->file, "%s\n{\"pid\": %d, \"step\": ", r > 0 ? "," : "", r * CPU_TRACE_BLOCKS);
        json_text(t->file, t->run[r].step);
        fputs(", \"shape\": ", t->file);
        json_text(t->file, t->run[r].shape);
        fprintf(t->file, ", \"schedule\": \"%s\", \"operands\": [", t->run[r].schedule);
        for (int i = 0; i < t->run[r].operands; ++i) {
            const struct operand *o = &t->run[r].operand[i];
            fprintf(t->file,
                    "%s{\"name\": \"%s\", \"rows\": %zu, \"cols\": %zu, \"ld\": %zu, \"element_bytes\": %zu}",
                    i > 0 ? ", " : "", o->name, o->rows, o->cols, o->ld, o->bytes);
        }
        fputs("]}", t->file);
    }
}

bool trace_close(struct trace *t) {
    fputs("{\"otherData\": {\"note\": \"An order of events, not time: a unit is an instruction of a warp, "
          "and a barrier is as "
          "long as the warp waits. Copies are in flight from their issue to the wait that covers them.\"},\n"
          "\"traceEvents\": [\n",
          t->file);
    write_names(t);
    write_spans(t);
    write_groups(t);
    fputs("],\n\"runs\": [", t->file);
    write_runs(t);
    fclose(t->accesses);
    fprintf(t->file, "],\n\"accesses\": [\n%s\n]}\n", t->text);
    fflush(t->file);
    const bool good = !t->no_memory;
    if (!good) fprintf(stderr, "no memory for all of the trace\n");
    free(t->spans);
    free(t->groups);
    free(t->text);
    free(t);
    return good;
}
