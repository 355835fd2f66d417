/* SPDX-License-Identifier: MIT */
/*
 * Taken branches: into the history that LBR groups of PEBS records show, and into the BTS buffer (SDM vol. 3B, "Branch
 * Trace Store (BTS)"). Interrupts and exceptions are branches, too. The MSRs of its entries are not modelled:
 * their only reader is the assist.
 */
#include "ds/model/internal.h"

void ds_model_remember_branch(struct ds_model *m, const struct ds_model_branch *branch)
{
    bool on = m->preset->arch_lbr ? m->lbr_ctl & IA32_LBR_CTL_LBREN : m->debugctl & IA32_DEBUGCTL_LBR;
    if (!on || m->global_status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ)
        return;
    m->lbr[m->lbr_next] = (struct ds_pebs_lbr){
        .from = branch->from,
        .to = branch->to,
        .info = branch->prediction == DS_MODEL_MISPREDICTED ? DS_LBR_INFO_MISPRED : 0,
    };
    m->lbr_next = (m->lbr_next + 1) % DS_MODEL_LBR_DEPTH;
}

static bool wanted(const struct ds_model *m, unsigned cpl)
{
    const uint64_t on = IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS; /* TR alone: messages on the bus, nothing in memory */
    return (m->debugctl & on) == on && !(m->debugctl & (cpl ? IA32_DEBUGCTL_BTS_OFF_USR : IA32_DEBUGCTL_BTS_OFF_OS));
}

bool ds_model_store_branch(struct ds_model *m, const struct ds_model_branch *branch, unsigned cpl, bool *pmi)
{
    enum { SIZE = sizeof(struct ds_bts_record) };
    uint64_t base, index, maximum, threshold;
    if (!wanted(m, cpl))
        return true;
    if (!ds_model_read(m, m->ds_area + offsetof(struct ds_area_60, bts_buffer_base), &base) ||
        !ds_model_read(m, m->ds_area + offsetof(struct ds_area_60, bts_index), &index) ||
        !ds_model_read(m, m->ds_area + offsetof(struct ds_area_60, bts_absolute_maximum), &maximum) ||
        !ds_model_read(m, m->ds_area + offsetof(struct ds_area_60, bts_interrupt_threshold), &threshold))
        return false;

    bool interrupting = m->debugctl & IA32_DEBUGCTL_BTINT;
    if (!ds_model_fits(m, index, SIZE, maximum) && (!interrupting || m->policy.bts_full_wraps))
        index = base;
    if (!ds_model_fits(m, index, SIZE, maximum)) { /* full, or smaller than one record */
        m->bts_dropped++;
        return true;
    }
    bool predicted = branch->prediction == DS_MODEL_PREDICTED && m->preset->bts_predicted;
    if (!ds_model_write(m, index + offsetof(struct ds_bts_record, from), branch->from) ||
        !ds_model_write(m, index + offsetof(struct ds_bts_record, to), branch->to) ||
        !ds_model_write(m, index + offsetof(struct ds_bts_record, flags), predicted ? DS_BTS_PREDICTED : 0))
        return false;
    m->bts_records++;
    index += SIZE;
    if (!interrupting && !ds_model_fits(m, index, SIZE, maximum))
        index = base;
    if (!ds_model_write(m, m->ds_area + offsetof(struct ds_area_60, bts_index), index))
        return false;
    if (index >= threshold) { /* with BTINT clear, too: the manual wants the threshold out of reach there */
        if (m->policy.bts_sets_ovf_buf)
            m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
        *pmi = true;
    }
    return true;
}
