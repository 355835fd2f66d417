/* SPDX-License-Identifier: MIT */
/* CPUID, MSRs and LVTPC of the model: what reads give, what writes change, what raises #GP. */
#include "ds/model/internal.h"
#include "kernel/errno.h"
#include "kernel/string.h"

#define MISC_ENABLE_UNAVAIL   (IA32_MISC_ENABLE_BTS_UNAVAIL | IA32_MISC_ENABLE_PEBS_UNAVAIL)
#define FIXED_SLOTS           3u /* the fixed counter of TOPDOWN.SLOTS, which stands still */
#define LEGAL_LD_LAT          UINT64_C(0xFFFF)
#define LEGAL_FRONTEND        UINT64_C(0xFFFFFF)
#define ANYTHREAD_DEPRECATED  (1u << 15) /* CPUID.0AH:EDX, version 5 */
#define STATUS_VERSION_4                                                                                               \
    (IA32_PERF_GLOBAL_STATUS_LBR_FRZ | IA32_PERF_GLOBAL_STATUS_CTR_FRZ | IA32_PERF_GLOBAL_STATUS_ASCI)

void ds_model_init(struct ds_model *m, const struct ds_model_preset *preset, const struct ds_model_policy *policy,
                   const struct ds_model_host *host)
{
    memset(m, 0, sizeof *m);
    m->preset = preset;
    if (policy)
        m->policy = *policy;
    m->host = *host;
    m->counters = (DS_BIT(preset->gp_counters) - 1) | (DS_BIT(preset->fixed_counters) - 1) << DS_COUNTER_FIXED;
    m->counter_mask = DS_BIT(preset->width) - 1;
    m->global_ctrl = DS_BIT(preset->gp_counters) - 1; /* SDM vol. 3A, "Processor State After Reset": GP counters on */
    m->misc_enable =
        IA32_MISC_ENABLE_FAST_STRINGS | IA32_MISC_ENABLE_PERFMON | (preset->ds ? 0 : MISC_ENABLE_UNAVAIL);
    m->lvtpc = LVTPC_RESET;
    m->lbr_depth = preset->lbr_depth;
}

void ds_model_cpuid(const struct ds_model *m, uint32_t leaf, uint32_t out[4])
{
    const struct ds_model_preset *p = m->preset;
    const bool slots = p->fixed_counters > FIXED_SLOTS;
    memset(out, 0, 4 * sizeof out[0]);
    switch (leaf) {
    case 0:
        out[0] = p->arch_lbr ? 0x1C : 0x0A;
        memcpy(&out[1], "Genu", 4);
        memcpy(&out[3], "ineI", 4);
        memcpy(&out[2], "ntel", 4);
        break;
    case 1:
        out[0] = p->signature;
        out[2] = CPUID_01H_ECX_DTES64 | (p->ds_cpl ? CPUID_01H_ECX_DS_CPL : 0) | CPUID_01H_ECX_PDCM;
        out[3] = p->ds ? CPUID_01H_EDX_DS : 0;
        break;
    case 7:
        out[3] = (p->arch_lbr ? CPUID_07H_EDX_ARCH_LBR : 0) | (p->core_type ? CPUID_07H_EDX_HYBRID : 0);
        break;
    case 0x1A:
        out[0] = (uint32_t)p->core_type << 24;
        break;
    case 0x1C:
        out[0] = p->lbr_depths;
        out[1] = p->arch_lbr ? CPUID_1CH_EBX_CPL | CPUID_1CH_EBX_FILTER | CPUID_1CH_EBX_CALL_STACK : 0;
        break;
    case 0x0A:
        /* EBX has a bit for each of the 7 architectural events, where there is a fixed counter for it also of the 8th,
         * that is not available: cache references and misses (3, 4), mispredicted branches (6), slots (7). */
        out[0] = (uint32_t)(slots ? 8 : 7) << 24 | (uint32_t)p->width << 16 | (uint32_t)p->gp_counters << 8 |
                 p->perfmon_version;
        out[1] = 1u << 3 | 1u << 4 | 1u << 6 | (slots ? 1u << 7 : 0);
        out[2] = p->perfmon_version >= 5 ? (1u << p->fixed_counters) - 1 : 0;
        out[3] = (p->perfmon_version >= 5 ? ANYTHREAD_DEPRECATED : 0) | (uint32_t)p->width << 5 | p->fixed_counters;
        break;
    default:
        break;
    }
}

