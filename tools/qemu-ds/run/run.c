/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/run/run.h"

#include <errno.h>

#include "tools/qemu-ds/modelled/costs.h"
#include "tools/qemu-ds/retire/need.h"
#include "tools/qemu-ds/retire/retire.h"
#include "tools/qemu-ds/retire/truth.h"
#include "tools/qemu-ds/run/instruments.h"
#include "tools/qemu-ds/run/settle.h"
#include "tools/qemu-ds/run/special.h"
#include "tools/qemu-ds/run/tally.h"
#include "tools/qemu-ds/vcpu/flags.h"
#include "tools/qemu-ds/vcpu/memory.h"
#include "tools/qemu-ds/vcpu/pmi.h"
#include "tools/qemu-ds/zeros/uncounted.h"

/* Settles what is to be at the start of a block. Does not return where an interrupt is to be taken before it. */
static void begin(struct qds_vcpu *v, uint64_t rip, void *const *frame)
{
    if (!v->env_looked_for) {
        qds_flags_look_for_env(v, frame);
        qds_need_follow(v);
    }
    qds_settle(v, rip);
    if (ds_model_pmi_waits(&v->model)) { /* no plugin sees LVTPC written in xAPIC mode: so at each block of CPL 0 */
        v->retired_rip = rip;
        ds_model_lvtpc_write(&v->model, qds_pmi_lvtpc(v));
    }
    if (v->leave) {
        v->leave = false;
        qds_settle_sync(v);
        qds_settle_arm(v);
        qemu_plugin_set_pc(rip);
    }
}

/* Whether a block may be one that QEMU makes of a single instruction, to begin that anew where it was part of another
 * block: that has stored into its own code or come to an access of a device, or the host lacks an atomic operation. */
bool qds_run_may_resume(const struct qds_block *b)
{
    return b->length == 1 && !ds_insn_is_branch(&b->insns[0].insn) && b->insns[0].insn.kind != DS_INSN_REP_STRING;
}

/* QEMU has left its block before the instruction. */
static void leave_before(struct qds_vcpu *v, const struct qds_block_insn *i)
{
    if (v->step.block == i->block)
        v->step.on = false; /* its last, which has not run */
    qds_settle_forget(v, i->block);
    qds_tally_undo(v, i);
}

/* Such a block begins. If its instruction is part of the last block, that has been left there: no branch leads from its
 * end back to where a block of one instruction is all there is, and nothing else back to its end. */
static void resume(struct qds_vcpu *v, const struct qds_block *b)
{
    const struct qds_block_insn *i = qds_tally_at(v, b->physical);
    if (!i)
        return;
    leave_before(v, i);
    qds_settle_sync(v);
    qds_settle_arm(v);
}

/* The instruction at `ip` runs, now or as the last of this block, and goes through the model for `events`. */
static void step(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t ip, uint64_t events)
{
    v->counted.from = v->counted.to = NULL;
    v->step.on = true;
    v->step.insn = i->insn;
    v->step.ip = ip;
    v->step.cpl = i->block->ring ? 3 : 0;
    v->step.compatibility = qds_compatibility(v);
    v->step.events = events;
    v->step.block = NULL;
    v->step.memory = i->access.prefetch ? QDS_PREFETCHES : 0;
    v->step.load_address = v->step.store_address = 0;
    v->step.load = v->step.store = (struct ds_model_access){0};
    v->step.amounts = (struct qds_amounts){0};
    v->steps++;
    for (unsigned ring = 0; ring < 2; ring++)
        qds_counting_force(&v->counting, ring);
}

/* Instructions of a ring that go through the model whatever they are counted as, as bits of enum ds_insn_kind. */
static uint32_t asked_for(const struct qds_vcpu *v, unsigned ring)
{
    const uint32_t always = 1u << DS_INSN_REP_STRING | 1u << DS_INSN_INTERRUPT;
    switch (v->through[ring]) {
    case QDS_THROUGH_ALL:
        return UINT32_MAX;
    case QDS_THROUGH_EVENTS:
        return always;
    default:
        return always | v->branches[ring];
    }
}

static bool is_due(const struct qds_vcpu *v, const struct qds_block_insn *i)
{
    const struct qds_block *b = i->block;
    const uint64_t all = i->causes | QDS_ACCESS_EVENTS;
    return qds_counting_due(&v->counting, b->ring, qds_costs_most(&i->access), all & qds_tally_wanted(b));
}

/* Counts instructions from `i` on up to one that goes through the model, and returns what is behind them. Where
 * accesses count not more than one, for what it causes is not known before it has run. */
