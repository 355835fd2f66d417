/* SPDX-License-Identifier: MIT */
#include "kernel/memory/page_bitmap.h"

#include "kernel/lib/string.h"

static inline bool is_free(const struct kpage_bitmap *map, uint64_t page)
{
    return map->bits[page / 64] >> page % 64 & 1;
}

void kpage_bitmap_init(struct kpage_bitmap *map, uint64_t *bits, uint64_t pages)
{
    map->bits = bits;
    map->pages = pages;
    map->free = 0;
    map->hint = pages;
    memset(bits, 0, kpage_bitmap_bytes(pages));
}

/* First free page from `page` on, map->pages where there is none: whole words at a time. */
static uint64_t next_free(const struct kpage_bitmap *map, uint64_t page)
{
    if (page >= map->pages)
        return map->pages;
    uint64_t word = page / 64, words = (map->pages + 63) / 64;
    uint64_t bits = map->bits[word] & ~UINT64_C(0) << page % 64;
    while (!bits) {
        if (++word == words)
            return map->pages;
        bits = map->bits[word];
    }
    return word * 64 + (uint64_t)__builtin_ctzl(bits);
}

static uint64_t align(uint64_t page, uint64_t alignment)
{
    return (page + alignment - 1) & ~(alignment - 1);
}

uint64_t kpage_bitmap_take_aligned(struct kpage_bitmap *map, uint64_t count, uint64_t alignment)
{
    if (count > map->free)
        return KPAGE_BITMAP_NONE;
    map->hint = next_free(map, map->hint);
    uint64_t first = align(map->hint, alignment);
    while (first + count <= map->pages) {
        uint64_t n = 0;
        while (n < count && is_free(map, first + n))
            n++;
        if (n == count) {
            for (uint64_t i = first; i < first + count; i++)
                map->bits[i / 64] &= ~(UINT64_C(1) << i % 64);
            map->free -= count;
            return first;
        }
        first = align(next_free(map, first + n), alignment);
    }
    return KPAGE_BITMAP_NONE;
}

bool kpage_bitmap_give(struct kpage_bitmap *map, uint64_t first, uint64_t count)
{
    if (first >= map->pages || count > map->pages - first)
        return false;
    for (uint64_t i = first; i < first + count; i++)
        if (is_free(map, i))
            return false;
    for (uint64_t i = first; i < first + count; i++)
        map->bits[i / 64] |= UINT64_C(1) << i % 64;
    map->free += count;
    if (first < map->hint)
        map->hint = first;
    return true;
}
