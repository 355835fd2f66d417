/* SPDX-License-Identifier: MIT */
/* The monitor (option monitor=on): a prompt on the serial line, or at keyboard and screen, or a script, before the run,
 * at breakpoints and after a panic. docs/learn/monitor.md shows it. */
#pragma once

#include "boot/info.h"

/* Talks to the user until `go`; `quit` ends the machine. All CPUs run, nothing is recorded yet; thread context. */
void kmonitor_before_run(const struct boot_info *info);
/* The run begins, or ends: breakpoints are in force in between. Nothing unless kmonitor_before_run has been called. */
void kmonitor_run_begins(bool begins);
/* The same after a panic, before the dump: all other CPUs are stopped, interrupts are off. Nothing unless
 * kmonitor_before_run has been called. */
void kmonitor_after_panic(void);
