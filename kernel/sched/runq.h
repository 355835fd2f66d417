/* SPDX-License-Identifier: MIT */
/* The ready queue of a CPU: a list for each priority, and a bitmap of the lists that are not empty. Under the
 * dispatcher lock. Pure: also compiled on the host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/cpu.h"

void krunq_init(struct krunq *queue);
/* By thread->priority: behind its equals, or before them (a preempted thread with quantum left). */
void krunq_add(struct krunq *queue, struct kthread *thread, bool front);
void krunq_remove(struct krunq *queue, struct kthread *thread);
/* Highest priority in the queue, -1 where it is empty. */
int krunq_highest(const struct krunq *queue);
/* First thread of the highest priority that may run on CPU `cpu`; NULL where there is none. It stays queued. */
struct kthread *krunq_first(const struct krunq *queue, uint32_t cpu);
