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
#include "tools/cairn/command/top_screen.h"
#include "tools/cairn/frame/feed.h"
#include "tools/cairn/log/etl/etl.h"

#define FILE_MS 100 /* how often a file is looked at that may have grown */
#define ROWS    24u /* where there is no terminal */
#define COLUMNS 80u

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

static struct top {
    struct cairn_top_figures seen, before; /* before: as they were before the trace grew last */
    struct cairn_serial source;
    struct cairn_input came; /* what has come of a line: it is read anew for each screen, as a file is */
    char *path;
    const char *name;   /* the last part of that */
    bool file;          /* regular: it may grow, or be another */
    uint64_t at;        /* bytes read of it */
    int error;          /* errno of a read */
    bool etl;           /* it is an ETL file */
    bool keys, screen;  /* keys are read; the screen is ours */
    struct termios old; /* of the keys */
    bool over, quit;    /* the line ended; 'q' */
    sigset_t while_waiting;
} top;

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
    cairn_top_print(to, &t->seen, &t->before, &source, rows_of(t, &w));
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
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static int judge(const struct top *t)
{
    const struct cairn_top_figures *f = &t->seen;
    if (ended_by)
        return 128 + ended_by;
    if (t->etl) {
        cairn_error("%s: this is an ETL file, which does not grow; read it with cairn stat", t->path);
        return CAIRN_UNREADABLE;
    }
    if (t->error) {
        cairn_file_error(t->path, -t->error);
        return CAIRN_UNREADABLE;
    }
    if (!t->at && (once || t->over)) {
        cairn_error("%s is empty", t->path);
        return CAIRN_UNREADABLE;
    }
    if (!f->frames && (once || t->over)) {
        cairn_error("%s: not a trace: no undamaged frame in %" PRIu64 " bytes", t->path, t->at);
        return CAIRN_UNREADABLE;
    }
    if (t->over && !f->ended)
        cairn_error("%s: the line ended before the end of the trace", t->path);
    return f->missing || f->damaged || (t->over && !f->ended) ? CAIRN_BAD : CAIRN_GOOD;
}

/* The last figures stay on the screen. The exit status. */
static int finish(struct top *t)
{
    leave_screen(t);
    t->screen = false;
    const int status = judge(t);
    if (t->seen.frames)
        show(t);
    cairn_serial_close(&t->source);
    cairn_input_close(&t->came);
    cairn_top_free(&t->seen);
    cairn_top_free(&t->before);
    return cairn_flush(status);
}

/* ---- what has come ----------------------------------------------------------------------------------------------- */

/* They come while it waits, and where there is always something to read it never does. */
static void take_signals(const struct top *t)
{
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, &t->while_waiting, &blocked);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* A long log is not read to its end first. */
static void progress(uint64_t done, uint64_t all)
{
    (void)done, (void)all;
    take_signals(&top);
    if (ended_by)
        exit(finish(&top));
}

/* The log as far as it has come. 0 or a negative errno. */
static int open_input(struct top *t, struct cairn_input *input)
{
    if (t->file)
        return cairn_input_open(input, t->path);
    *input = t->came;
    input->own = input->loaded = false;
    return 0;
}

static void note_trailer(void *context, const struct cairn_line *l, const char *text, size_t size)
{
    bool *came = context;
    (void)text, (void)size;
    *came |= l->frame.stream == CAIRN_STREAM_LAST;
}

/* Cuts off the line that is still coming. Whether one of the last lines is the trace's last. */
static bool cut_line(struct cairn_input *input)
{
    struct cairn_window window;
    bool came = false;
    struct cairn_feed feed = {.context = &came, .frame = note_trailer};
    const uint64_t from = input->size > CAIRN_WINDOW_LEAST ? input->size - CAIRN_WINDOW_LEAST : 0;
    size_t have;
    cairn_window_init(&window, input);
    const char *last = cairn_window(&window, from, CAIRN_WINDOW_LEAST, &have), *eol = memrchr(last, '\n', have);
    if (eol)
        input->size = from + (uint64_t)(eol + 1 - last);
    cairn_feed_bytes(&feed, last, eol ? (size_t)(eol + 1 - last) : 0);
    return came;
}

/* Whether the end has come since it was read: that is shown at once. */
static bool has_ended(struct top *t)
{
    struct cairn_input input;
    if (open_input(t, &input))
        return false;
    const bool came = cut_line(&input) && input.size != t->at;
    cairn_input_close(&input);
    return came;
}