static uint64_t perf_capabilities(const struct ds_model_preset *p)
{
    return p->lbr_format | IA32_PERF_CAPABILITIES_PEBS_TRAP | IA32_PERF_CAPABILITIES_PEBS_ARCH_REG |
           (uint64_t)p->format << 8 | (p->full_width_writes ? IA32_PERF_CAPABILITIES_FW_WRITE : 0) |
           (p->baseline ? IA32_PERF_CAPABILITIES_PEBS_BASELINE : 0) |
           (p->perf_metrics ? IA32_PERF_CAPABILITIES_PERF_METRICS : 0);
}

/* AnyThread (SDM vol. 3B, "Architectural Performance Monitoring Version 3"); version 5 deprecates it. */
static bool any_thread(const struct ds_model_preset *p)
{
    return p->perfmon_version == 3 || p->perfmon_version == 4;
}

/* Bits of each MSR that may be written as 1. */
static uint64_t legal_perfevtsel(const struct ds_model *m)
{
    return (UINT64_C(0xFFFFFFFF) & ~(any_thread(m->preset) ? 0 : IA32_PERFEVTSEL_ANY)) |
           (m->preset->baseline ? IA32_PERFEVTSEL_ADAPTIVE : 0);
}

/* Bits 32 to 35 are load latency, or with the baseline fixed counters. */
static uint64_t legal_pebs_enable(const struct ds_model_preset *p)
{
    return p->pebs_counters | (p->load_latency && !p->baseline ? IA32_PEBS_ENABLE_LL_EN : 0) |
           (p->precise_store ? IA32_PEBS_ENABLE_PS_EN : 0);
}

static uint64_t legal_fixed_ctr_ctrl(const struct ds_model *m)
{
    uint64_t legal = 0;
    for (unsigned i = 0; i < m->preset->fixed_counters; i++)
        legal |= ia32_fixed_ctr_ctrl_os(i) | ia32_fixed_ctr_ctrl_usr(i) | ia32_fixed_ctr_ctrl_pmi(i) |
                 (any_thread(m->preset) ? ia32_fixed_ctr_ctrl_any(i) : 0) |
                 (m->preset->baseline ? ia32_fixed_ctr_ctrl_adaptive(i) : 0);
    return legal;
}

static uint64_t legal_global_ctrl(const struct ds_model *m)
{
    return m->counters | (m->preset->perf_metrics ? IA32_PERF_GLOBAL_METRICS : 0);
}

static uint64_t legal_status(const struct ds_model *m)
{
    return legal_global_ctrl(m) | IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_COND_CHG |
           (m->preset->perfmon_version >= 3 ? IA32_PERF_GLOBAL_STATUS_UNCORE : 0) |
           (m->preset->perfmon_version >= 4 ? STATUS_VERSION_4 : 0);
}

static uint64_t legal_debugctl(const struct ds_model *m)
{
    return IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_BTF | IA32_DEBUGCTL_TR | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI |
           IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI | (m->preset->ds ? IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_BTINT : 0) |
           (m->preset->ds_cpl ? IA32_DEBUGCTL_BTS_OFF_OS | IA32_DEBUGCTL_BTS_OFF_USR : 0);
}

