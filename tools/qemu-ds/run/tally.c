/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/run/tally.h"

#include "tools/qemu-ds/modelled/costs.h"

static void adjust_event(struct qds_vcpu *v, const struct qds_block *b, unsigned event, uint64_t sign)
{
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        if (qds_tally_counts(b, g, event))
            v->board->now.of[g][event] += sign;
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

/* What an instruction causes by retiring, with a memory system. */
static void adjust_owned(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t sign)
{
    adjust_event(v, i->block, DS_MODEL_CYCLES, sign * qds_costs_cpi());
    adjust_event(v, i->block, DS_MODEL_BACKEND, sign * qds_costs_backend(&i->insn));
}

void qds_tally_one(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t sign)
{
    for (unsigned store = 0; store < 2; store++)
        if (sign != 1 && v->board->accessed[store] == (uintptr_t)i) {
            v->board->accessed[store] = 0;
            for (uint64_t e = v->accessed[store]; e; e &= e - 1)
                adjust_event(v, i->block, __builtin_ctzll(e), sign);
        }
    for (uint64_t e = i->causes; e; e &= e - 1)
        adjust_event(v, i->block, __builtin_ctzll(e), sign);
    if (v->model.preset->memory)
        adjust_owned(v, i, sign);
}

void qds_tally_from(struct qds_vcpu *v, const struct qds_block *b, unsigned from, uint64_t sign)
{
    for (unsigned i = from; i < b->length; i++)
        qds_tally_one(v, &b->insns[i], sign);
}

const struct qds_block_insn *qds_tally_at(struct qds_vcpu *v, uint64_t physical)
{
    const struct qds_block *b = (const void *)(uintptr_t)v->board->block;
    if (!b || b->physical == QDS_NOWHERE || physical == QDS_NOWHERE)
        return NULL;
    for (unsigned i = 0; i < b->length; i++)
        if (b->physical + b->insns[i].offset == physical)
            return &b->insns[i];
    return NULL;
}

void qds_tally_undo(struct qds_vcpu *v, const struct qds_block_insn *i)
{
    qds_tally_from(v, i->block, (unsigned)(i - i->block->insns), UINT64_MAX);
    v->board->block = 0;
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
        i = v->counted;
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
