/* SPDX-License-Identifier: MIT */
/* SDM vol. 3, "4-Level Paging and 5-Level Paging". */
#include "arch/page_tables.h"
#include "arch/upcalls.h"
#include "kernel/lib/errno.h"

int arch_page_tables_begin(bool five_levels, bool gigabyte_pages)
{
    arch_page_tables.levels = five_levels ? 5 : 4;
    arch_page_tables.large_level = gigabyte_pages ? 3 : 2;
    arch_page_tables.root = kernel_page_permanent();
    return arch_page_tables.root ? 0 : -ENOMEM;
}

static uint64_t entry_flags(unsigned flags, unsigned level)
{
    uint64_t entry = ENTRY_P;
    if (flags & ARCH_MAP_WRITE)
        entry |= ENTRY_RW;
    if (flags & ARCH_MAP_UNCACHED)
        entry |= ENTRY_PCD | ENTRY_PWT; /* PA3 of the PAT: UC */
    if (flags & ARCH_MAP_COMBINING)     /* PA4: WC, which holds whatever the MTRRs say */
        entry |= level > 1 ? ENTRY_PAT_LARGE : ENTRY_PAT;
    if (!(flags & ARCH_MAP_EXECUTE))
        entry |= ENTRY_XD;
    return entry;
}

/* A table for the branch of level `level` that begins at `entry`, in the tables below `top`. */
static int add_table(uint64_t top, unsigned level, uint64_t *entry)
{
    if (arch_page_tables.shared && top == arch_page_tables.root && level == arch_page_tables.levels)
        return -EBUSY; /* the address spaces would not see it */
    uint64_t page = kernel_page_permanent();
    if (!page)
        return -ENOMEM;
    *entry = page | ENTRY_P | ENTRY_RW;
    return 0;
}

int arch_map_at_level(uint64_t top, unsigned level, uint64_t virt, uint64_t phys, unsigned flags)
{
    uint64_t *table = arch_table_at(top);

    for (unsigned at = arch_page_tables.levels; at > level; at--) {
        uint64_t *entry = &table[arch_level_index(virt, at)];
        if (!(*entry & ENTRY_P)) {
            int error = add_table(top, at, entry);
            if (error)
                return error;
        } else if (*entry & ENTRY_PS && at <= 3) {
            return -EEXIST;
        }
        table = arch_table_at(*entry);
    }
    uint64_t *entry = &table[arch_level_index(virt, level)];
    if (*entry & ENTRY_P)
        return -EEXIST;
    *entry = phys | entry_flags(flags, level) | (level > 1 ? ENTRY_PS : 0);
    return 0;
}

int arch_map_range(uint64_t virt, uint64_t phys, uint64_t size, unsigned flags)
{
    while (size) {
        unsigned level = arch_page_tables.large_level;
        while (level > 1 && ((virt | phys) & (arch_level_size(level) - 1) || size < arch_level_size(level)))
            level--;
        int error = arch_map_at_level(arch_page_tables.root, level, virt, phys, flags);
        if (error)
            return error;
        virt += arch_level_size(level);
        phys += arch_level_size(level);
        size -= arch_level_size(level);
    }
    return 0;
}
