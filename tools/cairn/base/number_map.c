/* SPDX-License-Identifier: MIT */
#include "tools/cairn/base/number_map.h"

#include <stdlib.h>
#include <sys/random.h>

#include "tools/cairn/base/bytes.h"

#define BITS_AT_FIRST 8u

/* The slot of `key`, or the free one where it belongs. The hash: upper bits of a product with an odd factor. */
static struct cairn_map_slot *slot_of(const struct cairn_map *m, uint32_t key)
{
    size_t mask = ((size_t)1 << m->bits) - 1, i = (size_t)(key * m->factor >> (64 - m->bits));
    while (m->slots[i].position && m->slots[i].key != key)
        i = (i + 1) & mask;
    return &m->slots[i];
}

static void grow(struct cairn_map *m)
{
    struct cairn_map bigger = {.bits = m->slots ? m->bits + 1 : BITS_AT_FIRST, .used = m->used, .factor = m->factor};
    if (!m->slots && getrandom(&bigger.factor, sizeof(bigger.factor), 0) != sizeof(bigger.factor))
        bigger.factor = (uintptr_t)m; /* no source of random numbers: slower at worst */
    bigger.factor |= 1;
    bigger.slots = cairn_alloc(((size_t)1 << bigger.bits) * sizeof(*bigger.slots));
    for (size_t i = 0; m->slots && i >> m->bits == 0; i++)
        if (m->slots[i].position)
            *slot_of(&bigger, m->slots[i].key) = m->slots[i];
    free(m->slots);
    *m = bigger;
}

uint32_t cairn_map_find(const struct cairn_map *map, uint32_t key)
{
    return map->slots ? slot_of(map, key)->position : 0;
}

void cairn_map_add(struct cairn_map *map, uint32_t key, uint32_t position)
{
    if (!map->slots || 2 * (map->used + 1) >> map->bits)
        grow(map);
    *slot_of(map, key) = (struct cairn_map_slot){key, position + 1};
    map->used++;
}

void cairn_map_free(struct cairn_map *map)
{
    free(map->slots);
    *map = (struct cairn_map){0};
}
