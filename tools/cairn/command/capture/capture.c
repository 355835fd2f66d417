/* SPDX-License-Identifier: MIT */
/* cairn capture: records a serial line until the guest's run ends. It shows console text on the terminal and writes
 * everything to the log. */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/command/capture/bar.h"
#include "tools/cairn/command/capture/faster.h"
#include "tools/cairn/command/capture/heard.h"
#include "tools/cairn/command/capture/keep_log.h"
#include "tools/cairn/command/capture/line.h"
#include "tools/cairn/command/capture/machine.h"
#include "tools/cairn/command/capture/report.h"
#include "tools/cairn/command/capture/talk.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/frame/feed.h"
#include "tools/cairn/frame/input.h"
#include "tools/cairn/log/show.h"
#include "trace/wire/format.h"

#define QUIET_MS   500  /* after the verdict: what still comes */
#define TRAILER_MS 5000 /* after the trailer: the verdict should have come */
#define LEAVES_MS  3000 /* after the verdict of a machine that we run: it should have ended */
#define GATHER_US  2000 /* what a serial line brings in that time is read at once: byte by byte costs more */

#define INTERRUPTED (128 + SIGINT) /* exit status */

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

struct capture {
    int in, out;
    bool line; /* anything has come */
    bool raw;
    bool talks;           /* standard input goes to the machine */
    bool through, hidden; /* what comes is shown at once; hidden: but not this line */
    bool inside;          /* a line has begun */
    bool terminal;        /* long lines are for people to read */
    bool blank;           /* the last line shown was empty */
    struct cairn_feed feed;
    uint64_t total, bytes; /* of the dump, from its header; 0: not seen */
    uint64_t good, read_bytes;
    struct {
        uint8_t *items; /* by frame number: whether this dump's came */
        size_t count, room;
    } seen;
    bool trailer;
    int64_t began_ms; /* of the dump */
    struct cairn_bar bar;
    struct cairn_heard heard;
    struct cairn_faster faster;
};

/* ---- what is shown ---------------------------------------------------------------------------------------------- */

static void show_bar(struct capture *c)
{
    cairn_bar_dump(&c->bar, &(struct cairn_bar_dump){.frames = c->good,
                                                     .total = c->total,
                                                     .damaged = c->feed.damaged,
                                                     .bytes = c->bytes,
                                                     .read_bytes = c->read_bytes,
                                                     .began_ms = c->began_ms});
}

/* Console text without the many empty lines of firmware. */
static void show_text(struct capture *c, const char *text, size_t size)
{
    if (size == 0 && c->blank)
        return;
    c->blank = size == 0;
    cairn_bar_clear(&c->bar);
    if (c->terminal)
        cairn_print_wrapped(0, "", 6, (struct cairn_slice){text, (uint32_t)size});
    else
        printf("%.*s\n", (int)size, text);
    fflush(stdout);
}

/* For a conversation: all but frames, each of which has a line of its own. */
static void show_through(struct capture *c, const char *data, size_t size)
{
    while (size) {
        const char *end = memchr(data, '\n', size);
        const size_t n = end ? (size_t)(end - data) + 1 : size;
        if (!c->inside)
            c->hidden = data[0] == CAIRN_FRAME_MARK;
        if (!c->hidden)
            fwrite(data, 1, n, stdout);
        c->inside = !end;
        data += n;
        size -= n;
    }
    fflush(stdout);
}

/* ---- what is understood ----------------------------------------------------------------------------------------- */

#define FRAMES_MAX (1u << 24) /* more than any line sends in a day */

/* False: this frame has come before. */
static bool mark_seen(struct capture *c, uint32_t number)
{
    if (number >= FRAMES_MAX)
        return true;
    while (c->seen.count <= number)
        *CAIRN_ADD(c->seen) = 0;
    bool first = !c->seen.items[number];
    c->seen.items[number] = 1;
    return first;
}

static void take_frame(void *context, const struct cairn_line *l, const char *text, size_t size)
{
    struct capture *c = context;
    (void)text, (void)size;
    if (l->frame.stream == CAIRN_STREAM_HEADER && c->trailer) { /* another dump */
        c->good = c->seen.count = 0;
        c->trailer = false;
    }
    if (!c->good)
        c->began_ms = cairn_now_ms();
    if (!mark_seen(c, l->frame.number))
        return; /* it came before */
    c->good++;
    if (l->frame.stream == CAIRN_STREAM_HEADER) {
        cairn_payload_number(l->frame.payload, l->frame.size, "dump.frames", &c->total);
        cairn_payload_number(l->frame.payload, l->frame.size, "dump.bytes", &c->bytes);
    }
    if (l->frame.stream == CAIRN_STREAM_LAST) {
        c->trailer = true;
        /* the header may be what is missing */
        cairn_payload_number(l->frame.payload, l->frame.size, "dump.frames", &c->total);
    }
}

