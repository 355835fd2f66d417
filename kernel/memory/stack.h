/* SPDX-License-Identifier: MIT */
/*
 * Kernel stacks. Each lies in a slot of fixed size and alignment, so that any stack pointer leads to the thread that
 * owns the stack, whatever the per-CPU data say:
 *
 *     slot + KSTACK_SLOT ->  +---------------------------+
 *                            | struct kstack_top         |
 *                            | frames, growing down      |
 *     slot + 4096        ->  +---------------------------+
 *                            | guard page, never mapped  |
 *     slot               ->  +---------------------------+  KSTACK_BASE + i * KSTACK_SLOT
 *
 * Slots are recycled, never unmapped (no TLB shootdown) and never given back to kernel/memory/mem.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KSTACK_BASE  UINT64_C(0xFFFFD00000000000)
#define KSTACK_SLOT  UINT64_C(32768)
#define KSTACK_COUNT UINT64_C(65536) /* 2 GiB of addresses */
#define KSTACK_MAGIC UINT64_C(0x4B4341545352434E) /* "NCRSTACK" */

struct kthread;

struct kstack_top {
    struct kthread *thread;
    uint64_t magic;
};

/* A zeroed stack that belongs to `thread`; NULL without memory. */
void *kstack_alloc(struct kthread *thread);
void kstack_free(void *slot);

/* Initial stack pointer, 16-byte aligned. */
static inline void *kstack_pointer(void *slot)
{
    return (char *)slot + KSTACK_SLOT - sizeof(struct kstack_top);
}

/* Whose stack `sp` lies in; NULL where it lies in none (boot stack, IST stacks). Any context. */
static inline struct kthread *kstack_thread(uint64_t sp)
{
    if (sp - KSTACK_BASE >= KSTACK_COUNT * KSTACK_SLOT)
        return NULL;
    const struct kstack_top *top =
        (const struct kstack_top *)((sp & ~(KSTACK_SLOT - 1)) + KSTACK_SLOT - sizeof(struct kstack_top));
    return top->magic == KSTACK_MAGIC ? top->thread : NULL;
}

/* True where `address` is in the guard page of some slot: a fault there is a stack overflow. */
static inline bool kstack_is_guard(uint64_t address)
{
    return address - KSTACK_BASE < KSTACK_COUNT * KSTACK_SLOT && (address & (KSTACK_SLOT - 1)) < 4096;
}
