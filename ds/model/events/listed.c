/* SPDX-License-Identifier: MIT */
/*
 * On which counters PEBS records an event. Intel's lists (ds/events) say what Intel promises. Extended PEBS records
 * every event, but one that the lists name only on the counters that they name. From Sandy Bridge to Skylake, Linux'
 * tables let every event without flags have PEBS on the counters 0 to 3, and real processors record at least
 * C0H/00H, which the lists do not name there (docs/explain/hardware-review.md, V5): so the model has the same rule
 * there. On Core 2 and Nehalem Linux' tables are lists, too. An event that is not recorded counts, overflows and
 * interrupts as without PEBS; what a processor does then is not found. The policy `unlisted` changes all this.
 */
#include "ds/event_data.h"
#include "ds/model/internal.h"

#define EXTENDED 4u /* from this format on every counter and event has PEBS (SDM vol. 3B, "Extended PEBS") */

/* Events that have no name in pebs=, and so are not in ds_event_data, or that it has on fewer counters. */
static const struct {
    uint8_t first, last; /* enum ds_generation */
    bool cmask;          /* only cycles, counted by CMASK */
    uint64_t code;
} others[] = {
    {DS_GENERATION_NEHALEM, DS_GENERATION_NEHALEM, false, 0x010B},         /* MEM_INST_RETIRED.LOADS */
    {DS_GENERATION_NEHALEM, DS_GENERATION_NEHALEM, false, 0x020B},         /* MEM_INST_RETIRED.STORES */
    {DS_GENERATION_SANDYBRIDGE, DS_GENERATION_SKYLAKE, false, 0x81D0},     /* MEM_UOPS_RETIRED.ALL_LOADS */
    {DS_GENERATION_SANDYBRIDGE, DS_GENERATION_SKYLAKE, false, 0x82D0},     /* MEM_UOPS_RETIRED.ALL_STORES */
    {DS_GENERATION_SANDYBRIDGE, DS_GENERATION_SANDYBRIDGE, false, 0x02CD}, /* MEM_TRANS_RETIRED.PRECISE_STORE */
    {DS_GENERATION_SANDYBRIDGE, DS_GENERATION_HASWELL, false, 0x01C2},     /* UOPS_RETIRED.ALL, to Broadwell */
    /* Not in Intel's lists. Linux: intel_nehalem_pebs_event_constraints, and on Skylake cycles:pp, which is
     * INST_RETIRED.TOTAL_CYCLES_PS without the unit mask of the list. */
    {DS_GENERATION_NEHALEM, DS_GENERATION_NEHALEM, false, 0x00C0},
    {DS_GENERATION_NEHALEM, DS_GENERATION_NEHALEM, false, 0x00C4},
    {DS_GENERATION_SKYLAKE, DS_GENERATION_SKYLAKE, true, 0x00C0},
    /* Load latency: the lists have PMC3 alone, Linux' tables all four counters, and it takes PMC0. Real Haswells record
     * it there. */
    {DS_GENERATION_NEHALEM, DS_GENERATION_NEHALEM, false, 0x100B},
    {DS_GENERATION_HASWELL, DS_GENERATION_HASWELL, false, 0x01CD},
};

/* Events of a memory system that retire: Linux' tables of constraints have all unit masks of MEM_LOAD_RETIRED and the
 * like (event selects D0H to D3H, on Nehalem CBH and 0FH). */
static bool retires(const struct ds_model *m, const struct ds_model_event_code *e)
{
    const uint8_t select = (uint8_t)e->code;
    if (!m->preset->memory)
        return false;
    return m->preset->generation <= DS_GENERATION_NEHALEM ? select == 0xCB || select == 0x0F
                                                          : select >= 0xD0 && select <= 0xD3;
}

#define FLAGS (IA32_PERFEVTSEL_CMASK | IA32_PERFEVTSEL_INV | IA32_PERFEVTSEL_EDGE | IA32_PERFEVTSEL_ANY)

/* Whether PEBS records events that nobody lists. */
static bool records_every(const struct ds_model *m, uint64_t sel)
{
    const uint8_t generation = m->preset->generation;
    return m->preset->format >= EXTENDED ||
           (m->policy.unlisted == DS_MODEL_UNLISTED_BY_GENERATION && !(sel & FLAGS) &&
            generation >= DS_GENERATION_SANDYBRIDGE && generation <= DS_GENERATION_SKYLAKE);
}

uint64_t ds_model_recorded(const struct ds_model *m, const struct ds_model_event_code *e, uint64_t sel)
{
    const bool cmask = sel & IA32_PERFEVTSEL_CMASK;
    uint64_t counters = 0;
    if (m->policy.unlisted == DS_MODEL_UNLISTED_RECORD || retires(m, e))
        return UINT64_MAX;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].code == e->code && others[i].first <= m->preset->generation &&
            m->preset->generation <= others[i].last && (cmask || !others[i].cmask))
            counters = UINT64_MAX;
    for (size_t kind = 0; ds_event_data && kind < DS_EVENT_KINDS; kind++) {
        const struct ds_event_data *d = &ds_event_data[m->preset->generation][kind];
        if (d->pebs && d->record == e->code)
            counters |= cmask ? UINT64_MAX : d->pebs; /* cycles by CMASK: the lists have them on other counters, too */
    }
    return counters || !records_every(m, sel) ? counters : UINT64_MAX;
}
