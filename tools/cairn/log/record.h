/* SPDX-License-Identifier: MIT */
/* The fields of a record of a batch (0525H), for code without branches: nobody could guess which form comes next. */
#pragma once

#include <stdbool.h>

#include "tools/cairn/base/bytes.h"
#include "trace/wire/format.h"

/* Where the fields of each form are; of the idle forms only the delta counts. */
static const struct {
    uint32_t delta_mask;
    uint8_t delta, slot, state;
} cairn_record_forms[] = {
    [CCSWAP_IDLE_SHORT] = {CCSWAP_MASK(CCSWAP_IDLE_SHORT_DELTA_BITS), CCSWAP_IDLE_SHORT_DELTA_SHIFT, 0, 0},
    [CCSWAP_IDLE] = {CCSWAP_MASK(CCSWAP_IDLE_DELTA_BITS), CCSWAP_IDLE_DELTA_SHIFT, 0, 0},
    [CCSWAP_LITE] = {CCSWAP_MASK(CCSWAP_LITE_DELTA_BITS), CCSWAP_LITE_DELTA_SHIFT, CCSWAP_LITE_TID_SHIFT,
                     CCSWAP_LITE_STATE_SHIFT},
    [CCSWAP_FULL] = {CCSWAP_MASK(CCSWAP_FULL_DELTA_BITS), CCSWAP_FULL_DELTA_SHIFT, 32 + CCSWAP_FULL_TID_SHIFT,
                     32 + CCSWAP_FULL_STATE_SHIFT},
};

/* A record, and what comes behind it as far as that is there. */
static inline uint64_t cairn_record_load(const uint8_t *p, const uint8_t *end)
{
    uint64_t v = 0;
    if (end - p >= 8)
        return cairn_get64(p);
    memcpy(&v, p, (size_t)(end - p));
    return v;
}

static inline uint32_t cairn_record_form(uint64_t v)
{
    return v & CCSWAP_TYPE_MASK;
}

/* Whether the form tells of a thread. */
static inline bool cairn_record_told(uint64_t v)
{
    return v >> 1 & 1;
}
_Static_assert(CCSWAP_LITE == 2 && CCSWAP_FULL == 3, "one bit says which forms tell of a thread");

/* All bits or none. */
static inline uint32_t cairn_mask(bool is)
{
    return -(uint32_t)is;
}

static inline uint32_t cairn_record_delta(uint64_t v)
{
    const uint32_t form = cairn_record_form(v);
    return (uint32_t)(v >> cairn_record_forms[form].delta) & cairn_record_forms[form].delta_mask;
}

static inline uint32_t cairn_record_slot(uint64_t v)
{
    return (uint32_t)(v >> cairn_record_forms[cairn_record_form(v)].slot) & CCSWAP_MASK(CCSWAP_TID_BITS);
}

static inline uint32_t cairn_record_state(uint64_t v)
{
    return (uint32_t)(v >> cairn_record_forms[cairn_record_form(v)].state) & CCSWAP_MASK(CCSWAP_STATE_BITS);
}
