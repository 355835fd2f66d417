/* SPDX-License-Identifier: MIT */
/*
 * Branch history: which branches it contains, and its MSRs, as software and the LBR group of PEBS records read them.
 * There are two kinds. Up to Ice Lake the entries are a ring, MSR_LASTBRANCH_TOS says which entry is the newest, and
 * MSR_LBR_SELECT leaves branches out. In architectural LBR entry 0 is the newest, and IA32_LBR_CTL selects branches.
 * Sources: SDM vol. 3B, "Last Branch, Interrupt, and Exception Recording" and "Last Branch Records"; which values of
 * FROM can be written without TSX: Linux' arch/x86/events/intel/lbr.c. Not found in any source: that a popped entry
 * reads 0 (but Linux stops reading at an entry that does), and that writing non-canonical addresses or reserved bits,
 * which Linux never does, raises #GP.
 * Event logging: Linux' lbr.c for the fields of INFO, and for what they mean the letters to linux-kernel that came with
 * it ("occurrences of events", "saturated"; in their example a branch is in its own entry). Inferred: that a log begins
 * anew when IA32_LBR_DEPTH or the counter's IA32_PERFEVTSELx is written.
 */
#include "ds/lbr_layout.h"
#include "ds/model/internal.h"
#include "ds/model/lbr/lbr.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define NO_ADDRESS UINT64_C(0xFFFFFFFF) /* of a branch from a ring that is filtered out, with architectural LBR */

uint8_t ds_model_lbr_format(const struct ds_model_preset *p)
{
    return p->lbr_format;
}

uint64_t ds_model_lbr_debugctl(const struct ds_model_preset *p)
{
    return p->kvm && !p->lbr_format ? 0 : IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI;
}

static bool on(const struct ds_model *m)
{
    return m->preset->arch_lbr ? m->lbr_ctl & IA32_LBR_CTL_LBREN : m->debugctl & IA32_DEBUGCTL_LBR;
}

/* Whether the filter lets branches pass that end at `cpl`. */
static bool ring_passes(const struct ds_model *m, unsigned cpl)
{
    return m->preset->arch_lbr ? m->lbr_ctl & (cpl ? IA32_LBR_CTL_USR : IA32_LBR_CTL_OS)
                               : !(m->lbr_select & (cpl ? MSR_LBR_SELECT_CPL_NEQ_0 : MSR_LBR_SELECT_CPL_EQ_0));
}

static bool type_passes(const struct ds_model *m, enum ds_model_branch_type type)
{
    static const uint16_t select[] = {
        [DS_MODEL_CONDITIONAL] = MSR_LBR_SELECT_JCC,
        [DS_MODEL_DIRECT_JUMP] = MSR_LBR_SELECT_NEAR_REL_JMP,
        [DS_MODEL_INDIRECT_JUMP] = MSR_LBR_SELECT_NEAR_IND_JMP,
        [DS_MODEL_DIRECT_CALL] = MSR_LBR_SELECT_NEAR_REL_CALL,
        [DS_MODEL_INDIRECT_CALL] = MSR_LBR_SELECT_NEAR_IND_CALL,
        [DS_MODEL_RETURN] = MSR_LBR_SELECT_NEAR_RET,
        [DS_MODEL_OTHER_BRANCH] = MSR_LBR_SELECT_FAR_BRANCH,
    };
    return m->preset->arch_lbr ? m->lbr_ctl & ia32_lbr_ctl_branch(type) : !(m->lbr_select & select[type]);
}

bool ds_model_remembers(const struct ds_model *m, enum ds_model_branch_type type, unsigned cpl)
{
    return on(m) && ring_passes(m, cpl) && type_passes(m, type);
}

bool ds_model_call_stack(const struct ds_model *m)
{
    return m->preset->arch_lbr ? m->lbr_ctl & IA32_LBR_CTL_CALL_STACK : m->lbr_select & MSR_LBR_SELECT_EN_CALLSTACK;
}

