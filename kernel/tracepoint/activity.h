/* SPDX-License-Identifier: MIT */
/*
 * What happens between switches, for sessions that want events of it. Interrupts have no time for a table: these
 * functions are weak, and only a kernel that writes such events has them. Unless a comment says otherwise, each is
 * called where the thing happens: on that CPU, with interrupts off.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/thread.h"

/* An interrupt has begun, cpu->irq_depth includes it; its handler has returned. */
void kactivity_interrupt_begins(const struct kcpu *cpu) __attribute__((weak));
void kactivity_interrupt_ends(struct kcpu *cpu, const struct arch_trap_frame *frame, arch_irq_handler handler)
    __attribute__((weak));

/* The timer has interrupted `frame`; cpu->ticks does not include this tick yet. */
void kactivity_tick(struct kcpu *cpu, const struct arch_trap_frame *frame) __attribute__((weak));
/* So has the counter of the session's `event`. */
void kactivity_overflow(struct kcpu *cpu, const struct arch_trap_frame *frame, uint32_t event) __attribute__((weak));

/* A DPC's routine is about to run, or has returned. */
void kactivity_dpc_begins(const struct kcpu *cpu) __attribute__((weak));
void kactivity_dpc_ends(struct kcpu *cpu, const void *routine, bool timer) __attribute__((weak));

/* READY: the thread is new, or its wait has ended. BOOST: its priority has risen by the wait's increment. DECAY: its
 * quantum has ended, and its priority has changed. SET: it has set its priority. `before`: what it was. Dispatcher
 * lock. */
enum kactivity_what { KACTIVITY_READY = 1, KACTIVITY_BOOST, KACTIVITY_DECAY, KACTIVITY_SET };
struct kactivity_before {
    uint8_t state;
    int8_t priority, base;
};
static inline struct kactivity_before kactivity_look(const struct kthread *thread)
{
    return (struct kactivity_before){thread->state, thread->priority, thread->base_priority};
}
/* KACTIVITY_READY stands for READY and BOOST. `increment`: the wait's; otherwise 0. */
void kactivity_thread(struct kcpu *cpu, enum kactivity_what what, const struct kthread *thread,
                      struct kactivity_before before, int increment) __attribute__((weak));

/* A word of somebody's, for whoever reads the trace. Any context but NMI and #DB, once there are threads; any interrupt
 * state. A kernel call (kernel/gate.h). Cut at 127 characters. */
void kactivity_mark(const char *text) __attribute__((weak));
