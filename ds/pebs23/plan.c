/* SPDX-License-Identifier: MIT */
/* The plan of architectural PEBS: groups, the CFG_C of each counter, and the buffer, which is physical. */
#include "arch/arch.h"
#include "ds/pebs23/pebs23.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* IA32_PMC_CFG_C.LBR for so many entries; DS_ARCH_LBR_NONE: there is no such number. */
static unsigned lbr_of(unsigned entries, unsigned depth)
{
    return entries == 8       ? DS_ARCH_LBR_8
           : entries == 16    ? DS_ARCH_LBR_16
           : entries == depth ? DS_ARCH_LBR_ALL
                              : DS_ARCH_LBR_NONE;
}

uint64_t ds_pebs23_groups(const struct ds_caps *caps, const struct ds_config *config)
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

int ds_pebs23_plan_groups(const struct ds_cpu *ds, char *error, size_t size)
{
    const struct ds_caps *caps = &ds->caps;
    const uint64_t wanted = ds->config.groups, groups = ds_pebs23_groups(caps, &ds->config);
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

uint32_t ds_pebs23_record_size(const struct ds_caps *caps, const struct ds_config *config)
{
    const uint64_t groups = ds_pebs23_groups(caps, config);
    const uint64_t counters = groups & (IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED);
    const uint32_t words =
        (counters ? config->events + config->counting : 0) + (groups & IA32_PMC_CFG_C_CNTR_METRICS ? 2 : 0);
    return ds_arch_record_bytes(groups, words, caps->lbr_depth);
}

uint64_t *ds_pebs23_planned(struct ds_pebs23 *p, unsigned counter)
{
    struct ds_arch_registers *r = &p->registers;
    return ds_is_fixed(counter) ? &r->fx_cfg_c[counter - DS_COUNTER_FIXED] : &r->gp_cfg_c[counter];
}

void ds_pebs23_set_reload(struct ds_pebs23 *p, const struct ds_counter *c)
{
    uint64_t *cfg_c = ds_pebs23_planned(p, c->number);
    *cfg_c = (*cfg_c & ~IA32_PMC_CFG_C_RELOAD) | (c->initial & IA32_PMC_CFG_C_RELOAD);
}

/* Every counter of the plan may be shown in the records of all. */
static void plan_contents(struct ds_pebs23 *p)
{
    const struct ds_cpu *ds = &p->cpu;
    const uint64_t groups = ds_pebs23_groups(&ds->caps, &ds->config);
    const uint64_t shown = groups & IA32_PMC_CFG_C_CNTR ? IA32_PMC_CFG_C_CNTR_ALLOW : 0;
    for (uint32_t i = 0; i < ds->config.events + ds->config.counting; i++) {
        const struct ds_counter *c = &ds->counter[i];
        if (!(ds->caps.pebs_counters & DS_BIT(c->number)))
            continue;
        *ds_pebs23_planned(p, c->number) = shown;
        if (c->event->plain)
            continue;
        *ds_pebs23_planned(p, c->number) |= IA32_PMC_CFG_C_EN | groups;
        ds_pebs23_set_reload(p, c);
    }
}

static uint64_t physical(const struct ds_cpu *ds, uint32_t offset)
{
    const struct ds_machine *m = ds->machine;
    const uint8_t *at = (const uint8_t *)ds->buffer + offset;
    return m->physical ? m->physical(m->context, at) : (uint64_t)(uintptr_t)at;
}

/* The processor has nothing but the address of its first byte. */
static bool lies_right(const struct ds_pebs23 *p, uint64_t first)
{
    for (uint32_t at = 0; at < p->buffer_bytes; at += ARCH_PAGE_SIZE)
        if (physical(&p->cpu, at) != first + at)
            return false;
    return !(first & (p->buffer_bytes - 1)) && !(first & ~IA32_PEBS_BASE_ADDRESS);
}

int ds_pebs23_plan(struct ds_cpu *ds, char *error, size_t size)
{
    struct ds_pebs23 *p = (struct ds_pebs23 *)ds;
    const uint64_t first = ds->buffer ? physical(ds, 0) : 0;
    p->buffer_bytes = (uint32_t)ds_buffer_bytes(&ds->caps, &ds->config);
    p->thresh = ds->config.threshold * ds->record_bytes;
    p->registers.base = first | (unsigned)__builtin_ctz(p->buffer_bytes / ARCH_PAGE_SIZE);
    plan_contents(p);
    if (!ds->buffer || lies_right(p, first)) /* no buffer: it is only asked whether the plan is possible */
        return 0;
    snprintf(error, size, "CPU %u: the PEBS buffer is not one piece of physical memory, aligned to its size", ds->cpu);
    return -EINVAL;
}
