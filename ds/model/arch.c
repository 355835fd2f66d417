/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS: its registers, and what an overflow does there. A counter that wraps is armed, and the next event
 * it counts writes a record, as in counting.c; but what the record contains and what the counter is reloaded with are
 * in the counter's own CFG_C, and the record goes to IA32_PEBS_BASE + IA32_PEBS_INDEX.WR in physical memory.
 *
 * Sources: Linux' arch/x86/events/intel/{core,ds}.c (6.19 and later) for fields and for what software relies on. What
 * they leave open is a policy: see the rows arch_... in policy.c. Inferred: that an event records one event after the
 * wrap as in the Debug Store; that the reload value is sign-extended; that bit 54 raises one PMI until it is cleared.
 */
#include "ds/model/internal.h"
#include "kernel/lib/errno.h"

#define SIZE_WIDE UINT64_C(0xFFF) /* policy arch_size=12_bits */

bool ds_model_arch(const struct ds_model *m)
{
    return m->preset->format == DS_FORMAT_ARCH;
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

#define BLOCK_BYTES 0x100u
#define FIXED_AT    (IA32_PMC_FX0_CTR - IA32_PMC_GP0_CTR)
enum { CTR, CFG_A, CFG_B, CFG_C };

/* The counter of an MSR of the block, and which of its four it is. */
static bool in_block(uint32_t msr, unsigned *counter, unsigned *which)
{
    const uint32_t at = msr - IA32_PMC_GP0_CTR;
    if (at >= BLOCK_BYTES)
        return false;
    *counter = at < FIXED_AT ? at / IA32_PMC_STEP : ds_counter_fixed((at - FIXED_AT) / IA32_PMC_STEP);
    *which = at % IA32_PMC_STEP;
    return true;
}

uint32_t ds_model_arch_alias(const struct ds_model *m, uint32_t msr)
{
    unsigned c, which;
    if (m->preset->perfmon_version < 6 || !in_block(msr, &c, &which) || c >= DS_COUNTER_NUMBERS ||
        !(m->counters & DS_BIT(c)))
        return msr;
    const bool fixed = c >= DS_COUNTER_FIXED;
    if (which == CTR)
        return fixed ? IA32_FIXED_CTR0 + (c - DS_COUNTER_FIXED) : IA32_A_PMC0 + c;
    return which == CFG_A && !fixed ? IA32_PERFEVTSEL0 + c : msr;
}

/* Where CFG_B or CFG_C of a counter is kept, with its legal bits; NULL: the processor has no such MSR. */
static uint64_t *config(struct ds_model *m, unsigned c, unsigned which, uint64_t *legal)
{
    const struct ds_model_preset *p = m->preset;
    const uint64_t bit = c < DS_COUNTER_NUMBERS ? DS_BIT(c) : 0;
    const bool pebs = p->pebs_counters & bit && ds_model_arch(m);
    if (which == CFG_B && p->acr_reloaded & bit) {
        *legal = p->acr_causes | (p->perf_metrics ? IA32_PMC_CFG_B_METRICS_CLEAR : 0);
        return &m->cfg_b[c];
    }
    if (which == CFG_C && (pebs || p->acr_reloaded & bit)) {
        *legal = IA32_PMC_CFG_C_RELOAD | (pebs ? p->arch_groups | IA32_PMC_CFG_C_EN : 0);
        return &m->cfg_c[c];
    }
    return NULL;
}

int ds_model_arch_rdmsr(const struct ds_model *m, uint32_t msr, uint64_t *value)
{
    unsigned c, which;
    uint64_t legal;
    if (ds_model_arch(m) && (msr == IA32_PEBS_BASE || msr == IA32_PEBS_INDEX)) {
        *value = msr == IA32_PEBS_BASE ? m->pebs_base : m->pebs_index;
        return 0;
    }
    if (m->preset->perfmon_version < 6 || !in_block(msr, &c, &which))
        return -ENOENT;
    const uint64_t *reg = config((struct ds_model *)(uintptr_t)m, c, which, &legal); /* which it does not write */
    if (!reg)
        return -EFAULT;
    *value = *reg;
    return 0;
}

static uint64_t size_bits(const struct ds_model *m)
{
    return m->policy.arch_size_wide ? SIZE_WIDE : IA32_PEBS_BASE_SIZE;
}

/* Bytes of the buffer; no more than WR reaches. */
static uint64_t buffer_bytes(const struct ds_model *m)
{
    const uint64_t most = IA32_PEBS_INDEX_WR + 16, size = m->pebs_base & size_bits(m);
    return size <= IA32_PEBS_BASE_SIZE ? UINT64_C(4096) << size : most;
}

static int write_base(struct ds_model *m, uint64_t value)
{
    const uint64_t before = m->pebs_base;
    int e = ds_model_store(m, &m->pebs_base, value, IA32_PEBS_BASE_ADDRESS | size_bits(m));
    if (!e && m->policy.arch_base_aligned && m->pebs_base & IA32_PEBS_BASE_ADDRESS & (buffer_bytes(m) - 1)) {
        m->pebs_base = before;
        return -EFAULT;
    }
    return e;
}

int ds_model_arch_wrmsr(struct ds_model *m, uint32_t msr, uint64_t value)
{
    unsigned c, which;
    uint64_t legal, *reg;
    int e;
    if (ds_model_arch(m) && msr == IA32_PEBS_BASE)
        return write_base(m, value);
    if (ds_model_arch(m) && msr == IA32_PEBS_INDEX) {
        e = ds_model_store(m, &m->pebs_index, value, IA32_PEBS_INDEX_VALID);
        ds_model_select_pebs(m);
        return e;
    }
    if (m->preset->perfmon_version < 6 || !in_block(msr, &c, &which))
        return -ENOENT;
    reg = config(m, c, which, &legal);
    if (!reg)
        return -EFAULT;
    e = ds_model_store(m, reg, value, legal);
    ds_model_select(m);
    return e;
}

void ds_model_arch_select(struct ds_model *m)
{
    uint64_t enabled = 0;
    m->snapshot = m->reloaders = 0;
    for (uint64_t set = m->counters; set; set &= set - 1) {
        const unsigned c = (unsigned)__builtin_ctzll(set);
        enabled |= m->cfg_c[c] & IA32_PMC_CFG_C_EN ? DS_BIT(c) : 0;
        m->snapshot |= m->cfg_c[c] & IA32_PMC_CFG_C_CNTR_ALLOW ? DS_BIT(c) : 0;
        m->reloaders |= m->cfg_b[c];
    }
    m->reloaders &= m->counters;
    m->pebs_enable = m->pebs_index & IA32_PEBS_INDEX_EN ? enabled : 0;
}

/* ---- overflow ---------------------------------------------------------------------------------------------------- */

/* What CFG_C reloads the counter with. */
static uint64_t reload_value(const struct ds_model *m, unsigned c)
{
    return (uint64_t)(int64_t)(int32_t)(uint32_t)(m->cfg_c[c] & IA32_PMC_CFG_C_RELOAD) & m->counter_mask;
}

static void reload(struct ds_model *m, unsigned c)
{
    const uint64_t before = m->value[c];
    m->value[c] = reload_value(m, c);
    ds_model_act(m, (struct ds_model_action){DS_MODEL_RELOADED, (uint8_t)c, 0, before, m->value[c]});
}

bool ds_model_arch_overflow(struct ds_model *m, unsigned overflowed)
{
    const uint64_t bit = DS_BIT(overflowed);
    for (uint64_t set = m->reloaders & bit ? m->counters : 0; set; set &= set - 1) {
        const unsigned c = (unsigned)__builtin_ctzll(set);
        if (!(m->cfg_b[c] & bit))
            continue;
        reload(m, c);
        if (m->cfg_b[c] & IA32_PMC_CFG_B_METRICS_CLEAR)
            m->perf_metrics = 0;
    }
    if (m->cfg_b[overflowed] & bit) /* a counter that reloads itself sets no bit */
        return false;
    return !(m->pebs & bit) || m->policy.arch_overflow != DS_MODEL_ARCH_NEVER;
}

/* The counters that caused a record go on from their reload values. */
static void reload_all(struct ds_model *m, uint64_t set)
{
    m->armed &= ~set;
    if (m->policy.arch_overflow != DS_MODEL_ARCH_STAYS)
        m->global_status &= ~set;
    for (; set; set &= set - 1) {
        const unsigned c = (unsigned)__builtin_ctzll(set);
        if (m->cfg_c[c] & IA32_PMC_CFG_C_RELOAD)
            reload(m, c);
    }
}

static bool passed(const struct ds_model *m, uint32_t wr)
{
    const uint32_t threshold = ia32_pebs_index_thresh(m->pebs_index);
    return m->policy.arch_threshold_gt ? wr > threshold : wr >= threshold;
}

bool ds_model_arch_store(struct ds_model *m, struct ds_model_record *record, const struct ds_model_retired *retired)
{
    const uint32_t wr = ia32_pebs_index_wr(m->pebs_index);
    const uint64_t end = (uint64_t)wr + record->size;
    record->address = (m->pebs_base & IA32_PEBS_BASE_ADDRESS) + wr;
    record->stored = !(m->pebs_index & IA32_PEBS_INDEX_FULL) && end <= buffer_bytes(m) && end <= IA32_PEBS_INDEX_WR;
    if (!record->stored) {
        m->dropped++;
        m->pebs_index |= IA32_PEBS_INDEX_FULL;
        ds_model_act(m, (struct ds_model_action){DS_MODEL_DROPPED, 0, record->counters, wr, buffer_bytes(m)});
        if (m->policy.arch_full_disables) {
            m->pebs_index &= ~IA32_PEBS_INDEX_EN;
            ds_model_select_pebs(m);
        }
        return true;
    }
    if (!ds_model_arch_write_record(m, record, retired))
        return false;
    m->pebs_index = (m->pebs_index & ~IA32_PEBS_INDEX_WR) | end;
    m->records++;
    ds_model_act(m, (struct ds_model_action){DS_MODEL_STORED, 0, record->counters, wr, end});
    return true;
}

/* One record for all counters of `set`. False: its memory is not there; then it is lost, and they are not reloaded. */
static bool record_of(struct ds_model *m, uint64_t set, const struct ds_model_retired *retired,
                      const struct ds_model_registers *registers, unsigned *pmis)
{
    struct ds_model_record record = {
        .size = ds_model_arch_record_size(m, set), .counters = set, .registers = registers};
    if (!ds_model_arch_store(m, &record, retired)) {
        m->lost++;
        m->armed &= ~set;
        return false;
    }
    if (m->host.recorded)
        m->host.recorded(m->host.context, &record);
    if (record.stored || !m->policy.drop_keeps_overflow)
        reload_all(m, set);
    if (record.stored) {
        const uint32_t wr = ia32_pebs_index_wr(m->pebs_index);
        ds_model_act(m, (struct ds_model_action){DS_MODEL_COMPARED, 0, 0, wr, ia32_pebs_index_thresh(m->pebs_index)});
        if (passed(m, wr) && !(m->global_status & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS)) {
            m->global_status |=
                IA32_PERF_GLOBAL_STATUS_ARCH_PEBS | (m->policy.arch_sets_ovf_buf ? IA32_PERF_GLOBAL_STATUS_OVF_BUF : 0);
            ++*pmis;
        }
    }
    *pmis += (set & m->interrupting) != 0;
    return true;
}

bool ds_model_arch_assist(struct ds_model *m, uint64_t set, const struct ds_model_retired *retired, unsigned *pmis)
{
    struct ds_model_registers registers;
    bool there = true;
    m->host.registers(m->host.context, &registers);
    for (uint64_t some; set; set &= ~some) {
        some = m->policy.arch_record_each ? set & -set : set;
        there &= record_of(m, some, retired, &registers, pmis);
    }
    return there;
}
