/* SPDX-License-Identifier: MIT */
#include "kernel/sched/dpc.h"

#include "arch/arch.h"
#include "kernel/tracepoint/activity.h"

void kdpc_queue(struct kdpc *dpc)
{
    struct kdpc **end = &kcpu_this()->dpcs;
    if (dpc->queued)
        return;
    while (*end)
        end = &(*end)->next;
    dpc->next = NULL;
    dpc->queued = true;
    *end = dpc;
}

void kdpc_run(struct kcpu *cpu)
{
    for (struct kdpc *dpc; (dpc = cpu->dpcs);) {
        cpu->dpcs = dpc->next;
        dpc->queued = false;
        if (kactivity_dpc_begins)
            kactivity_dpc_begins(cpu);
        cpu->in_dpc = true;
        arch_irq_restore(true);
        dpc->routine();
        (void)arch_irq_save();
        cpu->in_dpc = false;
        if (kactivity_dpc_ends)
            kactivity_dpc_ends(cpu, (const void *)dpc->routine, dpc->timer);
    }
}
