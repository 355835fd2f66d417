/* SPDX-License-Identifier: MIT */
/*
 * Checks whether a session's events name all processes, threads and images. Within a stretch (tools/cairn/log/told.h)
 * each of them begins once, by its start or by DCStart, and ends at most once before the stretch is over; DCEnd names
 * those that exist then. So every thread in a switch has begun before, and so has every thread in the truth.
 *
 * Where events are missing, nothing of this can be checked.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/told.h"
#include "trace/rundown/rundown.h"

#define FAIL(check, cpu, time, ...) cairn_fail(check, CAIRN_RULE_RUNDOWN, (int)(cpu), time, __VA_ARGS__)

static const char *const class_text[] = {"process", "thread", "image of process"};

struct told { /* one event about somebody */
    const struct cairn_told *event;
    uint32_t class, stretch, id, cpu;
};

struct tale { /* all of them */
    struct {
        struct told *items;
        size_t count, room;
    } told; /* by class, stretch, who, time */
    struct {
        struct mark {
            uint32_t class, stretch;
            int64_t begun; /* when the session began to tell what was there at its end */
            bool ended;    /* and it did */
        } * items;
        size_t count, room;
    } marks; /* by class and stretch */
};

static int compare(const struct told *x, const struct told *y)
{
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->stretch != y->stretch)
        return x->stretch < y->stretch ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_who(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    int c = compare(x, y);
    if (c)
        return c;
    if (x->event->time != y->event->time)
        return x->event->time < y->event->time ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* The first event about somebody, NULL: there is none. */
static const struct told *find(const struct tale *t, uint32_t class, uint32_t stretch, uint32_t id)
{
    const struct told wanted = {.class = class, .stretch = stretch, .id = id};
    size_t low = 0, high = t->told.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&t->told.items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->told.count && compare(&t->told.items[low], &wanted) == 0 ? &t->told.items[low] : NULL;
}

static int by_stretch(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return (x->stretch > y->stretch) - (x->stretch < y->stretch);
}

static void add_mark(struct tale *t, uint32_t class, uint32_t stretch, int64_t begun, bool ended)
{
    struct mark *m = CAIRN_ADD(t->marks);
    *m = (struct mark){.class = class, .stretch = stretch, .begun = begun, .ended = ended};
}

/* One of each stretch: the last beginning, and whether there was an end. */
static void join_marks(struct tale *t)
{
    size_t kept = 0;
    if (t->marks.count)
        qsort(t->marks.items, t->marks.count, sizeof(*t->marks.items), by_stretch);
    for (size_t i = 0; i < t->marks.count; i++) {
        const struct mark *m = &t->marks.items[i];
        struct mark *last = kept ? &t->marks.items[kept - 1] : NULL;
        if (!last || by_stretch(last, m) != 0) {
            t->marks.items[kept++] = *m;
            continue;
        }
        last->begun = m->begun > last->begun ? m->begun : last->begun;
        last->ended |= m->ended;
    }
    t->marks.count = kept;
}

static struct mark mark_of(const struct tale *t, uint32_t class, uint32_t stretch)
{
    const struct mark none = {.class = class, .stretch = stretch};
    const struct mark *m =
        t->marks.count ? bsearch(&none, t->marks.items, t->marks.count, sizeof(none), by_stretch) : NULL;
    return m ? *m : none;
}

static void read_tale(struct tale *t, const struct cairn_log *log)
{
    for (uint32_t n = 0; n < log->cpus; n++)
        for (size_t i = 0; i < log->cpu[n].told.count; i++) {
            const struct cairn_told *e = &log->cpu[n].told.items[i];
            struct cairn_rundown r;
            for (uint32_t class = 0; e->hook == HOOK_GROUP_MASKS_END && class < CAIRN_STRETCHES; class ++)
                add_mark(t, class, e->stretch[class], e->time, false);
            if (e->class >= CAIRN_STRETCHES)
                continue;
            cairn_told_read(&r, e);
            *CAIRN_ADD(t->told) = (struct told){
                .event = e,
                .class = e->class,
                .stretch = e->stretch[e->class],
                .id = e->class == CAIRN_CLASS_THREAD ? r.tid : r.pid,
                .cpu = n,
            };
            if (e->what == CAIRN_TOLD_DC_END)
                add_mark(t, e->class, e->stretch[e->class], INT64_MIN, true);
        }
    join_marks(t);
    if (t->told.count)
        qsort(t->told.items, t->told.count, sizeof(*t->told.items), by_who);
}

/* Somebody's events, `count` from `first` on. Idle threads share one number. */
static void check_somebody(struct cairn_check *check, const struct tale *t, const struct told *first, size_t count)
{
    unsigned times[CAIRN_TOLD_OTHER] = {0};
    int64_t start = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        times[first[i].event->what]++;
        if (first[i].event->what == CAIRN_TOLD_START)
            start = first[i].event->time;
    }
    const char *class = class_text[first->class];
    const int64_t *time = &first->event->time;
    unsigned begins = times[CAIRN_TOLD_START] + times[CAIRN_TOLD_DC_START];
    check->compared[CAIRN_RULE_RUNDOWN]++;
    if (!first->stretch) {
        FAIL(check, first->cpu, time, "%s %" PRIu32 " is listed, although no session asked for it", class, first->id);
        return;
    }
    if (first->class == CAIRN_CLASS_THREAD && !first->id)
        return;
    if (begins != 1)
        FAIL(check, first->cpu, time, "%s %" PRIu32 " has %u start events", class, first->id, begins);
    if (times[CAIRN_TOLD_END] > 1 || times[CAIRN_TOLD_DC_END] > 1)
        FAIL(check, first->cpu, time, "%s %" PRIu32 " ends more than once", class, first->id);
    const struct mark m = mark_of(t, first->class, first->stretch);
    if (m.ended && start < m.begun && !times[CAIRN_TOLD_END] && !times[CAIRN_TOLD_DC_END])
        FAIL(check, first->cpu, time, "%s %" PRIu32 " neither ends nor is in the end rundown", class, first->id);
}

