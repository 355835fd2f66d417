/* SPDX-License-Identifier: MIT */
/*
 * What must hold for spin lock events, in the trace itself and compared with the truth, which has each acquisition and
 * each release separately. The two give the contents of an event; the sampling over all of them says which releases are
 * events.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/locks.h"
#include "trace/groups.h"
#include "trace/hub.h"
#include "trace/wire/spinlock.h"

/* ---- in the trace ----------------------------------------------------------------------------------------------- */

static void check_event(struct cairn_check *check, uint32_t n, const struct cairn_lock_event *event, uint64_t *last)
{
    const struct cairn_log *log = check->log;
    static const uint8_t zero[sizeof(((struct wmi_spinlock *)NULL)->reserved)];
    struct wmi_spinlock e = cairn_lock_read(event);
    struct trace_spinlock_sampling s;
    bool own = log->own; /* Windows' modes, depths, reserved bytes and order of events are its own */
#define FAIL(...) cairn_fail(check, CAIRN_RULE_LOCKS, (int)n, &event->time, __VA_ARGS__)
    check->compared[CAIRN_RULE_LOCKS]++;
    if (own && (e.flags & WMI_SPINLOCK_MODE_MASK) >= SPINLOCK_MODES)
        FAIL("AcquireMode %u does not exist", e.flags & WMI_SPINLOCK_MODE_MASK);
    if (own && (e.acquire_depth < 1 || e.acquire_depth > TRACE_SPINLOCK_DEPTH))
        FAIL("AcquireDepth is %u, not 1 to %u", e.acquire_depth, TRACE_SPINLOCK_DEPTH);
    if (own && memcmp(e.reserved, zero, sizeof(zero)) != 0)
        FAIL("Reserved is not 0");
    if (e.release_time < e.acquire_time || (own && e.release_time < *last))
        FAIL("released before it was acquired, or earlier than the previous event");
    if (log->session.known && event->time < trace_clock_units(&log->session.clock, e.release_time))
        FAIL("the event's time is before its ReleaseTime");
    if (own && cairn_lock_sampling(log, n, event, &s) && !cairn_lock_rules(&s, &e))
        FAIL("no sampling rule selects it");
    *last = e.release_time;
#undef FAIL
}

/* The configuration comes first, and nothing between its end and the next beginning. */
static void check_configs(struct cairn_check *check, uint32_t n)
{
    const struct cairn_cpu *cpu = &check->log->cpu[n];
    for (size_t i = 0; i < cpu->locks.configs.count; i++) {
        const struct cairn_lock_config *c = &cpu->locks.configs.items[i];
        check->compared[CAIRN_RULE_LOCKS]++;
        if (!c->is.contention_sample_rate || !c->is.acquire_sample_rate || !c->is.spin_threshold)
            cairn_fail(check, CAIRN_RULE_LOCKS, (int)n, &c->time, "a rate or threshold is 0");
    }
}

/* Whether the event must have a configuration before it, and has none that is in force. */
static bool unannounced(const struct cairn_check *check, uint32_t n, const struct cairn_lock_event *e)
{
    const struct cairn_cpu *cpu = &check->log->cpu[n];
    const struct cairn_session *s = &check->log->session;
    const bool may_be_lost = s->circular || (s->live && cpu->end.events[CAIRN_LOST]); /* and others come behind it */
    return check->log->own && check->whole && !may_be_lost &&
           (!e->configs || cpu->locks.configs.items[e->configs - 1].end);
}

void cairn_check_locks(struct cairn_check *check, uint32_t n)
{
    struct cairn_lock_walk *w = cairn_alloc(sizeof(*w));
    struct cairn_lock_event event;
    uint64_t last = 0;
    int64_t first;
    bool any = false;
    cairn_lock_walk_init(w, check->log, n);
    while (cairn_lock_walk_next(w, &event)) {
        check_event(check, n, &event, &last);
        if (!any && unannounced(check, n, &event)) {
            any = true;
            first = event.time;
        }
    }
    free(w);
    check_configs(check, n);
    if (any)
        cairn_fail(check, CAIRN_RULE_LOCKS, (int)n, &first, "no event 0F4BH says that spin locks are traced here");
}

#define HOLDS_MAX 256u /* far more than a CPU ever holds */

/* ---- the truth, replayed ---------------------------------------------------------------------------------------- */

struct hold { /* of a lock, by the CPU */
    uint64_t lock, query, tsc;
    uint32_t spins, interrupts;
    uint8_t mode;
    bool tracked;
};

