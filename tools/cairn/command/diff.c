/* SPDX-License-Identifier: MIT */
/* cairn diff: what differs between two runs, and whether chance alone can explain it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/cut.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/base/number_map.h"
#include "tools/cairn/base/tally.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/log/locks.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/cpu_time.h"
#include "tools/cairn/model/elf.h"
#include "tools/cairn/model/filter.h"
#include "tools/cairn/model/loss.h"

#define FEW   10u /* less than so many in both runs: no judgement */
#define SURE  3.0 /* standard deviations: beyond them it is more than chance */
#define NAMES 34  /* columns */

enum { A, B, SIDES };
_Static_assert(SIDES == CAIRN_SIDES, "two");

static uint64_t top = 10;
static const char *elf_path;
static const struct cairn_option options[] = {
    CAIRN_CPU_OPTION,
    CAIRN_THREAD_OPTION,
    CAIRN_TIME_OPTIONS,
    CAIRN_REASON_OPTION,
    {0, "top", "N", "show the first N rows of each kind (10)", .number = &top, .low = 1, .high = UINT32_MAX},
    {'e', "elf", "FILE", "take function names from this kernel.elf.full; both logs must be of its build",
     .text = &elf_path},
    CAIRN_LOG_OPTIONS,
};

struct side {
    const struct cairn_log *log;
    int64_t start, stop; /* session clock */
    double seconds;
    uint32_t cpus; /* that are looked at */
    /* Times in seconds: of all CPUs together, of it what is known, and that of one CPU in the mean. */
    struct cairn_series cpu_time, known, time, switches, busy, records, lock_events;
    struct cairn_lost dropped;
    uint64_t events_lost;
    bool loss_known;
};

struct diff {
    struct side side[SIDES];
    struct cairn_tally threads, waits, functions, locks;
    size_t rows, equal; /* of the tallies; of them those that are equal in both */
    bool other_keys;    /* something told of the machine and the run is another */
};

/* ---- adding up --------------------------------------------------------------------------------------------------- */

struct adding { /* of one side */
    struct diff *d;
    unsigned side;
    const struct cairn_log *log;
    struct cairn_elf *elf; /* NULL: none was given */
    bool compact;          /* switches are those of 0525H, else of 0524H */
    struct cairn_map by_tid;
    struct {
        struct cairn_tally_row **items;
        size_t count, room;
    } threads;
};

static unsigned slice_of(const struct side *s, int64_t time)
{
    const __int128 at = ((__int128)time - s->start) * CAIRN_SLICES / ((__int128)s->stop - s->start);
    return at < 0 ? 0 : at >= CAIRN_SLICES ? CAIRN_SLICES - 1 : (unsigned)at;
}

static void add_one(const struct adding *a, struct cairn_tally *tally, struct cairn_series *all, const char *name,
                    int64_t time)
{
    const unsigned slice = slice_of(&a->d->side[a->side], time);
    struct cairn_series *series = &cairn_tally_row(tally, name)->side[a->side];
    series->slice[slice]++;
    series->count++;
    if (all) {
        all->slice[slice]++;
        all->count++;
    }
}

/* The same thread has another TID in another run: its name is what is compared. */
static struct cairn_series *thread_of(struct adding *a, uint32_t tid)
{
    uint32_t at = cairn_map_find(&a->by_tid, tid);
    if (!at) {
        char name[CAIRN_SHOWN];
        const struct cairn_name *n = cairn_find_name(&a->log->text, tid);
        if (n)
            cairn_cut(name, sizeof(name), n->name, NAMES);
        else
            snprintf(name, sizeof(name), "thread:%" PRIu32, tid);
        cairn_map_add(&a->by_tid, tid, (uint32_t)a->threads.count);
        *CAIRN_ADD(a->threads) = cairn_tally_row(&a->d->threads, name);
        at = (uint32_t)a->threads.count;
    }
    return &a->threads.items[at - 1]->side[a->side];
}

