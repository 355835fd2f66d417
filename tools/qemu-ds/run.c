/* SPDX-License-Identifier: MIT */
/* Longer than 500 lines: each callback completes what another has begun, so they must be read together. */
#include "tools/qemu-ds/run.h"

#include <errno.h>

#include "ds/soft/retired.h"
#include "tools/qemu-ds/blocks.h"
#include "tools/qemu-ds/flags.h"
#include "tools/qemu-ds/instruments.h"
#include "tools/qemu-ds/memory.h"
#include "tools/qemu-ds/modelled/accesses.h"
#include "tools/qemu-ds/pmi.h"
#include "tools/qemu-ds/special.h"
#include "tools/qemu-ds/truth.h"
#include "tools/qemu-ds/zeros/uncounted.h"

/* Whether all blocks of the ring are due: something is to be settled, or all goes through the model. */
static bool forced(const struct qds_vcpu *v, unsigned ring)
{
    return v->step.on || v->entered.on || v->leave || v->through[ring] >= QDS_THROUGH_BRANCHES ||
           (ds_model_pmi_waits(&v->model) && !ring);
}

static void arm(struct qds_vcpu *v)
{
    qds_counting_arm(&v->counting, &v->model);
    for (unsigned ring = 0; ring < 2; ring++)
        if (forced(v, ring))
            qds_counting_force(&v->counting, ring);
}

/* Whether some branches are wanted for branch history alone, so that they are noted and do not go through the model. */
static bool notes(const struct qds_vcpu *v)
{
    return v->noted[0] | v->noted[1];
}

/* Gives the model the noted branches. Older ones are overwritten, but each adds an entry all the same: the entries'
 * number decides where the model's ring goes on. */
static void remember(struct qds_vcpu *v)
{
    for (uint32_t i = 0; i < v->history.noted; i++) {
        const struct qds_noted *n = &v->history.of[i % DS_MODEL_LBR_DEPTH];
        const struct ds_model_branch branch = {.from = n->from, .to = n->to, .type = n->type, .cpl = n->cpl};
        ds_model_remember_branch(&v->model, &branch, n->from_cpl);
    }
    v->history.noted = 0;
}

static void sync(struct qds_vcpu *v)
{
    remember(v);
    qds_counting_sync(&v->counting, &v->model);
}

/* The last block has run, and its last instruction has led to `rip` and privilege level `cpl`: notes that as a branch
 * if it is one and was taken. */
static void note(struct qds_vcpu *v, uint64_t rip, unsigned cpl)
{
    const struct qds_block *b = v->history.block;
    v->history.block = NULL;
    if (!b->branches || !(v->noted[cpl != 0] >> b->branch_type & 1))
        return;
    const struct qds_block_insn *last = &b->insns[b->length - 1];
    const uint64_t from = v->history.rip + last->offset;
    if (last->insn.direct && rip != from + last->insn.length + (uint64_t)(int64_t)last->insn.displacement)
        return;
    if (v->history.noted == 2 * DS_MODEL_LBR_DEPTH) /* both rings go on where they are */
        v->history.noted = DS_MODEL_LBR_DEPTH;
    v->history.of[v->history.noted++ % DS_MODEL_LBR_DEPTH] =
        (struct qds_noted){from, rip, b->branch_type, b->ring ? 3 : 0, (uint8_t)cpl};
}

/* It has been left before its end. */
static void forget(struct qds_vcpu *v, const struct qds_block *b)
{
    if (v->history.block == b)
        v->history.block = NULL;
}

/* The instruction of v->step has not retired, and has accessed memory nevertheless. */
static void hold(struct qds_vcpu *v)
{
    if (v->model.preset->memory)
        qds_counting_hold(&v->counting, v->step.cpl, &v->step.amounts);
}

/* Execution stands at `rip`, between two instructions. */
static void settle(struct qds_vcpu *v, uint64_t rip)
{
    if (v->patch.kind)
        qds_patch(v);
    if (v->history.block)
        note(v, rip, qds_cpl_before_delivery(v));
    if (v->step.on) {
        sync(v);
        v->step.on = false;
        if (!qds_retire_step(v, rip))
            hold(v);
        if (v->leave) /* a PMI, which may freeze */
            qds_need_follow(v);
        arm(v);
    }
    if (v->entered.on && rip != v->entered.from) {
        sync(v);
        v->entered.on = false;
        qds_enter(v, rip);
        arm(v);
    }
}

