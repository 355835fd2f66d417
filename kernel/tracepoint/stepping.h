/* SPDX-License-Identifier: MIT */
/*
 * Where a machine that counts by single-stepping sees what runs (ds/machine.h): at single steps and at entries into the
 * kernel. On a CPU without one these functions do nothing. They finish what they begin before another CPU's panic stops
 * this one, so that panic's trace contains both a record and its truth, or neither. Interrupts off.
 */
#pragma once

#include <stdbool.h>

#include "arch/arch.h"

/* #DB; given to arch_debug_set. True: the single step was the machine's. */
bool kstepping_debug(struct arch_trap_frame *frame);
/* First thing after an interrupt or exception. */
void kstepping_interrupted(struct arch_trap_frame *frame);