static void add_stint(struct adding *a, const struct cairn_stint *stint)
{
    struct side *s = &a->d->side[a->side];
    const double second = s->seconds / ((double)s->stop - (double)s->start);
    if (stint->to <= stint->from || !cairn_filter_span(stint->from, stint->to))
        return;
    const bool chosen = stint->kind == CAIRN_STINT_THREAD && cairn_filter_thread(stint->tid);
    struct cairn_series *thread = chosen ? thread_of(a, stint->tid) : NULL;
    for (unsigned i = slice_of(s, stint->from), last = slice_of(s, stint->to); i <= last; i++) {
        const __int128 units = (__int128)s->stop - s->start;
        const int64_t begins = s->start + (int64_t)(units * i / CAIRN_SLICES);
        const int64_t ends = s->start + (int64_t)(units * (i + 1) / CAIRN_SLICES);
        const int64_t from = stint->from > begins ? stint->from : begins, to = stint->to < ends ? stint->to : ends;
        const double time = to > from ? ((double)to - (double)from) * second : 0.0;
        s->cpu_time.slice[i] += time;
        if (stint->kind != CAIRN_STINT_UNKNOWN)
            s->known.slice[i] += time;
        if (!thread)
            continue;
        thread->slice[i] += time;
        s->busy.slice[i] += time;
    }
    if (thread) {
        thread->count++;
        s->busy.count++;
    }
}

static void add_switch(struct adding *a, const struct cairn_switch *sw)
{
    struct side *s = &a->d->side[a->side];
    s->switches.slice[slice_of(s, sw->time)]++;
    s->switches.count++;
    if (sw->old_tid && sw->detailed && !sw->raw)
        add_one(a, &a->d->waits, NULL,
                sw->state == KTHREAD_WAITING ? cairn_reason_name(sw->reason) : cairn_state_name(sw->state), sw->time);
}

static void add_cpu(struct adding *a, uint32_t c)
{
    struct side *s = &a->d->side[a->side];
    struct cairn_lane lane;
    const struct cairn_item *item;
    struct cairn_lock_walk locks;
    struct cairn_lock_event lock;
    struct cairn_stints stints;
    struct cairn_stint stint;
    char name[CAIRN_SHOWN];
    bool hole = false;
    cairn_stints_init(&stints, s->log);
    cairn_lane_init(&lane, s->log, c, a->compact, CAIRN_BY_FORMAT);
    while ((item = cairn_lane_next(&lane)) != NULL) {
        if (item->kind == CAIRN_ITEM_HOLE)
            hole = true;
        if (item->kind == CAIRN_ITEM_SWITCH) {
            if (cairn_filter_passes(item))
                add_switch(a, &item->sw);
            if (cairn_stints_next(&stints, &item->sw, &stint))
                add_stint(a, &stint);
            hole = false;
        }
        if (item->kind == CAIRN_ITEM_RECORD && cairn_filter_passes(item))
            add_one(a, &a->d->functions, &s->records,
                    cairn_function_name(s->log, a->elf, item->record->ip, name) ? name : "[unknown]", item->time);
    }
    cairn_lane_free(&lane);
    if (cairn_stints_rest(&stints, s->log, c, hole, s->stop, &stint))
        add_stint(a, &stint);
    cairn_lock_walk_init(&locks, s->log, c);
    while (!cairn_filter_by_reason() && cairn_lock_walk_next(&locks, &lock)) {
        const struct wmi_spinlock l = cairn_lock_read(&lock);
        if (cairn_filter_time(lock.time) && cairn_filter_thread(l.thread_id))
            add_one(a, &a->d->locks, &s->lock_events, cairn_show_lock(name, s->log, l.spin_lock_address, NAMES),
                    lock.time);
    }
}

