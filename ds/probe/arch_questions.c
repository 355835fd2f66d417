/* SPDX-License-Identifier: MIT */
/*
 * What no source at hand says of architectural PEBS: its buffer, its registers and its records. (One more of its
 * questions is asked where its like is: ds/probe/addresses.c.)
 */
#include "ds/probe/internal.h"

#include "arch/arch.h"
#include "kernel/lib/string.h"

#define UNIT 16u /* bytes, in which IA32_PEBS_INDEX counts */

/* One record among the NOPs, in a buffer of `maximum` bytes, the index at `index`. The status as it is then. */
static uint64_t one_record(struct ds_probe *p, uint32_t maximum, uint32_t index, uint32_t threshold)
{
    ds_probe_reset(p);
    ds_probe_arch_buffer(p, maximum, threshold);
    ds_probe_arch_set_index(p, index);
    ds_probe_count(p, &p->instructions, p->period, DS_PROBE_FAR);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
    return ds_probe_status(p);
}

static unsigned long as_read(const struct ds_probe *p) /* the index */
{
    return (unsigned long)p->index;
}

/* ---- the threshold ----------------------------------------------------------------------------------------------- */

/* A record that ends at the threshold, and one that ends one unit beyond it. */
void ds_probe_arch_threshold(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint64_t bit = IA32_PERF_GLOBAL_STATUS_ARCH_PEBS;
    const uint64_t at = one_record(p, DS_PROBE_BUFFER, 0, p->record_bytes);
    const uint64_t beyond = one_record(p, DS_PROBE_BUFFER, 0, p->record_bytes - UNIT);
    const unsigned records = ds_probe_records(p);
    const char *answer = records != 1 ? "" : at & bit ? "ge" : beyond & bit ? "gt" : "other";
    ds_probe_answer(r, answer,
                    "%u records of %u bytes: GLOBAL_STATUS 0x%lx with the threshold there, 0x%lx one unit below",
                    records, p->record_bytes, (unsigned long)at, (unsigned long)beyond);
}

void ds_probe_arch_ovf_buf(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint64_t status = one_record(p, DS_PROBE_BUFFER, 0, p->record_bytes - UNIT);
    ds_probe_answer(r,
                    !(status & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS) ? ""
                    : status & IA32_PERF_GLOBAL_STATUS_OVF_BUF    ? "yes"
                                                                  : "no",
                    "GLOBAL_STATUS 0x%lx behind the threshold", (unsigned long)status);
}

/* ---- the end of the buffer --------------------------------------------------------------------------------------- */

/* One unit is left, and the largest record that fits there is none. What lies behind the buffer is the probe's, too. */
void ds_probe_arch_full(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint32_t last = ARCH_PAGE_SIZE - UNIT;
    unsigned behind = 0;
    one_record(p, ARCH_PAGE_SIZE, last, DS_PROBE_NEVER);
    for (unsigned i = last; i < DS_PROBE_BUFFER; i++)
        behind += p->bench->buffer[i] != 0;
    const char *answer = ia32_pebs_index_wr(p->index) != last || behind ? "other"
                         : !(p->index & IA32_PEBS_INDEX_FULL)           ? "other"
                         : p->index & IA32_PEBS_INDEX_EN                ? "drop"
                                                                        : "disable";
    ds_probe_answer(r, answer, "16 bytes left: IA32_PEBS_INDEX 0x%lx; bytes changed there or behind: %u", as_read(p),
                    behind);
}

void ds_probe_arch_fit(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint32_t last = ARCH_PAGE_SIZE - p->record_bytes;
    one_record(p, ARCH_PAGE_SIZE, last, DS_PROBE_NEVER);
    const uint32_t wr = ia32_pebs_index_wr(p->index);
    ds_probe_answer(r,
                    wr == ARCH_PAGE_SIZE ? "yes"
                    : wr == last         ? "no"
                                         : "other",
                    "%u bytes left for a record of as many: IA32_PEBS_INDEX 0x%lx", p->record_bytes, as_read(p));
}

/* ---- IA32_PEBS_BASE ---------------------------------------------------------------------------------------------- */

/* Nothing counts or records meanwhile, so it does not matter what memory that would be. What is read back; *fault: it
 * raises #GP. */
static uint64_t written(struct ds_probe *p, uint64_t value, bool *fault)
{
    const struct ds_machine *m = p->bench->machine;
    ds_probe_write(p, IA32_PEBS_BASE, 0);
    *fault = m->wrmsr(m->context, IA32_PEBS_BASE, value);
    const uint64_t after = ds_probe_read(p, IA32_PEBS_BASE);
    ds_probe_write(p, IA32_PEBS_BASE, 0);
    return after;
}

static bool takes(struct ds_probe *p, uint64_t value)
{
    bool fault;
    return written(p, value, &fault) == value;
}

/* Two pages of the buffer, from its second page on. */
void ds_probe_arch_base(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint64_t physical = ds_probe_arch_physical(p), value = (physical + ARCH_PAGE_SIZE) | 1;
    bool fault;
    const uint64_t after = written(p, value, &fault);
    ds_probe_answer(r,
                    after == value                     ? "page"
                    : fault || after == (physical | 1) ? "size" /* rounded down, as where reserved bits are ignored */
                                                       : "other",
                    "0x%lx, 8192 bytes at a multiple of 4096 only: %s, 0x%lx read", (unsigned long)value,
                    fault ? "#GP" : "written", (unsigned long)after);
}

