/* SPDX-License-Identifier: MIT */
/* Switches and threads made ready in a Perfetto trace, as events of Linux' ftrace, from which the viewer makes the
 * lanes of CPUs and the states of threads. The reason of a wait takes the place of ftrace's blocking function. */
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/export/perfetto/writer.h"
#include "tools/cairn/model/filter.h"
#include "trace/wire/activity.h"

/* `by`: who was running. `data`: NULL, or what the events refer to for the first time; `refers`: whether they do. */
static void put_events(struct cairn_output *o, struct cairn_pf_sched *s, const struct cairn_item *item, uint32_t by,
                       Pf__FtraceEvent **events, size_t count, Pf__InternedData *data, bool refers)
{
    Pf__FtraceEventBundle b = PF__FTRACE_EVENT_BUNDLE__INIT;
    Pf__TracePacket p = PF__TRACE_PACKET__INIT;
    for (size_t i = 0; i < count; i++) {
        events[i]->has_timestamp = events[i]->has_pid = true;
        events[i]->timestamp = cairn_pf_time(o, item->time);
        events[i]->pid = by;
    }
    b.has_cpu = true;
    b.cpu = item->cpu;
    b.n_event = count;
    b.event = events;
    b.has_lost_events = b.lost_events = s->cpu[item->cpu].lost;
    s->cpu[item->cpu].lost = false;
    p.ftrace_events = &b;
    p.interned_data = data;
    if (refers) {
        p.has_sequence_flags = true;
        p.sequence_flags = PF__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
    }
    cairn_pf_put(o, &p, CAIRN_PF_EVENTS);
}

/* A switch that the log does not have: to or from whom nobody knows, so that no thread seems to run where that is not
 * known. It is told from the others by who wrote it. */
static void put_made(struct cairn_output *o, struct cairn_pf_sched *s, const struct cairn_item *item, bool to,
                     uint32_t tid)
{
    Pf__SchedSwitchFtraceEvent sw = PF__SCHED_SWITCH_FTRACE_EVENT__INIT;
    Pf__FtraceEvent e = PF__FTRACE_EVENT__INIT, *list[] = {&e};
    char name[CAIRN_SHOWN];
    char *known = tid == CAIRN_PF_UNKNOWN ? (char *)CAIRN_PF_UNKNOWN_NAME : cairn_pf_name(o, tid, name);
    sw.has_prev_pid = sw.has_next_pid = true;
    sw.prev_pid = to ? (int32_t)tid : CAIRN_PF_UNKNOWN;
    sw.next_pid = to ? CAIRN_PF_UNKNOWN : (int32_t)tid;
    sw.prev_comm = to ? known : (char *)CAIRN_PF_UNKNOWN_NAME;
    sw.next_comm = to ? (char *)CAIRN_PF_UNKNOWN_NAME : known;
    e.sched_switch = &sw;
    put_events(o, s, item, CAIRN_PF_UNKNOWN, list, 1, NULL, false);
}

/* Who runs is not known from here on. */
static void put_unknown(struct cairn_output *o, struct cairn_pf_sched *s, const struct cairn_item *item)
{
    const uint32_t runs = s->cpu[item->cpu].tid;
    if (s->cpu[item->cpu].ran && runs != CAIRN_PF_UNKNOWN) {
        put_made(o, s, item, true, runs);
        s->cpu[item->cpu].tid = CAIRN_PF_UNKNOWN;
    }
}

/* Whether the thread's next switch is in the trace, as far as that goes: the filter may leave it out. */
static bool is_followed(uint32_t tid)
{
    return !cairn_filter_by_reason() && (!cairn_filter_by_thread() || cairn_filter_thread(tid));
}

void cairn_pf_sched_begin(struct cairn_output *o, struct cairn_pf_sched *s)
{
    for (uint32_t c = 0; c < o->log->cpus; c++)
        cairn_stints_init(&s->cpu[c].stints, o->log);
}

/* Who leaves at the CPU's first switch has run since the session began, or since --from. */
static void put_first(struct cairn_output *o, struct cairn_pf_sched *s, const struct cairn_stint *stint, uint32_t cpu)
{
    struct cairn_item item = {.cpu = cpu};
    if (s->cpu[cpu].ran || stint->kind == CAIRN_STINT_UNKNOWN || cairn_filter_by_thread() || cairn_filter_by_reason() ||
        !cairn_out_begins(o, &item.time) || item.time >= stint->to)
        return;
    put_made(o, s, &item, false, stint->tid);
    s->cpu[cpu].ran = true;
    s->cpu[cpu].tid = stint->tid;
}

