/* SPDX-License-Identifier: MIT */
/*
 * The model's performance-monitoring interrupt: LVTPC, and what a PMI freezes.
 *
 * A PMI that is raised while LVTPC is masked waits (inferred). On performance cores from Haswell on, Linux lets the
 * counters go on and unmasks LVTPC some instructions later ("late ACK"); it says that an earlier unmask brings spurious
 * NMIs on Haswell. If a PMI between the two were lost, that counter would not be sampled any more. Intel's patches for
 * a KVM with architectural PEBS say, too, that a PMI comes when the mask is cleared, unless its status has been
 * acknowledged by then. KVM's own local APIC loses it: ds.policy.masked_pmi=lost.
 */
#include "ds/model/internal.h"

/* `told`: a PMI that waits has something to tell by then. */
static void raise(struct ds_model *m, bool *latched, bool told)
{
    const uint32_t lvtpc = m->host.lvtpc ? m->host.lvtpc(m->host.context) : m->lvtpc;
    m->lvtpc = lvtpc | LVTPC_MASKED;
    if (lvtpc & LVTPC_MASKED) {
        *latched |= told && !m->policy.masked_pmi_lost;
        uint8_t kind = *latched ? DS_MODEL_PMI_LATCHED : DS_MODEL_PMI_LOST;
        ds_model_act(m, (struct ds_model_action){kind, 0, 0, lvtpc, lvtpc});
        return;
    }
    ds_model_act(m, (struct ds_model_action){DS_MODEL_PMI_RAISED, 0, 0, lvtpc, m->lvtpc});
    m->host.raise_pmi(m->host.context, lvtpc);
}

/* What software sees in GLOBAL_STATUS and acknowledges there. */
static bool unacknowledged(const struct ds_model *m)
{
    const struct ds_model_pebs23 *pebs23 = m->preset->pebs23;
    return m->global_status & (m->counters | IA32_PERF_GLOBAL_STATUS_OVF_BUF | (pebs23 ? pebs23->status : 0));
}

void ds_model_acknowledged(struct ds_model *m)
{
    m->pmi_latched &= unacknowledged(m);
}

void ds_model_lvtpc_write(struct ds_model *m, uint32_t value)
{
    m->lvtpc = value & (LVTPC_VECTOR | LVTPC_DELIVERY | LVTPC_MASKED);
    if (ds_model_pmi_waits(m) && !(m->lvtpc & LVTPC_MASKED)) {
        m->pmi_latched = m->bts_pmi_latched = false;
        raise(m, &m->pmi_latched, true);
    }
}

/* Versions 2 and 3 clear the controls, which software sets again; from 4 on status bits hold history and counters until
 * software clears them (SDM vol. 3B, "Freezing LBR and Performance Counters on PMI"); LVTPC masked or not. */
static void freeze(struct ds_model *m)
{
    bool lbr = m->debugctl & IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI;
    bool counters = m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
    if (m->preset->perfmon_version >= 4) {
        m->global_status |=
            (lbr ? IA32_PERF_GLOBAL_STATUS_LBR_FRZ : 0) | (counters ? IA32_PERF_GLOBAL_STATUS_CTR_FRZ : 0);
        return;
    }
    m->debugctl &= lbr ? ~IA32_DEBUGCTL_LBR : UINT64_MAX;
    if (counters) {
        m->global_ctrl = 0;
        ds_model_select(m);
    }
}

/* While the bit is set its PMI has been taken, or is pending at LVTPC, and software has still to see to it. But if it
 * may have been lost, each record has to raise one: else there would be none ever again. */
bool ds_model_reached(struct ds_model *m, uint64_t bit)
{
    const bool raises = m->policy.masked_pmi_lost || !(m->global_status & bit);
    m->global_status |= bit;
    return raises;
}

void ds_model_counter_pmi(struct ds_model *m)
{
    freeze(m);
    raise(m, &m->pmi_latched, unacknowledged(m));
}

void ds_model_bts_pmi(struct ds_model *m)
{
    raise(m, &m->bts_pmi_latched, true);
}