static void add_up(struct diff *d, unsigned side, const struct cairn_log *log, struct cairn_elf *elf)
{
    struct adding a = {.d = d, .side = side, .log = log, .elf = elf, .compact = cairn_prefers_compact(log)};
    struct side *s = &d->side[side];
    s->log = log;
    cairn_stints_range(log, a.compact, &s->start, &s->stop);
    cairn_filter_cut(&s->start, &s->stop);
    if (s->stop <= s->start) /* the part lies behind all that there is */
        s->stop = s->start + 1;
    s->seconds = ((double)s->stop - (double)s->start) / (double)(log->session.hz ? log->session.hz : TRACE_CLOCK_HZ);
    for (uint32_t c = 0; c < log->cpus; c++) {
        if (!cairn_filter_cpu(c))
            continue;
        add_cpu(&a, c);
        s->cpus++;
    }
    for (unsigned i = 0; i < CAIRN_SLICES && s->cpus; i++)
        s->time.slice[i] = s->known.slice[i] / s->cpus;
    s->dropped = cairn_records_dropped(log);
    s->loss_known = cairn_slice_u64(
        log->own ? cairn_end_key(log, "events_lost") : cairn_key(&log->text, "etl.events_lost"), &s->events_lost);
    cairn_map_free(&a.by_tid);
    free(a.threads.items);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

struct line {
    const char *name;
    double value[SIDES]; /* a second, or per cent */
    const char *mark;    /* "?" too few to tell, "~" chance alone may do it, "" neither */
};

/* `wholes`: what the parts are of; `share`: per cent. */
static struct line line_of(const char *name, const struct cairn_series parts[SIDES],
                           const struct cairn_series *const wholes[SIDES], bool share)
{
    struct line l = {.name = name};
    double deviation[SIDES];
    for (unsigned s = A; s < SIDES; s++)
        l.value[s] = cairn_series_ratio(&parts[s], wholes[s], &deviation[s]) * (share ? 100.0 : 1.0);
    const double sure = SURE * hypot(deviation[A], deviation[B]) * (share ? 100.0 : 1.0);
    l.mark = parts[A].count < FEW && parts[B].count < FEW ? "?" : fabs(l.value[B] - l.value[A]) <= sure ? "~" : "";
    return l;
}

static int by_change(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    const double cx = fabs(x->value[B] - x->value[A]), cy = fabs(y->value[B] - y->value[A]);
    if (cx != cy)
        return cx > cy ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void print_change(double a, double b, bool share)
{
    if (share)
        printf(" %+11.2f", b - a);
    else if (a > 0.0)
        printf(" %+9.1f %%", 100.0 * (b - a) / a);
    else
        printf(" %11s", b > 0.0 ? "new" : "0.0 %");
}

static void print_line(const struct line *l, bool share)
{
    const char *name = CAIRN_CUT(cairn_slice_of(l->name), NAMES);
    printf("  %-*s %10.2f %12.2f", cairn_fill(name, NAMES), name, l->value[A], l->value[B]);
    print_change(l->value[A], l->value[B], share);
    printf("%s%s\n", *l->mark ? " " : "", l->mark);
}

static void print_lines(struct line *lines, size_t count, size_t equal, const char *title, bool share)
{
    if (!count)
        return;
    qsort(lines, count, sizeof(*lines), by_change);
    printf("\n%-*s %10s %12s %11s\n", NAMES + 2, title, "A", "B", share ? "B - A" : "change");
    for (size_t i = 0; i < count && i < top; i++)
        print_line(&lines[i], share);
    if (count > top)
        printf("  and %zu more (--top N)\n", count - (size_t)top);
    if (equal)
        printf("  and %zu that %s equal in both\n", equal, cairn_plural(equal, "is", "are"));
}

/* Rows that differ. */
static void print_tally(struct diff *d, const struct cairn_tally *tally, const char *title,
                        const struct cairn_series *const wholes[SIDES], bool share)
{
    const size_t count = tally->rows.count;
    struct line *lines = cairn_alloc((count + 1) * sizeof(*lines));
    size_t differ = 0;
    for (size_t i = 0; i < count; i++) {
        lines[differ] = line_of(tally->rows.items[i]->name, tally->rows.items[i]->side, wholes, share);
        differ += lines[differ].value[A] != lines[differ].value[B];
    }
    print_lines(lines, differ, count - differ, title, share);
    d->rows += count;
    d->equal += count - differ;
    free(lines);
}

/* ---- what is told ------------------------------------------------------------------------------------------------ */

static void print_side(const struct side *s, char letter)
{
    const double all = cairn_series_sum(&s->cpu_time), unknown = all - cairn_series_sum(&s->known);
    const char *path = s->log->input.name, *name = strrchr(path, '/');
    char span[CAIRN_SHOWN];
    name = name && name[1] ? name + 1 : path;
    printf("%c: %.50s%s%s\n", letter, name,
           cairn_slice_is(cairn_key(&s->log->text, "ds.emulated"), "1") ? " (emulated)" : "",
           cairn_log_damaged(s->log) ? ", damaged" : "");
    printf("   %" PRIu32 " %s, %s, %" PRIu64 " %s, %" PRIu64 " PEBS %s", s->cpus, cairn_plural(s->cpus, "CPU", "CPUs"),
           cairn_show_span(span, s->log, (uint64_t)s->stop - (uint64_t)s->start), s->switches.count,
           cairn_plural(s->switches.count, "switch", "switches"), s->records.count,
           cairn_plural(s->records.count, "record", "records"));
    if (unknown > 0.0005 * all)
        printf("; %.1f %% of time unknown", 100.0 * unknown / all);
    putchar('\n');
}

/* What of the machine, the options and the Debug Store is another. */
static bool told_key(struct cairn_slice name)
{
    static const char *const begins[] = {"option.",    "machine.",  "kernel.version", "kernel.build_id",
                                         "ds.backend", "ds.preset", "ds.event.",      "ds.format"};
    for (unsigned i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (name.size >= strlen(begins[i]) && memcmp(name.at, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static void print_key(struct diff *d, struct cairn_slice name, struct cairn_slice a, struct cairn_slice b)
{
    const struct cairn_slice none = {"-", 1};
    a = a.size ? a : none;
    b = b.size ? b : none;
    if (!d->other_keys)
        printf("\n%-32s %-22s %s\n", "what differs", "A", "B");
    d->other_keys = true;
    printf("  %-30s %-22s %s\n", CAIRN_CUT(name, 30), CAIRN_CUT(a, 22), CAIRN_CUT(b, 22));
}

static bool is_last(const struct cairn_text *t, const struct cairn_key *key)
{
    return cairn_key(t, "%.*s", CAIRN_SLICE(key->name)).at == key->value.at;
}

/* The keys of one side that are another in the other, or not there. An ETL file has no place for most of them: what it
 * does not tell is no difference. How many of these there are. */
static size_t print_keys_of(struct diff *d, unsigned side)
{
    const struct cairn_text *mine = &d->side[side].log->text, *other = &d->side[!side].log->text;
    size_t untold = 0;
    for (size_t i = 0; i < mine->keys.count; i++) {
        const struct cairn_key *key = &mine->keys.items[i];
        const struct cairn_slice there = cairn_key(other, "%.*s", CAIRN_SLICE(key->name));
        const bool has = cairn_has_key(other, "%.*s", CAIRN_SLICE(key->name));
        if (!told_key(key->name) || !is_last(mine, key) || (has && side == B) || cairn_slice_same(key->value, there))
            continue;
        if (!has && !d->side[!side].log->own)
            untold++;
        else
            print_key(d, key->name, side == A ? key->value : there, side == A ? there : key->value);
    }
    return untold;
}

static void print_keys(struct diff *d)
{
    size_t untold[SIDES];
    for (unsigned s = A; s < SIDES; s++)
        untold[s] = print_keys_of(d, s);
    for (unsigned s = A; s < SIDES; s++)
        if (untold[s])
            printf("\n%zu %s of machine and run are only in %c: an ETL file cannot store them\n", untold[s],
                   cairn_plural(untold[s], "key", "keys"), "AB"[s]);
}

static void print_whole(const struct diff *d)
{
    const struct side *a = &d->side[A], *b = &d->side[B];
    const struct cairn_series *const times[] = {&a->time, &b->time}, *const known[] = {&a->known, &b->known};
    const struct line switches =
        line_of("switches a second", (const struct cairn_series[]){a->switches, b->switches}, times, false);
    const struct line busy = line_of("CPUs busy, %", (const struct cairn_series[]){a->busy, b->busy}, known, true);
    printf("\n%-*s %10s %12s %11s\n", NAMES + 2, "whole run, known time only", "A", "B", "change");
    print_line(&switches, false);
    print_line(&busy, true);
}

static void print_loss(const struct diff *d)
{
    char text[SIDES][CAIRN_SHOWN];
    bool any = false;
    for (unsigned s = A; s < SIDES; s++)
        any |= !d->side[s].loss_known || d->side[s].events_lost || d->side[s].dropped.counted ||
               d->side[s].dropped.unknown || cairn_log_damaged(d->side[s].log);
    if (!any) {
        puts("\nnothing was lost in either");
        return;
    }
    printf("\n%-*s %10s %12s\n", NAMES + 2, cairn_filter_narrow() ? "loss, of the whole session" : "loss", "A", "B");
    for (unsigned s = A; s < SIDES; s++)
        if (d->side[s].loss_known)
            snprintf(text[s], CAIRN_SHOWN, "%" PRIu64, d->side[s].events_lost);
        else
            snprintf(text[s], CAIRN_SHOWN, "unknown");
    printf("  %-*s %10s %12s\n", NAMES, "events lost", text[A], text[B]);
    for (unsigned s = A; s < SIDES; s++)
        if (d->side[s].dropped.unknown || !d->side[s].log->own)
            snprintf(text[s], CAIRN_SHOWN, "unknown");
        else
            snprintf(text[s], CAIRN_SHOWN, "%" PRIu64, d->side[s].dropped.counted);
    printf("  %-*s %10s %12s\n", NAMES, "PEBS records lost by the processor", text[A], text[B]);
    printf("  %-*s %10s %12s\n", NAMES, "the log is damaged", cairn_log_damaged(d->side[A].log) ? "yes" : "no",
           cairn_log_damaged(d->side[B].log) ? "yes" : "no");
}

static void print_all(struct diff *d)
{
    const struct side *a = &d->side[A], *b = &d->side[B];
    const struct cairn_series *const times[] = {&a->time, &b->time}, *const busy[] = {&a->busy, &b->busy};
    const struct cairn_series *const records[] = {&a->records, &b->records};
    print_side(a, 'A');
    print_side(b, 'B');
    cairn_filter_print("");
    print_keys(d);
    print_whole(d);
    print_tally(d, &d->threads, "threads, % of busy time", busy, true);
    print_tally(d, &d->waits, "states and wait reasons, a second", times, false);
    if (a->records.count && b->records.count)
        print_tally(d, &d->functions, "functions, % of PEBS records", records, true);
    else if (a->records.count || b->records.count)
        printf("\nfunctions: only %c has PEBS records\n", a->records.count ? 'A' : 'B');
    print_tally(d, &d->locks, "spin lock events, a second", times, false);
    print_loss(d);
    if (d->rows == d->equal && a->switches.count == b->switches.count)
        printf("\nno difference: %zu threads, wait reasons, functions and locks are equal%s\n", d->rows,
               d->other_keys ? " in them" : "");
    else
        puts("\n~ chance alone can explain the difference  ? too few events to tell");
}

static int compare(const struct cairn_log *before, const struct cairn_log *after)
{
    struct diff *d = cairn_alloc(sizeof(*d));
    const struct cairn_log *logs[SIDES] = {before, after};
    int status = CAIRN_GOOD;
    for (unsigned s = A; s < SIDES && !status; s++) {
        struct cairn_elf *elf = NULL;
        char why[2 * CAIRN_SHOWN], clock[CAIRN_CLOCK_WHY];
        if (!cairn_clock_told(logs[s], clock)) {
            cairn_error("%s: %s", logs[s]->input.name, clock);
            status = CAIRN_BAD;
            break;
        }
        if (cairn_filter_use(logs[s], why)) {
            status = cairn_usage(&cairn_diff_command, "%s: %s", logs[s]->input.name, why);
            break;
        }
        status = elf_path ? cairn_elf_open(&elf, elf_path, logs[s]) : CAIRN_GOOD;
        if (!status)
            add_up(d, s, logs[s], elf);
        cairn_elf_close(elf);
        if (!status && cairn_filter_on() && !d->side[s].switches.count && !d->side[s].records.count) {
            cairn_error("%s: nothing in it matches %s", logs[s]->input.name, cairn_filter_text());
            status = CAIRN_BAD;
        }
    }
    if (!status)
        print_all(d);
    cairn_tally_free(&d->threads);
    cairn_tally_free(&d->waits);
    cairn_tally_free(&d->functions);
    cairn_tally_free(&d->locks);
    free(d);
    return status;
}

const struct cairn_command cairn_diff_command = {
    .name = "diff",
    .arguments = "[options] A B",
    .summary = "show what changed from one log to another",
    .options = options,
    .notes = "Threads are compared by name, because thread IDs differ from run to run. The\n"
             "largest changes come first. '~' marks a change of less than 3 standard\n"
             "deviations, estimated from 20 slices of each run; the estimate does not show\n"
             "what lasts longer than a slice. '?' marks a row with fewer than 10 in both runs.\n"
             "A change without a mark is more than chance; options that differ may explain it.\n"
             "Rates and shares refer to the known time, which leaves out time with missing\n"
             "switches.\n",
    .examples = {"cairn diff before.log after.log", "cairn diff --thread 'hog*' before.log after.log"},
    .compare = compare,
};
