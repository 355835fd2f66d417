/* SPDX-License-Identifier: MIT */
/*
 * Builds the page tables that the kernel starts with (boot/info.h says what they contain). Pure: tables are built in
 * pages from the caller, whose addresses are taken as physical ones (UEFI maps memory one to one); the host's unit
 * tests compile the same code. The kernel soon replaces these tables, so they set permissions but no memory types.
 * Source: SDM vol. 3A, "4-Level Paging and 5-Level Paging".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "boot/elf.h"
#include "boot/memory.h"

/* Page-table entry bits. */
#define BOOT_PTE_P       (UINT64_C(1) << 0)
#define BOOT_PTE_RW      (UINT64_C(1) << 1)
#define BOOT_PTE_PS      (UINT64_C(1) << 7) /* in a PDPTE or PDE: maps a page */
#define BOOT_PTE_XD      (UINT64_C(1) << 63)
#define BOOT_PTE_ADDRESS UINT64_C(0x000FFFFFFFFFF000)

struct boot_paging {
    struct boot_gibs gibs; /* what the direct map reaches: tables are made for nothing else */
    bool gigabyte_pages;   /* CPUID.80000001H:EDX.Page1GB */
    bool five_levels;      /* CR4.LA57 */
    const struct boot_elf *elf;
    uint64_t kernel_phys; /* of elf->virt, multiple of 4096 */
};

/* Bytes of the direct map: the end of the last GiB that it reaches. */
uint64_t boot_paging_direct_size(const struct boot_paging *p);
/* How many pages boot_paging_build needs at most: one for each 512 GiB with memory, without 1 GiB pages one for each
 * GiB with memory, and those of the kernel. */
uint64_t boot_paging_pages(const struct boot_paging *p);
/* Builds the tables in `pages` zeroed pages at `memory`; returns the value for CR3. */
uint64_t boot_paging_build(const struct boot_paging *p, void *memory, uint64_t pages);
