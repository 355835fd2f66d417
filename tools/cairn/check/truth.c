/* SPDX-License-Identifier: MIT */
/*
 * Compares the trace with the truth (docs/reference/format.md), which the kernel recorded apart from the trace, on the
 * other side of the stack switch. Both are in time order on each CPU, so they are read side by side. A switch may be
 * missing from the trace only at a hole, where something was lost, overwritten or damaged, and must then be missing
 * entirely.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/check/check.h"
#include "tools/cairn/model/timeline.h"

/* ---- switches --------------------------------------------------------------------------------------------------- */

struct pair { /* two streams of one CPU being walked together */
    struct cairn_check *check;
    enum cairn_rule rule;
    int n;
    struct cairn_truth truth;
    struct cairn_cursor cursor;
    const uint8_t *have_truth;
    struct cairn_truth_switch t;
    int64_t t_time;
    bool have_switch;
    struct cairn_switch r;
    uint64_t missing; /* truth without a record */
    bool runs;        /* the session, and it is to write these switches */
    bool doubtful;    /* truth is missing that might have told of that */
};

/* The session comes, goes, or gets other masks. */
static void step_life(struct pair *p, const uint8_t *record)
{
    struct cairn_truth_session t;
    struct perfinfo_groupmask masks;
    memcpy(&t, record, sizeof(t));
    if (t.session != p->check->log->number)
        return;
    memcpy(&masks, t.masks, sizeof(masks));
    p->runs = t.what != CAIRN_SESSION_STOP &&
              (p->rule == CAIRN_RULE_TRUTH_COMPACT ? trace_group_compact(&masks) : trace_group_full(&masks));
    p->doubtful = false;
}

static void step_truth(struct pair *p)
{
    const uint32_t kinds = CAIRN_TRUTH_OF(CAIRN_TRUTH_SWITCH) | CAIRN_TRUTH_OF(CAIRN_TRUTH_SESSION);
    while ((p->have_truth = cairn_truth_next(&p->truth, kinds))) {
        p->doubtful |= p->truth.gap && p->check->log->session.lives;
        if (p->have_truth[0] == CAIRN_TRUTH_SESSION)
            step_life(p, p->have_truth);
        if (p->have_truth[0] == CAIRN_TRUTH_SWITCH && (p->runs || p->doubtful))
            break;
    }
    if (!p->have_truth)
        return;
    memcpy(&p->t, p->have_truth, sizeof(p->t));
    p->t_time = trace_clock_units(&p->check->log->session.clock, p->t.tsc);
}

static void step_switch(struct pair *p)
{
    p->have_switch = cairn_cursor_next(&p->cursor, &p->r);
}

#define DIFFERS(what, is, should)                                                                                      \
    do {                                                                                                               \
        if ((is) != (should)) {                                                                                        \
            snprintf(why, size, "%s is %lld, in truth %lld", what, (long long)(is), (long long)(should));              \
            return false;                                                                                              \
        }                                                                                                              \
    } while (0)

static bool same_event(const struct pair *p, char *why, size_t size)
{
    struct wmi_contextswap e;
    const struct cairn_truth_switch *t = &p->t;
    memcpy(&e, p->r.event->payload, sizeof(e));
    DIFFERS("the incoming thread", e.new_thread_id, t->new_tid);
    DIFFERS("NewThreadPriority", e.new_thread_priority, t->new_priority);
    DIFFERS("OldThreadPriority", e.old_thread_priority, t->old_priority);
    DIFFERS("PreviousCState", e.previous_cstate, 0);
    DIFFERS("SpareByte", e.spare, 0);
    DIFFERS("OldThreadWaitReason", e.old_thread_wait_reason, t->old_wait_reason);
    DIFFERS("OldThreadWaitMode", e.old_thread_wait_mode, 0);
    DIFFERS("OldThreadState", e.old_thread_state, t->old_state);
    DIFFERS("OldThreadIdealProcessor", e.old_thread_ideal_processor, t->old_ideal_processor);
    DIFFERS("NewThreadWaitTime", e.new_thread_wait_time, t->new_wait);
    DIFFERS("OldThreadRemainingQuantum", e.old_thread_remaining_quantum, t->old_quantum);
    if (p->r.event->has_pebs_index)
        DIFFERS("PebsIndex", p->r.event->pebs_index, t->pebs_index);
    return true;
}

