/* SPDX-License-Identifier: MIT */
/* Commands that need the kernel itself. */
#pragma once

#include "kernel/monitor/inside.h"

extern const struct kmonitor_command kmonitor_threads[]; /* kernel/monitor/threads.c */
extern const struct kmonitor_command kmonitor_trace[];   /* kernel/monitor/trace.c */