/* Names and base priorities of threads, as the names stream has them; and whether their processes are told of. */
static void check_thread(struct cairn_check *check, const struct tale *t, const struct told *told)
{
    const struct cairn_name *name = cairn_find_name(&check->log->text, told->id);
    struct cairn_rundown r;
    cairn_told_read(&r, told->event);
    uint32_t processes = told->event->stretch[CAIRN_CLASS_PROCESS];
    if (processes && !find(t, CAIRN_CLASS_PROCESS, processes, r.pid))
        FAIL(check, told->cpu, &told->event->time,
             "thread %" PRIu32 " of process %" PRIu32 ", which has no start event", told->id, r.pid);
    if (!told->id || !name)
        return;
    if (r.name[0] && !cairn_slice_is(name->name, r.name))
        FAIL(check, told->cpu, &told->event->time, "thread %" PRIu32 " is called %s, but its name is %.*s", told->id,
             r.name, CAIRN_SLICE(name->name));
    if (told->event->what == CAIRN_TOLD_START && r.base_priority != name->base)
        FAIL(check, told->cpu, &told->event->time,
             "thread %" PRIu32 " starts with base priority %" PRId32 ", but the names stream has %" PRId32, told->id,
             r.base_priority, name->base);
}

/* ---- who runs ---------------------------------------------------------------------------------------------------- */

struct place { /* on a CPU, going on in time */
    const struct cairn_cpu *cpu;
    size_t next;      /* acknowledgement */
    uint32_t stretch; /* of threads */
};

static void go_on(struct place *p, int64_t time)
{
    for (; p->next < p->cpu->acks.count && p->cpu->acks.items[p->next].time <= time; p->next++)
        if (p->cpu->acks.items[p->next].own)
            p->stretch = p->cpu->acks.items[p->next].stretch[CAIRN_CLASS_THREAD];
}

