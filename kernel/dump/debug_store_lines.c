/* SPDX-License-Identifier: MIT */
/* The dump's lines about the Debug Store: detection, set-up, events, and what differs between CPUs. */
#include <stddef.h>

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "trace/frames.h"

#define LINE(...) trace_dump_print(d, stream, __VA_ARGS__)

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
    uint64_t groups;
    bool instead;
};

static struct kind kind_of(uint32_t cpu)
{
    const struct ds_caps *caps = &kds->caps[cpu];
    struct ds_config config = *kds_planned(cpu);
    ds_fit_config(caps, &config);
    return (struct kind){.format = caps->format,
                         .baseline = caps->baseline,
                         .record_bytes = ds_record_size(caps, &config),
                         .records = config.records,
                         .threshold = config.threshold,
                         .area_bytes = caps->area_bytes,
                         .groups = ds_groups(caps, &config),
                         .instead = caps->instead};
}

/* Of a CPU's PEBS buffer; without the Debug Store as much of the memory as the processor is told of. */
static size_t buffer_bytes(uint32_t cpu)
{
    return kds_instead(cpu) ? ds_buffer_bytes(&kds->caps[cpu], kds->config[cpu]) : kds->buffer_bytes;
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
    LINE("%sdata_cfg=0x%lx", prefix, k->instead ? 0 : (unsigned long)k->groups);
    if (k->instead)
        LINE("%sarch_groups=0x%lx", prefix, (unsigned long)k->groups);
}

static void dump_events(struct trace_dump *d, const char *name, const struct ds_config *config)
{
    enum cairn_stream stream = CAIRN_STREAM_MACHINE;
    for (uint32_t i = 0; i < config->events; i++) {
        const struct ds_event *e = &config->event[i];
        char setting[24] = "";
        if (e->setting)
            snprintf(setting, sizeof setting, ":%s=%u", e->kind == DS_EVENT_FRONTEND ? "frontend" : "ldlat",
                     e->setting);
        LINE("%s.%u=%s:%lu%s:%s%s%s", name, i, e->name, (unsigned long)e->period, setting, e->user ? "u" : "",
             e->kernel ? "k" : "", e->plain ? ":plain" : "");
    }
}

/* Whose events a CPU has: by default those of ds.event. */
static void dump_whose_events(struct trace_dump *d, uint32_t cpu)
{
    enum cairn_stream stream = CAIRN_STREAM_MACHINE;
    if (kds->config[cpu] == &kds->atom)
        LINE("ds.cpu.%u.events=atom", cpu);
    else if (!kds->config[cpu]->events)
        LINE("ds.cpu.%u.events=none|%s", cpu, kds->why_not[kds_kind(cpu)]);
}

/* The numbers of a CPU's PEBS events that are `marked`; no line without any. */
static void dump_marked(struct trace_dump *d, uint32_t cpu, const char *name,
                        bool (*marked)(const struct ds_caps *caps, const struct ds_event *event), bool value)
{
    enum cairn_stream stream = CAIRN_STREAM_MACHINE;
    char numbers[4 * DS_MAX_COUNTERS] = "";
    for (uint32_t i = 0, used = 0; i < kds->config[cpu]->events; i++) {
        const struct ds_event *event = &kds->config[cpu]->event[i];
        if (!event->plain && marked(&kds->caps[cpu], event) == value)
            used += (uint32_t)snprintf(numbers + used, sizeof numbers - used, "%s%u", used ? " " : "", i);
    }
    if (numbers[0])
        LINE("ds.cpu.%u.%s=%s", cpu, name, numbers);
}

/* PEBS is no part of the Debug Store, which BTS may have. */
static void dump_which_is_which(struct trace_dump *d)
{
    enum cairn_stream stream = CAIRN_STREAM_MACHINE;
    const uint32_t cpu = kds_first_instead();
    if (cpu == kcpu_count)
        return;
    LINE("ds.pebs=%s", kds_instead(cpu));
    LINE("ds.store=%s", kds->caps[cpu].bts ? "bts" : kds->caps[cpu].bts_reason);
}

static void kdump_debug_store(struct trace_dump *d)
{
    enum cairn_stream stream = CAIRN_STREAM_MACHINE;
    const struct kds *s = kds;
    LINE("workload.name=%s", kopt.workload);
    if (!s->backend)
        return; /* the run ended before it was chosen */
    LINE("ds.backend=%s", s->backend);
    LINE("ds.reason=%s", s->reason);
    LINE("ds.emulated=%d", s->other != NULL);
    dump_detection(d, "hw", s->hw_caps);
    if (!s->caps)
        return;
    if (s->other) {
        dump_detection(d, s->backend, s->caps);
        s->other->dump(d);
    }
    if (s->beside)
        s->beside->dump(d);
    else
        LINE("ds.bts=off");
    if (s->beside_refusal[0])
        LINE("ds.bts.reason=%s", s->beside_refusal);
    if (!s->pebs || !s->config[kcpu_count - 1])
        return; /* or it ended before it was said what each CPU does */
    const struct kind first = kind_of(0);
    dump_kind(d, "ds.", &first);
    dump_which_is_which(d);
    LINE("ds.scope=thread");
    LINE("ds.throttle=%u", s->ds.throttle);
    dump_events(d, "ds.event", &s->ds);
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (s->config[i] == &s->atom) {
            dump_events(d, "ds.atom.event", &s->atom);
            break;
        }
    for (uint32_t i = 0; i < kcpu_count; i++) {
        char prefix[24];
        const struct kind kind = kind_of(i);
        snprintf(prefix, sizeof prefix, "ds.cpu.%u.", i);
        if (memcmp(&kind, &first, sizeof kind) != 0)
            dump_kind(d, prefix, &kind);
        char counters[4 * DS_MAX_COUNTERS] = "";
        dump_whose_events(d, i);
        for (uint32_t n = 0, used = 0; kcpu_table[i]->ds && n < s->config[i]->events; n++)
            used += (uint32_t)snprintf(counters + used, sizeof counters - used, "%s%u", n ? " " : "",
                                       ds_event_counter(kcpu_table[i]->ds, n));
        LINE("ds.cpu.%u.counters=%s", i, counters);
        dump_marked(d, i, "not_precise", ds_event_precise, false);
        dump_marked(d, i, "alone", ds_event_alone, true);
        LINE("ds.cpu.%u.area=%p", i, kcpu_table[i]->ds_area);
        LINE("ds.cpu.%u.buffer=%p", i, kcpu_table[i]->pebs_buffer);
        if (kds_instead(i))
            LINE("ds.cpu.%u.buffer.physical=0x%lx", i, (unsigned long)arch_virt_to_phys(kcpu_table[i]->pebs_buffer));
        LINE("ds.cpu.%u.buffer_bytes=%lu", i, (unsigned long)buffer_bytes(i));
    }
}
KDUMP_SECTION(KDUMP_DEBUG_STORE, KDUMP_HEAD, kdump_debug_store);

/* Why it did not start beside PEBS, known only after a live dump began. */
static void kdump_late_refusal(struct trace_dump *d)
{
    if (kds->beside_refusal[0])
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.bts.reason=%s", kds->beside_refusal);
}
KDUMP_SECTION(KDUMP_DEBUG_STORE, KDUMP_REST, kdump_late_refusal);
