/* SPDX-License-Identifier: MIT */
/* A machine that a command runs, such as QEMU. The command's standard output is the machine's serial line. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct cairn_machine {
    pid_t pid;    /* of its process group, too; 0: none, or it has ended */
    int line;     /* to read from */
    int input;    /* to write to; -1: it has nothing on standard input */
    FILE *errors; /* what the command says on standard error */
    int status;   /* of the end: as a shell has it, 128 and the signal's number where one ended it */
};

/* Starts it, in a process group of its own; `input`: it gets a standard input that we write to. 0 or a negative errno:
 * not started. */
int cairn_machine_start(struct cairn_machine *machine, char **command, bool input);
/* Waits for its end, at most so many milliseconds, less if a signal comes. False: it still runs. */
bool cairn_machine_wait(struct cairn_machine *machine, int ms);
/* Asks it to end, and ends it where it has not within five seconds. */
void cairn_machine_end(struct cairn_machine *machine);
/* The line of its errors that says what is wrong, else the last one; empty: it has said nothing. */
const char *cairn_machine_error(struct cairn_machine *machine);
/* Prints the lines of its errors that begin with "LABEL: ", one of these labels. */
void cairn_machine_print(struct cairn_machine *machine, const char *const labels[]);
