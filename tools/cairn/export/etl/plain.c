/* SPDX-License-Identifier: MIT */
/* The kernel's events as Windows writes them: for a strict file. */
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/etl/export.h"

void cairn_etl_plain_masks(const struct cairn_etl_export *x, struct etw_header_extension *masks)
{
    struct perfinfo_groupmask groups;
    memcpy(&groups, masks->group_masks, sizeof(groups));
    groups.masks[PERF_CAIRN_MARK >> PERF_MASK_SHIFT] = 0; /* Cairn's own groups are all there */
    if (x->log->session.full)
        cairn_etl_group_remove(&groups, PERF_COMPACT_CSWITCH);
    memcpy(masks->group_masks, &groups, sizeof(groups));
}

/* Kernels up to version 0.3.0 wrote these with a SYSTEM header, and 0B1BH with the CPUs' bare numbers. */
static bool has_perfinfo_header(uint32_t hook)
{
    return hook == HOOK_HEADER_EXTENSION || hook == HOOK_GROUP_MASKS_END || hook == HOOK_PROCESSOR_GROUP ||
           hook == HOOK_PROCESSOR_NUMBER;
}

/* The header, without an item of PebsIndex: readers that take the whole word for the version know none with it. */
static uint32_t begin(uint8_t *to, const struct cairn_event *e)
{
    struct perfinfo_trace_header h = {.time_stamp = e->time, .hook_id = (uint16_t)e->hook};
    const uint32_t items = 8u * e->counters;
    h.marker = PERFINFO_MARKER64 | (uint32_t)e->counters << PERFINFO_ITEM_PMC_SHIFT | e->version;
    h.size = (uint16_t)(sizeof(h) + items + e->size);
    memcpy(to, &h, sizeof(h));
    memcpy(to + sizeof(h), e->payload - items, items);
    return (uint32_t)sizeof(h) + items;
}

static void number_cpus(uint8_t *payload, uint32_t size)
{
    for (uint32_t at = 4; at + 4 <= size; at += 4) {
        const uint32_t number = ETW_PROCESSOR_NUMBER(cairn_get32(payload + at));
        memcpy(payload + at, &number, sizeof(number));
    }
}

uint32_t cairn_etl_plain(struct cairn_etl_export *x, const struct cairn_event *e, uint8_t to[UINT16_MAX + 1])
{
    const bool is_switch = e->hook == HOOK_CONTEXTSWAP || e->hook == HOOK_CONTEXTSWAP_BATCH;
    const bool old = e->header == ETL_SYSTEM64 && has_perfinfo_header(e->hook);
    uint32_t head = e->head;
    if (cairn_event_decoded(e) && !is_switch) {
        x->own_events++;
        return 0;
    }
    if (e->hook == HOOK_CONTEXTSWAP_BATCH && x->log->session.full) {
        x->doubled++;
        return 0;
    }
    if (e->has_pebs_index || old)
        head = begin(to, e);
    else
        memcpy(to, e->payload - head, head);
    memcpy(to + head, e->payload, e->size);
    x->stamps += e->has_pebs_index;
    if (old && e->hook == HOOK_PROCESSOR_NUMBER)
        number_cpus(to + head, e->size);
    if ((e->hook == HOOK_HEADER_EXTENSION || e->hook == HOOK_GROUP_MASKS_END) &&
        e->size >= sizeof(struct etw_header_extension)) {
        struct etw_header_extension masks;
        memcpy(&masks, to + head, sizeof(masks));
        cairn_etl_plain_masks(x, &masks);
        memcpy(to + head, &masks, sizeof(masks));
    }
    return head + e->size;
}
