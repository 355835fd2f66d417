/* SPDX-License-Identifier: MIT */
/* Compares the kernel's own counts with what the log contains, and checks that the kernel counted at all. */
#include <inttypes.h>

#include "tools/cairn/base/names.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/show.h"

static void expect(struct cairn_check *check, int cpu, const char *what, uint64_t is, uint64_t should)
{
    check->compared[CAIRN_RULE_COUNTS]++;
    if (is != should)
        cairn_fail(check, CAIRN_RULE_COUNTS, cpu, NULL, "%s: %" PRIu64 " here, but the kernel counted %" PRIu64, what,
                   is, should);
}

static void balance(struct cairn_check *check, int cpu, const char *what, bool known, const uint64_t n[3])
{
    if (!known)
        return;
    check->compared[CAIRN_RULE_COUNTS]++;
    if (n[CAIRN_TRIED] != n[CAIRN_WRITTEN] + n[CAIRN_LOST])
        cairn_fail(check, CAIRN_RULE_COUNTS, cpu, NULL,
                   "%s: %" PRIu64 " tried, but %" PRIu64 " written and %" PRIu64 " lost", what, n[CAIRN_TRIED],
                   n[CAIRN_WRITTEN], n[CAIRN_LOST]);
}

static void check_bts_counts(struct cairn_check *check, int n)
{
    const struct cairn_cpu *cpu = &check->log->cpu[n];
    if (!cpu->end.bts_known)
        return;
    expect(check, n, "branch records", cpu->bts.records, cpu->end.bts[0]);
    expect(check, n, "drains of branch records", cpu->bts.drained, cpu->end.bts[1]);
    if (cpu->end.bts_lost_known)
        expect(check, n, "branch records lost", cpu->bts.lost.counted, cpu->end.bts[2]);
}

/* One CPU, whose buffers are all there. */
static void check_cpu_counts(struct cairn_check *check, int n)
{
    const struct cairn_log *log = check->log;
    const struct cairn_cpu *cpu = &log->cpu[n];
    const struct cairn_cpu_end *e = &cpu->end;
    if (e->events_known)
        expect(check, n, "events", cpu->events, e->events[CAIRN_WRITTEN]);
    if (e->compact_known)
        expect(check, n, "switches in 0525H", cpu->switches.compact, e->compact[CAIRN_WRITTEN]);
    if (e->full_known)
        expect(check, n, "switches in 0524H", cpu->switches.full, e->full[CAIRN_WRITTEN]);
    if (e->buffers_known)
        expect(check, n, "buffers", cpu->buffers, e->buffers);
    bool none_lost = e->events_known && e->events[CAIRN_LOST] == 0;
    for (unsigned i = 0; i < CCSWAP_CLOSE_REASONS && e->batches_known && none_lost; i++) {
        char what[CAIRN_SHOWN];
        snprintf(what, sizeof(what), "batches closed (%s)", cairn_close_name((uint8_t)i));
        expect(check, n, what, check->closed[n][i], e->batches[i]);
    }
    bool all = none_lost && !cairn_part_of_run(log, (uint32_t)n);
    if (all)
        check_bts_counts(check, n);
    if (!e->ds_known || !all)
        return;
    /* A panic leaves records in buffers it could not drain: the processor wrote them, the trace has them not. */
    if (!log->panic || cpu->pebs.records > e->ds[0])
        expect(check, n, "PEBS records", cpu->pebs.records, e->ds[0]);
    expect(check, n, "drains", cpu->pebs.drains.drains, e->ds[1]);
    if (e->ds_lost_known)
        expect(check, n, "PEBS records lost", cpu->pebs.drains.dropped.counted, e->ds[3]);
    if (e->swallowed_known)
        expect(check, n, "samples swallowed by another counter's record", cpu->pebs.drains.swallowed.counted,
               e->swallowed);
}

