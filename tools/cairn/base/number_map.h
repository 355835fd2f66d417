/* SPDX-License-Identifier: MIT */
/* Maps numbers from a log (of frames, of threads) to positions in an array. The hash has a random key, so that nobody
 * can make a log for which it is slow. The output does not depend on the key. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct cairn_map { /* zeroed: empty */
    struct cairn_map_slot {
        uint32_t key, position; /* position + 1; 0: free */
    } * slots;                  /* open addressing, at most half full */
    unsigned bits;              /* 2^bits slots */
    size_t used;
    uint64_t factor;
};

/* The position of `key` + 1, 0 where it has none. */
uint32_t cairn_map_find(const struct cairn_map *map, uint32_t key);
/* `key` must not be there yet. */
void cairn_map_add(struct cairn_map *map, uint32_t key, uint32_t position);
void cairn_map_free(struct cairn_map *map); /* empty again */
