/* SPDX-License-Identifier: MIT */
/*
 * Offcore response: events whose MSR_OFFCORE_RSP_x says which requests count, and which answers. Without a memory
 * system they do not move. With one, demand reads of data do, as retired loads that an L2 has missed; other requests
 * (writes, code, prefetches) do not.
 *
 * Sources: Intel's lists of events for codes, and for the bits by the values of OFFCORE_RESPONSE.DEMAND_DATA_RD.* and
 * OCR.DEMAND_DATA_RD.*; Linux' intel_*_extra_regs. Which bits are reserved is not modelled: all are kept as written.
 */
#include "ds/caps.h"
#include "ds/model/internal.h"

#define DEMAND_DATA_RD  DS_BIT(0)
#define ANY_RESPONSE    DS_BIT(16)
#define BITS(low, high) (DS_BIT((high) + 1) - DS_BIT(low))

/* Answers: of the L3, and of what is behind it. */
static const struct answers {
    uint64_t any, hit, miss;
} nehalem = {0, BITS(8, 10), BITS(11, 15)}, lioncove = {ANY_RESPONSE, BITS(21, 24), BITS(27, 34) | BITS(37, 40)},
  others = {ANY_RESPONSE, BITS(18, 21), BITS(22, 29)};

static bool is_efficient(const struct ds_model_preset *p)
{
    return p->generation == DS_GENERATION_SKYMONT || p->generation == DS_GENERATION_DARKMONT;
}

/* Which MSR belongs to an event; at least DS_MODEL_OFFCORE_MSRS: none. */
static unsigned msr_of(const struct ds_model_preset *p, uint64_t code)
{
    static const uint64_t codes[3][DS_MODEL_OFFCORE_MSRS] = {{0x01B7, 0x01BB}, {0x012A, 0x012B}, {0x01B7, 0x02B7}};
    const unsigned kind = is_efficient(p) ? 2 : p->generation >= DS_GENERATION_GOLDENCOVE;
    unsigned i = 0;
    while (i < DS_MODEL_OFFCORE_MSRS && codes[kind][i] != code)
        i++;
    return i < ds_model_offcore_msrs(p) ? i : DS_MODEL_OFFCORE_MSRS;
}

const struct ds_model_event_code *ds_model_offcore(const struct ds_model *m, uint64_t code)
{
    static const struct ds_model_event_code all = {0, DS_MODEL_LOAD_L2_MISS, 0}, hits = {0, DS_MODEL_LOAD_L3_HIT, 0},
                                            misses = {0, DS_MODEL_LOAD_L3_MISS, 0};
    const struct ds_model_preset *p = m->preset;
    const unsigned i = msr_of(p, code);
    if (i == DS_MODEL_OFFCORE_MSRS || !(m->offcore[i] & DEMAND_DATA_RD))
        return NULL;
    const struct answers *a = p->generation == DS_GENERATION_NEHALEM                        ? &nehalem
                              : p->generation >= DS_GENERATION_LIONCOVE && !is_efficient(p) ? &lioncove
                                                                                            : &others;
    const bool any = m->offcore[i] & a->any, hit = m->offcore[i] & a->hit, miss = m->offcore[i] & a->miss;
    return any || (hit && miss) ? &all : hit ? &hits : miss ? &misses : NULL;
}
