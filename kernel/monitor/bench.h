/* SPDX-License-Identifier: MIT */
/* Commands `event` and `step`, before the run: a Debug Store of the monitor's own, and a known program in ring 3
 * (kernel/monitor/ring3/stepped.asm) that it runs one instruction after another. */
#pragma once

#include <stdbool.h>

#include "arch/trapframe.h"
#include "kernel/monitor/inside.h"

/* Makes it, on the CPU that the caller is bound to; false: no memory. On backend soft, that CPU has a model of the
 * monitor's own from here on: what is tried on it does not change the run. */
bool kmonitor_bench_begin(void);
/* Takes it away: counters, PEBS and the model are as they were before. */
void kmonitor_bench_end(void);
/* A #DB: whether it is that of `step`; then it does not return. */
bool kmonitor_bench_debug(struct arch_trap_frame *frame);

extern const struct kmonitor_command kmonitor_bench[];
