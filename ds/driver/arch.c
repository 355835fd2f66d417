/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS: what the driver does there in place of what belongs to the Debug Store. Where the buffer is, how
 * far it is filled and when the PMI comes is in two MSRs; what a counter's records contain, and what it is reloaded
 * with, in a CFG_C of its own. All else is the same, and the steps have the same numbers (ds/driver/driver.c):
 *
 *   step           the Debug Store's PEBS          architectural PEBS
 *   1 off          GLOBAL_CTRL, IA32_PEBS_ENABLE   GLOBAL_CTRL, IA32_PEBS_INDEX (its EN)
 *   2 the area     pointers and reset values       nothing of PEBS: it is for BTS alone
 *   3 where        IA32_DS_AREA, linear            IA32_PEBS_BASE, physical
 *   4              LVTPC
 *   5 contents     MSR_PEBS_DATA_CFG, for all      CFG_C, of each counter; CFG_B, auto counter reload, is 0
 *   6, 7           counters, GLOBAL_STATUS
 *   8 on           IA32_PEBS_ENABLE                IA32_PEBS_INDEX: position 0, threshold, EN
 *   9              GLOBAL_CTRL
 *
 * Tear-down has them in reverse, so IA32_PEBS_BASE points elsewhere before anybody can free the buffer.
 *
 * The position is in a register, so it costs a RDMSR, and under a hypervisor perhaps a VM exit: only a switch that is
 * stamped, a drain and a session's acknowledgement read it. In between the driver keeps it in memory.
 *
 * A write of IA32_PEBS_INDEX sets the position as well. If a record were stored between the read and the write, it
 * would be lost, so the register is written only while counting is paused, after two reads that agree.
 *
 * Sources: those of ds/arch_layout.h. Counters have their old addresses here, which architectural performance
 * monitoring of any version has.
 */
#include "ds/driver/driver.h"

#include "arch/arch.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define AGREE_MOST 16u /* reads of IA32_PEBS_INDEX until two agree: more records than can be on their way */

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* IA32_PMC_CFG_C.LBR for so many entries; DS_ARCH_LBR_NONE: there is no such number. */
static unsigned lbr_of(unsigned entries, unsigned depth)
{
    return entries == 8       ? DS_ARCH_LBR_8
           : entries == 16    ? DS_ARCH_LBR_16
           : entries == depth ? DS_ARCH_LBR_ALL
                              : DS_ARCH_LBR_NONE;
}

uint64_t ds_arch_groups(const struct ds_caps *caps, const struct ds_config *config)
{
    const uint64_t wanted = config->groups;
    const unsigned lbr = lbr_of(msr_pebs_data_cfg_lbr_entries(wanted), caps->lbr_depth);
    return (wanted & MSR_PEBS_DATA_CFG_MEMINFO ? IA32_PMC_CFG_C_AUX : 0) |
           (wanted & MSR_PEBS_DATA_CFG_GPR ? IA32_PMC_CFG_C_GPR : 0) |
           (wanted & MSR_PEBS_DATA_CFG_XMM ? IA32_PMC_CFG_C_XMM : 0) |
           (wanted & MSR_PEBS_DATA_CFG_LBR ? ia32_pmc_cfg_c_with_lbr(lbr) : 0) |
           (wanted & MSR_PEBS_DATA_CFG_CNTR ? caps->arch_groups & IA32_PMC_CFG_C_CNTR : 0);
}

/* The first group asked for that CPUID.23H.4 does not have; NULL: it has them all. */
static const char *missing_group(const struct ds_caps *caps, uint64_t wanted, uint64_t groups)
{
    const uint64_t counters = IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED;
    const uint64_t beyond = groups & ~caps->arch_groups;
    if (beyond & IA32_PMC_CFG_C_AUX)
        return "mem";
    if (beyond & IA32_PMC_CFG_C_GPR)
        return "gpr";
    if (beyond & IA32_PMC_CFG_C_XMM)
        return "xmm";
    if (beyond & IA32_PMC_CFG_C_LBR)
        return "lbr";
    if (wanted & MSR_PEBS_DATA_CFG_CNTR &&
        !(caps->arch_groups & counters && caps->arch_groups & IA32_PMC_CFG_C_CNTR_ALLOW))
        return "counters";
    return NULL;
}

