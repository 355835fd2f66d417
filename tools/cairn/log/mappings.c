/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/cairn/log/mappings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"

static int by_process(const void *a, const void *b)
{
    const struct cairn_mapping *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* grab.map.N=PROCESS FROM TO OFFSET NAME, grab.build_id.N=HEX */
void cairn_mappings_read(struct cairn_mappings *maps, const struct cairn_text *t)
{
    static const char prefix[] = "grab.map.";
    const uint32_t size = sizeof(prefix) - 1;
    *maps = (struct cairn_mappings){0};
    for (size_t i = 0; i < t->keys.count; i++) {
        const struct cairn_key *k = &t->keys.items[i];
        struct cairn_mapping map = {.name = k->value};
        if (k->name.size > size && memcmp(k->name.at, prefix, size) == 0 &&
            cairn_slice_number(&map.name, &map.process) && cairn_slice_number(&map.name, &map.from) &&
            cairn_slice_number(&map.name, &map.to) && cairn_slice_number(&map.name, &map.offset)) {
            map.build_id = cairn_key(t, "grab.build_id.%.*s", (int)(k->name.size - size), k->name.at + size);
            *CAIRN_ADD(*maps) = map;
        }
    }
    if (maps->count)
        qsort(maps->items, maps->count, sizeof(*maps->items), by_process);
}

const struct cairn_mapping *cairn_mappings_of(const struct cairn_mappings *maps, uint64_t process, size_t *count)
{
    size_t low = 0, high = maps->count, end;
    while (low < high) { /* its first */
        const size_t middle = low + (high - low) / 2;
        if (maps->items[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < maps->count && maps->items[end].process == process; end++)
        ;
    *count = end - low;
    return *count ? &maps->items[low] : NULL;
}

const struct cairn_mapping *cairn_mappings_at(const struct cairn_mappings *maps, uint64_t process, uint64_t address)
{
    size_t count;
    const struct cairn_mapping *map = cairn_mappings_of(maps, process, &count);
    for (; map && count; map++, count--)
        if (address >= map->from && address < map->to)
            return map;
    return NULL;
}

struct cairn_slice cairn_mapping_file(const struct cairn_mapping *map)
{
    const char *slash = map->name.size ? memrchr(map->name.at, '/', map->name.size) : NULL;
    const uint32_t folders = slash ? (uint32_t)(slash + 1 - map->name.at) : 0;
    return (struct cairn_slice){map->name.at + folders, map->name.size - folders};
}

uint64_t cairn_mappings_process(const struct cairn_text *t, uint32_t tid)
{
    uint64_t process;
    return cairn_slice_u64(cairn_key(t, "grab.process.%" PRIu32, tid), &process) ? process : tid;
}
