/* SPDX-License-Identifier: MIT */
/* Threads with their stacks, in the slots that kernel/thread.h describes. Slots are reused. They are never unmapped (no
 * TLB shootdown) and never given back to kernel/memory/mem.c. */
#pragma once

#include "kernel/thread.h"

/* A thread, all 0 but its magic, with a zeroed stack; NULL without memory. */
struct kthread *kstack_alloc(void);
void kstack_free(struct kthread *thread);
/* How many there are. */
uint64_t kstack_count(void);

/* Initial stack pointer, 16-byte aligned. */
static inline void *kstack_pointer(struct kthread *thread)
{
    return thread;
}
