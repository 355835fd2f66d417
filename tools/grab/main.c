/* SPDX-License-Identifier: MIT */
/* cairn-grab: runs a command and writes what the Debug Store of a running Linux recorded meanwhile as a Cairn log. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/grab/base/clock.h"
#include "tools/grab/base/error.h"
#include "tools/grab/base/events.h"
#include "tools/grab/base/kernel.h"
#include "tools/grab/base/maps.h"
#include "tools/grab/base/rings.h"
#include "tools/grab/command.h"
#include "tools/grab/log.h"
#include "tools/grab/report/judge.h"
#include "tools/grab/summary.h"
#include "tools/grab/why.h"

#define PAUSE_NS   5000000 /* between two looks into the rings */
#define PAIR_EVERY 1000000000u
#define PERIOD     100003u
#define RING_KIB   (GRAB_RING >> 10)
#define RING_LEAST 64u
#define RING_MOST  (1u << 20)
#define ALL_RINGS  (512u << 10) /* KiB of all CPUs' rings together, unless --ring asks for more */

static const char usage[] = "usage: cairn grab [-o LOG] [-e EVENT]... [-c N] [-a | -p PID] [-- COMMAND ...]\n"
                            "Runs COMMAND and records what the Debug Store of this Linux writes meanwhile, as\n"
                            "a log for cairn: records of PEBS and BTS, as the processor wrote them, and each\n"
                            "context switch with PebsIndex. BPF programs read them right before Linux does,\n"
                            "and change nothing. Only root may run it.\n"
                            "  -o, --output LOG   write LOG (cairn-grab.log)\n"
                            "  -e, --event EVENT  count EVENT in COMMAND: cycles, instructions, branches,\n"
                            "                     rUUEE or cpu/event=0xc0,umask=0x1/, with :u or :k after it.\n"
                            "                     Can be given several times. Without -e, another program,\n"
                            "                     such as perf record, must use PEBS meanwhile\n"
                            "  -c, --count N      write a record every N events (100003); -e branches:u -c 1\n"
                            "                     records every branch (BTS)\n"
                            "  -a, --all-cpus     count on all CPUs, not only in COMMAND\n"
                            "  -p, --pid PID      count in this process\n"
                            "      --why          show for each event whether PEBS sampled it, how Linux read\n"
                            "                     its records, and what to change\n"
                            "      --full WHEN    write each switch as 0524H, too, with its own PebsIndex:\n"
                            "                     auto (if records have no time), always, never\n"
                            "      --ring KIB     memory for records in the kernel, per CPU; a power of 2\n"
                            "      --report       run a test program, compare this processor with cairn's\n"
                            "                     model, and print a report without personal data\n"
                            "      --help, --version\n"
                            "Without COMMAND it records until Ctrl-C.\n"
                            "Exit: 0 success; 1 nothing was recorded, or LOG cannot be written; 2 wrong\n"
                            "usage; 3 this machine or its kernel cannot be read.\n"
                            "See docs/how-to/own-records.md. Examples:\n"
                            "  sudo cairn grab -e instructions:u -o my.log -- ./prog\n"
                            "  sudo cairn grab -o my.log -- perf record -e instructions:upp ./prog\n";

struct options {
    const char *output;
    struct grab_event event[GRAB_EVENTS_MOST];
    unsigned events;
    uint64_t period, ring; /* ring: KiB; 0: by the number of CPUs */
    pid_t pid;
    bool all, why, report;
    enum grab_full full;
    char **command; /* up to a NULL; NULL: none */
};

static volatile sig_atomic_t ends; /* a signal wants it */

