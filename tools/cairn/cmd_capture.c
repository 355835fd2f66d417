/* SPDX-License-Identifier: MIT */
/* cairn capture: records a serial line to the end of the guest's run; console text to the terminal, everything to the
 * log. */
#define _GNU_SOURCE /* memmem */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tools/cairn/bytes.h"
#include "tools/cairn/command.h"
#include "tools/cairn/input.h"
#include "tools/cairn/show.h"
#include "trace/format.h"

#define LINE_MAX_BYTES 8192u
#define QUIET_MS       500  /* after the verdict: what still comes */
#define TRAILER_MS     5000 /* after the trailer: the verdict should have come */

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
    char line[LINE_MAX_BYTES];
    size_t used;
    uint64_t total, bytes; /* of the dump, from its header; 0: not seen */
    uint64_t good, damaged, read_bytes;
    uint32_t cut;  /* number of the frame whose line was cut last, */
    uint64_t cuts; /* and how many times it was: no damage where it comes whole behind that */
    struct {
        uint8_t *items; /* by frame number: whether this dump's came */
        size_t count, room;
    } seen;
    bool trailer;
    int64_t began_ms, bar_ms; /* of the dump; of the last progress line */
    enum verdict verdict;
    bool loader_failed;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

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

/* ---- the line --------------------------------------------------------------------------------------------------- */

static bool find_speed(const char *text, speed_t *speed)
{
    static const struct {
        const char *text;
        speed_t speed;
    } table[] = {
        {"9600", B9600},       {"19200", B19200},     {"38400", B38400},     {"57600", B57600},
        {"115200", B115200},   {"230400", B230400},   {"460800", B460800},   {"921600", B921600},
        {"1000000", B1000000}, {"1500000", B1500000}, {"2000000", B2000000}, {"3000000", B3000000},
    };
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(text, table[i].text) == 0) {
            *speed = table[i].speed;
            return true;
        }
    return false;
}

/* Opens the device: 8 data bits, no parity, raw. `old` is what to put back; *changed: whether there is anything. Never
 * waits, as for a line's carrier: reads come after polls. */
static int open_line(const char *device, speed_t speed, struct termios *old, bool *changed)
{
    *changed = false;
    if (strcmp(device, "-") == 0)
        return STDIN_FILENO;
    int fd = open(device, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || !isatty(fd))
        return fd;
    struct termios t;
    if (tcgetattr(fd, &t) == 0) {
        *old = t;
        *changed = true;
        cfmakeraw(&t);
        t.c_cflag |= CLOCAL | CREAD;
        t.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
        cfsetspeed(&t, speed);
        if (tcsetattr(fd, TCSANOW, &t) == 0)
            return fd;
    }
    int e = errno;
    close(fd);
    errno = e;
    return -1;
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
    int64_t now = now_ms();
    if (!c->bar || !c->good || now - c->bar_ms < 200)
        return;
    c->bar_ms = now;
    fprintf(stderr, "\r\033[Kdump: %" PRIu64, c->good);
    if (c->total)
        fprintf(stderr, " of %" PRIu64, c->total);
    fprintf(stderr, " frames, %" PRIu64 " damaged", c->damaged);
    double seconds = (double)(now - c->began_ms) / 1000.0;
    if (c->bytes > c->read_bytes && seconds > 0.3 && c->read_bytes)
        fprintf(stderr, ", %.0f s left", seconds / (double)c->read_bytes * (double)(c->bytes - c->read_bytes));
    fflush(stderr);
    c->bar_shown = true;
}

/* Console text without the escape sequences of firmware, and without its many empty lines. */
static void show_text(struct capture *c, const char *p, size_t size)
{
    char shown[LINE_MAX_BYTES];
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

static void take_frame(struct capture *c, const struct cairn_line *l, const uint8_t *payload)
{
    if (l->frame.stream == CAIRN_STREAM_HEADER && c->trailer) { /* another dump */
        c->good = c->seen.count = 0;
        c->trailer = false;
    }
    if (!c->good)
        c->began_ms = now_ms();
    if (!mark_seen(c, l->frame.number))
        return; /* it came before */
    c->good++;
    if (c->cuts && c->cut == l->frame.number) {
        c->damaged -= c->cuts;
        c->cuts = 0;
    }
    if (l->frame.stream == CAIRN_STREAM_HEADER) {
        cairn_payload_number(payload, l->frame.size, "dump.frames", &c->total);
        cairn_payload_number(payload, l->frame.size, "dump.bytes", &c->bytes);
    }
    if (l->frame.stream == CAIRN_STREAM_LAST) {
        c->trailer = true;
        cairn_payload_number(payload, l->frame.size, "dump.frames", &c->total); /* the header may be what is missing */
    }
}

static void note_damage(struct capture *c, const struct cairn_line *l, enum cairn_flaw flaw)
{
    c->damaged++;
    if (flaw != CAIRN_FLAW_CUT || !l->numbered)
        return;
    c->cuts = c->cuts && c->cut == l->frame.number ? c->cuts + 1 : 1;
    c->cut = l->frame.number;
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

/* Where the ends of lines were damaged, there are several frames in one. */
static void take_line(struct capture *c)
{
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    const char *p = c->line, *end = c->line + c->used, *first = NULL;
    struct cairn_line l;
    for (const char *mark = p; (mark = memchr(mark, CAIRN_FRAME_MARK, (size_t)(end - mark))) != NULL;) {
        int flaw = cairn_frame_read(&l, mark, end, payload);
        bool good = flaw == 0;
        bool damaged = !good && cairn_frame_suspect(&l, p, mark, end);
        if (good)
            take_frame(c, &l, payload);
        if (damaged)
            note_damage(c, &l, (enum cairn_flaw)(flaw - 1));
        if (!first && (good || damaged))
            first = mark;
        mark = good ? l.end : mark + 1;
    }
    if (first)
        c->read_bytes += c->used + 1;
    if (c->raw)
        return;
    size_t size = first ? (size_t)(first - p) : c->used; /* console text before it is shown */
    if (size || !first)
        show_text(c, p, size);
    show_bar(c);
}

static void take_bytes(struct capture *c, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] != '\n') {
            c->line[c->used++] = data[i];
            if (c->used < sizeof(c->line))
                continue;
        }
        while (c->used && c->line[c->used - 1] == '\r')
            c->used--;
        read_verdict(c, c->line, c->used);
        take_line(c);
        c->used = 0;
    }
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

