/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/pager.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool cairn_no_pager;
static pid_t pager;         /* 0: none runs */
static bool errors_as_well; /* standard error goes there, too */

/* NULL: none is wanted. */
static const char *chosen(void)
{
    const char *own = getenv("CAIRN_PAGER"), *any = getenv("PAGER"), *terminal = getenv("TERM");
    const char *name = own ? own : any ? any : "less";
    if (cairn_no_pager || !isatty(STDOUT_FILENO) || !terminal || strcmp(terminal, "dumb") == 0)
        return NULL;
    return *name && strcmp(name, "cat") != 0 ? name : NULL;
}

/* The pager is gone: nobody reads the rest. */
static void left(int signal)
{
    (void)signal;
    waitpid(pager, NULL, 0);
    _exit(EXIT_SUCCESS);
}

static pid_t spawn(const char *name, const int pipe_ends[2])
{
    char *const command[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)name, NULL};
    char *const less[] = {(char[]){"less"}, NULL};
    const bool ours = strcmp(name, "less") == 0; /* without a shell, which would say that there is none */
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[1]);
    if (posix_spawnp(&pid, ours ? "less" : "sh", &actions, NULL, ours ? less : command, environ) != 0)
        pid = 0;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

void cairn_pager_start(void)
{
    const char *name = chosen();
    int ends[2];
    if (!name || pager || pipe(ends) != 0)
        return;
    setenv("LESS", "FRX", 0);
    pager = spawn(name, ends);
    if (pager) {
        errors_as_well = isatty(STDERR_FILENO);
        signal(SIGPIPE, left);
        signal(SIGINT, SIG_IGN); /* the pager's: it stops a search, or ends */
        dup2(ends[1], STDOUT_FILENO);
        if (errors_as_well)
            dup2(ends[1], STDERR_FILENO);
    }
    close(ends[0]);
    close(ends[1]);
}

void cairn_pager_end(void)
{
    if (!pager)
        return;
    fclose(stdout);
    close(STDOUT_FILENO); /* also where fclose failed */
    if (errors_as_well)
        close(STDERR_FILENO);
    while (waitpid(pager, NULL, 0) < 0 && errno == EINTR) /* ECHILD: who started cairn ignores SIGCHLD */
        ;
    pager = 0;
}

/* It is asked for each line, and does not change: where there is a pager, there was a terminal. */
static bool is_terminal(int descriptor)
{
    static signed char known[STDERR_FILENO + 1]; /* 0: not yet */
    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return isatty(descriptor);
    if (!known[descriptor])
        known[descriptor] = isatty(descriptor) ? 1 : -1;
    return known[descriptor] > 0;
}

bool cairn_pager_or_terminal(FILE *to)
{
    return (pager && (to == stdout || (to == stderr && errors_as_well))) || is_terminal(fileno(to));
}
