/* SPDX-License-Identifier: MIT */
#include "ds/truth/truth.h"

#include "arch/arch.h"
#include "arch/fpu.h"
#include "ds/lbr_layout.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/string.h"

enum { XSTATE_SSE = 2 }; /* the component of XMM registers in the XER group's bitmap */

_Static_assert(CAIRN_TRUTH_LBR_MAX == DS_SOFT_BRANCHES, "branches of a record");

/* ---- groups of words --------------------------------------------------------------------------------------------- */

struct list {
    uint8_t (*out)[CAIRN_TRUTH_BYTES];
    uint32_t count;
    uint8_t cpu;
};

static void add(struct list *list, enum cairn_truth_group group, const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += CAIRN_TRUTH_PER_RECORD) {
        struct cairn_truth_words w = {
            .kind = CAIRN_TRUTH_WORDS, .cpu = list->cpu, .group = (uint8_t)group, .first = (uint8_t)i};
        uint32_t n = count - i < CAIRN_TRUTH_PER_RECORD ? count - i : CAIRN_TRUTH_PER_RECORD;
        memcpy(w.word, words + i, n * sizeof *words);
        memcpy(list->out[list->count++], &w, sizeof w);
    }
}

static uint64_t msr(struct ds_cpu *ds, uint32_t number)
{
    uint64_t value = 0;
    ds->machine->rdmsr(ds->machine->context, number, &value);
    return value;
}

/* CFG_C of these counters together. */
static uint64_t cfg_c_of(struct ds_cpu *ds, uint64_t counters)
{
    uint64_t all = 0, lbr = 0;
    for (; counters; counters &= counters - 1) {
        const uint64_t one =
            msr(ds, ds_arch_msr((unsigned)__builtin_ctzll(counters), IA32_PMC_GP0_CFG_C, IA32_PMC_FX0_CFG_C));
        all |= one;
        lbr = (one & IA32_PMC_CFG_C_LBR) > lbr ? one & IA32_PMC_CFG_C_LBR : lbr;
    }
    return (all & IA32_PMC_CFG_C_GROUPS & ~IA32_PMC_CFG_C_LBR) | lbr;
}

/* What shapes the record: a register that the processor of this format has. */
static uint64_t shape(struct ds_cpu *ds)
{
    if (ds->caps.format == 1 || ds->caps.format == 2)
        return msr(ds, IA32_PERF_GLOBAL_STATUS);
    return ds->config.groups ? msr(ds, MSR_PEBS_DATA_CFG) : 0;
}

static void add_state(struct list *list, const struct ds_soft_step *step, uint64_t shaped_by)
{
    const struct arch_trap_frame *f = step->frame;
    /* clang-format off */
    const uint64_t words[CAIRN_TRUTH_STATES] = {
        f->rflags & ~ARCH_RFLAGS_TF, /* which is not the thread's */
        f->rax, f->rcx, f->rdx, f->rbx, f->rsp, f->rbp, f->rsi, f->rdi,
        f->r8,  f->r9,  f->r10, f->r11, f->r12, f->r13, f->r14, f->r15,
        step->tsc_first, step->tsc_last, shaped_by,
    };
    /* clang-format on */
    add(list, CAIRN_TRUTH_STATE, words, CAIRN_TRUTH_STATES);
}

/* The model's counters by RDMSR, in the order of the counter group; those that caused the record are not reloaded yet.
 */
static void add_counters(struct list *list, struct ds_cpu *ds, uint64_t cfg)
{
    uint64_t words[DS_MAX_COUNTERS + 2];
    uint32_t n = 0;
    if (cfg & MSR_PEBS_DATA_CFG_CNTR) {
        for (unsigned i = 0; i < ds->caps.gp_counters; i++)
            if (msr_pebs_data_cfg_gp(cfg) >> i & 1)
                words[n++] = msr(ds, IA32_PMC0 + i);
        for (unsigned i = 0; i < ds->caps.fixed_counters; i++)
            if (msr_pebs_data_cfg_fixed(cfg) >> i & 1)
                words[n++] = msr(ds, IA32_FIXED_CTR0 + i);
    }
    if (cfg & MSR_PEBS_DATA_CFG_METRICS) {
        words[n++] = msr(ds, IA32_FIXED_CTR0 + 3);
        words[n++] = msr(ds, MSR_PERF_METRICS);
    }
    add(list, CAIRN_TRUTH_CNTR, words, n);
}

