/* SPDX-License-Identifier: MIT */
/* cairn capture: records a serial line to the end of the guest's run; console text to the terminal, everything to the
 * log. */
#define _GNU_SOURCE /* memmem */
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
#include "tools/cairn/command/command.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/frame/feed.h"
#include "tools/cairn/command/keep_log.h"
#include "tools/cairn/command/capture_line.h"
#include "tools/cairn/log/show.h"
#include "trace/wire/format.h"

#define QUIET_MS       500  /* after the verdict: what still comes */
#define TRAILER_MS     5000 /* after the trailer: the verdict should have come */
#define GATHER_US      2000 /* what a serial line brings in that time is read at once: byte by byte costs more */

enum verdict { NONE, PASS, FAIL };

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

struct capture {
    int in, out;
    bool raw, bar;         /* bar: a progress line is wanted */
    bool terminal;         /* long lines are for people to read */
    bool bar_shown, blank; /* blank: the last line shown was empty */
    struct cairn_feed feed;
    uint64_t total, bytes; /* of the dump, from its header; 0: not seen */
    uint64_t good, read_bytes;
    struct {
        uint8_t *items; /* by frame number: whether this dump's came */
        size_t count, room;
    } seen;
    bool trailer;
    int64_t began_ms, bar_ms; /* of the dump; of the last progress line */
    enum verdict verdict;
    bool loader_failed;
};

static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* ---- what is shown ---------------------------------------------------------------------------------------------- */

static void clear_bar(struct capture *c)
{
    if (c->bar_shown)
        fputs("\r\033[K", stderr);
    c->bar_shown = false;
}

static void show_bar(struct capture *c)
{
    int64_t now = cairn_now_ms();
    if (!c->bar || !c->good || now - c->bar_ms < 200)
        return;
    c->bar_ms = now;
    fprintf(stderr, "\r\033[Kdump: %" PRIu64, c->good);
    if (c->total)
        fprintf(stderr, " of %" PRIu64, c->total);
    fprintf(stderr, " frames, %" PRIu64 " damaged", c->feed.damaged);
    double seconds = (double)(now - c->began_ms) / 1000.0;
    if (c->bytes > c->read_bytes && seconds > 0.3 && c->read_bytes)
        fprintf(stderr, ", %.0f s left", seconds / (double)c->read_bytes * (double)(c->bytes - c->read_bytes));
    fflush(stderr);
    c->bar_shown = true;
}

/* Console text without the escape sequences of firmware, and without its many empty lines. */
static void show_text(struct capture *c, const char *p, size_t size)
{
    char shown[CAIRN_FEED_LINE];
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char x = (unsigned char)p[i];
        if (x == 0x1B) {
            if (i + 1 < size && p[i + 1] == '[') { /* CSI: parameters, then one final character */
                for (i += 2; i < size && (p[i] < 0x40 || p[i] > 0x7E); i++)
                    ;
            } else {
                i++;
            }
        } else if (x == '\t' || (x >= ' ' && x <= '~')) {
            shown[n++] = (char)x;
        }
    }
    while (n && shown[n - 1] == ' ')
        n--;
    if (n == 0 && c->blank)
        return;
    c->blank = n == 0;
    clear_bar(c);
    if (c->terminal)
        cairn_print_wrapped(0, "", 6, (struct cairn_slice){shown, (uint32_t)n});
    else
        printf("%.*s\n", (int)n, shown);
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

static void read_verdict(struct capture *c, const char *line, size_t size)
{
    static const char failed[] = "cairn loader: FAILED";
    unsigned pass, fail;
    char text[96];
    const char *found = memmem(line, size, failed, sizeof(failed) - 1);
    if (found) {
        c->verdict = FAIL;
        c->loader_failed = true;
        return;
    }
    snprintf(text, sizeof(text), "%.*s", (int)(size < sizeof(text) ? size : sizeof(text) - 1), line);
    if (sscanf(text, "SUMMARY: %u %*[a-z], %u %*[a-z]", &pass, &fail) == 2)
        c->verdict = fail ? FAIL : PASS;
}

static void take_line(void *context, const char *text, size_t size, size_t console)
{
    struct capture *c = context;
    read_verdict(c, text, size);
    if (console < size)
        c->read_bytes += size + 1;
    if (c->raw)
        return;
    if (console || !size)
        show_text(c, text, console);
    show_bar(c);
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

/* Milliseconds to wait for more; 0: it is over. */
static int patience(const struct capture *c, int64_t deadline)
{
    int64_t left = deadline ? deadline - cairn_now_ms() : INT32_MAX;
    int64_t quiet = c->verdict ? QUIET_MS : c->trailer ? TRAILER_MS : INT32_MAX;
    if (c->loader_failed || left <= 0 || interrupted)
        return 0;
    return (int)(left < quiet ? left : quiet);
}

/* 0, or the exit status of trouble, told. SIGINT is blocked but for the waits: none is missed. */
static int record(struct capture *c, int64_t deadline, const sigset_t *while_waiting)
{
    char data[65536];
    for (int wait; (wait = patience(c, deadline)) != 0;) {
        struct pollfd p = {.fd = c->in, .events = POLLIN};
        int ready = ppoll(&p, 1, &(struct timespec){wait / 1000, wait % 1000 * 1000000L}, while_waiting);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0 && (c->verdict || c->trailer))
            return 0;
        if (ready == 0)
            continue;
        ssize_t n = read(c->in, data, sizeof(data));
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return 0; /* a line that is unplugged or whose other end closed: EIO, or the end */
        if (!write_all(c->out, data, (size_t)n)) {
            clear_bar(c);
            cairn_error("the log cannot be written: %s", strerror(errno));
            return CAIRN_UNREADABLE;
        }
        if (c->raw)
            write_all(STDOUT_FILENO, data, (size_t)n);
        cairn_feed_bytes(&c->feed, data, (size_t)n);
        if ((size_t)n < sizeof(data) / 16)
            nanosleep(&(struct timespec){0, GATHER_US * 1000L}, NULL);
    }
    return 0;
}

