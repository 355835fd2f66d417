/* SPDX-License-Identifier: MIT */
#include "kernel/modellog/modellog.h"

#include "ds/soft/log/log.h"
#include "kernel/console/end.h"
#include "kernel/cpu.h"
#include "kernel/dump_section.h"
#include "kernel/memory/mem.h"
#include "kernel/phase.h"
#include "kernel/tracepoint/drains.h"
#include "trace/frames.h"

static struct ds_log *logs; /* by CPU; NULL: none is kept */

static void begin(const struct boot_info *info)
{
    (void)info;
    if (!kmodellog_on || !kcpu_table[0]->machine->stepping)
        return;
    logs = kmem_pages_alloc((kcpu_count * sizeof *logs + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
    if (!logs)
        kend_failed("setup", "no memory for ds.log=1");
    kdrain_hooks.logged = kmodellog_write;
    for (uint32_t i = 0; i < kcpu_count; i++)
        ds_log_start(kcpu_table[i]->machine->context, &logs[i]);
}
KPHASE(KPHASE_PLANNED, begin);

static void dump(struct trace_dump *d)
{
    for (uint32_t i = 0; logs && i < kcpu_count; i++)
        trace_dump_print(d, CAIRN_STREAM_END, "end.cpu.%u.log=%u", i, logs[i].entries);
}
KDUMP_SECTION(KDUMP_COUNTS, KDUMP_END | KDUMP_REST, dump);
