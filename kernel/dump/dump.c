/* SPDX-License-Identifier: MIT */
#include "kernel/dump/dump.h"

#include <stdbool.h>

#include "arch/arch.h"
#include "kernel/lib/print.h"
#include "kernel/recording/sessions.h"
#include "kernel/cpu.h"
#include "kernel/sched/threads.h"
#include "kernel/tracepoint/switch.h"
#include "kernel/lines.h"
#include "kernel/lock/lock_trace.h"
#include "kernel/dump/live_dump.h"
#include "kernel/recording/machine.h"
#include "kernel/options/options.h"
#include "kernel/console/print.h"
#include "kernel/console/saved_log.h"
#include "kernel/console/serial_port.h"
#include "kernel/recording/debug_store.h"
#include "kernel/lib/string.h"
#include "kernel/dump/symbols.h"
#include "kernel/thread.h"
#include "kernel/tracepoint/truth.h"
#include "kernel/selftest/probe.h"
#include "trace/frames.h"

void kline(struct trace_dump *dump, enum cairn_stream stream, const char *format, ...)
{
    char text[CAIRN_FRAME_PAYLOAD_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    trace_dump_line(dump, stream, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* Set by the counting pass, used by the writing one. Fixed widths, so that both passes are of one length. */
static struct { uint32_t frames; uint64_t bytes, raw; } total;

/* Timer ticks of each CPU when the dump began: they go on, and both passes must say the same. */
static uint64_t ticks[MAX_CPUS];

#define LINE(...) kline(d, stream, __VA_ARGS__)

static void dump_header(struct trace_dump *d, const char *cause)
{
    enum cairn_stream stream = CAIRN_STREAM_HEADER;
    LINE("cairn.format=%u", klogger_on() ? CAIRN_FORMAT_LIVE : CAIRN_FORMAT_VERSION);
    LINE("dump.frames=%010u", total.frames);
    LINE("dump.bytes=%012lu", (unsigned long)total.bytes);
    LINE("dump.raw=%012lu", (unsigned long)total.raw);
    LINE("dump.cause=%s", cause);
}

static void dump_detection(struct trace_dump *d, const char *backend, const struct ds_caps *caps)
{
    enum cairn_stream stream = CAIRN_STREAM_MACHINE;
    for (uint32_t n = 0; caps && n < kcpu_count; n++)
        for (uint32_t i = 0; i < caps[n].tests; i++) {
            const struct ds_test *t = &caps[n].test[i];
            char value[24];
            snprintf(value, sizeof value, "0x%lx", (unsigned long)t->value);
            LINE("ds.detect.%s.%u.%u=%s|%s|%s|%s", backend, n, i, t->name, t->faulted ? "fault" : value,
                 t->ok ? "ok" : "no", t->verdict);
        }
}

/* What the records of a CPU are like. */
struct kind {
    uint32_t format, baseline, record_bytes, records, threshold, area_bytes;
    uint64_t data_cfg;
};

static struct kind kind_of(uint32_t cpu)
{
    const struct ds_caps *caps = &ksession.caps[cpu];
    struct ds_config config = ksession.ds;
    ds_fit_config(caps, &config);
    return (struct kind){.format = caps->format,
                         .baseline = caps->baseline,
                         .record_bytes = ds_record_size(caps, &config),
                         .records = config.records,
                         .threshold = config.threshold,
                         .area_bytes = caps->area_bytes,
                         .data_cfg = caps->baseline ? ds_data_cfg(caps, &config) : 0};
}

/* Of CPU 0 for all, and of a CPU of its own where it is of another kind. */
static void dump_kind(struct trace_dump *d, const char *prefix, const struct kind *k)
{
    enum cairn_stream stream = CAIRN_STREAM_MACHINE;
    LINE("%sformat=%u", prefix, k->format);
    LINE("%sbaseline=%u", prefix, k->baseline);
    LINE("%srecord_bytes=%u", prefix, k->record_bytes);
    LINE("%srecords=%u", prefix, k->records);
    LINE("%sthreshold=%u", prefix, k->threshold);
    LINE("%sarea_form=%XH", prefix, k->area_bytes);
    LINE("%sdata_cfg=0x%lx", prefix, (unsigned long)k->data_cfg);
}

static void dump_ds(struct trace_dump *d)
{
    enum cairn_stream stream = CAIRN_STREAM_MACHINE;
    const struct ksession *s = &ksession;
    LINE("workload.name=%s", kopt.workload);
    if (!s->backend)
        return; /* the run ended before it was chosen */
    LINE("ds.backend=%s", s->backend);
    LINE("ds.reason=%s", s->reason);
    LINE("ds.emulated=%d", strcmp(s->backend, "soft") == 0);
    dump_detection(d, "hw", s->hw_caps);
    if (!s->caps)
        return;
    if (s->caps != s->hw_caps)
        dump_detection(d, "soft", s->caps);
    if (s->caps != s->hw_caps) {
        LINE("ds.preset=%s", kopt.ds_preset);
        for (size_t i = 0; i < DS_MODEL_POLICIES; i++)
            LINE("ds.policy.%s=%s|%s", ds_model_policies[i].name,
                 ds_model_policy_value(&kopt.ds_policy, &ds_model_policies[i]), ds_model_policies[i].question);
    }
    LINE("ds.bts=%s", !s->bts ? "off" : kopt.bts == DS_BTS_CIRCULAR ? "circular" : "interrupt");
    if (s->bts_refusal[0])
        LINE("ds.bts.reason=%s", s->bts_refusal);
    for (uint32_t i = 0; s->bts && i < kcpu_count; i++)
        LINE("ds.cpu.%u.bts.buffer=%p", i, s->bts_buffers[i]);
    if (s->bts)
        LINE("ds.bts.records=%u", kopt.bts_records);
    if (!s->pebs)
        return;
    const struct kind first = kind_of(0);
    dump_kind(d, "ds.", &first);
    LINE("ds.scope=thread");
    LINE("ds.throttle=%u", s->ds.throttle);
    for (uint32_t i = 0; i < s->ds.events; i++) {
        const struct ds_event *e = &s->ds.event[i];
        char setting[24] = "";
        if (e->setting)
            snprintf(setting, sizeof setting, ":%s=%u", e->kind == DS_EVENT_FRONTEND ? "frontend" : "ldlat",
                     e->setting);
        LINE("ds.event.%u=%s:%lu%s:%s%s%s", i, e->name, (unsigned long)e->period, setting, e->user ? "u" : "",
             e->kernel ? "k" : "", e->plain ? ":plain" : "");
    }
    for (uint32_t i = 0; i < kcpu_count; i++) {
        char prefix[24];
        const struct kind kind = kind_of(i);
        snprintf(prefix, sizeof prefix, "ds.cpu.%u.", i);
        if (memcmp(&kind, &first, sizeof kind) != 0)
            dump_kind(d, prefix, &kind);
        char counters[4 * DS_MAX_COUNTERS] = "";
        for (uint32_t n = 0, used = 0; kcpu_table[i]->ds && n < s->ds.events; n++)
            used += (uint32_t)snprintf(counters + used, sizeof counters - used, "%s%u", n ? " " : "",
                                       ds_event_counter(kcpu_table[i]->ds, n));
        LINE("ds.cpu.%u.counters=%s", i, counters);
        LINE("ds.cpu.%u.area=%p", i, s->areas[i]);
        LINE("ds.cpu.%u.buffer=%p", i, s->buffers[i]);
        LINE("ds.cpu.%u.buffer_bytes=%lu", i, (unsigned long)s->buffer_bytes);
    }
}

static void dump_name(void *context, const struct kthread_record *n)
{
    struct trace_dump *d = context;
    const char *flags = n->flags & KTHREAD_IDLE      ? "i"
                        : n->flags & KTHREAD_USER    ? "u"
                        : n->flags & KTHREAD_SAMPLED ? "s"
                                                     : "-";
    kline(d, CAIRN_STREAM_NAMES, "%u %d %s %s", n->tid, n->base_priority, flags, n->name);
}

static void dump_symbols(struct trace_dump *d)
{
    for (uint32_t i = 0; i < ksymbols_count(); i++) {
        const struct ksymbol *s = ksymbols_get(i);
        kline(d, CAIRN_STREAM_SYMBOLS, "%lx %x %s", (unsigned long)s->address, s->size, ksymbols_name(s));
    }
}

/* compact, full, compact+full or none. */
static const char *switches_of(const struct perfinfo_groupmask *masks)
{
    bool compact = trace_group_compact(masks), full = trace_group_full(masks);
    return compact && full ? "compact+full" : compact ? "compact" : full ? "full" : "none";
}

/* What does not change while there is a session. */
static void dump_session(struct trace_dump *d, const struct trace_config *c)
{
    enum cairn_stream stream = CAIRN_STREAM_SESSION;
    const uint32_t *m = c->masks.masks;
    char groups[TRACE_GROUPS_TEXT], p[16];
    trace_groups_show(&c->masks, groups);
    snprintf(p, sizeof p, "session.%u", c->number);
    LINE("%s.events=%s", p, switches_of(&c->masks));
    LINE("%s.mode=%s", p, c->circular ? "circular" : "sequential");
    LINE("%s.dump=%s", p, c->live ? "live" : "end");
    LINE("%s.clock=%u", p, c->clock.type);
    LINE("%s.clock_hz=%lu", p, (unsigned long)trace_clock_hz(&c->clock));
    LINE("%s.tsc_hz=%lu", p, (unsigned long)c->clock.tsc_hz);
    LINE("%s.tsc_base=%lu", p, (unsigned long)c->clock.base);
    LINE("%s.multiplier=%lu", p, (unsigned long)c->clock.multiplier);
    LINE("%s.origin=%ld", p, (long)c->clock.origin);
    LINE("%s.groups=%s", p, groups);
    LINE("%s.masks=%08x %08x %08x %08x %08x %08x %08x %08x", p, m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]);
    LINE("%s.buffer_bytes=%u", p, c->buffer_bytes);
    LINE("%s.buffers=%u", p, c->buffers);
    LINE("%s.memory=%p", p, (void *)kcontrol_session(c->number));
    LINE("%s.build=%u", p, CCSWAP_BUILD);
    LINE("%s.maximum_wait_reason=%u", p, CCSWAP_MAXIMUM_WAIT_REASON);
    LINE("%s.cpus=%u", p, c->cpus);
    LINE("%s.tick_us=%u", p, kopt.tick_us);
    LINE("%s.tick_units=%lu", p, (unsigned long)c->tick_units);
    LINE("%s.pebs=%d", p, ksession.pebs);
}

static void dump_lives(struct trace_dump *d, const struct kcontrol_info *info)
{
    enum cairn_stream stream = CAIRN_STREAM_SESSION;
    const uint32_t number = info->config.number;
    LINE("session.%u.lives=%lu", number, (unsigned long)info->lives);
    LINE("session.%u.start_tsc=%lu", number, (unsigned long)info->start_tsc);
    LINE("session.%u.stop_tsc=%lu", number, (unsigned long)info->stop_tsc);
}

/* What nothing has told of them so far; `lives`: and of their lives, so far. */
static void dump_sessions(struct trace_dump *d, bool lives)
{
    struct kcontrol_info info;
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
        if (kcontrol_query(number, &info))
            continue;
        if (!klogger_told(number))
            dump_session(d, &info.config);
        if (lives)
            dump_lives(d, &info);
    }
}

/* What a session has counted on one CPU. */
static void dump_counts(struct trace_dump *d, const char *prefix, struct trace_session *session, uint32_t n)
{
    enum cairn_stream stream = CAIRN_STREAM_END;
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
    enum cairn_stream stream = CAIRN_STREAM_END;
    const struct kcpu *cpu = kcpu_table[n];
    LINE("end.cpu.%u.ticks=%lu", n, ticks[n]);
    if (cpu->ds && ksession.bts) {
        struct ds_bts_counts bts;
        ds_bts_cpu_counts(cpu->ds, &bts);
        if (bts.lost_unknown)
            LINE("end.cpu.%u.bts=%lu %lu unknown", n, bts.records, bts.drains);
        else
            LINE("end.cpu.%u.bts=%lu %lu %lu", n, bts.records, bts.drains, bts.lost);
    }
    if (cpu->ds && ksession.pebs) {
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
        for (uint32_t i = 0; i < ksession.ds.events; i++)
            if (ksession.ds.event[i].plain && ds.plain_whole)
                LINE("end.cpu.%u.plain.%u=%lu %lu", n, i, ds.plain[i].overflows, ds.plain[i].events);
            else if (ksession.ds.event[i].plain)
                LINE("end.cpu.%u.plain.%u=%lu unknown", n, i, ds.plain[i].overflows);
        if (ds.throttles)
            LINE("end.cpu.%u.throttled=%lu %lu", n, ds.throttles, ds.throttled_tsc);
    }
    if (cpu->ds_soft && kopt.ds_log)
        LINE("end.cpu.%u.log=%u", n, ds_soft_logged(cpu->ds_soft));
    struct klocktrace_counts locks = klocktrace_counts(n);
    LINE("end.cpu.%u.locks=%lu %lu %lu %lu %lu", n, locks.contended, locks.uncontended, locks.released, locks.events,
         locks.untracked);
    if (cpu->truth) {
        struct ktruth_counts t = ktruth_counts(cpu->truth);
        LINE("end.cpu.%u.truth=%lu %lu %lu", n, t.switches, t.records, t.lost);
    }
}

/* Written, and not in memory any more: overwritten in circular mode, or out while it ran. */
static void dump_gone(struct trace_dump *d, const char *prefix, uint32_t number, bool live)
{
    enum cairn_stream stream = CAIRN_STREAM_END;
    const char *how = live ? "live" : "overwritten";
    struct trace_overwritten o;
    trace_session_overwritten(kcontrol_session(number), &o);
    LINE("%s%s.buffers=%lu", prefix, how, o.buffers);
    LINE("%s%s.events=%lu", prefix, how, o.events);
    LINE("%s%s.compact=%lu", prefix, how, o.compact);
    LINE("%s%s.full=%lu", prefix, how, o.full);
}

/* Of session 1 without its name, as of the days when there was only one. */
static void dump_session_end(struct trace_dump *d, uint32_t number)
{
    enum cairn_stream stream = CAIRN_STREAM_END;
    struct kcontrol_info info;
    char p[24] = "end.";
    if (number > 1)
        snprintf(p, sizeof p, "end.session.%u.", number);
    kcontrol_query(number, &info);
    for (uint32_t i = 0; i < kcpu_count; i++)
        dump_counts(d, p, kcontrol_session(number), i);
    LINE("%sevents_tried=%lu", p, info.sum.events_tried);
    LINE("%sevents_written=%lu", p, info.sum.events_written);
    LINE("%sevents_lost=%lu", p, info.sum.events_lost);
    LINE("%sbuffers_lost=%lu", p, info.sum.buffers_lost);
    dump_gone(d, p, number, info.config.live);
}

static void dump_end(struct trace_dump *d, const char *line)
{
    enum cairn_stream stream = CAIRN_STREAM_END;
    struct khook_cost cost = khook_cost();
    uint32_t n[3], frames, again;

    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        if (kcontrol_session(number))
            dump_session_end(d, number);
    for (uint32_t i = 0; i < kcpu_count; i++)
        dump_cpu_end(d, i);
    klogger_counts(&frames, &again);
    if (klogger_on()) {
        LINE("end.live.frames=%u", frames);
        LINE("end.live.again=%u", again);
    }
    LINE("end.hook.count=%lu", cost.count);
    LINE("end.hook.min=%lu", cost.min);
    LINE("end.hook.median=%lu", cost.median);
    LINE("end.hook.p99=%lu", cost.p99);
    LINE("end.hook.emulated=%d", kmachine_emulated());
    LINE("end.names_dropped=%lu", kthread_records_dropped());
    LINE("end.truth=%u", kopt.truth);
    kreport_counts(n);
    LINE("end.verdict=%s", line ? "panic" : n[KREPORT_FAIL] ? "fail" : "pass");
    LINE("end.pass=%u", n[KREPORT_PASS]);
    LINE("end.fail=%u", n[KREPORT_FAIL]);
    LINE("end.skip=%u", n[KREPORT_SKIP]);
    if (line)
        LINE("end.panic=%s", line);
}

static void produce(struct trace_dump *d, const char *cause, const char *line)
{
    dump_header(d, cause);
    if (!klogger_on()) {
        kmachine_dump(d);
        dump_ds(d);
    } else if (ksession.bts_refusal[0]) { /* perhaps since it began */
        kline(d, CAIRN_STREAM_MACHINE, "ds.bts.reason=%s", ksession.bts_refusal);
    }
    kprobe_dump(d);
    kthread_for_each(dump_name, d);
    if (!klogger_on())
        dump_symbols(d);
    dump_sessions(d, true);
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        if (kcontrol_session(number))
            trace_dump_session(d, kcontrol_session(number), (uint16_t)number);
    if (kcontrol_session(1)) {
        dump_end(d, line);
        ktruth_dump(d);
    }
    kline(d, CAIRN_STREAM_LAST, "dump.frames=%010u", total.frames);
    trace_dump_flush(d);
}

void kdump_head(struct trace_dump *d, uint64_t tsc)
{
    kline(d, CAIRN_STREAM_HEADER, "cairn.format=%u", CAIRN_FORMAT_LIVE);
    kline(d, CAIRN_STREAM_HEADER, "dump.cause=live");
    kline(d, CAIRN_STREAM_HEADER, "dump.tsc=%lu", (unsigned long)tsc);
    kmachine_dump(d);
    dump_ds(d);
    dump_symbols(d);
    dump_sessions(d, false);
    trace_dump_flush(d);
}

void kdump_announce(uint64_t bytes, uint32_t frames)
{
    const uint32_t baud = arch_serial_baud();
    if (baud) /* 10 bits a character: start, 8 data, stop */
        kprintf("dump: %lu bytes in %u frames follow, %lu s at %u baud\n", (unsigned long)bytes, frames,
                (unsigned long)((bytes * 10 + baud - 1) / baud), baud);
}

/* Of this dump: all its bytes, those that are out, and the share that was last said. */
struct progress { const char *way; uint64_t bytes, done; unsigned percent; };

/* Where frames go; NULL: nowhere. */
static const char *way(void)
{
    return kserial_there() ? "over serial" : ksave_on() ? "into memory (save=esp)" : NULL;
}

static void write_console(void *context, const char *data, size_t size)
{
    struct progress *p = context;
    kprint_bytes(data, size);
    p->done += size;
    const unsigned percent = (unsigned)(p->done * 100 / p->bytes);
    if (percent == p->percent)
        return;
    p->percent = percent;
    kprint_status("dump: %u %% of %lu bytes %s", percent, (unsigned long)p->bytes, p->way);
}

void kdump(const char *cause, const char *line)
{
    static struct trace_dump dump; /* large for a panic's stack */
    struct progress progress = { .way = way(), .percent = ~0u };
    const struct trace_sink console = { write_console, &progress };

    klogger_settle();
    for (uint32_t i = 0; i < kcpu_count; i++)
        ticks[i] = __atomic_load_n(&kcpu_table[i]->ticks, __ATOMIC_RELAXED);
    trace_dump_init(&dump, NULL);
    klogger_go_on(&dump);
    const uint32_t frames = dump.frames; /* that are out */
    const uint64_t bytes = dump.bytes;
    produce(&dump, cause, line);
    total.frames = dump.frames;
    total.bytes = dump.bytes;
    total.raw = dump.raw_bytes;
    progress.bytes = total.bytes - bytes;
    if (!progress.way) {
        kprintf("dump: none: there is neither a serial port nor save=esp: %lu bytes are lost\n",
                (unsigned long)progress.bytes);
        kprint_status("dump: none, %lu bytes are lost", (unsigned long)progress.bytes);
        return;
    }
    kdump_announce(progress.bytes, total.frames - frames);
    ksave_announce(progress.bytes);
    trace_dump_init(&dump, &console);
    klogger_go_on(&dump);
    produce(&dump, cause, line);
    kprintf("dump: done\n");
    if (bytes)
        kprint_status("dump: done, %lu bytes %s, %lu of them while it ran", (unsigned long)total.bytes, progress.way,
                      (unsigned long)bytes);
    else
        kprint_status("dump: done, %lu bytes %s", (unsigned long)total.bytes, progress.way);
}