static int judge(const struct capture *c, int64_t deadline, const char *log)
{
    uint64_t missing = c->total > c->good ? c->total - c->good : 0;
    fprintf(stderr, "capture: %" PRIu64 " %s", c->good, cairn_plural(c->good, "frame", "frames"));
    if (c->total)
        fprintf(stderr, " of %" PRIu64, c->total);
    fprintf(stderr, ", %" PRIu64 " damaged, %" PRIu64 " missing, in %s\n", c->feed.damaged, missing, log);
    if (interrupted) {
        fprintf(stderr, "capture: interrupted\n");
        return 128 + SIGINT;
    }
    if (c->verdict == NONE) {
        fprintf(stderr, "capture: no verdict: %s\n",
                deadline && cairn_now_ms() >= deadline ? "the time was up" : "the line ended without one");
        return 3;
    }
    if (c->verdict == FAIL) {
        fprintf(stderr, "capture: verdict fail%s\n", c->loader_failed ? ": the loader failed" : "");
        return 1;
    }
    if (missing || (c->good && !c->trailer)) {
        fprintf(stderr, "capture: verdict pass, but the trace is damaged\n");
        return 1;
    }
    fprintf(stderr, "capture: verdict pass\n");
    return 0;
}

static struct capture c;
static const char *log_path;
static uint64_t timeout;
static const struct cairn_option options[] = {
    {'o', "output", "LOG", "everything that comes, as it comes", .text = &log_path},
    {0, "raw", NULL, "show everything, frames as well", .on = &c.raw},
    {0, "timeout", "S", "give up after S seconds", .number = &timeout, .low = 1, .high = 86400},
    {.name = NULL},
};

/* 0, or the exit status of trouble, told. */
static int record_to(int64_t deadline, const sigset_t *while_waiting)
{
    int status = cairn_keep_log(log_path);
    if (status)
        return status;
    c.out = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (c.out < 0) {
        cairn_error("%s: %s", log_path, strerror(errno));
        return CAIRN_UNREADABLE;
    }
    c.bar = !c.raw && isatty(STDERR_FILENO);
    c.terminal = isatty(STDOUT_FILENO);
    c.blank = true;
    c.feed = (struct cairn_feed){.context = &c, .frame = take_frame, .line = take_line};
    status = record(&c, deadline, while_waiting);
    cairn_feed_end(&c.feed);
    clear_bar(&c);
    free(c.seen.items);
    if (close(c.out) != 0 && status == 0) {
        cairn_error("%s: %s", log_path, strerror(errno));
        status = CAIRN_UNREADABLE;
    }
    return status;
}

static int run(char *device)
{
    if (!log_path)
        return cairn_usage(&cairn_capture_command, "-o LOG is needed");
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = interrupt}, NULL);
    sigdelset(&before, SIGINT);
    struct cairn_serial serial;
    const int e = cairn_serial_open(&serial, device);
    if (e == -EINVAL)
        return cairn_usage(&cairn_capture_command, "%s: not a rate a serial line has, like 115200",
                           strchr(device, ',') + 1);
    if (e) {
        cairn_error("%s: %s", device, strerror(-e));
        return CAIRN_UNREADABLE;
    }
    c.in = serial.fd;
    int64_t deadline = timeout ? cairn_now_ms() + (int64_t)timeout * 1000 : 0;
    int status = record_to(deadline, &before);
    cairn_serial_close(&serial);
    return status ? status : judge(&c, deadline, log_path);
}

const struct cairn_command cairn_capture_command = {
    .name = "capture",
    .arguments = "DEV[,BAUD] -o LOG",
    .summary = "record a serial line, show its console text",
    .options = options,
    .notes = "DEV: a serial device (/dev/ttyUSB0; 115200 baud unless told), - standard input.\n"
             "A LOG that is there with a trace is kept as LOG.1, one without is overwritten;\n"
             "a file that is no serial log of Cairn's is refused.\n"
             "Ends with the guest's verdict, or with Ctrl-C: the log then has what came.\n"
             "Exit: 0 pass, 1 fail or a damaged trace, 2 usage, 3 no verdict or unreadable,\n"
             "130 Ctrl-C.\n",
    .device = true,
    .run = run,
};