/* A thread that runs on CPU `n` at that time. */
static void check_runs(struct cairn_check *check, const struct tale *t, enum cairn_rule rule, uint32_t n,
                       uint32_t stretch, uint32_t tid, int64_t time)
{
    const struct told *first = find(t, CAIRN_CLASS_THREAD, stretch, tid);
    check->compared[rule]++;
    if (!first || (first->event->what != CAIRN_TOLD_START && first->event->what != CAIRN_TOLD_DC_START))
        cairn_fail(check, rule, (int)n, &time, "thread %" PRIu32 " runs, but has no start event", tid);
}

static void check_switches(struct cairn_check *check, const struct tale *t, uint32_t n, bool compact)
{
    struct place place = {.cpu = &check->log->cpu[n]};
    struct cairn_cursor cursor;
    struct cairn_switch sw;
    cairn_cursor_init(&cursor, check->log, n, compact);
    while (cairn_cursor_next(&cursor, &sw)) {
        go_on(&place, sw.time);
        if (!place.stretch)
            continue;
        check_runs(check, t, CAIRN_RULE_RUNDOWN, n, place.stretch, sw.old_tid, sw.time);
        if (sw.new_known)
            check_runs(check, t, CAIRN_RULE_RUNDOWN, n, place.stretch, sw.new_tid, sw.time);
    }
}

static void check_truth(struct cairn_check *check, const struct tale *t, uint32_t n)
{
    struct place place = {.cpu = &check->log->cpu[n]};
    struct cairn_truth truth;
    const uint8_t *record;
    cairn_truth_init(&truth, check->log, n);
    while ((record = cairn_truth_next(&truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_SWITCH)))) {
        struct cairn_truth_switch sw;
        memcpy(&sw, record, sizeof(sw));
        int64_t time = trace_clock_units(&check->log->session.clock, sw.tsc);
        go_on(&place, time);
        if (!place.stretch)
            continue;
        check_runs(check, t, CAIRN_RULE_TRUTH_RUNDOWN, n, place.stretch, sw.old_tid, time);
        check_runs(check, t, CAIRN_RULE_TRUTH_RUNDOWN, n, place.stretch, sw.new_tid, time);
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Whether every event of every CPU is there. */
static bool complete(const struct cairn_check *check)
{
    bool all = check->whole && check->log->session.lives && !check->log->panic;
    for (uint32_t n = 0; n < check->log->cpus; n++) {
        const struct cairn_cpu *cpu = &check->log->cpu[n];
        all &= cpu->end.events_known && !cpu->end.events[CAIRN_LOST];
        for (size_t i = 0; i < cpu->holes.count; i++)
            all &= cpu->holes.items[i].kind == CAIRN_HOLE_STOPPED;
    }
    return all;
}

void cairn_check_rundown(struct cairn_check *check)
{
    const struct cairn_log *log = check->log;
    struct tale t = {0};
    bool asked = false;
    for (uint32_t n = 0; n < log->cpus; n++)
        asked |= log->cpu[n].told.count || log->cpu[n].told.stretches[CAIRN_CLASS_THREAD];
    if (!log->own)
        cairn_check_etl_rundown(check);
    if (!log->own || !asked || !complete(check))
        return;
    read_tale(&t, log);
    for (size_t i = 0, count; i < t.told.count; i += count) {
        for (count = 1; i + count < t.told.count && !compare(&t.told.items[i], &t.told.items[i + count]); count++)
            ;
        check_somebody(check, &t, &t.told.items[i], count);
    }
    for (size_t i = 0; i < t.told.count; i++)
        if (t.told.items[i].class == CAIRN_CLASS_THREAD)
            check_thread(check, &t, &t.told.items[i]);
    for (uint32_t n = 0; n < log->cpus; n++) {
        check_switches(check, &t, n, true);
        check_switches(check, &t, n, false);
        if (log->has_truth && log->session.known)
            check_truth(check, &t, n);
    }
    free(t.told.items);
    free(t.marks.items);
}