void cairn_pf_switch(struct cairn_output *o, struct cairn_pf_sched *s, const struct cairn_item *item)
{
    const struct cairn_switch *sw = &item->sw;
    const bool told = sw->detailed && !sw->raw, waits = told && sw->state == KTHREAD_WAITING;
    Pf__SchedSwitchFtraceEvent f = PF__SCHED_SWITCH_FTRACE_EVENT__INIT;
    Pf__SchedBlockedReasonFtraceEvent blocked = PF__SCHED_BLOCKED_REASON_FTRACE_EVENT__INIT;
    Pf__FtraceEvent e[] = {PF__FTRACE_EVENT__INIT, PF__FTRACE_EVENT__INIT}, *list[] = {&e[0], &e[1]};
    Pf__InternedString reason = PF__INTERNED_STRING__INIT, *reasons[] = {&reason};
    Pf__InternedData data = PF__INTERNED_DATA__INIT;
    char old[CAIRN_SHOWN], new[CAIRN_SHOWN];
    struct cairn_stint stint;
    if (cairn_stints_next(&s->cpu[item->cpu].stints, sw, &stint))
        put_first(o, s, &stint, item->cpu);
    s->cpu[item->cpu].hole = false;
    const uint32_t runs = s->cpu[item->cpu].tid;
    if (s->cpu[item->cpu].ran && runs != sw->old_tid) {
        if (runs != CAIRN_PF_UNKNOWN)
            put_made(o, s, item, true, runs);
        put_made(o, s, item, false, sw->old_tid);
    }
    f.has_prev_pid = f.has_next_pid = true;
    f.prev_pid = (int32_t)sw->old_tid;
    f.prev_comm = cairn_pf_name(o, sw->old_tid, old);
    f.next_pid = sw->new_known ? (int32_t)sw->new_tid : CAIRN_PF_UNKNOWN;
    f.next_comm = sw->new_known ? cairn_pf_name(o, sw->new_tid, new) : (char *)CAIRN_PF_UNKNOWN_NAME;
    f.has_prev_state = told;
    f.prev_state = told ? (int64_t)cairn_linux_state(sw->state) : 0;
    f.has_prev_prio = sw->detailed;
    f.prev_prio = sw->priority;
    e[0].sched_switch = &f;

    blocked.has_pid = blocked.has_caller = true;
    blocked.pid = f.prev_pid;
    blocked.caller = (uint64_t)sw->reason + 1;
    e[1].sched_blocked_reason = &blocked;
    const char *name = cairn_reason_name(sw->reason);
    reason.has_iid = reason.has_str = true;
    reason.iid = blocked.caller;
    reason.str = (ProtobufCBinaryData){strlen(name), (uint8_t *)name};
    data.n_kernel_symbols = 1;
    data.kernel_symbols = reasons;
    put_events(o, s, item, sw->old_tid, list, waits ? 2 : 1, waits && !s->reasons[sw->reason] ? &data : NULL, waits);
    s->reasons[sw->reason] |= waits;
    s->cpu[item->cpu].ran = true;
    s->cpu[item->cpu].tid = (uint32_t)f.next_pid;
    if (sw->new_known && !is_followed(sw->new_tid))
        put_unknown(o, s, item);
}

void cairn_pf_ready(struct cairn_output *o, struct cairn_pf_sched *s, const struct cairn_item *item,
                    const struct cairn_live *ready)
{
    const uint32_t tid = cairn_get32(ready->payload + offsetof(struct etw_ready_thread, thread_id));
    Pf__SchedWakingFtraceEvent w = PF__SCHED_WAKING_FTRACE_EVENT__INIT;
    Pf__FtraceEvent e = PF__FTRACE_EVENT__INIT, *list[] = {&e};
    char name[CAIRN_SHOWN];
    w.comm = cairn_pf_name(o, tid, name);
    w.has_pid = w.has_success = true;
    w.pid = (int32_t)tid;
    w.success = 1;
    e.sched_waking = &w;
    put_events(o, s, item, s->cpu[item->cpu].ran ? s->cpu[item->cpu].tid : (uint32_t)CAIRN_PF_UNKNOWN, list, 1, NULL,
               false);
}

void cairn_pf_gap(struct cairn_output *o, struct cairn_pf_sched *s, const struct cairn_item *item)
{
    put_unknown(o, s, item);
    s->cpu[item->cpu].lost = s->cpu[item->cpu].hole = true;
}

void cairn_pf_sched_end(struct cairn_output *o, struct cairn_pf_sched *s, int64_t stop)
{
    for (uint32_t c = 0; c < o->log->cpus; c++) {
        const struct cairn_stints *stints = &s->cpu[c].stints;
        struct cairn_item item = {.cpu = c, .time = stop};
        struct cairn_stint rest;
        if (!cairn_stints_rest(stints, o->log, c, s->cpu[c].hole, stop, &rest))
            continue;
        if (rest.kind == CAIRN_STINT_UNKNOWN)
            item.time = stints->time; /* since then, whoever has come */
        else if (stop == INT64_MAX)
            continue;
        put_unknown(o, s, &item);
    }
}
