/* SPDX-License-Identifier: MIT */
/*
 * Deferred procedure calls, as in NT: work that an interrupt handler leaves for the end of the interrupt. At the end of
 * the outermost interrupt the CPU runs its queue, before threads may switch and before counting resumes, on the
 * interrupted thread's stack and with interrupts on. Other interrupts may come in between, but no other thread runs.
 *
 * A routine may do what a kernel call may do (kernel/gate.h), except wait. The queue is run until it is empty: what is
 * queued meanwhile runs before the interrupt ends.
 */
#pragma once

#include <stdbool.h>

#include "kernel/cpu.h"

/* Only one CPU ever queues it. */
struct kdpc {
    struct kdpc *next;
    void (*routine)(void);
    bool timer;  /* its event is 0F45H: it ends waits, as NT's timer DPCs do */
    bool queued; /* and not begun */
};

/* Puts it at the end of this CPU's queue; once, if it is there already. In interrupt handlers. */
void kdpc_queue(struct kdpc *dpc);

/* For kernel_irq_exit: runs this CPU's queue until it is empty. Interrupts off, before and after; cpu->irq_depth is 1
 * and stays so. */
void kdpc_run(struct kcpu *cpu);
