/* SPDX-License-Identifier: MIT */
/* cairn grab: runs the program cairn-grab, which needs libbpf and a Linux and so is installed by itself. Its options
 * are here only to be told of: it reads them itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cairn/command/command.h"

static const char *text;

/* cairn-grab's usage has the same (tests/cairn/command/test_grab.py). */
static const struct cairn_option options[] = {
    {'o', "output", "LOG", "write LOG instead of cairn-grab.log", .text = &text},
    {'e', "event", "EVENT",
     "count EVENT in COMMAND: cycles, instructions, branches, rUUEE or cpu/event=0xc0,umask=0x1/, with :u or :k after "
     "it",
     .text = &text},
    {'c', "count", "N", "write a record every N events; -e branches:u -c 1 records every branch (BTS)", .text = &text},
    {'a', "all-cpus", NULL, "count on all CPUs, not only in COMMAND", .text = &text},
    {'p', "pid", "PID", "count in this process", .text = &text},
    {0, "why", NULL, "show for each event whether and how PEBS sampled it", .text = &text},
    {0, "full", "WHEN", "write each switch as 0524H, too: auto (if records have no time), always, never",
     .text = &text},
    {0, "ring", "KIB", "memory for records in the kernel, per CPU", .text = &text},
    {0, "report", NULL, "compare this processor with cairn's model, and print a report to send in", .text = &text},
    {.name = NULL},
};

/* In the folder of this program, or where the shell would find it. Returns if it is nowhere. */
static void run_it(char **arguments)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("cairn-grab"));
    char *slash = n > 0 ? (path[n] = '\0', strrchr(path, '/')) : NULL;
    if (slash) {
        strcpy(slash + 1, "cairn-grab");
        execv(path, arguments);
    }
    execvp("cairn-grab", arguments);
}

static int run(char **operands)
{
    char name[] = "cairn-grab";
    size_t count = 0;
    while (operands[count])
        count++;
    char **arguments = calloc(count + 2, sizeof(*arguments));
    if (arguments) {
        arguments[0] = name;
        memcpy(arguments + 1, operands, count * sizeof(*arguments));
        run_it(arguments);
    }
    if (errno == ENOENT)
        cairn_error("cairn-grab is not installed; install the Debian package cairn-grab, or run 'make install-grab'");
    else
        cairn_error("cairn-grab cannot be run: %s", strerror(errno));
    free(arguments);
    return CAIRN_UNREADABLE;
}

const struct cairn_command cairn_grab_command = {
    .name = "grab",
    .arguments = "[options] [COMMAND]",
    .summary = "record the Debug Store of this Linux",
    .options = options,
    .notes = "Runs COMMAND and records what the Debug Store of this Linux writes meanwhile, as\n"
             "a LOG for the other commands. It needs root, and the program cairn-grab.\n"
             "See docs/how-to/own-records.md.\n",
    .examples = {"sudo cairn grab -e instructions:u -o my.log -- ./prog",
                 "sudo cairn grab -o my.log -- perf record -e instructions:upp ./prog"},
    .run = run,
    .program = true,
};
