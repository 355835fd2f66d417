/* SPDX-License-Identifier: MIT */
/* A log of cairn grab tells where processes had code. A record of a program names an instruction there. */
#include "tools/cairn/log/mappings.h"

#include <inttypes.h>

#include "tools/cairn/check/check.h"
#include "tools/cairn/model/switches.h"

#define LOWER(address) (!((address) >> 63)) /* where programs are */

static void compare(struct cairn_check *check, uint32_t cpu, const struct cairn_item *item)
{
    const struct cairn_record *r = item->record;
    size_t count;
    const struct cairn_mappings *maps = &check->log->maps;
    if (item->blame != CAIRN_BLAME_KNOWN || !LOWER(r->ip))
        return;
    const uint64_t process = cairn_mappings_process(&check->log->text, item->tid);
    if (!cairn_mappings_of(maps, process, &count))
        return;
    check->compared[CAIRN_RULE_MAPS]++;
    if (!cairn_mappings_at(maps, process, r->ip))
        cairn_fail(check, CAIRN_RULE_MAPS, (int)cpu, &r->time,
                   "0x%" PRIx64 ": instruction 0x%" PRIx64 " is in no mapped code of process %" PRIu64, r->address,
                   r->ip, process);
}

void cairn_check_maps(struct cairn_check *check)
{
    const bool whole = !cairn_has_key(&check->log->text, "grab.maps_lost");
    for (uint32_t n = 0; n < check->log->cpus && whole && check->log->maps.count; n++) {
        struct cairn_lane lane;
        const struct cairn_item *item;
        if (!check->log->cpu[n].pebs.records)
            continue;
        cairn_lane_init(&lane, check->log, n, cairn_prefers_compact(check->log), check->by);
        while ((item = cairn_lane_next(&lane)) != NULL)
            if (item->kind == CAIRN_ITEM_RECORD)
                compare(check, n, item);
        cairn_lane_free(&lane);
    }
}
