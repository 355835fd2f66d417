/* SPDX-License-Identifier: MIT */
#pragma once

#include "boot/memory.h"

/* The address, a multiple of `align`, of `size` bytes in the middle of the largest conventional range below `limit`; 0:
 * there is none. Neither argument may be 0; `align` is a power of two. */
uint64_t save_middle(const struct boot_efi_map *map, uint64_t size, uint64_t align, uint64_t limit);
