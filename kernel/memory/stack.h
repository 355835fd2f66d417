/* SPDX-License-Identifier: MIT */
/* Kernel stacks, in the slots that kernel/thread.h describes. Slots are reused. They are never unmapped (no TLB
 * shootdown) and never given back to kernel/memory/mem.c. */
#pragma once

#include "kernel/thread.h"

/* A zeroed stack that belongs to `thread`; NULL without memory. */
void *kstack_alloc(struct kthread *thread);
void kstack_free(void *slot);

/* Initial stack pointer, 16-byte aligned. */
static inline void *kstack_pointer(void *slot)
{
    return (char *)slot + KSTACK_SLOT - sizeof(struct kstack_top);
}
