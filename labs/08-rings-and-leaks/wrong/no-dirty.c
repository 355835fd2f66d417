/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: untouched. The Accessed and Dirty bits are not looked at. */
#include "task.h"

/* ---- rings */

static int count_fixed(unsigned i, unsigned rings)
{
    uint64_t control;
    int e = lab_rdmsr(IA32_FIXED_CTR_CTRL, &control);
    if (!e)
        e = lab_wrmsr(IA32_FIXED_CTR0 + i, 0);
    if (e)
        return e;
    control &= ~(UINT64_C(0xF) << 4 * i); /* the register has four bits for each counter */
    if (rings & LAB_RING_0)
        control |= ia32_fixed_ctr_ctrl_os(i);
    if (rings & LAB_RING_3)
        control |= ia32_fixed_ctr_ctrl_usr(i);
    return lab_wrmsr(IA32_FIXED_CTR_CTRL, control);
}

int lab_count(unsigned counter, uint64_t event, unsigned rings)
{
    if (counter >= DS_COUNTER_FIXED)
        return count_fixed(counter - DS_COUNTER_FIXED, rings);
    int e = lab_wrmsr(IA32_PMC0 + counter, 0);
    if (e)
        return e;
    return lab_wrmsr(IA32_PERFEVTSEL0 + counter, event | IA32_PERFEVTSEL_EN |
                                                     (rings & LAB_RING_0 ? IA32_PERFEVTSEL_OS : 0) |
                                                     (rings & LAB_RING_3 ? IA32_PERFEVTSEL_USR : 0));
}

/* ---- records */

static bool kernel(uint64_t address)
{
    return address >> 63;
}

static void hide(uint64_t *address)
{
    if (kernel(*address))
        *address = 0;
}

static void scrub_groups(uint8_t *record)
{
    const struct ds_pebs_basic *basic = (const void *)record;
    const uint32_t groups = ds_pebs_head_groups(basic->head);
    uint8_t *at = record + sizeof *basic, *end = record + ds_pebs_head_size(basic->head);
    if (groups & MSR_PEBS_DATA_CFG_MEMINFO)
        at += sizeof(struct ds_pebs_meminfo);
    if (groups & MSR_PEBS_DATA_CFG_GPR) {
        hide(&((struct ds_pebs_gpr *)at)->rip);
        at += sizeof(struct ds_pebs_gpr);
    }
    if (groups & MSR_PEBS_DATA_CFG_XMM)
        at += sizeof(struct ds_pebs_xmm);
    if (!(groups & MSR_PEBS_DATA_CFG_LBR))
        return;
    for (struct ds_pebs_lbr *entry = (struct ds_pebs_lbr *)at; (uint8_t *)(entry + 1) <= end; entry++)
        if (kernel(entry->from) || kernel(entry->to))
            *entry = (struct ds_pebs_lbr){0};
}

bool lab_scrub(unsigned format, uint8_t *record)
{
    if (format < 4) {
        struct ds_pebs_fmt3 *fixed = (struct ds_pebs_fmt3 *)record;
        hide(&fixed->fmt2.fmt1.registers.rip);
        return !kernel(fixed->fmt2.eventing_ip);
    }
    if (kernel(((const struct ds_pebs_basic *)record)->eventing_ip))
        return false;
    scrub_groups(record);
    return true;
}

/* ---- page tables */

static enum lab_fitness worse(enum lab_fitness a, enum lab_fitness b)
{
    return a == LAB_FIT ? b : b == LAB_FIT ? a : a < b ? a : b;
}

static enum lab_fitness fitness(uint64_t page)
{
    if (!page)
        return LAB_ABSENT;
    if (page & LAB_PAGE_USER)
        return LAB_EXPOSED;
    if (!(page & LAB_PAGE_WRITABLE))
        return LAB_READ_ONLY;
    return LAB_FIT;
}

enum lab_fitness lab_ds_memory(uint64_t address, uint64_t bytes)
{
    enum lab_fitness all = LAB_FIT;
    for (uint64_t page = address / LAB_PAGE_BYTES; page <= (address + bytes - 1) / LAB_PAGE_BYTES; page++) {
        all = worse(all, fitness(lab_page(LAB_SPACE_KERNEL, page * LAB_PAGE_BYTES)));
        all = worse(all, fitness(lab_page(LAB_SPACE_PROGRAM, page * LAB_PAGE_BYTES)));
    }
    return all;
}
