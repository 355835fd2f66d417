/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint/activity.h"

#define NOBODY __attribute__((weak))

NOBODY void kactivity_interrupt_begins(const struct kcpu *cpu)
{
    (void)cpu;
}

NOBODY void kactivity_interrupt_ends(struct kcpu *cpu, const struct arch_trap_frame *frame, arch_irq_handler handler)
{
    (void)cpu, (void)frame, (void)handler;
}

NOBODY void kactivity_tick(struct kcpu *cpu, const struct arch_trap_frame *frame)
{
    (void)cpu, (void)frame;
}

NOBODY void kactivity_overflow(struct kcpu *cpu, const struct arch_trap_frame *frame, uint32_t event)
{
    (void)cpu, (void)frame, (void)event;
}

NOBODY void kactivity_dpc_begins(const struct kcpu *cpu)
{
    (void)cpu;
}

NOBODY void kactivity_dpc_ends(struct kcpu *cpu, const void *routine, bool timer)
{
    (void)cpu, (void)routine, (void)timer;
}

NOBODY void kactivity_thread(struct kcpu *cpu, enum kactivity_what what, const struct kthread *thread,
                             struct kactivity_before before, int increment)
{
    (void)cpu, (void)what, (void)thread, (void)before, (void)increment;
}

NOBODY void kactivity_mark(const char *text)
{
    (void)text;
}