/* The entry `age` branches before the newest. */
static struct ds_pebs_lbr *entry(struct ds_model *m, unsigned age)
{
    return &m->lbr[(m->lbr_tos - age) & (m->lbr_depth - 1)];
}

static void log_anew(struct ds_model *m)
{
    memcpy(m->lbr_logged, m->value, sizeof m->lbr_logged);
}

bool ds_model_logs(const struct ds_model *m)
{
    bool any = false;
    for (unsigned n = 0; n < DS_LBR_LOGGED; n++)
        any |= m->perfevtsel[n] & IA32_PERFEVTSEL_EN_LBR_LOG;
    return any;
}

/* How often events have occurred since the entry before, as INFO has it. */
static uint64_t logged(const struct ds_model *m)
{
    uint64_t info = 0;
    for (unsigned n = 0; n < DS_LBR_LOGGED; n++) {
        const uint64_t times = (m->value[n] - m->lbr_logged[n]) & m->counter_mask;
        if (m->perfevtsel[n] & IA32_PERFEVTSEL_EN_LBR_LOG)
            info |= ds_lbr_info_log(times < DS_LBR_LOGGED_MOST ? times : DS_LBR_LOGGED_MOST, n);
    }
    return info;
}

static void move(struct ds_model *m, unsigned by)
{
    m->lbr_tos = (m->lbr_tos + by) & (m->lbr_depth - 1);
}

static bool wanted(const struct ds_model *m, const struct ds_model_branch *branch)
{
    return !(m->global_status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ) && ds_model_remembers(m, branch->type, branch->cpl);
}

uint64_t ds_model_inserted(const struct ds_model *m, const struct ds_model_branch *branch)
{
    const bool enters =
        wanted(m, branch) && !(ds_model_call_stack(m) && (branch->type == DS_MODEL_RETURN || branch->to_next));
    return enters ? DS_BIT(DS_MODEL_LBR_INSERT) : 0;
}

void ds_model_remember_branch(struct ds_model *m, const struct ds_model_branch *branch, unsigned cpl)
{
    const struct ds_model_preset *p = m->preset;
    if (!wanted(m, branch))
        return;
    if (ds_model_call_stack(m) && branch->type == DS_MODEL_RETURN) {
        *entry(m, 0) = (struct ds_pebs_lbr){0};
        move(m, -1u);
        return;
    }
    if (ds_model_call_stack(m) && branch->to_next) /* CALL $+5 reads RIP, and nothing returns from it */
        return;
    const bool mispredicted = branch->prediction == DS_MODEL_MISPREDICTED;
    struct ds_pebs_lbr new = {.from = branch->from, .to = branch->to};
    if (p->lbr_format == LBR_FMT_EIP_FLAGS || p->lbr_format == LBR_FMT_EIP_FLAGS_TSX) {
        new.from &= ~(p->lbr_format == LBR_FMT_EIP_FLAGS ? DS_LBR_FROM_MISPRED : DS_LBR_FROM_FLAGS);
        new.from |= mispredicted ? DS_LBR_FROM_MISPRED : 0;
    } else if (p->lbr_info)
        new.info = (mispredicted ? DS_LBR_INFO_MISPRED : 0) | logged(m);
    if (p->arch_lbr && !ring_passes(m, cpl))
        new.from = NO_ADDRESS;
    move(m, 1);
    *entry(m, 0) = new;
    log_anew(m);
}

/* ---- the MSRs ---------------------------------------------------------------------------------------------------- */

/* The word of an entry that the MSR is. NULL: *e says why, -EFAULT: it is one of other processors or beyond the depth;
 * -ENOENT: it is no such MSR. */
