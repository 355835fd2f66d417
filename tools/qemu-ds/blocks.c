/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/blocks.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ds/retired.h"
#include "tools/qemu-ds/flags.h"
#include "tools/qemu-ds/memory.h"
#include "tools/qemu-ds/special.h"
#include "tools/qemu-ds/truth.h"

#define PAGE 4096u

void (*qds_blocks_changed)(struct qds_vcpu *v);
void (*qds_blocks_interrupted)(void);
void (*qds_blocks_flags_unknown)(void);

static struct qds_instruments instruments;
static struct qemu_plugin_scoreboard *boards;
static struct qds_block *blocks;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct qds_vcpu *current; /* for translation, where QEMU does not say which vCPU it is for */

#define ALL_BRANCHES (UINT32_MAX << DS_INSN_CONDITIONAL) /* bits of enum ds_insn_kind */
#define FAR_BRANCHES (UINT32_MAX << DS_INSN_FAR)

/* Branches of a ring that are remembered or stored, as bits of enum ds_insn_kind. */
static uint32_t branches(const struct ds_model *m, unsigned ring)
{
    static const uint8_t kind[] = {
        [DS_MODEL_CONDITIONAL] = DS_INSN_CONDITIONAL, [DS_MODEL_DIRECT_JUMP] = DS_INSN_JUMP,
        [DS_MODEL_INDIRECT_JUMP] = DS_INSN_JUMP,      [DS_MODEL_DIRECT_CALL] = DS_INSN_CALL,
        [DS_MODEL_INDIRECT_CALL] = DS_INSN_CALL,      [DS_MODEL_RETURN] = DS_INSN_RETURN,
    };
    const uint64_t bts = IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS;
    const unsigned cpl = ring ? 3 : 0;
    uint32_t kinds = 0;
    if ((m->debugctl & bts) == bts && !(m->debugctl & (ring ? IA32_DEBUGCTL_BTS_OFF_USR : IA32_DEBUGCTL_BTS_OFF_OS)))
        return ALL_BRANCHES;
    for (unsigned type = DS_MODEL_CONDITIONAL; type < DS_MODEL_OTHER_BRANCH; type++)
        kinds |= ds_model_remembers(m, type, cpl) ? 1u << kind[type] : 0;
    if (ds_model_remembers(m, DS_MODEL_OTHER_BRANCH, 0) || ds_model_remembers(m, DS_MODEL_OTHER_BRANCH, 3))
        kinds |= FAR_BRANCHES;
    return kinds;
}

/* Branches that go through the model. */
static uint32_t branches_through(const struct ds_model *m, unsigned ring)
{
    unsigned wanted = qds_counting_wanted(m, ring ? QDS_OTHER_RINGS : QDS_RING_0) |
                      qds_counting_wanted(m, QDS_ALL_RINGS);
    return wanted & 1u << DS_MODEL_BRANCH_TAKEN ? ALL_BRANCHES : branches(m, ring);
}

static enum qds_through through(const struct ds_model *m, unsigned ring)
{
    return m->conditional[ring]        ? QDS_THROUGH_ALL
           : branches_through(m, ring) ? QDS_THROUGH_BRANCHES
                                       : QDS_THROUGH_EVENTS;
}

struct qds_instruments qds_blocks_need(const struct ds_model *m)
{
    struct qds_instruments need;
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        need.wanted[g] = qds_counting_wanted(m, g) & (QDS_BLOCK_EVENTS | QDS_ACCESS_EVENTS);
    for (unsigned ring = 0; ring < 2; ring++)
        need.wanted[ring] |= through(m, ring) ? 1u << DS_MODEL_INSTRUCTION : 0;
    return need;
}

void qds_blocks_set(const struct qds_instruments *i)
{
    instruments = *i;
}

/* ---- while they run ---------------------------------------------------------------------------------------------- */

/* Whether all blocks of the ring are due: something is to be settled, or all goes through the model. */
static bool forced(const struct qds_vcpu *v, unsigned ring)
{
    return v->step.on || v->entered.on || v->leave || v->through[ring];
}

