/* SPDX-License-Identifier: MIT */
/* cairn top: what runs now, by a trace that is still coming. */
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

#include "tools/cairn/bytes.h"
#include "tools/cairn/command.h"
#include "tools/cairn/follow.h"
#include "tools/cairn/serial.h"

#define FILE_MS 100 /* how often a file is looked at that may have grown */
#define ROWS    24u /* where there is no terminal */
#define COLUMNS 80u
#define FIXED   9u /* rows that are always there */

static uint64_t interval = 1;
static bool once;
static const struct cairn_option options[] = {
    {0, "interval", "S", "a new screen every S seconds (1)", .number = &interval, .low = 1, .high = 3600},
    {0, "once", NULL, "what is there, once; of a line, what comes within S seconds", .on = &once},
    {0, "session", "N", "trace session N, not the first", .number = &cairn_which_session, .low = 1,
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
    const char *name;
    bool file;                /* regular: it may grow, or be another */
    uint64_t at;              /* of a file: bytes read */
    bool keys, screen;  /* keys are read; the screen is ours */
    struct termios old;       /* of the keys */
    bool over, quit;          /* the line ended; 'q' */
    sigset_t while_waiting;
};

/* ---- the terminal ------------------------------------------------------------------------------------------------ */

static void enter_screen(struct top *t)
{
    struct termios raw;
    t->keys = t->screen && t->source.fd != STDIN_FILENO && isatty(STDIN_FILENO) &&
              tcgetattr(STDIN_FILENO, &t->old) == 0;
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

struct line {
    const char *name;
    uint64_t now, all;
};

static int by_now(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->now != y->now)
        return x->now > y->now ? -1 : 1;
    if (x->all != y->all)
        return x->all > y->all ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int threads_by_now(const void *a, const void *b)
{
    const struct cairn_follow_thread *const *x = a, *const *y = b;
    if ((*x)->busy_now != (*y)->busy_now)
        return (*x)->busy_now > (*y)->busy_now ? -1 : 1;
    if ((*x)->busy != (*y)->busy)
        return (*x)->busy > (*y)->busy ? -1 : 1;
    return (*x)->tid < (*y)->tid ? -1 : (*x)->tid > (*y)->tid;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static struct line *lines_of(const struct cairn_tally *tally)
{
    struct line *lines = cairn_alloc((tally->rows.count + 1) * sizeof(*lines));
    for (size_t i = 0; i < tally->rows.count; i++) {
        const struct cairn_tally_row *row = tally->rows.items[i];
        lines[i] = (struct line){row->name, row->side[1].count, row->side[0].count};
    }
    qsort(lines, tally->rows.count, sizeof(*lines), by_now);
    return lines;
}

static void print_threads(FILE *to, const struct cairn_follow *f, unsigned rows, uint64_t now, uint64_t all)
{
    const struct cairn_follow_thread **sorted = cairn_alloc((f->threads.count + 1) * sizeof(*sorted));
    for (size_t i = 0; i < f->threads.count; i++)
        sorted[i] = &f->threads.items[i];
    qsort(sorted, f->threads.count, sizeof(*sorted), threads_by_now);
    fprintf(to, "%-30s %8s %8s %14s %8s\n", "thread", "now %", "all %", "switched out", "records");
    for (size_t i = 0; i < f->threads.count && i < rows; i++)
        fprintf(to, "%-30.30s %8.2f %8.2f %14" PRIu64 " %8" PRIu64 "\n", sorted[i]->name,
                percent(sorted[i]->busy_now, now), percent(sorted[i]->busy, all), sorted[i]->runs,
                sorted[i]->records);
    free(sorted);
}

/* Reasons and functions, side by side. */
static void print_counts(FILE *to, const struct cairn_follow *f, unsigned rows)
{
    struct line *reasons = lines_of(&f->reasons), *functions = lines_of(&f->functions);
    fprintf(to, "%-18s %8s %9s   %-20s %8s %8s\n", "state or reason", "now", "all",
            f->records ? "function of records" : "", f->records ? "now" : "", f->records ? "all" : "");
    for (size_t i = 0; i < rows && (i < f->reasons.rows.count || i < f->functions.rows.count); i++) {
        int used = 0;
        if (i < f->reasons.rows.count)
            used = fprintf(to, "%-18.18s %8" PRIu64 " %9" PRIu64, reasons[i].name, reasons[i].now, reasons[i].all);
        if (i < f->functions.rows.count)
            fprintf(to, "%*s   %-20.20s %8" PRIu64 " %8" PRIu64, used ? 0 : 37, "", functions[i].name,
                    functions[i].now, functions[i].all);
        putc('\n', to);
    }
    free(reasons);
    free(functions);
}

static double seconds(const struct cairn_follow *f, int64_t from)
{
    return f->timed && f->last > from ? ((double)f->last - (double)from) / (double)f->hz : 0.0;
}

static void print_cpus(FILE *to, const struct cairn_follow *f)
{
    unsigned shown = 0, cpus = 0;
    fputs("busy now, %:", to);
    for (unsigned c = 0; c < CAIRN_MAX_CPUS; c++) {
        const struct cairn_follow_cpu *cpu = &f->cpu[c];
        cpus += cpu->there;
        if (!cpu->there || shown == 5)
            continue;
        shown++;
        fprintf(to, " CPU %u %5.1f", c, percent(cpu->busy_now, cpu->busy_now + cpu->idle_now + cpu->unknown_now));
    }
    if (cpus > shown)
        fprintf(to, " +%u", cpus - shown);
    putc('\n', to);
}

/* So many rows of at most 80 columns. */
static void print_screen(FILE *to, const struct top *t, unsigned rows)
{
    const struct cairn_follow *f = &t->follow;
    const unsigned free_rows = rows > FIXED + 4 ? rows - FIXED : 4, threads = (free_rows + 1) / 2;
    const double all = seconds(f, f->first), now = seconds(f, f->last_now);
    uint64_t busy = 0, busy_now = 0, unknown = 0;
    char span[32] = "", rate[32] = "-";
    for (unsigned c = 0; c < CAIRN_MAX_CPUS; c++) {
        const struct cairn_follow_cpu *cpu = &f->cpu[c];
        busy += cpu->busy + cpu->idle + cpu->unknown;
        busy_now += cpu->busy_now + cpu->idle_now + cpu->unknown_now;
        unknown += cpu->unknown;
    }
    snprintf(span, sizeof(span), "%.3f s", all);
    if (now > 0.0)
        snprintf(rate, sizeof(rate), "%.1f/s now", (double)f->switches_now / now);
    fprintf(to, "%.26s: %s, session %" PRIu32 ", %s of trace%s\n", t->name,
            f->ended ? "ended" : t->over ? "broken off" : f->frames ? "coming" : "nothing yet", f->session, span,
            f->emulated ? ", emulated" : "");
    fprintf(to, "%" PRIu64 " switches, %s, %.1f/s in all; %" PRIu64 " PEBS records\n", f->switches, rate,
            all > 0.0 ? (double)f->switches / all : 0.0, f->records);
    print_cpus(to, f);
    fprintf(to, "lost: %" PRIu64 " %s missing, %" PRIu64 " damaged, %" PRIu64 " %s in the trace, %.1f %% of time\n",
            f->missing, cairn_plural(f->missing, "frame", "frames"), f->feed.damaged, f->gaps,
            cairn_plural(f->gaps, "gap", "gaps"), percent(unknown, busy));
    putc('\n', to);
    print_threads(to, f, threads, busy_now, busy);
    putc('\n', to);
    print_counts(to, f, free_rows - threads);
}

/* Rows and columns of the terminal. */
static struct winsize size_of(void)
{
    struct winsize w = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_row || !w.ws_col)
        w = (struct winsize){.ws_row = ROWS, .ws_col = COLUMNS};
    return w;
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
    print_screen(to, t, t->screen ? w.ws_row : ROWS);
    fclose(to);
    if (!t->screen) {
        printf("%s\n", text);
    } else {
        unsigned row = 0;
        fputs("\033[H", stdout);
        for (char *line = text, *eol; (eol = strchr(line, '\n')) != NULL && row < w.ws_row; line = eol + 1, row++)
            printf("%s\033[K%.*s", row ? "\n" : "",
                   (int)(eol - line) < w.ws_col ? (int)(eol - line) : w.ws_col, line);
        fputs(row < w.ws_row ? "\n\033[J" : "", stdout);
    }
    fflush(stdout);
    free(text);
    cairn_follow_mark(&t->follow);
}

/* ---- what comes -------------------------------------------------------------------------------------------------- */

/* Reads what is there. Whether it was anything. */
static bool read_some(struct top *t)
{
    char data[65536];
    struct stat s;
    if (t->file && fstat(t->source.fd, &s) == 0 && (uint64_t)s.st_size < t->at) {
        lseek(t->source.fd, 0, SEEK_SET); /* it was written anew */
        t->at = 0;
        t->follow.feed.used = 0;
        cairn_follow_reset(&t->follow);
    }
    const ssize_t n = read(t->source.fd, data, sizeof(data));
    if (n > 0) {
        t->at += (uint64_t)n;
        cairn_follow_bytes(&t->follow, data, (size_t)n);
        return true;
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    t->over = !t->file || n < 0;
    return false;
}

static void read_key(struct top *t)
{
    char key;
    if (read(STDIN_FILENO, &key, 1) == 1)
        t->quit |= key == 'q' || key == 'Q' || key == 4; /* Ctrl-D */
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

static bool goes_on(const struct top *t)
{
    return !t->follow.ended && !t->over && !t->quit && !ended_by;
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
    if (!f->frames && (once || t->over)) {
        fprintf(stderr, "cairn: %s: not a trace: no undamaged frame in %" PRIu64 " bytes\n", t->name, t->at);
        return CAIRN_UNREADABLE;
    }
    if (f->full_head)
        fprintf(stderr, "cairn: %s: more text than is kept: some names are missing\n", t->name);
    if (t->over && !f->ended)
        fprintf(stderr, "cairn: %s: the line ended before the trace did\n", t->name);
    return f->missing || f->feed.damaged || (t->over && !f->ended) ? CAIRN_BAD : CAIRN_GOOD;
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

static int run(char *operand)
{
    struct top *t = cairn_alloc(sizeof(*t));
    struct stat s;
    t->name = strrchr(operand, '/') && strrchr(operand, '/')[1] ? strrchr(operand, '/') + 1 : operand;
    const int e = cairn_serial_open(&t->source, operand);
    if (e) {
        free(t);
        if (e == -EINVAL)
            return cairn_usage(&cairn_top_command, "%s: not a rate a serial line has, like 115200",
                               strchr(operand, ',') + 1);
        fprintf(stderr, "cairn: %s: %s\n", operand, strerror(-e));
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
    .summary = "what runs now, by a trace that is still coming",
    .options = options,
    .notes = "LOG: a file that grows, a serial device (/dev/ttyUSB0,115200), a pseudo-terminal,\n"
             "a UNIX socket, or - for standard input; the machine sends its trace while it\n"
             "runs with dump=live. Ends with the trace, or by 'q' or Ctrl-C, and leaves the\n"
             "last figures. 'now' is what came since the screen before: buffers come when they\n"
             "are full. Names of threads come at the end of a trace, unless session.1= asks\n"
             "for threads. Exit: 0, 1 something is missing or the line ended first, 130 Ctrl-C.\n",
    .run = run,
};
