/* SPDX-License-Identifier: MIT */
#include "kernel/activity/events.h"

uint32_t kactivity_sample_every = 1;

uint64_t kactivity_write_ready(struct kcpu *cpu, const struct kthread *thread, enum etw_adjust reason, int increment)
{
    uint64_t tsc = arch_rdtsc();
    const struct etw_ready_thread event = {
        .thread_id = thread->tid,
        .adjust_reason = (uint8_t)reason,
        .adjust_increment = (int8_t)increment,
        .flags = kcpu_in_dpc(cpu) ? ETW_READY_EXECUTING_DPC : 0,
    };
    const struct trace_part part = {&event, sizeof event};
    trace_hub_event(cpu->trace, tsc, PERF_DISPATCHER, HOOK_READY_THREAD, HOOK_VERSION_READY_THREAD, &part, 1);
    return tsc;
}

uint64_t kactivity_write_priority(struct kcpu *cpu, const struct kthread *thread, int8_t old, int8_t old_base)
{
    uint64_t tsc = arch_rdtsc();
    struct etw_priority event = {.thread_id = thread->tid, .dynamic_priority = thread->priority};
    const struct trace_part part = {&event, sizeof event};
    if (thread->base_priority != old_base) {
        event.old_priority = old_base;
        event.new_priority = thread->base_priority;
        trace_hub_event(cpu->trace, tsc, PERF_PRIORITY, HOOK_SET_BASE_PRIORITY, HOOK_VERSION_SET_PRIORITY, &part, 1);
    }
    if (thread->priority != old) {
        event.old_priority = old;
        event.new_priority = thread->priority;
        trace_hub_event(cpu->trace, tsc, PERF_PRIORITY, HOOK_SET_PRIORITY, HOOK_VERSION_SET_PRIORITY, &part, 1);
    }
    return tsc;
}

uint64_t kactivity_write_profile(struct kcpu *cpu, const struct arch_trap_frame *frame)
{
    uint64_t tsc = arch_rdtsc();
    const struct kthread *thread = cpu->current;
    const struct perfinfo_sampled_profile event = {
        .instruction_pointer = frame->rip,
        .thread_id = thread->tid,
        .count = 1,
        .flags = (uint8_t)((cpu->in_dpc ? PERFINFO_PROFILE_EXECUTING_DPC : 0) | (unsigned)thread->priority
                                                                                    << PERFINFO_PROFILE_PRIORITY_SHIFT),
    };
    const struct trace_part part = {&event, sizeof event};
    trace_hub_event(cpu->trace, tsc, PERF_PROFILE, HOOK_SAMPLED_PROFILE, HOOK_VERSION_SAMPLED_PROFILE, &part, 1);
    return tsc;
}

uint64_t kactivity_write_pmc(struct kcpu *cpu, const struct arch_trap_frame *frame, uint16_t source)
{
    uint64_t tsc = arch_rdtsc();
    const struct perfinfo_pmc_sample event = {
        .instruction_pointer = frame->rip,
        .thread_id = cpu->current->tid,
        .profile_source = source,
    };
    const struct trace_part part = {&event, sizeof event};
    trace_hub_event(cpu->trace, tsc, PERF_PMC_PROFILE, HOOK_PMC_INTERRUPT, HOOK_VERSION_PMC_INTERRUPT, &part, 1);
    return tsc;
}

uint64_t kactivity_write_interrupt(struct kcpu *cpu, uint64_t vector, arch_irq_handler routine, uint64_t begin)
{
    uint64_t tsc = arch_rdtsc();
    const struct perfinfo_interrupt event = {
        .service_routine = (uintptr_t)routine,
        .return_value = 1, /* a vector has one handler, and it is its own */
        .vector = (uint16_t)vector,
    };
    const uint32_t rest = offsetof(struct perfinfo_interrupt, service_routine);
    const struct trace_part parts[] = {{&begin, TRACE_PART_TIME},
                                       {(const uint8_t *)&event + rest, sizeof event - rest}};
    trace_hub_event(cpu->trace, tsc, PERF_INTERRUPT, HOOK_INTERRUPT, HOOK_VERSION_INTERRUPT, parts, 2);
    return tsc;
}

uint64_t kactivity_write_dpc(struct kcpu *cpu, const void *routine, bool timer, uint64_t begin)
{
    uint64_t tsc = arch_rdtsc();
    const uint64_t address = (uintptr_t)routine;
    const struct trace_part parts[] = {{&begin, TRACE_PART_TIME}, {&address, sizeof address}};
    trace_hub_event(cpu->trace, tsc, PERF_DPC, timer ? HOOK_TIMER_DPC : HOOK_DPC, HOOK_VERSION_DPC, parts, 2);
    return tsc;
}
