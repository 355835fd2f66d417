/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint/switch.h"

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/cpu.h"
#include "kernel/thread.h"
#include "trace/hub.h"

__attribute__((weak)) void kswitch_took(uint32_t cpu, uint64_t cycles)
{
    (void)cpu, (void)cycles;
}

void kswitch_out(struct kcpu *cpu, const struct kthread *old, const struct kthread *new, uint64_t tsc)
{
    struct trace_hub_cpu *trace = cpu->trace;
    ds_switch(cpu->ds, tsc);
    if (!trace_hub_on(trace))
        return;
    uint64_t before = arch_rdtsc();
    const struct trace_switch sw = {
        .tsc = tsc,
        .old_tid = old->tid,
        .new_tid = new->tid,
        .new_wait = new->waited,
        .old_quantum = old->quantum,
        .old_state = old->state,
        .old_wait_reason = old->wait_reason,
        .old_state_wr = old->state_wr,
        .old_priority = old->priority,
        .old_base = old->base_priority,
        .new_priority = new->priority,
        .old_ideal_processor = (uint8_t)old->ideal_processor,
    };
    trace_hub_switch(trace, &sw);
    kswitch_took(cpu->arch.index, arch_rdtsc() - before);
}
