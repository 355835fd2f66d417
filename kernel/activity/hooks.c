/* SPDX-License-Identifier: MIT */
/* What kernel/tracepoint/activity.h declares: an event for the sessions that want it, and what the witness is told. */
#include "kernel/tracepoint/activity.h"

#include "kernel/activity/events.h"
#include "kernel/gate.h"
#include "kernel/lib/string.h"
#include "kernel/tracepoint/witness_activity.h"

#define NOBODY __attribute__((weak)) /* does nothing, unless the wing truth is there and keeps an account */

NOBODY void kwitness_thread(struct kcpu *cpu, enum kactivity_what what, const struct kthread *thread,
                            struct kactivity_before before, uint64_t tsc)
{
    (void)cpu, (void)what, (void)thread, (void)before, (void)tsc;
}

NOBODY void kwitness_interrupt(struct kcpu *cpu, const struct arch_trap_frame *frame, arch_irq_handler handler,
                               uint64_t begin, uint64_t tsc)
{
    (void)cpu, (void)frame, (void)handler, (void)begin, (void)tsc;
}

NOBODY void kwitness_dpc(struct kcpu *cpu, const void *routine, bool timer, uint64_t begin, uint64_t tsc)
{
    (void)cpu, (void)routine, (void)timer, (void)begin, (void)tsc;
}

NOBODY void kwitness_sample(struct kcpu *cpu, const struct arch_trap_frame *frame, uint16_t source, uint64_t tsc)
{
    (void)cpu, (void)frame, (void)source, (void)tsc;
}

static struct begun { /* when what each CPU does began; 0: nobody wants to know */
    uint64_t interrupt[KCPU_IRQ_LEVELS], dpc;
} begun[MAX_CPUS];

void kactivity_interrupt_begins(const struct kcpu *cpu)
{
    begun[cpu->arch.index].interrupt[cpu->irq_depth - 1] = kactivity_begin(cpu, PERF_INTERRUPT);
}

void kactivity_interrupt_ends(struct kcpu *cpu, const struct arch_trap_frame *frame, arch_irq_handler handler)
{
    const uint64_t begin = begun[cpu->arch.index].interrupt[cpu->irq_depth - 1];
    kwitness_interrupt(cpu, frame, handler, begin, kactivity_interrupt(cpu, frame->vector, handler, begin));
}

void kactivity_tick(struct kcpu *cpu, const struct arch_trap_frame *frame)
{
    if (kactivity_sample_due(cpu))
        kwitness_sample(cpu, frame, 0, kactivity_profile(cpu, frame));
}

void kactivity_overflow(struct kcpu *cpu, const struct arch_trap_frame *frame, uint32_t event)
{
    const uint16_t source = kactivity_source(cpu->arch.index, event);
    kwitness_sample(cpu, frame, source, kactivity_pmc(cpu, frame, source));
}

void kactivity_dpc_begins(const struct kcpu *cpu)
{
    begun[cpu->arch.index].dpc = kactivity_begin(cpu, PERF_DPC);
}

void kactivity_dpc_ends(struct kcpu *cpu, const void *routine, bool timer)
{
    const uint64_t begin = begun[cpu->arch.index].dpc;
    kwitness_dpc(cpu, routine, timer, begin, kactivity_dpc(cpu, routine, timer, begin));
}

void kactivity_thread(struct kcpu *cpu, enum kactivity_what what, const struct kthread *thread,
                      struct kactivity_before before, int increment)
{
    if (what == KACTIVITY_READY) {
        bool waited = before.state == KTHREAD_WAITING;
        uint64_t tsc = kactivity_ready(cpu, thread, waited ? ETW_ADJUST_UNWAIT : ETW_ADJUST_NONE, increment);
        kwitness_thread(cpu, KACTIVITY_READY, thread, before, tsc);
        what = KACTIVITY_BOOST;
    }
    kwitness_thread(cpu, what, thread, before, kactivity_priority(cpu, thread, before.priority, before.base));
}

void kactivity_mark(const char *text)
{
    bool on = kgate_enter(); /* stepped, this code could come upon itself: ds.log=1 writes an event a step */
    struct trace_hub_cpu *hub = kcpu_this()->trace;
    if (trace_hub_wants(hub, PERF_CAIRN_MARK)) {
        size_t length = strlen(text);
        const struct trace_part parts[] = {{text, (uint32_t)(length < ETW_MARK_MAX ? length : ETW_MARK_MAX - 1)},
                                           {"", 1}};
        trace_hub_event(hub, arch_rdtsc(), PERF_CAIRN_MARK, HOOK_MARK, HOOK_VERSION_MARK, parts, 2);
    }
    kgate_leave(on);
}