static void take_line(void *context, const char *text, size_t size, size_t console)
{
    struct capture *c = context;
    char plain[CAIRN_FEED_LINE];
    const size_t n = cairn_plain(plain, text, console);
    cairn_heard(&c->heard, plain, n);
    if (console < size)
        c->read_bytes += size + 1;
    cairn_faster_line(&c->faster, text, console);
    if (c->raw || c->through || c->out < 0)
        return;
    if ((console || !size) && !cairn_faster_is_test(text, console))
        show_text(c, plain, n);
    show_bar(c);
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

static struct capture c;
static struct cairn_talk talk = {.to = -1};
static const char *log_path, *saved_path;
static uint64_t timeout;
static bool runs; /* the operands are a command that runs a machine */

/* Milliseconds after which silence means that nothing comes any more. */
static int64_t quiet(void)
{
    const struct cairn_heard *h = &c.heard;
    if (h->loader[0] || h->halted || (runs && h->firmware[0] && !h->kernel) || (saved_path && h->off))
        return QUIET_MS;
    if (saved_path)
        return INT32_MAX; /* the machine starts once more */
    if (h->summary)
        return runs ? LEAVES_MS : QUIET_MS;
    return c.trailer && !c.talks ? TRAILER_MS : INT32_MAX; /* the monitor can dump, and goes on */
}

static int64_t left(int64_t deadline)
{
    return deadline ? deadline - cairn_now_ms() : INT32_MAX;
}

enum ending { ENDED_LINE, ENDED_QUIET, ENDED_TIME, ENDED_INTERRUPTED, ENDED_LOG };

/* Waits for what comes from the machine, or goes to it, at most `wait` ms. As poll: 0 for nothing; what the machine
 * says is *said. */
static int wait_for_either(int64_t wait, const sigset_t *while_waiting, bool *said)
{
    struct pollfd p[3] = {{.fd = c.in, .events = POLLIN}, {.fd = -1}, {.fd = -1}};
    const struct timespec t = {wait / 1000, wait % 1000 * 1000000L};
    if (c.talks && c.heard.monitor)
        cairn_talk_wait(&talk, p + 1);
    const int ready = ppoll(p, 3, &t, while_waiting);
    *said = ready > 0 && p[0].revents;
    if (ready > 0 && !cairn_talk_go_on(&talk, p + 1))
        interrupted = 1;
    return ready;
}

/* Milliseconds of silence after which the progress line says how long the machine has run. Not while a longer silence
 * is the end, which would begin anew with each line. */
static int64_t bar_wait(void)
{
    return c.bar.wanted && quiet() == INT32_MAX && !c.good ? CAIRN_BAR_WAIT_MS : INT32_MAX;
}

/* Signals are blocked but for the waits: none is missed. */
static enum ending record(int64_t deadline, const sigset_t *while_waiting)
{
    char data[65536];
    while (!interrupted) {
        cairn_faster_wait(&c.faster);
        const int64_t wait = quiet() < left(deadline) ? quiet() : left(deadline), faster = cairn_faster_left(&c.faster);
        if (wait <= 0)
            return ENDED_TIME;
        bool said;
        const int64_t least = wait < faster ? wait : faster, bar = bar_wait();
        const int ready = wait_for_either(least < bar ? least : bar, while_waiting, &said);
        if (ready == 0 && wait <= faster && wait == quiet() && wait < INT32_MAX)
            return ENDED_QUIET;
        if (ready == 0 && bar < least)
            cairn_bar_wait(&c.bar, !c.line ? "waiting for the machine" : c.heard.kernel ? "running" : "starting");
        if (ready <= 0 || !said)
            continue;
        ssize_t n = read(c.in, data, sizeof(data));
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return ENDED_LINE; /* a line that is unplugged or whose other end closed: EIO, or the end */
        c.line = true;
        const int e = cairn_input_write(c.out, data, (size_t)n);
        if (e) {
            cairn_bar_clear(&c.bar);
            cairn_error("the log cannot be written: %s", strerror(-e));
            return ENDED_LOG;
        }
        if (c.raw)
            cairn_input_write(STDOUT_FILENO, data, (size_t)n);
        if (c.through)
            show_through(&c, data, (size_t)n);
        cairn_feed_bytes(&c.feed, data, (size_t)n);
        if (!c.through && talk.terminal && c.heard.monitor && !c.raw) {
            c.through = true;
            show_through(&c, c.feed.text, c.feed.used); /* the first prompt */
        }
        if ((size_t)n < sizeof(data) / 16)
            nanosleep(&(struct timespec){0, GATHER_US * 1000L}, NULL);
    }
    return ENDED_INTERRUPTED;
}

static uint64_t missing(void)
{
    return c.total > c.good ? c.total - c.good : 0;
}

static bool damaged(void)
{
    return missing() || (c.good && !c.trailer);
}

static void print_frames(const char *log)
{
    fprintf(stderr, "capture: %" PRIu64 " %s", c.good, cairn_plural(c.good, "frame", "frames"));
    if (c.total)
        fprintf(stderr, " of %" PRIu64, c.total);
    fprintf(stderr, ", %" PRIu64 " damaged, %" PRIu64 " missing, in %s\n", c.feed.damaged, missing(), log);
}

/* The verdict on a line whose machine is not ours: it goes on. */
static int judge(enum ending ending)
{
    print_frames(log_path);
    if (ending == ENDED_INTERRUPTED) {
        fprintf(stderr, "capture: interrupted\n");
        return INTERRUPTED;
    }
    if (c.heard.loader[0] || (c.heard.summary && !c.heard.passed)) {
        fprintf(stderr, "capture: verdict fail%s\n", c.heard.loader[0] ? ": the loader failed" : "");
        return CAIRN_BAD;
    }
    if (!c.heard.summary) {
        fprintf(stderr, "capture: no verdict: %s\n",
                ending == ENDED_TIME ? "the time limit passed" : "the line ended without one");
        return CAIRN_UNREADABLE;
    }
    fprintf(stderr, "capture: verdict pass%s\n", damaged() ? ", but the trace is damaged" : "");
    return damaged() ? CAIRN_BAD : CAIRN_GOOD;
}

/* What a machine without a serial port has said is on its volume alone. False: it is not of that kind. */
static bool read_saved(void)
{
    char data[4096];
    FILE *saved = saved_path && !c.heard.kernel ? fopen(saved_path, "r") : NULL;
    if (!saved)
        return false;
    c.out = -1;
    for (size_t n; (n = fread(data, 1, sizeof(data), saved)) != 0;)
        cairn_feed_bytes(&c.feed, data, n);
    cairn_feed_end(&c.feed);
    fclose(saved);
    return true;
}

/* Ends our machine and reports. */
static int end_machine(struct cairn_machine *machine, enum ending ending)
{
    if (ending != ENDED_LINE || !cairn_machine_wait(machine, LEAVES_MS))
        cairn_machine_end(machine);
    if (ending == ENDED_INTERRUPTED) {
        printf("\ninterrupted; %s has everything received so far\n", log_path);
        return INTERRUPTED;
    }
    const char *log = read_saved() ? saved_path : log_path;
    if (c.line)
        print_frames(log);
    return cairn_report_run(&(struct cairn_run_end){
        .heard = &c.heard,
        .machine = machine,
        .stop = ending == ENDED_LINE            ? CAIRN_STOP_NONE
                : ending == ENDED_TIME          ? CAIRN_STOP_TIME
                : c.heard.halted || c.heard.off ? CAIRN_STOP_HEARD
                                                : CAIRN_STOP_LEFT,
        .timeout = timeout,
        .frames = c.good != 0,
        .damaged = damaged(),
        .log = log,
        .saved = saved_path,
    });
}

static const struct cairn_option options[] = {
    {'o', "output", "LOG", "write all input to LOG, unchanged", .text = &log_path},
    {0, "raw", NULL, "show everything that comes, including frames", .on = &c.raw},
    {0, "timeout", "S", "give up after S seconds", .number = &timeout, .low = 1, .high = 999999},
    {0, "run", NULL, "run COMMAND and record its standard output", .on = &runs},
    {0, "talk", NULL, "with --run: pass standard input to COMMAND when its monitor listens", .on = &c.talks},
    {0, "saved", "FILE", "with --run: the file to which COMMAND saves the log of its machine", .text = &saved_path},
    {.name = NULL},
};

/* 0, or the exit status of trouble, told. */
static int open_log(void)
{
    int status = cairn_keep_log("-o", log_path);
    if (!status && saved_path)
        status = cairn_keep_log("--saved", saved_path);
    if (status)
        return status;
    if (saved_path)
        remove(saved_path); /* an earlier one must not be taken for this machine's */
    c.out = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (c.out < 0) {
        cairn_error("%s: %s", log_path, strerror(errno));
        return CAIRN_UNREADABLE;
    }
    cairn_bar_start(&c.bar, !c.raw && !c.talks && isatty(STDERR_FILENO));
    c.terminal = isatty(STDOUT_FILENO);
    c.blank = true;
    c.feed = (struct cairn_feed){.context = &c, .frame = take_frame, .line = take_line};
    return 0;
}

static enum ending record_all(const sigset_t *while_waiting)
{
    enum ending ending = record(timeout ? cairn_now_ms() + (int64_t)timeout * 1000 : 0, while_waiting);
    cairn_feed_end(&c.feed);
    cairn_bar_clear(&c.bar);
    if (close(c.out) != 0 && ending != ENDED_LOG) {
        cairn_error("%s: %s", log_path, strerror(errno));
        ending = ENDED_LOG;
    }
    return ending;
}

static int run_machine(char **command, const sigset_t *while_waiting)
{
    struct cairn_machine machine;
    int status = open_log();
    if (status)
        return status;
    const int e = cairn_machine_start(&machine, command, c.talks);
    if (e) {
        cairn_error("%s: cannot be run: %s", command[0], strerror(-e));
        return CAIRN_UNREADABLE;
    }
    c.in = machine.line;
    if (c.talks)
        cairn_talk_begin(&talk, machine.input);
    const enum ending ending = record_all(while_waiting);
    cairn_talk_end(&talk);
    status = end_machine(&machine, ending);
    return ending == ENDED_LOG ? CAIRN_UNREADABLE : status;
}

static int run_line(char *device, const sigset_t *while_waiting)
{
    struct cairn_serial serial;
    const int e = cairn_serial_open(&serial, device);
    if (e == -EINVAL)
        return cairn_usage(&cairn_capture_command, "%s: not a baud rate; give one such as 115200",
                           strchr(device, ',') + 1);
    if (e) {
        cairn_error("%s: %s", device, strerror(-e));
        return CAIRN_UNREADABLE;
    }
    c.in = serial.fd;
    c.faster = (struct cairn_faster){.serial = &serial, .name = device};
    const int status = open_log();
    const enum ending ending = status ? ENDED_LOG : record_all(while_waiting);
    cairn_serial_close(&serial);
    return status ? status : ending == ENDED_LOG ? CAIRN_UNREADABLE : judge(ending);
}

static int run(char **operands)
{
    if (!log_path)
        return cairn_usage(&cairn_capture_command, "give the output file with -o LOG");
    if (saved_path && !runs)
        return cairn_usage(&cairn_capture_command, "--saved needs --run");
    if (c.talks && !runs)
        return cairn_usage(&cairn_capture_command, "--talk needs --run");
    if (!runs && operands[1])
        return cairn_usage(&cairn_capture_command, "give one DEV, or a COMMAND with --run");
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = interrupt}, NULL);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = interrupt}, NULL);
    sigdelset(&before, SIGINT);
    sigdelset(&before, SIGTERM);
    const int status = runs ? run_machine(operands, &before) : run_line(operands[0], &before);
    free(c.seen.items);
    return status;
}

