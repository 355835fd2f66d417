/* SPDX-License-Identifier: MIT */
/*
 * Writes the bytes of a record of architectural PEBS: a header, then its groups in their order. By the policy
 * arch_fragments it comes in several fragments, each with a header of its own. Not found in any source: who pads a
 * record to a multiple of 16 bytes; here it is the processor, with zeros behind the last group.
 */
#include "ds/model/internal.h"
#include "kernel/lib/string.h"

enum { XSTATE_SSE = 2 }; /* XSTATE bitmap: XMM registers */

/* A record being written: what its fragments have so far. */
struct cursor {
    struct ds_model *model;
    const struct ds_model_registers *registers;
    const struct ds_model_retired *retired;
    uint64_t counters, groups; /* that cause it; that it has */
    uint64_t address;          /* physical, of what comes next; 0 bytes are written if `measuring` */
    uint32_t size;             /* so far */
    bool measuring, there;
};

static void put(struct cursor *at, const void *from, uint32_t size)
{
    if (!at->measuring)
        at->there = at->there && ds_model_write_physical(at->model, at->address, from, size);
    at->address += size;
    at->size += size;
}

static void put_header(struct cursor *at, uint64_t groups, uint32_t size, bool more)
{
    const struct ds_arch_header header = {
        .format = size | groups | (at->registers && at->registers->compatibility ? 0 : DS_ARCH_HEADER_MODE64) |
                  (more ? DS_ARCH_HEADER_CONT : 0)};
    put(at, &header, sizeof header);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void put_basic(struct cursor *at)
{
    const struct ds_arch_basic basic = {
        .eventing_ip = at->registers->eventing_ip, .counters = at->counters, .tsc = at->registers->tsc};
    put(at, &basic, sizeof basic);
}

static void put_aux(struct cursor *at)
{
    const struct ds_arch_aux aux = {.data_linear_address = ds_model_data_address(at->model, at->counters, at->retired)};
    put(at, &aux, sizeof aux);
}

static void put_gpr(struct cursor *at)
{
    struct ds_arch_gpr gpr = {0};
    ds_model_fill_gpr(&gpr.registers, at->registers);
    put(at, &gpr, sizeof gpr);
}

static void put_xer(struct cursor *at)
{
    const struct ds_model *m = at->model;
    const struct ds_arch_xer head = {.xstate = m->host.xmm && at->groups & IA32_PMC_CFG_C_XMM ? XSTATE_SSE : 0};
    struct ds_pebs_xmm xmm = {0};
    put(at, &head, sizeof head);
    if (!(at->groups & IA32_PMC_CFG_C_XMM)) /* no preset has another area */
        return;
    if (head.xstate)
        m->host.xmm(m->host.context, &xmm);
    put(at, &xmm, sizeof xmm);
}

static void put_lbr(struct cursor *at)
{
    const struct ds_model *m = at->model;
    const struct ds_arch_lbr head = {.lbr_ctl = m->lbr_ctl, .depth = m->lbr_depth};
    put(at, &head, sizeof head);
    for (unsigned i = 0; i < ds_arch_lbr_entries(at->groups, m->lbr_depth); i++)
        put(at, ds_model_history(m, i), sizeof(struct ds_pebs_lbr));
}

/* Counters as they stand when the record is written: those that caused it are not reloaded yet. */
static void put_counters(struct cursor *at)
{
    struct ds_model *m = at->model;
    const bool metrics = at->groups & IA32_PMC_CFG_C_CNTR_METRICS;
    const struct ds_pebs_cntr head = {
        .gp_mask = at->groups & IA32_PMC_CFG_C_CNTR_GP ? (uint32_t)m->snapshot : 0,
        .fixed_mask = at->groups & IA32_PMC_CFG_C_CNTR_FIXED ? (uint32_t)(m->snapshot >> DS_COUNTER_FIXED) : 0,
        .metrics = metrics ? DS_PEBS_CNTR_METRICS : 0,
    };
    put(at, &head, sizeof head);
    for (uint64_t c = head.gp_mask | (uint64_t)head.fixed_mask << DS_COUNTER_FIXED; c; c &= c - 1)
        put(at, &m->value[__builtin_ctzll(c)], 8);
    if (!metrics)
        return;
    put(at, &m->value[ds_counter_fixed(DS_MODEL_FIXED_SLOTS)], 8);
    put(at, &m->perf_metrics, 8);
    if (!at->measuring && m->fixed_ctr_ctrl & IA32_FIXED_CTR_CTRL_METRICS_CLEAR)
        m->value[ds_counter_fixed(DS_MODEL_FIXED_SLOTS)] = m->perf_metrics = 0;
}

static const struct group {
    uint64_t bits; /* of the header, any of which mean it */
    void (*put)(struct cursor *at);
} groups[] = {
    {DS_ARCH_HEADER_BASIC, put_basic}, {IA32_PMC_CFG_C_AUX, put_aux}, {IA32_PMC_CFG_C_GPR, put_gpr},
    {IA32_PMC_CFG_C_XER, put_xer},     {IA32_PMC_CFG_C_LBR, put_lbr}, {IA32_PMC_CFG_C_CNTR, put_counters},
};
#define GROUPS (sizeof groups / sizeof groups[0])

/* Bytes that these groups of the record at `at` take. */
static uint32_t measure(const struct cursor *at, uint64_t of)
{
    static const struct ds_model_registers none;
    struct cursor length = *at;
    length.measuring = true;
    length.size = 0;
    length.registers = &none;
    for (size_t i = 0; i < GROUPS; i++)
        if (groups[i].bits & of)
            groups[i].put(&length);
    return length.size;
}

/* One fragment: header, its groups, padding. */
static void put_fragment(struct cursor *at, uint64_t of, bool more)
{
    static const uint64_t padding;
    const uint32_t body = (uint32_t)sizeof(struct ds_arch_header) + measure(at, of), pad = -body % 16;
    put_header(at, of, at->model->policy.arch_padding_apart ? body : body + pad, more);
    for (size_t i = 0; i < GROUPS; i++)
        if (groups[i].bits & of)
            groups[i].put(at);
    put(at, &padding, pad);
}

static void put_record(struct cursor *at)
{
    const unsigned fragments = at->model->policy.arch_fragments;
    const struct ds_arch_header null = {.format = sizeof null};
    if (fragments == DS_MODEL_ARCH_WHOLE) {
        put_fragment(at, at->groups, false);
        return;
    }
    if (fragments == DS_MODEL_ARCH_NULL)
        put(at, &null, sizeof null);
    uint64_t left = at->groups;
    for (size_t i = 0; i < GROUPS; i++) {
        const uint64_t of = left & groups[i].bits;
        left &= ~of;
        if (of)
            put_fragment(at, of, left != 0);
    }
}

/* The groups of the record that `set` causes: those of each of its counters, and the longest history. */
static uint64_t groups_of(const struct ds_model *m, uint64_t set)
{
    uint64_t wanted = 0, lbr = 0;
    for (; set; set &= set - 1) {
        const uint64_t cfg_c = m->cfg_c[__builtin_ctzll(set)];
        wanted |= cfg_c;
        lbr = (cfg_c & IA32_PMC_CFG_C_LBR) > lbr ? cfg_c & IA32_PMC_CFG_C_LBR : lbr;
    }
    return (wanted & m->preset->arch_groups & IA32_PMC_CFG_C_GROUPS & ~IA32_PMC_CFG_C_LBR) | lbr | DS_ARCH_HEADER_BASIC;
}

uint32_t ds_model_arch_record_size(const struct ds_model *m, uint64_t set)
{
    static const struct ds_model_registers none;
    struct cursor at = {.model = (struct ds_model *)(uintptr_t)m, /* which measuring does not write */
                        .registers = &none,
                        .groups = groups_of(m, set),
                        .measuring = true};
    put_record(&at);
    return at.size;
}

bool ds_model_arch_write_record(struct ds_model *m, const struct ds_model_record *record,
                                const struct ds_model_retired *retired)
{
    struct cursor at = {.model = m,
                        .registers = record->registers,
                        .retired = retired,
                        .counters = record->counters,
                        .groups = groups_of(m, record->counters),
                        .address = record->address,
                        .there = true};
    put_record(&at);
    return at.there;
}
