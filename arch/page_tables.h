/* SPDX-License-Identifier: MIT */
/* Page tables (SDM vol. 3, "4-Level Paging and 5-Level Paging"). */
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
    uint64_t root;                /* physical; 0 before arch_paging_init */
    unsigned levels, large_level; /* 4 or 5; the highest whose entries may map a page: 2 or 3 */
    uint64_t physical;            /* where physical memory is reached: BOOT_DIRECT_MAP; in the loader 0 */
    bool shared;                  /* address spaces hold copies of the upper half of the kernel's top table */
    uint64_t phys_end;            /* 2^MAXPHYADDR: an entry with a higher address faults when it is used */
};
extern struct arch_page_tables arch_page_tables; /* the kernel's; the loader has its own */

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
    return (uint64_t *)(arch_page_tables.physical + (phys & ENTRY_ADDRESS));
}

/* ---- arch/page_map.c: the loader compiles it as well, for the tables that the kernel starts with. Tables are pages of
 * kernel_page_permanent (arch/upcalls.h). 0 or -ENOMEM; -EEXIST where something is mapped already */

#define CPUID_80000001_EDX_PAGE1GB (1u << 26)

/* A new top table, not in force yet. `five_levels`: CR4.LA57; `gigabyte_pages`: the processor has them. */
int arch_page_tables_begin(bool five_levels, bool gigabyte_pages);
/* Maps [phys, phys + size) at `virt` with the largest pages that fit. All three are multiples of 4096. `flags`:
 * ARCH_MAP_x, WRITE and EXECUTE together are not refused. */
int arch_map_range(uint64_t virt, uint64_t phys, uint64_t size, unsigned flags);
/* Puts one page of arch_level_size(level) into the tables below `top`. -EBUSY: see arch_page_tables.shared. */
int arch_map_at_level(uint64_t top, unsigned level, uint64_t virt, uint64_t phys, unsigned flags);
