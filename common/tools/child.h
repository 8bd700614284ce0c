/**
 * @file child.h
 * Runs another program, and reads what it says.
 */
#ifndef OVERLAP_CHILD_H
#define OVERLAP_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/** The signal that interrupted this program, 0 if none did; see child_watch(). */
extern volatile sig_atomic_t child_interrupted;

/** From now on SIGINT and SIGTERM end the program that runs, and not this one. */
void child_watch(void);

/**
 * Runs arguments[0], and waits for it. Each line of its stdout goes to `line` unless that is null; the
 * last line of its stderr, but for indented ones, into `last`.
 * @param show  copy its stderr to this program's, unless it succeeds, skips, or is interrupted
 * @return the status as waitpid() gives it; that of #EXIT_FAULT if it cannot be started: `last` says why.
 */
int child_run(const char *const *arguments, void (*line)(const char *line), bool show, char *last,
              size_t size);

/** Where this program lies, without a slash at the end. @return false after one line on stderr. */
bool program_folder(char *folder, size_t size);

#endif
