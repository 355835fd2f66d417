/* SPDX-License-Identifier: MIT */
/*
 * Deferred procedure calls, as in NT: work that an interrupt handler leaves for the end of the interrupt. Each CPU has
 * a queue. At the end of the outermost interrupt the CPU runs the queue, before threads may switch and before counting
 * resumes, on the interrupted thread's stack and with interrupts on. Other interrupts may come in between, but no other
 * thread runs.
 *
 * A routine may do what a kernel call may do (kernel/gate.h), except wait. As in NT, the queue is run until it is
 * empty. So a DPC that a routine queues here, even its own, runs before the interrupt ends, and a DPC that always
 * queues itself keeps its CPU from all threads for good. Use a timer or a thread for what must happen again later.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/cpu.h"
#include "kernel/lib/list.h"

/* KDPC_IMPORTANCE. High goes to the head of the queue, the others to its end. The queue is run at once (by an
 * interrupt, if none is in progress) for all but Low on the CPU itself, for High and MediumHigh on another CPU, and
 * always when the queue has KDPC_DEEP entries. Otherwise the CPU's next interrupt runs it, at the
 * latest the timer's. */
enum kdpc_importance { KDPC_LOW = 0, KDPC_MEDIUM = 1, KDPC_HIGH = 2, KDPC_MEDIUM_HIGH = 3 };
#define KDPC_DEEP 4u

#define KDPC_HERE UINT32_MAX

struct kdpc;
typedef void (*kdpc_routine)(struct kdpc *dpc, void *context);

struct kdpc {
    struct klist link;
    kdpc_routine routine;
    void *context;
    uint32_t target;    /* CPU, or KDPC_HERE: where it is queued from */
    uint8_t importance; /* enum kdpc_importance */
    bool timer;         /* its event is 0F45H: it ends waits, as NT's timer DPCs do */
    bool queued;        /* atomic */
};

/* Once, boot processor, before interrupts are on. */
void kdpc_init_queues(void);

/* Sets medium importance, and as target the CPU that queues it. The DPC must not be queued. */
void kdpc_init(struct kdpc *dpc, kdpc_routine routine, void *context);

/* Puts it into the queue of its target. False: it is in a queue already, and stays there once. Any context but NMI and
 * #DB, any interrupt state. */
bool kdpc_queue(struct kdpc *dpc);

/* For kernel_irq_exit: runs this CPU's queue until it is empty. Interrupts off, before and after; cpu->irq_depth is 1
 * and stays so. */
void kdpc_run(struct kcpu *cpu);