/* The same, and what else the headers of architectural PEBS say. */
static void add_arch(struct list *list, struct ds_cpu *ds, uint64_t groups, bool mode64)
{
    const uint64_t all = (DS_BIT(ds->caps.gp_counters) - 1) | (DS_BIT(ds->caps.fixed_counters) - 1) << DS_COUNTER_FIXED;
    uint64_t values[DS_MAX_COUNTERS + 2], words[CAIRN_TRUTH_ARCH_WORDS] = {[CAIRN_TRUTH_ARCH_MODE64] = mode64};
    uint32_t n = 0;
    for (uint64_t set = all & ds->caps.pebs_counters; set; set &= set - 1) {
        const unsigned c = (unsigned)__builtin_ctzll(set);
        const uint64_t asked = c < DS_COUNTER_FIXED ? IA32_PMC_CFG_C_CNTR_GP : IA32_PMC_CFG_C_CNTR_FIXED;
        const uint64_t cfg_c = msr(ds, ds_arch_msr(c, IA32_PMC_GP0_CFG_C, IA32_PMC_FX0_CFG_C));
        if (!(groups & asked) || !(cfg_c & IA32_PMC_CFG_C_CNTR_ALLOW))
            continue;
        words[CAIRN_TRUTH_ARCH_COUNTERS] |= DS_BIT(c);
        values[n++] = msr(ds, ds_arch_msr(c, IA32_PMC_GP0_CTR, IA32_PMC_FX0_CTR));
    }
    if (groups & IA32_PMC_CFG_C_CNTR_METRICS) {
        words[CAIRN_TRUTH_ARCH_METRICS] = DS_PEBS_CNTR_METRICS;
        values[n++] = msr(ds, IA32_FIXED_CTR0 + 3);
        values[n++] = msr(ds, MSR_PERF_METRICS);
    }
    if (groups & IA32_PMC_CFG_C_XMM)
        words[CAIRN_TRUTH_ARCH_XSTATE] = XSTATE_SSE;
    if (groups & IA32_PMC_CFG_C_LBR) {
        words[CAIRN_TRUTH_ARCH_LBR_CTL] = msr(ds, IA32_LBR_CTL);
        words[CAIRN_TRUTH_ARCH_LBR_DEPTH] = msr(ds, IA32_LBR_DEPTH);
    }
    add(list, CAIRN_TRUTH_CNTR, values, n);
    add(list, CAIRN_TRUTH_ARCH, words, CAIRN_TRUTH_ARCH_WORDS);
}

/* As FXSAVE has them. */
static void add_xmm(struct list *list)
{
    struct arch_fpu fpu;
    uint64_t words[32];
    arch_fpu_save(&fpu);
    memcpy(words, fpu.image + FPU_XMM, sizeof words);
    add(list, CAIRN_TRUTH_XMM, words, 32);
}

static void add_history(struct list *list, const struct ds_soft_history *h, uint32_t entries)
{
    uint64_t words[2 * CAIRN_TRUTH_LBR_MAX];
    uint32_t n = entries < CAIRN_TRUTH_LBR_MAX ? entries : CAIRN_TRUTH_LBR_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = (h->next - 1 - i) % CAIRN_TRUTH_LBR_MAX;
        words[2 * i] = h->branch[at].from;
        words[2 * i + 1] = h->branch[at].to;
    }
    add(list, CAIRN_TRUTH_LBR, words, 2 * n);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