static void arm(struct qds_vcpu *v)
{
    qds_counting_arm(&v->counting, &v->model);
    for (unsigned ring = 0; ring < 2; ring++)
        if (forced(v, ring))
            qds_counting_force(&v->counting, ring);
}

static void sync(struct qds_vcpu *v)
{
    qds_counting_sync(&v->counting, &v->model);
}

/* Execution stands at `rip`, between two instructions. */
static void settle(struct qds_vcpu *v, uint64_t rip)
{
    if (v->patch.kind)
        qds_patch(v);
    if (v->step.on) {
        sync(v);
        v->step.on = false;
        qds_retire_step(v, rip);
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
    if (!qds_flags_look_for_env(v, frame))
        qds_blocks_flags_unknown();
    settle(v, rip);
    if (v->leave) {
        v->leave = false;
        sync(v);
        arm(v);
        qemu_plugin_set_pc(rip);
    }
}

/* Whether a block adds its events of this kind to those of the group. */
static bool counts(const struct qds_block *b, enum qds_group group, unsigned event)
{
    return (group == QDS_ALL_RINGS || group == b->ring) && b->events[event] && instruments.wanted[group] >> event & 1;
}

static void adjust_event(struct qds_vcpu *v, const struct qds_block *b, unsigned event, uint64_t sign)
{
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        if (counts(b, g, event))
            v->board->now.of[g][event] += sign;
}

/* The instruction has read or written data, perhaps not for the first time. */
static void count_access(struct qds_vcpu *v, const struct qds_block_insn *i, bool store)
{
    if (v->board->accessed[store] == (uintptr_t)i)
        return;
    v->board->accessed[store] = (uintptr_t)i;
    adjust_event(v, i->block, store ? DS_MODEL_STORE : DS_MODEL_LOAD, 1);
}

/* Counts one instruction once more, or (`sign` UINT64_MAX) once less, then with what it has accessed. */
static void adjust_one(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t sign)
{
    for (unsigned store = 0; store < 2; store++)
        if (sign != 1 && v->board->accessed[store] == (uintptr_t)i) {
            v->board->accessed[store] = 0;
            adjust_event(v, i->block, store ? DS_MODEL_STORE : DS_MODEL_LOAD, sign);
        }
    for (unsigned e = ds_retired_events(i->insn.kind); e; e &= e - 1)
        adjust_event(v, i->block, __builtin_ctz(e), sign);
}

/* The same for the block's instructions from `from` on. */
static void adjust(struct qds_vcpu *v, const struct qds_block *b, unsigned from, uint64_t sign)
{
    for (unsigned i = from; i < b->length; i++)
        adjust_one(v, &b->insns[i], sign);
}

/* The place of the instruction at `from` in the last block that was counted; NULL: it is not in there. */
static const struct qds_block_insn *counted_at(struct qds_vcpu *v, uint64_t from)
{
    const struct qds_block *b = (const void *)(uintptr_t)v->board->block;
    for (unsigned i = 0; b && i < b->length; i++)
        if ((b->vaddr + b->insns[i].offset - from) % PAGE == 0)
            return &b->insns[i];
    return NULL;
}

/* An instruction, and what of its block comes after it, has been counted and has not retired. */
static void uncount(struct qds_vcpu *v, const struct qds_block_insn *i)
{
    adjust(v, i->block, (unsigned)(i - i->block->insns), UINT64_MAX);
    v->board->block = 0;
}

/* Execution stands at `at` again. If a REP string instruction there ended the last block, it has not retired: QEMU does
 * a part of its iterations, with RFLAGS.RF set in between, or an interrupt came. It will be counted anew. */
static void repeats(struct qds_vcpu *v, uint64_t at)
{
    const struct qds_block_insn *i = counted_at(v, at);
    if (i && i->insn.kind == DS_INSN_REP_STRING && i == &i->block->insns[i->block->length - 1])
        uncount(v, i);
}

/* Whether a block may be one that QEMU makes of a single instruction to go on where it has left another one in its
 * middle: that has stored into its own code, or the host lacks an atomic operation. */
static bool resumes(const struct qds_block *b)
{
    return b->length == 1 && !ds_insn_is_branch(&b->insns[0].insn) && b->insns[0].insn.kind != DS_INSN_REP_STRING;
}

/* Such a block begins at `at`. If that is in the middle of the last block, that has been left there: what would end it
 * is no branch back to where a block of one instruction is all there is. */
static void resume(struct qds_vcpu *v, uint64_t at)
{
    const struct qds_block_insn *i = counted_at(v, at);
    if (i && i != &i->block->insns[i->block->length - 1]) {
        if (v->step.block == i->block)
            v->step.on = false; /* its last, which has not run */
        uncount(v, i);
    } else if (!v->board->block && v->counted && v->counted_ip == at) {
        adjust_one(v, v->counted, UINT64_MAX);
        v->counted = NULL;
    } else {
        return;
    }
    sync(v);
    arm(v);
}

/* The instruction at `ip` runs, perhaps after others of its block, and goes through the model for `events`. */
static void step(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t ip, unsigned events)
{
    v->counted = NULL;
    v->step.on = true;
    v->step.insn = i->insn;
    v->step.ip = ip;
    v->step.cpl = i->block->ring ? 3 : 0;
    v->step.events = events;
    v->step.block = NULL;
    v->step.memory = 0;
    v->step.load_address = v->step.store_address = 0;
    v->steps++;
    sync(v);
    arm(v);
}

/* A block may reach an event the model must see, or something is to be settled. */
__attribute__((optimize("no-omit-frame-pointer"))) static void block_due(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    uint64_t rip = qds_read(v, QDS_RIP);
    if (v->step.on && v->step.block == b && !v->board->block)
        return; /* another of the block's checks, after one that has done what follows */
    begin(v, rip, __builtin_frame_address(0));
    bool due = v->through[b->ring] == QDS_THROUGH_ALL || qds_counting_due(&v->counting, b->ring, b->events);
    if (!due && v->through[b->ring] == QDS_THROUGH_BRANCHES) {
        const struct qds_block_insn *last = &b->insns[b->length - 1];
        if (!(v->branches[b->ring] >> last->insn.kind & 1))
            return;
        step(v, last, rip + last->offset, ~(QDS_BLOCK_EVENTS | QDS_ACCESS_EVENTS));
        v->step.block = b;
        v->board->block = 0; /* until it has begun */
    }
    if (!due)
        return;
    qds_write(v, QDS_EFLAGS, qds_read(v, QDS_EFLAGS) | QDS_RFLAGS_RF);
    qemu_plugin_set_pc(rip);
}

/* A block begins with a REP string instruction. */
static void block_repeats(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    repeats(v, b->vaddr);
}

static void block_resumes(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    resume(qds_vcpu(vcpu), b->vaddr);
}

/* The instruction at `ip`, in a block with RF, runs: through the model if that must see it. */
static void run_next(struct qds_vcpu *v, const struct qds_block_insn *i, uint64_t ip)
{
    const struct qds_block *b = i->block;
    const enum qds_through how = v->through[b->ring];
    const unsigned all = ds_retired_events(i->insn.kind) | QDS_ACCESS_EVENTS;
    uint16_t events[DS_MODEL_EVENTS];
    for (unsigned e = 0; e < DS_MODEL_EVENTS; e++)
        events[e] = b->events[e] && all >> e & 1;
    v->board->accessed[0] = v->board->accessed[1] = 0;
    if (how == QDS_THROUGH_ALL || (how == QDS_THROUGH_BRANCHES && v->branches[b->ring] >> i->insn.kind & 1) ||
        i->insn.kind == DS_INSN_REP_STRING || i->insn.kind == DS_INSN_INTERRUPT ||
        qds_counting_due(&v->counting, b->ring, events)) {
        step(v, i, ip, UINT_MAX);
        return;
    }
    v->counted = i;
    v->counted_ip = ip;
    adjust_one(v, i, 1);
}

/* A block with RF begins. */
__attribute__((optimize("no-omit-frame-pointer"))) static void block_steps(unsigned vcpu, void *userdata)
{
    const struct qds_block *b = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    uint64_t rip = qds_read(v, QDS_RIP);
    if (b->insns[0].insn.kind == DS_INSN_REP_STRING)
        repeats(v, rip);
    if (resumes(b))
        resume(v, rip);
    begin(v, rip, __builtin_frame_address(0));
    v->alias = rip - b->vaddr;
    run_next(v, &b->insns[0], rip);
}

/* Its other instructions. When one has gone through the model the block is left, where that can be done with lazy flags
 * intact. */
static void insn_steps(unsigned vcpu, void *userdata)
{
    const struct qds_block_insn *i = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    uint64_t rip = i->block->vaddr + i->offset + v->alias;
    if (v->step.on && qds_flags_restore(v, __builtin_return_address(0))) {
        qds_write(v, QDS_EFLAGS, qds_read(v, QDS_EFLAGS) & ~(uint64_t)QDS_RFLAGS_RF);
        settle(v, rip);
        v->leave = false;
        arm(v);
        qemu_plugin_set_pc(rip);
    }
    settle(v, rip);
    run_next(v, i, rip);
}

/* An instruction of a block with RF reads or writes data. */
static void access_steps(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
    struct qds_vcpu *v = qds_vcpu(vcpu);
    bool store = qemu_plugin_mem_is_store(info);
    unsigned event = 1u << (store ? DS_MODEL_STORE : DS_MODEL_LOAD);
    if (!v->step.on) {
        count_access(v, userdata, store);
        return;
    }
    if (!(v->step.memory & event))
        *(store ? &v->step.store_address : &v->step.load_address) = vaddr;
    v->step.memory |= event;
}

/* The same in a block without, where it counts. */
static void loads(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
    (void)info, (void)vaddr;
    count_access(qds_vcpu(vcpu), userdata, false);
}

static void stores(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
    (void)info, (void)vaddr;
    count_access(qds_vcpu(vcpu), userdata, true);
}

static void patch_due(unsigned vcpu, void *userdata)
{
    (void)userdata;
    qds_patch(qds_vcpu(vcpu));
}

static void cpuid_runs(unsigned vcpu, void *userdata)
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

static void rdmsr_runs(unsigned vcpu, void *userdata)
{
    struct qds_vcpu *v = qds_vcpu(vcpu);
    sync_before(v, userdata);
    qds_rdmsr(v);
}

/* It is left out, and its block, whose last it is, with it. That takes lazy flags that are in memory, as they are at
 * the start of a block, or can be brought there. */
__attribute__((optimize("no-omit-frame-pointer"))) static void rdpmc_runs(unsigned vcpu, void *userdata)
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

/* It ends its block, so all of the block has been counted. What it changes holds from the next instruction on. */
static void wrmsr_runs(unsigned vcpu, void *userdata)
{
    const struct qds_block_insn *i = userdata;
    struct qds_vcpu *v = qds_vcpu(vcpu);
    uint32_t msr;
    uint64_t value;
    bool fault;
    sync(v);
    if (!qds_wrmsr(v, &msr, &value, &fault))
        return;
    qds_truth_wrmsr(v, msr, value, fault, v->step.on);
    if (fault)
        return;
    if (v->step.on) {
        v->step.on = false;
        qds_retire_step(v, v->step.ip + i->insn.length);
    }
    ds_model_wrmsr(&v->model, msr, value);
    for (unsigned ring = 0; ring < 2; ring++) {
        v->through[ring] = (uint8_t)through(&v->model, ring);
        v->branches[ring] = branches_through(&v->model, ring);
    }
    arm(v);
    qds_blocks_changed(v);
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
    if (!v->wants || v->exception.raised++)
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
    const struct qds_block_insn *i = counted_at(v, from);
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
    if (i)
        uncount(v, i);
    else if (one) {
        adjust_one(v, v->counted, UINT64_MAX);
        v->counted = NULL;
    }
    sync(v);
    v->step.on = false;
    arm(v);
    return true;
}

static void discontinuity(unsigned vcpu, enum qemu_plugin_discon_type type, uint64_t from, uint64_t to, void *userdata)
{
    struct qds_vcpu *v = qds_vcpu(vcpu);
    (void)to, (void)userdata;
    bool settled = true;
    if (type == QEMU_PLUGIN_DISCON_EXCEPTION) {
        exception_raised(v);
        return;
    }
    v->delivered = true;
    if (v->exception.raised)
        settled = exception_delivered(v, from);
    else
        repeats(v, from);
    if (settled) {
        const unsigned cpl = qds_cpl_before_delivery(v);
        settle(v, from);
        if (branches(&v->model, 0) || branches(&v->model, 1)) {
            v->entered.on = true;
            v->entered.cpl = cpl;
            v->entered.from = from;
            sync(v);
            arm(v);
        }
    }
    v->delivered = false;
    v->exception.raised = 0;
    qds_blocks_interrupted();
}

/* ---- translation ------------------------------------------------------------------------------------------------- */

static struct qds_block *new_block(const struct qemu_plugin_tb *tb, unsigned ring)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    struct qds_block *b = calloc(1, sizeof *b + n * sizeof b->insns[0]);
    if (!b)
        abort();
    b->vaddr = qemu_plugin_tb_vaddr(tb);
    b->length = (uint16_t)n;
    b->ring = (uint8_t)ring;
    for (size_t i = 0; i < n; i++) {
        uint8_t code[DS_INSN_MAX];
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        size_t size = qemu_plugin_insn_data(insn, code, sizeof code);
        struct qds_block_insn *to = &b->insns[i];
        to->block = b;
        to->offset = (uint16_t)(qemu_plugin_insn_vaddr(insn) - b->vaddr);
        to->special = qds_special(code, size);
        to->remaps = qds_memory_changes(code, size);
        if (!ds_insn_decode(code, size, &to->insn))
            to->insn = (struct ds_insn){0};
        to->insn.length = (uint8_t)size; /* other modes than 64-bit: QEMU knows better */
        unsigned wanted = instruments.wanted[ring] | instruments.wanted[QDS_ALL_RINGS];
        for (unsigned e = ds_retired_events(to->insn.kind) & wanted; e; e &= e - 1)
            b->events[__builtin_ctz(e)]++;
        for (unsigned e = QDS_ACCESS_EVENTS & wanted; e; e &= e - 1)
            b->events[__builtin_ctz(e)]++;
    }
    pthread_mutex_lock(&blocks_lock);
    b->next = blocks;
    blocks = b;
    pthread_mutex_unlock(&blocks_lock);
    return b;
}