/* At the address 0, which is a multiple of every size. */
void ds_probe_arch_size(struct ds_probe *p, struct ds_probe_result *r)
{
    unsigned taken = 0; /* of the bits 4 to 11: a mask */
    for (unsigned bit = 4; bit < 12; bit++)
        taken |= takes(p, DS_BIT(bit)) ? 1u << bit : 0;
    const bool four = takes(p, 15);
    ds_probe_answer(r,
                    !four            ? "other"
                    : !taken         ? "4_bits"
                    : taken == 0xFF0 ? "12_bits"
                                     : "other",
                    "SIZE 15 is %s; of its bits 11 to 4 these are: 0x%x", four ? "taken" : "refused", taken);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* One record that has these groups, too, in the whole buffer. */
static bool with_groups(struct ds_probe *p, struct ds_probe_result *r, uint64_t groups)
{
    ds_probe_reset(p);
    ds_probe_arch_buffer(p, DS_PROBE_BUFFER, DS_PROBE_NEVER);
    ds_probe_count(p, &p->instructions, p->period, DS_PROBE_FAR);
    ds_probe_arch_groups(p, p->instructions.number, groups);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
    if (ds_probe_records(p))
        return true;
    ds_probe_unknown(r, "no record with these groups: IA32_PEBS_INDEX 0x%lx", as_read(p));
    return false;
}

/* A group of one counter makes a record, or its last fragment, 8 bytes too short. Another unit than 16 bytes would show
 * where the index goes. */
void ds_probe_arch_padding(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint64_t groups = IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_ALLOW;
    struct ds_probe_fragment f = {0};
    if ((p->caps->arch_groups & groups) != groups) {
        ds_probe_unknown(r, "records have no group of counters");
        return;
    }
    if (!with_groups(p, r, groups))
        return;
    const struct ds_pebs_cntr *counters = ds_probe_arch_group(p, 0, IA32_PMC_CFG_C_CNTR);
    while (ds_probe_arch_fragment(p, 0, &f) && !(f.format & IA32_PMC_CFG_C_CNTR))
        ;
    const uint32_t size = ds_arch_header_size(f.format), all = ds_probe_arch_first_size(p);
    const uint32_t moved = ia32_pebs_index_wr(p->index);
    if (!counters || counters->gp_mask != DS_BIT(p->instructions.number) || counters->fixed_mask || counters->metrics)
        ds_probe_unknown(r, "the group of counters is not of one: record of %u bytes, header 0x%lx", all,
                         (unsigned long)f.format);
    else
        ds_probe_answer(r,
                        moved != all  ? "other"
                        : size % UNIT ? "apart"
                                      : "in_size",
                        "with one counter's value: header 0x%lx, %u bytes; all fragments %u; the index moved by %u",
                        (unsigned long)f.format, size, all, moved);
}

void ds_probe_arch_fragments(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint64_t groups =
        p->caps->arch_groups & (IA32_PMC_CFG_C_AUX | IA32_PMC_CFG_C_GPR | IA32_PMC_CFG_C_XMM | IA32_PMC_CFG_C_LBR |
                                IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_ALLOW);
    struct ds_probe_fragment f = {0};
    uint64_t first = 0;
    unsigned fragments = 0;
    if (!with_groups(p, r, groups))
        return;
    while (ds_probe_arch_fragment(p, 0, &f)) {
        first = fragments ? first : f.format;
        fragments++;
    }
    ds_probe_answer(r,
                    ds_arch_header_null(first)    ? "null"
                    : first & DS_ARCH_HEADER_CONT ? "cont"
                                                  : "none",
                    "a record of %u bytes in %u fragments, the first header 0x%lx; groups asked for 0x%lx",
                    ds_probe_arch_first_size(p), fragments, (unsigned long)first, (unsigned long)groups);
}

/* Two counters of instructions begin and overflow together. */
void ds_probe_arch_together(struct ds_probe *p, struct ds_probe_result *r)
{
    const struct ds_probe_counter *a = &p->instructions;
    struct ds_probe_counter b;
    const uint64_t not_these = DS_BIT(a->number) | p->caps->pdist_counters;
    if (!ds_probe_find(p, DS_EVENT_INSTRUCTIONS, not_these, &b)) {
        ds_probe_unknown(r, "needs two counters of instructions without precise distribution");
        return;
    }
    ds_probe_reset(p);
    ds_probe_arch_buffer(p, DS_PROBE_BUFFER, DS_PROBE_NEVER);
    ds_probe_count(p, a, p->period, DS_PROBE_FAR);
    ds_probe_count(p, &b, p->period, DS_PROBE_FAR);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
    const unsigned records = ds_probe_records(p);
    uint64_t of[2] = {0}, ip[2] = {0};
    for (unsigned i = 0; i < 2 && i < records; i++) {
        const struct ds_arch_basic *basic = ds_probe_arch_group(p, i, DS_ARCH_HEADER_BASIC);
        of[i] = basic ? basic->counters : 0;
        ip[i] = basic ? basic->eventing_ip : 0;
    }
    const uint64_t both = DS_BIT(a->number) | DS_BIT(b.number);
    ds_probe_answer(r,
                    records == 1 && of[0] == both                                                ? "one"
                    : records == 2 && (of[0] | of[1]) == both && of[0] != both && ip[0] == ip[1] ? "each"
                    : records                                                                    ? "other"
                                                                                                 : "",
                    "counters %u and %u: %u records, of counters 0x%lx and 0x%lx, at 0x%lx and 0x%lx", a->number,
                    b.number, records, (unsigned long)of[0], (unsigned long)of[1], (unsigned long)ip[0],
                    (unsigned long)ip[1]);
}