static const struct qds_block_insn *count(struct qds_vcpu *v, const struct qds_block_insn *i)
{
    const struct qds_block *b = i->block;
    const struct qds_block_insn *const end = b->insns + b->length;
    const bool alone = qds_tally_wanted(b) & QDS_ACCESS_EVENTS;
    const uint32_t asked = asked_for(v, b->ring);
    v->counted.from = v->counted.to = i;
    while (i < end && !(asked >> i->insn.kind & 1)) {
        const uint64_t spare = alone ? 0 : qds_counting_spare(&v->counting, b->ring);
        if (!spare && is_due(v, i))
            break;
        do
            i++;
        while (i < end && !(asked >> i->insn.kind & 1) && (uint64_t)(i - v->counted.to) < spare);
        qds_tally_some(v, v->counted.to, i, 1);
        v->counted.to = i;
        if (alone)
            break;
    }
    return i;
}

/* A block may reach an event the model must see, or something is to be settled. */
__attribute__((optimize("no-omit-frame-pointer"))) void qds_run_due(unsigned vcpu, void *userdata)
{
    struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    uint64_t rip = qds_read(v, QDS_RIP);
    if (v->step.on && v->step.block == b && !v->board->block)
        return; /* another of the block's checks, after one that has done what follows */
    v->board->accessed[0] = v->board->accessed[1] = 0;
    qds_tally_undo(v, b->insns); /* it does not run yet */
    begin(v, rip, __builtin_frame_address(0));
    bool due = v->through[b->ring] == QDS_THROUGH_ALL || (qds_settle_notes(v) && b->unclear) ||
               qds_counting_due(&v->counting, b->ring, b->events, UINT64_MAX);
    const struct qds_block_insn *const last = &b->insns[b->length - 1];
    if (due) {
        qds_write(v, QDS_EFLAGS, qds_read(v, QDS_EFLAGS) | QDS_RFLAGS_RF);
        qemu_plugin_set_pc(rip);
    }
    if (v->through[b->ring] == QDS_THROUGH_BRANCHES && v->branches[b->ring] >> last->insn.kind & 1) {
        step(v, last, rip + last->offset, ~(QDS_BLOCK_EVENTS | QDS_ACCESS_EVENTS));
        v->step.block = b;
        v->counted.from = b->insns;
        v->counted.to = last + 1;
    } else {
        if (v->through[b->ring] < QDS_THROUGH_BRANCHES || qds_counting_full(&v->counting)) {
            qds_settle_sync(v); /* the number of instructions has said so early */
            qds_settle_arm(v);
        }
        v->board->block = (uintptr_t)b;
    }
    qds_tally_from(v, b->insns, 1);
}

/* A block begins. At its start RIP is in QEMU's state. */
void qds_run_noting(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    if (!qds_settle_notes(v))
        return;
    const uint64_t rip = v->env[v->env_rip];
    if (v->history.block)
        qds_settle_note(v, rip, b->ring ? 3 : 0);
    v->history.block = b;
    v->history.rip = rip;
}

/* A block begins with a REP string instruction. */
void qds_run_repeats(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    qds_tally_repeats(v, b->physical);
}

void qds_run_resumes(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    resume(qds_vcpu(vcpu), b);
}

/* The block of an access of a device has only this. Where it was left the access is never last, and goes on counting as
 * part of that block, with what it has accessed there: it may have read memory first. */
void qds_run_alone_accesses(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
    const struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    const struct qds_block_insn *i = qds_tally_at(v, b->physical);
    (void)info, (void)vaddr;
    if (!i || i->block == b || !qds_tally_has(v, i + 1))
        return;
    leave_before(v, i + 1);
    v->counted.from = b->insns; /* it may fault yet */
    v->counted.to = b->insns + 1;
    for (unsigned store = 0; store < 2; store++)
        if (v->board->accessed[store] == (uintptr_t)i)
            v->board->accessed[store] = (uintptr_t)b->insns;
    qds_settle_sync(v);
    qds_settle_arm(v);
}

/* A REP string instruction follows in the same block. REP CMPS and SCAS may fault after iterations that have set flags:
 * QEMU's state cannot be brought to before them, so the block must end here. */
static void stop_after(struct qds_vcpu *v, const struct qds_block_insn *i, void *at)
{
    if (i->special == QDS_SPECIAL_CPUID)
        qds_cpuid(v);
    else if (i->special == QDS_SPECIAL_RDMSR)
        qds_rdmsr(v);
    qds_flags_run_alone(v, at);
}

