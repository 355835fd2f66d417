/* SPDX-License-Identifier: MIT */
#include "boot/paging.h"

#include "arch/page_tables.h"
#include "kernel/lib/errno.h"

#define GIB     (UINT64_C(1) << 30)
#define LOW_END (4 * GIB)

struct arch_page_tables arch_page_tables;

static int map_memory(uint64_t from, uint64_t end, uint64_t *direct_size)
{
    for (uint64_t at = from / GIB * GIB; at < end; at += GIB) {
        int error = arch_map_range(at, at, GIB, ARCH_MAP_WRITE | ARCH_MAP_EXECUTE);
        if (!error)
            error = arch_map_range(BOOT_DIRECT_MAP + at, at, GIB, ARCH_MAP_WRITE);
        if (error && error != -EEXIST)
            return error;
        if (*direct_size < at + GIB)
            *direct_size = at + GIB;
    }
    return 0;
}

static int map_segment(const struct boot_elf_segment *s, uint64_t offset)
{
    const uint64_t first = s->virt & ~(BOOT_PAGE_SIZE - 1),
                   last = (s->virt + s->memory_size - 1) | (BOOT_PAGE_SIZE - 1);
    return arch_map_range(first, first + offset, last - first + 1,
                          (s->flags & BOOT_ELF_W ? ARCH_MAP_WRITE : 0) |
                              (s->flags & BOOT_ELF_X ? ARCH_MAP_EXECUTE : 0));
}

int boot_paging_build(const struct boot_efi_map *map, const struct boot_elf *elf, uint64_t kernel_phys,
                      uint64_t *direct_size)
{
    struct boot_efi_memory d;
    int error = 0;
    *direct_size = 0;
    for (uint32_t i = 0; i < elf->segment_count && !error; i++)
        error = map_segment(&elf->segments[i], kernel_phys - elf->virt);
    if (!error)
        error = map_memory(0, LOW_END, direct_size);
    for (size_t i = 0; !error && boot_memory_get(map, i, &d); i++)
        if (d.pages && boot_memory_is_ram(d.type) && boot_memory_is_sound(&d) && d.physical_start < BOOT_END) {
            const uint64_t pages = (BOOT_END - d.physical_start) / BOOT_PAGE_SIZE;
            error = map_memory(d.physical_start,
                               d.physical_start + (d.pages < pages ? d.pages : pages) * BOOT_PAGE_SIZE, direct_size);
        }
    return error;
}