static bool canonical(uint64_t address)
{
    return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

static uint64_t cmask(uint64_t sel)
{
    return (sel & IA32_PERFEVTSEL_CMASK) >> 24;
}

/* Puts the counter into the masks of its rings. */
static void count(const struct ds_model *m, unsigned counter, bool os, uint64_t *ring_0, bool usr, uint64_t *others)
{
    *ring_0 |= os ? DS_BIT(counter) & m->global_ctrl : 0;
    *others |= usr ? DS_BIT(counter) & m->global_ctrl : 0;
}

static void update_gp(struct ds_model *m, unsigned i)
{
    uint64_t sel = m->perfevtsel[i];
    m->adaptive |= sel & IA32_PERFEVTSEL_ADAPTIVE ? DS_BIT(i) : 0;
    m->interrupting |= sel & IA32_PERFEVTSEL_INT ? DS_BIT(i) : 0;
    const struct ds_model_event_code *e = ds_model_event_code(m->preset, (uint16_t)sel);
    if (!e || (e->only && !(e->only & DS_BIT(i)) && !cmask(sel)) || !(sel & IA32_PERFEVTSEL_EN))
        return;
    const bool os = sel & IA32_PERFEVTSEL_OS, usr = sel & IA32_PERFEVTSEL_USR, edge = sel & IA32_PERFEVTSEL_EDGE;
    bool inverted = sel & IA32_PERFEVTSEL_INV && cmask(sel);
    unsigned event = e->event;
    if (cmask(sel) > (event == DS_MODEL_UOPS ? DS_MODEL_UOPS_MAX : 1)) { /* so many never are in one cycle */
        if (!inverted)
            return;
        event = DS_MODEL_INSTRUCTION;
        inverted = false;
    } else if (event == DS_MODEL_UOPS || (event == DS_MODEL_INSTRUCTION && inverted))
        return;
    m->pdist |= cmask(sel) ? 0 : e->only;
    m->loads |= event == DS_MODEL_LOAD && !inverted ? DS_BIT(i) : 0;
    m->stores |= event == DS_MODEL_STORE && !inverted ? DS_BIT(i) : 0;
    m->condition[i].event = (uint8_t)event;
    m->condition[i].inverted = inverted;
    m->condition[i].edge = edge;
    if (inverted || edge)
        count(m, i, os, &m->conditional[0], usr, &m->conditional[1]);
    else
        count(m, i, os, &m->counting[0][event], usr, &m->counting[1][event]);
}

static void update_fixed(struct ds_model *m, unsigned i)
{
    unsigned c = ds_counter_fixed(i);
    m->adaptive |= m->fixed_ctr_ctrl & ia32_fixed_ctr_ctrl_adaptive(i) ? DS_BIT(c) : 0;
    m->interrupting |= m->fixed_ctr_ctrl & ia32_fixed_ctr_ctrl_pmi(i) ? DS_BIT(c) : 0;
    if (i < FIXED_SLOTS) /* instructions and the two kinds of cycles */
        count(m, c, m->fixed_ctr_ctrl & ia32_fixed_ctr_ctrl_os(i), &m->counting[0][DS_MODEL_INSTRUCTION],
              m->fixed_ctr_ctrl & ia32_fixed_ctr_ctrl_usr(i), &m->counting[1][DS_MODEL_INSTRUCTION]);
}

/* What a counter counts is spread over four MSRs; ds_model_retire wants it as one mask a ring and event. */
static void update_counting(struct ds_model *m)
{
    memset(m->counting, 0, sizeof m->counting);
    memset(m->conditional, 0, sizeof m->conditional);
    m->adaptive = m->interrupting = m->loads = m->stores = 0;
    m->pdist = m->preset->pdist;
    for (unsigned i = 0; i < m->preset->gp_counters; i++)
        update_gp(m, i);
    for (unsigned i = 0; i < m->preset->fixed_counters; i++)
        update_fixed(m, i);
}

/* Whether `msr` is one of `most` in a row, of which the processor has fewer: *there. */
static bool one_of(uint32_t msr, uint32_t first, unsigned most, unsigned has, bool *there)
{
    *there = msr - first < has;
    return msr - first < most;
}

/* Whether an MSR that comes with a feature, or with a counter, is there; no other MSR has such a condition. */
static bool exists(const struct ds_model_preset *p, uint32_t msr)
{
    switch (msr) {
    case IA32_PEBS_ENABLE:
    case IA32_DS_AREA:
        return p->ds;
    case MSR_PEBS_DATA_CFG:
        return p->ds && p->baseline;
    case MSR_PERF_METRICS:
        return p->perf_metrics;
    case MSR_PEBS_LD_LAT:
        return p->load_latency;
    case MSR_PEBS_FRONTEND:
        return p->frontend;
    case IA32_PERF_GLOBAL_STATUS_SET:
    case IA32_PERF_GLOBAL_INUSE:
        return p->perfmon_version >= 4;
    default:
        break;
    }
    bool there;
    if (one_of(msr, IA32_PMC0, DS_MODEL_GP_MAX, p->gp_counters, &there) ||
        one_of(msr, IA32_PERFEVTSEL0, DS_MODEL_GP_MAX, p->gp_counters, &there) ||
        one_of(msr, IA32_A_PMC0, DS_MODEL_GP_MAX, p->full_width_writes ? p->gp_counters : 0, &there) ||
        one_of(msr, IA32_FIXED_CTR0, DS_MODEL_FIXED_MAX, p->fixed_counters, &there))
        return there;
    return true;
}

/* What is programmed, counting or not (SDM vol. 3B, "IA32_PERF_GLOBAL_INUSE MSR"). */
static uint64_t in_use(const struct ds_model *m)
{
    uint64_t value = m->interrupting || m->pebs ? IA32_PERF_GLOBAL_INUSE_PMI : 0;
    for (unsigned i = 0; i < m->preset->gp_counters; i++)
        value |= m->perfevtsel[i] & IA32_PERFEVTSEL_EVENT ? DS_BIT(i) : 0;
    for (unsigned i = 0; i < m->preset->fixed_counters; i++)
        if (m->fixed_ctr_ctrl & (ia32_fixed_ctr_ctrl_os(i) | ia32_fixed_ctr_ctrl_usr(i)))
            value |= DS_BIT(ds_counter_fixed(i));
    return value;
}

int ds_model_rdmsr(const struct ds_model *m, uint32_t msr, uint64_t *value)
{
    const struct ds_model_preset *p = m->preset;
    if (!exists(p, msr))
        return -EFAULT;
    if (msr - IA32_PMC0 < p->gp_counters)
        *value = m->value[msr - IA32_PMC0];
    else if (msr - IA32_A_PMC0 < p->gp_counters)
        *value = m->value[msr - IA32_A_PMC0];
    else if (msr - IA32_PERFEVTSEL0 < p->gp_counters)
        *value = m->perfevtsel[msr - IA32_PERFEVTSEL0];
    else if (msr - IA32_FIXED_CTR0 < p->fixed_counters)
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
        case MSR_PERF_METRICS: *value = m->perf_metrics; break;
        case MSR_PEBS_LD_LAT: *value = m->ld_lat; break;
        case MSR_PEBS_FRONTEND: *value = m->frontend; break;
        default: return ds_model_history_rdmsr(m, msr, value);
        }
    /* clang-format on */
    return 0;
}