/* The same at the start of a block. Does not return where an interrupt is to be taken before it. */
static void begin(struct qds_vcpu *v, uint64_t rip, void *const *frame)
{
    if (!v->env_looked_for) {
        qds_flags_look_for_env(v, frame);
        qds_need_follow(v);
    }
    settle(v, rip);
    if (ds_model_pmi_waits(&v->model)) { /* no plugin sees LVTPC written in xAPIC mode: so at each block of CPL 0 */
        v->retired_rip = rip;
        ds_model_lvtpc_write(&v->model, qds_pmi_lvtpc(v));
    }
    if (v->leave) {
        v->leave = false;
        sync(v);
        arm(v);
        qemu_plugin_set_pc(rip);
    }
}

static void adjust_event(struct qds_vcpu *v, const struct qds_block *b, unsigned event, uint64_t sign)
{
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        if (qds_blocks_counts(b, g, event))
            v->board->now.of[g][event] += sign;
}

/* Events that a block counts at all. */
static uint64_t wanted(const struct qds_block *b)
{
    return b->wanted[b->ring] | b->wanted[QDS_ALL_RINGS];
}

void qds_run_hits(struct qds_vcpu *v, const struct qds_block_insn *i, bool store, uint64_t events)
{
    const struct qds_block *b = i->block;
    events &= wanted(b);
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
    if (wanted(b) >> DS_MODEL_AMOUNTS)
        for (unsigned e = DS_MODEL_AMOUNTS; e < DS_MODEL_EVENTS; e++)
            if (a->amounts.of[e - DS_MODEL_AMOUNTS])
                adjust_event(v, b, e, a->amounts.of[e - DS_MODEL_AMOUNTS]);
    qds_run_hits(v, i, a->store, a->events);
}

/* What an instruction causes by retiring, with a memory system. */
static void adjust_owned(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t sign)
{
    adjust_event(v, i->block, DS_MODEL_CYCLES, sign * qds_accesses_cpi());
    adjust_event(v, i->block, DS_MODEL_BACKEND, sign * qds_accesses_backend(&i->insn));
}

/* Counts one instruction once more, or (`sign` UINT64_MAX) once less, then with what it has accessed. Amounts stay. */
static void adjust_one(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t sign)
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

/* The same for the block's instructions from `from` on. */
static void adjust(struct qds_vcpu *v, const struct qds_block *b, unsigned from, uint64_t sign)
{
    for (unsigned i = from; i < b->length; i++)
        adjust_one(v, &b->insns[i], sign);
}

/* The place of the instruction at a physical address in the last block that was counted; NULL: it is not in there. All
 * of a block's instructions begin in one page. */
static const struct qds_block_insn *counted_at(struct qds_vcpu *v, uint64_t physical)
{
    const struct qds_block *b = (const void *)(uintptr_t)v->board->block;
    if (!b || b->physical == QDS_NOWHERE || physical == QDS_NOWHERE)
        return NULL;
    for (unsigned i = 0; i < b->length; i++)
        if (b->physical + b->insns[i].offset == physical)
            return &b->insns[i];
    return NULL;
}

static uint64_t physical_of(uint64_t address)
{
    uint64_t physical;
    return qemu_plugin_translate_vaddr(address, &physical) ? physical : QDS_NOWHERE;
}

/* An instruction, and what of its block comes after it, has been counted and has not retired. */
static void uncount(struct qds_vcpu *v, const struct qds_block_insn *i)
{
    adjust(v, i->block, (unsigned)(i - i->block->insns), UINT64_MAX);
    v->board->block = 0;
}

/* Execution stands at a physical address again. If a REP string instruction there ended the last block, it has not
 * retired: QEMU does a part of its iterations, with RFLAGS.RF set in between, or an interrupt came. It will be counted
 * anew. */
static void repeats(struct qds_vcpu *v, uint64_t physical)
{
    const struct qds_block_insn *i = counted_at(v, physical);
    if (i && i->insn.kind == DS_INSN_REP_STRING && i == &i->block->insns[i->block->length - 1])
        uncount(v, i);
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
    forget(v, i->block);
    uncount(v, i);
}

