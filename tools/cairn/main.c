/* SPDX-License-Identifier: MIT */
/* cairn: reads what the kernel dumps. This file only finds the command. */
#include <stdio.h>
#include <string.h>

#include "tools/cairn/command.h"

static void usage(FILE *to)
{
    fputs("usage: cairn COMMAND ...\n", to);
    for (const struct cairn_command *const *c = cairn_commands; *c; c++)
        fprintf(to, "  %-8s %-20s %s\n", (*c)->name, (*c)->arguments, (*c)->summary);
    fputs("LOG is a serial log or an ETL file, - standard input. cairn help COMMAND tells\n"
          "more.\n"
          "Exit: 0 good, 1 the trace is damaged or a check failed, 2 usage, 3 unreadable or\n"
          "not a trace.\n",
          to);
}

static int no_command(const char *name)
{
    fprintf(stderr, "cairn: '%s' is no command\n", name);
    usage(stderr);
    return CAIRN_USAGE;
}

/* NULL: there is none of that name. */
static const struct cairn_command *find(const char *name)
{
    for (unsigned i = 0; cairn_commands[i]; i++)
        if (strcmp(name, cairn_commands[i]->name) == 0)
            return cairn_commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return CAIRN_USAGE;
    }
    const bool help = strcmp(argv[1], "help") == 0;
    if (help && argc > 2) {
        char option[] = "--help", *arguments[] = {argv[2], option, NULL};
        return find(argv[2]) ? cairn_run(find(argv[2]), 2, arguments) : no_command(argv[2]);
    }
    if (help || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return cairn_flush(CAIRN_GOOD);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("cairn %s, dump formats %u and %u\n", CAIRN_VERSION, CAIRN_FORMAT_VERSION, CAIRN_FORMAT_LIVE);
        return cairn_flush(CAIRN_GOOD);
    }
    return find(argv[1]) ? cairn_run(find(argv[1]), argc - 1, argv + 1) : no_command(argv[1]);
}
