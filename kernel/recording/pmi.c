/* SPDX-License-Identifier: MIT */
#include "kernel/recording/pmi.h"

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/cpu.h"
#include "kernel/sched/dpc.h"
#include "kernel/tracepoint/activity.h"

static struct pmi_cpu {
    struct kdpc drain;
    struct arch_trap_frame frame; /* where the interrupt came */
} cpus[MAX_CPUS];

/* LVTPC masked itself when it raised the interrupt, and counting is paused until the interrupt ends: whatever runs
 * between the two, the counters stand as they stood. */
static void work(void)
{
    bool on = arch_irq_save();
    struct ds_cpu *ds = kcpu_this()->active_ds;
    if (ds)
        ds_pmi(ds);
    arch_irq_restore(on);
}

static void pmi(struct arch_trap_frame *frame)
{
    struct pmi_cpu *p = &cpus[arch_cpu_index()];
    p->frame = *frame;
    kdpc_queue(&p->drain); /* queued already: that one will do for both */
}

void kpmi_overflowed(void *context, uint32_t index, uint32_t event)
{
    (void)context;
    if (kactivity_overflow)
        kactivity_overflow(kcpu_table[index], &cpus[index].frame, event);
}

void kpmi_init(void)
{
    for (uint32_t i = 0; i < MAX_CPUS; i++)
        cpus[i].drain = (struct kdpc){.routine = work};
    arch_irq_set(ARCH_VECTOR_PMI, pmi);
}
