/* SPDX-License-Identifier: MIT */
/* A command: its words for --help, its options as a table, and its function. */
#pragma once

#include "tools/cairn/base/colour.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/base/pager.h"
#include "tools/cairn/log/clock.h"
#include "tools/cairn/model/attribution.h"
#include "tools/cairn/model/filter.h"

struct cairn_option {
    char letter;                     /* as in -o; 0: none */
    const char *name, *value, *help; /* --name VALUE; value NULL: it takes none */
    /* what it sets: one of these */
    bool *on;
    const char **text;
    uint64_t *number, low, high; /* a whole decimal number from `low` to `high` */
    unsigned *word;              /* which of `words`, up to a NULL */
    const char *const *words;
    const char *(*take)(const char *value); /* NULL, or what the value must be instead: "must be ..." */
    const char *const *hints;               /* words that a list for `take` may hold, up to a NULL; NULL: any */
};

struct cairn_writer;

struct cairn_command {
    const char *name, *arguments, *summary;
    const struct cairn_option *options;        /* up to one without a name */
    const char *notes;                         /* what --help says below them */
    const char *examples[2];                   /* command lines at its end */
    const struct cairn_writer *const *formats; /* and before that, up to a NULL; NULL: none */
    /* One of these. They return the exit status. */
    int (*show)(const struct cairn_log *log); /* of a command whose operand is a LOG, read already */
    int (*run)(char **operands);              /* it opens its operand itself, */
    bool device;                              /* which is a DEV, or a COMMAND and its words; else a LOG, */
    bool file;                                /* or a FILE of another kind */
    bool program;                             /* it gets all arguments, for another program that reads them */
    int (*compare)(const struct cairn_log *a, const struct cairn_log *b); /* its operands are two LOGs */
    bool all_damage;   /* each thing that is damaged or missing is told, however many */
    bool reports;      /* it also shows what has no trace: machine_text.h */
    bool all_sessions; /* show is called for each session of the LOG, unless one is asked for */
};

extern const struct cairn_command cairn_dump_command, cairn_bts_command, cairn_stat_command, cairn_info_command,
    cairn_check_command, cairn_locks_command, cairn_ds_command, cairn_profile_command, cairn_capture_command,
    cairn_export_command, cairn_diff_command, cairn_top_command, cairn_probe_command, cairn_decode_command,
    cairn_grab_command;

extern const struct cairn_command *const cairn_commands[]; /* all, in the order of --help, up to a NULL */

/* A row of the options of commands whose output may be longer than the screen. */
#define CAIRN_PAGER_OPTION                                                                                             \
    {                                                                                                                  \
        0, "no-pager", NULL, "do not show long output in a pager ($CAIRN_PAGER, $PAGER or less)",                      \
            .on = &cairn_no_pager                                                                                      \
    }

/* The last rows of the options of every command that reads a LOG. What comes before says which part of it is looked
 * at, and how. */
#define CAIRN_LOG_OPTIONS                                                                                              \
    {0,                                                                                                                \
     "session",                                                                                                        \
     "N",                                                                                                              \
     "show trace session N instead of the first",                                                                      \
     .number = &cairn_which_session,                                                                                   \
     .low = 1,                                                                                                         \
     .high = TRACE_MAX_SESSIONS},                                                                                      \
        {0,                                                                                                            \
         "dump",                                                                                                       \
         "N",                                                                                                          \
         "read dump N of the log instead of the last",                                                                 \
         .number = &cairn_which_dump,                                                                                  \
         .low = 1,                                                                                                     \
         .high = UINT32_MAX},                                                                                          \
        {0,                                                                                                            \
         "max-wait-reason",                                                                                            \
         "N",                                                                                                          \
         "for an ETL file: MaximumWaitReason of the Windows that wrote its 0525H events",                              \
         .number = &cairn_maximum_wait_reason,                                                                         \
         .low = 1,                                                                                                     \
         .high = CCSWAP_MASK(CCSWAP_STATE_BITS)},                                                                      \
        {0,                                                                                                            \
         "color",                                                                                                      \
         "WHEN",                                                                                                       \
         "use colours: auto (on a terminal, unless NO_COLOR is set), always or never",                                 \
         .word = &cairn_colour_when,                                                                                   \
         .words = cairn_colour_names},                                                                                 \
        CAIRN_PAGER_OPTION,                                                                                            \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }
extern uint64_t cairn_which_dump;          /* 0: the last */
extern uint64_t cairn_which_session;       /* 0: the first, or all */
extern uint64_t cairn_maximum_wait_reason; /* 0: as the log says */

/* Rows of the options of commands that show times, or take them. */
#define CAIRN_CLOCK_OPTIONS                                                                                            \
    {0,                                                                                                                \
     "clock",                                                                                                          \
     "CLOCK",                                                                                                          \
     "times are seconds since the trace began (trace), or since the boot (boot), or wall-clock "                       \
     "time (wall)",                                                                                                    \
     .word = &cairn_clock,                                                                                             \
     .words = cairn_clock_names},                                                                                      \
    {                                                                                                                  \
        0, "zone", "ZONE",                                                                                             \
            "wall-clock times are of UTC (utc), of this computer's zone (local) or of that of the "                    \
            "traced machine (trace)",                                                                                  \
            .word = &cairn_zone, .words = cairn_zone_names                                                             \
    }

/* Rows of the options of commands that look at a part of a log (filter.h). */
#define CAIRN_CPU_OPTION                                                                                               \
    {                                                                                                                  \
        'c', "cpu", "LIST", "only these CPUs, such as 0,2-3", .take = cairn_filter_cpus                                \
    }
#define CAIRN_THREAD_OPTION                                                                                            \
    {                                                                                                                  \
        't', "thread", "LIST", "only these threads, by ID or name: 44,'hog*',idle (* and ? are wildcards)",            \
            .take = cairn_filter_threads                                                                               \
    }
#define CAIRN_TIME_OPTIONS                                                                                             \
    {0, "from", "TIME",                                                                                                \
     "only from this time on: 1.5s, 200ms, 10us, 100ns, seconds without unit, or 2026-11-21T02:10:59.5Z",              \
     .take = cairn_filter_from},                                                                                       \
        {0, "until", "TIME", "only before this time", .take = cairn_filter_until}, CAIRN_CLOCK_OPTIONS
#define CAIRN_REASON_OPTION                                                                                            \
    {                                                                                                                  \
        0, "reason", "LIST", "only switches away from threads with these states or wait reasons: Ready,WrMutex,Wr*",   \
            .take = cairn_filter_reasons, .hints = cairn_switch_words                                                  \
    }

/* A row of the options of commands that say who caused a record. */
#define CAIRN_BY_OPTION                                                                                                \
    {                                                                                                                  \
        0, "by", "RULE",                                                                                               \
            "find the thread of a PEBS record by 'time', the default if records have it, or 'index' (PebsIndex)",      \
            .word = &cairn_by, .words = cairn_by_names                                                                 \
    }
extern unsigned cairn_by; /* enum cairn_by */

/* Reads the arguments by the command's table (argv[0]: its name), then does what it does; a LOG is opened before, with
 * progress on a terminal, and what is damaged in it is reported behind. Returns the exit status. */
int cairn_run(const struct cairn_command *command, int argc, char **argv);

/* How the command is used and where help is, on standard error. */
void cairn_usage_line(const struct cairn_command *command);
/* The same after what is wrong with the arguments; returns CAIRN_USAGE. */
int cairn_usage(const struct cairn_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `status`, or where nothing of the log has passed the filter, at least CAIRN_BAD, and that is told. */
int cairn_filtered(int status);

/* Whether all of standard output could be written: `status`, or CAIRN_UNREADABLE, the reason told. */
int cairn_flush(int status);
