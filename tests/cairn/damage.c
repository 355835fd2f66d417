/* SPDX-License-Identifier: MIT */
/*
 * Damages a log in every way and reads it: never a crash, never a switch, a record's thread or a branch that the
 * undamaged log does not have (who came may become unknown), and what is missing is named; and the same whether the log
 * is in memory or read through windows. In one process, or it would take hours.
 *
 *     damage each LOG [STEP]            every line removed, repeated, cut, swapped with the next;
 *                                       every STEPth bit flipped
 *     damage random LOG COUNT [SEED]    COUNT logs with one to eight damages each, from a seed
 * Longer than 500 lines: all kinds of damage go through the same comparison, in one process.
 */
#define _GNU_SOURCE /* memfd_create */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/cairn/check/check.h"
#include "tools/cairn/frame/input.h"
#include "tools/cairn/log/damage.h"
#include "tools/cairn/model/timeline.h"

/* ---- what a log says -------------------------------------------------------------------------------------------- */

struct switches {
    struct cairn_switch *items;
    size_t count, room;
};

struct branch {                       /* of BTS */
    uint32_t cpu, epoch, tid, number; /* number: DRAIN, what the drain says; `is` then: `from` lost, `to` bytes */
    struct cairn_branch is;
};
#define DRAIN UINT32_MAX
_Static_assert(sizeof(struct branch) == 40, "nothing lies between its members: memcmp compares them");

struct branches {
    struct branch *items;
    size_t count, room;
};

struct said {
    struct switches compact[MAX_CPUS], full[MAX_CPUS];
    struct cairn_item *records; /* of all CPUs */
    size_t record_count;
    struct branches branches; /* of all CPUs */
    uint64_t frames;
    uint32_t cpus;
};

static struct said truth;
static const char *what; /* the damage being tried, for messages */
static uint64_t where;

static _Noreturn void fail(const char *why)
{
    printf("FAIL: damage: %s at %" PRIu64 ": %s\n", what, where, why);
    exit(1);
}

static void add_branch(struct branches *to, const struct cairn_item *item, uint32_t number, struct cairn_branch is)
{
    const struct cairn_bts_drain *d = &item->branches->drain;
    if (to->count == to->room)
        to->items = realloc(to->items, (to->room = 2 * to->room + 64) * sizeof(*to->items));
    to->items[to->count++] = (struct branch){item->cpu, d->number, d->tid, number, is};
}

static void gather_branches(struct branches *to, const struct cairn_log *log)
{
    for (uint32_t c = 0; c < log->cpus; c++) {
        struct cairn_lane lane;
        const struct cairn_item *item;
        cairn_lane_init(&lane, log, c, cairn_prefers_compact(log), CAIRN_BY_FORMAT);
        cairn_lane_branches(&lane);
        while ((item = cairn_lane_next(&lane)) != NULL) {
            if (item->kind != CAIRN_ITEM_BRANCHES)
                continue;
            const struct cairn_bts_step *step = item->branches;
            if (!step->count)
                add_branch(to, item, DRAIN, (struct cairn_branch){step->drain.lost, step->drain.record_bytes, 0});
            for (uint32_t i = 0; i < step->count; i++)
                add_branch(to, item, step->first + i, cairn_bts_step_record(step, i));
        }
        cairn_lane_free(&lane);
    }
}

static void gather(struct said *s, const struct cairn_log *log)
{
    size_t room = 0;
    s->cpus = log->cpus;
    s->frames = log->frames.count;
    for (uint32_t c = 0; c < log->cpus; c++) {
        for (int compact = 0; compact < 2; compact++) {
            struct switches *to = compact ? &s->compact[c] : &s->full[c];
            struct cairn_cursor cursor;
            struct cairn_switch sw;
            cairn_cursor_init(&cursor, log, c, compact);
            while (cairn_cursor_next(&cursor, &sw)) {
                if (to->count == to->room)
                    to->items = realloc(to->items, (to->room = 2 * to->room + 64) * sizeof(sw));
                to->items[to->count++] = sw;
            }
        }
        struct cairn_lane lane;
        const struct cairn_item *item;
        cairn_lane_init(&lane, log, c, cairn_prefers_compact(log), CAIRN_BY_FORMAT);
        while ((item = cairn_lane_next(&lane)) != NULL) {
            if (item->kind != CAIRN_ITEM_RECORD)
                continue;
            if (s->record_count == room)
                s->records = realloc(s->records, (room = 2 * room + 64) * sizeof(*item));
            s->records[s->record_count] = *item;
            s->records[s->record_count].sw.time = (int64_t)item->record->address; /* kept beyond the log's life */
            s->records[s->record_count++].sw.old_tid = item->record->epoch;
        }
        cairn_lane_free(&lane);
    }
    gather_branches(&s->branches, log);
}

