/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/retire/retire.h"

#include "ds/soft/retired.h"
#include "tools/qemu-ds/modelled/costs.h"
#include "tools/qemu-ds/retire/truth.h"
#include "tools/qemu-ds/vcpu/flags.h"

/* What became of a branch, by what the model has counted since. */
static void told_branch(struct qds_vcpu *v, const struct ds_model_branch *branch, uint64_t stored, uint64_t dropped)
{
    if (v->model.bts_records != stored || v->model.bts_dropped != dropped)
        qds_truth_branch(v, branch, v->model.bts_records != stored);
}

/* The instruction has retired, which takes cycles, too. */
static void add_amounts(struct qds_vcpu *v, struct ds_model_retired *retired, uint32_t by[DS_MODEL_COUNTERS])
{
    for (unsigned i = 0; i < DS_MODEL_COUNTERS; i++)
        by[i] = 1;
    uint32_t *cycles = &v->step.amounts.of[DS_MODEL_CYCLES - DS_MODEL_AMOUNTS];
    *cycles += qds_costs_cpi();
    v->step.amounts.of[DS_MODEL_BACKEND - DS_MODEL_AMOUNTS] += qds_costs_backend(&v->step.insn);
    const uint32_t took = *cycles / QDS_UNITS_OF_A_CYCLE;
    retired->retire_latency = (uint16_t)(took < UINT16_MAX ? took : UINT16_MAX);
    retired->events |= qds_counting_amounts(&v->counting, v->step.cpl, &v->step.amounts, v->step.events, by);
    retired->by = by;
    retired->load = v->step.load;
    retired->store = v->step.store;
}

bool qds_retire_step(struct qds_vcpu *v, uint64_t next)
{
    struct ds_model_retired retired;
    struct ds_model_branch branch;
    uint64_t rflags = 0, rcx = 0;
    const struct ds_insn *insn = &v->step.insn;
    if (insn->kind == DS_INSN_REP_STRING && next == v->step.ip)
        return false; /* between iterations */
    if (insn->kind == DS_INSN_CONDITIONAL && !insn->displacement) {
        rflags = qds_flags(v);
        rcx = qds_read(v, QDS_RCX);
    }
    if (!ds_retired(&retired, &branch, insn, v->step.ip, next, rflags, rcx))
        return false;
    retired.events = (retired.events | v->step.memory) & v->step.events;
    retired.load_address = v->step.load_address;
    retired.store_address = v->step.store_address;
    uint32_t by[DS_MODEL_COUNTERS];
    if (v->model.preset->memory || v->counting.referring)
        add_amounts(v, &retired, by);
    if (!retired.events && !retired.branch)
        return true;
    retired.cpl = v->step.cpl;
    branch.cpl = ds_insn_is_far(insn) ? qds_cpl_before_delivery(v) : v->step.cpl;
    v->retired_rip = next;
    v->counting.instructions += retired.events >> DS_MODEL_INSTRUCTION & 1;
    const uint64_t stored = v->model.bts_records, dropped = v->model.bts_dropped;
    if (ds_model_retire(&v->model, &retired) != 0)
        qds_truth_lost(v);
    told_branch(v, retired.branch, stored, dropped);
    return true;
}

void qds_enter(struct qds_vcpu *v, uint64_t to)
{
    const struct ds_model_branch branch = {
        .from = v->entered.from,
        .to = to,
        .type = DS_MODEL_OTHER_BRANCH,
        .cpl = qds_cpl_before_delivery(v),
    };
    v->retired_rip = to;
    const uint64_t stored = v->model.bts_records, dropped = v->model.bts_dropped;
    if (ds_model_interrupt(&v->model, &branch, v->entered.cpl) != 0)
        qds_truth_lost(v);
    told_branch(v, &branch, stored, dropped);
}
