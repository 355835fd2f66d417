/* SPDX-License-Identifier: MIT */
/* The model's MSRs: what reads return, what writes change, what raises #GP. */
#include "ds/ds.h"
#include "ds/model/internal.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define MISC_ENABLE_UNAVAIL (IA32_MISC_ENABLE_BTS_UNAVAIL | IA32_MISC_ENABLE_PEBS_UNAVAIL)
#define LEGAL_LD_LAT        UINT64_C(0xFFFF)
#define LEGAL_FRONTEND      UINT64_C(0xFFFFFF)

void ds_model_init(struct ds_model *m, const struct ds_model_preset *preset, const struct ds_model_policy *policy,
                   const struct ds_model_host *host)
{
    memset(m, 0, sizeof *m);
    m->preset = preset;
    if (policy)
        m->policy = *policy;
    m->host = *host;
    m->counters = (DS_BIT(preset->gp_counters) - 1) | (uint64_t)ds_model_fixed(preset) << DS_COUNTER_FIXED;
    m->counter_mask = DS_BIT(preset->width) - 1;
    m->global_ctrl = DS_BIT(preset->gp_counters) - 1; /* SDM vol. 3A, "Processor State After Reset": GP counters on */
    m->misc_enable = IA32_MISC_ENABLE_FAST_STRINGS;
    if (!preset->kvm) /* else as QEMU sets it, which has a say in this since Linux 6.0 */
        m->misc_enable |= IA32_MISC_ENABLE_PERFMON |
                          (ds_model_bts_debugctl(preset) ? 0 : IA32_MISC_ENABLE_BTS_UNAVAIL) |
                          /* inferred of architectural PEBS: Linux sees it so */
                          (preset->ds && !preset->pebs23 ? 0 : IA32_MISC_ENABLE_PEBS_UNAVAIL);
    m->lvtpc = LVTPC_RESET;
    m->lbr_depth = preset->lbr_depth;
    ds_model_select(m);
}

static uint64_t perf_capabilities(const struct ds_model_preset *p)
{
    return (ds_model_lbr_format ? ds_model_lbr_format(p) : 0) |
           (p->ds ? IA32_PERF_CAPABILITIES_PEBS_TRAP | IA32_PERF_CAPABILITIES_PEBS_ARCH_REG : 0) |
           (uint64_t)p->format << 8 | (p->full_width_writes ? IA32_PERF_CAPABILITIES_FW_WRITE : 0) |
           (p->baseline ? IA32_PERF_CAPABILITIES_PEBS_BASELINE : 0) |
           (ds_model_has_metrics(p) ? IA32_PERF_CAPABILITIES_PERF_METRICS : 0) |
           (ds_model_timed(p) ? IA32_PERF_CAPABILITIES_PEBS_TIMING : 0);
}

bool ds_model_canonical(const struct ds_model *m, uint64_t address, uint64_t flags)
{
    const uint64_t sign = ~flags & ~(DS_BIT(m->preset->la57 ? 56 : 47) - 1);
    return (address & sign) == 0 || (address & sign) == sign;
}

/* What is programmed, counting or not (SDM vol. 3B, "IA32_PERF_GLOBAL_INUSE MSR"). */
static uint64_t in_use(const struct ds_model *m)
{
    uint64_t value = m->interrupting || m->pebs_enable & m->preset->pebs_counters ? IA32_PERF_GLOBAL_INUSE_PMI : 0;
    for (unsigned i = 0; i < m->preset->gp_counters; i++)
        value |= m->perfevtsel[i] & IA32_PERFEVTSEL_EVENT ? DS_BIT(i) : 0;
    for (unsigned i = 0; i < DS_MODEL_FIXED_MAX; i++)
        if (m->fixed_ctr_ctrl & (ia32_fixed_ctr_ctrl_os(i) | ia32_fixed_ctr_ctrl_usr(i)))
            value |= DS_BIT(ds_counter_fixed(i));
    return value;
}

