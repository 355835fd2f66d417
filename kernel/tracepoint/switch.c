/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint/switch.h"

#include <stdbool.h>

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/cpu.h"
#include "kernel/lib/string.h"
#include "kernel/thread.h"
#include "kernel/tracepoint/cost.h"
#include "kernel/tracepoint/mutant.h"
#include "kernel/tracepoint/truth.h"
#include "trace/hub.h"

/* This switch was traced: the incoming side writes its truth. */
static bool due[MAX_CPUS];

/* The one switch a mutant kernel gets wrong on each CPU. */
static inline bool mutate(int mutant, const struct kcpu *cpu)
{
    return CAIRN_MUTANT == mutant && cpu->switches == 100;
}

void kswitch_out(struct kcpu *cpu, const struct kthread *old, const struct kthread *new, uint64_t tsc)
{
    struct trace_hub_cpu *trace = cpu->trace;
    const bool on = due[cpu->arch.index] = trace_hub_on(trace);
    ds_switch(cpu->ds, tsc);
    if (!on)
        return;
    uint64_t before = arch_rdtsc();
    struct trace_switch sw = {
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
    if (mutate(KMUTANT_THREAD, cpu))
        sw.old_tid = sw.old_tid ? sw.old_tid + 4 : 8;
    if (!mutate(KMUTANT_SKIP, cpu))
        trace_hub_switch(trace, &sw);
    kcost_add(cpu->arch.index, arch_rdtsc() - before);
}

void kswitch_in(struct kcpu *cpu, struct kthread *incoming, const struct kthread *previous, uint64_t tsc)
{
    struct kthread_retired since = {previous->retired.instructions - previous->retired_before.instructions,
                                    previous->retired.branches - previous->retired_before.branches};
    incoming->retired_before = incoming->retired;
    if (!cpu->truth || !due[cpu->arch.index])
        return;
    struct cairn_truth_switch t = {
        .kind = CAIRN_TRUTH_SWITCH,
        .cpu = (uint8_t)cpu->arch.index,
        .old_state = previous->state,
        .old_wait_reason = previous->wait_reason,
        .old_priority = previous->priority,
        .old_base = previous->base_priority,
        .new_priority = incoming->priority,
        .old_ideal_processor = (uint8_t)previous->ideal_processor,
        .old_tid = previous->tid,
        .new_tid = incoming->tid,
        .tsc = tsc,
        .pebs_index = cpu->pebs_index ? *cpu->pebs_index : 0,
        .new_wait = incoming->waited,
        .old_quantum = previous->quantum,
    };
    ktruth_write(cpu->truth, &t);
    if (!cpu->counts_threads)
        return;
    struct cairn_truth_counts c = {
        .kind = CAIRN_TRUTH_COUNTS,
        .cpu = t.cpu,
        .tid = previous->tid,
        .tsc = tsc,
        .instructions = since.instructions,
        .branches = since.branches,
    };
    ktruth_write(cpu->truth, &c);
}

_Static_assert(DS_MAX_COUNTING == TRACE_PMC_MAX, "kswitch_counters");
void kswitch_counters(uint32_t index, uint64_t values[TRACE_PMC_MAX])
{
    ds_read_counting(kcpu_table[index]->ds, values);
}
