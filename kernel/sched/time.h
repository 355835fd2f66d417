/* SPDX-License-Identifier: MIT */
/* The system's time in timer ticks, which are those of CPU 0, and waits that end at a tick. */
#pragma once

#include <stdint.h>

struct kthread;

/* Ticks so far. Any context. */
uint64_t ktime_ticks(void);
/* Ends a thread's wait at tick `due`, unless it has ended before. Dispatcher lock held. */
void ktime_wait(struct kthread *thread, uint64_t due);
/* Advances the time by one tick. From the timer's interrupt, CPU 0 only. */
void ktime_tick(void);