static bool equal(const struct cairn_switch *a, const struct cairn_switch *b)
{
    return a->time == b->time && a->old_tid == b->old_tid && a->form == b->form && a->state == b->state &&
           a->reason == b->reason && a->priority == b->priority && a->wait == b->wait && a->detailed == b->detailed;
}

/* Every switch of the damaged log is one of the undamaged, in order. Returns how many there are. */
static size_t compare(const struct cairn_log *log, uint32_t cpu, bool compact)
{
    const struct switches *all = compact ? &truth.compact[cpu] : &truth.full[cpu];
    struct cairn_cursor cursor;
    struct cairn_switch sw;
    size_t at = 0, n = 0;
    cairn_cursor_init(&cursor, log, cpu, compact);
    for (; cairn_cursor_next(&cursor, &sw); at++, n++) {
        while (at < all->count && !equal(&sw, &all->items[at]))
            at++;
        if (at == all->count)
            fail("a switch that never was");
        if (sw.new_known && (!all->items[at].new_known || sw.new_tid != all->items[at].new_tid))
            fail("the wrong thread came");
    }
    return n;
}

/* Every branch of the damaged log is one of the undamaged, in order. */
static void compare_branches(const struct cairn_log *log)
{
    struct branches here = {0};
    size_t at = 0;
    gather_branches(&here, log);
    for (size_t i = 0; i < here.count; i++, at++) {
        while (at < truth.branches.count && memcmp(&here.items[i], &truth.branches.items[at], sizeof(*here.items)))
            at++;
        if (at == truth.branches.count)
            fail("a branch that never was");
    }
    free(here.items);
}

static void compare_records(const struct cairn_log *log)
{
    size_t at = 0;
    for (uint32_t c = 0; c < log->cpus; c++) {
        struct cairn_lane lane;
        const struct cairn_item *item;
        cairn_lane_init(&lane, log, c, cairn_prefers_compact(log), CAIRN_BY_FORMAT);
        while ((item = cairn_lane_next(&lane)) != NULL) {
            if (item->kind != CAIRN_ITEM_RECORD)
                continue;
            const struct cairn_record *r = item->record;
            while (at < truth.record_count &&
                   (truth.records[at].cpu != c || (uint64_t)truth.records[at].sw.time != r->address ||
                    truth.records[at].sw.old_tid != r->epoch))
                at++;
            if (at == truth.record_count)
                fail("a record that never was");
            for (unsigned rule = 0; rule < CAIRN_BY_RULES; rule++) {
                const struct cairn_verdict *is = &item->by[rule], *was = &truth.records[at].by[rule];
                if (is->blame == CAIRN_BLAME_KNOWN && (was->blame != CAIRN_BLAME_KNOWN || was->tid != is->tid))
                    fail("a record of the wrong thread");
            }
            at++;
        }
        cairn_lane_free(&lane);
    }
}

/* ---- the log read through windows -------------------------------------------------------------------------------- */

static bool same_switch(const struct cairn_switch *a, const struct cairn_switch *b)
{
    return equal(a, b) && a->hole == b->hole && a->new_known == b->new_known && a->new_tid == b->new_tid &&
           a->event->size == b->event->size && memcmp(a->event->payload, b->event->payload, a->event->size) == 0;
}

static bool same_branches(const struct cairn_bts_step *a, const struct cairn_bts_step *b)
{
    return a->drain.number == b->drain.number && a->drain.tid == b->drain.tid && a->drain.lost == b->drain.lost &&
           a->drain.record_bytes == b->drain.record_bytes && a->first == b->first && a->count == b->count &&
           (!a->count || memcmp(a->at, b->at, (size_t)a->count * CAIRN_BTS_BYTES) == 0);
}

static bool same_item(const struct cairn_item *a, const struct cairn_item *b)
{
    if (a->kind != b->kind || a->time != b->time || a->cpu != b->cpu)
        return false;
    switch (a->kind) {
    case CAIRN_ITEM_SWITCH:
        return same_switch(&a->sw, &b->sw);
    case CAIRN_ITEM_RECORD:
        return a->record->address == b->record->address && a->record->size == b->record->size &&
               memcmp(a->record->at, b->record->at, a->record->size) == 0 && a->blame == b->blame && a->tid == b->tid &&
               memcmp(a->by, b->by, sizeof(a->by)) == 0;
    case CAIRN_ITEM_EPOCH:
        return a->epoch->number == b->epoch->number && a->epoch->records == b->epoch->records &&
               a->epoch->bytes_seen == b->epoch->bytes_seen && a->epoch->swallowed == b->epoch->swallowed &&
               memcmp(a->epoch->area, b->epoch->area, a->epoch->area_bytes) == 0;
    case CAIRN_ITEM_BRANCHES:
        return same_branches(a->branches, b->branches);
    case CAIRN_ITEM_EVENT:
        return a->event->hook == b->event->hook && a->event->size == b->event->size &&
               memcmp(a->event->payload, b->event->payload, a->event->size) == 0;
    default:
        return memcmp(a->hole, b->hole, sizeof(*a->hole)) == 0;
    }
}

