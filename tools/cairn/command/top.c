/* SPDX-License-Identifier: MIT */
/* cairn top: what runs now, from a trace that is still coming. */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/command/capture/line.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/command/top_follow.h"
#include "tools/cairn/command/top_screen.h"
#include "tools/cairn/log/etl/etl.h"

#define FILE_MS 100 /* how often a file is looked at that may have grown */
#define ROWS    24u /* where there is no terminal */
#define COLUMNS 80u
#define BEHIND  256u /* bytes of a file, in front of what is read next, that tell whether it is the same still */

static uint64_t interval = 1;
static bool once;
static const struct cairn_option options[] = {
    {0, "interval", "S", "show a new screen every S seconds (1)", .number = &interval, .low = 1, .high = 3600},
    {0, "once", NULL, "show one screen and end: all of a file, or the next S seconds of a line", .on = &once},
    {0, "session", "N", "show trace session N instead of the first", .number = &cairn_which_session, .low = 1,
     .high = TRACE_MAX_SESSIONS},
    {.name = NULL},
};

static volatile sig_atomic_t ended_by, suspended;

static void take_signal(int number)
{
    if (number == SIGTSTP)
        suspended = 1;
    else
        ended_by = number;
}

struct top {
    struct cairn_follow follow;
    struct cairn_serial source;
    char *path;
    const char *name;    /* the last part of that */
    bool file;           /* regular: it may grow, or be another; */
    bool at_end;         /* all that it has now has been read */
    uint64_t at;         /* bytes read of it */
    char behind[BEHIND]; /* of a file: the last ones */
    int error;           /* errno of a read */
    bool etl;            /* it is an ETL file */
    bool keys, screen;   /* keys are read; the screen is ours */
    struct termios old;  /* of the keys */
    bool over, quit;     /* the line ended; 'q' */
    sigset_t while_waiting;
};

/* ---- the terminal ------------------------------------------------------------------------------------------------ */

static void enter_screen(struct top *t)
{
    struct termios raw;
    t->keys =
        t->screen && t->source.fd != STDIN_FILENO && isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &t->old) == 0;
    if (t->keys) {
        raw = t->old;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* Ctrl-C stays a signal */
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    if (t->screen)
        fputs("\033[?1049h\033[?25l", stdout);
}

static void leave_screen(struct top *t)
{
    if (t->screen) {
        fputs("\033[?25h\033[?1049l", stdout);
        fflush(stdout);
    }
    if (t->keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &t->old);
}

/* As a shell's user expects of Ctrl-Z. */
static void suspend(struct top *t)
{
    suspended = 0;
    leave_screen(t);
    raise(SIGSTOP);
    enter_screen(t);
}

/* ---- the screen -------------------------------------------------------------------------------------------------- */

/* Rows and columns of the terminal. */
static struct winsize size_of(void)
{
    struct winsize w = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_row || !w.ws_col)
        w = (struct winsize){.ws_row = ROWS, .ws_col = COLUMNS};
    return w;
}

/* What is left on a terminal at the end has an empty line and the shell's prompt below it. */
static unsigned rows_of(const struct top *t, const struct winsize *w)
{
    if (t->screen)
        return w->ws_row;
    return isatty(STDOUT_FILENO) && w->ws_row > CAIRN_TOP_HEAD ? w->ws_row - 2u : ROWS;
}

/* On a terminal from its upper left corner, each line cleared as it is written: nothing flickers. */
static void show(struct top *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return;
    const struct winsize w = size_of();
    const struct cairn_top_source source = {t->name, t->at, t->over};
    cairn_top_print(to, &t->follow, &source, rows_of(t, &w));
    fclose(to);
    if (!t->screen) {
        printf("%s\n", text);
    } else {
        unsigned row = 0;
        fputs("\033[H", stdout);
        for (char *line = text, *eol; (eol = strchr(line, '\n')) != NULL && row < w.ws_row; line = eol + 1, row++) {
            const bool cut = eol - line > w.ws_col; /* which is marked */
            printf("%s\033[K%.*s%s", row ? "\n" : "", cut ? w.ws_col - 1 : (int)(eol - line), line, cut ? ">" : "");
        }
        fputs(row < w.ws_row ? "\n\033[J" : "", stdout);
    }
    fflush(stdout);
    free(text);
    cairn_follow_mark(&t->follow);
}

/* ---- what comes -------------------------------------------------------------------------------------------------- */

