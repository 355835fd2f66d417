/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/pmc_items.h"

#include "tools/cairn/base/bytes.h"

static void read_names(struct cairn_pmc_names *names, const struct cairn_live *l)
{
    uint32_t at = 0;
    while (names->count < CAIRN_PMC_MAX &&
           cairn_live_pmc_name(l, &at, names->name[names->count], sizeof(names->name[0])))
        names->count++;
}

void cairn_pmc_names(struct cairn_pmc_names *names, const struct cairn_log *log)
{
    names->count = 0;
    for (uint32_t c = 0; c < log->cpus; c++)
        if (log->cpu[c].activity.pmc_config.payload) {
            read_names(names, &log->cpu[c].activity.pmc_config);
            return;
        }
}

void cairn_pmcs_of(struct cairn_pmcs *pmcs, const struct cairn_event *e)
{
    pmcs->count = e->counters;
    for (unsigned i = 0; i < pmcs->count; i++)
        pmcs->value[i] = cairn_get64(e->payload - 8 * (pmcs->count - i));
}

bool cairn_pmcs_gained(struct cairn_pmcs *gained, struct cairn_pmcs *last, const struct cairn_switch *sw)
{
    struct cairn_pmcs now;
    cairn_pmcs_of(&now, sw->event);
    bool known = now.count && sw->hole == CAIRN_NO_HOLE && last->count == now.count;
    gained->count = known ? now.count : 0;
    for (unsigned i = 0; i < gained->count; i++)
        gained->value[i] = now.value[i] - last->value[i];
    *last = now;
    return known;
}
