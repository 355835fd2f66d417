/* SPDX-License-Identifier: MIT */
#include "kernel/memory/stack.h"

#include "arch/arch.h"
#include "arch/upcalls.h"
#include "kernel/lib/list.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/string.h"
#include "kernel/lock/spinlock.h"
#include "kernel/memory/mem.h"

#define BOTTOM ARCH_PAGE_SIZE /* the guard page */

static struct kspinlock stack_lock = KSPINLOCK("stacks");
static struct klist recycled = {&recycled, &recycled}; /* kthread.queue_link of free slots */
static uint64_t used;                                  /* slots ever used */
static uint64_t count;                                 /* threads */

static struct kthread *new_slot(void)
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
    return (struct kthread *)(slot + KSTACK_SLOT) - 1;
}

struct kthread *kstack_alloc(void)
{
    bool on = kspin_lock_irqsave(&stack_lock);
    struct kthread *thread;
    if (klist_empty(&recycled)) {
        thread = new_slot();
    } else {
        thread = KLIST_ITEM(recycled.next, struct kthread, queue_link);
        klist_remove(&thread->queue_link);
    }
    count += thread != NULL;
    kspin_unlock_irqrestore(&stack_lock, on);
    if (!thread)
        return NULL;
    memset((void *)(kthread_slot(thread) + BOTTOM), 0, KSTACK_SLOT - BOTTOM);
    thread->magic = KSTACK_MAGIC;
    return thread;
}

void kstack_free(struct kthread *thread)
{
    KASSERT(thread->magic == KSTACK_MAGIC); /* else it is free already */
    thread->magic = 0;
    bool on = kspin_lock_irqsave(&stack_lock);
    klist_add_head(&recycled, &thread->queue_link);
    count--;
    kspin_unlock_irqrestore(&stack_lock, on);
}

uint64_t kstack_count(void)
{
    return __atomic_load_n(&count, __ATOMIC_RELAXED);
}