static uint64_t *word(struct ds_model *m, uint32_t msr, int *e)
{
    static const uint32_t bases[] = {MSR_LASTBRANCH_CORE_0_FROM_IP,
                                     MSR_LASTBRANCH_CORE_0_TO_IP,
                                     MSR_LASTBRANCH_0_FROM_IP,
                                     MSR_LASTBRANCH_0_TO_IP,
                                     MSR_LBR_INFO_0,
                                     IA32_LBR_0_INFO,
                                     IA32_LBR_0_FROM_IP,
                                     IA32_LBR_0_TO_IP};
    const struct ds_model_preset *p = m->preset;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        unsigned n = msr - bases[i], there = i < 2 ? 4 : DS_MODEL_LBR_DEPTH;
        if (n >= there)
            continue;
        *e = -EFAULT;
        if (n >= m->lbr_depth)
            return NULL;
        struct ds_pebs_lbr *l = p->arch_lbr ? entry(m, n) : &m->lbr[n];
        return bases[i] == p->lbr_from   ? &l->from
               : bases[i] == p->lbr_to   ? &l->to
               : bases[i] == p->lbr_info ? &l->info
                                         : NULL;
    }
    *e = -ENOENT;
    return NULL;
}

/* Whether the word may be written so. Bits 62 and 61 of FROM are part of the address where there is no TSX, though
 * branches leave them 0. */
static bool legal(const struct ds_model *m, uint32_t msr, uint64_t value)
{
    const struct ds_model_preset *p = m->preset;
    if (p->lbr_info && msr - p->lbr_info < DS_MODEL_LBR_DEPTH)
        return p->arch_lbr || !(value & ~DS_LBR_INFO_VALID); /* reserved bits are ignored by definition there */
    bool flags = msr - p->lbr_from < DS_MODEL_LBR_DEPTH &&
                 (p->lbr_format == LBR_FMT_EIP_FLAGS || p->lbr_format == LBR_FMT_EIP_FLAGS_TSX);
    return ds_model_canonical(m, value, flags ? DS_LBR_FROM_MISPRED : 0);
}

int ds_model_history_rdmsr(const struct ds_model *m, uint32_t msr, uint64_t *value)
{
    const struct ds_model_preset *p = m->preset;
    int e;
    const uint64_t *w = word((struct ds_model *)m, msr, &e);
    switch (msr) {
    case MSR_LBR_SELECT:
        *value = m->lbr_select;
        return p->lbr_select ? 0 : -EFAULT;
    case MSR_LASTBRANCH_TOS:
        *value = m->lbr_tos;
        return p->arch_lbr || !m->lbr_depth ? -EFAULT : 0;
    case IA32_LBR_CTL:
        *value = m->lbr_ctl;
        return p->arch_lbr ? 0 : -EFAULT;
    case IA32_LBR_DEPTH:
        *value = m->lbr_depth;
        return p->arch_lbr ? 0 : -EFAULT;
    default:
        *value = w ? *w : 0;
        return w ? 0 : e;
    }
}

static int set_depth(struct ds_model *m, uint64_t depth)
{
    if (depth == 0 || depth > DS_MODEL_LBR_DEPTH || depth % 8 || !(m->preset->lbr_depths >> (depth / 8 - 1) & 1))
        return m->policy.reserved_ignored ? 0 : -EFAULT;
    m->lbr_depth = (uint32_t)depth;
    m->lbr_tos = 0;
    log_anew(m);
    memset(m->lbr, 0, sizeof m->lbr);
    return 0;
}

int ds_model_history_wrmsr(struct ds_model *m, uint32_t msr, uint64_t value)
{
    const struct ds_model_preset *p = m->preset;
    uint64_t before;
    int e = ds_model_history_rdmsr(m, msr, &before);
    if (e)
        return e;
    switch (msr) {
    case MSR_LBR_SELECT:
        return ds_model_store(m, &m->lbr_select, value, p->lbr_select);
    case MSR_LASTBRANCH_TOS:
        e = ds_model_store(m, &value, value, m->lbr_depth - 1);
        m->lbr_tos = e ? m->lbr_tos : (uint32_t)value;
        return e;
    case IA32_LBR_CTL:
        return ds_model_store(m, &m->lbr_ctl, value, IA32_LBR_CTL_VALID);
    case IA32_LBR_DEPTH:
        return set_depth(m, value);
    default:
        if (!legal(m, msr, value))
            return -EFAULT;
        *word(m, msr, &e) = value;
        return 0;
    }
}
