/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"
#include "kernel/console/end.h"
#include "kernel/cost/cost.h"
#include "kernel/dump_section.h"
#include "kernel/memory/mem.h"
#include "kernel/phase.h"
#include "kernel/recording/machine.h"
#include "kernel/recording/sessions.h"
#include "trace/frames.h"

static void prepare(const struct boot_info *info)
{
    (void)info;
    void *memory = kmem_pages_alloc((kcost_bytes() + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
    if (!memory)
        kend_failed("setup", "no memory for what the switch hook costs");
    kcost_init(memory);
}
KPHASE(KPHASE_PROCESSORS, prepare);

static void dump_cost(struct trace_dump *dump)
{
    const struct kcost cost = kcost();
    if (!ksession_find(1))
        return; /* nothing was recorded */
    trace_dump_print(dump, CAIRN_STREAM_END, "end.hook.count=%lu", cost.count);
    trace_dump_print(dump, CAIRN_STREAM_END, "end.hook.min=%lu", cost.min);
    trace_dump_print(dump, CAIRN_STREAM_END, "end.hook.median=%lu", cost.median);
    trace_dump_print(dump, CAIRN_STREAM_END, "end.hook.p99=%lu", cost.p99);
    trace_dump_print(dump, CAIRN_STREAM_END, "end.hook.emulated=%d", kmachine_emulated());
}
KDUMP_SECTION(KDUMP_VERDICT, KDUMP_END | KDUMP_REST, dump_cost);
