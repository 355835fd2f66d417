/* SPDX-License-Identifier: MIT */
/* Threads that wait for a timer tick, soonest first; those with equal ticks in the order in which they came. Under the
 * dispatcher lock. Pure: also compiled on the host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/lib/list.h"

struct kthread;

/* `thread` is in no timer queue. Looks from the far end: most sleeps end after those begun before them. */
void ktimerq_add(struct klist *queue, struct kthread *thread, uint64_t due);
/* Whether a thread is due at `now`. */
bool ktimerq_due(const struct klist *queue, uint64_t now);
/* The first thread that is due at `now`, taken out; NULL where there is none. */
struct kthread *ktimerq_take(struct klist *queue, uint64_t now);