/* Whether the file is not the one that was read so far: there is another of its name, or it was written anew. */
static bool is_another(const struct top *t)
{
    struct stat now, ours;
    char behind[BEHIND];
    const size_t size = t->at < BEHIND ? (size_t)t->at : BEHIND;
    if (fstat(t->source.fd, &ours) != 0)
        return false;
    if (strcmp(t->path, "-") != 0 && stat(t->path, &now) == 0 && S_ISREG(now.st_mode) &&
        (now.st_ino != ours.st_ino || now.st_dev != ours.st_dev))
        return true;
    if ((uint64_t)ours.st_size < t->at)
        return true;
    return pread(t->source.fd, behind, size, (off_t)(t->at - size)) != (ssize_t)size ||
           memcmp(behind, t->behind + (BEHIND - size), size) != 0;
}

static void begin_anew(struct top *t)
{
    struct cairn_serial other;
    if (strcmp(t->path, "-") != 0 && cairn_serial_open(&other, t->path) == 0) {
        cairn_serial_close(&t->source);
        t->source = other;
    }
    lseek(t->source.fd, 0, SEEK_SET);
    t->at = 0;
    t->follow.feed.used = 0;
    cairn_follow_reset(&t->follow);
}

static void keep_behind(struct top *t, const char *data, size_t size)
{
    const size_t n = size < BEHIND ? size : BEHIND;
    memmove(t->behind, t->behind + n, BEHIND - n);
    memcpy(t->behind + (BEHIND - n), data + (size - n), n);
}

/* They come while it waits, and where there is always something to read it never does. */
static void take_signals(const struct top *t)
{
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, &t->while_waiting, &blocked);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* Reads what is there. Whether it was anything. */
static bool read_some(struct top *t)
{
    char data[65536];
    take_signals(t);
    if (t->file && is_another(t))
        begin_anew(t);
    const ssize_t n = read(t->source.fd, data, sizeof(data));
    t->at_end = n <= 0;
    if (n > 0) {
        t->etl |= !t->at && cairn_etl_is(data, (size_t)n);
        t->over |= t->etl;
        t->at += (uint64_t)n;
        keep_behind(t, data, (size_t)n);
        cairn_follow_bytes(&t->follow, data, (size_t)n);
        return true;
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    t->error = n < 0 && errno != EIO ? errno : 0; /* a terminal whose other end is closed */
    t->over = !t->file || n < 0;
    return false;
}

static void read_key(struct top *t)
{
    char key;
    const ssize_t n = read(STDIN_FILENO, &key, 1);
    if (n == 1)
        t->quit |= key == 'q' || key == 'Q' || key == 4; /* Ctrl-D */
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        ended_by = SIGHUP; /* the terminal is gone */
}

/* Waits, and reads what comes; at most up to the deadline. */
static void wait_some(struct top *t, int64_t deadline)
{
    int64_t left = deadline - cairn_now_ms();
    if (t->file && read_some(t))
        return;
    left = left < 0 ? 0 : t->file && left > FILE_MS ? FILE_MS : left;
    struct pollfd p[2] = {{.fd = t->file ? -1 : t->source.fd, .events = POLLIN},
                          {.fd = t->keys ? STDIN_FILENO : -1, .events = POLLIN}};
    if (ppoll(p, 2, &(struct timespec){left / 1000, left % 1000 * 1000000L}, &t->while_waiting) <= 0)
        return;
    if (p[1].revents)
        read_key(t);
    if (p[0].revents)
        read_some(t);
}

/* A trace ends what is to come; in a file another one may lie behind it. */
static bool goes_on(const struct top *t)
{
    const bool ended = t->follow.ended && (!t->file || t->at_end);
    return !ended && !t->over && !t->quit && !ended_by;
}

static void follow(struct top *t)
{
    struct cairn_follow *f = &t->follow;
    uint64_t shown = UINT64_MAX;
    for (int64_t due = cairn_now_ms() + (int64_t)interval * 1000; goes_on(t);) {
        if (suspended)
            suspend(t);
        wait_some(t, due);
        if (cairn_now_ms() < due)
            continue;
        due += (int64_t)interval * 1000;
        if (due < cairn_now_ms()) /* it was suspended */
            due = cairn_now_ms() + (int64_t)interval * 1000;
        cairn_follow_read(f, false);
        if (t->screen || shown != f->frames)
            show(t);
        shown = f->frames;
    }
}

/* What a file holds; of a line, what comes in one interval. */
static void read_once(struct top *t)
{
    const int64_t due = cairn_now_ms() + (int64_t)interval * 1000;
    if (t->file)
        while (goes_on(t) && read_some(t))
            ;
    while (!t->file && goes_on(t) && cairn_now_ms() < due)
        wait_some(t, due);
}

static int judge(const struct top *t)
{
    const struct cairn_follow *f = &t->follow;
    if (ended_by)
        return 128 + ended_by;
    if (t->etl) {
        cairn_error("%s: an ETL file, which is whole and grows no more: cairn stat reads it", t->path);
        return CAIRN_UNREADABLE;
    }
    if (t->error) {
        cairn_file_error(t->path, -t->error);
        return CAIRN_UNREADABLE;
    }
    if (!t->at && (once || t->over)) {
        cairn_error("%s: is empty", t->path);
        return CAIRN_UNREADABLE;
    }
    if (!f->frames && (once || t->over)) {
        cairn_error("%s: not a trace: no undamaged frame in %" PRIu64 " bytes", t->path, t->at);
        return CAIRN_UNREADABLE;
    }
    if (f->full_head)
        cairn_error("%s: more text than is kept: some names are missing", t->path);
    if (t->over && !f->ended)
        cairn_error("%s: the line ended before the trace did", t->path);
    const bool lost = f->missing || f->feed.damaged || f->bad || f->misplaced;
    return lost || (t->over && !f->ended) ? CAIRN_BAD : CAIRN_GOOD;
}

static void catch_signals(struct top *t)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i] != SIGTSTP || t->screen)
            sigaddset(&blocked, numbers[i]);
    sigprocmask(SIG_BLOCK, &blocked, &t->while_waiting);
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (!sigismember(&blocked, numbers[i]))
            continue;
        sigaction(numbers[i], &(struct sigaction){.sa_handler = take_signal}, NULL);
        sigdelset(&t->while_waiting, numbers[i]);
    }
}