struct replay { /* one CPU's */
    struct cairn_check *check;
    const struct cairn_log *log;
    const struct cairn_cpu *cpu;
    uint32_t n;
    struct cairn_truth truth;
    struct {
        struct hold *items;
        size_t count, room;
    } holds;
    uint32_t tracked; /* of them */
    struct trace_spinlock_counts counts;
    uint32_t wanted; /* bit i: session i + 1 runs here and wants spin locks */
    bool told;       /* some session's life is in the truth */
    uint32_t tid;    /* who runs, by the switches; CAIRN_NO_TID: not known */
    bool unsure;     /* truth was missing: what the CPU holds is not known, nor its counts */
    bool fixed;      /* the sampling was one and the same all the time: this */
    struct trace_spinlock_sampling sampling;
    struct cairn_lock_walk walk;
    struct cairn_lock_event event; /* of the trace, the next */
    bool has_event;
    uint64_t passed; /* how many came before it */
    uint32_t from;   /* the piece behind that of the one before it */
    uint64_t sum[5]; /* as in end.cpu.N.locks */
};

static void next_event(struct replay *r)
{
    if (r->has_event) {
        r->from = r->event.piece + 1;
        r->passed++;
    }
    r->has_event = cairn_lock_walk_next(&r->walk, &r->event);
}

#define FAIL(r, time, ...) cairn_fail((r)->check, CAIRN_RULE_TRUTH_LOCKS, (int)(r)->n, time, __VA_ARGS__)

static void forget(struct replay *r)
{
    r->holds.count = 0;
    r->tracked = 0;
    r->counts = (struct trace_spinlock_counts){0};
}

/* Sessions come and go: tracing begins anew with the first that wants spin locks. */
static void session(struct replay *r, const uint8_t *record)
{
    struct cairn_truth_session t;
    struct perfinfo_groupmask mask;
    memcpy(&t, record, sizeof(t));
    memcpy(mask.masks, t.masks, sizeof(mask.masks));
    if (t.session < 1 || t.session > TRACE_MAX_SESSIONS)
        return;
    uint32_t bit = UINT32_C(1) << (t.session - 1), before = r->told ? r->wanted : 0;
    bool on = t.what != CAIRN_SESSION_STOP && trace_group_on(&mask, PERF_SPINLOCK);
    r->wanted = on ? before | bit : before & ~bit;
    r->told = true;
    if (!before != !r->wanted)
        forget(r);
}

static void switched(struct replay *r, const uint8_t *record)
{
    struct cairn_truth_switch t;
    memcpy(&t, record, sizeof(t));
    r->tid = t.new_tid;
}

static struct hold *find(struct replay *r, uint64_t lock)
{
    for (size_t i = r->holds.count; i-- > 0;)
        if (r->holds.items[i].lock == lock)
            return &r->holds.items[i];
    return NULL;
}

static void acquired(struct replay *r, const uint8_t *record)
{
    struct cairn_truth_acquired t;
    memcpy(&t, record, sizeof(t));
    if (t.mode == SPINLOCK_CONVERTED) {
        struct hold *h = find(r, t.lock);
        if (h)
            h->mode = SPINLOCK_CONVERTED;
        return;
    }
    if (r->holds.count == HOLDS_MAX) { /* no kernel's truth */
        r->unsure = true;
        forget(r);
    }
    trace_spinlock_count(&r->counts, t.spins);
    r->sum[t.spins ? 0 : 1]++;
    *CAIRN_ADD(r->holds) = (struct hold){.lock = t.lock,
                                         .query = t.query_tsc,
                                         .tsc = t.tsc,
                                         .spins = t.spins,
                                         .interrupts = t.interrupts,
                                         .mode = t.mode,
                                         .tracked = r->tracked < TRACE_SPINLOCK_DEPTH};
    if (r->tracked < TRACE_SPINLOCK_DEPTH)
        r->tracked++;
    else
        r->sum[4]++;
}

/* What the event of this release must say. */
static struct wmi_spinlock expected(const struct replay *r, const struct hold *h, const struct cairn_truth_released *t)
{
    return (struct wmi_spinlock){.spin_lock_address = t->lock,
                                 .caller_address = t->caller,
                                 .acquire_time = h->tsc,
                                 .release_time = t->tsc,
                                 .wait_time_in_cycles = trace_spinlock_cycles(h->query, h->tsc),
                                 .spin_count = h->spins,
                                 .thread_id = t->tid,
                                 .interrupt_count = t->interrupts - h->interrupts,
                                 .irql = t->irql,
                                 .acquire_depth = (uint8_t)r->tracked,
                                 .flags = h->mode | t->flags};
}

static void drop(struct replay *r, struct hold *h)
{
    size_t i = (size_t)(h - r->holds.items);
    r->tracked -= h->tracked;
    memmove(h, h + 1, (r->holds.count - i - 1) * sizeof(*h));
    r->holds.count--;
}