uint32_t ds_truth_make(uint8_t out[][CAIRN_TRUTH_BYTES], struct ds_cpu *ds, const struct ds_soft_step *step,
                       const struct ds_model_record *record)
{
    struct list list = {.out = out, .count = 1, .cpu = (uint8_t)ds->cpu};
    if (record->stored && ds->caps.instead) {
        const uint64_t by = cfg_c_of(ds, record->counters);
        add_state(&list, step, by);
        if (by & IA32_PMC_CFG_C_XMM)
            add_xmm(&list);
        if (by & IA32_PMC_CFG_C_LBR)
            add_history(&list, &step->history, ds_arch_lbr_entries(by, ds->caps.lbr_depth));
        add_arch(&list, ds, by, true); /* there is no other code here */
    } else if (record->stored) {
        uint64_t by = shape(ds), cfg = ds->caps.format < 4 ? 0 : by;
        add_state(&list, step, by);
        if (cfg & MSR_PEBS_DATA_CFG_XMM)
            add_xmm(&list);
        if (cfg & MSR_PEBS_DATA_CFG_LBR)
            add_history(&list, &step->history, msr_pebs_data_cfg_lbr_entries(cfg));
        add_counters(&list, ds, cfg);
    }
    struct cairn_truth_pebs pebs = {
        .kind = CAIRN_TRUTH_PEBS,
        .cpu = list.cpu,
        .stored = record->stored,
        .more = (uint8_t)(list.count - 1),
        .tid = step->tid,
        .tsc = record->registers->tsc,
        .event_ip = step->ip,
        .next_ip = step->next,
        .address = record->address,
        .counters = cairn_counters_pack(record->counters),
        .epoch = ds->epoch,
    };
    memcpy(out[0], &pebs, sizeof pebs);
    if (record->swallowed) {
        pebs.kind = CAIRN_TRUTH_SWALLOWED;
        pebs.more = 0;
        pebs.counters = cairn_counters_pack(record->swallowed);
        memcpy(out[list.count++], &pebs, sizeof pebs);
    }
    return list.count;
}

void ds_truth_make_branch(struct cairn_truth_branch *out, const struct ds_cpu *ds, const struct ds_soft_step *step,
                          const struct ds_model_branch *branch, bool stored)
{
    *out = (struct cairn_truth_branch){
        .kind = CAIRN_TRUTH_BRANCH,
        .cpu = (uint8_t)ds->cpu,
        .stored = stored,
        .tid = step->tid,
        .tsc = arch_rdtsc(),
        .from = branch->from,
        .to = branch->to,
        .epoch = ds->beside ? ds->beside->epoch : 0,
    };
}

static uint32_t arch_truth_records(const struct ds_caps *caps, const struct ds_config *config)
{
    const uint64_t groups = ds_groups(caps, config);
    uint32_t n =
        1 + (config->events > 1) + DS_TRUTH_RECORDS(CAIRN_TRUTH_STATES) + DS_TRUTH_RECORDS(CAIRN_TRUTH_ARCH_WORDS);
    if (groups & IA32_PMC_CFG_C_XMM)
        n += DS_TRUTH_RECORDS(32u);
    if (groups & IA32_PMC_CFG_C_LBR)
        n += DS_TRUTH_RECORDS(2 * ds_arch_lbr_entries(groups, caps->lbr_depth));
    if (groups & IA32_PMC_CFG_C_CNTR)
        n += DS_TRUTH_RECORDS(config->events + config->counting + 2);
    return n;
}

uint32_t ds_truth_records(const struct ds_caps *caps, const struct ds_config *config)
{
    if (caps->instead)
        return arch_truth_records(caps, config);
    uint64_t cfg = caps->baseline ? config->groups : 0;
    uint32_t n = 1 + (config->events > 1) + DS_TRUTH_RECORDS(CAIRN_TRUTH_STATES);
    if (cfg & MSR_PEBS_DATA_CFG_XMM)
        n += DS_TRUTH_RECORDS(32u);
    if (cfg & MSR_PEBS_DATA_CFG_LBR)
        n += DS_TRUTH_RECORDS(2 * msr_pebs_data_cfg_lbr_entries(cfg));
    if (cfg & MSR_PEBS_DATA_CFG_CNTR)
        n += DS_TRUTH_RECORDS(caps->gp_counters + caps->fixed_counters);
    return n;
}
