/* SPDX-License-Identifier: MIT */
/* The map of the kernel's half of the address space, the end of the programs' half, and the symbols of arch/kernel.ld.
 * docs/explain/memory.md has a picture. */
#pragma once

#include <stdint.h>

#include "boot/info.h"

/* Programs end here: the highest page of the lower half stays empty, so that no SYSCALL can be so near its end that the
 * return address is not canonical. */
#define ARCH_USER_END UINT64_C(0x00007FFFFFFFF000)

/* BOOT_DIRECT_MAP: physical memory, up to 64 TiB. */
#define LAYOUT_DIRECT_MAP_END UINT64_C(0xFFFFC00000000000)
/* Interrupt stacks of the processors but the first, each above a guard page (arch/boot_stacks.c). */
#define LAYOUT_STACKS UINT64_C(0xFFFFC00000000000)
/* Device registers, uncached (arch_map_device). */
#define LAYOUT_DEVICES     UINT64_C(0xFFFFC80000000000)
#define LAYOUT_DEVICES_END UINT64_C(0xFFFFC80100000000)

/* Symbols of arch/kernel.ld; all but the build id are multiples of a page. */
extern const uint8_t kernel_text_start[], kernel_text_end[];
extern const uint8_t kernel_rodata_start[], kernel_rodata_end[];
extern const uint8_t kernel_user_start[], kernel_user_text_end[], kernel_user_end[]; /* in rodata: kernel/user/user.c */
extern const uint8_t kernel_data_start[], kernel_data_end[];                         /* .bss included */
extern const uint8_t kernel_build_id[], kernel_build_id_end[]; /* the ELF note: 16 bytes of header, then the id */
