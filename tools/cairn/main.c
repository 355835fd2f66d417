/* SPDX-License-Identifier: MIT */
/* cairn: reads what the kernel dumps. This file only finds the command and calls it. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/error.h"
#include "tools/cairn/command/command.h"

static void usage(FILE *to)
{
    fputs("usage: cairn COMMAND ...\n", to);
    for (const struct cairn_command *const *c = cairn_commands; *c; c++)
        fprintf(to, "  %-8s %-20s %s\n", (*c)->name, (*c)->arguments, (*c)->summary);
    fputs("LOG is a serial log or an ETL file; - is standard input. 'cairn help COMMAND'\n"
          "describes a command and its options.\n"
          "Exit: 0 good; 1 the trace is damaged, a check failed, or the log has nothing of\n"
          "what you asked for; 2 wrong usage; 3 a file is unreadable or not a trace.\n",
          to);
}

/* How many letters are to be changed, put in, taken out or swapped with the next to make one word of the other; of
 * words shorter than 16. */
static unsigned differences(const char *a, const char *b)
{
    unsigned d[16][16];
    const unsigned m = (unsigned)strnlen(a, 16), n = (unsigned)strnlen(b, 16);
    if (m == 16 || n == 16)
        return 16;
    for (unsigned i = 0; i <= m; i++)
        for (unsigned j = 0; j <= n; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            const unsigned changed = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            const unsigned shifted = (d[i - 1][j] < d[i][j - 1] ? d[i - 1][j] : d[i][j - 1]) + 1;
            d[i][j] = changed < shifted ? changed : shifted;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[m][n];
}

static int no_command(const char *name)
{
    const char *near = NULL;
    unsigned least = 3; /* more is another word */
    for (unsigned i = 0; cairn_commands[i]; i++) {
        const unsigned d = differences(name, cairn_commands[i]->name);
        if (d < least && d < strlen(name)) {
            least = d;
            near = cairn_commands[i]->name;
        }
    }
    if (name[0] == '-')
        cairn_error("'%s' is no option: --help and --version are; those of a command stand behind it", name);
    else if (near)
        cairn_error("'%s' is no command: did you mean %s? cairn help lists them", name, near);
    else
        cairn_error("'%s' is no command: cairn help lists them", name);
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
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* or glibc raises it, and large blocks stay after free */
#endif
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
