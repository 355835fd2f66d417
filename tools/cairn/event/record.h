/* SPDX-License-Identifier: MIT */
/* The fields of a record of a batch (0525H), for code without branches: nobody could guess which form comes next. */
#pragma once

#include <stdbool.h>

#include "tools/cairn/base/bytes.h"
#include "trace/wire/format.h"

/* Where the fields of each form are, and which bits of them count. */
struct cairn_record_form {
    uint32_t delta_mask, told; /* told: all bits where the form tells of a thread, else none */
    uint32_t wait_mask;
    uint8_t delta, slot, state, priority; /* shifts */
    uint8_t priority_mask, base_mask;     /* LITE adds to the thread's base priority, FULL has the priority itself */
};
static const struct cairn_record_form cairn_record_forms[] = {
    [CCSWAP_IDLE_SHORT] = {.delta = CCSWAP_IDLE_SHORT_DELTA_SHIFT,
                           .delta_mask = CCSWAP_MASK(CCSWAP_IDLE_SHORT_DELTA_BITS)},
    [CCSWAP_IDLE] = {.delta = CCSWAP_IDLE_DELTA_SHIFT, .delta_mask = CCSWAP_MASK(CCSWAP_IDLE_DELTA_BITS)},
    [CCSWAP_LITE] = {.delta = CCSWAP_LITE_DELTA_SHIFT,
                     .delta_mask = CCSWAP_MASK(CCSWAP_LITE_DELTA_BITS),
                     .told = UINT32_MAX,
                     .slot = CCSWAP_LITE_TID_SHIFT,
                     .state = CCSWAP_LITE_STATE_SHIFT,
                     .priority = CCSWAP_LITE_PRIINC_SHIFT,
                     .priority_mask = CCSWAP_MASK(CCSWAP_LITE_PRIINC_BITS),
                     .base_mask = UINT8_MAX},
    [CCSWAP_FULL] = {.delta = CCSWAP_FULL_DELTA_SHIFT,
                     .delta_mask = CCSWAP_MASK(CCSWAP_FULL_DELTA_BITS),
                     .told = UINT32_MAX,
                     .slot = 32 + CCSWAP_FULL_TID_SHIFT,
                     .state = 32 + CCSWAP_FULL_STATE_SHIFT,
                     .priority = 32 + CCSWAP_FULL_PRIORITY_SHIFT,
                     .priority_mask = CCSWAP_MASK(CCSWAP_PRIORITY_BITS),
                     .wait_mask = CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS)},
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

static inline const struct cairn_record_form *cairn_record_form(uint64_t v)
{
    return &cairn_record_forms[v & CCSWAP_TYPE_MASK];
}

static inline uint32_t cairn_record_delta(uint64_t v, const struct cairn_record_form *f)
{
    return (uint32_t)(v >> f->delta) & f->delta_mask;
}

static inline uint32_t cairn_record_slot(uint64_t v, const struct cairn_record_form *f)
{
    return (uint32_t)(v >> f->slot) & CCSWAP_MASK(CCSWAP_TID_BITS);
}

static inline uint32_t cairn_record_state(uint64_t v, const struct cairn_record_form *f)
{
    return (uint32_t)(v >> f->state) & CCSWAP_MASK(CCSWAP_STATE_BITS);
}

static inline uint32_t cairn_record_wait(uint64_t v, const struct cairn_record_form *f)
{
    return (uint32_t)(v >> (32 + CCSWAP_FULL_WAIT_SHIFT)) & f->wait_mask;
}

/* `base`: the base priority of the slot's thread. */
static inline uint8_t cairn_record_priority(uint64_t v, const struct cairn_record_form *f, uint8_t base)
{
    return (uint8_t)((base & f->base_mask) + ((uint32_t)(v >> f->priority) & f->priority_mask));
}
