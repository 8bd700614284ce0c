#include "run/report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/counters.h"
#include "run/json.h"
#include "run/options.h"

enum { ROWS, COUNTERS, FAULTS, FACTS, LISTS };

/* ---- the JSON, which is written when the program ends, however it does ---- */

static struct report *open_report; /* whose JSON is not written; null: none */

static bool put(int fd, const char *text, size_t size) {
    while (size > 0) {
        ssize_t written = write(fd, text, size);
        if (written <= 0)
            return false;
        text += written, size -= (size_t)written;
    }
    return true;
}

/* Calls nothing but write(): this is for handlers of signals too. */
void report_end(void) {
    struct report *r = open_report;
    open_report = NULL;
    if (r == NULL)
        return;
    static const char *const before[LISTS + 1] = {"{\"rows\": [", "\n], \"counters\": [",
                                                  "\n], \"faults\": [", "\n], \"facts\": [",
                                                  "\n]}\n"};
    for (int i = 0; i <= LISTS && r->json.error == 0; ++i)
        if (!put(fileno(r->json.file), before[i], strlen(before[i])) ||
            (i < LISTS && !put(fileno(r->json.file), r->list[i].text, r->list[i].size)))
            r->json.error = errno;
}

static void on_signal(int number) {
    report_end();
    raise(number); /* which ends the program, as it does by default */
}

/* The signals that end a program; not those that somebody else sees to, as the CPU device to crashes. */
static void watch(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGSEGV,
                                  SIGBUS, SIGFPE,  SIGILL, SIGABRT};
    struct sigaction before, action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    atexit(report_end);
}

/* ---- outputs ---- */

static bool open_output(struct output_file *o, const char *name) {
    o->name = name;
    if (name == NULL)
        return true;
    if (strcmp(name, "-") == 0) {
        *o = (struct output_file){stdout, "stdout", 0};
        return true;
    }
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const char *why = NULL;
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && /* others may be shared */
        flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        why = "another program is writing it";
    else if (fd >= 0)
        o->file = fdopen(fd, "w");
    if (o->file == NULL)
        fprintf(stderr, "%s: cannot be written: %s\n", name, why != NULL ? why : strerror(errno));
    if (o->file == NULL && fd >= 0)
        close(fd);
    return o->file != NULL;
}

static void flush(struct output_file *o) {
    if (o->file != NULL && (fflush(o->file) != 0 || ferror(o->file)) && o->error == 0)
        o->error = errno;
}

bool output_close(struct output_file *o) {
    if (o->file == NULL)
        return true;
    flush(o);
    if (o->file != stdout && fclose(o->file) != 0 && o->error == 0)
        o->error = errno;
    if (o->error != 0)
        fprintf(stderr, "%s could not be written: %s\n", o->name, strerror(o->error));
    return o->error == 0;
}

bool report_open(struct report *r, const char *csv, const char *json) {
    memset(r, 0, sizeof *r);
    if (csv != NULL && json != NULL && strcmp(csv, json) == 0) {
        option_refused("--json", json, "another file than --csv");
        return false;
    }
    if (!open_output(&r->csv, csv) || !open_output(&r->json, json)) {
        if (r->csv.file != NULL && r->csv.file != stdout)
            fclose(r->csv.file);
        return false;
    }
    if (r->csv.file != stdout && r->json.file != stdout)
        r->table = (struct output_file){stdout, "stdout", 0};
    for (struct output_file *o = &r->csv; o <= &r->json; ++o)
        if (o->file != NULL && o->file != stdout && ftruncate(fileno(o->file), 0) != 0 &&
            errno != EINVAL) /* which is what a device or a pipe says */
            o->error = errno;
    for (int i = 0; i < LISTS && r->json.file != NULL; ++i) {
        r->list[i].file = open_memstream(&r->list[i].text, &r->list[i].size);
        if (r->list[i].file == NULL || fflush(r->list[i].file) != 0) {
            fprintf(stderr, "no memory for the records\n");
            return false;
        }
    }
    if (r->json.file != NULL) {
        open_report = r;
        watch();
    }
    return true;
}

