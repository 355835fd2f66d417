/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* strcasestr, pipe2 */
#include "tools/cairn/command/capture/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/cairn/command/capture/line.h"

#define ENDS_MS 5000 /* a machine that was asked to end has so long */
#define LOOK_MS 10

/* In the child: never returns. */
static void become(char **command, int input, int line, int errors, int told)
{
    const int from = input >= 0 ? input : open("/dev/null", O_RDONLY);
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (from >= 0 && dup2(from, STDIN_FILENO) >= 0 && dup2(line, STDOUT_FILENO) >= 0 &&
        dup2(errors, STDERR_FILENO) >= 0)
        execvp(command[0], command);
    const int e = errno;
    _exit(write(told, &e, sizeof(e)) == sizeof(e) ? 127 : 126);
}

int cairn_machine_start(struct cairn_machine *m, char **command, bool input)
{
    int line[2], told[2], in[2] = {-1, -1}, e = 0;
    *m = (struct cairn_machine){.errors = tmpfile()};
    if (!m->errors || pipe2(line, O_CLOEXEC))
        return -errno;
    if (pipe2(told, O_CLOEXEC) || (input && pipe2(in, O_CLOEXEC)))
        return -errno;
    m->pid = fork();
    if (m->pid == 0)
        become(command, in[0], line[1], fileno(m->errors), told[1]);
    if (m->pid < 0)
        return -errno;
    setpgid(m->pid, m->pid); /* whoever of the two is first */
    close(line[1]);
    if (input)
        close(in[0]);
    close(told[1]);
    const bool failed = read(told[0], &e, sizeof(e)) == sizeof(e);
    close(told[0]);
    m->line = line[0];
    m->input = in[1];
    if (failed)
        cairn_machine_end(m);
    return failed ? -e : 0;
}

bool cairn_machine_wait(struct cairn_machine *m, int ms)
{
    int status;
    for (const int64_t until = cairn_now_ms() + ms; m->pid;) {
        const pid_t ended = waitpid(m->pid, &status, WNOHANG);
        if (ended == m->pid) {
            m->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            m->pid = 0;
        } else if (cairn_now_ms() >= until) {
            return false;
        } else {
            nanosleep(&(struct timespec){0, LOOK_MS * 1000000L}, NULL);
        }
    }
    return true;
}

void cairn_machine_end(struct cairn_machine *m)
{
    const pid_t group = m->pid;
    if (!group)
        return;
    kill(-group, SIGTERM);
    if (cairn_machine_wait(m, ENDS_MS))
        return;
    kill(-group, SIGKILL);
    cairn_machine_wait(m, ENDS_MS);
}

static bool says_what_is_wrong(const char *line)
{
    static const char *const words[] = {"error", "fail", "could not", "unable", "invalid", "unsupported", "denied"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasestr(line, words[i]))
            return true;
    return false;
}

static bool next_line(struct cairn_machine *m, char line[], int size)
{
    if (!fgets(line, size, m->errors))
        return false;
    line[strcspn(line, "\r\n")] = '\0';
    return true;
}

const char *cairn_machine_error(struct cairn_machine *m)
{
    static char line[300], last[300];
    last[0] = '\0';
    rewind(m->errors);
    while (next_line(m, line, sizeof(line))) {
        if (says_what_is_wrong(line))
            return line;
        if (line[0])
            memcpy(last, line, sizeof(last));
    }
    return last;
}

void cairn_machine_print(struct cairn_machine *m, const char *const labels[])
{
    char line[1000];
    rewind(m->errors);
    while (next_line(m, line, sizeof(line)))
        for (unsigned i = 0; labels[i]; i++) {
            const size_t n = strlen(labels[i]);
            if (strncmp(line, labels[i], n) == 0 && strncmp(line + n, ": ", 2) == 0)
                printf("%-11s %s\n", labels[i], line + n + 2);
        }
}