int ds_model_rdpmc(const struct ds_model *m, uint32_t index, uint64_t *value)
{
    const struct ds_model_preset *p = m->preset;
    if (index < p->gp_counters)
        *value = m->value[index];
    else if (index >= RDPMC_FIXED && index - RDPMC_FIXED < p->fixed_counters)
        *value = m->value[ds_counter_fixed(index - RDPMC_FIXED)];
    else if (index == RDPMC_METRICS && p->perf_metrics)
        *value = m->perf_metrics;
    else
        return -EFAULT;
    return 0;
}

int ds_model_store(const struct ds_model *m, uint64_t *reg, uint64_t value, uint64_t legal)
{
    if (value & ~legal && !m->policy.reserved_ignored)
        return -EFAULT;
    *reg = value & legal;
    return 0;
}

int ds_model_wrmsr(struct ds_model *m, uint32_t msr, uint64_t value)
{
    const struct ds_model_preset *p = m->preset;
    uint64_t bits;
    int e = 0;
    if (!exists(p, msr))
        return -EFAULT;
    if (msr - IA32_PMC0 < p->gp_counters) {
        m->value[msr - IA32_PMC0] = (uint64_t)(int64_t)(int32_t)(uint32_t)value & m->counter_mask;
        return 0;
    }
    if (msr - IA32_A_PMC0 < p->gp_counters)
        return ds_model_store(m, &m->value[msr - IA32_A_PMC0], value, m->counter_mask);
    if (msr - IA32_FIXED_CTR0 < p->fixed_counters)
        return ds_model_store(m, &m->value[ds_counter_fixed(msr - IA32_FIXED_CTR0)], value, m->counter_mask);
    if (msr - IA32_PERFEVTSEL0 < p->gp_counters) {
        e = ds_model_store(m, &m->perfevtsel[msr - IA32_PERFEVTSEL0], value, legal_perfevtsel(m));
        m->asserted &= e ? UINT64_MAX : ~DS_BIT(msr - IA32_PERFEVTSEL0);
    } else
        switch (msr) {
        case IA32_BIOS_SIGN_ID: /* CPUID loads it anew */
            return 0;
        case IA32_MISC_ENABLE:
            m->misc_enable = (value & ~IA32_MISC_ENABLE_READ_ONLY) | (m->misc_enable & IA32_MISC_ENABLE_READ_ONLY);
            return 0;
        case IA32_PERF_CAPABILITIES:
        case IA32_PERF_GLOBAL_STATUS:
        case IA32_PERF_GLOBAL_INUSE:
            return m->policy.reserved_ignored ? 0 : -EFAULT;
        case IA32_DEBUGCTL:
            if (p->arch_lbr)
                value &= ~IA32_DEBUGCTL_LBR; /* may be written there, and reads 0 */
            return ds_model_store(m, &m->debugctl, value, legal_debugctl(m));
        case IA32_FIXED_CTR_CTRL:
            e = ds_model_store(m, &m->fixed_ctr_ctrl, value, legal_fixed_ctr_ctrl(m));
            break;
        case IA32_PERF_GLOBAL_CTRL:
            e = ds_model_store(m, &m->global_ctrl, value, legal_global_ctrl(m));
            break;
        case IA32_PERF_GLOBAL_OVF_CTRL:
            if (!(e = ds_model_store(m, &bits, value, legal_status(m))))
                m->global_status &= ~bits;
            return e;
        case IA32_PERF_GLOBAL_STATUS_SET:
            if (!(e = ds_model_store(m, &bits, value, legal_status(m))))
                m->global_status |= bits;
            return e;
        case IA32_PEBS_ENABLE:
            e = ds_model_store(m, &m->pebs_enable, value, legal_pebs_enable(p));
            m->pebs = m->pebs_enable & p->pebs_counters;
            m->armed &= m->pebs; /* enabled again, it waits for the next wrap */
            return e;
        case MSR_PEBS_DATA_CFG:
            return ds_model_store(m, &m->data_cfg, value, p->data_cfg);
        case MSR_PERF_METRICS:
            m->perf_metrics = value;
            return 0;
        case MSR_PEBS_LD_LAT:
            return ds_model_store(m, &m->ld_lat, value, LEGAL_LD_LAT);
        case MSR_PEBS_FRONTEND:
            return ds_model_store(m, &m->frontend, value, LEGAL_FRONTEND);
        case IA32_DS_AREA:
            if (!canonical(value))
                return -EFAULT;
            m->ds_area = value;
            return 0;
        default:
            return ds_model_history_wrmsr(m, msr, value);
        }
    if (!e)
        update_counting(m);
    return e;
}