int ds_arch_plan_groups(const struct ds_cpu *ds, char *error, size_t size)
{
    const struct ds_caps *caps = &ds->caps;
    const uint64_t wanted = ds->config.groups, groups = ds_arch_groups(caps, &ds->config);
    if (wanted & MSR_PEBS_DATA_CFG_LBR && caps->lbr == DS_LBR_NONE) {
        snprintf(error, size, "option 'pebs.groups': lbr: this processor (CPU %u) has no branch history", ds->cpu);
        return -EINVAL;
    }
    if (wanted & MSR_PEBS_DATA_CFG_LBR && !(groups & IA32_PMC_CFG_C_LBR)) {
        snprintf(error, size,
                 "option 'pebs.groups': lbr:%u: records of this processor (CPU %u) have 8, 16 or all %u branches",
                 msr_pebs_data_cfg_lbr_entries(wanted), ds->cpu, caps->lbr_depth);
        return -EINVAL;
    }
    const char *missing = missing_group(caps, wanted, groups);
    if (!missing)
        return 0;
    snprintf(error, size,
             "option 'pebs.groups': %s: records of this processor (CPU %u, architectural PEBS) have none (CPUID.23H.4)",
             missing, ds->cpu);
    return -EINVAL;
}

/* CFG_C of a counter, among the registers that are planned. */
static uint64_t *cfg_c_of(struct ds_cpu *ds, unsigned counter)
{
    struct ds_arch_registers *r = &ds->arch.registers;
    return ds_is_fixed(counter) ? &r->fx_cfg_c[counter - DS_COUNTER_FIXED] : &r->gp_cfg_c[counter];
}

static uint32_t cfg_c_msr(unsigned counter)
{
    return ds_arch_msr(counter, IA32_PMC_GP0_CFG_C, IA32_PMC_FX0_CFG_C);
}

static void set_reload(struct ds_cpu *ds, const struct ds_counter *c)
{
    uint64_t *cfg_c = cfg_c_of(ds, c->number);
    *cfg_c = (*cfg_c & ~IA32_PMC_CFG_C_RELOAD) | (c->initial & IA32_PMC_CFG_C_RELOAD);
}

/* Every counter of the plan may be shown in the records of all. */
static void plan_contents(struct ds_cpu *ds)
{
    const uint64_t groups = ds_arch_groups(&ds->caps, &ds->config);
    const uint64_t shown = groups & IA32_PMC_CFG_C_CNTR ? IA32_PMC_CFG_C_CNTR_ALLOW : 0;
    for (uint32_t i = 0; i < ds->config.events + ds->config.counting; i++) {
        const struct ds_counter *c = &ds->counter[i];
        if (!(ds->caps.pebs_counters & DS_BIT(c->number)))
            continue;
        *cfg_c_of(ds, c->number) = shown;
        if (c->event->plain)
            continue;
        *cfg_c_of(ds, c->number) |= IA32_PMC_CFG_C_EN | groups;
        set_reload(ds, c);
    }
}

static uint64_t physical(const struct ds_cpu *ds, uint32_t offset)
{
    const struct ds_machine *m = ds->machine;
    const uint8_t *at = (const uint8_t *)ds->buffer + offset;
    return m->physical ? m->physical(m->context, at) : (uint64_t)(uintptr_t)at;
}

/* The processor has nothing but the address of its first byte. */
static bool lies_right(const struct ds_cpu *ds, uint64_t first)
{
    for (uint32_t at = 0; at < ds->arch.buffer_bytes; at += ARCH_PAGE_SIZE)
        if (physical(ds, at) != first + at)
            return false;
    return !(first & (ds->arch.buffer_bytes - 1)) && !(first & ~IA32_PEBS_BASE_ADDRESS);
}

int ds_arch_plan(struct ds_cpu *ds, char *error, size_t size)
{
    struct ds_arch *a = &ds->arch;
    const uint64_t first = ds->buffer ? physical(ds, 0) : 0;
    a->buffer_bytes = (uint32_t)ds_buffer_bytes(&ds->caps, &ds->config);
    a->thresh = ds->config.threshold * ds->record_bytes;
    a->registers.base = first | (unsigned)__builtin_ctz(a->buffer_bytes / ARCH_PAGE_SIZE);
    plan_contents(ds);
    if (!ds->buffer || lies_right(ds, first)) /* no buffer: it is only asked whether the plan is possible */
        return 0;
    snprintf(error, size, "CPU %u: the PEBS buffer is not one piece of physical memory, aligned to its size", ds->cpu);
    return -EINVAL;
}

/* ---- its steps of the set-up ------------------------------------------------------------------------------------- */

/* 3. */
int ds_arch_set_base(struct ds_cpu *ds)
{
    return ds_set_msr(ds, IA32_PEBS_BASE, ds->arch.registers.base);
}

