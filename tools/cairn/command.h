/* SPDX-License-Identifier: MIT */
/* The commands, and what they have in common. */
#pragma once

#include "tools/cairn/input.h"
#include "tools/cairn/log.h"

enum { /* exit statuses */
       CAIRN_GOOD = 0,
       CAIRN_BAD = 1, /* the trace is damaged, or a check failed */
       CAIRN_USAGE = 2,
       CAIRN_UNREADABLE = 3, /* no such file, or not a trace */
};

struct cairn_command {
    const char *name, *arguments, *summary;
    const char *help;                  /* options, one a line */
    int (*run)(int argc, char **argv); /* argv[0]: the command's name */
};

extern const struct cairn_command cairn_dump_command, cairn_stat_command, cairn_info_command, cairn_check_command,
    cairn_capture_command;

/* Says what is wrong with the arguments and where help is; returns CAIRN_USAGE. */
int cairn_usage(const struct cairn_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* After getopt's own line: says where help is; returns CAIRN_USAGE. */
int cairn_try_help(const struct cairn_command *command);
/* Prints the command's help; returns CAIRN_GOOD. */
int cairn_help(const struct cairn_command *command);

/* A whole decimal number from `low` to `high`. */
bool cairn_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value);

struct cairn_source {
    struct cairn_input input;
    struct cairn_log log;
};

/* Opens and reads a log, with progress on a terminal. 0, or the exit status, the reason told. `dump`: which of several
 * in one log, 0 the last. */
int cairn_open(struct cairn_source *source, const char *path, uint32_t dump);
/* Flushes standard output, reports damage on standard error, closes. Returns the exit status, at least `status`. */
int cairn_close(struct cairn_source *source, int status);
