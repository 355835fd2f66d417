/* SPDX-License-Identifier: MIT */
/* Equal runs under QEMU's -icount. */
#pragma once

#include <stdint.h>

/* Stops the other processors (INIT), then sleeps until the TSC reaches the next multiple of 2^n (n up to 62), by the
 * one-shot APIC timer: under QEMU's -icount with sleep=off the machine then stands at the same place in every run,
 * however long the firmware took. Uses this CPU's APIC timer, which it leaves stopped. Boot processor, after
 * arch_time_init, before other CPUs run; interrupts off (on for the sleep). */
void arch_tsc_align(unsigned n);
/* Lets interrupts in for some microseconds without halting. Returns with interrupts off, whether one came or not. */
void arch_poll_for_interrupt(void);
/* Executes two instructions `loops` times, and nothing else. */
void arch_spin(uint64_t loops);