static bool is_etl(struct cairn_input *input)
{
    struct cairn_window window;
    size_t have;
    cairn_window_init(&window, input);
    const char *start = cairn_window(&window, 0, CAIRN_WINDOW_LEAST, &have);
    return cairn_etl_is(start, have);
}

/* Reads it anew. Nothing changes where the file is being exchanged for another, or written anew: its next state is. */
static void read_log(struct top *t)
{
    struct cairn_input input;
    struct cairn_top_figures now;
    int e = open_input(t, &input);
    if (!e && !t->over)
        cut_line(&input);
    if (!e && is_etl(&input)) {
        t->etl = t->over = true;
    } else if (!e && (e = cairn_top_read(&now, &input, (uint32_t)cairn_which_session, progress)) == 0) {
        const bool goes_on = cairn_top_goes_on(&now, &t->seen), grew = now.trace_frames != t->seen.trace_frames;
        if (!goes_on || grew)
            cairn_top_free(&t->before);
        if (goes_on && grew)
            t->before = t->seen;
        else
            cairn_top_free(&t->seen);
        t->seen = now;
        t->at = input.size;
    }
    if (e && (once || (e != -ENOENT && e != -ENODATA && e != -ESTALE))) {
        t->error = -e;
        t->over = true;
    }
    cairn_input_close(&input);
}

/* ---- what comes -------------------------------------------------------------------------------------------------- */

/* Of a line: keeps what is there. */
static void read_some(struct top *t)
{
    char data[65536];
    take_signals(t);
    const ssize_t n = read(t->source.fd, data, sizeof(data));
    if (n > 0) {
        const int e = cairn_input_add(&t->came, data, (size_t)n);
        t->error = -e;
        t->over |= e != 0;
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        t->error = n < 0 && errno != EIO ? errno : 0; /* a terminal whose other end is closed */
        t->over = true;
    }
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

/* Waits for what comes, at most up to the deadline. */
static void wait_some(struct top *t, int64_t deadline)
{
    int64_t left = deadline - cairn_now_ms();
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

static bool goes_on(const struct top *t)
{
    return !t->seen.ended && !t->over && !t->quit && !ended_by;
}

/* A new screen each interval, but never sooner than it takes to read the log. */
static void follow(struct top *t)
{
    uint64_t shown = UINT64_MAX;
    for (int64_t due = cairn_now_ms() + (t->file ? 0 : (int64_t)interval * 1000); goes_on(t);) {
        if (suspended)
            suspend(t);
        wait_some(t, due);
        const int64_t began = cairn_now_ms();
        if (began < due && !t->over && !has_ended(t))
            continue;
        read_log(t);
        const int64_t now = cairn_now_ms(), next = due + (int64_t)interval * 1000;
        due = next < 2 * now - began ? now + (now - began) : next;
        if (goes_on(t) && (t->screen || shown != t->seen.frames))
            show(t);
        shown = t->seen.frames;
    }
}

/* Of a line, what comes in one interval. */
static void read_once(struct top *t)
{
    const int64_t due = cairn_now_ms() + (int64_t)interval * 1000;
    while (!t->file && !t->over && !ended_by && cairn_now_ms() < due && !has_ended(t))
        wait_some(t, due);
    if (!ended_by)
        read_log(t);
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
    struct top *t = &top;
    struct stat s;
    *t = (struct top){.came = {.name = operand, .fd = -1}, .path = operand};
    t->name = strrchr(operand, '/') && strrchr(operand, '/')[1] ? strrchr(operand, '/') + 1 : operand;
    const int e = cairn_serial_open(&t->source, operand);
    if (e == -EINVAL)
        return cairn_usage(&cairn_top_command, "%s: not a baud rate; give one such as 115200",
                           strchr(operand, ',') + 1);
    if (e) {
        cairn_file_error(operand, e);
        return CAIRN_UNREADABLE;
    }
    t->file = fstat(t->source.fd, &s) == 0 && S_ISREG(s.st_mode) && lseek(t->source.fd, 0, SEEK_CUR) == 0;
    t->screen = !once && isatty(STDOUT_FILENO);
    catch_signals(t);
    enter_screen(t);
    if (once)
        read_once(t);
    else
        follow(t);
    if (t->quit)
        read_log(t);
    return finish(t);
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
             "Each screen reads the whole trace anew: of a very long one, screens come more\n"
             "slowly. What a line sends is kept in a temporary file in $TMPDIR or /var/tmp.\n"
             "Exit: 0 good; 1 frames are missing or damaged, or the line ended first; 130\n"
             "Ctrl-C.\n",
    .examples = {"cairn top --once t.log", "cairn top /dev/ttyUSB0,115200"},
    .run = run,
};
