/* SPDX-License-Identifier: MIT */
/* A log of cairn grab tells where processes had code. A record of a program names an instruction there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/model/switches.h"

#define LOWER(address) (!((address) >> 63)) /* where programs are */

struct map {
    uint64_t process, from, to;
};

struct maps {
    struct map *items; /* by process */
    size_t count, room;
};

static int by_process(const void *a, const void *b)
{
    const struct map *x = a, *y = b;
    return (x->process > y->process) - (x->process < y->process);
}

/* grab.map.N=PROCESS FROM TO NAME */
static void read_maps(struct maps *maps, const struct cairn_text *t)
{
    static const char prefix[] = "grab.map.";
    for (size_t i = 0; i < t->keys.count; i++) {
        const struct cairn_key *k = &t->keys.items[i];
        struct cairn_slice value = k->value;
        struct map map;
        if (k->name.size > sizeof(prefix) - 1 && memcmp(k->name.at, prefix, sizeof(prefix) - 1) == 0 &&
            cairn_slice_number(&value, &map.process) && cairn_slice_number(&value, &map.from) &&
            cairn_slice_number(&value, &map.to))
            *CAIRN_ADD(*maps) = map;
    }
    if (maps->count)
        qsort(maps->items, maps->count, sizeof(*maps->items), by_process);
}

/* Whether the process has the address. *known: where it has code is told at all. */
static bool has(const struct maps *maps, uint64_t process, uint64_t address, bool *known)
{
    size_t low = 0, high = maps->count;
    while (low < high) { /* its first */
        const size_t middle = low + (high - low) / 2;
        if (maps->items[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    *known = low < maps->count && maps->items[low].process == process;
    for (; low < maps->count && maps->items[low].process == process; low++)
        if (address >= maps->items[low].from && address < maps->items[low].to)
            return true;
    return false;
}

static void compare(struct cairn_check *check, const struct maps *maps, uint32_t cpu, const struct cairn_item *item)
{
    const struct cairn_record *r = item->record;
    uint64_t process = item->tid;
    bool known;
    if (item->blame != CAIRN_BLAME_KNOWN || !LOWER(r->ip))
        return;
    cairn_slice_u64(cairn_key(&check->log->text, "grab.process.%" PRIu32, item->tid), &process);
    const bool there = has(maps, process, r->ip, &known);
    if (!known)
        return;
    check->compared[CAIRN_RULE_MAPS]++;
    if (!there)
        cairn_fail(check, CAIRN_RULE_MAPS, (int)cpu, &r->time,
                   "0x%" PRIx64 ": instruction 0x%" PRIx64 " is in no code of process %" PRIu64, r->address, r->ip,
                   process);
}

void cairn_check_maps(struct cairn_check *check)
{
    struct maps maps = {0};
    read_maps(&maps, &check->log->text);
    const bool whole = !cairn_has_key(&check->log->text, "grab.maps_lost");
    for (uint32_t n = 0; n < check->log->cpus && whole && maps.count; n++) {
        struct cairn_lane lane;
        const struct cairn_item *item;
        if (!check->log->cpu[n].pebs.records)
            continue;
        cairn_lane_init(&lane, check->log, n, cairn_prefers_compact(check->log), check->by);
        while ((item = cairn_lane_next(&lane)) != NULL)
            if (item->kind == CAIRN_ITEM_RECORD)
                compare(check, &maps, n, item);
        cairn_lane_free(&lane);
    }
    free(maps.items);
}
