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

/* ---- the end of the JSON, also where the program ends early ---- */

static struct report *open_report;        /* whose JSON is not complete; null: none */
static volatile sig_atomic_t writing;     /* a record is half written */
static volatile sig_atomic_t interrupted; /* meanwhile, by this signal */

/* For handlers of signals: calls nothing but write(). */
void report_end(void) {
    const struct report *r = open_report;
    open_report = NULL;
    for (size_t done = 0; r != NULL && done < r->end_size;) {
        ssize_t written = write(fileno(r->json.file), r->end + done, r->end_size - done);
        if (written <= 0)
            return;
        done += (size_t)written;
    }
}

static void on_signal(int number) {
    if (writing) {
        interrupted = number;
        return;
    }
    report_end();
    raise(number); /* ends the program, as it does by default */
}

/* Ready for whatever may end the program, unless somebody else is: the CPU device sees to crashes. */
static void watch(struct report *report) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGSEGV,
                                  SIGBUS, SIGFPE,  SIGILL, SIGABRT};
    static bool registered;
    struct sigaction before, action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    open_report = report;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    if (!registered)
        registered = atexit(report_end) == 0;
}

/* Settles how the JSON ends if nothing more is written. */
static void settle_end(struct report *r) {
    const struct list *lists[] = {&r->counter_list, &r->fault_list, &r->fact_list};
    static const char *const names[] = {"counters", "faults", "facts"};
    char *end = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&end, &size);
    for (int i = 0; file != NULL && i < 3; ++i) {
        fflush(lists[i]->file);
        fprintf(file, "\n], \"%s\": [%s", names[i], lists[i]->text);
    }
    if (file == NULL || fputs("\n]}\n", file) < 0 || fclose(file) != 0) {
        r->json.error = r->json.error != 0 ? r->json.error : ENOMEM;
        return;
    }
    free(r->end);
    r->end = end, r->end_size = size;
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

/* What was measured is kept, whatever comes next. */
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
    if (r->json.file == NULL)
        return true;
    for (struct list *l = &r->counter_list; l <= &r->fact_list; ++l)
        if ((l->file = open_memstream(&l->text, &l->size)) == NULL) {
            fprintf(stderr, "no memory for the records\n");
            return false;
        }
    fputs("{\"rows\": [", r->json.file);
    flush(&r->json);
    settle_end(r);
    watch(r);
    return true;
}

/* ---- records ---- */

/* Begins an element of a list of the JSON. Returns where to write it, or null without JSON. */
static FILE *begin(const struct report *r, struct list *l) {
    if (r->json.file == NULL)
        return NULL;
    writing = true;
    fputs(l->size > 0 ? ",\n" : "\n", l->file);
    return l->file;
}

static void finish(struct report *r) {
    if (r->json.file == NULL)
        return;
    settle_end(r);
    writing = false;
    if (interrupted)
        on_signal(interrupted);
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
    FILE *json = begin(r, &r->fact_list);
    if (json != NULL)
        json_text(json, fact);
    finish(r);
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
    const bool first = !r->rows;
    if (first)
        start_rows(r);
    if (r->table.file != NULL)
        row_table(r->table.file, row, r->figures);
    if (r->csv.file != NULL)
        row_csv(r->csv.file, row);
    if (r->json.file != NULL) {
        writing = true;
        fputs(first ? "\n" : ",\n", r->json.file);
        row_json(r->json.file, row);
    }
    for (struct output_file *o = &r->table; o <= &r->json; ++o)
        flush(o);
    finish(r);
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
    FILE *json = begin(r, &r->fault_list);
    if (json != NULL)
        json_object(json, columns, sizeof columns / sizeof *columns, fault);
    finish(r);
}

void report_fault(struct report *r, const struct fault *f) {
    fprintf(stderr, "%s %s, %s inputs, schedule %s: %s\n", f->step, f->shape, f->inputs,
            f->schedule, f->text);
    if (f->repeat[0] != '\0')
        fprintf(stderr, "  repeat: %s\n", f->repeat);
    report_fault_silently(r, f);
}

void report_counters(struct report *r, const struct counters *counters) {
    FILE *json = begin(r, &r->counter_list);
    if (json != NULL)
        counters_json(json, counters);
    finish(r);
}

bool report_close(struct report *r) {
    bool good = true;
    if (!r->rows)
        start_rows(r);
    if (r->json.file != NULL) {
        writing = true;
        fwrite(r->end, 1, r->end_size, r->json.file);
        flush(&r->json);
        open_report = NULL;
        writing = false;
        for (struct list *l = &r->counter_list; l <= &r->fact_list; ++l) {
            fclose(l->file);
            free(l->text);
        }
        free(r->end);
    }
    for (struct output_file *o = &r->json; o >= &r->table; --o)
        good = output_close(o) && good;
    if (interrupted)
        on_signal(interrupted);
    return good;
}