static qemu_plugin_u64 entry(size_t offset)
{
    return (qemu_plugin_u64){boards, offset};
}

static qemu_plugin_u64 number(enum qds_group group, unsigned event)
{
    return entry(offsetof(struct qds_board, now.of) + 8 * (group * DS_MODEL_EVENTS + event));
}

/* Loads or stores, where they count. */
static void plant_access(struct qemu_plugin_tb *tb, struct qds_block *b, enum ds_model_event event, unsigned store,
                         enum qemu_plugin_mem_rw rw, qemu_plugin_vcpu_mem_cb_t callback)
{
    if (!b->events[event])
        return;
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
        tb, QEMU_PLUGIN_INLINE_STORE_U64, entry(offsetof(struct qds_board, accessed) + 8 * store), 0);
    for (unsigned i = 0; i < b->length; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), callback, QEMU_PLUGIN_CB_NO_REGS, rw,
                                         &b->insns[i]);
}

/* One check and one addition for each event and group; all checks before the additions, which a block that is due does
 * not get to. Where the ring's instructions are counted for no group, forcing still needs a check. */
static void plant_counting(struct qemu_plugin_tb *tb, struct qds_block *b)
{
    const bool forcible = !counts(b, b->ring, DS_MODEL_INSTRUCTION) && !counts(b, QDS_ALL_RINGS, DS_MODEL_INSTRUCTION);
    if (b->insns[0].insn.kind == DS_INSN_REP_STRING)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, block_repeats, QEMU_PLUGIN_CB_NO_REGS, b);
    if (resumes(b))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, block_resumes, QEMU_PLUGIN_CB_NO_REGS, b);
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        for (unsigned e = 0; e < DS_MODEL_EVENTS; e++)
            if (counts(b, g, e) || (forcible && g == b->ring && e == DS_MODEL_INSTRUCTION))
                qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, block_due, QEMU_PLUGIN_CB_RW_REGS_PC,
                                                          QEMU_PLUGIN_COND_GE, number(g, e), QDS_DUE - b->events[e], b);
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        for (unsigned e = 0; e < DS_MODEL_EVENTS; e++)
            if (counts(b, g, e) && QDS_BLOCK_EVENTS >> e & 1)
                qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, number(g, e),
                                                                  b->events[e]);
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_STORE_U64,
                                                      entry(offsetof(struct qds_board, block)), (uintptr_t)b);
    plant_access(tb, b, DS_MODEL_LOAD, 0, QEMU_PLUGIN_MEM_R, loads);
    plant_access(tb, b, DS_MODEL_STORE, 1, QEMU_PLUGIN_MEM_W, stores);
}