static void compare(struct replay *r, const struct cairn_lock_event *event, const struct wmi_spinlock *e,
                    const struct wmi_spinlock *t)
{
#define SAME(field, name)                                                                                              \
    do {                                                                                                               \
        if (e->field != t->field)                                                                                      \
            FAIL(r, &event->time, "%s is %" PRIu64 ", in truth %" PRIu64, name, (uint64_t)e->field,                    \
                 (uint64_t)t->field);                                                                                  \
    } while (0)
    SAME(spin_lock_address, "SpinLockAddress");
    SAME(caller_address, "CallerAddress");
    SAME(acquire_time, "AcquireTime");
    SAME(wait_time_in_cycles, "WaitTimeInCycles");
    SAME(spin_count, "SpinCount");
    SAME(thread_id, "ThreadId");
    SAME(interrupt_count, "InterruptCount");
    SAME(irql, "Irql");
    SAME(acquire_depth, "AcquireDepth");
    SAME(flags, "Flags");
#undef SAME
}

/* ---- which are events ------------------------------------------------------------------------------------------- */

static unsigned rules_at(const struct replay *r, size_t configs, const struct hold *h, uint64_t held)
{
    struct trace_spinlock_sampling s = r->sampling;
    if (!r->fixed && configs)
        cairn_lock_use(&s, &r->cpu->locks.configs.items[configs - 1].is);
    return trace_spinlock_rules(&s, &r->counts, h->spins, held);
}

/* The rules that want a release at `tsc`. Where a configuration is of the very unit of time, those of both. */
static unsigned rules_by_time(const struct replay *r, const struct hold *h, uint64_t tsc)
{
    int64_t time = trace_clock_units(&r->log->session.clock, tsc);
    size_t before = 0, all;
    while (before < r->cpu->locks.configs.count && r->cpu->locks.configs.items[before].time < time)
        before++;
    for (all = before; all < r->cpu->locks.configs.count && r->cpu->locks.configs.items[all].time == time;)
        all++;
    unsigned rules = rules_at(r, before, h, tsc - h->tsc);
    for (; before < all; before++)
        rules &= rules_at(r, before + 1, h, tsc - h->tsc);
    return rules;
}

/* Whether something may be missing between the last event passed and the next. */
static bool hole_here(const struct replay *r)
{
    const bool last = !r->has_event;
    const size_t to = last ? r->cpu->piece_count : r->event.piece + (size_t)1;
    for (size_t p = r->from; p < to; p++)
        if (r->cpu->pieces[p].hole != CAIRN_NO_HOLE)
            return true;
    return last && (!r->cpu->piece_count || cairn_check_end_unknown(r->log, r->cpu));
}

/* Events that come before `tsc` have no release in the truth. */
static void pass_events(struct replay *r, uint64_t tsc)
{
    for (; r->has_event; next_event(r)) {
        const struct cairn_lock_event *event = &r->event;
        struct wmi_spinlock e = cairn_lock_read(event);
        if (e.release_time >= tsc)
            return;
        if (r->unsure)
            r->check->uncompared_locks++;
        else
            FAIL(r, &event->time, "an event of lock 0x%" PRIx64 ", but the truth has no such release",
                 e.spin_lock_address);
    }
}

static void no_event(struct replay *r, const struct hold *h, const struct cairn_truth_released *t, unsigned rules)
{
    int64_t time = trace_clock_units(&r->log->session.clock, t->tsc);
    if (r->unsure && !r->sampling.every) {
        r->check->uncompared_locks++;
        return;
    }
    if (rules && !hole_here(r))
        FAIL(r, &time, "the release of 0x%" PRIx64 " after %" PRIu64 " cycles has no event, but should have one",
             t->lock, t->tsc - h->tsc);
    r->check->compared[CAIRN_RULE_TRUTH_LOCKS]++;
}

