/* SPDX-License-Identifier: MIT */
/* The kernel's per-CPU block. Only its own CPU touches it, except where a field says otherwise. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "kernel/lib/limits.h"
#include "kernel/lib/list.h"
#include "kernel/this_cpu.h"

struct kthread;
struct kdpc;
struct ds_cpu;
struct ds_machine;
struct trace_hub_cpu;
struct klock_trace_cpu;

#define KPRIORITIES 32

/* Threads that are ready to run on a CPU, by priority: kernel/sched/runq.h. */
struct krunq {
    uint32_t bitmap; /* bit p: list[p] is not empty */
    struct klist list[KPRIORITIES];
};

#define KCPU_IRQ_LEVELS 2u /* interrupts are on in DPCs only, and these run at the end of the outermost one */

struct kcpu {
    struct arch_cpu arch; /* first: GS base points here */

    struct kthread *current; /* the running thread */
    struct kthread *idle;
    struct kthread *standby;  /* chosen to run next here; dispatcher lock */
    struct krunq ready;       /* dispatcher lock */
    bool online;              /* has reached ksched_enter: switches threads */
    struct kthread *previous; /* set before the stack switch, read by the incoming side */
    uint64_t switch_tsc;      /* the RDTSC value of the switch in progress */
    uint32_t irq_depth;       /* interrupts nested on this CPU (0: thread context) */
    struct kdpc *dpcs;        /* kernel/sched/dpc.h: to be run at the end of the outermost interrupt */
    bool in_dpc;              /* one is being run */
    uint8_t irq_vector[KCPU_IRQ_LEVELS];
    uint32_t interrupts; /* taken so far, modulo 2^32 */
    bool reschedule;     /* a switch may be due; set by any CPU under the dispatcher lock, and by this one without
                          * it (tick); cleared by this one under the lock */
    uint64_t ticks;      /* timer ticks seen; read by others */
    uint64_t switches;   /* context switches done; read by others */

    struct ds_cpu *ds;                /* the session's; NULL: ds=off */
    const struct ds_machine *machine; /* likewise the processor that it drives; NULL: not chosen yet, or off */
    void *ds_area, *pebs_buffer, *beside_buffer; /* what `ds` was given; NULL: none */
    const volatile uint64_t *pebs_index;         /* of `ds` */
    const volatile uint64_t *pebs_stamp;         /* the same, where switch events carry it; NULL: they carry none */
    struct ds_cpu *active_ds; /* what counts on this CPU: usually the session's. A workload may put its own here
                               * for a while; then the session's is paused, and the trace keeps its buffer */
    const struct ds_machine
        *stepped;                /* likewise the machine whose counters count by single-stepping; NULL: none does */
    volatile bool held;          /* between kpanic_hold and kpanic_release; read by this CPU's NMI */
    struct trace_hub_cpu *trace; /* NULL: no session yet (trace_hub_on and trace_hub_wants know that) */
    struct klock_trace_cpu *locktrace; /* NULL: no session wants spin locks */
};

/* What this CPU runs: a DPC's routine; an interrupt handler, which may have interrupted a DPC; else a thread. */
static inline bool kcpu_in_dpc(const struct kcpu *cpu)
{
    return cpu->in_dpc && cpu->irq_depth == 1;
}

static inline bool kcpu_in_isr(const struct kcpu *cpu)
{
    return cpu->irq_depth > cpu->in_dpc;
}

/* Dense array of the CPUs in use. */
extern struct kcpu *kcpu_table[MAX_CPUS];
extern uint32_t kcpu_count;
