/* SPDX-License-Identifier: MIT */
/* Address spaces. Pages of programs are of 4 KiB, in tables that are freed with the space. */
#include "arch/page_tables.h"
#include "arch/registers.h"
#include "arch/user/user.h"
#include "kernel/lib/errno.h"

#define USER_TOPS 256u /* entries of a top table that belong to the lower half */

int arch_space_create(uint64_t *space)
{
    const uint64_t *from = arch_table_at(arch_page_tables.root);
    uint64_t top = kernel_page();

    if (!top)
        return -ENOMEM;
    for (unsigned i = USER_TOPS; i < 512; i++)
        arch_table_at(top)[i] = from[i];
    arch_page_tables.shared = true;
    *space = top;
    return 0;
}

int arch_space_map(uint64_t space, uint64_t virt, uint64_t phys, unsigned flags)
{
    uint64_t *entry = &arch_table_at(space)[arch_level_index(virt, arch_page_tables.levels)];

    if ((virt | phys) % ARCH_PAGE_SIZE || phys >= arch_page_tables.phys_end || virt >= ARCH_USER_END)
        return -EINVAL;
    if (flags & ARCH_MAP_WRITE && flags & ARCH_MAP_EXECUTE)
        return -EINVAL;
    for (unsigned level = arch_page_tables.levels - 1; level; level--) {
        if (!(*entry & ENTRY_P)) {
            uint64_t page = kernel_page();
            if (!page)
                return -ENOMEM;
            *entry = page | ENTRY_P | ENTRY_RW | ENTRY_US;
        }
        entry = &arch_table_at(*entry)[arch_level_index(virt, level)];
    }
    if (*entry & ENTRY_P)
        return -EEXIST;
    *entry =
        phys | ENTRY_P | ENTRY_US | (flags & ARCH_MAP_WRITE ? ENTRY_RW : 0) | (flags & ARCH_MAP_EXECUTE ? 0 : ENTRY_XD);
    return 0;
}

static void free_tables(uint64_t phys, unsigned level, unsigned entries)
{
    uint64_t *table = arch_table_at(phys);

    for (unsigned i = 0; level > 1 && i < entries; i++)
        if (table[i] & ENTRY_P)
            free_tables(table[i] & ENTRY_ADDRESS, level - 1, 512);
    kernel_page_free(phys);
}

void arch_space_free(uint64_t space)
{
    free_tables(space, arch_page_tables.levels, USER_TOPS);
}

void arch_space_use(uint64_t space)
{
    uint64_t top = space ? space : arch_page_tables.root;

    if (read_cr3() != top)
        write_cr3(top);
}
