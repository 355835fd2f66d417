/* SPDX-License-Identifier: MIT */
/*
 * What `cairn top` adds up, of any bytes at all: the same whatever pieces they come in; and of a whole trace that is
 * undamaged, what `cairn stat` adds up. Then the command, on a file of them. The first bytes of the input say where it
 * is cut, the rest is the log.
 */
#define _GNU_SOURCE /* memfd_create */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/log.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/command/top_follow.h"
#include "tools/cairn/model/totals.h"

#define CUTS 8u /* bytes of the input: how long a piece is */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fed in pieces, with a screen's reading behind some of them. NULL cuts: in one. */
static struct cairn_follow *follow(const char *log, size_t size, const uint8_t *cuts)
{
    struct cairn_follow *f = malloc(sizeof(*f));
    if (!f)
        abort();
    cairn_follow_init(f, 0);
    for (size_t at = 0, i = 0; at < size; i++) {
        const size_t wanted = cuts ? 1 + (size_t)cuts[i % CUTS] * (1 + i % 61) : size;
        const size_t n = wanted < size - at ? wanted : size - at;
        cairn_follow_bytes(f, log + at, n);
        at += n;
        if (!cuts || cuts[(i + 1) % CUTS] & 1)
            continue;
        cairn_follow_read(f, false);
        cairn_follow_mark(f);
    }
    cairn_feed_end(&f->feed);
    cairn_follow_read(f, true);
    return f;
}

static void believe(bool what)
{
    if (!what)
        abort();
}

/* Whether the text comes before the trace: what is read before it comes is read without. Of that of the session there
 * must be some: which kind of switches is counted, a part without it tells only by what it has. */
struct order {
    bool trace, session, text_behind;
};

static void note(void *context, const struct cairn_line *l, const char *text, size_t size)
{
    struct order *o = context;
    (void)text, (void)size;
    if (l->frame.stream == CAIRN_STREAM_TRACE)
        o->trace = true;
    else if (l->frame.stream != CAIRN_STREAM_TRUTH && l->frame.stream != CAIRN_STREAM_END &&
             l->frame.stream != CAIRN_STREAM_LAST)
        o->text_behind |= o->trace;
    o->session |= l->frame.stream == CAIRN_STREAM_SESSION;
}

static bool told_before(const char *log, size_t size)
{
    struct order order = {0};
    struct cairn_feed *feed = calloc(1, sizeof(*feed));
    if (!feed)
        abort();
    *feed = (struct cairn_feed){.context = &order, .frame = note};
    cairn_feed_bytes(feed, log, size);
    cairn_feed_end(feed);
    free(feed);
    return order.session && !order.text_behind;
}

/* Nothing that came is in none of the sums, or in two. */
static void compare(const struct cairn_follow *a, const struct cairn_follow *b, bool told)
{
    believe(a->frames == b->frames && a->missing == b->missing && a->misplaced == b->misplaced);
    believe(a->feed.damaged == b->feed.damaged && a->ended == b->ended && a->session == b->session);
    believe(a->trace_frames == b->trace_frames);
    if (!told)
        return;
    believe(a->switches == b->switches && a->records == b->records && a->bad == b->bad);
}

/* The command itself, of a file. */
static void show(const char *log, size_t size)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};
    struct sigaction before[sizeof(signals) / sizeof(signals[0])];
    const struct cairn_option *o = cairn_top_command.options;
    const int fd = memfd_create("log", 0);
    char path[32];
    FILE *out = stdout, *errors = stderr;
    sigset_t mask;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    believe(fd >= 0 && write(fd, log, size) == (ssize_t)size);
    while (strcmp(o->name, "once") != 0)
        o++;
    *o->on = true;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], NULL, &before[i]);
    stdout = stderr = fuzz_nowhere;
    const int status = cairn_top_command.run((char *[]){path});
    stdout = out;
    stderr = errors;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    believe(status == CAIRN_GOOD || status == CAIRN_BAD || status == CAIRN_UNREADABLE);
    close(fd);
}

static uint64_t busy_of(const struct cairn_follow *f, uint32_t tid)
{
    const uint32_t at = cairn_map_find(&f->by_tid, tid);
    return at ? f->threads.items[at - 1].busy : 0;
}

static void compare_totals(const struct cairn_log *log, void *context)
{
    const struct cairn_follow *f = context;
    if (log->number != (f->session ? f->session : log->number) || cairn_log_damaged(log) || log->frames.dumps > 1 ||
        log->frames.misplaced || log->frames.repeated || log->frames.again || log->session.circular || !f->whole ||
        f->misplaced || f->bad || f->feed.damaged || f->full_head)
        return;
    struct cairn_totals *t = malloc(sizeof(*t));
    if (!t)
        abort();
    uint64_t switches = 0;
    cairn_totals_read(t, log, CAIRN_BY_FORMAT);
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_follow_cpu *cpu = &f->cpu[c];
        switches += t->switches[c];
        believe(cpu->busy == t->busy[c] && cpu->idle == t->idle[c] && cpu->unknown == t->unknown[c]);
    }
    believe(switches == f->switches && t->records == f->records);
    for (size_t i = 0; i < t->threads.count; i++)
        believe(busy_of(f, t->threads.items[i].tid) == t->threads.items[i].busy);
    cairn_totals_free(t);
    free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < CUTS)
        return 0;
    const char *log = (const char *)data + CUTS;
    struct cairn_follow *whole = follow(log, size - CUTS, NULL), *parts = follow(log, size - CUTS, data);
    compare(parts, whole, told_before(log, size - CUTS));
    fuzz_sessions(log, size - CUTS, compare_totals, whole);
    fuzz_sessions(log, size - CUTS, compare_totals, parts);
    show(log, size - CUTS);
    cairn_follow_reset(whole);
    cairn_follow_reset(parts);
    free(whole);
    free(parts);
    return 0;
}
