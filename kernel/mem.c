/* SPDX-License-Identifier: MIT */
#include "kernel/mem.h"

#include <stdbool.h>

#include "arch/arch.h"
#include "kernel/errno.h"
#include "kernel/heap.h"
#include "kernel/pagemap.h"
#include "kernel/panic.h"
#include "kernel/spinlock.h"
#include "kernel/string.h"

#define FIRST_BYTE (UINT64_C(1) << 20)

/* Lock order: heap_lock, then page_lock; map_lock, then page_lock (page tables). */
static struct kspinlock page_lock = KSPINLOCK("pages");
static struct kspinlock heap_lock = KSPINLOCK("heap");
static struct kspinlock map_lock = KSPINLOCK("mappings");

static struct kpagemap pages;
static struct kheap heap;
static uint64_t total, permanent, live, left_out;

/* The part of a range that may be used: [*first, *end) in bytes; false where there is none. */
static bool usable(const struct boot_memory *m, uint64_t limit, uint64_t *first, uint64_t *end)
{
    if (m->type != BOOT_MEMORY_CONVENTIONAL && m->type != BOOT_MEMORY_BOOT_SERVICES_CODE &&
        m->type != BOOT_MEMORY_BOOT_SERVICES_DATA)
        return false;
    *first = m->base > FIRST_BYTE ? m->base : FIRST_BYTE;
    *end = m->base + m->size < limit ? m->base + m->size : limit;
    return *first < *end;
}

static void *heap_page_get(void)
{
    return kmem_pages_alloc(1);
}

static void heap_page_put(void *page)
{
    kmem_pages_free(page, 1);
}

int kmem_init(const struct boot_info *info)
{
    const struct boot_memory *memory = arch_phys_to_virt(info->memory);
    uint64_t limit = info->direct_map_size < KMEM_MAX_BYTES ? info->direct_map_size : KMEM_MAX_BYTES;
    uint64_t first, end, top = 0;

    for (uint32_t i = 0; i < info->memory_count; i++) {
        if (usable(&memory[i], limit, &first, &end) && end > top)
            top = end;
        if (usable(&memory[i], UINT64_MAX, &first, &end) && end > limit)
            left_out += end - (first > limit ? first : limit);
    }

    /* The bitmap takes the begin of the first range that holds it. */
    uint64_t count = top / ARCH_PAGE_SIZE, bitmap = 0;
    uint64_t bytes = (kpagemap_bytes(count) + ARCH_PAGE_SIZE - 1) & ~(uint64_t)(ARCH_PAGE_SIZE - 1);
    for (uint32_t i = 0; i < info->memory_count && !bitmap; i++)
        if (usable(&memory[i], limit, &first, &end) && end - first >= bytes)
            bitmap = first;
    if (!bitmap) {
        kprintf("memory: no range of %lu KiB for the page bitmap\n", (unsigned long)(bytes / 1024));
        return -ENOMEM;
    }
    kpagemap_init(&pages, arch_phys_to_virt(bitmap), count);
    for (uint32_t i = 0; i < info->memory_count; i++) {
        if (!usable(&memory[i], limit, &first, &end))
            continue;
        total += (end - first) / ARCH_PAGE_SIZE;
        if (first == bitmap)
            first += bytes;
        if (first < end && !kpagemap_give(&pages, first / ARCH_PAGE_SIZE, (end - first) / ARCH_PAGE_SIZE))
            kprintf("memory: range 0x%lx overlaps another one: ignored\n", (unsigned long)memory[i].base);
    }
    permanent = bytes / ARCH_PAGE_SIZE;
    kheap_init(&heap, heap_page_get, heap_page_put);

    kprintf("memory: %lu MiB free", (unsigned long)(pages.free * ARCH_PAGE_SIZE >> 20));
    if (left_out)
        kprintf(", %lu MiB beyond 0x%lx left out", (unsigned long)(left_out >> 20), (unsigned long)limit);
    if (info->memory_left_out)
        kprintf(", %u ranges left out or cut by the loader", info->memory_left_out);
    kprintf("\n");
    return 0;
}

/* Takes pages and counts them in *counter. */
static void *take(size_t count, uint64_t *counter)
{
    bool on = kspin_lock_irqsave(&page_lock);
    uint64_t first = kpagemap_take(&pages, count);
    if (first != KPAGEMAP_NONE)
        *counter += count;
    kspin_unlock_irqrestore(&page_lock, on);
    if (first == KPAGEMAP_NONE)
        return NULL;
    return memset(arch_phys_to_virt(first * ARCH_PAGE_SIZE), 0, count * ARCH_PAGE_SIZE);
}

uint64_t kmem_early_page(void)
{
    void *page = take(1, &permanent);
    return page ? (uint64_t)page - BOOT_DIRECT_MAP : 0;
}

void *kmem_pages_alloc(size_t count)
{
    return take(count, &live);
}

void kmem_pages_free(void *address, size_t count)
{
    bool on = kspin_lock_irqsave(&page_lock);
    uint64_t phys = (uint64_t)address - BOOT_DIRECT_MAP;
    if (phys % ARCH_PAGE_SIZE || count > live || !kpagemap_give(&pages, phys / ARCH_PAGE_SIZE, count))
        kpanic("memory: %lu pages at %p are freed but were not allocated", (unsigned long)count, address);
    live -= count;
    kspin_unlock_irqrestore(&page_lock, on);
}

void *kmem_alloc(size_t bytes)
{
    bool on = kspin_lock_irqsave(&heap_lock);
    void *object = kheap_alloc(&heap, bytes);
    kspin_unlock_irqrestore(&heap_lock, on);
    return object;
}

void kmem_free(void *object)
{
    bool on = kspin_lock_irqsave(&heap_lock);
    kheap_free(&heap, object);
    kspin_unlock_irqrestore(&heap_lock, on);
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

void kmem_counts(struct kmem_counts *out)
{
    bool on = kspin_lock_irqsave(&heap_lock);
    out->live_objects = heap.live;
    kspin_lock(&page_lock);
    out->total_pages = total;
    out->free_pages = pages.free;
    out->permanent_pages = permanent;
    out->live_pages = live;
    out->left_out_bytes = left_out;
    kspin_unlock(&page_lock);
    kspin_unlock_irqrestore(&heap_lock, on);
}