int ds_model_rdmsr(const struct ds_model *m, uint32_t msr, uint64_t *value)
{
    const struct ds_model_preset *p = m->preset;
    if (p->pebs23)
        msr = p->pebs23->alias(m, msr);
    int e = !ds_model_has_msr(m, msr) ? -EFAULT : p->pebs23 ? p->pebs23->rdmsr(m, msr, value) : -ENOENT;
    if (e != -ENOENT)
        return e;
    if (msr - IA32_PMC0 < p->gp_counters)
        *value = m->value[msr - IA32_PMC0];
    else if (msr - IA32_A_PMC0 < p->gp_counters)
        *value = m->value[msr - IA32_A_PMC0];
    else if (msr - IA32_PERFEVTSEL0 < p->gp_counters)
        *value = m->perfevtsel[msr - IA32_PERFEVTSEL0];
    else if (ds_model_has_fixed(p, msr - IA32_FIXED_CTR0))
        *value = m->value[ds_counter_fixed(msr - IA32_FIXED_CTR0)];
    else
        /* clang-format off */
        switch (msr) {
        case IA32_BIOS_SIGN_ID: *value = (uint64_t)p->microcode << 32; break;
        case IA32_MISC_ENABLE: *value = m->misc_enable; break;
        case IA32_DEBUGCTL: *value = m->debugctl; break;
        case IA32_PERF_CAPABILITIES: *value = perf_capabilities(p); break;
        case IA32_FIXED_CTR_CTRL: *value = m->fixed_ctr_ctrl; break;
        case IA32_PERF_GLOBAL_STATUS: *value = m->global_status; break;
        case IA32_PERF_GLOBAL_CTRL: *value = m->global_ctrl; break;
        case IA32_PERF_GLOBAL_OVF_CTRL: *value = 0; break;
        case IA32_PEBS_ENABLE: *value = m->pebs_enable; break;
        case IA32_DS_AREA: *value = m->ds_area; break;
        case IA32_PERF_GLOBAL_STATUS_SET: *value = 0; break;
        case IA32_PERF_GLOBAL_INUSE: *value = in_use(m); break;
        case MSR_PEBS_DATA_CFG: *value = m->data_cfg; break;
        case MSR_PERF_METRICS: *value = ds_model_metrics(m); break;
        case MSR_PEBS_LD_LAT: *value = m->ld_lat; break;
        case MSR_PEBS_FRONTEND: *value = m->frontend; break;
        case MSR_OFFCORE_RSP_0:
        case MSR_OFFCORE_RSP_1: *value = m->offcore[msr - MSR_OFFCORE_RSP_0]; break;
        default: return ds_model_history_rdmsr ? ds_model_history_rdmsr(m, msr, value) : -ENOENT;
        }
    /* clang-format on */
    return 0;
}

int ds_model_store(const struct ds_model *m, uint64_t *reg, uint64_t value, uint64_t legal)
{
    if (value & ~legal && !m->policy.reserved_ignored)
        return -EFAULT;
    *reg = value & legal;
    return 0;
}

/* As ds_model_store, of an MSR that says what counters count. */
static int store_selecting(struct ds_model *m, uint64_t *reg, uint64_t value, uint64_t legal)
{
    int e = ds_model_store(m, reg, value, legal);
    if (!e)
        ds_model_select(m);
    return e;
}

/* A counter written anew has no overflow behind it, and so nothing to record. IA32_PEBS_ENABLE = 0 alone does not
 * disarm one: Linux clears it while it empties the buffer at a switch, and lets counters of others go on without
 * writing them, so an armed one would record nothing more. */
static int store_counter(struct ds_model *m, unsigned counter, uint64_t value)
{
    uint64_t taken = m->value[counter];
    int e = ds_model_store(m, &taken, value, m->counter_mask);
    ds_model_set_counter(m, counter, taken);
    m->armed &= e ? UINT64_MAX : ~DS_BIT(counter);
    return e;
}

/* Counters and IA32_PERFEVTSELx. False: it is none of these. *e: 0 or -EFAULT. */
static bool write_counter(struct ds_model *m, uint32_t msr, uint64_t value, int *e)
{
    const struct ds_model_preset *p = m->preset;
    if (msr - IA32_PMC0 < p->gp_counters) {
        *e = store_counter(m, msr - IA32_PMC0, (uint64_t)(int64_t)(int32_t)(uint32_t)value & m->counter_mask);
    } else if (msr - IA32_A_PMC0 < p->gp_counters) {
        *e = store_counter(m, msr - IA32_A_PMC0, value);
    } else if (ds_model_has_fixed(p, msr - IA32_FIXED_CTR0)) {
        *e = store_counter(m, ds_counter_fixed(msr - IA32_FIXED_CTR0), value);
    } else if (msr - IA32_PERFEVTSEL0 < p->gp_counters) {
        const unsigned counter = msr - IA32_PERFEVTSEL0;
        *e = store_selecting(m, &m->perfevtsel[counter], value, ds_model_legal_perfevtsel(m, counter));
        m->asserted &= *e ? UINT64_MAX : ~DS_BIT(counter);
        if (!*e && counter < DS_LBR_LOGGED)
            m->lbr_logged[counter] = m->value[counter];
    } else {
        return false;
    }
    return true;
}

