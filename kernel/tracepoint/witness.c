/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint/witness.h"

#define NOBODY __attribute__((weak))

NOBODY void kwitness_switch(struct kcpu *cpu, const struct kthread *incoming, const struct kthread *previous,
                            uint64_t tsc)
{
    (void)cpu, (void)incoming, (void)previous, (void)tsc;
}

NOBODY void kwitness_session(struct kcpu *cpu, const struct trace_session *session, enum cairn_session_what what,
                             uint32_t life, const struct perfinfo_groupmask *masks, uint64_t tsc)
{
    (void)cpu, (void)session, (void)what, (void)life, (void)masks, (void)tsc;
}

NOBODY const void *kwitness_memory(void)
{
    return NULL;
}