/* Such a block begins. If its instruction is part of the last block, that has been left there: no branch leads from its
 * end back to where a block of one instruction is all there is, and nothing else back to its end. */
static void resume(struct qds_vcpu *v, const struct qds_block *b)
{
    const struct qds_block_insn *i = counted_at(v, b->physical);
    if (i) {
        leave_before(v, i);
    } else if (!v->board->block && v->counted && v->counted->block->physical + v->counted->offset == b->physical) {
        adjust_one(v, v->counted, UINT64_MAX);
        v->counted = NULL;
    } else {
        return;
    }
    sync(v);
    arm(v);
}

/* The instruction at `ip` runs, now or as the last of this block, and goes through the model for `events`. */
static void step(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t ip, uint64_t events)
{
    v->counted = NULL;
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
    sync(v);
    arm(v);
}

/* A block may reach an event the model must see, or something is to be settled. */
__attribute__((optimize("no-omit-frame-pointer"))) void qds_run_due(unsigned vcpu, void *userdata)
{
    struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    uint64_t rip = qds_read(v, QDS_RIP);
    if (v->step.on && v->step.block == b && !v->board->block)
        return; /* another of the block's checks, after one that has done what follows */
    begin(v, rip, __builtin_frame_address(0));
    bool due = v->through[b->ring] == QDS_THROUGH_ALL || (notes(v) && b->unclear) ||
               qds_counting_due(&v->counting, b->ring, b->events, UINT64_MAX);
    if (!due && v->through[b->ring] == QDS_THROUGH_BRANCHES) {
        const struct qds_block_insn *last = &b->insns[b->length - 1];
        if (!(v->branches[b->ring] >> last->insn.kind & 1))
            return;
        step(v, last, rip + last->offset, ~(QDS_BLOCK_EVENTS | QDS_ACCESS_EVENTS));
        v->step.block = b;
        v->board->block = 0; /* until it has begun */
    }
    if (!due && v->through[b->ring] < QDS_THROUGH_BRANCHES) { /* the number of instructions has said so early */
        sync(v);
        arm(v);
    }
    if (!due)
        return;
    qds_write(v, QDS_EFLAGS, qds_read(v, QDS_EFLAGS) | QDS_RFLAGS_RF);
    qemu_plugin_set_pc(rip);
}

/* A block begins. At its start RIP is in QEMU's state. */
void qds_run_noting(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    if (!notes(v))
        return;
    const uint64_t rip = v->env[v->env_rip];
    if (v->history.block)
        note(v, rip, b->ring ? 3 : 0);
    v->history.block = b;
    v->history.rip = rip;
}

/* A block begins with a REP string instruction. */
void qds_run_repeats(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    repeats(v, b->physical);
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
    const struct qds_block_insn *i = counted_at(v, b->physical);
    (void)info, (void)vaddr;
    if (!i || i->block == b || i == &i->block->insns[i->block->length - 1])
        return;
    leave_before(v, i + 1);
    v->counted = &b->insns[0]; /* it may fault yet */
    v->counted_ip = qds_read(v, QDS_RIP);
    for (unsigned store = 0; store < 2; store++)
        if (v->board->accessed[store] == (uintptr_t)i)
            v->board->accessed[store] = (uintptr_t)v->counted;
    sync(v);
    arm(v);
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
    const struct qds_block *b = i->block;
    const enum qds_through how = v->through[b->ring];
    const uint64_t all = i->causes | QDS_ACCESS_EVENTS;
    v->board->accessed[0] = v->board->accessed[1] = 0;
    if (i->insn.kind == DS_INSN_INTERRUPT) /* pushes it; the block with it has been chosen */
        qds_write(v, QDS_EFLAGS, qds_read(v, QDS_EFLAGS) & ~(uint64_t)QDS_RFLAGS_RF);
    if (how == QDS_THROUGH_ALL || (how != QDS_THROUGH_EVENTS && v->branches[b->ring] >> i->insn.kind & 1) ||
        i->insn.kind == DS_INSN_REP_STRING || i->insn.kind == DS_INSN_INTERRUPT ||
        qds_counting_due(&v->counting, b->ring, qds_accesses_most(i), all & wanted(b))) {
        step(v, i, ip, UINT64_MAX);
        if (v->env && repeat_follows(i))
            stop_after(v, i, at);
        return;
    }
    v->counted = i;
    v->counted_ip = ip;
    adjust_one(v, i, 1);
}

