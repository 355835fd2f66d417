/* SPDX-License-Identifier: MIT */
/* The dump's lines about the Debug Store: detection, set-up, events, and what differs between CPUs. */
#include <stddef.h>

#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/hybrid.h"
#include "trace/frames.h"

#define LINE(...) trace_dump_print(d, CAIRN_STREAM_MACHINE, __VA_ARGS__)

static void dump_detection(struct trace_dump *d, const char *backend, const struct ds_caps *caps)
{
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
    uint64_t data_cfg; /* 0 without the Debug Store */
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
                         .data_cfg = caps->instead ? 0 : ds_groups(caps, &config)};
}

/* Of CPU 0 for all, and of a CPU of its own where it is of another kind. */
static void dump_kind(struct trace_dump *d, const char *prefix, const struct kind *k)
{
    LINE("%sformat=%u", prefix, k->format);
    LINE("%sbaseline=%u", prefix, k->baseline);
    LINE("%srecord_bytes=%u", prefix, k->record_bytes);
    LINE("%srecords=%u", prefix, k->records);
    LINE("%sthreshold=%u", prefix, k->threshold);
    LINE("%sarea_form=%XH", prefix, k->area_bytes);
    LINE("%sdata_cfg=0x%lx", prefix, (unsigned long)k->data_cfg);
}

static void dump_events(struct trace_dump *d, const char *name, const struct ds_config *config)
{
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
    if (&khybrid && kds->config[cpu] == khybrid.atom)
        LINE("ds.cpu.%u.events=atom", cpu);
    else if (!kds->config[cpu]->events)
        LINE("ds.cpu.%u.events=none|%s", cpu, khybrid.why_not(cpu));
}

static void kdump_debug_store(struct trace_dump *d)
{
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
    if (!s->beside)
        LINE("ds.bts=off");
    if (!kds_chosen())
        return;
    const struct kind first = kind_of(0);
    dump_kind(d, "ds.", &first);
    LINE("ds.scope=thread");
    LINE("ds.throttle=%u", s->ds.throttle);
    dump_events(d, "ds.event", &s->ds);
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (&khybrid && s->config[i] == khybrid.atom) {
            dump_events(d, "ds.atom.event", khybrid.atom);
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
        LINE("ds.cpu.%u.area=%p", i, kcpu_table[i]->ds_area);
        LINE("ds.cpu.%u.buffer=%p", i, kcpu_table[i]->pebs_buffer);
        LINE("ds.cpu.%u.buffer_bytes=%lu", i,
             (unsigned long)(kds_instead(i) ? ds_buffer_bytes(&kds->caps[i], s->config[i]) : s->buffer_bytes));
    }
}
KDUMP_SECTION(KDUMP_DEBUG_STORE, KDUMP_HEAD, kdump_debug_store);