static bool same_record(const struct pair *p, char *why, size_t size)
{
    const struct cairn_truth_switch *t = &p->t;
    const struct cairn_switch *r = &p->r;
    if (r->base_told)
        DIFFERS("the base priority", r->base, t->old_base);
    if (r->detailed) {
        DIFFERS("the state", r->state, t->old_state);
        if (r->state == KTHREAD_WAITING)
            DIFFERS("the wait reason", r->reason, t->old_wait_reason);
        DIFFERS("the priority", r->priority, t->old_priority);
    }
    uint32_t most = CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS);
    if (r->form == CCSWAP_FULL)
        DIFFERS("the wait time", r->wait, t->new_wait < most ? t->new_wait : most);
    if (r->form == CCSWAP_LITE && t->new_wait > 1) {
        snprintf(why, size, "LITE record, but the incoming thread waited %" PRIu32 " ticks", t->new_wait);
        return false;
    }
    if (r->new_known)
        DIFFERS("the incoming thread", r->new_tid, t->new_tid);
    return true;
}

/* Whether switch and truth at hand are the same; if not, why. */
static bool same(const struct pair *p, char *why, size_t size)
{
    DIFFERS("the time in clock units", p->r.time, p->t_time);
    DIFFERS("the outgoing thread", p->r.old_tid, p->t.old_tid);
    DIFFERS("the CPU", p->n, p->t.cpu);
    return p->r.form == CAIRN_FORM_EVENT ? same_event(p, why, size) : same_record(p, why, size);
}

static void compare_one(struct pair *p)
{
    struct cairn_check *check = p->check;
    char why[128];
    if (same(p, why, sizeof(why))) {
        check->compared[p->rule]++;
        check->incoming_known += p->r.new_known;
        check->incoming_unknown += !p->r.new_known;
        p->truth.gap = false;
        step_truth(p);
        step_switch(p);
        return;
    }
    if (p->doubtful && p->t_time <= p->r.time) { /* perhaps it is of a time in which the session did not run */
        step_truth(p);
        return;
    }
    if (p->r.hole != CAIRN_NO_HOLE && p->t_time <= p->r.time) { /* lost in the hole before this switch */
        p->missing++;
        step_truth(p);
        return;
    }
    if (p->truth.gap && p->r.time <= p->t_time) {
        check->uncompared_switches++;
        step_switch(p);
        return;
    }
    const int64_t *when = p->r.time < p->t_time ? &p->r.time : &p->t_time;
    cairn_fail(check, p->rule, p->n, when, "%s", why);
    check->compared[p->rule]++;
    bool trace_first = p->r.time <= p->t_time, truth_first = p->t_time <= p->r.time;
    if (trace_first)
        step_switch(p);
    if (truth_first)
        step_truth(p);
}

/* The trace is written before the stack switch, the truth behind it, and a panic stops the CPUs wherever they are: of
 * its dump, the very last switch of a CPU may be without truth. */
static bool unfinished_last(struct pair *p)
{
    return p->check->log->panic && !cairn_cursor_peek(&p->cursor);
}

/* Returns how many switches of the truth are not in the trace. *unfinished: the last one of the trace has no truth, and
 * may have none. */
static uint64_t compare_switches(struct cairn_check *check, uint32_t n, bool compact, bool *unfinished)
{
    struct pair p = {.check = check,
                     .n = (int)n,
                     .rule = compact ? CAIRN_RULE_TRUTH_COMPACT : CAIRN_RULE_TRUTH_FULL,
                     .runs = !check->log->session.lives};
    cairn_truth_init(&p.truth, check->log, n);
    cairn_cursor_init(&p.cursor, check->log, n, compact);
    step_truth(&p);
    step_switch(&p);
    while (p.have_truth && p.have_switch)
        compare_one(&p);
    for (; p.have_truth; step_truth(&p)) {
        if (p.doubtful)
            continue;
        p.missing++;
        if (p.cursor.hole == CAIRN_NO_HOLE)
            cairn_fail(check, p.rule, p.n, &p.t_time,
                       "a switch of the truth is missing from the trace, although nothing was lost there");
    }
    for (bool first = true; p.have_switch; step_switch(&p), first = false) {
        if (!p.truth.gap && first && unfinished_last(&p)) {
            check->unfinished[n] = true;
            *unfinished = true;
            continue;
        }
        check->uncompared_switches++;
        if (!p.truth.gap)
            cairn_fail(check, p.rule, p.n, &p.r.time, "the truth does not have this switch");
    }
    return p.missing;
}

