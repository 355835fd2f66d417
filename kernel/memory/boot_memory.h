/* SPDX-License-Identifier: MIT */
/* Which pages of the loader's memory map (boot/info.h) belong to the kernel, and where their bitmap is placed. Pure:
 * also compiled on the host. */
#pragma once

#include <stdint.h>

#include "boot/info.h"
#include "kernel/memory/page_bitmap.h"

#define KBOOT_MEMORY_FIRST                                                                                             \
    (UINT64_C(1) << 20) /* below lie the processors' trampoline, and what old firmware looks at */

struct kboot_memory {
    const struct boot_memory *memory;
    uint32_t count;
    uint64_t limit;        /* physical: nothing at or above it is taken */
    uint64_t pages;        /* the bitmap's: physical addresses from 0 on */
    uint64_t bitmap;       /* physical: the begin of the first range that holds it */
    uint64_t bitmap_bytes; /* a multiple of a page */
    uint64_t left_out;     /* bytes of free memory beyond the limit */
};

/* `memory`: `count` ranges as boot_memory_convert leaves them. 0, or -ENOMEM: no range holds the bitmap, whose
 * size is told. */
int kboot_memory_plan(struct kboot_memory *plan, const struct boot_memory *memory, uint32_t count, uint64_t limit);

/* Gives all free pages but the bitmap's to `map`, which has plan->pages and none of them free. */
void kboot_memory_give(const struct kboot_memory *plan, struct kpage_bitmap *map);