/* What comes after CPUID and RDMSR changes their results: the next instruction, or the next block. */
static void plant_patch(struct qemu_plugin_insn *insn)
{
    qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, patch_due, QEMU_PLUGIN_CB_RW_REGS, QEMU_PLUGIN_COND_NE,
                                                entry(offsetof(struct qds_board, patch)), 0, NULL);
}

static bool may_follow_special(uint64_t vaddr)
{
    if (vaddr % PAGE < 2) /* they would be in another page, which need not be the same for all aliases */
        return true;
    g_byte_array_set_size(current->bytes, 0);
    return !qemu_plugin_read_memory_vaddr(vaddr - 2, current->bytes, 2) || qds_special_before(current->bytes->data);
}

static void translated(struct qemu_plugin_tb *tb, void *userdata)
{
    (void)userdata;
    static const qemu_plugin_vcpu_udata_cb_t runs[] = {
        [QDS_SPECIAL_CPUID] = cpuid_runs, [QDS_SPECIAL_RDMSR] = rdmsr_runs, [QDS_SPECIAL_WRMSR] = wrmsr_runs,
        [QDS_SPECIAL_RDPMC] = rdpmc_runs};
    struct qds_block *b = new_block(tb, qds_cpl(current) != 0);
    bool steps = !qds_blocks_idle(&instruments) && qds_read(current, QDS_EFLAGS) & QDS_RFLAGS_RF;
    bool follows = may_follow_special(b->vaddr);
    if (steps) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, block_steps, QEMU_PLUGIN_CB_RW_REGS_PC, b);
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_STORE_U64,
                                                          entry(offsetof(struct qds_board, block)), 0);
    }
    else if (!qds_blocks_idle(&instruments))
        plant_counting(tb, b);
    for (unsigned i = 0; i < b->length; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (follows)
            plant_patch(insn);
        if (steps && i > 0)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, insn_steps, QEMU_PLUGIN_CB_RW_REGS_PC, &b->insns[i]);
        if (steps)
            qemu_plugin_register_vcpu_mem_cb(insn, access_steps, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                             &b->insns[i]);
        if (b->insns[i].remaps && !qds_blocks_idle(&instruments))
            qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_STORE_U64,
                                                                entry(offsetof(struct qds_board, pages_known)), 0);
        if (b->insns[i].special)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, runs[b->insns[i].special], QEMU_PLUGIN_CB_RW_REGS_PC,
                                                   &b->insns[i]);
        follows = b->insns[i].special == QDS_SPECIAL_CPUID || b->insns[i].special == QDS_SPECIAL_RDMSR;
    }
}

static void flushed(void *userdata)
{
    (void)userdata;
    pthread_mutex_lock(&blocks_lock);
    while (blocks) {
        struct qds_block *b = blocks;
        blocks = b->next;
        free(b);
    }
    pthread_mutex_unlock(&blocks_lock);
    qds_vcpus_forget_blocks();
}

bool qds_blocks_thread(struct qds_vcpu *v)
{
    if (current && current != v)
        return false;
    current = v;
    return true;
}

void qds_blocks_register(qemu_plugin_id_t id, struct qemu_plugin_scoreboard *board)
{
    boards = board;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated, NULL);
    qemu_plugin_register_vcpu_discon_cb(id, QEMU_PLUGIN_DISCON_INTERRUPT | QEMU_PLUGIN_DISCON_EXCEPTION, discontinuity,
                                        NULL);
    qemu_plugin_register_flush_cb(id, flushed, NULL);
}