static void compare_counts(const struct cairn_log *whole, const struct cairn_log *windows)
{
    for (uint32_t c = 0; c < whole->cpus; c++) {
        const struct cairn_cpu *a = &whole->cpu[c], *b = &windows->cpu[c];
        if (a->events != b->events || a->pebs.records != b->pebs.records || a->pebs.epochs != b->pebs.epochs ||
            a->locks.events != b->locks.events || a->log_entries != b->log_entries || a->acks.count != b->acks.count ||
            a->told.count != b->told.count || a->holes.count != b->holes.count || a->buffers != b->buffers ||
            a->bts.records != b->bts.records || a->piece_count != b->piece_count)
            fail("read through windows, something else is counted");
    }
}

/* A file is read through windows: it must tell the same as the bytes in memory. */
static void compare_windows(const struct cairn_log *whole, const char *data, size_t size)
{
    struct cairn_input file = {.fd = memfd_create("damage", 0), .size = size};
    struct cairn_log windows;
    struct cairn_timeline t, u;
    const struct cairn_item *a, *b;
    char why[CAIRN_REFUSAL];
    if (file.fd < 0 || write(file.fd, data, size) != (ssize_t)size)
        fail("there is no room for a copy");
    if (cairn_log_read(&windows, &file, &(struct cairn_choice){0}, why))
        fail("read through windows it is no trace at all");
    if (windows.frames.count != whole->frames.count || cairn_log_damaged(&windows) != cairn_log_damaged(whole) ||
        windows.cpus != whole->cpus || windows.frames.suspects.count != whole->frames.suspects.count)
        fail("read through windows it is another log");
    compare_counts(whole, &windows);
    cairn_timeline_init(&t, whole, -1, cairn_prefers_compact(whole), CAIRN_BY_FORMAT, true);
    cairn_timeline_init(&u, &windows, -1, cairn_prefers_compact(whole), CAIRN_BY_FORMAT, true);
    do {
        a = cairn_timeline_next(&t);
        b = cairn_timeline_next(&u);
        if (!a != !b || (a && !same_item(a, b)))
            fail("read through windows it tells something else");
    } while (a);
    cairn_timeline_free(&t);
    cairn_timeline_free(&u);
    cairn_log_free(&windows);
    close(file.fd);
}

/* What the damage must lead to. */
enum expected {
    ANY,    /* several damages at once */
    INTACT, /* no frame was touched: nothing is missing */
    LACKS,  /* frame `number` is gone, and named */
};

static char refusal[CAIRN_REFUSAL]; /* of an ETL file: never */

static void try(const char *data, size_t size, enum expected expected, uint32_t number)
{
    struct cairn_log log;
    size_t switches = 0, all = 0;
    if (cairn_log_read(&log, &(struct cairn_input){.data = data, .size = size}, &(struct cairn_choice){0}, refusal)) {
        if (expected != ANY)
            fail("read as no trace at all");
        return;
    }
    if (log.cpus > truth.cpus)
        fail("a CPU that is not there");
    for (uint32_t c = 0; c < log.cpus; c++) {
        switches += compare(&log, c, true) + compare(&log, c, false);
        all += truth.compact[c].count + truth.full[c].count;
    }
    compare_records(&log);
    if (truth.branches.count || cairn_log_has_branches(&log))
        compare_branches(&log);
    static unsigned tries; /* single bits are too many for each of them */
    if (expected == ANY || tries++ % 16 == 0)
        compare_windows(&log, data, size);
    bool damaged = cairn_log_damaged(&log);
    if (damaged == (log.frames.count == truth.frames))
        fail(damaged ? "all frames are there, but it is called damaged"
                     : "frames are missing, but it is not called damaged");
    if (expected == INTACT && (damaged || switches != all))
        fail("no frame was touched, but something is missing");
    if (expected == LACKS) {
        const struct cairn_run *run = cairn_missing_between(&log.frames, number ? number - 1 : 0, number + 1);
        if (number == 0 && log.frames.missing.count)
            run = &log.frames.missing.items[0];
        if (!damaged || !run || run->first > number || run->last < number)
            fail("the frame that is missing is not named");
    }
    struct cairn_check check;
    cairn_check_init(&check, &log, NULL);
    cairn_check_trace(&check);
    cairn_check_truth(&check);
    if (damaged != (cairn_check_failed(&check) != 0))
        fail(damaged ? "check finds nothing wrong" : "check fails");
    cairn_log_free(&log);
}

