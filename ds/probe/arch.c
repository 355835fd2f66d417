/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS for the experiments: what they set in place of a DS area, and how they find what is in the buffer.
 * Records are where IA32_PEBS_BASE points, up to IA32_PEBS_INDEX; nothing here is sure of their size but by walking
 * over them, fragment by fragment.
 */
#include "ds/probe/internal.h"

#include "arch/arch.h"
#include "kernel/lib/string.h"

#define QUIET 64u /* reads of a register, as in ds/probe/common.c */

/* ---- registers --------------------------------------------------------------------------------------------------- */

uint32_t ds_probe_arch_cfg_c(unsigned counter)
{
    return ds_arch_msr(counter, IA32_PMC_GP0_CFG_C, IA32_PMC_FX0_CFG_C);
}

/* Auto counter reload would reload a counter behind an experiment's back: its registers are among these. */
uint32_t ds_probe_arch_msr(const struct ds_probe *p, unsigned i)
{
    if (!i--)
        return IA32_PEBS_BASE;
    for (uint64_t set = p->caps->acr_counters; set; set &= set - 1)
        if (!i--)
            return ds_arch_msr((unsigned)__builtin_ctzll(set), IA32_PMC_GP0_CFG_B, IA32_PMC_FX0_CFG_B);
    for (uint64_t set = p->caps->pebs_counters | p->caps->acr_counters; set; set &= set - 1)
        if (!i--)
            return ds_probe_arch_cfg_c((unsigned)__builtin_ctzll(set));
    return i ? 0 : IA32_PEBS_INDEX;
}

void ds_probe_arch_off(struct ds_probe *p)
{
    uint32_t msr;
    ds_probe_write(p, IA32_PEBS_INDEX, 0); /* nothing records from here on */
    for (unsigned i = 0; (msr = ds_probe_arch_msr(p, i)); i++)
        ds_probe_write(p, msr, 0);
}

uint64_t ds_probe_arch_physical(const struct ds_probe *p)
{
    const struct ds_machine *m = p->bench->machine;
    return m->physical ? m->physical(m->context, p->bench->buffer) : (uint64_t)(uintptr_t)p->bench->buffer;
}

static void set_index(struct ds_probe *p, uint64_t index)
{
    p->index = index;
    ds_probe_write(p, IA32_PEBS_INDEX, index);
}

void ds_probe_arch_buffer(struct ds_probe *p, uint32_t maximum, uint32_t threshold)
{
    unsigned size = 0;
    while ((ARCH_PAGE_SIZE << size) < maximum)
        size++;
    ds_probe_write(p, IA32_PEBS_BASE, ds_probe_arch_physical(p) | size);
    set_index(p, ia32_pebs_index(0, threshold));
    p->begin = 0;
}

void ds_probe_arch_set_index(struct ds_probe *p, uint32_t offset)
{
    set_index(p, (p->index & ~IA32_PEBS_INDEX_WR) | offset);
    p->begin = offset;
}

void ds_probe_arch_count(struct ds_probe *p, unsigned counter, uint64_t again)
{
    const uint64_t reload = ds_initial(p->caps, counter, again) & IA32_PMC_CFG_C_RELOAD;
    ds_probe_write(p, ds_probe_arch_cfg_c(counter), IA32_PMC_CFG_C_EN | reload);
}

void ds_probe_arch_groups(struct ds_probe *p, unsigned counter, uint64_t groups)
{
    const uint32_t msr = ds_probe_arch_cfg_c(counter);
    ds_probe_write(p, msr, ds_probe_read(p, msr) | groups);
}

uint64_t ds_probe_arch_same_groups(uint64_t data_cfg)
{
    return (data_cfg & MSR_PEBS_DATA_CFG_MEMINFO ? IA32_PMC_CFG_C_AUX : 0) |
           (data_cfg & MSR_PEBS_DATA_CFG_GPR ? IA32_PMC_CFG_C_GPR : 0) |
           (data_cfg & MSR_PEBS_DATA_CFG_XMM ? IA32_PMC_CFG_C_XMM : 0) |
           (data_cfg & MSR_PEBS_DATA_CFG_LBR ? IA32_PMC_CFG_C_LBR : 0) |
           (data_cfg & MSR_PEBS_DATA_CFG_CNTR ? IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_ALLOW : 0);
}