static bool repeat_follows(const struct qds_block_insn *i)
{
    return i + 1 < i->block->insns + i->block->length && i[1].insn.kind == DS_INSN_REP_STRING;
}

/* The instruction at `ip`, in a block with RF, runs: through the model if that must see it. `at`: the callback's return
 * address. */
static void run_next(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t ip, void *at)
{
    const struct qds_block_insn *const first = i->block->insns, *const next = count(v, i);
    v->board->accessed[0] = v->board->accessed[1] = 0;
    v->board->next = (uint64_t)(next - first);
    if (next > i)
        return;
    if (i->insn.kind == DS_INSN_INTERRUPT) /* pushes it; the block with it has been chosen */
        qds_write(v, QDS_EFLAGS, qds_read(v, QDS_EFLAGS) & ~(uint64_t)QDS_RFLAGS_RF);
    v->board->next++;
    step(v, i, ip, UINT64_MAX);
    if (v->env && repeat_follows(i))
        stop_after(v, i, at);
}

/* A block with RF begins. */
__attribute__((optimize("no-omit-frame-pointer"))) void qds_run_steps(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    uint64_t rip = qds_read(v, QDS_RIP);
    if (b->insns[0].insn.kind == DS_INSN_REP_STRING)
        qds_tally_repeats(v, b->physical);
    if (qds_run_may_resume(b))
        resume(v, b);
    begin(v, rip, __builtin_frame_address(0));
    v->alias = rip - b->vaddr;
    run_next(v, &b->insns[0], rip, __builtin_return_address(0));
}

/* Its other instructions, from board->next on. The block goes on when one has gone through the model, unless that
 * raised a PMI and lazy flags can be had. */
void qds_run_insn_steps(unsigned vcpu, void *userdata)
{
    struct qds_block_insn *i = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    uint64_t rip = i->block->vaddr + i->offset + v->alias;
    void *at = __builtin_return_address(0);
    v->passing.at = at;
    v->passing.lazy = &i->lazy;
    qds_settle(v, rip);
    v->passing.at = NULL;
    if (v->leave && qds_flags_restore(v, at)) {
        qds_write(v, QDS_EFLAGS, qds_read(v, QDS_EFLAGS) & ~(uint64_t)QDS_RFLAGS_RF);
        v->leave = false;
        qds_settle_sync(v);
        qds_settle_arm(v);
        qemu_plugin_set_pc(rip);
    }
    run_next(v, i, rip, at);
}

/* An instruction of a block with RF reads or writes data: that which has begun, for an access of a device is in a block
 * of its own. None has where another vCPU has just turned counting on. */
void qds_run_access_steps(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
    const bool store = qemu_plugin_mem_is_store(info);
    const struct qds_accessed accessed = {.store = store, .events = store ? QDS_STORES : QDS_LOADS, .address = vaddr};
    (void)userdata;
    qds_tally_accessed(qds_vcpu(vcpu), NULL, &accessed);
}

/* The same in a block without, where it counts. */
void qds_run_loads(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
    (void)info, (void)vaddr;
    qds_tally_hits(qds_vcpu(vcpu), userdata, false, QDS_LOADS);
}

void qds_run_stores(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
    (void)info, (void)vaddr;
    qds_tally_hits(qds_vcpu(vcpu), userdata, true, QDS_STORES);
}

void qds_run_patch(unsigned vcpu, void *userdata)
{
    (void)userdata;
    qds_patch(qds_vcpu(vcpu));
}

void qds_run_cpuid(unsigned vcpu, void *userdata)
{
    (void)userdata;
    qds_cpuid(qds_vcpu(vcpu));
}

/* Tells the model what has retired before the instruction, which has been counted. */
static void sync_before(struct qds_vcpu *v, const struct qds_block_insn *i)
{
    const bool counted = qds_tally_has(v, i);
    if (counted)
        qds_tally_from(v, i, UINT64_MAX);
    qds_settle_sync(v);
    if (counted)
        qds_tally_from(v, i, 1);
}

void qds_run_rdmsr(unsigned vcpu, void *userdata)
{
    struct qds_vcpu *v = qds_vcpu(vcpu);
    sync_before(v, userdata);
    qds_rdmsr(v);
}

/* It is left out, and its block, whose last it is, with it. That takes lazy flags that are in memory, as they are at
 * the start of a block, or can be brought there. */
