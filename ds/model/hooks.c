/* SPDX-License-Identifier: MIT */
/* What a processor of the model is without the wings that add to it. */
#include "ds/model/internal.h"
#include "kernel/lib/errno.h"

#define HOOK __attribute__((weak))

HOOK uint64_t ds_model_inserted(const struct ds_model *m, const struct ds_model_branch *branch)
{
    (void)m, (void)branch;
    return 0;
}

HOOK uint8_t ds_model_lbr_format(const struct ds_model_preset *p)
{
    (void)p;
    return 0;
}

HOOK uint64_t ds_model_lbr_debugctl(const struct ds_model_preset *p)
{
    (void)p;
    return 0;
}

HOOK void ds_model_remember_branch(struct ds_model *m, const struct ds_model_branch *branch, unsigned cpl)
{
    (void)m, (void)branch, (void)cpl;
}

HOOK int ds_model_history_rdmsr(const struct ds_model *m, uint32_t msr, uint64_t *value)
{
    (void)m, (void)msr, (void)value;
    return -ENOENT;
}

HOOK int ds_model_history_wrmsr(struct ds_model *m, uint32_t msr, uint64_t value)
{
    (void)m, (void)msr, (void)value;
    return -ENOENT;
}

HOOK bool ds_model_store_branch(struct ds_model *m, const struct ds_model_branch *branch, unsigned cpl, bool *pmi)
{
    (void)m, (void)branch, (void)cpl, (void)pmi;
    return true;
}

HOOK uint64_t ds_model_bts_debugctl(const struct ds_model_preset *p)
{
    (void)p;
    return 0;
}

HOOK void ds_model_late_is(struct ds_model *m, uint64_t counters, const struct ds_model_retired *retired)
{
    (void)m, (void)counters, (void)retired;
}

/* The fixed counter of slots is there all the same. */
HOOK unsigned ds_model_slots_event(const struct ds_model *m, unsigned event, uint32_t *scale)
{
    *scale = event == DS_MODEL_SLOTS ? m->preset->slots : event < DS_MODEL_EVENTS;
    return event == DS_MODEL_SLOTS ? DS_MODEL_INSTRUCTION : event;
}

HOOK const struct ds_model_event_code *ds_model_slots_codes(const struct ds_model_preset *p)
{
    static const struct ds_model_event_code none[] = {{0}};
    (void)p;
    return none;
}

HOOK void ds_model_select_tallies(struct ds_model *m)
{
    (void)m;
}

HOOK bool ds_model_has_metrics(const struct ds_model_preset *p)
{
    (void)p;
    return false;
}

HOOK uint64_t ds_model_metrics(const struct ds_model *m)
{
    (void)m;
    return 0;
}

HOOK int ds_model_write_metrics(struct ds_model *m, uint64_t value)
{
    (void)m, (void)value;
    return -EFAULT;
}

HOOK uint64_t ds_model_recorded(const struct ds_model *m, const struct ds_model_event_code *e, uint64_t sel)
{
    (void)m, (void)e, (void)sel;
    return UINT64_MAX;
}

HOOK void ds_model_more_leaves(const struct ds_model_preset *p, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    (void)p, (void)leaf, (void)subleaf, (void)out;
}
