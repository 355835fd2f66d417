/* SPDX-License-Identifier: MIT */
/* Writes taken branches, interrupts and exceptions into the BTS buffer (SDM vol. 3B, "Branch Trace Store (BTS)"). */
#include "ds/model/internal.h"

uint64_t ds_model_bts_debugctl(const struct ds_model_preset *p)
{
    return (p->ds ? IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_BTINT : 0) |
           (p->ds_cpl ? IA32_DEBUGCTL_BTS_OFF_OS | IA32_DEBUGCTL_BTS_OFF_USR : 0);
}

static bool wanted(const struct ds_model *m, unsigned cpl)
{
    const uint64_t on = IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS; /* TR alone: messages on the bus, nothing in memory */
    return (m->debugctl & on) == on && !(m->debugctl & (cpl ? IA32_DEBUGCTL_BTS_OFF_USR : IA32_DEBUGCTL_BTS_OFF_OS));
}

static void tell(struct ds_model *m, const struct ds_model_branch *branch, bool stored)
{
    if (m->host.branched)
        m->host.branched(m->host.context, branch, stored);
}

static bool lose(struct ds_model *m)
{
    m->bts_lost++;
    return false;
}

bool ds_model_store_branch(struct ds_model *m, const struct ds_model_branch *branch, unsigned cpl, bool *pmi)
{
    enum { SIZE = sizeof(struct ds_bts_record) };
    struct ds_model_buffer buffer;
    if (!wanted(m, cpl))
        return true;
    if (!ds_model_read_buffer(m, DS_MODEL_BTS_BUFFER, &buffer))
        return lose(m);

    bool interrupting = m->debugctl & IA32_DEBUGCTL_BTINT;
    if (!ds_model_fits(m, buffer.index, SIZE, buffer.maximum) && (!interrupting || m->policy.bts_full_wraps))
        buffer.index = buffer.base;
    if (!ds_model_fits(m, buffer.index, SIZE, buffer.maximum)) { /* full, or smaller than one record */
        m->bts_dropped++;
        tell(m, branch, false);
        return true;
    }
    bool predicted = branch->prediction == DS_MODEL_PREDICTED && m->preset->bts_predicted;
    const struct ds_bts_record record = {branch->from, branch->to, predicted ? DS_BTS_PREDICTED : 0};
    if (!ds_model_write(m, buffer.index, &record, sizeof record))
        return lose(m);
    buffer.index += SIZE;
    if (!interrupting && !ds_model_fits(m, buffer.index, SIZE, buffer.maximum))
        buffer.index = buffer.base;
    if (!ds_model_write_index(m, DS_MODEL_BTS_BUFFER, buffer.index))
        return lose(m);
    m->bts_records++;
    tell(m, branch, true);
    if (buffer.index >= buffer.threshold) { /* with BTINT clear, too: the manual wants it out of reach there */
        if (m->policy.bts_sets_ovf_buf)
            m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
        *pmi = true;
    }
    return true;
}