/* ---- the log's lines -------------------------------------------------------------------------------------------- */

struct line {
    size_t at, size; /* line end included */
    size_t frame;    /* characters of the frame; 0: console text, or a line that breaks off and comes again whole */
    uint32_t number; /* of the frame */
};

static struct {
    char *data, *work;
    size_t size;
    struct line *lines;
    size_t count;
} input;

static void read_input(const char *path)
{
    struct cairn_input in;
    if (cairn_input_open(&in, path) || cairn_input_load(&in)) {
        printf("FAIL: damage: %s cannot be read\n", path);
        exit(1);
    }
    input.size = in.size;
    input.data = malloc(in.size);
    input.work = malloc(2 * in.size + 65536);
    memcpy(input.data, in.data, in.size);
    cairn_input_close(&in);
    size_t room = 0;
    for (size_t at = 0; at < input.size;) {
        const char *newline = memchr(input.data + at, '\n', input.size - at);
        struct line l = {.at = at, .size = newline ? (size_t)(newline - input.data) + 1 - at : input.size - at};
        if (input.data[at] == '~') {
            l.number = (uint32_t)strtoul((char[9]){input.data[at + 2], input.data[at + 3], input.data[at + 4],
                                                   input.data[at + 5], input.data[at + 6], input.data[at + 7],
                                                   input.data[at + 8], input.data[at + 9], 0},
                                         NULL, 16);
            for (l.frame = l.size; input.data[at + l.frame - 1] == '\n' || input.data[at + l.frame - 1] == '\r';)
                l.frame--;
            if (l.size < CAIRN_FRAME_OVERHEAD || input.data[at + l.frame - 9] != CAIRN_FRAME_SEPARATOR)
                l.frame = 0;
        }
        if (input.count == room)
            input.lines = realloc(input.lines, (room = 2 * room + 64) * sizeof(l));
        input.lines[input.count++] = l;
        at += l.size;
    }
}

/* Tries the log with `old` bytes at `at` replaced by `new` bytes from `with`. */
static void replaced(size_t at, size_t old, const char *with, size_t new, enum expected expected, uint32_t number)
{
    memcpy(input.work, input.data, at);
    memcpy(input.work + at, with, new);
    memcpy(input.work + at + new, input.data + at + old, input.size - at - old);
    try(input.work, input.size - old + new, expected, number);
}

/* ---- one by one ------------------------------------------------------------------------------------------------- */

/* Whether the line behind, run together with what is kept of a frame, happens to complete it: the last digits of its
 * checksum, then. */
static bool completed(const struct line *l, size_t kept)
{
    size_t gone = l->frame - kept, behind = l->at + l->size;
    return gone <= input.size - behind && memcmp(input.data + l->at + kept, input.data + behind, gone) == 0;
}

static uint64_t each_line(void)
{
    uint64_t tries = 0;
    char *twice = malloc(2 * input.size);
    for (size_t i = 0; i < input.count; i++) {
        const struct line *l = &input.lines[i];
        enum expected gone = l->frame ? LACKS : INTACT;
        where = i + 1;
        what = "line removed";
        replaced(l->at, l->size, "", 0, gone, l->number);
        what = "line repeated";
        memcpy(twice, input.data + l->at, l->size);
        memcpy(twice + l->size, input.data + l->at, l->size);
        replaced(l->at, l->size, twice, 2 * l->size, INTACT, 0);
        what = "line cut";
        for (size_t kept = 0; kept < l->size; kept += kept < 24 || kept + 40 > l->size ? 1 : 37, tries++) {
            memcpy(twice, input.data + l->at, kept);
            memcpy(twice + kept, "\r\n", 2);
            replaced(l->at, l->size, twice, kept + 2, kept < l->frame ? LACKS : INTACT, l->number);
            /* without its end the line runs into the next */
            replaced(l->at, l->size, twice, kept, kept < l->frame && !completed(l, kept) ? LACKS : INTACT, l->number);
        }
        what = "line swapped";
        if (i + 1 < input.count) {
            const struct line *next = l + 1;
            memcpy(twice, input.data + next->at, next->size);
            memcpy(twice + next->size, input.data + l->at, l->size);
            replaced(l->at, l->size + next->size, twice, l->size + next->size, INTACT, 0);
        }
        tries += 3;
    }
    free(twice);
    return tries;
}

