/* SPDX-License-Identifier: MIT */
/* The truth of the live events, read afterwards from threads, stacks and registers. */
#include "kernel/tracepoint/witness_activity.h"

#include "kernel/this_thread.h"
#include "kernel/truth/truth.h"

_Static_assert((int)KACTIVITY_READY == CAIRN_THREAD_READY && (int)KACTIVITY_BOOST == CAIRN_THREAD_BOOST &&
                   (int)KACTIVITY_DECAY == CAIRN_THREAD_DECAY && (int)KACTIVITY_SET == CAIRN_THREAD_SET,
               "enum kactivity_what");

static uint8_t level(const struct kcpu *cpu)
{
    return kcpu_in_isr(cpu) ? CAIRN_LEVEL_ISR : kcpu_in_dpc(cpu) ? CAIRN_LEVEL_DPC : CAIRN_LEVEL_THREAD;
}

/* Handlers run on the stack they have found. Interrupts are on in DPCs only, so what another one has interrupted is
 * one of those. */
static uint8_t level_interrupted(const struct kcpu *cpu)
{
    return cpu->irq_depth > 1 ? CAIRN_LEVEL_DPC : CAIRN_LEVEL_THREAD;
}

void kwitness_thread(struct kcpu *cpu, enum kactivity_what what, const struct kthread *thread,
                     struct kactivity_before before, uint64_t tsc)
{
    if (!tsc || !ktruth_kept)
        return;
    const struct cairn_truth_thread t = {
        .kind = CAIRN_TRUTH_THREAD,
        .cpu = (uint8_t)arch_cpu_index(),
        .what = (uint8_t)what,
        .level = level(cpu),
        .tid = thread->tid,
        .tsc = tsc,
        .old_priority = before.priority,
        .new_priority = thread->priority,
        .old_base = before.base,
        .new_base = thread->base_priority,
        .waited = before.state == KTHREAD_WAITING,
        .state = thread->state,
    };
    ktruth_write(cpu->arch.index, &t);
}

static void write(struct kcpu *cpu, struct cairn_truth_interrupt *t)
{
    const struct kthread *thread = kthread_from_stack();
    t->kind = CAIRN_TRUTH_INTERRUPT;
    t->cpu = (uint8_t)arch_cpu_index();
    t->tid = thread->tid;
    t->priority = thread->priority;
    ktruth_write(cpu->arch.index, t);
}

void kwitness_interrupt(struct kcpu *cpu, const struct arch_trap_frame *frame, arch_irq_handler handler, uint64_t begin,
                        uint64_t tsc)
{
    if (!tsc || !ktruth_kept)
        return;
    struct cairn_truth_interrupt t = {
        .what = CAIRN_INTERRUPT_HANDLED,
        .level = level_interrupted(cpu),
        .begin = begin,
        .tsc = tsc,
        .address = (uintptr_t)handler,
        .vector = (uint16_t)frame->vector,
    };
    write(cpu, &t);
}

void kwitness_dpc(struct kcpu *cpu, const void *routine, bool timer, uint64_t begin, uint64_t tsc)
{
    if (!tsc || !ktruth_kept)
        return;
    struct cairn_truth_interrupt t = {
        .what = timer ? CAIRN_INTERRUPT_TIMER_DPC : CAIRN_INTERRUPT_DPC,
        .begin = begin,
        .tsc = tsc,
        .address = (uintptr_t)routine,
    };
    write(cpu, &t);
}

void kwitness_sample(struct kcpu *cpu, const struct arch_trap_frame *frame, uint16_t source, uint64_t tsc)
{
    if (!tsc || !ktruth_kept)
        return;
    struct cairn_truth_interrupt t = {
        .what = source ? CAIRN_INTERRUPT_PMC : CAIRN_INTERRUPT_PROFILE,
        .level = level_interrupted(cpu),
        .tsc = tsc,
        .address = frame->rip,
        .vector = source,
    };
    write(cpu, &t);
}