void ds_model_lvtpc_write(struct ds_model *m, uint32_t value)
{
    m->lvtpc = value & (LVTPC_VECTOR | LVTPC_DELIVERY | LVTPC_MASKED);
    if (m->pmi_latched && !(m->lvtpc & LVTPC_MASKED)) {
        m->pmi_latched = false;
        ds_model_raise_pmi(m);
    }
}

void ds_model_raise_pmi(struct ds_model *m)
{
    const uint32_t lvtpc = m->host.lvtpc ? m->host.lvtpc(m->host.context) : m->lvtpc;
    m->lvtpc = lvtpc | LVTPC_MASKED;
    if (lvtpc & LVTPC_MASKED) {
        m->pmi_latched = m->policy.masked_pmi_latched;
        uint8_t kind = m->pmi_latched ? DS_MODEL_PMI_LATCHED : DS_MODEL_PMI_LOST;
        ds_model_act(m, (struct ds_model_action){kind, 0, 0, lvtpc, lvtpc});
        return;
    }
    ds_model_act(m, (struct ds_model_action){DS_MODEL_PMI_RAISED, 0, 0, lvtpc, m->lvtpc});
    m->host.raise_pmi(m->host.context, lvtpc);
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
        update_counting(m);
    }
}

void ds_model_counter_pmi(struct ds_model *m)
{
    freeze(m);
    ds_model_raise_pmi(m);
}
