/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS: its registers, and what an overflow does there. A counter that wraps is armed, and the next event
 * it counts writes a record, as in counting.c; but what the record contains and what the counter is reloaded with are
 * in the counter's own CFG_C, and the record goes to IA32_PEBS_BASE + IA32_PEBS_INDEX.WR in physical memory.
 *
 * Sources: Linux' arch/x86/events/intel/{core,ds}.c (6.19 and later) for fields and for what software relies on. What
 * they leave open is a policy: see the rows arch_... in policy.c. Inferred: that an event records one event after the
 * wrap as in the Debug Store; that the reload value is sign-extended.
 */
#include "ds/model/pebs23/pebs23.h"
#include "kernel/lib/errno.h"

#define SIZE_WIDE UINT64_C(0xFFF) /* policy arch_size=12_bits */

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

static uint32_t alias(const struct ds_model *m, uint32_t msr)
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

/* Legal bits of a counter's CFG_B or CFG_C; 0: the processor has no such MSR. */
static uint64_t legal_config(const struct ds_model *m, unsigned c, unsigned which)
{
    const struct ds_model_preset *p = m->preset;
    const uint64_t bit = c < DS_COUNTER_NUMBERS ? DS_BIT(c) : 0;
    if (which == CFG_B && p->acr_reloaded & bit)
        return p->acr_causes | (ds_model_has_metrics(p) ? IA32_PMC_CFG_B_METRICS_CLEAR : 0);
    if (which == CFG_C && p->pebs_counters & bit)
        return IA32_PMC_CFG_C_RELOAD | p->arch_groups | IA32_PMC_CFG_C_EN;
    return 0;
}

static int rdmsr(const struct ds_model *m, uint32_t msr, uint64_t *value)
{
    unsigned c, which;
    if (msr == IA32_PEBS_BASE || msr == IA32_PEBS_INDEX) {
        *value = msr == IA32_PEBS_BASE ? m->pebs_base : m->pebs_index;
        return 0;
    }
    if (m->preset->perfmon_version < 6 || !in_block(msr, &c, &which))
        return -ENOENT;
    if (!legal_config(m, c, which))
        return -EFAULT;
    *value = which == CFG_B ? m->cfg_b[c] : m->cfg_c[c];
    return 0;
}

static uint64_t size_bits(const struct ds_model *m)
{
    return m->policy.arch_size_wide ? SIZE_WIDE : IA32_PEBS_BASE_SIZE;
}

/* Bytes of the buffer that IA32_PEBS_BASE describes; no more than WR reaches. */
static uint64_t buffer_bytes(const struct ds_model *m, uint64_t base)
{
    const uint64_t size = base & size_bits(m);
    return UINT64_C(4096) << (size < IA32_PEBS_BASE_SIZE ? size : IA32_PEBS_BASE_SIZE);
}

static int write_base(struct ds_model *m, uint64_t value)
{
    if (m->policy.arch_base_aligned && value & IA32_PEBS_BASE_ADDRESS & (buffer_bytes(m, value) - 1))
        return -EFAULT;
    return ds_model_store(m, &m->pebs_base, value, IA32_PEBS_BASE_ADDRESS | size_bits(m));
}

static int write_index(struct ds_model *m, uint64_t value)
{
    int e = ds_model_store(m, &m->pebs_index, value, IA32_PEBS_INDEX_VALID);
    ds_model_select_pebs(m);
    return e;
}

static int wrmsr(struct ds_model *m, uint32_t msr, uint64_t value)
{
    unsigned c, which;
    if (msr == IA32_PEBS_BASE)
        return write_base(m, value);
    if (msr == IA32_PEBS_INDEX)
        return write_index(m, value);
    if (m->preset->perfmon_version < 6 || !in_block(msr, &c, &which))
        return -ENOENT;
    const uint64_t legal = legal_config(m, c, which);
    if (!legal)
        return -EFAULT;
    int e = ds_model_store(m, which == CFG_B ? &m->cfg_b[c] : &m->cfg_c[c], value, legal);
    ds_model_select_pebs(m);
    return e;
}

