/* SPDX-License-Identifier: MIT */
#include "kernel/memory/mem.h"

#include <stdbool.h>

#include "arch/arch.h"
#include "arch/upcalls.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/lock/spinlock.h"
#include "kernel/memory/boot_memory.h"
#include "kernel/memory/page_bitmap.h"

/* Lock order: map_lock, then page_lock (page tables). */
static struct kspinlock page_lock = KSPINLOCK("pages");
static struct kspinlock map_lock = KSPINLOCK("mappings");

static struct kpage_bitmap pages;
static uint64_t live;

int kmem_init(const struct boot_info *info)
{
    const uint64_t limit = info->direct_map_size < KMEM_MAX_BYTES ? info->direct_map_size : KMEM_MAX_BYTES;
    struct kboot_memory plan;

    if (kboot_memory_plan(&plan, arch_phys_to_virt(info->memory), info->memory_count, limit) != 0) {
        kprintf("memory: no range of %lu KiB for the page bitmap\n", (unsigned long)(plan.bitmap_bytes / 1024));
        return -ENOMEM;
    }
    kpage_bitmap_init(&pages, arch_phys_to_virt(plan.bitmap), plan.pages);
    kboot_memory_give(&plan, &pages);

    kprintf("memory: %lu MiB free", (unsigned long)(pages.free * ARCH_PAGE_SIZE >> 20));
    if (plan.left_out)
        kprintf(", %lu MiB beyond 0x%lx left out", (unsigned long)(plan.left_out >> 20), (unsigned long)limit);
    if (info->memory_left_out)
        kprintf(", %u ranges left out or cut by the loader", info->memory_left_out);
    kprintf("\n");
    return 0;
}

/* `counted`: they are among `live`. */
static void *take(size_t count, size_t alignment, bool counted)
{
    bool on = kspin_lock_irqsave(&page_lock);
    uint64_t first = kpage_bitmap_take_aligned(&pages, count, alignment);
    if (first != KPAGE_BITMAP_NONE && counted)
        live += count;
    kspin_unlock_irqrestore(&page_lock, on);
    return first == KPAGE_BITMAP_NONE ? NULL : arch_phys_to_virt(first * ARCH_PAGE_SIZE);
}

static void *take_cleared(size_t count, size_t alignment, bool counted)
{
    void *taken = take(count, alignment, counted);
    return taken ? memset(taken, 0, count * ARCH_PAGE_SIZE) : NULL;
}

uint64_t kernel_page_permanent(void)
{
    void *page = take_cleared(1, 1, false);
    return page ? (uint64_t)page - BOOT_DIRECT_MAP : 0;
}

void *kmem_pages_alloc(size_t count)
{
    return take_cleared(count, 1, true);
}

void *kmem_pages_alloc_uncleared(size_t count)
{
    return take(count, 1, true);
}

void *kmem_pages_alloc_aligned(size_t count)
{
    return take_cleared(count, count, true);
}

void kmem_pages_free(void *address, size_t count)
{
    bool on = kspin_lock_irqsave(&page_lock);
    uint64_t phys = (uint64_t)address - BOOT_DIRECT_MAP;
    if (phys % ARCH_PAGE_SIZE || count > live || !kpage_bitmap_give(&pages, phys / ARCH_PAGE_SIZE, count))
        kpanic("memory: %lu pages at %p are freed but were not allocated", (unsigned long)count, address);
    live -= count;
    kspin_unlock_irqrestore(&page_lock, on);
}

int kmem_map_page(void *virt, uint64_t phys, unsigned flags)
{
    bool on = kspin_lock_irqsave(&map_lock);
    int e = arch_map_page(virt, phys, flags);
    kspin_unlock_irqrestore(&map_lock, on);
    return e;
}

uint64_t kmem_pages_available(void)
{
    return __atomic_load_n(&pages.free, __ATOMIC_RELAXED);
}

uint64_t kmem_pages_live(void)
{
    return __atomic_load_n(&live, __ATOMIC_RELAXED);
}
