/* SPDX-License-Identifier: MIT */
/*
 * arch/idt.c calls kernel_irq_enter before every interrupt handler and kernel_irq_exit after it. The first pauses
 * counting. The second runs DPCs, switches threads if a switch is due, and resumes counting. The timer's handler is
 * here as well.
 */
#include "arch/arch.h"
#include "arch/upcalls.h"
#include "ds/ds.h"
#include "kernel/cpu.h"
#include "kernel/lib/panic.h"
#include "kernel/sched/cross_call.h"
#include "kernel/sched/dpc.h"
#include "kernel/sched/sched.h"
#include "kernel/sched/time.h"
#include "kernel/tracepoint/activity.h"
#include "kernel/tracepoint/stepping.h"

void kernel_irq_enter(struct arch_trap_frame *frame)
{
    struct kcpu *cpu = kcpu_this();
    kstepping_interrupted(frame);
    ds_pause(cpu->active_ds);
    KASSERT(cpu->irq_depth < KCPU_IRQ_LEVELS);
    cpu->irq_vector[cpu->irq_depth] = (uint8_t)frame->vector;
    cpu->interrupts++;
    cpu->irq_depth++;
    if (kactivity_interrupt_begins)
        kactivity_interrupt_begins(cpu);
}

void kernel_irq_exit(struct arch_trap_frame *frame, arch_irq_handler handler)
{
    struct kcpu *cpu = kcpu_this();
    if (kactivity_interrupt_ends)
        kactivity_interrupt_ends(cpu, frame, handler);
    if (cpu->irq_depth == 1)
        kdpc_run(cpu); /* still within the interrupt: no switch, no counting */
    if (--cpu->irq_depth)
        return;
    /* Read without the lock: whoever sets it later sends an interrupt, which is taken after this one. */
    if (ksched_asked(cpu) && cpu->online) {
        ksched_lock();
        ksched_unlock(); /* makes the switch that is due */
        cpu = kcpu_this();
    }
    if (cpu->current && cpu->current->flags & KTHREAD_SAMPLED)
        ds_resume_frame(cpu->active_ds, frame);
}

static void tick(struct arch_trap_frame *frame)
{
    struct kcpu *cpu = kcpu_this();
    if (kactivity_tick)
        kactivity_tick(cpu, frame);
    ds_tick(cpu->active_ds);
    __atomic_store_n(&cpu->ticks, cpu->ticks + 1, __ATOMIC_RELAXED);
    if (cpu->arch.index == 0)
        ktime_tick();
    /* Without the lock: only this CPU changes its current thread and that thread's quantum. */
    if (cpu->current != cpu->idle && --cpu->current->quantum <= 0)
        ksched_ask(cpu);
}

static void stop_tick(void *unused)
{
    (void)unused;
    arch_timer_stop();
}

void ksched_stop_ticks(void)
{
    kcross_call_all(stop_tick, NULL);
}

static void rescheduled(struct arch_trap_frame *frame)
{
    (void)frame; /* the sender has set cpu->reschedule: kernel_irq_exit does the rest */
}

void ksched_init(void)
{
    arch_irq_set(ARCH_VECTOR_TIMER, tick);
    arch_irq_set(ARCH_VECTOR_RESCHEDULE, rescheduled);
    kcross_call_init();
}
