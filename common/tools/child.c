#include "tools/child.h"

#include <errno.h>
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
    if (running > 0)
        kill(running, SIGTERM);
}

void child_watch(void) {
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
}

/* Starts a program whose stdout can be read from `*out`. Returns false, with errno set, if it cannot. */
static bool start(char *const *arguments, FILE **out, FILE *errors) {
    int ends[2];
    if (errors == NULL || pipe(ends) != 0)
        return false;
    fflush(NULL);
    running = fork();
    if (running == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(fileno(errors), STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(arguments[0], arguments);
        dprintf(STDERR_FILENO, "%s: cannot be run: %s\n", arguments[0], strerror(errno));
        _exit(EXIT_FAULT);
    }
    close(ends[1]);
    *out = fdopen(ends[0], "r");
    if (running > 0 && child_interrupted)
        kill(running, SIGTERM);
    return running > 0 && *out != NULL;
}

int child_run(char *const *arguments, void (*line)(const char *line), bool show, char *last,
              size_t size) {
    char text[LINE_SIZE];
    FILE *out, *errors = tmpfile();
    int status = 0;
    if (!start(arguments, &out, errors)) {
        snprintf(last, size, "%s: cannot be started: %s", arguments[0], strerror(errno));
        return -1;
    }
    while (fgets(text, sizeof text, out) != NULL)
        if (line != NULL)
            line(text);
    fclose(out);
    while (waitpid(running, &status, 0) < 0 && errno == EINTR)
        continue;
    running = 0;
    rewind(errors);
    show = show && !child_interrupted && status != 0 &&
           !(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED);
    last[0] = '\0';
    while (fgets(text, sizeof text, errors) != NULL) {
        if (show)
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
