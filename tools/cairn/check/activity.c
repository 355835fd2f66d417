/* SPDX-License-Identifier: MIT */
/* Compares the events between the switches with the truth, one by one and in order: the kernel writes both where the
 * thing happens. The truth has what any session wanted. Its acknowledgements say which of that was for this session. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/sched/priority.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/activity.h"
#include "trace/groups.h"
#include "trace/wire/activity.h"

struct walk { /* the truth and the events of one CPU, together */
    struct cairn_check *check;
    const struct cairn_cpu *cpu;
    int n;
    bool runs; /* the session, on this CPU, as far as the truth has come */
    struct perfinfo_groupmask masks;
    struct cairn_truth truth;
    const uint8_t *record; /* of the truth, of kind THREAD or INTERRUPT; NULL: no more */
    unsigned part;         /* events it has had: a new base priority has two */
    struct cairn_walk walk;
    struct cairn_event event; /* of the trace: the next one of these, */
    struct cairn_live live;   /* as what it is */
    bool has_live;
    uint64_t passed, all; /* how many came before it; how many there are */
    uint32_t from;        /* the piece behind that of the one before it */
    uint32_t *lost;       /* [i]: so many of the first i pieces have something missing before them */
};

/* ---- what the truth says there should be ------------------------------------------------------------------------- */

struct expected {
    uint8_t kind; /* enum cairn_live_kind; CAIRN_LIVE_KINDS: nothing */
    uint32_t group;
    uint64_t tsc;
    uint16_t size;
    uint8_t payload[32];
};

static void fill(struct expected *e, enum cairn_live_kind kind, uint32_t group, const void *payload, size_t size)
{
    e->kind = (uint8_t)kind;
    e->group = group;
    e->size = (uint16_t)size;
    memcpy(e->payload, payload, size);
}

/* The increment is not in the truth: what it did to the priority is. `told`: what the event says. */
static void expect_ready(struct expected *e, const struct cairn_truth_thread *t, int8_t told)
{
    struct etw_ready_thread r = {
        .thread_id = t->tid,
        .adjust_reason = t->waited ? ETW_ADJUST_UNWAIT : ETW_ADJUST_NONE,
        .flags = t->level == CAIRN_LEVEL_DPC ? ETW_READY_EXECUTING_DPC : 0,
    };
    bool fits = kpriority_boosted(t->old_priority, t->old_base, told) == t->new_priority;
    r.adjust_increment = fits ? told : (int8_t)(t->new_priority - t->old_base);
    fill(e, CAIRN_LIVE_READY, PERF_DISPATCHER, &r, sizeof(r));
}

static void expect_priority(struct expected *e, const struct cairn_truth_thread *t, unsigned part)
{
    bool base = t->new_base != t->old_base && part == 0;
    bool dynamic = t->new_priority != t->old_priority && part == (t->new_base != t->old_base);
    struct etw_priority p = {.thread_id = t->tid, .dynamic_priority = t->new_priority};
    p.old_priority = base ? t->old_base : t->old_priority;
    p.new_priority = base ? t->new_base : t->new_priority;
    if (base || dynamic)
        fill(e, base ? CAIRN_LIVE_BASE_PRIORITY : CAIRN_LIVE_PRIORITY, PERF_PRIORITY, &p, sizeof(p));
}

static void expect_interrupt(struct expected *e, const struct cairn_truth_interrupt *t, const struct trace_clock *clock)
{
    const struct perfinfo_interrupt handled = {
        .initial_time = (uint64_t)trace_clock_units(clock, t->begin),
        .service_routine = t->address,
        .return_value = 1,
        .vector = t->vector,
    };
    const struct perfinfo_dpc dpc = {handled.initial_time, t->address};
    const struct perfinfo_sampled_profile sample = {
        .instruction_pointer = t->address,
        .thread_id = t->tid,
        .count = 1,
        .flags = (uint8_t)((t->level == CAIRN_LEVEL_DPC ? PERFINFO_PROFILE_EXECUTING_DPC : 0) |
                           (unsigned)t->priority << PERFINFO_PROFILE_PRIORITY_SHIFT),
    };
    const struct perfinfo_pmc_sample pmc = {
        .instruction_pointer = t->address, .thread_id = t->tid, .profile_source = t->vector};
    switch (t->what) {
    case CAIRN_INTERRUPT_HANDLED:
        fill(e, CAIRN_LIVE_INTERRUPT, PERF_INTERRUPT, &handled, sizeof(handled));
        break;
    case CAIRN_INTERRUPT_DPC:
        fill(e, CAIRN_LIVE_DPC, PERF_DPC, &dpc, sizeof(dpc));
        break;
    case CAIRN_INTERRUPT_TIMER_DPC:
        fill(e, CAIRN_LIVE_TIMER_DPC, PERF_DPC, &dpc, sizeof(dpc));
        break;
    case CAIRN_INTERRUPT_PROFILE:
        fill(e, CAIRN_LIVE_PROFILE, PERF_PROFILE, &sample, sizeof(sample));
        break;
    case CAIRN_INTERRUPT_PMC:
        fill(e, CAIRN_LIVE_PMC, PERF_PMC_PROFILE, &pmc, sizeof(pmc));
        break;
    }
}

