/* SPDX-License-Identifier: MIT */
/* What a processor of the model is without the folders that add to it. */
#include "ds/model/internal.h"

#define HOOK __attribute__((weak))

HOOK uint64_t ds_model_bts_debugctl(const struct ds_model_preset *p)
{
    (void)p;
    return 0;
}

/* The fixed counter of slots is there all the same. */
HOOK unsigned ds_model_slots_event(const struct ds_model *m, unsigned event, uint32_t *scale)
{
    *scale = event == DS_MODEL_SLOTS ? m->preset->slots : event < DS_MODEL_EVENTS;
    return event == DS_MODEL_SLOTS ? DS_MODEL_INSTRUCTION : event;
}

HOOK bool ds_model_has_metrics(const struct ds_model_preset *p)
{
    (void)p;
    return false;
}