static uint64_t each_bit(size_t step)
{
    uint64_t tries = 0;
    size_t i = 0;
    what = "bit flipped";
    memcpy(input.work, input.data, input.size);
    for (size_t bit = 0; bit < 8 * input.size; bit += step, tries++) {
        size_t at = bit / 8;
        while (at >= input.lines[i].at + input.lines[i].size)
            i++;
        const struct line *l = &input.lines[i];
        where = bit;
        input.work[at] = (char)(input.data[at] ^ 1 << bit % 8);
        try(input.work, input.size, l->frame && at - l->at < l->frame ? LACKS : INTACT, l->number);
        input.work[at] = input.data[at];
    }
    return tries;
}

/* ---- at random -------------------------------------------------------------------------------------------------- */

static uint64_t state;

static size_t below(size_t n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return n ? (size_t)((state * UINT64_C(0x2545F4914F6CDD1D)) >> 16) % n : 0;
}

/* One damage of `size` bytes in input.work, in place. Returns the new size, at most 4096 more. */
static size_t damage(size_t size)
{
    char *w = input.work;
    size_t at = below(size), n;
    switch (below(8)) {
    case 0: /* a line and some after it are gone */
        n = below(below(4) ? 2200 : 60000);
        n = n < size - at ? n : size - at;
        memmove(w + at, w + at + n, size - at - n);
        return size - n;
    case 1: /* bits */
        for (n = 1 + below(20); n; n--)
            w[below(size)] ^= (char)(1 << below(8));
        return size;
    case 2: /* a burst of noise */
        for (n = below(300); n && at < size; n--)
            w[at++] = (char)below(256);
        return size;
    case 3: /* the end is missing */
        return below(8) ? size : at + 1;
    case 4: /* something comes twice */
        n = below(4096) < size - at ? below(4096 < size - at ? 4096 : size - at) : 0;
        memmove(w + at + n, w + at, size - at);
        return size + n;
    case 5: /* two pieces change places */
        n = below(2048);
        if (at + 2 * n < size)
            for (size_t i = 0; i < n; i++) {
                char c = w[at + i];
                w[at + i] = w[at + n + i];
                w[at + n + i] = c;
            }
        return size;
    case 6: /* characters are dropped, as by a UART that is read too late */
        for (n = below(40); n && size > 1; n--) {
            at = below(size);
            memmove(w + at, w + at + 1, size - at - 1);
            size--;
        }
        return size;
    default: { /* whole lines are swapped, far apart */
        const struct line *a = &input.lines[below(input.count)], *b = &input.lines[below(input.count)];
        if (a->size == b->size && a->at + a->size <= size && b->at + b->size <= size)
            for (size_t i = 0; i < a->size; i++) {
                char c = w[a->at + i];
                w[a->at + i] = w[b->at + i];
                w[b->at + i] = c;
            }
        return size;
    }
    }
}

static void at_random(uint64_t count, uint64_t seed)
{
    what = "random damage";
    for (uint64_t i = 0; i < count; i++) {
        where = i;
        state = (seed + i) * UINT64_C(0x9E3779B97F4A7C15) | 1;
        memcpy(input.work, input.data, input.size);
        size_t size = input.size;
        for (size_t n = 1 + below(8); n && size; n--)
            size = damage(size);
        try(input.work, size, ANY, 0);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3 || (strcmp(argv[1], "each") && strcmp(argv[1], "random"))) {
        fprintf(stderr, "usage: damage each LOG [STEP] | damage random LOG COUNT [SEED]\n");
        return 2;
    }
    read_input(argv[2]);
    struct cairn_log log;
    what = "none";
    const struct cairn_input whole = {.data = input.data, .size = input.size};
    if (cairn_log_read(&log, &whole, &(struct cairn_choice){0}, refusal) || cairn_log_damaged(&log))
        fail("the log is not intact to begin with");
    gather(&truth, &log);
    cairn_log_free(&log);
    if (strcmp(argv[1], "each") == 0) {
        uint64_t lines = each_line(), bits = each_bit(argc > 3 ? strtoul(argv[3], NULL, 0) : 1);
        printf("PASS: damage: %s: %" PRIu64 " lines, %" PRIu64 " bits\n", argv[2], lines, bits);
    } else {
        uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 0) : 1000;
        at_random(count, argc > 4 ? strtoull(argv[4], NULL, 0) : 1);
        printf("PASS: damage: %s: %" PRIu64 " times at random\n", argv[2], count);
    }
    return 0;
}