static void on_signal(int number)
{
    ends = number;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static int wrong(const char *what, const char *why)
{
    grab_error("%s: %s; see cairn grab --help", what, why);
    return GRAB_USAGE;
}

static bool read_number(uint64_t *number, const char *text, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return !errno && end != text && !*end && *text >= '0' && *text <= '9' && *number >= low && *number <= high;
}

static int take_event(struct options *o, const char *text)
{
    if (o->events == GRAB_EVENTS_MOST)
        return wrong(text, "at most 8 events can be counted");
    const char *why = grab_event_parse(&o->event[o->events++], text);
    return why ? wrong(text, why) : 0;
}

static int take_full(struct options *o, const char *text)
{
    static const char *const words[] = {"auto", "always", "never"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(text, words[i]) == 0) {
            o->full = (enum grab_full)i;
            return 0;
        }
    return wrong(text, "--full must be auto, always or never");
}

static int take_option(struct options *o, int letter)
{
    uint64_t number;
    switch (letter) {
    case 'o':
        o->output = optarg;
        return 0;
    case 'e':
        return take_event(o, optarg);
    case 'c':
        return read_number(&o->period, optarg, 1, INT64_MAX) ? 0 : wrong(optarg, "-c must be a number from 1 on");
    case 'a':
        o->all = true;
        return 0;
    case 'p':
        if (!read_number(&number, optarg, 1, INT32_MAX))
            return wrong(optarg, "-p must be the number of a process");
        o->pid = (pid_t)number;
        return 0;
    case 'f':
        return take_full(o, optarg);
    case 'r':
        if (!read_number(&o->ring, optarg, RING_LEAST, RING_MOST) || (o->ring & (o->ring - 1)))
            return wrong(optarg, "--ring must be a power of 2 from 64 to 1048576");
        return 0;
    case 'w':
        o->why = true;
        return 0;
    case 'R':
        o->report = true;
        return 0;
    case 'h':
        fputs(usage, stdout);
        exit(GRAB_GOOD);
    case 'V':
        printf("cairn-grab %s\n", CAIRN_VERSION);
        exit(GRAB_GOOD);
    default:
        fputs("cairn-grab: cairn grab --help lists the options\n", stderr);
        return GRAB_USAGE;
    }
}

static int read_options(struct options *o, int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'}, {"event", required_argument, NULL, 'e'},
        {"count", required_argument, NULL, 'c'},  {"all-cpus", no_argument, NULL, 'a'},
        {"pid", required_argument, NULL, 'p'},    {"ring", required_argument, NULL, 'r'},
        {"full", required_argument, NULL, 'f'},   {"why", no_argument, NULL, 'w'},
        {"report", no_argument, NULL, 'R'},       {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},      {0},
    };
    *o = (struct options){.output = "cairn-grab.log"};
    for (int letter; (letter = getopt_long(argc, argv, "+o:e:c:ap:h", options, NULL)) != -1;) {
        const int status = take_option(o, letter);
        if (status)
            return status;
    }
    o->command = optind < argc ? argv + optind : NULL;
    if (o->period && !o->events)
        return wrong("-c", "needs -e EVENT; perf record has its own -c for what it samples");
    o->period = o->period ? o->period : PERIOD;
    for (unsigned i = 0; i < o->events; i++)
        o->event[i].period = o->period;
    if (o->report && (o->command || o->events || o->all || o->pid || o->why))
        return wrong("--report", "takes neither COMMAND nor -e, -a, -p or --why, because it runs its own program");
    if (o->all && o->pid)
        return wrong("-p", "give -a or -p, not both");
    if ((o->all || o->pid) && !o->events)
        return wrong(o->all ? "-a" : "-p", "needs -e EVENT, the event to count");
    if (!o->command && o->events && !o->all && !o->pid)
        return wrong("-e", "there is nothing to count in; give a COMMAND, -a or -p");
    return 0;
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

static int open_events(const struct options *o, pid_t child)
{
    const pid_t pid = o->all ? -1 : o->pid ? o->pid : child;
    for (unsigned i = 0; i < o->events; i++) {
        const int status = grab_event_open(&o->event[i], pid, pid == child);
        if (status)
            return status;
    }
    return 0;
}

/* Until the command ends, or a signal comes: Ctrl-C reaches the command by itself. */
static void follow(struct grab_rings *rings, struct grab_maps *maps, struct grab_clock *clock, pid_t child)
{
    const struct timespec pause = {0, PAUSE_NS};
    uint64_t due = grab_clock_now() + PAIR_EVERY;
    while (child ? waitpid(child, NULL, WNOHANG) == 0 : !ends) {
        if (child && ends == SIGTERM) {
            kill(child, SIGTERM);
            ends = 0;
        }
        nanosleep(&pause, NULL);
        grab_rings_take(rings);
        grab_maps_take(maps);
        if (grab_clock_now() >= due) {
            grab_clock_take(clock);
            due += PAIR_EVERY;
        }
    }
}

static uint32_t ring_bytes(const struct options *o)
{
    const uint64_t cpus = grab_machine_cpus();
    uint64_t kib = RING_KIB;
    while (!o->ring && kib > 256 && kib * cpus > ALL_RINGS)
        kib /= 2;
    return (uint32_t)(o->ring ? o->ring : kib) << 10;
}

static int record(const struct options *o, struct grab_rings *rings, struct grab_maps *maps, struct grab_clock *clock)
{
    struct grab_command child = {0};
    int status = o->command ? grab_command_prepare(&child, o->command) : 0;
    status = status ? status : grab_event_hold();
    status = status ? status : grab_maps_begin(maps);
    grab_clock_take(clock);
    status = status ? status : grab_rings_start(rings);
    status = status ? status : open_events(o, child.pid);
    if (o->command)
        status = status ? status : grab_command_go(&child, o->command[0]);
    if (status)
        return status;
    follow(rings, maps, clock, child.pid);
    grab_rings_stop(rings);
    grab_maps_end(maps);
    prctl(PR_TASK_PERF_EVENTS_DISABLE); /* they would go on, and slow down the rest */
    grab_clock_take(clock);
    return GRAB_GOOD;
}

static void join(char *line, size_t room, char **command)
{
    size_t at = 0;
    for (; command && *command && at < room; command++)
        at += (size_t)snprintf(line + at, room - at, "%s%s", at ? " " : "", *command);
    for (; *line; line++)
        *line = *line == '\n' ? ' ' : *line;
}

static int write_log(const struct options *o, const struct grab_kernel *kernel, const struct grab_rings *rings,
                     struct grab_maps *maps, const struct grab_clock *clock, struct grab_store *store)
{
    char workload[256] = "";
    struct grab_source source;
    struct grab_written written;
    grab_source_find(&source, kernel->release);
    join(workload, sizeof workload, o->command);
    const struct grab_log log = {.store = store,
                                 .clock = clock,
                                 .kernel = kernel,
                                 .rings = rings,
                                 .maps = maps,
                                 .source = &source,
                                 .workload = workload,
                                 .full = o->full,
                                 .cpus = grab_rings_cpus(rings)};
    int error = grab_store_end(store);
    error = error ? error : grab_log_write(&log, o->output, &written);
    if (error) {
        grab_error("%s: %s", o->output, strerror(error));
        return GRAB_BAD;
    }
    if (o->why)
        grab_why(stdout, store, written.format,
                 &(struct grab_known){.untold = written.lost_events,
                                      .throttled = grab_rings_throttled(rings),
                                      .certain = grab_rings_complete(rings)});
    return grab_summary(o->output, &log, &written, o->events ? o->period : 0);
}

static int run(const struct options *o)
{
    static struct grab_store store;
    struct grab_kernel kernel;
    struct grab_rings *rings = NULL;
    struct grab_clock clock = {0};
    struct grab_maps maps = {0};
    int status = grab_kernel_find(&kernel);
    if (status)
        return status;
    const int error = grab_store_begin(&store, o->output);
    if (error) {
        grab_error("%s: cannot create a file in its folder: %s", o->output, strerror(error));
        return GRAB_BAD;
    }
    status = grab_rings_open(&rings, &kernel, &store, ring_bytes(o));
    if (!status && !o->report)
        status = grab_rings_watch(rings, &kernel, o->why);
    if (!status && o->report) {
        status = grab_judge(&kernel, rings, &store);
    } else if (!status) {
        status = record(o, rings, &maps, &clock);
        status = status ? status : write_log(o, &kernel, rings, &maps, &clock, &store);
    }
    grab_rings_close(rings);
    grab_clock_free(&clock);
    grab_maps_free(&maps);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    const struct sigaction action = {.sa_handler = on_signal};
    const int status = read_options(&options, argc, argv);
    if (status)
        return status;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return run(&options);
}