/* A block with RF begins. */
__attribute__((optimize("no-omit-frame-pointer"))) void qds_run_steps(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    uint64_t rip = qds_read(v, QDS_RIP);
    if (b->insns[0].insn.kind == DS_INSN_REP_STRING)
        repeats(v, b->physical);
    if (qds_run_may_resume(b))
        resume(v, b);
    begin(v, rip, __builtin_frame_address(0));
    v->alias = rip - b->vaddr;
    run_next(v, &b->insns[0], rip, __builtin_return_address(0));
}

/* Its other instructions. When one has gone through the model the block is left, where that can be done with lazy flags
 * intact. */
void qds_run_insn_steps(unsigned vcpu, void *userdata)
{
    const struct qds_block_insn *i = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    uint64_t rip = i->block->vaddr + i->offset + v->alias;
    void *at = __builtin_return_address(0);
    if (v->step.on && qds_flags_restore(v, at)) {
        qds_write(v, QDS_EFLAGS, qds_read(v, QDS_EFLAGS) & ~(uint64_t)QDS_RFLAGS_RF);
        settle(v, rip);
        v->leave = false;
        arm(v);
        qemu_plugin_set_pc(rip);
    }
    settle(v, rip);
    run_next(v, i, rip, at);
}

void qds_run_accessed(struct qds_vcpu *v, const struct qds_block_insn *i, const struct qds_accessed *a)
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

/* An instruction of a block with RF reads or writes data: that which has begun, for an access of a device is in a block
 * of its own, which has only this. None has where another vCPU has just turned counting on. */
void qds_run_access_steps(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
    const bool store = qemu_plugin_mem_is_store(info);
    const struct qds_accessed accessed = {.store = store, .events = store ? QDS_STORES : QDS_LOADS, .address = vaddr};
    (void)userdata;
    qds_run_accessed(qds_vcpu(vcpu), NULL, &accessed);
}

/* The same in a block without, where it counts. */
void qds_run_loads(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
    (void)info, (void)vaddr;
    qds_run_hits(qds_vcpu(vcpu), userdata, false, QDS_LOADS);
}

void qds_run_stores(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
    (void)info, (void)vaddr;
    qds_run_hits(qds_vcpu(vcpu), userdata, true, QDS_STORES);
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
    const struct qds_block *b = i->block;
    const bool block = v->board->block == (uintptr_t)b, one = v->counted == i;
    unsigned index = (unsigned)(i - b->insns);
    if (block)
        adjust(v, b, index, UINT64_MAX);
    else if (one)
        adjust_one(v, i, UINT64_MAX);
    sync(v);
    if (block)
        adjust(v, b, index, 1);
    else if (one)
        adjust_one(v, i, 1);
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
    if (v->board->block == (uintptr_t)i->block)
        uncount(v, i);
    else if (v->counted == i)
        adjust_one(v, i, UINT64_MAX);
    v->counted = NULL;
    v->step.on = false;
    forget(v, i->block);
    sync(v);
    arm(v);
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
        qds_instruments_renew();
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
    sync(v);
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
        v->passing = __builtin_return_address(0);
        qds_retire_step(v, v->step.ip + i->insn.length);
        v->passing = NULL;
    }
    ds_model_wrmsr(&v->model, msr, value);
    qds_uncounted_look(&v->model);
    qds_need_follow(v);
    arm(v);
}

/* ---- halting ----------------------------------------------------------------------------------------------------- */