static void need(struct cairn_check *check, int cpu, bool there, const char *what)
{
    if (!there)
        cairn_fail(check, CAIRN_RULE_COUNTS, cpu, NULL, "%s: missing or ill-formed", what);
}

/* All of these are there, and numbers. */
static bool has_keys(const struct cairn_log *log, const char *prefix, const char *const *names)
{
    uint64_t value;
    for (; *names; names++)
        if (!cairn_slice_u64(cairn_key(&log->text, "%s%s", prefix, *names), &value))
            return false;
    return true;
}

static bool has_end_keys(const struct cairn_log *log, const char *const *names)
{
    uint64_t value;
    for (; *names; names++)
        if (!cairn_slice_u64(cairn_end_key(log, *names), &value))
            return false;
    return true;
}

static void need_of_session(struct cairn_check *check, bool there, const char *key)
{
    char what[CAIRN_SHOWN];
    snprintf(what, sizeof(what), "session.%" PRIu32 ".%s", check->log->number, key);
    need(check, -1, there, what);
}

/* Where a CPU's PEBS buffer lies, and what it holds. Linux' is not made for a number of records, and where that of
 * architectural PEBS is mapped is nothing to the processor. */
static bool has_area(const struct cairn_log *log, uint32_t cpu)
{
    char prefix[32];
    uint64_t value;
    snprintf(prefix, sizeof(prefix), "ds.cpu.%" PRIu32 ".", cpu);
    return (has_keys(log, prefix, (const char *const[]){"buffer", NULL}) ||
            has_keys(log, prefix, (const char *const[]){"buffer.physical", NULL})) &&
           has_keys(log, prefix, (const char *const[]){"buffer_bytes", NULL}) &&
           cairn_ds_number(&log->text, cpu, "record_bytes", &value) &&
           (cairn_log_grabbed(log) || cairn_ds_number(&log->text, cpu, "records", &value));
}

/* No rule is skipped for want of a number: a whole log of a session has each of them. */
static void check_keys(struct cairn_check *check)
{
    const struct cairn_log *log = check->log;
    const struct cairn_session *s = &log->session;
    bool pieces = false;
    for (uint32_t n = 0; n < log->cpus; n++)
        pieces |= log->cpu[n].piece_count != 0;
    if (!check->whole || (!pieces && !log->has_end && !log->has_truth))
        return; /* the run ended before its session began */
    need_of_session(check, s->known, "tsc_hz, tsc_base or multiplier");
    need_of_session(check, s->start_known, "start_tsc");
    need_of_session(check, s->compact || s->full || s->none, "events");
    need_of_session(check, s->pebs >= 0, "pebs");
    need_of_session(check, s->buffer_bytes, "buffer_bytes");
    need_of_session(check, s->tick_units, "tick_units");
    need(check, -1, has_end_keys(log, (const char *const[]){"events_tried", "events_written", "events_lost", NULL}),
         "end.events_tried, _written or _lost");
    if (s->circular)
        need(check, -1,
             has_end_keys(log, (const char *const[]){"overwritten.buffers", "overwritten.events", "overwritten.compact",
                                                     "overwritten.full", NULL}),
             "end.overwritten");
    for (uint32_t n = 0; n < log->cpus; n++) {
        const struct cairn_cpu_end *e = &log->cpu[n].end;
        need(check, (int)n,
             e->events_known && e->switches_known && e->compact_known && e->full_known && e->batches_known &&
                 e->buffers_known,
             "end.cpu: events, switches, compact, full, batches or buffers");
        need(check, (int)n, e->ds_known || !log->cpu[n].pebs.epochs, "end.cpu: ds");
        need(check, (int)n, has_area(log, n) || !log->cpu[n].pebs.epochs, "ds.cpu, ds.record_bytes or ds.records");
        need(check, (int)n, e->bts_known || !log->cpu[n].bts.epochs, "end.cpu: bts");
        need(check, (int)n, e->locks_known || !log->cpu[n].locks.configs.count, "end.cpu: locks");
        need(check, (int)n, e->truth_known || !log->cpu[n].truth.count, "end.cpu: truth");
    }
    need(check, -1, log->has_truth || !cairn_slice_is(cairn_key(&log->text, "end.truth"), "1"), "the truth");
}