/* Milliseconds to wait for more; 0: it is over. */
static int patience(const struct capture *c, int64_t deadline)
{
    int64_t left = deadline ? deadline - now_ms() : INT32_MAX;
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
            fprintf(stderr, "cairn: the log cannot be written: %s\n", strerror(errno));
            return CAIRN_UNREADABLE;
        }
        if (c->raw)
            write_all(STDOUT_FILENO, data, (size_t)n);
        take_bytes(c, data, (size_t)n);
    }
    return 0;
}

static int judge(const struct capture *c, int64_t deadline, const char *log)
{
    uint64_t missing = c->total > c->good ? c->total - c->good : 0;
    fprintf(stderr, "capture: %" PRIu64 " %s", c->good, cairn_plural(c->good, "frame", "frames"));
    if (c->total)
        fprintf(stderr, " of %" PRIu64, c->total);
    fprintf(stderr, ", %" PRIu64 " damaged, %" PRIu64 " missing, in %s\n", c->damaged, missing, log);
    if (interrupted) {
        fprintf(stderr, "capture: interrupted\n");
        return 128 + SIGINT;
    }
    if (c->verdict == NONE) {
        fprintf(stderr, "capture: no verdict: %s\n",
                deadline && now_ms() >= deadline ? "the time was up" : "the line ended without one");
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

/* A log with a trace that is there is kept as LOG.1: a capture of nothing does not cost the last good one. False: that
 * cannot be, and why is told. */
static bool keep_log(void)
{
    static const char first_frame[] = "~H00000000:";
    char kept[PATH_MAX];
    struct stat s;
    struct cairn_input there;
    if (lstat(log_path, &s) != 0 || !S_ISREG(s.st_mode) || cairn_input_open(&there, log_path) != 0)
        return true;
    bool trace = cairn_input_map(&there) == 0 && there.size &&
                 memmem(there.data, there.size, first_frame, sizeof(first_frame) - 1) != NULL;
    cairn_input_close(&there);
    if (!trace)
        return true;
    errno = ENAMETOOLONG;
    if (snprintf(kept, sizeof(kept), "%s.1", log_path) < (int)sizeof(kept) && rename(log_path, kept) == 0)
        return true;
    fprintf(stderr, "cairn: %s cannot be kept as %s.1: %s\n", log_path, log_path, strerror(errno));
    return false;
}

/* 0, or the exit status of trouble, told. */
static int record_to(int64_t deadline, const sigset_t *while_waiting)
{
    if (!keep_log())
        return CAIRN_UNREADABLE;
    c.out = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (c.out < 0) {
        fprintf(stderr, "cairn: %s: %s\n", log_path, strerror(errno));
        return CAIRN_UNREADABLE;
    }
    c.bar = !c.raw && isatty(STDERR_FILENO);
    c.terminal = isatty(STDOUT_FILENO);
    c.blank = true;
    int status = record(&c, deadline, while_waiting);
    if (c.used) {
        read_verdict(&c, c.line, c.used);
        take_line(&c);
    }
    clear_bar(&c);
    free(c.seen.items);
    if (close(c.out) != 0 && status == 0) {
        fprintf(stderr, "cairn: %s: %s\n", log_path, strerror(errno));
        status = CAIRN_UNREADABLE;
    }
    return status;
}

static int run(char *device)
{
    if (!log_path)
        return cairn_usage(&cairn_capture_command, "-o LOG is needed");
    char *comma = strchr(device, ',');
    speed_t speed = B115200;
    if (comma && !find_speed(comma + 1, &speed))
        return cairn_usage(&cairn_capture_command, "%s: not a rate a serial line has, like 115200", comma + 1);
    if (comma)
        *comma = '\0';

    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = interrupt}, NULL);
    sigdelset(&before, SIGINT);
    struct termios old;
    bool changed;
    c.in = open_line(device, speed, &old, &changed);
    if (c.in < 0) {
        fprintf(stderr, "cairn: %s: %s\n", device, strerror(errno));
        return CAIRN_UNREADABLE;
    }
    int64_t deadline = timeout ? now_ms() + (int64_t)timeout * 1000 : 0;
    int status = record_to(deadline, &before);
    if (changed)
        tcsetattr(c.in, TCSANOW, &old);
    return status ? status : judge(&c, deadline, log_path);
}

const struct cairn_command cairn_capture_command = {
    .name = "capture",
    .arguments = "DEV[,BAUD] -o LOG",
    .summary = "record a serial line, show its console text",
    .options = options,
    .notes = "DEV: a serial device (/dev/ttyUSB0; 115200 baud unless told), - standard input.\n"
             "A LOG with a trace that is there is kept as LOG.1.\n"
             "Ends with the guest's verdict, or with Ctrl-C: the log then has what came.\n"
             "Exit: 0 pass, 1 fail or a damaged trace, 2 usage, 3 no verdict or unreadable,\n"
             "130 Ctrl-C.\n",
    .run = run,
};
