/* SPDX-License-Identifier: MIT */
#include "kernel/memory/boot_memory.h"

#include <stdbool.h>

#include "kernel/lib/errno.h"

#define FREE_PAGE UINT64_C(4096)

/* The part of a range that may be used: [*first, *end) in bytes; false where there is none. */
static bool usable(const struct boot_memory *m, uint64_t limit, uint64_t *first, uint64_t *end)
{
    if (!boot_memory_is_free(m->type))
        return false;
    *first = m->base > KBOOT_MEMORY_FIRST ? m->base : KBOOT_MEMORY_FIRST;
    *end = m->base + m->size < limit ? m->base + m->size : limit;
    return *first < *end;
}

int kboot_memory_plan(struct kboot_memory *plan, const struct boot_memory *memory, uint32_t count, uint64_t limit)
{
    uint64_t first, end, top = 0;

    *plan = (struct kboot_memory){.memory = memory, .count = count, .limit = limit};
    for (uint32_t i = 0; i < count; i++) {
        if (usable(&memory[i], limit, &first, &end) && end > top)
            top = end;
        if (usable(&memory[i], UINT64_MAX, &first, &end) && end > limit)
            plan->left_out += end - (first > limit ? first : limit);
    }
    plan->pages = top / FREE_PAGE;
    plan->bitmap_bytes = (kpage_bitmap_bytes(plan->pages) + FREE_PAGE - 1) & ~(FREE_PAGE - 1);
    for (uint32_t i = 0; i < count && !plan->bitmap; i++)
        if (usable(&memory[i], limit, &first, &end) && end - first >= plan->bitmap_bytes)
            plan->bitmap = first;
    return plan->bitmap ? 0 : -ENOMEM;
}

void kboot_memory_give(const struct kboot_memory *plan, struct kpage_bitmap *map)
{
    const uint64_t bitmap_end = plan->bitmap + plan->bitmap_bytes;
    uint64_t first, end;

    for (uint32_t i = 0; i < plan->count; i++) {
        if (!usable(&plan->memory[i], plan->limit, &first, &end))
            continue;
        if (first == plan->bitmap)
            first = bitmap_end;
        kpage_bitmap_give(map, first / FREE_PAGE, (end - first) / FREE_PAGE);
    }
}
