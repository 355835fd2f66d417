/* SPDX-License-Identifier: MIT */
#include "kernel/pmi.h"

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/cpu.h"
#include "kernel/dpc.h"

static struct kdpc drain[ARCH_MAX_CPUS];

/* LVTPC masked itself when it raised the interrupt, and counting is paused until the interrupt ends: whatever runs
 * between the two, the counters stand as they stood. */
static void work(struct kdpc *dpc, void *unused)
{
    (void)dpc, (void)unused;
    bool on = arch_irq_save();
    struct ds_cpu *ds = kcpu_this()->active_ds;
    if (ds)
        ds_pmi(ds);
    arch_irq_restore(on);
}

static void pmi(struct arch_trap_frame *frame)
{
    (void)frame;
    (void)kdpc_queue(&drain[arch_cpu_index()]); /* queued already: that one will do for both */
}

void kpmi_init(void)
{
    for (uint32_t i = 0; i < ARCH_MAX_CPUS; i++) {
        kdpc_init(&drain[i], work, NULL);
        drain[i].importance = KDPC_HIGH;
    }
    arch_irq_set(ARCH_VECTOR_PMI, pmi);
}