void ds_probe_arch_on(struct ds_probe *p)
{
    set_index(p, p->index | IA32_PEBS_INDEX_EN);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* How many records there are from `from` to `to`, or the first `most` of them; *at: where they end. */
static unsigned walk(const struct ds_probe *p, uint32_t from, uint32_t to, unsigned most, uint32_t *at)
{
    unsigned n = 0;
    to = to < DS_PROBE_BUFFER ? to : DS_PROBE_BUFFER;
    for (*at = from; n < most && *at < to; n++) {
        const uint32_t size = ds_arch_record_size(p->bench->buffer + *at, to - *at);
        if (!size)
            break;
        *at += size;
    }
    return n;
}

unsigned ds_probe_arch_records(const struct ds_probe *p)
{
    uint32_t at;
    return walk(p, p->begin, ia32_pebs_index_wr(p->index), UINT32_MAX, &at);
}

uint32_t ds_probe_arch_first_size(const struct ds_probe *p)
{
    uint32_t at;
    return walk(p, p->begin, ia32_pebs_index_wr(p->index), 1, &at) ? at - p->begin : 0;
}

/* The header at `at` of the buffer. */
static uint64_t format_at(const struct ds_probe *p, uint32_t at)
{
    struct ds_arch_header header;
    memcpy(&header, p->bench->buffer + at, sizeof header);
    return header.format;
}

static const uint64_t order[] = {DS_ARCH_HEADER_BASIC, IA32_PMC_CFG_C_AUX, IA32_PMC_CFG_C_GPR,
                                 IA32_PMC_CFG_C_XER,   IA32_PMC_CFG_C_LBR, IA32_PMC_CFG_C_CNTR};

/* Bytes of a group that begins at `at`; of counters without their values, as nothing comes behind these. */
static uint32_t group_bytes(const struct ds_probe *p, uint64_t format, uint64_t group, uint32_t at)
{
    struct ds_arch_lbr lbr = {0};
    switch (group) {
    case DS_ARCH_HEADER_BASIC:
        return sizeof(struct ds_arch_basic);
    case IA32_PMC_CFG_C_AUX:
        return sizeof(struct ds_arch_aux);
    case IA32_PMC_CFG_C_GPR:
        return sizeof(struct ds_arch_gpr);
    case IA32_PMC_CFG_C_XER:
        return ds_arch_xer_bytes(format);
    case IA32_PMC_CFG_C_LBR:
        if (at <= DS_PROBE_BUFFER - sizeof lbr)
            memcpy(&lbr, p->bench->buffer + at, sizeof lbr);
        return (uint32_t)(sizeof lbr + ds_arch_lbr_entries(format, (uint32_t)lbr.depth) * sizeof(struct ds_pebs_lbr));
    default:
        return sizeof(struct ds_pebs_cntr);
    }
}

bool ds_probe_arch_fragment(const struct ds_probe *p, unsigned i, struct ds_probe_fragment *f)
{
    if (!f->format) {
        if (ds_probe_arch_records(p) <= i)
            return false;
        walk(p, p->begin, ia32_pebs_index_wr(p->index), i, &f->at);
    } else {
        if (!(f->format & DS_ARCH_HEADER_CONT) && !ds_arch_header_null(f->format))
            return false;
        f->at += (ds_arch_header_size(f->format) + 15) / 16 * 16;
    }
    f->format = format_at(p, f->at);
    return true;
}

const void *ds_probe_arch_group(const struct ds_probe *p, unsigned i, uint64_t group)
{
    for (struct ds_probe_fragment f = {0}; ds_probe_arch_fragment(p, i, &f);) {
        uint64_t at = f.at + sizeof(struct ds_arch_header);
        const uint64_t end = f.at + (uint64_t)ds_arch_header_size(f.format);
        for (unsigned g = 0; g < sizeof order / sizeof order[0] && at < end; g++) {
            const uint32_t bytes = f.format & order[g] ? group_bytes(p, f.format, order[g], (uint32_t)at) : 0;
            if (bytes && order[g] & group)
                return at + bytes <= end ? p->bench->buffer + at : NULL;
            at += bytes;
        }
    }
    return NULL;
}

/* Counters have just gone off. What is in memory now is the run's; what comes until the index has been read a while is
 * late, and taken out again. Where no record can be told, as of one that is cut off, the index stays as it is. */
void ds_probe_arch_wait_quiet(struct ds_probe *p)
{
    uint32_t before, end;
    walk(p, p->begin, DS_PROBE_BUFFER, UINT32_MAX, &before);
    for (unsigned i = 0; i < QUIET; i++)
        p->index = ds_probe_read(p, IA32_PEBS_INDEX);
    const uint32_t after = ia32_pebs_index_wr(p->index);
    p->late = walk(p, before, after, UINT32_MAX, &end);
    if (!p->late || end != after)
        return;
    memset(p->bench->buffer + before, 0, after - before);
    set_index(p, (p->index & ~IA32_PEBS_INDEX_WR) | before);
}