static void select_pebs(struct ds_model *m)
{
    uint64_t enabled = 0;
    m->snapshot = m->reloaders = 0;
    for (uint64_t set = m->counters; set; set &= set - 1) {
        const unsigned c = (unsigned)__builtin_ctzll(set);
        enabled |= m->cfg_c[c] & IA32_PMC_CFG_C_EN ? DS_BIT(c) : 0;
        m->snapshot |= m->cfg_c[c] & IA32_PMC_CFG_C_CNTR_ALLOW ? DS_BIT(c) : 0;
        m->reloaders |= m->cfg_b[c];
    }
    m->pebs_enable = m->pebs_index & IA32_PEBS_INDEX_EN ? enabled : 0;
}

/* ---- overflow ---------------------------------------------------------------------------------------------------- */

static bool flagged(const struct ds_model *m, unsigned counter)
{
    const uint64_t bit = DS_BIT(counter);
    if (m->cfg_b[counter] & bit) /* one that reloads itself sets no bit */
        return false;
    return !(m->pebs & bit) || m->policy.arch_overflow != DS_MODEL_ARCH_NEVER;
}

static void reload(struct ds_model *m, unsigned c)
{
    const int32_t value = (int32_t)(m->cfg_c[c] & IA32_PMC_CFG_C_RELOAD);
    const uint64_t before = m->value[c];
    ds_model_set_counter(m, c, ds_model_reload_value(m, c, (uint64_t)(int64_t)value));
    ds_model_act(m, (struct ds_model_action){DS_MODEL_RELOADED, (uint8_t)c, 0, before, m->value[c]});
}

