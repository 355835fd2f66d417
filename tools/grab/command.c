/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/grab/base/error.h"
#include "tools/grab/base/limits.h"

int grab_command_prepare(struct grab_command *c, char **words)
{
    int go[2], error[2];
    if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC) || (c->pid = fork()) < 0) {
        grab_error("%s cannot be started: %s", words[0], strerror(errno));
        return GRAB_BAD;
    }
    if (!c->pid) {
        char begin;
        close(go[1]);
        if (read(go[0], &begin, 1) != 1)
            _exit(GRAB_REFUSED);
        grab_limits_restore();
        execvp(words[0], words);
        const int why = errno;
        _exit(write(error[1], &why, sizeof why) == sizeof why ? 127 : 126);
    }
    close(go[0]);
    close(error[1]);
    c->go = go[1];
    c->error = error[0];
    return 0;
}

int grab_command_go(const struct grab_command *c, const char *name)
{
    int error = 0;
    const bool failed = write(c->go, "", 1) != 1 || read(c->error, &error, sizeof error) == sizeof error;
    close(c->go);
    close(c->error);
    if (!failed)
        return 0;
    waitpid(c->pid, NULL, 0);
    grab_error("%s: %s", name, strerror(error));
    return GRAB_BAD;
}