/* What came while it ran. A panic may stop the kernel between the last line of a buffer and its count. */
static void check_live(struct cairn_check *check)
{
    const struct cairn_sent live = cairn_log_sent(check->log);
    uint64_t value = 0;
    bool known = cairn_slice_u64(cairn_key(&check->log->text, "end.live.frames"), &value);
    need(check, -1, known, "end.live.frames");
    if (known && !(check->log->panic && live.frames == value + 1))
        expect(check, -1, "trace frames sent while it ran", live.frames, value);
    known = cairn_slice_u64(cairn_end_key(check->log, "live.buffers"), &value);
    need(check, -1, known, "end: live.buffers");
    if (known && !(check->log->panic && live.buffers == value + 1))
        expect(check, -1, "buffers sent while it ran", live.buffers, value);
}

void cairn_check_counts(struct cairn_check *check)
{
    if (!check->log->own)
        return; /* Windows counts no events, and its buffers are compared with its count as they are read */
    check_keys(check);
    const struct cairn_log *log = check->log;
    uint64_t sum[3] = {0}, value, over[4] = {0}, events = 0, compact = 0, full = 0, buffers = 0, begun = 0;
    uint64_t compact_written = 0, full_written = 0;
    static const char *const keys[] = {"events_tried", "events_written", "events_lost"};
    for (uint32_t n = 0; n < log->cpus; n++) {
        const struct cairn_cpu_end *e = &log->cpu[n].end;
        int cpu = (int)n;
        balance(check, cpu, "events", e->events_known, e->events);
        balance(check, cpu, "switches", e->switches_known, e->switches);
        balance(check, cpu, "switches in 0525H", e->compact_known, e->compact);
        balance(check, cpu, "switches in 0524H", e->full_known, e->full);
        for (unsigned i = 0; i < 3; i++) {
            sum[i] += e->events[i];
            if (e->switches_known && e->compact_known && e->full_known)
                expect(check, cpu, "0525H and 0524H switches together", e->compact[i] + e->full[i], e->switches[i]);
        }
        if (check->whole && !log->session.circular)
            check_cpu_counts(check, cpu);
        events += log->cpu[n].events;
        compact += log->cpu[n].switches.compact;
        full += log->cpu[n].switches.full;
        buffers += log->cpu[n].buffers;
        begun += e->buffers;
        compact_written += e->compact[CAIRN_WRITTEN];
        full_written += e->full[CAIRN_WRITTEN];
    }
    if (check->whole && log->has_end && log->session.live && !log->etl)
        check_live(check);
    for (unsigned i = 0; i < 3 && check->whole; i++)
        if (cairn_slice_u64(cairn_end_key(log, keys[i]), &value))
            expect(check, -1, keys[i], sum[i], value);
    if (!check->whole || !log->has_end || !log->session.circular)
        return;
    cairn_slice_u64(cairn_end_key(log, "overwritten.buffers"), &over[0]);
    cairn_slice_u64(cairn_end_key(log, "overwritten.events"), &over[1]);
    cairn_slice_u64(cairn_end_key(log, "overwritten.compact"), &over[2]);
    cairn_slice_u64(cairn_end_key(log, "overwritten.full"), &over[3]);
    expect(check, -1, "buffers, with those overwritten", buffers + over[0], begun);
    expect(check, -1, "events, with those overwritten", events + over[1], sum[CAIRN_WRITTEN]);
    expect(check, -1, "switches in 0525H, with those overwritten", compact + over[2], compact_written);
    expect(check, -1, "switches in 0524H, with those overwritten", full + over[3], full_written);
}