static void auto_reload(struct ds_model *m, uint64_t overflowed)
{
    for (uint64_t set = m->preset->acr_reloaded; set; set &= set - 1) {
        const unsigned c = (unsigned)__builtin_ctzll(set);
        if (!(m->cfg_b[c] & overflowed))
            continue;
        reload(m, c);
        if (m->cfg_b[c] & IA32_PMC_CFG_B_METRICS_CLEAR)
            ds_model_set_metrics(m, 0);
    }
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* These counters have nothing to record any more, and go on from their reload values. */
static void disarm(struct ds_model *m, uint64_t set)
{
    m->armed &= ~set;
    if (m->policy.arch_overflow == DS_MODEL_ARCH_CLEARED)
        m->global_status &= ~set;
    for (; set; set &= set - 1) {
        const unsigned c = (unsigned)__builtin_ctzll(set);
        if (m->cfg_c[c] & IA32_PMC_CFG_C_RELOAD)
            reload(m, c);
    }
}

static void drop(struct ds_model *m, const struct ds_model_record *record, uint32_t wr)
{
    m->dropped++;
    m->pebs_index |= IA32_PEBS_INDEX_FULL;
    ds_model_act(m, (struct ds_model_action){DS_MODEL_DROPPED, 0, record->counters, wr, buffer_bytes(m, m->pebs_base)});
    if (m->policy.arch_full_disables) {
        m->pebs_index &= ~IA32_PEBS_INDEX_EN;
        ds_model_select_pebs(m);
    }
}

/* Writes the record where WR points, or drops it where there is no room; sets record->address, record->stored. False:
 * its memory is not there, and it is lost. */
static bool store(struct ds_model *m, struct ds_model_record *record, const struct ds_model_retired *retired)
{
    const uint32_t wr = ia32_pebs_index_wr(m->pebs_index);
    const uint64_t end = (uint64_t)wr + record->size;
    record->address = (m->pebs_base & IA32_PEBS_BASE_ADDRESS) + wr;
    record->stored = !(m->pebs_index & IA32_PEBS_INDEX_FULL) && end <= buffer_bytes(m, m->pebs_base) &&
                     end <= IA32_PEBS_INDEX_WR; /* of the largest buffer, which ends behind what WR can say */
    if (!record->stored) {
        drop(m, record, wr);
        return true;
    }
    if (!ds_model_pebs23_write_record(m, record, retired)) {
        ds_model_lose(m, record->counters);
        return false;
    }
    m->pebs_index = (m->pebs_index & ~IA32_PEBS_INDEX_WR) | end;
    m->records++;
    ds_model_act(m, (struct ds_model_action){DS_MODEL_STORED, 0, record->counters, wr, end});
    return true;
}

/* Whether the threshold raises a PMI, now that a record has been stored. */
static bool reached(struct ds_model *m)
{
    const uint32_t wr = ia32_pebs_index_wr(m->pebs_index), threshold = ia32_pebs_index_thresh(m->pebs_index);
    ds_model_act(m, (struct ds_model_action){DS_MODEL_COMPARED, 0, 0, wr, threshold});
    if (wr < threshold + (m->policy.arch_threshold_gt ? 1 : 0))
        return false;
    m->global_status |= m->policy.arch_sets_ovf_buf ? IA32_PERF_GLOBAL_STATUS_OVF_BUF : 0;
    return ds_model_reached(m, IA32_PERF_GLOBAL_STATUS_ARCH_PEBS);
}

/* The record of some of the counters `all` that cause one now. False: as of `store`, and they are not reloaded. */
static bool record_of(struct ds_model *m, struct ds_model_record *record, uint64_t all,
                      const struct ds_model_retired *retired)
{
    const uint64_t bystanders = m->policy.bystander_swapped ? m->armed & m->pebs & ~all : 0;
    record->size = ds_model_pebs23_record_size(m, record->counters);
    if (!store(m, record, retired)) {
        m->armed &= ~record->counters;
        return false;
    }
    const bool reloads = record->stored || !m->policy.drop_keeps_overflow;
    record->swallowed = reloads ? bystanders : 0;
    for (uint64_t c = record->swallowed; c; c &= c - 1)
        m->swallowed++;
    if (m->host.recorded)
        m->host.recorded(m->host.context, record);
    if (reloads)
        disarm(m, record->counters | bystanders);
    return true;
}

static bool assist(struct ds_model *m, uint64_t set, const struct ds_model_retired *retired, unsigned *pmis)
{
    struct ds_model_registers registers;
    bool there = true;
    m->host.registers(m->host.context, &registers);
    for (uint64_t left = set, some; left; left &= ~some) {
        some = m->policy.arch_record_each ? left & -left : left;
        struct ds_model_record record = {.counters = some, .registers = &registers};
        const bool done = record_of(m, &record, set, retired);
        *pmis += done && record.stored && reached(m);
        there &= done;
    }
    *pmis += (set & m->interrupting) != 0;
    return there;
}

static int late(struct ds_model *m)
{
    struct ds_model_record record = {.size = ds_model_pebs23_record_size(m, m->late.counters),
                                     .counters = m->late.counters,
                                     .registers = &m->late.registers};
    if (!(m->pebs_index & IA32_PEBS_INDEX_EN)) /* then nothing says any more where to */
        return 0;
    if (!store(m, &record, &m->late.retired))
        return -EFAULT;
    if (m->host.recorded)
        m->host.recorded(m->host.context, &record);
    return 0;
}

const struct ds_model_pebs23 ds_model_pebs23 = {
    .status = IA32_PERF_GLOBAL_STATUS_ARCH_PEBS,
    .perfevtsel = IA32_PERFEVTSEL_UMASK2 | IA32_PERFEVTSEL_EQ,
    .metrics = IA32_FIXED_CTR_CTRL_METRICS_CLEAR,
    .alias = alias,
    .rdmsr = rdmsr,
    .wrmsr = wrmsr,
    .select = select_pebs,
    .flagged = flagged,
    .auto_reload = auto_reload,
    .assist = assist,
    .late = late,
};