static void released(struct replay *r, const uint8_t *record)
{
    struct cairn_truth_released t;
    memcpy(&t, record, sizeof(t));
    int64_t time = trace_clock_units(&r->log->session.clock, t.tsc);
    if (r->tid != CAIRN_NO_TID && t.tid != r->tid)
        FAIL(r, &time, "thread %" PRIu32 " releases 0x%" PRIx64 ", but thread %" PRIu32 " runs here", t.tid, t.lock,
             r->tid);
    pass_events(r, t.tsc);
    struct hold *h = find(r, t.lock);
    if (!h)
        return; /* taken before tracing began, or before the truth that is missing */
    const struct cairn_lock_event *event = r->has_event ? &r->event : NULL;
    struct wmi_spinlock e = event ? cairn_lock_read(event) : (struct wmi_spinlock){0};
    bool there = event && e.release_time == t.tsc;
    unsigned rules = there ? rules_at(r, event->configs, h, t.tsc - h->tsc) : rules_by_time(r, h, t.tsc);
    bool session = !r->told || (r->wanted >> (r->log->number - 1) & 1);
    if (h->tracked) {
        r->sum[2]++;
        r->sum[3] += rules != 0;
    }
    if (there) {
        struct wmi_spinlock should = expected(r, h, &t);
        if (!h->tracked || !session || (!rules && !r->unsure))
            FAIL(r, &event->time, "an event of 0x%" PRIx64 ": %s", t.lock,
                 !h->tracked ? "it is not tracked"
                 : !session  ? "the session does not trace it"
                             : "no sampling rule selects it");
        if (r->unsure) /* its depth, which is not known, is not compared */
            should.acquire_depth = e.acquire_depth;
        compare(r, event, &e, &should);
        next_event(r);
        r->check->compared[CAIRN_RULE_TRUTH_LOCKS]++;
    } else if (h->tracked && session) {
        no_event(r, h, &t, rules);
    }
    drop(r, h);
}

/* With all of the truth there: the kernel counted what it tells. */
static void compare_counts(struct replay *r)
{
    static const char *const what[5] = {"contended acquisitions", "uncontended acquisitions", "releases of spin locks",
                                        "releases that the sampling selects", "untracked acquisitions"};
    const struct cairn_cpu_end *e = &r->cpu->end;
    if (r->unsure || !r->check->whole || !e->locks_known || r->log->panic)
        return;
    for (unsigned i = 0; i < 5; i++) {
        r->check->compared[CAIRN_RULE_COUNTS]++;
        if (e->locks[i] != r->sum[i] && (i != 3 || r->fixed))
            cairn_fail(r->check, CAIRN_RULE_COUNTS, (int)r->n, NULL,
                       "%s: %" PRIu64 " in the truth, but the kernel counted %" PRIu64, what[i], r->sum[i],
                       e->locks[i]);
    }
}

static bool alike(const struct trace_spinlock_sampling *a, const struct trace_spinlock_sampling *b)
{
    return a->spin_threshold == b->spin_threshold && a->acquire_sample_rate == b->acquire_sample_rate &&
           a->contention_sample_rate == b->contention_sample_rate && a->hold_threshold == b->hold_threshold;
}

/* Whether the sampling never changed, by all that the trace says; it is that of the options then. */
static bool is_fixed(struct replay *r)
{
    bool known = cairn_lock_options(r->log, &r->sampling);
    if (!known && r->cpu->locks.configs.count)
        cairn_lock_use(&r->sampling, &r->cpu->locks.configs.items[0].is);
    for (size_t i = 0; i < r->cpu->locks.configs.count; i++) {
        struct trace_spinlock_sampling s;
        cairn_lock_use(&s, &r->cpu->locks.configs.items[i].is);
        if (!alike(&s, &r->sampling))
            return false;
    }
    return true;
}

static void replay(struct replay *r)
{
    const uint8_t *record;
    while ((record = cairn_truth_next(&r->truth, CAIRN_TRUTH_ANY)) != NULL) {
        if (r->truth.gap) {
            r->truth.gap = false;
            r->unsure = true;
            r->tid = CAIRN_NO_TID;
            forget(r);
        }
        if (record[0] == CAIRN_TRUTH_SWITCH)
            switched(r, record);
        else if (record[0] == CAIRN_TRUTH_SESSION)
            session(r, record);
        else if (record[0] == CAIRN_TRUTH_ACQUIRED)
            acquired(r, record);
        else if (record[0] == CAIRN_TRUTH_RELEASED)
            released(r, record);
    }
    r->unsure |= r->truth.gap;
}

void cairn_check_lock_truth(struct cairn_check *check, uint32_t n)
{
    const struct cairn_cpu *cpu = &check->log->cpu[n];
    if (!cpu->locks.events && !cpu->locks.configs.count)
        return;
    struct replay *r = cairn_alloc(sizeof(*r));
    *r = (struct replay){.check = check, .log = check->log, .cpu = cpu, .n = n, .tid = CAIRN_NO_TID};
    cairn_truth_init(&r->truth, check->log, n);
    cairn_lock_walk_init(&r->walk, check->log, n);
    next_event(r);
    r->fixed = is_fixed(r);
    r->unsure = !r->fixed && !check->whole; /* a change may be missing */
    replay(r);
    if (r->log->panic && r->has_event && r->passed + 1 == cpu->locks.events)
        next_event(r); /* stopped between the event and its truth */
    pass_events(r, UINT64_MAX);
    compare_counts(r);
    free(r->holds.items);
    free(r);
}
