/* SPDX-License-Identifier: MIT */
/*
 * Where the model of backend soft sees what runs (ds/ds.h): at single steps and at ways into the kernel. All do nothing
 * on a CPU without an active model. What they begin is finished before another CPU's panic stops this one: a record and
 * the truth of it are both in that panic's trace, or neither. Interrupts off.
 */
#pragma once

#include <stdbool.h>

#include "arch/arch.h"

/* #DB; given to arch_debug_set. True: the single step was the model's. */
bool kstepping_debug(struct arch_trap_frame *frame);
/* First thing after an interrupt or exception. */
void kstepping_interrupted(struct arch_trap_frame *frame);
/* First thing after SYSCALL. */
void kstepping_system_call(struct arch_trap_frame *frame);
