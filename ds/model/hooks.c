/* SPDX-License-Identifier: MIT */
/* What a processor of the model is without the wings that add to it. */
#include "ds/model/internal.h"
#include "kernel/lib/errno.h"

#define HOOK __attribute__((weak))

HOOK uint64_t ds_model_inserted(const struct ds_model *m, const struct ds_model_branch *branch, unsigned ring)
{
    (void)m, (void)branch, (void)ring;
    return 0;
}

HOOK uint8_t ds_model_lbr_format(const struct ds_model_preset *p)
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
