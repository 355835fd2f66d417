/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/run/tally.h"

#include "tools/qemu-ds/modelled/costs.h"

static void adjust_event(struct qds_vcpu *v, const struct qds_block *b, unsigned event, uint64_t sign)
{
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        if (qds_tally_counts(b, g, event))
            qds_numbers_add(&v->board->now, g, event, b->packs[g], sign);
}

void qds_tally_hits(struct qds_vcpu *v, const struct qds_block_insn *i, bool store, uint64_t events)
{
    const struct qds_block *b = i->block;
    events &= qds_tally_wanted(b);
    if (!events || v->board->accessed[store] == (uintptr_t)i)
        return;
    v->board->accessed[store] = (uintptr_t)i;
    v->accessed[store] = events;
    for (; events; events &= events - 1) {
        const unsigned e = (unsigned)__builtin_ctzll(events);
        v->board->now.of[b->ring][e] += b->wanted[b->ring] >> e & 1;
        v->board->now.of[QDS_ALL_RINGS][e] += b->wanted[QDS_ALL_RINGS] >> e & 1;
    }
}

static void count_access(struct qds_vcpu *v, const struct qds_block_insn *i, const struct qds_accessed *a)
{
    const struct qds_block *b = i->block;
    if (qds_tally_wanted(b) >> DS_MODEL_AMOUNTS)
        for (unsigned e = DS_MODEL_AMOUNTS; e < DS_MODEL_EVENTS; e++)
            if (a->amounts.of[e - DS_MODEL_AMOUNTS])
                adjust_event(v, b, e, a->amounts.of[e - DS_MODEL_AMOUNTS]);
    qds_tally_hits(v, i, a->store, a->events);
}

/* What instructions have accessed, counted when they did. */
static void uncount_accesses(struct qds_vcpu *v, const struct qds_block_insn *from, const struct qds_block_insn *to)
{
    for (unsigned store = 0; store < 2; store++) {
        const uintptr_t last = v->board->accessed[store];
        if (last < (uintptr_t)from || last >= (uintptr_t)to)
            continue;
        v->board->accessed[store] = 0;
        for (uint64_t e = v->accessed[store]; e; e &= e - 1)
            adjust_event(v, from->block, (unsigned)__builtin_ctzll(e), UINT64_MAX);
    }
}

void qds_tally_some(struct qds_vcpu *v, const struct qds_block_insn *from, const struct qds_block_insn *to,
                    uint64_t sign)
{
    const struct qds_block *b = from->block;
    const bool whole = to - from == b->length;
    uint64_t backend = 0;
    if (sign != 1)
        uncount_accesses(v, from, to);
    for (uint64_t set = qds_tally_wanted(b); set; set &= set - 1) {
        const unsigned e = (unsigned)__builtin_ctzll(set);
        uint64_t n = 0;
        if (whole && !(QDS_ACCESS_EVENTS >> e & 1))
            n = b->events[e];
        else
            for (const struct qds_block_insn *i = from; i < to; i++)
                n += i->causes >> e & 1;
        adjust_event(v, b, e, sign * n);
    }
    if (!v->model.preset->memory)
        return;
    for (const struct qds_block_insn *i = from; i < to; i++)
        backend += qds_costs_backend(&i->insn);
    adjust_event(v, b, DS_MODEL_CYCLES, sign * (uint64_t)(to - from) * qds_costs_cpi());
    adjust_event(v, b, DS_MODEL_BACKEND, sign * backend);
}

/* The first of the instructions that have been counted last, and in *to what is behind them. NULL: none. */
static const struct qds_block_insn *counted(const struct qds_vcpu *v, const struct qds_block_insn **to)
{
    const struct qds_block *b = (const void *)(uintptr_t)v->board->block;
    *to = b ? b->insns + b->length : v->counted.to;
    return b ? b->insns : v->counted.from;
}

const struct qds_block_insn *qds_tally_at(const struct qds_vcpu *v, uint64_t physical)
{
    const struct qds_block_insn *to, *i = counted(v, &to);
    if (!i || i->block->physical == QDS_NOWHERE || physical == QDS_NOWHERE)
        return NULL;
    for (; i < to; i++)
        if (i->block->physical + i->offset == physical)
            return i;
    return NULL;
}

bool qds_tally_has(const struct qds_vcpu *v, const struct qds_block_insn *i)
{
    const struct qds_block_insn *to, *from = counted(v, &to);
    return from && from->block == i->block && i >= from && i < to;
}

void qds_tally_from(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t sign)
{
    const struct qds_block_insn *to;
    counted(v, &to);
    qds_tally_some(v, i, to, sign);
}

void qds_tally_undo(struct qds_vcpu *v, const struct qds_block_insn *i)
{
    qds_tally_from(v, i, UINT64_MAX);
    v->board->block = 0;
    v->counted.from = v->counted.to = NULL;
}

void qds_tally_repeats(struct qds_vcpu *v, uint64_t physical)
{
    const struct qds_block_insn *i = qds_tally_at(v, physical);
    if (i && i->insn.kind == DS_INSN_REP_STRING && i == &i->block->insns[i->block->length - 1])
        qds_tally_undo(v, i);
}

void qds_tally_accessed(struct qds_vcpu *v, const struct qds_block_insn *i, const struct qds_accessed *a)
{
    if (!i && !v->step.on)
        i = v->counted.from; /* alone, where accesses count */
    if (i) {
        count_access(v, i, a);
        return;
    }
    if (!v->step.on)
        return;
    const uint64_t event = DS_BIT(a->store ? DS_MODEL_STORE : DS_MODEL_LOAD);
    for (unsigned e = 0; e < QDS_AMOUNTS; e++)
        v->step.amounts.of[e] += a->amounts.of[e];
    if (v->step.memory & event)
        return;
    v->step.memory |= a->events;
    *(a->store ? &v->step.store_address : &v->step.load_address) = a->address;
    *(a->store ? &v->step.store : &v->step.load) = a->said;
}
