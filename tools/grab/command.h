/* SPDX-License-Identifier: MIT */
/* The command that is recorded: a process that waits until all is ready. */
#pragma once

#include <sys/types.h>

struct grab_command {
    pid_t pid;
    int go;    /* it begins with a byte from here; without one it ends */
    int error; /* of its exec, to be read */
};

/* `words`: up to a NULL. It has the limits that this process began with (base/limits.h). 0, or GRAB_BAD: it has said
 * why. */
int grab_command_prepare(struct grab_command *command, char **words);
/* Has it begin. 0: it runs; or GRAB_BAD: it has said why. `name`: its first word. */
int grab_command_go(const struct grab_command *command, const char *name);
