/* SPDX-License-Identifier: MIT */
/*
 * How often the timer's interrupt is a sample (0F2EH): every tick of a CPU, or every n-th. Intervals are in units of
 * 100 ns, as Windows has them. There is one for all sessions and CPUs.
 */
#pragma once

#include <stdint.h>

#define KPROFILE_INTERVAL_MAX 10000000u /* a second */

/* From any context. */
uint32_t kprofile_interval(void);
/* The nearest whole number of ticks, at least one, at most KPROFILE_INTERVAL_MAX; sessions with samples are told
 * (0F48H). CPUs heed it from their next tick on. Thread context; of two at once, the last one holds, but sessions may
 * be told of them in the other order. */
void kprofile_set_interval(uint32_t interval);
