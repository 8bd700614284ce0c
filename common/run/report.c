#include "run/report.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS, COUNTERS, FAULTS, FACTS, LISTS };

/* ---- the JSON, which is written when the program ends ---- */

static struct report *open_report;    /* whose JSON is not written; null: none */
static volatile sig_atomic_t adding;  /* an element is half written */
static volatile sig_atomic_t waiting; /* the signal that waits for it; 0: none */

/* Handlers of signals call it: dprintf() takes neither locks nor memory. */
void report_end(void) {
    static const char *const before[LISTS + 1] = {"{\"rows\": [", "\n], \"counters\": [",
                                                  "\n], \"faults\": [", "\n], \"facts\": [", "\n]}\n"};
    struct report *r = open_report;
    open_report = NULL;
    for (int i = 0; r != NULL && i <= LISTS && r->json.error == 0; ++i)
        if (dprintf(fileno(r->json.file), "%s%s", before[i], i < LISTS ? r->list[i].text : "") < 0)
            r->json.error = errno;
}

static void on_signal(int number) {
    if (adding) {
        waiting = number;
        return;
    }
    report_end();
    signal(number, SIG_DFL);
    raise(number);
}

/* Adds an element to a list of the JSON. */
static void add(struct report *r, int list, void (*write)(FILE *, const void *), const void *element) {
    struct list *l = &r->list[list];
    if (r->json.file == NULL) return;
    adding = true;
    fputs(l->size > 0 ? ",\n" : "\n", l->file);
    write(l->file, element);
    fflush(l->file);
    adding = false;
    if (waiting) on_signal(waiting);
}

/* ---- outputs ---- */

static bool open_output(struct report *r, struct output_file *o, const char *name) {
    const char *why = NULL;
    struct stat status, other;
    o->name = name;
    if (name == NULL) return true;
    o->file = strcmp(name, "-") == 0 ? stdout : fopen(name, "ae");
    if (o->file == stdout) o->name = "stdout";
    else if (o->file == NULL) why = strerror(errno);
    const bool regular = why == NULL && fstat(fileno(o->file), &status) == 0 && S_ISREG(status.st_mode);
    for (const struct output_file *p = &r->csv; p < o && why == NULL; ++p)
        if (p->file != NULL &&
            (p->file == o->file || (regular && fstat(fileno(p->file), &other) == 0 &&
                                    other.st_dev == status.st_dev && other.st_ino == status.st_ino)))
            why = "another option names it too";
    if (why == NULL && regular && o->file != stdout && /* others may be shared */
        flock(fileno(o->file), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        why = "another program is writing it";
    if (why != NULL) fprintf(stderr, "%s: cannot be written: %s\n", name, why);
    return why == NULL;
}

static void flush(struct output_file *o) {
    if (o->file != NULL && (fflush(o->file) != 0 || ferror(o->file)) && o->error == 0) o->error = errno;
}

static bool close_output(struct output_file *o) {
    flush(o);
    if (o->file != NULL && o->file != stdout && fclose(o->file) != 0 && o->error == 0) o->error = errno;
    if (o->error != 0) fprintf(stderr, "%s could not be written: %s\n", o->name, strerror(o->error));
    return o->error == 0;
}

bool report_open(struct report *r, const char *csv, const char *json, const char *trace) {
    memset(r, 0, sizeof *r);
    if (!open_output(r, &r->csv, csv) || !open_output(r, &r->json, json) || !open_output(r, &r->trace, trace))
        return false;
    if (r->csv.file != stdout && r->json.file != stdout && r->trace.file != stdout)
        open_output(r, &r->table, "-");
    for (struct output_file *o = &r->csv; o <= &r->trace; ++o)
        if (o->file != NULL && o->file != stdout && ftruncate(fileno(o->file), 0) != 0 &&
            errno != EINVAL) /* which is what a device or a pipe says */
            o->error = errno;
    if (r->json.file == NULL) return true;
    for (struct list *l = r->list; l < r->list + LISTS; ++l)
        if ((l->file = open_memstream(&l->text, &l->size)) == NULL || fflush(l->file) != 0) {
            fprintf(stderr, "no memory for the records\n");
            return false;
        }
    open_report = r;
    atexit(report_end);
    if (signal(SIGINT, on_signal) == SIG_IGN) /* in the background of a script */
        signal(SIGINT, SIG_IGN);
    signal(SIGTERM, on_signal);
    return true;
}

/* ---- records ---- */

void report_fact(struct report *r, const char *format, ...) {
    char fact[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fact, sizeof fact, format, arguments);
    va_end(arguments);
    if (r->table.file != NULL) fprintf(r->table.file, "%s\n", fact);
    if (r->csv.file != NULL) fprintf(r->csv.file, "# %s\n", fact);
    add(r, FACTS, json_text, fact);
}

/* A null row is the heading. */
static void write_row(struct report *r, const struct row *row) {
    r->rows = true;
    if (r->table.file != NULL && !r->later) row_table(r->table.file, row, r->figures);
    if (r->csv.file != NULL) row_csv(r->csv.file, row);
}

void report_row(struct report *r, const struct row *row) {
    if (!r->rows) write_row(r, NULL);
    add(r, ROWS, json_row, row);
    write_row(r, row);
    flush(&r->table); /* what was measured is kept, whatever comes next */
    flush(&r->csv);
}

void report_fault_silently(struct report *r, const struct fault *fault) { add(r, FAULTS, json_fault, fault); }

void report_fault(struct report *r, const struct fault *f) {
    fprintf(stderr, "%s %s, %s inputs, schedule %s: %s\n", f->step, f->shape, f->inputs, f->schedule,
            f->text);
    if (f->repeat[0] != '\0') fprintf(stderr, "  repeat: %s\n", f->repeat);
    report_fault_silently(r, f);
}

void report_counters(struct report *r, const struct counters *counters) {
    add(r, COUNTERS, json_counters, counters);
}

bool report_close(struct report *r) {
    bool good = true;
    if (!r->rows) write_row(r, NULL);
    report_end();
    for (struct output_file *o = &r->trace; o >= &r->table; --o) good = close_output(o) && good;
    return good;
}
