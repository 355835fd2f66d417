/* SPDX-License-Identifier: MIT */
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

/* grab.map.N=PROCESS FROM TO OFFSET NAME */
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
            cairn_slice_number(&map.name, &map.to) && cairn_slice_number(&map.name, &map.offset))
            *CAIRN_ADD(*maps) = map;
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

uint64_t cairn_mappings_process(const struct cairn_text *t, uint32_t tid)
{
    uint64_t process;
    return cairn_slice_u64(cairn_key(t, "grab.process.%" PRIu32, tid), &process) ? process : tid;
}
