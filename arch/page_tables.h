/* SPDX-License-Identifier: MIT */
/* Entries of page tables (SDM vol. 3, "4-Level Paging and 5-Level Paging"). */
#pragma once

#include "arch/arch.h"

#define ENTRY_P         (UINT64_C(1) << 0)
#define ENTRY_RW        (UINT64_C(1) << 1)
#define ENTRY_US        (UINT64_C(1) << 2) /* ring 3, too; counts only where the entries of all levels have it */
#define ENTRY_PWT       (UINT64_C(1) << 3)
#define ENTRY_PCD       (UINT64_C(1) << 4)
#define ENTRY_PS        (UINT64_C(1) << 7)  /* levels 2 and 3: this entry maps a 2 MiB or 1 GiB page */
#define ENTRY_PAT       (UINT64_C(1) << 7)  /* level 1 */
#define ENTRY_PAT_LARGE (UINT64_C(1) << 12) /* where PS is set */
#define ENTRY_XD        (UINT64_C(1) << 63)
#define ENTRY_ADDRESS   UINT64_C(0x000FFFFFFFFFF000)

struct arch_page_tables {
    uint64_t root; /* physical; 0 before arch_paging_init */
    unsigned levels;
    bool shared;       /* address spaces hold copies of the upper half of the kernel's top table */
    uint64_t phys_end; /* 2^MAXPHYADDR: an entry with a higher address faults when it is used */
};
extern struct arch_page_tables arch_page_tables; /* the kernel's */

static inline uint64_t arch_level_size(unsigned level)
{
    return UINT64_C(1) << (12 + 9 * (level - 1));
}

static inline unsigned arch_level_index(uint64_t virt, unsigned level)
{
    return virt >> (12 + 9 * (level - 1)) & 511;
}

static inline uint64_t *arch_table_at(uint64_t phys)
{
    return arch_phys_to_virt(phys & ENTRY_ADDRESS);
}