__attribute__((optimize("no-omit-frame-pointer"))) void qds_run_rdpmc(unsigned vcpu, void *userdata)
{
    const struct qds_block_insn *i = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    void *at = __builtin_return_address(0);
    uint64_t value;
    qds_flags_look_for_env(v, __builtin_frame_address(0));
    sync_before(v, i);
    int e = qds_rdpmc(v, &value);
    if (e == -EPERM)
        return;
    if (e)
        qds_flags_raise_gp(v, at);
    if (e || (i != i->block->insns && !qds_flags_restore(v, at))) {
        v->rdpmcs_refused++;
        return;
    }
    qds_return(v, value);
    qds_write(v, QDS_EFLAGS, qds_read(v, QDS_EFLAGS) & ~(uint64_t)QDS_RFLAGS_RF);
    qemu_plugin_set_pc(qds_read(v, QDS_RIP) + i->insn.length);
}

/* The instruction, its block's last, is begun anew, and has not retired. Returns where lazy flags cannot be had. */
static void again(struct qds_vcpu *v, const struct qds_block_insn *i, void *at)
{
    if (i != i->block->insns && !qds_flags_restore(v, at))
        return;
    if (qds_tally_has(v, i))
        qds_tally_undo(v, i);
    v->step.on = false;
    qds_settle_forget(v, i->block);
    qds_settle_sync(v);
    qds_settle_arm(v);
    qemu_plugin_set_pc(qds_read(v, QDS_RIP));
}

/*
 * QEMU drops the blocks of code that is stored to, and stores only then. A vCPU that translates the code in between
 * keeps a block of the old code. Kernels put INT3 where they change code that others may execute, and take it for a
 * fault where none of theirs is: so one that is no longer in memory does not run. If its block has not been dropped,
 * and the vCPU comes to it again, all are translated anew.
 */
__attribute__((optimize("no-omit-frame-pointer"))) void qds_run_int3(unsigned vcpu, void *userdata)
{
    const struct qds_block_insn *i = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    const uint64_t physical = i->block->physical;
    const bool again_here = v->stale == i;
    uint8_t code;
    v->stale = NULL;
    if (physical == QDS_NOWHERE || !qds_memory_read_physical(v, physical + i->offset, &code, 1) || code == QDS_INT3)
        return;
    v->stale = i;
    if (again_here)
        qds_instruments_renew(v);
    qds_flags_look_for_env(v, __builtin_frame_address(0));
    again(v, i, __builtin_return_address(0));
}

/* It ends its block, so all of the block has been counted. What it changes holds from the next instruction on. */
__attribute__((optimize("no-omit-frame-pointer"))) void qds_run_wrmsr(unsigned vcpu, void *userdata)
{
    const struct qds_block_insn *i = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    struct ds_model after;
    uint32_t msr;
    uint64_t value;
    bool fault;
    qds_settle_sync(v);
    if (!qds_wrmsr(v, &msr, &value, &fault, &after))
        return;
    if (!fault && !qds_instruments_change(v, &after, false)) {
        qds_flags_look_for_env(v, __builtin_frame_address(0));
        again(v, i, __builtin_return_address(0));
        qds_instruments_change(v, &after, true);
        v->late++;
    }
    qds_truth_wrmsr(v, msr, value, fault, v->step.on);
    if (fault)
        return;
    if (v->step.on) {
        v->step.on = false;
        struct qds_lazy lazy = {0};
        v->passing.at = __builtin_return_address(0);
        v->passing.lazy = &lazy;
        qds_retire_step(v, v->step.ip + i->insn.length);
        v->passing.at = NULL;
    }
    ds_model_wrmsr(&v->model, msr, value);
    qds_uncounted_look(&v->model);
    qds_need_follow(v);
    qds_settle_arm(v);
}

/* ---- halting ----------------------------------------------------------------------------------------------------- */

void qds_run_stops(unsigned vcpu, void *userdata)
{
    struct qds_vcpu *v = qds_vcpu(vcpu);
    (void)userdata;
    if (v && v->counting.referring) {
        qds_settle_sync(v);
        qds_settle_arm(v);
    }
}

void qds_run_goes_on(unsigned vcpu, void *userdata)
{
    struct qds_vcpu *v = qds_vcpu(vcpu);
    (void)userdata;
    if (v)
        qds_counting_goes_on(&v->counting);
}

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

void qds_run_stands(struct qds_vcpu *v, uint64_t rip)
{
    qds_tally_repeats(v, qds_memory_physical(rip));
    if (v->history.block)
        qds_settle_note(v, rip, qds_cpl(v));
    qds_settle_sync(v);
    qds_settle_arm(v);
}

void qds_run_loaded(struct qds_vcpu *v)
{
    qds_instruments_change(v, &v->model, true);
    qds_need_follow(v);
    qds_counting_goes_on(&v->counting);
    qds_settle_arm(v);
}
