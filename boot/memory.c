/* SPDX-License-Identifier: MIT */
#include "boot/memory.h"

#include <stdbool.h>

#define PAGE_SHIFT 12

/* Reads descriptor `i`; false where the map ends. */
static bool descriptor(const struct boot_efi_map *map, size_t i, struct boot_efi_memory *d)
{
    if (map->stride < sizeof(*d) || map->size / map->stride <= i)
        return false;
    __builtin_memcpy(d, (const uint8_t *)map->descriptors + i * map->stride, sizeof(*d));
    return true;
}

uint64_t boot_memory_top(const struct boot_efi_map *map)
{
    uint64_t top = 0;
    struct boot_efi_memory d;
    for (size_t i = 0; descriptor(map, i, &d); i++) {
        if (d.pages == 0 || d.type == BOOT_MEMORY_RESERVED || d.type == BOOT_MEMORY_MMIO ||
            d.type == BOOT_MEMORY_MMIO_PORT)
            continue;
        uint64_t end = d.physical_start + (d.pages << PAGE_SHIFT);
        if (top < end)
            top = end;
    }
    return top;
}

uint32_t boot_memory_convert(const struct boot_efi_map *map, struct boot_memory *out, uint32_t capacity,
                             uint32_t *left_out)
{
    uint32_t count = 0;
    struct boot_efi_memory d;
    *left_out = 0;
    for (size_t i = 0; descriptor(map, i, &d); i++) {
        if (d.pages == 0)
            continue;
        /* Insertion sort: the specification promises no order, most firmware keeps one. */
        uint32_t at = count;
        while (at > 0 && out[at - 1].base > d.physical_start)
            at--;
        if (count == capacity)
            (*left_out)++;
        else
            count++;
        if (at == capacity)
            continue;
        for (uint32_t k = count - 1; k > at; k--)
            out[k] = out[k - 1];
        out[at] = (struct boot_memory){.base = d.physical_start,
                                       .size = d.pages << PAGE_SHIFT,
                                       .attributes = d.attributes,
                                       .type = d.type};
    }
    return count;
}

uint64_t boot_memory_middle(const struct boot_efi_map *map, uint64_t size, uint64_t align, uint64_t limit)
{
    uint64_t base = 0, room = 0;
    struct boot_efi_memory d;
    for (size_t i = 0; descriptor(map, i, &d); i++) {
        if (d.type != BOOT_MEMORY_CONVENTIONAL || d.physical_start >= limit)
            continue;
        const uint64_t most = (limit - d.physical_start) >> PAGE_SHIFT;
        const uint64_t bytes = (d.pages < most ? d.pages : most) << PAGE_SHIFT;
        if (bytes > room) {
            base = d.physical_start;
            room = bytes;
        }
    }
    if (room < size)
        return 0;
    uint64_t at = (base + (room - size) / 2) & ~(align - 1);
    if (at < base) /* the range is hardly larger than what is wanted */
        at += align;
    return at && at - base <= room - size ? at : 0;
}