/* With all of the log and all of the truth there: what is missing is exactly what the kernel says it lost or overwrote.
 */
static void compare_loss(struct cairn_check *check, bool compact)
{
    const struct cairn_log *log = check->log;
    uint64_t missing[CAIRN_CPUS_MOST], all = 0, lost = 0, overwritten = 0;
    uint64_t within[CAIRN_CPUS_MOST], all_within = 0; /* lost, at most, in a switch that the panic stopped: no truth */
    bool complete = check->whole && log->has_end;
    for (uint32_t n = 0; n < log->cpus; n++) {
        const struct cairn_cpu_end *e = &log->cpu[n].end;
        bool unfinished = false;
        missing[n] = cairn_check_any(log, n) ? compare_switches(check, n, compact, &unfinished) : 0;
        within[n] = log->panic && !unfinished;
        all_within += within[n];
        check->truth_missing += missing[n];
        all += missing[n];
        lost += compact ? e->compact[CAIRN_LOST] : e->full[CAIRN_LOST];
        complete &= e->truth_known && e->truth[2] == 0 && e->compact_known && e->full_known;
    }
    if (!complete)
        return;
    if (log->session.circular) {
        cairn_slice_u64(cairn_end_key(log, compact ? "overwritten.compact" : "overwritten.full"), &overwritten);
        check->compared[CAIRN_RULE_TRUTH_LOST]++;
        if (all > lost + overwritten || lost + overwritten - all > (lost < all_within ? lost : all_within))
            cairn_fail(check, CAIRN_RULE_TRUTH_LOST, -1, NULL,
                       "%" PRIu64 " switches of the truth are not in the trace, but %" PRIu64 " were lost and %" PRIu64
                       " overwritten",
                       all, lost, overwritten);
        return;
    }
    for (uint32_t n = 0; n < log->cpus; n++) {
        uint64_t counted = compact ? log->cpu[n].end.compact[CAIRN_LOST] : log->cpu[n].end.full[CAIRN_LOST];
        check->compared[CAIRN_RULE_TRUTH_LOST]++;
        if (within[n] && missing[n] + 1 == counted)
            check->unfinished[n] = true;
        else if (missing[n] != counted)
            cairn_fail(check, CAIRN_RULE_TRUTH_LOST, (int)n, NULL,
                       "%" PRIu64 " switches of the truth are not in the trace, but %" PRIu64 " were counted as lost",
                       missing[n], counted);
    }
}

/* ----------------------------------------------------------------------------------------------------------------- */

/* The truth itself is complete: as many records as the kernel counted. */
static void check_truth_counts(struct cairn_check *check, uint32_t n)
{
    const struct cairn_cpu *cpu = &check->log->cpu[n];
    uint64_t records = 0;
    for (size_t i = 0; i < cpu->truth.count; i++)
        records += cpu->truth.items[i].count;
    if (!check->whole || !cpu->end.truth_known)
        return;
    check->compared[CAIRN_RULE_COUNTS]++;
    if (records != cpu->end.truth[0] + cpu->end.truth[1])
        cairn_fail(check, CAIRN_RULE_COUNTS, (int)n, NULL, "%" PRIu64 " %s of truth, but the kernel counted %" PRIu64,
                   records, cairn_plural(records, "record", "records"), cpu->end.truth[0] + cpu->end.truth[1]);
}

void cairn_check_truth(struct cairn_check *check)
{
    const struct cairn_log *log = check->log;
    for (uint32_t n = 0; n < log->cpus; n++)
        check_truth_counts(check, n);
    for (uint32_t n = 0; n < log->cpus; n++)
        if (cairn_check_any(log, n))
            cairn_check_records(check, n);
    if (!log->has_truth || !log->session.known)
        return;
    bool compact = log->session.compact, full = log->session.full;
    for (uint32_t n = 0; n < log->cpus; n++) { /* its masks may have changed since it was made */
        compact |= log->cpu[n].switches.compact != 0;
        full |= log->cpu[n].switches.full != 0;
    }
    if (compact)
        compare_loss(check, true);
    if (full)
        compare_loss(check, false);
    for (uint32_t n = 0; n < log->cpus && log->session.lives; n++)
        cairn_check_session(check, n);
    for (uint32_t n = 0; n < log->cpus; n++) {
        if (!cairn_check_any(log, n))
            continue;
        cairn_check_branches(check, n);
        cairn_check_live(check, n);
        cairn_check_pmc(check, n);
        cairn_check_lock_truth(check, n);
    }
}
