/* SPDX-License-Identifier: MIT */
/*
 * Writes the bytes of a record of architectural PEBS: a header, then its groups in their order. By the policy
 * arch_fragments it comes in several fragments, each with a header of its own. Not found in any source: who pads a
 * record to a multiple of 16 bytes; here it is the processor, with zeros behind the last group.
 */
#include "ds/model/pebs23/pebs23.h"

enum { XSTATE_SSE = 2 }; /* XSTATE bitmap: XMM registers */

/* A record being written. */
struct cursor {
    struct ds_model *model;
    const struct ds_model_registers *registers;
    const struct ds_model_retired *retired;
    uint64_t counters; /* that cause it */
    uint64_t address;  /* physical, of what comes next */
    bool there;        /* memory for all of it so far */
};

static void put(struct cursor *at, const void *from, uint32_t size)
{
    at->there = at->there && ds_model_write_physical(at->model, at->address, from, size);
    at->address += size;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* `groups`: those of the fragment. */
static void put_basic(struct cursor *at, uint64_t groups)
{
    (void)groups;
    const struct ds_arch_basic basic = {.eventing_ip = at->registers->eventing_ip,
                                        .counters = at->counters,
                                        .tsc = at->registers->tsc,
                                        .retire =
                                            DS_ARCH_RETIRE_VALID | ds_model_retire_latency(at->model, at->retired)};
    put(at, &basic, sizeof basic);
}

static void put_aux(struct cursor *at, uint64_t groups)
{
    (void)groups;
    const struct ds_arch_aux aux = {.data_linear_address = ds_model_data_address(at->model, at->counters, at->retired),
                                    .data_source = ds_model_data_source(at->model, at->counters, at->retired),
                                    .latency = ds_model_latency(at->model, at->counters, at->retired)};
    put(at, &aux, sizeof aux);
}

static void put_gpr(struct cursor *at, uint64_t groups)
{
    struct ds_arch_gpr gpr = {0};
    (void)groups;
    ds_model_fill_gpr(&gpr.registers, at->registers);
    put(at, &gpr, sizeof gpr);
}

/* XMM alone: no preset has another area. */
static void put_xer(struct cursor *at, uint64_t groups)
{
    const struct ds_model *m = at->model;
    const struct ds_arch_xer head = {.xstate = m->host.xmm ? XSTATE_SSE : 0};
    struct ds_pebs_xmm xmm = {0};
    (void)groups;
    if (m->host.xmm)
        m->host.xmm(m->host.context, &xmm);
    put(at, &head, sizeof head);
    put(at, &xmm, sizeof xmm);
}

static void put_lbr(struct cursor *at, uint64_t groups)
{
    const struct ds_model *m = at->model;
    const struct ds_arch_lbr head = {.lbr_ctl = m->lbr_ctl, .depth = m->lbr_depth};
    const uint32_t entries = ds_arch_lbr_entries(groups, m->lbr_depth);
    struct ds_pebs_lbr newest[DS_MODEL_LBR_DEPTH];
    for (uint32_t i = 0; i < entries; i++)
        newest[i] = ds_model_history(m, i);
    put(at, &head, sizeof head);
    put(at, newest, entries * (uint32_t)sizeof newest[0]);
}

/* The counters whose values these groups show, numbered as ever. */
static uint64_t shown(const struct ds_model *m, uint64_t groups)
{
    return m->snapshot & ((groups & IA32_PMC_CFG_C_CNTR_GP ? UINT32_MAX : 0) |
                          (groups & IA32_PMC_CFG_C_CNTR_FIXED ? ~(uint64_t)UINT32_MAX : 0));
}

/* Counters as they stand when the record is written: those that caused it are not reloaded yet. */
static void put_counters(struct cursor *at, uint64_t groups)
{
    struct ds_model *m = at->model;
    uint64_t *slots = &m->value[ds_counter_fixed(DS_MODEL_FIXED_SLOTS)];
    const bool metrics = groups & IA32_PMC_CFG_C_CNTR_METRICS;
    const struct ds_pebs_cntr head = {
        .gp_mask = (uint32_t)shown(m, groups),
        .fixed_mask = (uint32_t)(shown(m, groups) >> DS_COUNTER_FIXED),
        .metrics = metrics ? DS_PEBS_CNTR_METRICS : 0,
    };
    put(at, &head, sizeof head);
    uint64_t words[DS_COUNTER_NUMBERS + 2];
    uint32_t n = 0;
    for (uint64_t c = shown(m, groups); c; c &= c - 1)
        words[n++] = m->value[__builtin_ctzll(c)];
    if (metrics) {
        words[n++] = *slots;
        words[n++] = ds_model_metrics(m);
        if (m->fixed_ctr_ctrl & IA32_FIXED_CTR_CTRL_METRICS_CLEAR) {
            *slots = 0;
            ds_model_set_metrics(m, 0);
        }
    }
    put(at, words, n * (uint32_t)sizeof words[0]);
}

static const struct group {
    uint64_t bits; /* of the header, any of which mean it */
    void (*put)(struct cursor *at, uint64_t groups);
} all_groups[] = {
    {DS_ARCH_HEADER_BASIC, put_basic}, {IA32_PMC_CFG_C_AUX, put_aux}, {IA32_PMC_CFG_C_GPR, put_gpr},
    {IA32_PMC_CFG_C_XER, put_xer},     {IA32_PMC_CFG_C_LBR, put_lbr}, {IA32_PMC_CFG_C_CNTR, put_counters},
};
#define GROUPS (sizeof all_groups / sizeof all_groups[0])

/* ---- fragments --------------------------------------------------------------------------------------------------- */

/* Takes from `left` the groups of the next fragment. */
static uint64_t take(const struct ds_model *m, uint64_t *left)
{
    uint64_t of = *left;
    for (size_t i = 0; m->policy.arch_fragments != DS_MODEL_ARCH_WHOLE && i < GROUPS; i++)
        if (*left & all_groups[i].bits) {
            of = *left & all_groups[i].bits;
            break;
        }
    *left &= ~of;
    return of;
}

/* Bytes of a fragment, and how many of these are padding. */
static uint32_t fragment_bytes(const struct ds_model *m, uint64_t groups, uint32_t *padding)
{
    uint32_t words = groups & IA32_PMC_CFG_C_CNTR_METRICS ? 2 : 0;
    for (uint64_t c = shown(m, groups); c; c &= c - 1)
        words++;
    *padding = words % 2 * 8;
    return ds_arch_record_bytes(groups, words, m->lbr_depth) -
           (groups & DS_ARCH_HEADER_BASIC ? 0 : (uint32_t)sizeof(struct ds_arch_basic));
}

static void put_fragment(struct cursor *at, uint64_t groups, bool more)
{
    static const uint64_t zero;
    uint32_t padding;
    const uint32_t size = fragment_bytes(at->model, groups, &padding);
    const struct ds_arch_header header = {
        .format = groups | (at->model->policy.arch_padding_apart ? size - padding : size) |
                  (at->registers->compatibility ? 0 : DS_ARCH_HEADER_MODE64) | (more ? DS_ARCH_HEADER_CONT : 0)};
    put(at, &header, sizeof header);
    for (size_t i = 0; i < GROUPS; i++)
        if (groups & all_groups[i].bits)
            all_groups[i].put(at, groups);
    put(at, &zero, padding);
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

uint32_t ds_model_pebs23_record_size(const struct ds_model *m, uint64_t set)
{
    uint32_t size = m->policy.arch_fragments == DS_MODEL_ARCH_NULL ? sizeof(struct ds_arch_header) : 0, padding;
    for (uint64_t left = groups_of(m, set); left;)
        size += fragment_bytes(m, take(m, &left), &padding);
    return size;
}

bool ds_model_pebs23_write_record(struct ds_model *m, const struct ds_model_record *record,
                                  const struct ds_model_retired *retired)
{
    static const struct ds_arch_header null = {.format = sizeof null};
    struct cursor at = {.model = m,
                        .registers = record->registers,
                        .retired = retired,
                        .counters = record->counters,
                        .address = record->address,
                        .there = true};
    if (m->policy.arch_fragments == DS_MODEL_ARCH_NULL)
        put(&at, &null, sizeof null);
    for (uint64_t left = groups_of(m, record->counters); left;) {
        const uint64_t groups = take(m, &left);
        put_fragment(&at, groups, left != 0);
    }
    return at.there;
}
