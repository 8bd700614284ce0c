/**
 * @file child.h
 * Starts a program, and reads what it says.
 */
#ifndef OVERLAP_CHILD_H
#define OVERLAP_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/** A program that was started. */
struct child {
    pid_t pid;
    FILE *out;    /**< its stdout, a pipe */
    FILE *errors; /**< its stderr, a temporary file: to be read after child_wait() */
};

/** The signal that interrupted this program, 0 if none did; see child_watch(). */
extern volatile sig_atomic_t child_interrupted;

/** From now on SIGINT and SIGTERM end the program that was started, and not this one. */
void child_watch(void);

/** Starts arguments[0]. @return false, with errno set, if it cannot; nothing is open then. */
bool child_start(struct child *child, char *const *arguments);

/** Closes the pipe and waits. @return the status as waitpid() gives it. */
int child_wait(struct child *child);

#endif
