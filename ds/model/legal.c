/* SPDX-License-Identifier: MIT */
/* Which MSRs a processor of the model has, and which of their bits may be written as 1. */
#include "ds/caps.h"
#include "ds/model/internal.h"

#define STATUS_VERSION_4                                                                                               \
    (IA32_PERF_GLOBAL_STATUS_LBR_FRZ | IA32_PERF_GLOBAL_STATUS_CTR_FRZ | IA32_PERF_GLOBAL_STATUS_ASCI)

unsigned ds_model_offcore_msrs(const struct ds_model_preset *p)
{
    if (p->kvm || p->generation < DS_GENERATION_NEHALEM)
        return 0;
    return p->generation == DS_GENERATION_NEHALEM ? 1 : 2;
}

/* Whether `msr` is one of `most` in a row, of which the processor has fewer: *there. */
static bool one_of(uint32_t msr, uint32_t first, unsigned most, unsigned has, bool *there)
{
    *there = msr - first < has;
    return msr - first < most;
}

bool ds_model_has_msr(const struct ds_model *m, uint32_t msr)
{
    const struct ds_model_preset *p = m->preset;
    switch (msr) {
    case IA32_PEBS_ENABLE:
        return p->ds && !p->pebs23;
    case IA32_DS_AREA:
        return p->ds;
    case MSR_PEBS_DATA_CFG:
        return p->ds && p->baseline;
    case MSR_PERF_METRICS:
        return ds_model_has_metrics(p);
    case MSR_PEBS_LD_LAT:
        return p->load_latency;
    case MSR_PEBS_FRONTEND:
        return p->frontend;
    case MSR_OFFCORE_RSP_0:
    case MSR_OFFCORE_RSP_1:
        return msr - MSR_OFFCORE_RSP_0 < ds_model_offcore_msrs(p);
    case IA32_PERF_GLOBAL_STATUS_SET:
    case IA32_PERF_GLOBAL_INUSE:
        return p->perfmon_version >= 4;
    default:
        break;
    }
    bool there;
    if (one_of(msr, IA32_PMC0, DS_MODEL_GP_MAX, p->gp_counters, &there) ||
        one_of(msr, IA32_PERFEVTSEL0, DS_MODEL_GP_MAX, p->gp_counters, &there) ||
        one_of(msr, IA32_A_PMC0, DS_MODEL_GP_MAX, p->full_width_writes ? p->gp_counters : 0, &there))
        return there;
    return msr - IA32_FIXED_CTR0 >= DS_MODEL_FIXED_MAX || ds_model_has_fixed(p, msr - IA32_FIXED_CTR0);
}

/* AnyThread (SDM vol. 3B, "Architectural Performance Monitoring Version 3"). Version 5 deprecates it: inferred that it
 * can still be written, because Linux writes it for root, with version 6, too. */
static bool any_thread(const struct ds_model_preset *p)
{
    return p->perfmon_version >= 3;
}

uint64_t ds_model_legal_perfevtsel(const struct ds_model *m, unsigned counter)
{
    return (UINT64_C(0xFFFFFFFF) & ~(any_thread(m->preset) ? 0 : IA32_PERFEVTSEL_ANY)) |
           (m->preset->baseline ? IA32_PERFEVTSEL_ADAPTIVE : 0) |
           (m->preset->lbr_logs && counter < DS_LBR_LOGGED ? IA32_PERFEVTSEL_EN_LBR_LOG : 0) |
           (m->preset->core_type ? IA32_PERFEVTSEL_UMASK2 : 0) |
           (m->preset->pebs23 ? m->preset->pebs23->perfevtsel : 0);
}

/* Bits 32 to 35 are load latency, or with the baseline fixed counters. */
uint64_t ds_model_legal_pebs_enable(const struct ds_model *m)
{
    const struct ds_model_preset *p = m->preset;
    return p->pebs_counters | (p->load_latency && !p->baseline ? IA32_PEBS_ENABLE_LL_EN : 0) |
           (p->precise_store ? IA32_PEBS_ENABLE_PS_EN : 0);
}

uint64_t ds_model_legal_fixed_ctr_ctrl(const struct ds_model *m)
{
    uint64_t legal = 0;
    for (uint32_t set = ds_model_fixed(m->preset), i; set; set &= set - 1) {
        i = (uint32_t)__builtin_ctz(set);
        legal |= ia32_fixed_ctr_ctrl_os(i) | ia32_fixed_ctr_ctrl_usr(i) | ia32_fixed_ctr_ctrl_pmi(i) |
                 (any_thread(m->preset) ? ia32_fixed_ctr_ctrl_any(i) : 0) |
                 (m->preset->baseline ? ia32_fixed_ctr_ctrl_adaptive(i) : 0);
    }
    return legal | (m->preset->pebs23 && ds_model_has_metrics(m->preset) ? m->preset->pebs23->metrics : 0);
}

uint64_t ds_model_legal_global_ctrl(const struct ds_model *m)
{
    return m->counters | (ds_model_has_metrics(m->preset) ? IA32_PERF_GLOBAL_METRICS : 0);
}

uint64_t ds_model_legal_status(const struct ds_model *m)
{
    return ds_model_legal_global_ctrl(m) | IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_COND_CHG |
           (m->preset->perfmon_version >= 3 ? IA32_PERF_GLOBAL_STATUS_UNCORE : 0) |
           (m->preset->perfmon_version >= 4 ? STATUS_VERSION_4 : 0) |
           (m->preset->pebs23 ? m->preset->pebs23->status : 0);
}

uint64_t ds_model_legal_debugctl(const struct ds_model *m)
{
    const uint64_t lbr = ds_model_lbr_debugctl ? ds_model_lbr_debugctl(m->preset) : 0;
    if (m->preset->kvm)
        return lbr;
    return IA32_DEBUGCTL_BTF | IA32_DEBUGCTL_TR | IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI | lbr |
           ds_model_bts_debugctl(m->preset);
}
