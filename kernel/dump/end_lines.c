/* SPDX-License-Identifier: MIT */
/* The dump's last lines: all counts, for each CPU and each session, and the verdict. */
#include "ds/ds.h"
#include "kernel/console/report.h"
#include "kernel/cpu.h"
#include "kernel/dump/dump.h"
#include "kernel/dump_section.h"
#include "kernel/lib/string.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"
#include "kernel/sched/threads.h"
#include "trace/frames.h"

#define LINE(...) trace_dump_print(d, CAIRN_STREAM_END, __VA_ARGS__)

/* What a session has counted on one CPU. */
static void dump_counts(struct trace_dump *d, const char *prefix, struct trace_session *session, uint32_t n)
{
    struct trace_counts c;
    trace_cpu_counts(trace_session_cpu(session, n), &c);
    LINE("%scpu.%u.events=%lu %lu %lu", prefix, n, c.events_tried, c.events_written, c.events_lost);
    LINE("%scpu.%u.switches=%lu %lu %lu", prefix, n, c.switches_tried, c.switches_written, c.switches_lost);
    LINE("%scpu.%u.compact=%lu %lu %lu", prefix, n, c.compact_tried, c.compact_written, c.compact_lost);
    LINE("%scpu.%u.full=%lu %lu %lu", prefix, n, c.full_tried, c.full_written, c.full_lost);
    LINE("%scpu.%u.batches=%lu %lu %lu %lu %lu %lu %lu", prefix, n, c.batches[0], c.batches[1], c.batches[2],
         c.batches[3], c.batches[4], c.batches[5], c.batches[6]);
    _Static_assert(CCSWAP_CLOSE_REASONS == 7, "the line above names them all");
    LINE("%scpu.%u.buffers=%lu", prefix, n, c.buffers_begun);
    LINE("%scpu.%u.lives=%lu", prefix, n, c.lives);
}

static void dump_cpu_end(struct trace_dump *d, uint32_t n)
{
    const struct kcpu *cpu = kcpu_table[n];
    LINE("end.cpu.%u.ticks=%lu", n, kdump_ticks(n));
    if (cpu->ds && kds->pebs) {
        struct ds_counts ds;
        ds_cpu_counts(cpu->ds, &ds);
        if (ds.lost_unknown)
            LINE("end.cpu.%u.ds=%lu %lu %lu unknown %lu", n, ds.records, ds.drains, ds.pmis, ds.steps);
        else
            LINE("end.cpu.%u.ds=%lu %lu %lu %lu %lu", n, ds.records, ds.drains, ds.pmis, ds.lost, ds.steps);
        if (ds.swallowed_unknown)
            LINE("end.cpu.%u.swallowed=unknown", n);
        else
            LINE("end.cpu.%u.swallowed=%lu", n, ds.swallowed);
        if (ds.late)
            LINE("end.cpu.%u.late=%lu", n, ds.late);
        for (uint32_t i = 0; i < kds->config[n]->events; i++)
            if (kds->config[n]->event[i].plain && ds.plain_whole)
                LINE("end.cpu.%u.plain.%u=%lu %lu", n, i, ds.plain[i].overflows, ds.plain[i].events);
            else if (kds->config[n]->event[i].plain)
                LINE("end.cpu.%u.plain.%u=%lu unknown", n, i, ds.plain[i].overflows);
        if (ds.throttles)
            LINE("end.cpu.%u.throttled=%lu %lu", n, ds.throttles, ds.throttled_tsc);
    }
}

/* Written, and not in memory any more: overwritten in circular mode, or out while it ran. */
static void dump_gone(struct trace_dump *d, const char *prefix, uint32_t number, bool live)
{
    const char *how = live ? "live" : "overwritten";
    struct trace_overwritten o;
    trace_session_overwritten(ksession_find(number), &o);
    LINE("%s%s.buffers=%lu", prefix, how, o.buffers);
    LINE("%s%s.events=%lu", prefix, how, o.events);
    LINE("%s%s.compact=%lu", prefix, how, o.compact);
    LINE("%s%s.full=%lu", prefix, how, o.full);
}

/* Of session 1 without its name, as of the days when there was only one. */
static void dump_session_end(struct trace_dump *d, uint32_t number)
{
    const struct trace_counts sum = ksession_counts(ksession_get(number));
    char p[24] = "end.";
    if (number > 1)
        snprintf(p, sizeof p, "end.session.%u.", number);
    for (uint32_t i = 0; i < kcpu_count; i++)
        dump_counts(d, p, ksession_find(number), i);
    LINE("%sevents_tried=%lu", p, sum.events_tried);
    LINE("%sevents_written=%lu", p, sum.events_written);
    LINE("%sevents_lost=%lu", p, sum.events_lost);
    LINE("%sbuffers_lost=%lu", p, sum.buffers_lost);
    dump_gone(d, p, number, trace_session_config(ksession_find(number))->live);
}

static void kdump_counts(struct trace_dump *d)
{
    if (!ksession_find(1))
        return; /* nothing was recorded */
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        if (ksession_find(number))
            dump_session_end(d, number);
    for (uint32_t i = 0; i < kcpu_count; i++)
        dump_cpu_end(d, i);
}
KDUMP_SECTION(KDUMP_COUNTS, KDUMP_END | KDUMP_REST, kdump_counts);

static void kdump_verdict(struct trace_dump *d)
{
    const char *line = kdump_panic_line();
    uint32_t n[3];

    if (!ksession_find(1))
        return; /* nothing was recorded */
    LINE("end.names_dropped=%lu", kthread_records_dropped());
    kreport_counts(n);
    LINE("end.verdict=%s", line ? "panic" : n[KREPORT_FAIL] ? "fail" : "pass");
    LINE("end.pass=%u", n[KREPORT_PASS]);
    LINE("end.fail=%u", n[KREPORT_FAIL]);
    LINE("end.skip=%u", n[KREPORT_SKIP]);
    if (line)
        LINE("end.panic=%s", line);
}
KDUMP_SECTION(KDUMP_VERDICT, KDUMP_END | KDUMP_REST, kdump_verdict);