static const struct cairn_live *event_at(const struct walk *w)
{
    return w->has_live ? &w->live : NULL;
}

/* The next event the truth asks for of the record at hand. */
static struct expected expect(const struct walk *w)
{
    struct expected e = {.kind = CAIRN_LIVE_KINDS};
    struct cairn_truth_thread t;
    struct cairn_truth_interrupt i;
    const struct cairn_live *l = event_at(w);
    memcpy(&t, w->record, sizeof(t));
    memcpy(&i, w->record, sizeof(i));
    if (t.kind == CAIRN_TRUTH_INTERRUPT) {
        if (w->part == 0)
            expect_interrupt(&e, &i, &w->check->log->session.clock);
        e.tsc = i.tsc;
    } else {
        if (t.what != CAIRN_THREAD_READY)
            expect_priority(&e, &t, w->part);
        else if (w->part == 0)
            expect_ready(&e, &t,
                         l && l->kind == CAIRN_LIVE_READY
                             ? (int8_t)l->payload[offsetof(struct etw_ready_thread, adjust_increment)]
                             : 0);
        e.tsc = t.tsc;
    }
    return e;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

/* To the next record that tells of an event of this session. */
static void step_truth(struct walk *w)
{
    struct cairn_truth_session ack;
    const uint32_t kinds = CAIRN_TRUTH_OF(CAIRN_TRUTH_SESSION) | CAIRN_TRUTH_OF(CAIRN_TRUTH_THREAD) |
                           CAIRN_TRUTH_OF(CAIRN_TRUTH_INTERRUPT);
    while ((w->record = cairn_truth_next(&w->truth, kinds))) {
        uint8_t kind = w->record[0];
        if (kind == CAIRN_TRUTH_SESSION) {
            memcpy(&ack, w->record, sizeof(ack));
            if (ack.session != w->check->log->number)
                continue;
            w->runs = ack.what != CAIRN_SESSION_STOP;
            memcpy(&w->masks, ack.masks, sizeof(w->masks));
        }
        w->part = 0;
        if (w->runs && (kind == CAIRN_TRUTH_THREAD || kind == CAIRN_TRUTH_INTERRUPT)) {
            struct expected e = expect(w);
            if (e.kind != CAIRN_LIVE_KINDS && trace_group_on(&w->masks, e.group))
                return;
        }
    }
}

/* Past the event at hand of the record at hand. */
static void next_expected(struct walk *w)
{
    w->part++;
    if (expect(w).kind == CAIRN_LIVE_KINDS)
        step_truth(w);
}

/* To the first event. */
static void find_event(struct walk *w)
{
    w->has_live = false;
    while (w->passed < w->all && !w->has_live && cairn_walk_next(&w->walk, &w->event))
        w->has_live = !cairn_event_decoded(&w->event) && cairn_live_of(&w->event, &w->live);
    w->live.piece = w->event.piece;
}

/* To the next event the truth tells of, if it is not at one: it has none of configurations and marks. */
static void skip_events(struct walk *w, bool next)
{
    while (w->has_live && (next || w->live.kind >= CAIRN_LIVE_PMC_CONFIG)) {
        w->from = w->live.piece + 1;
        w->passed++;
        next = false;
        find_event(w);
    }
}

static bool lost_at(const struct walk *w, uint32_t hole)
{
    return hole != CAIRN_NO_HOLE && w->cpu->holes.items[hole].kind != CAIRN_HOLE_STOPPED;
}

static void count_lost(struct walk *w)
{
    w->lost = cairn_alloc((w->cpu->piece_count + 1) * sizeof(*w->lost));
    for (size_t i = 0; i < w->cpu->piece_count; i++)
        w->lost[i + 1] = w->lost[i] + lost_at(w, w->cpu->pieces[i].hole);
}

/* Whether something is missing before the event at hand, or behind the last one. */
static bool hole_before(const struct walk *w)
{
    const struct cairn_live *l = event_at(w);
    size_t from = w->from, to = l ? l->piece + 1 : w->cpu->piece_count;
    return (!l && lost_at(w, w->cpu->tail)) || (to > from && w->lost[to] > w->lost[from]);
}

static bool same(const struct walk *w, const struct expected *e, const struct cairn_live *l, char *why, size_t size)
{
    char is[CAIRN_LIVE_TEXT], should[CAIRN_LIVE_TEXT];
    const struct cairn_log *log = w->check->log;
    const struct cairn_live truth = {.payload = e->payload,
                                     .time = trace_clock_units(&log->session.clock, e->tsc),
                                     .size = e->size,
                                     .kind = e->kind,
                                     .pointer = 8};
    if (l->kind == e->kind && l->time == truth.time && l->size == e->size && !memcmp(l->payload, e->payload, e->size))
        return true;
    snprintf(why, size, "%s%s; in truth: %s", cairn_live_show(is, log, l),
             l->time == truth.time ? "" : " (at another time)", cairn_live_show(should, log, &truth));
    return false;
}

static void compare_one(struct walk *w)
{
    struct cairn_check *check = w->check;
    char why[2 * CAIRN_LIVE_TEXT + 64];
    const struct cairn_live *l = event_at(w);
    const struct expected e = expect(w);
    int64_t time = trace_clock_units(&check->log->session.clock, e.tsc);
    bool equal = same(w, &e, l, why, sizeof(why));
    if (!equal && hole_before(w) && time <= l->time) { /* lost there */
        next_expected(w);
        return;
    }
    if (!equal && w->truth.gap && l->time <= time) {
        check->uncompared_live++;
        skip_events(w, true);
        return;
    }
    check->compared[CAIRN_RULE_TRUTH_LIVE]++;
    if (equal)
        w->truth.gap = false;
    else
        cairn_fail(check, CAIRN_RULE_TRUTH_LIVE, w->n, &l->time, "%s", why);
    bool event_first = l->time <= time, truth_first = time <= l->time;
    if (event_first)
        skip_events(w, true);
    if (truth_first)
        next_expected(w);
}

/* What is left of the truth, or of the trace, once the other has ended. */
static void compare_rest(struct walk *w)
{
    struct cairn_check *check = w->check;
    for (; w->record; next_expected(w)) {
        const struct expected e = expect(w);
        int64_t time = trace_clock_units(&check->log->session.clock, e.tsc);
        if (!hole_before(w))
            cairn_fail(check, CAIRN_RULE_TRUTH_LIVE, w->n, &time,
                       "an event of the truth (%s) is missing from the trace, although nothing was lost there",
                       cairn_live_name(e.kind));
    }
    for (bool first = true; event_at(w); skip_events(w, true), first = false) {
        const bool last = w->passed + 1 == w->all;
        check->uncompared_live++;
        /* A panic may have stopped the CPU between the two. */
        if (!w->truth.gap && !(first && last && check->log->panic))
            cairn_fail(check, CAIRN_RULE_TRUTH_LIVE, w->n, &w->live.time, "the truth does not have this event (%s)",
                       cairn_live_name(w->live.kind));
    }
}

void cairn_check_live(struct cairn_check *check, uint32_t n)
{
    struct walk *w = cairn_alloc(sizeof(*w));
    *w = (struct walk){.check = check, .cpu = &check->log->cpu[n], .n = (int)n};
    for (unsigned kind = 0; kind < CAIRN_LIVE_KINDS; kind++)
        w->all += w->cpu->activity.events[kind];
    cairn_truth_init(&w->truth, check->log, n);
    cairn_walk_init(&w->walk, check->log, n);
    count_lost(w);
    find_event(w);
    step_truth(w);
    skip_events(w, false);
    while (w->record && event_at(w))
        compare_one(w);
    compare_rest(w);
    free(w->lost);
    free(w);
}