/* ---- records ---- */

static sigset_t mask; /* while no element is half written */

/* Begins an element of a list of the JSON. Returns where to write it, or null without JSON. */
static FILE *begin(struct report *r, int list) {
    sigset_t all;
    sigfillset(&all);
    if (r->json.file == NULL)
        return NULL;
    sigprocmask(SIG_BLOCK, &all, &mask);
    fputs(r->list[list].size > 0 ? ",\n" : "\n", r->list[list].file);
    return r->list[list].file;
}

static void finish(FILE *element) {
    if (element == NULL)
        return;
    fflush(element);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

void report_fact(struct report *r, const char *format, ...) {
    char fact[sizeof r->facts[0]];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fact, sizeof fact, format, arguments);
    va_end(arguments);
    if (r->table.file != NULL)
        fprintf(r->table.file, "%s\n", fact);
    if (r->csv.file != NULL)
        fprintf(r->csv.file, "# %s\n", fact);
    FILE *json = begin(r, FACTS);
    if (json != NULL)
        json_text(json, fact);
    finish(json);
    if (r->fact_count < REPORT_FACTS_MAX)
        memcpy(r->facts[r->fact_count++], fact, sizeof fact);
}

/* Before the first row. */
static void start_rows(struct report *r) {
    if (r->table.file != NULL)
        row_table_header(r->table.file, r->figures);
    if (r->csv.file != NULL)
        row_csv_header(r->csv.file);
    r->rows = true;
}

void report_row(struct report *r, const struct row *row) {
    if (!r->rows)
        start_rows(r);
    FILE *json = begin(r, ROWS);
    if (json != NULL)
        row_json(json, row);
    finish(json);
    if (r->table.file != NULL)
        row_table(r->table.file, row, r->figures);
    if (r->csv.file != NULL)
        row_csv(r->csv.file, row);
    flush(&r->table); /* what was measured is kept, whatever comes next */
    flush(&r->csv);
}

void fault_clear(struct fault *fault) {
    memset(fault, 0, sizeof *fault);
}

void report_fault_silently(struct report *r, const struct fault *fault) {
#define TEXT(field) COLUMN_TEXT(struct fault, field)
    static const struct column columns[] = {
        TEXT(id),          TEXT(step),   TEXT(shape),  TEXT(inputs), TEXT(schedule),
        TEXT(place),       TEXT(other),  TEXT(thread), TEXT(block),  TEXT(other_thread),
        TEXT(other_block), TEXT(memory), TEXT(text),   TEXT(mend),   TEXT(repeat)};
    FILE *json = begin(r, FAULTS);
    if (json != NULL)
        json_object(json, columns, sizeof columns / sizeof *columns, fault);
    finish(json);
}

void report_fault(struct report *r, const struct fault *f) {
    fprintf(stderr, "%s %s, %s inputs, schedule %s: %s\n", f->step, f->shape, f->inputs,
            f->schedule, f->text);
    if (f->repeat[0] != '\0')
        fprintf(stderr, "  repeat: %s\n", f->repeat);
    report_fault_silently(r, f);
}

void report_counters(struct report *r, const struct counters *counters) {
    FILE *json = begin(r, COUNTERS);
    if (json != NULL)
        counters_json(json, counters);
    finish(json);
}

bool report_close(struct report *r) {
    bool good = true;
    if (!r->rows)
        start_rows(r);
    if (r->json.file != NULL)
        report_end();
    for (struct list *l = r->list; l < r->list + LISTS && l->file != NULL; ++l) {
        fclose(l->file);
        free(l->text);
    }
    for (struct output_file *o = &r->json; o >= &r->table; --o)
        good = output_close(o) && good;
    return good;
}
