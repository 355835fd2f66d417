/* SPDX-License-Identifier: MIT */
/* Turns the firmware's memory map into the kernel's. Pure: the loader and the host's unit tests compile the same code.
 * Source: UEFI specification, "EFI_BOOT_SERVICES.GetMemoryMap()". */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "boot/info.h"

/* EFI_MEMORY_DESCRIPTOR version 1. Firmware may append fields: GetMemoryMap gives the distance between descriptors. */
struct boot_efi_memory {
    uint32_t type;
    uint32_t pad;
    uint64_t physical_start;
    uint64_t virtual_start;
    uint64_t pages; /* of 4 KiB */
    uint64_t attributes;
};
_Static_assert(sizeof(struct boot_efi_memory) == 40, "EFI_MEMORY_DESCRIPTOR");

struct boot_efi_map {
    const void *descriptors;
    size_t size;   /* bytes */
    size_t stride; /* bytes from one descriptor to the next */
};

/* Reads descriptor `i`; false where the map ends. */
bool boot_memory_get(const struct boot_efi_map *map, size_t i, struct boot_efi_memory *d);

/* Whether there can be such a range: firmware's numbers may be anything. */
bool boot_memory_is_sound(const struct boot_efi_memory *d);

#define BOOT_END (UINT64_C(1) << 46) /* 64 TiB: the direct map's; above lie the kernel's other regions */

/* Fills out[0..capacity) ascending by base and returns how many. *left_out counts what is missing: the highest ranges,
 * if there is no room for all, and invalid ranges, which are not of whole pages or end beyond 2^52. It also counts
 * overlaps of free ranges: the part that another range of the map contains, free or not, valid or not, is cut off; if
 * two parts remain, the larger one stays. Every out[i] is of whole pages, not empty, and ends at 2^52 or below; free
 * ranges overlap nothing. */
uint32_t boot_memory_convert(const struct boot_efi_map *map, struct boot_memory *out, uint32_t capacity,
                             uint32_t *left_out);
