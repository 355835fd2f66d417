/* SPDX-License-Identifier: MIT */
/* Looks up pages for lab_page (labs/lab.h). SDM vol. 3A, "4-Level Paging and 5-Level Paging". */
#include "arch/arch.h"
#include "arch/page_tables.h"
#include "arch/register_access.h"
#include "arch/registers.h"
#include "labs/machine/machine.h"

#define ENTRY_LARGE   (UINT64_C(1) << 7)
#define ENTRY_ADDRESS UINT64_C(0x000FFFFFFFFFF000)
#define ALL_LEVELS    (LAB_PAGE_PRESENT | LAB_PAGE_WRITABLE | LAB_PAGE_USER | LAB_PAGE_ACCESSED)

uint64_t lab_page(enum lab_space space, uint64_t address)
{
    const unsigned top = read_cr4() & CR4_LA57 ? 5 : 4;
    const int64_t beyond = (int64_t)address >> (12 + 9 * top - 1);
    uint64_t entry = space == LAB_SPACE_PROGRAM ? lab_machine_space() : arch_page_tables.root;
    uint64_t everywhere = ALL_LEVELS;
    if (!entry || (beyond != 0 && beyond != -1))
        return 0;
    for (unsigned level = top; level; level--) {
        const uint64_t *table = arch_phys_to_virt(entry & ENTRY_ADDRESS);
        entry = table[address >> (12 + 9 * (level - 1)) & 511];
        everywhere &= entry;
        if (!(entry & LAB_PAGE_PRESENT))
            return 0;
        if (level == 1 || (level <= 3 && entry & ENTRY_LARGE))
            return everywhere | (entry & LAB_PAGE_DIRTY);
    }
    return 0;
}