/* 5. Those of other counters as well: they must neither appear in our records nor be reloaded by our overflows. */
int ds_arch_set_contents(struct ds_cpu *ds)
{
    int e = 0;
    for (uint64_t set = ds->caps.acr_counters; set && !e; set &= set - 1)
        e = ds_set_msr(ds, ds_arch_msr((unsigned)__builtin_ctzll(set), IA32_PMC_GP0_CFG_B, IA32_PMC_FX0_CFG_B), 0);
    for (uint64_t set = ds->caps.pebs_counters; set && !e; set &= set - 1) {
        const unsigned c = (unsigned)__builtin_ctzll(set);
        e = ds_set_msr(ds, cfg_c_msr(c), *cfg_c_of(ds, c));
    }
    return e;
}

/* Position `wr`, not full, on. */
static uint64_t index_of(const struct ds_arch *a, uint32_t wr)
{
    return ia32_pebs_index(wr, a->thresh) | IA32_PEBS_INDEX_EN;
}

static void note_index(struct ds_arch *a, uint64_t index)
{
    a->registers.index = index;
    a->position = ia32_pebs_index_wr(index);
}

/* 8. */
int ds_arch_set_index(struct ds_cpu *ds)
{
    struct ds_arch *a = &ds->arch;
    int e = ds_set_msr(ds, IA32_PEBS_INDEX, index_of(a, 0));
    if (e)
        return e;
    note_index(a, index_of(a, 0));
    a->taken = 0;
    a->stale = a->panic = false;
    return 0;
}

/* Off in between: no source says whether a counter that is armed stays so otherwise, and its overflow was the old
 * period's. */
void ds_arch_set_period(struct ds_cpu *ds, const struct ds_counter *c)
{
    set_reload(ds, c);
    const uint64_t cfg_c = *cfg_c_of(ds, c->number);
    ds_write_running(ds, cfg_c_msr(c->number), cfg_c & ~IA32_PMC_CFG_C_EN);
    ds_write_running(ds, cfg_c_msr(c->number), cfg_c);
}

/* ---- the position ------------------------------------------------------------------------------------------------ */

void ds_arch_refresh(struct ds_cpu *ds)
{
    struct ds_arch *a = &ds->arch;
    uint64_t index;
    if (a->lent)
        return;
    a->stale = ds_rdmsr(ds, IA32_PEBS_INDEX, &index) != 0;
    if (a->stale)
        ds_count_fault(ds);
    else
        note_index(a, index);
}

bool ds_arch_on(const struct ds_cpu *ds)
{
    return ds->arch.registers.index & IA32_PEBS_INDEX_EN;
}

uint64_t ds_arch_used(const struct ds_cpu *ds)
{
    return ds->arch.position - ds->arch.taken;
}

void ds_arch_settle(struct ds_cpu *ds)
{
    const struct ds_arch *a = &ds->arch;
    uint64_t before;
    unsigned reads = 0;
    do {
        before = a->position;
        ds_arch_refresh(ds);
    } while (!a->stale && a->position != before && ++reads < AGREE_MOST);
}

/* A full buffer may have turned PEBS off (policy arch_full of the model): then its counters have gone past their
 * overflow without a record, and nothing has reloaded them. */
static void restart_counters(struct ds_cpu *ds)
{
    for (uint32_t i = 0; i < ds->config.events; i++)
        if (!ds->counter[i].event->plain)
            ds_write_running(ds, ds_counter_msr(&ds->caps, ds->counter[i].number), ds->counter[i].initial);
}

void ds_arch_begin_again(struct ds_cpu *ds, uint32_t bytes)
{
    struct ds_arch *a = &ds->arch;
    uint8_t *buffer = ds->buffer;
    ds_arch_settle(ds);
    ds->counts.lost_unknown |= a->stale;
    const uint64_t used = ds_arch_used(ds);
    const bool believed = used >= bytes && used <= a->buffer_bytes - a->taken;
    const uint32_t late = believed ? (uint32_t)used - bytes : 0;
    const uint64_t index = index_of(a, late);
    ds->counts.late += ds_count_records(ds, bytes, late);
    /* Refused, it is tried once more: else what is handed over now would be found again. */
    if (ds_write_running(ds, IA32_PEBS_INDEX, index) && ds_write_running(ds, IA32_PEBS_INDEX, index)) {
        a->taken += bytes;
        return;
    }
    if (!ds_arch_on(ds))
        restart_counters(ds);
    memmove(buffer, buffer + a->taken + bytes, late);
    note_index(a, index);
    a->taken = 0;
}
