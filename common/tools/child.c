#include "tools/child.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/options.h"

volatile sig_atomic_t child_interrupted;
static volatile pid_t running; /* 0: none */

static void on_signal(int number) {
    child_interrupted = number;
    if (running > 0)
        kill(running, SIGTERM);
}

void child_watch(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool child_start(struct child *c, char *const *arguments) {
    int ends[2];
    c->errors = tmpfile();
    if (c->errors == NULL)
        return false;
    if (pipe(ends) != 0) {
        fclose(c->errors);
        return false;
    }
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(fileno(c->errors), STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(arguments[0], arguments);
        dprintf(STDERR_FILENO, "%s: cannot be run: %s\n", arguments[0], strerror(errno));
        _exit(EXIT_FAULT);
    }
    close(ends[1]);
    c->out = fdopen(ends[0], "r");
    if (c->pid < 0 || c->out == NULL) {
        fclose(c->errors);
        close(ends[0]);
        return false;
    }
    running = c->pid;
    if (child_interrupted)
        kill(c->pid, SIGTERM);
    return true;
}

int child_wait(struct child *c) {
    int status = 0;
    fclose(c->out);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    running = 0;
    rewind(c->errors);
    return status;
}
