/* SPDX-License-Identifier: MIT */
/* What a run says and does where PEBS is no part of the Debug Store, which BTS may have. */
#include "kernel/cpu.h"
#include "kernel/dump/dump.h"
#include "kernel/dump_section.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"
#include "trace/frames.h"
#include "trace/pebs23/hub_index.h"

/* The first CPU whose PEBS that is; kcpu_count: none. */
static uint32_t first_instead(void)
{
    uint32_t cpu = 0;
    while (cpu < kcpu_count && !kds_instead(cpu))
        cpu++;
    return cpu;
}

static void refresh_index(uint32_t cpu)
{
    ds_refresh_index(kcpu_table[cpu]->ds);
}

static void say_which_is_which(const struct boot_info *info)
{
    (void)info;
    const uint32_t cpu = first_instead();
    if (cpu == kcpu_count)
        return;
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (kds->caps[i].instead)
            trace_hub_refresh_index(kcpu_table[i]->trace, refresh_index);
    if (kds->caps[cpu].bts)
        kprintf("ds: PEBS is architectural (IA32_PEBS_BASE), the Debug Store is for BTS alone\n");
    else
        kprintf("ds: PEBS is architectural (IA32_PEBS_BASE); no BTS: %s\n", kds->caps[cpu].bts_reason);
}
KPHASE(KPHASE_READY, say_which_is_which);

static uint64_t groups_of(uint32_t cpu)
{
    struct ds_config config = *kds_planned(cpu);
    ds_fit_config(&kds->caps[cpu], &config);
    return kds->caps[cpu].instead ? ds_groups(&kds->caps[cpu], &config) : 0;
}

static void dump_machine(struct trace_dump *d)
{
    const enum cairn_stream stream = CAIRN_STREAM_MACHINE;
    if (!kds_chosen())
        return;
    for (uint32_t i = 0; i < kcpu_count; i++) {
        char prefix[24] = "ds.";
        if (i)
            snprintf(prefix, sizeof prefix, "ds.cpu.%u.", i);
        if (kds->caps[i].instead && (!i || groups_of(i) != groups_of(0)))
            trace_dump_print(d, stream, "%sarch_groups=0x%lx", prefix, (unsigned long)groups_of(i));
        if (kds_instead(i))
            trace_dump_print(d, stream, "ds.cpu.%u.buffer.physical=0x%lx", i,
                             (unsigned long)arch_virt_to_phys(kcpu_table[i]->pebs_buffer));
    }
    const uint32_t first = first_instead();
    if (first == kcpu_count)
        return;
    trace_dump_print(d, stream, "ds.pebs=%s", kds_instead(first));
    trace_dump_print(d, stream, "ds.store=%s", kds->caps[first].bts ? "bts" : kds->caps[first].bts_reason);
}
KDUMP_SECTION(KDUMP_DEBUG_STORE, KDUMP_HEAD, dump_machine);

/* What the stamps of switches are then. */
static void dump_sessions(struct trace_dump *d)
{
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++) {
        if (kdump_begun.sessions & 1u << (number - 1) || !ksession_find(number) || first_instead() == kcpu_count)
            continue;
        trace_dump_print(d, CAIRN_STREAM_SESSION, "session.%u.pebs.index=offset", number);
        trace_dump_print(d, CAIRN_STREAM_SESSION, "session.%u.debug_store=%s", number,
                         kds->beside ? kds->beside->name : "none");
    }
}
KDUMP_SECTION(KDUMP_SESSIONS, KDUMP_HEAD | KDUMP_REST, dump_sessions);
