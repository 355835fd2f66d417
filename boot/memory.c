/* SPDX-License-Identifier: MIT */
#include "boot/memory.h"

#define PAGE_SHIFT   12
#define PHYSICAL_END (UINT64_C(1) << 52) /* MAXPHYADDR is 52 at most (SDM vol. 3, "IA-32e Paging") */

bool boot_memory_get(const struct boot_efi_map *map, size_t i, struct boot_efi_memory *d)
{
    if (map->stride < sizeof(*d) || map->size / map->stride <= i)
        return false;
    __builtin_memcpy(d, (const uint8_t *)map->descriptors + i * map->stride, sizeof(*d));
    return true;
}

bool boot_memory_is_sound(const struct boot_efi_memory *d)
{
    return d->physical_start % (1u << PAGE_SHIFT) == 0 && d->physical_start < PHYSICAL_END &&
           d->pages <= (PHYSICAL_END - d->physical_start) >> PAGE_SHIFT;
}

/* The pages that a range of another kind keeps from being free: all that it touches, however wrong its numbers are. */
static bool claims(const struct boot_efi_memory *d, uint64_t *base, uint64_t *end)
{
    if (boot_memory_is_free(d->type) || d->pages == 0 || d->physical_start >= PHYSICAL_END)
        return false;
    const uint64_t offset = d->physical_start % (1u << PAGE_SHIFT);
    const uint64_t most = (PHYSICAL_END - d->physical_start) >> PAGE_SHIFT; /* rounded down, if it is not aligned */
    *base = d->physical_start - offset;
    *end = d->pages > most ? PHYSICAL_END : *base + ((d->pages + (offset != 0)) << PAGE_SHIFT);
    return true;
}

/* What of a free range is something else as well is not free: of what lies before and behind it the larger part stays.
 * Returns whether anything was cut off. */
static bool cut(struct boot_memory *m, uint64_t other, uint64_t other_end)
{
    const uint64_t end = m->base + m->size;
    if (other >= end || other_end <= m->base || !m->size)
        return false;
    const uint64_t before = other > m->base ? other - m->base : 0;
    const uint64_t behind = other_end < end ? end - other_end : 0;
    if (before < behind)
        m->base = other_end;
    m->size = before < behind ? behind : before;
    return true;
}

/* Free ranges that others overlap: cut, the empty ones dropped. What others claim is in `map`, though it may have no
 * room in `out`. Returns how many ranges are left. */
static uint32_t cut_all(const struct boot_efi_map *map, struct boot_memory *out, uint32_t count, uint32_t *left_out)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct boot_efi_memory d;
        uint64_t base, end;
        bool was_cut = false;
        if (!boot_memory_is_free(out[i].type))
            continue;
        for (size_t k = 0; boot_memory_get(map, k, &d); k++)
            was_cut |= claims(&d, &base, &end) && cut(&out[i], base, end);
        for (uint32_t k = 0; k < i; k++) /* no page is free twice */
            was_cut |=
                boot_memory_is_free(out[k].type) && out[k].size && cut(&out[i], out[k].base, out[k].base + out[k].size);
        *left_out += was_cut;
    }
    for (uint32_t i = 0; i < count; i++) { /* a base that was moved up may be out of order now */
        const struct boot_memory m = out[i];
        uint32_t at = left;
        if (!m.size)
            continue;
        for (; at > 0 && out[at - 1].base > m.base; at--)
            out[at] = out[at - 1];
        out[at] = m;
        left++;
    }
    return left;
}

uint32_t boot_memory_convert(const struct boot_efi_map *map, struct boot_memory *out, uint32_t capacity,
                             uint32_t *left_out)
{
    uint32_t count = 0;
    struct boot_efi_memory d;
    *left_out = 0;
    for (size_t i = 0; boot_memory_get(map, i, &d); i++) {
        if (d.pages == 0)
            continue;
        if (!boot_memory_is_sound(&d)) {
            (*left_out)++;
            continue;
        }
        /* Insertion sort: the specification promises no order, most firmware keeps one. */
        uint32_t at = count;
        while (at > 0 && out[at - 1].base > d.physical_start)
            at--;
        if (count == capacity)
            (*left_out)++;
        else
            count++;
        if (at == capacity)
            continue;
        for (uint32_t k = count - 1; k > at; k--)
            out[k] = out[k - 1];
        out[at] = (struct boot_memory){
            .base = d.physical_start, .size = d.pages << PAGE_SHIFT, .attributes = d.attributes, .type = d.type};
    }
    return cut_all(map, out, count, left_out);
}