void qds_run_stops(unsigned vcpu, void *userdata)
{
    struct qds_vcpu *v = qds_vcpu(vcpu);
    (void)userdata;
    if (v && v->counting.referring) {
        sync(v);
        arm(v);
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
    repeats(v, physical_of(rip));
    if (v->history.block)
        note(v, rip, qds_cpl(v));
    sync(v);
    arm(v);
}

void qds_run_loaded(struct qds_vcpu *v)
{
    qds_instruments_change(v, &v->model, true);
    qds_need_follow(v);
    qds_counting_goes_on(&v->counting);
    arm(v);
}

/* ---- exceptions and interrupts ----------------------------------------------------------------------------------- */

static bool fetched(struct qds_vcpu *v, uint64_t at)
{
    g_byte_array_set_size(v->bytes, 0);
    return qemu_plugin_read_memory_vaddr(at, v->bytes, 1);
}

/* QEMU has told of an exception and will tell of it again when it has been delivered, unless delivery raises another
 * one. Only then it says where for sure: a helper that faults in the middle of a block leaves RIP at its beginning. */
static void exception_raised(struct qds_vcpu *v)
{
    qds_special_faulted(v);
    if (!qds_blocks_counting() || v->exception.raised++)
        return;
    v->exception.tf = qds_read(v, QDS_EFLAGS) & QDS_RFLAGS_TF;
    v->exception.cpl = qds_cpl(v);
    v->exception.rsp = qds_read(v, QDS_RSP);
}

/* An exception has been delivered. True: what has run before it is settled. It belongs to the instruction at `from` and
 * keeps that from retiring, but for INT n, which retires where it leads if nothing else was raised, for what could not
 * even be fetched, which has not begun, and for #DB after single-stepping a jump to itself. */
static bool exception_delivered(struct qds_vcpu *v, uint64_t from)
{
    const struct qds_block_insn *i = counted_at(v, physical_of(from));
    const bool one = !v->board->block && v->counted && v->counted_ip == from;
    const struct ds_insn *insn = i                                  ? &i->insn
                                 : one                              ? &v->counted->insn
                                 : v->step.on && v->step.ip == from ? &v->step.insn
                                                                    : NULL;
    if (!insn || !fetched(v, from))
        return true;
    if (insn->kind == DS_INSN_INTERRUPT && v->exception.raised == 1)
        return false;
    if (v->exception.tf && insn->direct && insn->displacement == -insn->length)
        return true;
    if (i) {
        forget(v, i->block);
        uncount(v, i);
    } else if (one) {
        adjust_one(v, v->counted, UINT64_MAX);
        v->counted = NULL;
    }
    sync(v);
    if (v->step.on)
        hold(v);
    v->step.on = false;
    arm(v);
    return true;
}

/* QEMU delivers two #DB for an instruction that is single-stepped and comes to a data breakpoint: one for RFLAGS.TF,
 * and before the first instruction of the handler one for the breakpoint. A processor delivers one, with both in DR6,
 * as QEMU's has them. With an IST, as Linux has it for #DB, the second frame lies over the first, and the handler
 * returns to itself for ever. So the first frame is put back. True: a second one has been taken back. */
static bool again_stepped(struct qds_vcpu *v, uint64_t from, uint64_t to)
{
    const bool was = v->stepped.on, tf = v->stepped.tf;
    v->stepped.on = v->stepped.tf = false;
    if (!was && !tf)
        return false;
    const uint64_t rsp = qds_read(v, QDS_RSP), physical = physical_of(rsp);
    if (physical == QDS_NOWHERE || physical_of(rsp + QDS_FRAME - 1) != physical + QDS_FRAME - 1)
        return false;
    if (was && from == to && to == v->stepped.handler && rsp == v->stepped.rsp)
        return qds_memory_write_physical(v, physical, v->stepped.frame, QDS_FRAME);
    v->stepped.handler = to;
    v->stepped.rsp = rsp;
    v->stepped.on = tf && qds_memory_read_physical(v, physical, v->stepped.frame, QDS_FRAME);
    return false;
}

void qds_run_discontinuity(unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from, uint64_t to, void *userdata)
{
    struct qds_vcpu *v = qds_vcpu(vcpu);
    (void)userdata;
    bool settled = true;
    if (type == QEMU_PLUGIN_DISCON_EXCEPTION) {
        v->stepped.tf = qds_read(v, QDS_EFLAGS) & QDS_RFLAGS_TF;
        exception_raised(v);
        return;
    }
    if (again_stepped(v, from, to)) {
        v->exception.raised = 0;
        return;
    }
    v->delivered = true;
    if (v->exception.raised)
        settled = exception_delivered(v, from);
    else
        repeats(v, physical_of(from));
    if (settled) {
        const unsigned cpl = qds_cpl_before_delivery(v);
        settle(v, from);
        if (v->branches[0] | v->branches[1]) {
            v->entered.on = true;
            v->entered.cpl = cpl;
            v->entered.from = from;
            sync(v);
            arm(v);
        }
    }
    v->delivered = false;
    v->exception.raised = 0;
    qds_instruments_relax();
}
