/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/batch_counts.h"

#include "tools/cairn/log/etl/layout.h"
#include "tools/cairn/log/log.h"
#include "tools/cairn/log/record.h"

bool cairn_event_own(const struct cairn_event *e)
{
    if (e->space % 8 || e->unknown_items || (e->header != ETL_PERFINFO64 && e->header != ETL_SYSTEM64))
        return false;
    if (e->hook == HOOK_CONTEXTSWAP_BATCH)
        return e->version == HOOK_VERSION_CONTEXTSWAP_BATCH && e->size <= CCSWAP_BATCH_BYTES;
    return e->hook != HOOK_CONTEXTSWAP ||
           (e->version == HOOK_VERSION_CONTEXTSWAP && e->size == sizeof(struct wmi_contextswap));
}

bool cairn_batch_count(struct cairn_batch_counts *to, const struct cairn_event *e)
{
    const uint8_t *p = e->payload, *end = p + e->size, *tids = p + offsetof(struct ccswap_buffer, tid_table);
    uint32_t nobodys = 0, states = 0;
    uint64_t forms = 0;
    if (cairn_event_short(e))
        return false;
    for (unsigned i = 0; i < CCSWAP_TIDS; i++)
        nobodys |= (uint32_t)!cairn_get32(tids + 4 * i) << i;
    uint32_t bad = 0;
    for (p += sizeof(struct ccswap_buffer); p < end; p += ccswap_record_bytes(*p)) {
        const uint64_t v = cairn_record_load(p, end);
        const uint32_t told = cairn_mask(cairn_record_told(v)), above = told & (cairn_record_state(v) + 1);
        bad |= told & nobodys >> cairn_record_slot(v);
        states = above > states ? above : states;
        forms += UINT64_C(1) << 16 * cairn_record_form(v);
    }
    if (bad & 1 || p != end)
        return false;
    cairn_batch_counts_add(to, &(struct cairn_batch_counts){.forms = forms, .count = 1, .states = (uint8_t)states});
    return true;
}

void cairn_batch_counts_add(struct cairn_batch_counts *to, const struct cairn_batch_counts *more)
{
    to->forms += more->forms;
    to->count += more->count;
    to->states = more->states > to->states ? more->states : to->states;
}

struct cairn_batch_counts cairn_batch_counts_of(const uint8_t *data, uint32_t size)
{
    struct cairn_batch_counts all = {.alone = true};
    struct cairn_event e;
    for (uint32_t at = 0; at < size && all.alone; at += e.space)
        all.alone = cairn_event_at(data, size, at, &e) && cairn_event_own(&e) && e.hook == HOOK_CONTEXTSWAP_BATCH &&
                    !e.counters && cairn_batch_count(&all, &e);
    return all;
}
