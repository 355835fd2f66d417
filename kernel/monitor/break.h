/* SPDX-License-Identifier: MIT */
/* Breakpoints of the monitor, by debug registers: the CPU that comes to one holds all others by NMI while it talks. */
#pragma once

#include <stdbool.h>

#include "arch/trapframe.h"
#include "kernel/monitor/inside.h"

/* A #DB: whether it was a breakpoint; `stop` has then been called with its name, interrupts off and other CPUs held. */
bool kmonitor_break_debug(struct arch_trap_frame *frame, void (*stop)(const char *name));
/* Breakpoints are in force from now on, or no longer: a switch of the monitor's own thread shall not stop it. All CPUs
 * run; thread context. */
void kmonitor_break_arm(bool on);

extern const struct kmonitor_command kmonitor_break[];
