/* SPDX-License-Identifier: MIT */
/* Builds the page tables that the kernel starts with (boot/info.h says what they contain). The kernel soon replaces
 * them, so they set permissions but no memory types. */
#pragma once

#include "boot/elf.h"
#include "boot/memory.h"

/* After arch_page_tables_begin (arch/page_tables.h): maps the kernel's segments, which lie from `kernel_phys` on, and
 * the first four GiB and each GiB below BOOT_END in which there is memory (boot_memory_is_ram). Other ranges of `map`
 * do not count: firmware lists some at the very end of the address space, and tables for all that lies below would be
 * as large as the memory of a small machine. *direct_size becomes the end of the direct map. 0 or -ENOMEM. */
int boot_paging_build(const struct boot_efi_map *map, const struct boot_elf *elf, uint64_t kernel_phys,
                      uint64_t *direct_size);
