/* SPDX-License-Identifier: MIT */
/* The truth of switches, of who was counted between them, and of sessions that come and go. */
#include "kernel/lib/string.h"
#include "kernel/recording/ds.h"
#include "kernel/tracepoint/witness.h"
#include "kernel/truth/truth.h"
#include "trace/hub.h"

/* What was stepped of the thread that runs on a CPU, since it came in. */
static struct stepped {
    uint64_t instructions, branches;
} stepped[MAX_CPUS];

void ktruth_retired(uint32_t cpu, bool branch)
{
    stepped[cpu].instructions++;
    stepped[cpu].branches += branch;
}

void kwitness_switch(struct kcpu *cpu, const struct kthread *incoming, const struct kthread *previous, uint64_t tsc)
{
    if (!ktruth_kept)
        return;
    const uint32_t index = cpu->arch.index;
    const struct stepped since = stepped[index];
    stepped[index] = (struct stepped){0};
    if (!trace_hub_on(cpu->trace))
        return;
    const struct cairn_truth_switch t = {
        .kind = CAIRN_TRUTH_SWITCH,
        .cpu = (uint8_t)index,
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
    ktruth_write(index, &t);
    if (!kds->ds.counting)
        return;
    const struct cairn_truth_counts c = {
        .kind = CAIRN_TRUTH_COUNTS,
        .cpu = t.cpu,
        .tid = previous->tid,
        .tsc = tsc,
        .instructions = since.instructions,
        .branches = since.branches,
    };
    ktruth_write(index, &c);
}

void kwitness_session(struct kcpu *cpu, const struct trace_session *session, enum cairn_session_what what,
                      uint32_t life, const struct perfinfo_groupmask *masks, uint64_t tsc)
{
    if (!ktruth_kept)
        return;
    struct cairn_truth_session t = {
        .kind = CAIRN_TRUTH_SESSION,
        .cpu = (uint8_t)cpu->arch.index,
        .session = (uint8_t)trace_session_config(session)->number,
        .what = (uint8_t)what,
        .life = life,
        .tsc = tsc,
    };
    memcpy(t.masks, masks, sizeof t.masks);
    ktruth_write(cpu->arch.index, &t);
}
