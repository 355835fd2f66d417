/* SPDX-License-Identifier: MIT */
/*
 * The events of what happens between switches, for the sessions that want them. If no session does, each function costs
 * a load and a test. They are called by hooks.c, on the CPU where the thing happens, with interrupts off, and return
 * the TSC value of their event. 0 means that there is none; then the witness (kernel/tracepoint/witness_activity.h) has
 * nothing to write either.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/thread.h"
#include "trace/hub.h"
#include "trace/wire/activity.h"

/* `thread` has become ready: its wait has ended, with a priority increment, or it is new (0, 0). */
uint64_t kactivity_write_ready(struct kcpu *cpu, const struct kthread *thread, enum etw_adjust reason, int increment);
static inline uint64_t kactivity_ready(struct kcpu *cpu, const struct kthread *thread, enum etw_adjust reason,
                                       int increment)
{
    return trace_hub_wants(cpu->trace, PERF_DISPATCHER) ? kactivity_write_ready(cpu, thread, reason, increment) : 0;
}

/* Its priorities were other ones: an event for each that has changed. */
uint64_t kactivity_write_priority(struct kcpu *cpu, const struct kthread *thread, int8_t old, int8_t old_base);
static inline uint64_t kactivity_priority(struct kcpu *cpu, const struct kthread *thread, int8_t old, int8_t old_base)
{
    return (thread->priority != old || thread->base_priority != old_base) && trace_hub_wants(cpu->trace, PERF_PRIORITY)
               ? kactivity_write_priority(cpu, thread, old, old_base)
               : 0;
}

/* The timer has interrupted this. */
uint64_t kactivity_write_profile(struct kcpu *cpu, const struct arch_trap_frame *frame);
static inline uint64_t kactivity_profile(struct kcpu *cpu, const struct arch_trap_frame *frame)
{
    return trace_hub_wants(cpu->trace, PERF_PROFILE) ? kactivity_write_profile(cpu, frame) : 0;
}

/* Every so many ticks of a CPU one is a sample, from its next tick on: kernel/activity/sample_interval.h sets it. */
extern uint32_t kactivity_sample_every;
static inline bool kactivity_sample_due(const struct kcpu *cpu)
{
    uint32_t n = __atomic_load_n(&kactivity_sample_every, __ATOMIC_RELAXED);
    return n == 1 || cpu->ticks % n == 0;
}

/* Windows' name (trace/pmc_sources.h) for what the session's `event` of a CPU counts. */
uint16_t kactivity_source(uint32_t cpu, uint32_t event);
/* A counter of `source` has interrupted this. */
uint64_t kactivity_write_pmc(struct kcpu *cpu, const struct arch_trap_frame *frame, uint16_t source);
static inline uint64_t kactivity_pmc(struct kcpu *cpu, const struct arch_trap_frame *frame, uint16_t source)
{
    return trace_hub_wants(cpu->trace, PERF_PMC_PROFILE) ? kactivity_write_pmc(cpu, frame, source) : 0;
}

/* When an interrupt, or a DPC, begins: for the event at its end. 0: none is wanted. */
static inline uint64_t kactivity_begin(const struct kcpu *cpu, uint32_t group)
{
    return trace_hub_wants(cpu->trace, group) ? arch_rdtsc() : 0;
}

/* The handler of an interrupt that began at `begin` has returned. */
uint64_t kactivity_write_interrupt(struct kcpu *cpu, uint64_t vector, arch_irq_handler routine, uint64_t begin);
static inline uint64_t kactivity_interrupt(struct kcpu *cpu, uint64_t vector, arch_irq_handler routine, uint64_t begin)
{
    return begin && trace_hub_wants(cpu->trace, PERF_INTERRUPT) ? kactivity_write_interrupt(cpu, vector, routine, begin)
                                                                : 0;
}

/* So has a DPC's routine. */
uint64_t kactivity_write_dpc(struct kcpu *cpu, const void *routine, bool timer, uint64_t begin);
static inline uint64_t kactivity_dpc(struct kcpu *cpu, const void *routine, bool timer, uint64_t begin)
{
    return begin && trace_hub_wants(cpu->trace, PERF_DPC) ? kactivity_write_dpc(cpu, routine, timer, begin) : 0;
}
