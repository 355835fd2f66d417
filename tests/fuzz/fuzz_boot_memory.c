/* SPDX-License-Identifier: MIT */
/*
 * What loader and kernel make of a firmware's memory map. The input: the distance of two descriptors, how many ranges
 * have room, then the descriptors. Each range that comes out is one of the map's, or a part of it; no page of a free
 * one is anything else, or free twice; what is missing is counted. The same of the pages that the kernel then takes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "boot/memory.h"
#include "boot/save/middle.h"
#include "kernel/memory/boot_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAGE         UINT64_C(4096)
#define END          (UINT64_C(1) << 52)
#define LITTLE       (UINT64_C(1) << 25) /* of memory: so much has its bitmap made */
#define KERNEL_LIMIT (UINT64_C(512) << 30)
#define MUST(what)   ((what) ? (void)0 : abort())

static struct boot_efi_memory *descriptors; /* as they were given */
static size_t count;

static void read_descriptors(const struct boot_efi_map *map)
{
    count = map->stride < sizeof *descriptors ? 0 : map->size / map->stride;
    descriptors = malloc((count + 1) * sizeof *descriptors);
    MUST(descriptors);
    for (size_t i = 0; i < count; i++)
        memcpy(&descriptors[i], (const uint8_t *)map->descriptors + i * map->stride, sizeof *descriptors);
}

static bool sound(const struct boot_efi_memory *d)
{
    return d->pages && d->physical_start % PAGE == 0 && d->physical_start < END &&
           d->pages <= (END - d->physical_start) / PAGE;
}

/* Whether a range that is not free has a page in [base, end), rounded outwards. */
static bool claimed(uint64_t base, uint64_t end)
{
    for (size_t i = 0; i < count; i++) {
        const struct boot_efi_memory *d = &descriptors[i];
        if (boot_memory_is_free(d->type) || !d->pages || d->physical_start >= end)
            continue;
        if (d->pages > (END - d->physical_start) / PAGE || d->physical_start + d->pages * PAGE > base)
            return true;
    }
    return false;
}

/* Whether one range of the map has all of it; `exactly`: and no more. */
static bool given(uint64_t base, uint64_t size, uint32_t type, bool exactly)
{
    for (size_t i = 0; i < count; i++) {
        const struct boot_efi_memory *d = &descriptors[i];
        if (!sound(d) || d->type != type || base < d->physical_start ||
            base + size > d->physical_start + d->pages * PAGE)
            continue;
        if (!exactly || (base == d->physical_start && size == d->pages * PAGE))
            return true;
    }
    return false;
}

static void check_ranges(const struct boot_memory *out, uint32_t n, uint32_t capacity, uint32_t left_out)
{
    uint32_t whole = 0, not_empty = 0;
    MUST(n <= capacity);
    for (uint32_t i = 0; i < n; i++) {
        const struct boot_memory *m = &out[i];
        MUST(m->size && m->size % PAGE == 0 && m->base % PAGE == 0 && m->base < END && m->size <= END - m->base);
        MUST(i == 0 || out[i - 1].base <= m->base);
        const bool is_free = boot_memory_is_free(m->type), exactly = given(m->base, m->size, m->type, true);
        MUST(exactly || (is_free && given(m->base, m->size, m->type, false)));
        whole += exactly;
        MUST(!is_free || !claimed(m->base, m->base + m->size));
        for (uint32_t k = 0; is_free && k < n; k++)
            MUST(k == i || out[k].base >= m->base + m->size || out[k].base + out[k].size <= m->base);
    }
    for (size_t i = 0; i < count; i++)
        not_empty += descriptors[i].pages != 0;
    MUST(left_out >= not_empty - whole && left_out <= not_empty);
}

/* The pages that are free in the kernel's bitmap, run by run. */
static void check_pages(const struct kboot_memory *plan, const struct kpage_bitmap *map, const struct boot_memory *out)
{
    uint64_t free_pages = 0, expected = 0, first, n;
    for (first = 0; first < map->pages; first += n) {
        const bool is_free = map->bits[first / 64] >> first % 64 & 1;
        for (n = 1; first + n < map->pages; n++)
            if ((map->bits[(first + n) / 64] >> (first + n) % 64 & 1) != is_free)
                break;
        if (!is_free)
            continue;
        const uint64_t base = first * PAGE, end = base + n * PAGE;
        MUST(base >= KBOOT_MEMORY_FIRST && end <= plan->limit && !claimed(base, end));
        MUST(base >= plan->bitmap + plan->bitmap_bytes || end <= plan->bitmap);
        free_pages += n;
    }
    for (uint32_t i = 0; i < plan->count; i++)
        if (boot_memory_is_free(out[i].type)) {
            const uint64_t base = out[i].base > KBOOT_MEMORY_FIRST ? out[i].base : KBOOT_MEMORY_FIRST;
            const uint64_t end = out[i].base + out[i].size;
            expected += base < end ? (end - base) / PAGE : 0;
        }
    MUST(map->free == free_pages);
    MUST(expected == free_pages + (plan->bitmap_bytes + plan->left_out) / PAGE); /* each page is somewhere */
}

static void check_kernel(const struct boot_memory *out, uint32_t n, uint64_t limit)
{
    struct kboot_memory plan;
    struct kpage_bitmap map;
    if (kboot_memory_plan(&plan, out, n, limit) != 0)
        return;
    MUST(plan.pages <= limit / PAGE && plan.bitmap_bytes >= kpage_bitmap_bytes(plan.pages));
    MUST(plan.bitmap >= KBOOT_MEMORY_FIRST && plan.bitmap + plan.bitmap_bytes <= limit);
    MUST(!claimed(plan.bitmap, plan.bitmap + plan.bitmap_bytes));
    if (limit > LITTLE)
        return;
    uint64_t *bits = malloc(kpage_bitmap_bytes(plan.pages));
    MUST(bits);
    kpage_bitmap_init(&map, bits, plan.pages);
    kboot_memory_give(&plan, &map);
    check_pages(&plan, &map, out);
    free(bits);
}

/* The memory for save=esp: inside a free range, as the loader has read it. */
static void check_middle(const struct boot_efi_map *map, uint64_t bytes)
{
    const uint64_t limit = UINT64_C(4) << 30, align = UINT64_C(2) << 20;
    const uint64_t at = save_middle(map, bytes, align, limit);
    bool inside = !at;
    MUST(at % align == 0 && at <= limit - bytes);
    for (size_t i = 0; i < count; i++)
        inside |= descriptors[i].type == BOOT_MEMORY_CONVENTIONAL && descriptors[i].physical_start <= at &&
                  (at + bytes - descriptors[i].physical_start + PAGE - 1) / PAGE <= descriptors[i].pages;
    MUST(inside);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const uint32_t capacity = data[1];
    uint8_t *bytes = malloc(size - 2 + 1);
    struct boot_memory *out = malloc((capacity + 1) * sizeof *out);
    uint32_t left_out;
    MUST(bytes && out);
    memcpy(bytes, data + 2, size - 2);
    const struct boot_efi_map map = {.descriptors = bytes, .size = size - 2, .stride = data[0]};
    read_descriptors(&map);
    const uint32_t n = boot_memory_convert(&map, out, capacity, &left_out);
    check_ranges(out, n, capacity, left_out);
    check_kernel(out, n, LITTLE);
    check_kernel(out, n, KERNEL_LIMIT);
    check_middle(&map, UINT64_C(1) << 20);
    check_middle(&map, UINT64_C(64) << 20);
    free(descriptors);
    free(out);
    free(bytes);
    return 0;
}