const struct cairn_command cairn_capture_command = {
    .name = "capture",
    .arguments = "DEV[,BAUD] -o LOG",
    .summary = "record a serial line and show its console text",
    .options = options,
    .notes = "DEV is a serial device, such as /dev/ttyUSB0 (at 115200 baud unless you give\n"
             "BAUD); - is standard input. With --run, give -- and a COMMAND with its arguments\n"
             "instead of DEV; it is ended at the end of the run.\n"
             "If the machine asks for a faster line (its option serial.fast=), capture says\n"
             "which rate DEV can do, and changes to it; a failed test changes it back.\n"
             "If LOG exists and has a trace, it is renamed to LOG.1; if it has none, it is\n"
             "overwritten. A file that is not a serial log of Cairn is refused.\n"
             "capture ends with the guest's verdict or with Ctrl-C. LOG then has everything\n"
             "received.\n"
             "Exit: 0 pass; 1 fail, or a damaged trace; 2 wrong usage; 3 no verdict, a file is\n"
             "unreadable, or trouble with COMMAND; 124 timeout; 130 Ctrl-C.\n",
    .examples = {"cairn capture /dev/ttyUSB0,115200 -o t.log", "cairn capture --timeout 60 - -o copy.log <t.log"},
    .device = true,
    .run = run,
};
