/* SPDX-License-Identifier: MIT */
#include "boot/save/middle.h"

#define PAGE_SHIFT 12

uint64_t save_middle(const struct boot_efi_map *map, uint64_t size, uint64_t align, uint64_t limit)
{
    uint64_t base = 0, room = 0;
    struct boot_efi_memory d;
    for (size_t i = 0; boot_memory_get(map, i, &d); i++) {
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
