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

NOBODY void kwitness_thread(struct kcpu *cpu, enum kwitness_what what, const struct kthread *thread,
                            struct kwitness_thread before, uint64_t tsc)
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

NOBODY const void *kwitness_memory(void)
{
    return NULL;
}
