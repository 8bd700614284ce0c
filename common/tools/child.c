#define _GNU_SOURCE
#include "tools/child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/options.h"

enum { LINE_SIZE = 2048 };

volatile sig_atomic_t child_interrupted;
static volatile pid_t running; /* 0: none */

static void on_signal(int number) {
    child_interrupted = number;
    if (running > 0) kill(running, SIGTERM);
}

void child_watch(void) {
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
}

int child_run(const char *const *arguments, void (*line)(const char *line), bool show, char *last,
              size_t size) {
    char text[LINE_SIZE];
    int ends[2], status = 0;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    FILE *out = NULL, *errors = tmpfile();
    if (errors != NULL && pipe2(ends, O_CLOEXEC) == 0) out = fdopen(ends[0], "r");
    int error = errno;
    if (out != NULL) {
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, fileno(errors), STDERR_FILENO);
        error = posix_spawn(&pid, arguments[0], &actions, NULL, (char *const *)arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
    }
    if (error != 0) {
        if (out != NULL) fclose(out);
        if (errors != NULL) fclose(errors);
        snprintf(last, size, "%s: cannot be run: %s", arguments[0], strerror(error));
        return W_EXITCODE(EXIT_FAULT, 0);
    }
    running = pid;
    if (child_interrupted) kill(pid, SIGTERM);
    while (fgets(text, sizeof text, out) != NULL)
        if (line != NULL) line(text);
    fclose(out);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    running = 0;
    rewind(errors);
    last[0] = '\0';
    while (fgets(text, sizeof text, errors) != NULL) {
        if (show && !child_interrupted && status != 0 && status != W_EXITCODE(EXIT_SKIPPED, 0))
            fputs(text, stderr);
        if (text[0] != ' ') /* an indented line goes on about the one before */
            snprintf(last, size, "%.*s", (int)strcspn(text, "\n"), text);
    }
    fclose(errors);
    return status;
}

bool program_folder(char *folder, size_t size) {
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    if (length <= 0 || (size_t)length >= size - 1) {
        fprintf(stderr, "cannot tell where this program lies: %s\n",
                length > 0 ? "its path is too long" : strerror(errno));
        return false;
    }
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    return true;
}