/* IA32_PERF_GLOBAL_OVF_CTRL and IA32_PERF_GLOBAL_STATUS_SET: resets or sets bits of the status. */
static int write_status(struct ds_model *m, uint64_t value, bool set)
{
    uint64_t bits;
    int e = ds_model_store(m, &bits, value, ds_model_legal_status(m));
    if (!e)
        m->global_status = set ? m->global_status | bits : m->global_status & ~bits;
    ds_model_acknowledged(m);
    return e;
}

static int write_pebs_enable(struct ds_model *m, uint64_t value)
{
    int e = ds_model_store(m, &m->pebs_enable, value, ds_model_legal_pebs_enable(m));
    ds_model_select_pebs(m);
    return e;
}

/* Counters with PEBS that go off owe what the policy says of what they have counted; those that go on owe nothing. */
static int write_global_ctrl(struct ds_model *m, uint64_t value)
{
    const uint64_t before = m->global_ctrl & m->pebs;
    int e = store_selecting(m, &m->global_ctrl, value, ds_model_legal_global_ctrl(m));
    const uint64_t after = m->global_ctrl & m->pebs;
    if (after && !before)
        m->late.counters = m->late.owed = 0;
    else if (before && !after && m->late.counters)
        m->late.owed = m->policy.residual;
    return e;
}

int ds_model_wrmsr(struct ds_model *m, uint32_t msr, uint64_t value)
{
    const struct ds_model_pebs23 *pebs23 = m->preset->pebs23;
    if (pebs23)
        msr = pebs23->alias(m, msr);
    int e = !ds_model_has_msr(m, msr) ? -EFAULT : pebs23 ? pebs23->wrmsr(m, msr, value) : -ENOENT;
    if (e != -ENOENT)
        return e;
    if (write_counter(m, msr, value, &e))
        return e;
    switch (msr) {
    case IA32_BIOS_SIGN_ID: /* CPUID loads it anew */
        return 0;
    case IA32_MISC_ENABLE:
        if (m->preset->kvm && (value ^ m->misc_enable) & MISC_ENABLE_UNAVAIL)
            return -EFAULT;
        m->misc_enable = (value & ~IA32_MISC_ENABLE_READ_ONLY) | (m->misc_enable & IA32_MISC_ENABLE_READ_ONLY);
        return 0;
    case IA32_PERF_CAPABILITIES:
    case IA32_PERF_GLOBAL_STATUS:
    case IA32_PERF_GLOBAL_INUSE:
        return m->policy.reserved_ignored ? 0 : -EFAULT;
    case IA32_DEBUGCTL:
        if (m->preset->arch_lbr)
            value &= ~IA32_DEBUGCTL_LBR; /* may be written there, and reads 0 */
        if (m->preset->kvm)              /* which drops these two where it does not have them, and no others */
            value &= ~(IA32_DEBUGCTL_BTF | IA32_DEBUGCTL_LBR) | ds_model_legal_debugctl(m);
        return ds_model_store(m, &m->debugctl, value, ds_model_legal_debugctl(m));
    case IA32_FIXED_CTR_CTRL:
        return store_selecting(m, &m->fixed_ctr_ctrl, value, ds_model_legal_fixed_ctr_ctrl(m));
    case IA32_PERF_GLOBAL_CTRL:
        return write_global_ctrl(m, value);
    case IA32_PERF_GLOBAL_OVF_CTRL:
    case IA32_PERF_GLOBAL_STATUS_SET:
        return write_status(m, value, msr == IA32_PERF_GLOBAL_STATUS_SET);
    case IA32_PEBS_ENABLE:
        return write_pebs_enable(m, value);
    case MSR_PEBS_DATA_CFG:
        return ds_model_store(m, &m->data_cfg, value, m->preset->data_cfg);
    case MSR_PERF_METRICS:
        return ds_model_write_metrics(m, value);
    case MSR_PEBS_LD_LAT:
        return ds_model_store(m, &m->ld_lat, value, LEGAL_LD_LAT);
    case MSR_OFFCORE_RSP_0:
    case MSR_OFFCORE_RSP_1:
        return store_selecting(m, &m->offcore[msr - MSR_OFFCORE_RSP_0], value, UINT64_MAX);
    case MSR_PEBS_FRONTEND:
        return ds_model_store(m, &m->frontend, value, LEGAL_FRONTEND);
    case IA32_DS_AREA:
        if (!ds_model_canonical(m, value, 0))
            return -EFAULT;
        m->ds_area = value;
        return 0;
    default:
        return ds_model_history_wrmsr ? ds_model_history_wrmsr(m, msr, value) : -ENOENT;
    }
}
