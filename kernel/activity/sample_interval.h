/* SPDX-License-Identifier: MIT */
/* Which timer interrupts are samples (0F2EH): every tick of a CPU, or every n-th. Intervals are in units of 100 ns, as
 * in Windows. All sessions and CPUs have the same interval. */
#pragma once

#include <stdint.h>

#define KSAMPLE_INTERVAL_MAX 10000000u /* a second */

/* From any context. */
uint32_t ksample_interval(void);
/* The nearest whole number of ticks, at least one, at most KSAMPLE_INTERVAL_MAX. CPUs heed it from their next tick on.
 * Thread context; of two at once, the last one holds, but ksample_interval_changed may be called for them in the other
 * order.
 */
void ksample_interval_set(uint32_t interval);

/* Called at a change, in thread context. Another part of the kernel defines it, if it is linked. */
void ksample_interval_changed(uint32_t new_interval, uint32_t old_interval);