static int run(char **operands)
{
    char *operand = operands[0];
    struct top *t = cairn_alloc(sizeof(*t));
    struct stat s;
    t->path = operand;
    t->name = strrchr(operand, '/') && strrchr(operand, '/')[1] ? strrchr(operand, '/') + 1 : operand;
    const int e = cairn_serial_open(&t->source, operand);
    if (e) {
        free(t);
        if (e == -EINVAL)
            return cairn_usage(&cairn_top_command, "%s: not a rate a serial line has, like 115200",
                               strchr(operand, ',') + 1);
        cairn_file_error(operand, e);
        return CAIRN_UNREADABLE;
    }
    t->file = fstat(t->source.fd, &s) == 0 && S_ISREG(s.st_mode);
    t->screen = !once && isatty(STDOUT_FILENO);
    cairn_follow_init(&t->follow, (uint32_t)cairn_which_session);
    catch_signals(t);
    enter_screen(t);
    if (once)
        read_once(t);
    else
        follow(t);
    leave_screen(t);
    t->screen = false;
    const uint64_t damaged = t->follow.feed.damaged;
    cairn_feed_end(&t->follow.feed);
    if (!t->over) /* the rest of the line may still come */
        t->follow.feed.damaged = damaged;
    cairn_follow_read(&t->follow, true);
    const int status = judge(t);
    if (t->follow.frames)
        show(t);
    cairn_serial_close(&t->source);
    cairn_follow_reset(&t->follow);
    free(t);
    return cairn_flush(status);
}

const struct cairn_command cairn_top_command = {
    .name = "top",
    .arguments = "[options] LOG",
    .summary = "show what runs now, from a trace in progress",
    .options = options,
    .notes = "LOG is a file that grows, a serial device (/dev/ttyUSB0,115200), a\n"
             "pseudo-terminal, a UNIX socket, or - for standard input. Boot with dump=live, so\n"
             "that the machine sends its trace during the run. top ends with the trace, with\n"
             "'q' or with Ctrl-C, and leaves the last figures on the screen.\n"
             "'now' is what came since the last screen, by each CPU's own time. The machine\n"
             "sends a buffer when it is full, so smaller buffers come sooner\n"
             "(trace.buffer_kib=4). Names of threads come at the end of a trace, unless\n"
             "session.1= includes threads. Switches per second refer to the known time. At the\n"
             "end, the figures of the whole trace are those of cairn stat and diff.\n"
             "Exit: 0 good; 1 frames are missing or damaged, or the line ended first; 130\n"
             "Ctrl-C.\n",
    .run = run,
};
