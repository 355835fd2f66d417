/* SPDX-License-Identifier: MIT */
#include "kernel/memory/stack.h"

#include "arch/arch.h"
#include "arch/upcalls.h"
#include "kernel/lib/list.h"
#include "kernel/lib/string.h"
#include "kernel/lock/spinlock.h"
#include "kernel/memory/mem.h"

#define BOTTOM ARCH_PAGE_SIZE /* the guard page */

/* A free stack, at the foot of its slot's first mapped page. */
struct free_stack {
    struct free_stack *next;
};

static struct kspinlock stack_lock = KSPINLOCK("stacks");
static struct free_stack *recycled;
static uint64_t used; /* slots ever used */

static void *new_slot(void)
{
    if (used == KSTACK_COUNT)
        return NULL;
    char *slot = (char *)(KSTACK_BASE + used * KSTACK_SLOT);
    for (uint64_t at = BOTTOM; at < KSTACK_SLOT; at += ARCH_PAGE_SIZE) {
        uint64_t phys = arch_virt_to_phys(slot + at); /* mapped by an attempt that ran out of memory half-way? */
        if (phys != ~UINT64_C(0))
            continue;
        phys = kernel_page_permanent();
        if (!phys || kmem_map_page(slot + at, phys, ARCH_MAP_WRITE) != 0)
            return NULL;
    }
    used++;
    return slot;
}

void *kstack_alloc(struct kthread *thread)
{
    bool on = kspin_lock_irqsave(&stack_lock);
    char *slot;
    if (recycled) {
        slot = (char *)recycled - BOTTOM;
        recycled = recycled->next;
    } else {
        slot = new_slot();
    }
    kspin_unlock_irqrestore(&stack_lock, on);
    if (!slot)
        return NULL;
    memset(slot + BOTTOM, 0, KSTACK_SLOT - BOTTOM);
    struct kstack_top *top = kstack_pointer(slot);
    top->thread = thread;
    top->magic = KSTACK_MAGIC;
    return slot;
}

void kstack_free(void *slot)
{
    struct kstack_top *top = kstack_pointer(slot);
    top->thread = NULL;
    struct free_stack *f = (struct free_stack *)((char *)slot + BOTTOM);
    bool on = kspin_lock_irqsave(&stack_lock);
    f->next = recycled;
    recycled = f;
    kspin_unlock_irqrestore(&stack_lock, on);
}
