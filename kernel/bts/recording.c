/* SPDX-License-Identifier: MIT */
/* What kernel/recording calls of branch tracing, and what the dump and the verdict say of it. */
#include "kernel/recording/beside.h"

#include "arch/arch.h"
#include "kernel/bts/bts.h"
#include "kernel/console/report.h"
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"
#include "kernel/tracepoint/drains.h"
#include "trace/frames.h"

static struct ds_bts traced[MAX_CPUS];

static void add_hook(const struct boot_info *info)
{
    (void)info;
    kdrain_hooks.bts_drained = kbts_drained;
}
KPHASE(KPHASE_OPTIONS, add_hook);

static const char *refusal(const struct ds_caps *caps)
{
    return ds_bts_refusal(caps, (enum ds_bts_rings)kbts_options.rings);
}

static int prepare(struct kcpu *cpu, char *error, size_t error_size)
{
    const uint32_t i = cpu->arch.index;
    cpu->beside_buffer = kmem_pages_alloc(ds_bts_buffer_bytes(kbts_options.records) / ARCH_PAGE_SIZE);
    if (!cpu->beside_buffer) {
        snprintf(error, error_size, "no memory for the BTS buffer of CPU %u: lower bts.records", i);
        return -ENOMEM;
    }
    int e = ds_bts_init(&traced[i], cpu->ds, (enum ds_bts_mode)kopt.beside, (enum ds_bts_rings)kbts_options.rings,
                        kbts_options.records, cpu->beside_buffer);
    if (e)
        snprintf(error, error_size, "CPU %u: %s", i, kds->caps[i].bts_reason);
    return e;
}

static void dump(struct trace_dump *d)
{
    if (!kds->beside)
        return;
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.bts=%s", kopt.beside == DS_BTS_CIRCULAR ? "circular" : "interrupt");
    for (uint32_t i = 0; i < kcpu_count; i++)
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.cpu.%u.bts.buffer=%p", i, kcpu_table[i]->beside_buffer);
    trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.bts.records=%u", kbts_options.records);
}
KDUMP_SECTION(KDUMP_DEBUG_STORE, KDUMP_HEAD, dump);

/* Why it does not run; that it did not start is known only after a live dump began. */
static void dump_refusal(struct trace_dump *d)
{
    if (kds->beside_refusal[0])
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.bts.reason=%s", kds->beside_refusal);
}
KDUMP_SECTION(KDUMP_DEBUG_STORE, KDUMP_HEAD | KDUMP_REST, dump_refusal);

static void dump_end(struct trace_dump *d)
{
    for (uint32_t cpu = 0; kds->beside && ksession_find(1) && cpu < kcpu_count; cpu++) {
        const struct ds_bts_counts *c = &traced[cpu].counts;
        if (c->lost_unknown)
            trace_dump_print(d, CAIRN_STREAM_END, "end.cpu.%u.bts=%lu %lu unknown", cpu, c->records, c->drains);
        else
            trace_dump_print(d, CAIRN_STREAM_END, "end.cpu.%u.bts=%lu %lu %lu", cpu, c->records, c->drains, c->lost);
    }
}
KDUMP_SECTION(KDUMP_COUNTS, KDUMP_END | KDUMP_REST, dump_end);

static void report(const struct boot_info *unused)
{
    const char *why_not = kds->beside_refusal;
    struct ds_bts_counts sum = {0};
    (void)unused;
    if (!kopt.beside)
        return;
    for (uint32_t i = 0; i < kcpu_count; i++) {
        const struct ds_bts_counts *c = &traced[i].counts;
        sum.records += c->records;
        sum.drains += c->drains;
        sum.lost += c->lost;
        sum.lost_unknown |= c->lost_unknown;
    }
    if (why_not[0])
        kreport(kds->beside ? KREPORT_FAIL : KREPORT_SKIP, "branch trace", "%s", why_not);
    else if (sum.lost_unknown)
        kreport(KREPORT_PASS, "branch trace", "%lu records in %lu drains; how many are lost is unknown", sum.records,
                sum.drains);
    else
        kreport(KREPORT_PASS, "branch trace", "%lu records in %lu drains, %lu lost", sum.records, sum.drains, sum.lost);
}
KPHASE(KPHASE_VERDICT, report);

const struct kbeside kbeside = {.name = "bts", .refusal = refusal, .prepare = prepare, .start = ds_bts_start};
