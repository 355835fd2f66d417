/* SPDX-License-Identifier: MIT */
/*
 * Memory: whole pages, contiguous, through the direct map. Any CPU, any interrupt state; takes its own spinlocks only.
 * Memory comes zeroed, unless it says otherwise.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "boot/info.h"

/* More than this is left out (its bitmap would be 16 MiB), and printed. */
#define KMEM_MAX_BYTES (UINT64_C(512) << 30)

/* Before anything that takes memory, arch_paging_init included: works on the loader's direct map, uses what that
 * reaches. Takes conventional memory and boot services code and data from 1 MiB up; below lies the processors'
 * trampoline. Prints one line. 0, or -ENOMEM (no range holds the bitmap). */
int kmem_init(const struct boot_info *info);

/* `pages` contiguous pages; NULL where there are none. To be freed with the same number. */
void *kmem_pages_alloc(size_t pages);
/* The same with what the pages held last: for large pools, of which a run may use little. */
void *kmem_pages_alloc_uncleared(size_t pages);
/* As kmem_pages_alloc, aligned to their size in physical memory; their number is a power of two. */
void *kmem_pages_alloc_aligned(size_t pages);
void kmem_pages_free(void *address, size_t pages);

/* arch_map_page under the one lock for mappings. */
int kmem_map_page(void *virt, uint64_t phys, unsigned flags);

uint64_t kmem_pages_available(void);
/* Allocated and not freed. Page tables, stacks and the bitmap, which never are, do not count. */
uint64_t kmem_pages_live(void);
