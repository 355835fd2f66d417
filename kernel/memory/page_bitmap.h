/* SPDX-License-Identifier: MIT */
/* Bitmap of pages; a set bit means a free page. No locking: kernel/memory/mem.c holds a lock around it. Pure: also
 * compiled on the host. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kpage_bitmap {
    uint64_t *bits; /* (pages + 63) / 64 words */
    uint64_t pages;
    uint64_t free;
    uint64_t hint; /* single pages: no free page lies below */
};

#define KPAGE_BITMAP_NONE UINT64_MAX

/* Bytes of `bits` for so many pages. */
static inline size_t kpage_bitmap_bytes(uint64_t pages)
{
    return (size_t)((pages + 63) / 64 * 8);
}

/* All pages taken. */
void kpage_bitmap_init(struct kpage_bitmap *map, uint64_t *bits, uint64_t pages);
/* First of `count` (>= 1) contiguous free pages, now taken, from a multiple of `alignment`, a power of two, on;
 * KPAGE_BITMAP_NONE where there are none. Lowest first. */
uint64_t kpage_bitmap_take_aligned(struct kpage_bitmap *map, uint64_t count, uint64_t alignment);
/* Frees pages first..first + count - 1. False, nothing changed, where one lies outside or is free already. */
bool kpage_bitmap_give(struct kpage_bitmap *map, uint64_t first, uint64_t count);
