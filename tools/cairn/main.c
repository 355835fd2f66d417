/* SPDX-License-Identifier: MIT */
/* cairn: reads what the kernel dumps. This file only finds the command and calls it. */
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cairn/base/error.h"
#include "tools/cairn/base/nearest.h"
#include "tools/cairn/command/arguments.h"
#include "tools/cairn/command/command.h"

static void usage(FILE *to)
{
    fputs("usage: cairn COMMAND ...\n       cairn LOG   (the same as cairn info LOG)\n", to);
    for (const struct cairn_command *const *c = cairn_commands; *c; c++)
        fprintf(to, "  %-8s %-20s %s\n", (*c)->name, (*c)->arguments, (*c)->summary);
    fputs("LOG is a serial log or an ETL file; - is standard input. 'cairn help COMMAND'\n"
          "describes a command and its options.\n"
          "Exit: 0 good; 1 the trace is damaged, a check failed, or the log does not\n"
          "have what you asked for; 2 wrong usage; 3 a file is unreadable or not a trace.\n",
          to);
}

static const char *command_name(size_t i, const void *context)
{
    (void)context;
    return cairn_commands[i] ? cairn_commands[i]->name : NULL;
}

static int no_command(const char *name)
{
    const char *near = cairn_nearest(name, command_name, NULL);
    if (name[0] == '-')
        cairn_error("'%s' is not an option of cairn, which has only --help, --version and --no-pager; give the options "
                    "of a command after its name",
                    name);
    else if (near)
        cairn_error("'%s' is not a command; did you mean '%s'? See 'cairn help'", name, near);
    else
        cairn_error("'%s' is neither a command nor a file; see 'cairn help'", name);
    return CAIRN_USAGE;
}

/* Whether it names what info can read: `cairn LOG`. */
static bool is_file(const char *name)
{
    struct stat s;
    return strcmp(name, "-") == 0 || (stat(name, &s) == 0 && !S_ISDIR(s.st_mode));
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
    static char output[64 << 10]; /* the C library's 4 KiB are full after 50 lines */
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* or glibc raises it, and large blocks stay after free */
#endif
    setlocale(LC_CTYPE, ""); /* whether a terminal shows UTF-8: cut.h */
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, output, _IOFBF, sizeof(output));
    cairn_arguments_all = cairn_commands;
    if (argc > 1 && strcmp(argv[1], "--no-pager") == 0) {
        cairn_no_pager = true;
        argc--;
        argv++;
    }
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
    if (find(argv[1]))
        return cairn_run(find(argv[1]), argc - 1, argv + 1);
    return is_file(argv[1]) ? cairn_run(&cairn_info_command, argc, argv) : no_command(argv[1]);
}
