/* SPDX-License-Identifier: MIT */
/* Lab 4: a solution. Read it after yours has passed. */
#include "task.h"

#include <string.h>

/* The next group of a record. Its bytes can lie at any address: memcpy takes them from there. */
struct cursor {
    const uint8_t *at;
    uint32_t left;
    bool short_of; /* a group did not fit */
};

static void take(struct cursor *c, void *to, uint32_t size)
{
    if (size > c->left) {
        c->short_of = true;
        return;
    }
    memcpy(to, c->at, size);
    c->at += size;
    c->left -= size;
}

static void fixed(unsigned format, const struct ds_pebs_fmt3 *all, struct record *r)
{
    const struct ds_pebs_fmt1 *fmt1 = &all->fmt2.fmt1;
    const struct ds_pebs_fmt0 *g = &fmt1->registers;
    const uint64_t gpr[] = {g->rax, g->rcx, g->rdx, g->rbx, g->rsp, g->rbp, g->rsi, g->rdi};
    r->has = HAS_GPR | HAS_MEMORY | (format < 3 ? HAS_STATUS : HAS_COUNTERS | HAS_TSC) |
             (format < 2 ? 0 : HAS_EVENTING_IP | HAS_TX);
    r->rflags = g->rflags;
    r->rip = g->rip;
    memcpy(r->gpr, gpr, sizeof gpr);
    memcpy(r->gpr + 8, g->r8_r15, sizeof g->r8_r15);
    *(format < 3 ? &r->status : &r->counters) = fmt1->status;
    r->data_address = fmt1->data_linear_address;
    r->data_source = fmt1->data_source;
    r->latency = fmt1->latency;
    r->eventing_ip = all->fmt2.eventing_ip;
    r->tx = all->fmt2.tx;
    r->tsc = all->tsc;
}

static void take_gpr(struct cursor *c, struct record *r)
{
    struct ds_pebs_gpr g = {0};
    take(c, &g, sizeof g);
    r->has |= HAS_GPR;
    r->rflags = g.rflags;
    r->rip = g.rip;
    memcpy(r->gpr, &g.rax, sizeof r->gpr); /* the group has our order */
}

static void take_values(struct cursor *c, uint32_t groups, struct record *r)
{
    struct ds_pebs_cntr head = {0};
    take(c, &head, sizeof head);
    if (groups & MSR_PEBS_DATA_CFG_CNTR)
        r->has |= HAS_VALUES;
    r->gp_mask = head.gp_mask;
    r->fixed_mask = head.fixed_mask;
    for (unsigned i = 0; i < 32; i++)
        if (head.gp_mask >> i & 1)
            take(c, &r->gp[i], 8);
    for (unsigned i = 0; i < 32; i++)
        if (head.fixed_mask >> i & 1)
            take(c, &r->fixed[i], 8);
    if (!head.metrics)
        return;
    r->has |= HAS_METRICS;
    take(c, &r->slots, 8);
    take(c, &r->metrics, 8);
}

static uint32_t adaptive(const uint8_t *bytes, uint32_t left, struct record *r)
{
    struct cursor c = {bytes, left, false};
    struct ds_pebs_basic basic = {0};
    take(&c, &basic, sizeof basic);
    const uint32_t groups = ds_pebs_head_groups(basic.head), size = ds_pebs_head_size(basic.head);
    if (c.short_of || size < sizeof basic || size > left || size % 8)
        return 0;
    c.left = size - (uint32_t)sizeof basic;
    r->has = HAS_EVENTING_IP | HAS_COUNTERS | HAS_TSC;
    r->eventing_ip = basic.eventing_ip;
    r->counters = basic.counters;
    r->tsc = basic.tsc;
    if (groups & MSR_PEBS_DATA_CFG_MEMINFO) {
        struct ds_pebs_meminfo m = {0};
        take(&c, &m, sizeof m);
        r->has |= HAS_MEMORY | HAS_TX;
        r->data_address = m.data_linear_address;
        r->data_source = m.data_source;
        r->latency = m.latency;
        r->tx = m.tx;
    }
    if (groups & MSR_PEBS_DATA_CFG_GPR)
        take_gpr(&c, r);
    if (groups & MSR_PEBS_DATA_CFG_XMM) {
        take(&c, r->xmm, sizeof r->xmm);
        r->has |= HAS_XMM;
    }
    if (groups & MSR_PEBS_DATA_CFG_LBR) {
        r->branches = msr_pebs_data_cfg_lbr_entries(groups);
        take(&c, r->lbr, r->branches * (uint32_t)sizeof r->lbr[0]);
        r->has |= HAS_LBR;
    }
    if (groups & (MSR_PEBS_DATA_CFG_CNTR | MSR_PEBS_DATA_CFG_METRICS))
        take_values(&c, groups, r);
    return c.short_of ? 0 : size;
}

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    struct ds_pebs_fmt3 all = {0};
    const uint32_t size = ds_pebs_fixed_size(format);
    if (format >= 4)
        return adaptive(bytes, left, r);
    if (left < size)
        return 0;
    memcpy(&all, bytes, size);
    fixed(format, &all, r);
    return size;
}
