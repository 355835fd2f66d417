/* SPDX-License-Identifier: MIT */
/*
 * Dispatcher objects, which threads wait for; a thread is one (kernel/thread.h). Waiters are served first come,
 * first served. A signal hands the object to the thread that it wakes, so a woken thread never has to compete for it.
 *
 * The functions are kernel calls (kernel/gate.h), but for three below: any interrupt state, no spinlock held. Only
 * threads may call functions that wait. Interrupt handlers may call those that signal. All state is under the
 * dispatcher lock.
 *
 * A wait names its KWAIT_REASON, which the trace shows. `ticks`: the wait ends with -ETIMEDOUT at that timer tick from
 * now; 0 does not wait; KWAIT_FOREVER has no end. A signal names an `increment`: a dynamic thread that it wakes runs at
 * least at its base priority + increment, until its quanta end (kernel/sched/priority.h). KWAIT_INCREMENT is the usual
 * one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/thread.h"
#include "trace/wire/format.h"

#define KWAIT_FOREVER   UINT64_MAX
#define KWAIT_INCREMENT 1

/* ---- for files that define dispatcher objects, and kernel/sched/time.c; the dispatcher lock is held */
void kwait_object_init(struct kobject *object, enum kobject_type type, int32_t signal);
/* Hands a signalled object to its waiters, as long as it is signalled. */
void kwait_object_wake(struct kobject *object, int increment);
/* Ends a thread's wait: takes the thread out of its lists and makes it ready. */
void kwait_end(struct kthread *thread, int status, int increment);

/* ---- for the same files; a kernel call, which takes the lock itself */
/* The current thread waits for `object` (NULL: only for the time). */
int kwait(struct kobject *object, enum kwait_reason reason, uint64_t ticks);
