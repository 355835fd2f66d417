/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/blocks/blocks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ds/soft/retired.h"
#include "tools/qemu-ds/modelled/costs.h"
#include "tools/qemu-ds/qemu/end.h"
#include "tools/qemu-ds/qemu/versions.h"
#include "tools/qemu-ds/run/accesses.h"
#include "tools/qemu-ds/run/instruments.h"
#include "tools/qemu-ds/run/run.h"
#include "tools/qemu-ds/run/special.h"
#include "tools/qemu-ds/run/tally.h"
#include "tools/qemu-ds/snapshot/snapshot.h"
#include "tools/qemu-ds/vcpu/memory.h"

#define PAGE 4096u

static struct qds_block *blocks;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct qds_vcpu *current; /* for translation, where QEMU does not say which vCPU it is for */

/* Branches that 64-bit mode does not have: near ones whose displacement has two bytes (the length that QEMU gives says
 * so), far ones with their address. INTO is left out: whether it is one depends on OF. */
static bool decode_short_mode(const uint8_t *code, size_t size, struct ds_insn *insn)
{
    size_t at = 0;
    while (at < size && qds_is_prefix(code[at]) && (code[at] & 0xF0) != 0x40)
        at++;
    const size_t left = size - at;
    uint8_t kind;
    *insn = (struct ds_insn){0};
    if ((left == 5 || left == 7) && (code[at] == 0x9A || code[at] == 0xEA)) { /* CALL, JMP */
        insn->kind = DS_INSN_FAR;
        return true;
    }
    if (left == 3 && (code[at] == 0xE8 || code[at] == 0xE9))
        kind = code[at] == 0xE8 ? DS_INSN_CALL : DS_INSN_JUMP;
    else if (left == 4 && code[at] == 0x0F && (code[at + 1] & 0xF0) == 0x80)
        kind = DS_INSN_CONDITIONAL;
    else
        return false;
    insn->kind = kind;
    insn->direct = true;
    insn->condition = kind == DS_INSN_CONDITIONAL ? code[at + 1] & 0xF : 0;
    insn->displacement = (int16_t)(code[size - 2] | code[size - 1] << 8);
    return true;
}

/*
 * QEMU gives us the code as it is now. It may have translated what was there before another vCPU stored to it. If it
 * says that an instruction has one byte, and in no mode the byte is a whole instruction, then QEMU has translated an
 * INT3, which kernels use to change code. `decoded`: the byte is an instruction in 64-bit mode; `old` is what other
 * modes have beside these.
 */
static bool was_int3(uint8_t code, size_t size, bool decoded)
{
    const bool old = (code < 0x40 && (code & 7) >= 6 && code != 0x0F) || (code & 0xF0) == 0x40 || code == 0x60 ||
                     code == 0x61 || code == 0xCE || code == 0xD6;
    return size == 1 && !decoded && !old;
}

/* Sets what is counted of the instruction and when: with its block, or, of what it accesses, when it does. */
static void decode(struct qds_block_insn *i, uint8_t *code, size_t size, bool steps)
{
    bool decoded = ds_insn_decode(code, size, &i->insn);
    if (was_int3(code[0], size, decoded)) {
        code[0] = QDS_INT3;
        decoded = ds_insn_decode(code, size, &i->insn);
    }
    i->special = qds_special(code, size);
    i->remaps = qds_memory_changes(code, size);
    if (!decoded && !decode_short_mode(code, size, &i->insn))
        i->insn = (struct ds_insn){0};
    i->insn.length = (uint8_t)size; /* other modes than 64-bit: QEMU knows better */
    i->access = qds_access_decode(code, size);
    i->accesses_later = steps || qds_costs_modelled() || !i->access.certain;
    i->causes = ds_retired_events(&i->insn);
    if (!i->accesses_later)
        i->causes |= (i->access.loads ? QDS_LOADS : 0) | (i->access.stores ? QDS_STORES : 0);
    i->causes |= DS_BIT(DS_MODEL_REFERENCE) | (i->access.prefetch ? QDS_PREFETCHES : 0);
}

static struct qds_block *new_block(const struct qemu_plugin_tb *tb, unsigned ring, bool steps)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    const unsigned events = qds_costs_modelled() ? DS_MODEL_EVENTS : DS_MODEL_PLAIN_EVENTS;
    const struct qds_instruments *instruments = qds_instruments_planted();
    struct qds_block *b = calloc(1, sizeof *b + n * sizeof b->insns[0] + events * sizeof b->events[0]);
    if (!b)
        qds_out_of_memory();
    b->events = (void *)&b->insns[n];
    b->vaddr = qemu_plugin_tb_vaddr(tb);
    if (!qemu_plugin_translate_vaddr(b->vaddr, &b->physical))
        b->physical = QDS_NOWHERE;
    memcpy(b->wanted, instruments->wanted, sizeof b->wanted);
    b->length = (uint16_t)n;
    b->ring = (uint8_t)ring;
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        b->packs[g] = b->wanted[g] & DS_BIT(DS_MODEL_INSTRUCTION) &&
                      b->wanted[g] & ~instruments->near[g] & DS_BIT(DS_MODEL_BRANCH);
    for (size_t i = 0; i < n; i++) {
        uint8_t code[DS_INSN_MAX];
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        size_t size = qemu_plugin_insn_data(insn, code, sizeof code);
        struct qds_block_insn *to = &b->insns[i];
        to->block = b;
        to->offset = (uint16_t)(qemu_plugin_insn_vaddr(insn) - b->vaddr);
        decode(to, code, size, steps);
        const uint64_t wanted = instruments->wanted[ring] | instruments->wanted[QDS_ALL_RINGS];
        for (uint64_t e = to->causes & wanted; e; e &= e - 1)
            b->events[__builtin_ctzll(e)]++;
        for (uint64_t e = to->accesses_later ? QDS_ACCESS_EVENTS & wanted : 0; e; e &= e - 1)
            b->events[__builtin_ctzll(e)] += qds_costs_most(&to->access)[__builtin_ctzll(e)];
    }
    const struct ds_insn *last = &b->insns[n - 1].insn;
    b->branches = ds_insn_is_branch(last);
    b->branch_type = (uint8_t)ds_retired_branch_type(last);
    b->unclear = last->kind == DS_INSN_CONDITIONAL && !last->displacement;
    pthread_mutex_lock(&blocks_lock);
    b->next = blocks;
    blocks = b;
    pthread_mutex_unlock(&blocks_lock);
    return b;
}

/* A member of struct qds_board. */
#define ENTRY(member) qds_boards_entry(offsetof(struct qds_board, member))

static void plant_store(struct qemu_plugin_tb *tb, qemu_plugin_u64 entry, uint64_t value)
{
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_STORE_U64, entry, value);
}

static void plant_add(struct qemu_plugin_tb *tb, qemu_plugin_u64 entry, uint64_t n)
{
    if (n)
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, entry, n);
}

/* Where this holds of a number, to which the block has added, it may not run. */
static void plant_check(struct qemu_plugin_tb *tb, struct qds_block *b, qemu_plugin_u64 entry,
                        enum qemu_plugin_cond condition, uint64_t of)
{
    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, qds_run_due, QEMU_PLUGIN_CB_RW_REGS_PC, condition, entry, of, b);
}

/* Loads or stores, where they count and are not counted with the block. */
static void plant_access(struct qemu_plugin_tb *tb, struct qds_block *b, uint64_t events, unsigned store,
                         enum qemu_plugin_mem_rw rw, qemu_plugin_vcpu_mem_cb_t callback)
{
    bool any = false, counts = false;
    for (unsigned i = 0; i < b->length; i++)
        any |= b->insns[i].accesses_later;
    for (; events; events &= events - 1)
        counts |= b->events[__builtin_ctzll(events)] != 0;
    if (!counts || !any)
        return;
    plant_store(tb, ENTRY(accessed[store]), 0);
    for (unsigned i = 0; i < b->length; i++)
        if (b->insns[i].accesses_later)
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), callback, QEMU_PLUGIN_CB_NO_REGS, rw,
                                             &b->insns[i]);
}

/* How many of the event are counted with the block. Of cycles and what the back end loses, with a memory system, those
 * of the instructions themselves. */
static uint64_t counted(const struct qds_block *b, unsigned event)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < b->length; i++)
        n += event == DS_MODEL_CYCLES    ? qds_costs_cpi()
             : event == DS_MODEL_BACKEND ? qds_costs_backend(&b->insns[i].insn)
                                         : b->insns[i].causes >> event & 1;
    return n;
}

/* With a memory system: the accesses. */
static void plant_modelled(struct qemu_plugin_tb *tb, struct qds_block *b)
{
    bool counts = false;
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        for (unsigned e = 0; e < DS_MODEL_EVENTS; e++)
            counts |= qds_tally_counts(b, g, e) && QDS_ACCESS_EVENTS >> e & 1;
    for (unsigned store = 0; counts && store < 2; store++)
        plant_store(tb, ENTRY(accessed[store]), 0);
    for (unsigned i = 0; i < b->length; i++)
        qds_accesses_plant(qemu_plugin_tb_get_insn(tb, i), &b->insns[i],
                           counts ? QDS_ACCESSES_COUNT : QDS_ACCESSES_PASS);
}

/* Whether the block has to check a number other than a lead. */
static bool checks(const struct qds_block *b, enum qds_group group, unsigned event)
{
    if (!qds_tally_counts(b, group, event) || qds_numbers_leads(event, b->packs[group]))
        return false;
    return !(QDS_COVERED_EVENTS >> event & 1) || qds_instruments_planted()->near[group] >> event & 1 ||
           qds_costs_modelled() || !qds_tally_counts(b, group, DS_MODEL_INSTRUCTION);
}

/* First what goes into one cache line. */
static void plant_additions(struct qemu_plugin_tb *tb, struct qds_block *b)
{
    plant_store(tb, ENTRY(block), (uintptr_t)b);
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        if (qds_tally_counts(b, g, DS_MODEL_INSTRUCTION))
            plant_add(tb, ENTRY(now.lead[g]),
                      qds_numbers_addend(DS_MODEL_INSTRUCTION, counted(b, DS_MODEL_INSTRUCTION)) +
                          (b->packs[g] ? counted(b, DS_MODEL_BRANCH) : 0));
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        for (unsigned e = 0; e < DS_MODEL_EVENTS; e++)
            if (qds_tally_counts(b, g, e) && !qds_numbers_leads(e, b->packs[g]))
                plant_add(tb, ENTRY(now.of[g][e]), counted(b, e));
}

/* A check for each number that may be due. Of events that come later, it has those that may yet come. Where the ring's
 * instructions are counted for no group, forcing still needs one. */
static void plant_checks(struct qemu_plugin_tb *tb, struct qds_block *b)
{
    for (unsigned g = 0; g < QDS_GROUPS; g++) {
        const bool forcible = g == b->ring && !qds_tally_counts(b, QDS_ALL_RINGS, DS_MODEL_INSTRUCTION);
        if (qds_tally_counts(b, g, DS_MODEL_INSTRUCTION) || forcible)
            plant_check(tb, b, ENTRY(now.lead[g]), QEMU_PLUGIN_COND_LT, QDS_LEAD_DUE);
        for (unsigned e = 0; e < DS_MODEL_EVENTS; e++)
            if (checks(b, g, e))
                plant_check(tb, b, ENTRY(now.of[g][e]), QEMU_PLUGIN_COND_GE, QDS_DUE - b->events[e] + counted(b, e));
    }
}

/* Where the block is an instruction that may have been in another one: its accesses. */
static void plant_alone(struct qemu_plugin_tb *tb, struct qds_block *b)
{
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, 0), qds_run_alone_accesses, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW, b);
}

static void plant_counting(struct qemu_plugin_tb *tb, struct qds_block *b)
{
    if (b->insns[0].insn.kind == DS_INSN_REP_STRING)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, qds_run_repeats, QEMU_PLUGIN_CB_NO_REGS, b);
    if (qds_run_may_resume(b)) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, qds_run_resumes, QEMU_PLUGIN_CB_NO_REGS, b);
        plant_alone(tb, b);
    }
    plant_additions(tb, b);
    plant_checks(tb, b);
    if (qds_instruments_planted()->history && b->unclear)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, qds_run_due, QEMU_PLUGIN_CB_RW_REGS_PC, b);
    if (qds_instruments_planted()->history)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, qds_run_noting, QEMU_PLUGIN_CB_NO_REGS, b);
    if (qds_costs_modelled()) {
        plant_modelled(tb, b);
        return;
    }
    plant_access(tb, b, QDS_LOADS, 0, QEMU_PLUGIN_MEM_R, qds_run_loads);
    plant_access(tb, b, QDS_STORES, 1, QEMU_PLUGIN_MEM_W, qds_run_stores);
}

/* With RF. */
static void plant_steps(struct qemu_plugin_tb *tb, struct qds_block *b)
{
    qemu_plugin_register_vcpu_tb_exec_cb(tb, qds_run_steps, QEMU_PLUGIN_CB_RW_REGS_PC, b);
    plant_store(tb, ENTRY(block), 0);
    if (qds_run_may_resume(b))
        plant_alone(tb, b);
}

/* What comes after CPUID and RDMSR changes their results: the next instruction, or the next block. */
static void plant_patch(struct qemu_plugin_insn *insn)
{
    qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, qds_run_patch, QEMU_PLUGIN_CB_RW_REGS, QEMU_PLUGIN_COND_NE,
                                                ENTRY(patch), 0, NULL);
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
        [QDS_SPECIAL_INT3] = qds_run_int3,   [QDS_SPECIAL_CPUID] = qds_run_cpuid, [QDS_SPECIAL_RDMSR] = qds_run_rdmsr,
        [QDS_SPECIAL_WRMSR] = qds_run_wrmsr, [QDS_SPECIAL_RDPMC] = qds_run_rdpmc,
    };
    if (current->fresh)
        qds_snapshot_check(current);
    bool steps = qds_instruments_counting() && qds_read(current, QDS_EFLAGS) & QDS_RFLAGS_RF;
    struct qds_block *b = new_block(tb, qds_cpl(current) != 0, steps);
    bool follows = may_follow_special(b->vaddr);
    if (steps)
        plant_steps(tb, b);
    else if (qds_instruments_counting())
        plant_counting(tb, b);
    else if (qds_costs_modelled())
        plant_modelled(tb, b);
    for (unsigned i = 0; i < b->length; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (follows)
            plant_patch(insn);
        if (steps && i > 0)
            qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, qds_run_insn_steps, QEMU_PLUGIN_CB_RW_REGS_PC,
                                                        QEMU_PLUGIN_COND_LE, ENTRY(next), i, &b->insns[i]);
        if (steps && qds_costs_modelled())
            qds_accesses_plant(insn, &b->insns[i], QDS_ACCESSES_STEP);
        else if (steps)
            qemu_plugin_register_vcpu_mem_cb(insn, qds_run_access_steps, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                             &b->insns[i]);
        if (b->insns[i].remaps && qds_instruments_counting())
            qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_STORE_U64, ENTRY(pages_known),
                                                                0);
        if (b->insns[i].special)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, runs[b->insns[i].special], QEMU_PLUGIN_CB_RW_REGS_PC,
                                                   &b->insns[i]);
        follows = b->insns[i].special == QDS_SPECIAL_CPUID || b->insns[i].special == QDS_SPECIAL_RDMSR;
    }
}

static void flushed(void *userdata)
{
    (void)userdata;
    qds_vcpus_keep_blocks();
    pthread_mutex_lock(&blocks_lock);
    for (struct qds_block **link = &blocks, *b = blocks; b; b = *link) {
        if (b->kept) {
            b->kept = false;
            link = &b->next;
        } else {
            *link = b->next;
            free(b);
        }
    }
    pthread_mutex_unlock(&blocks_lock);
}

bool qds_blocks_thread(struct qds_vcpu *v)
{
    if (current && current != v)
        return false;
    current = v;
    return true;
}

void qds_blocks_register(qemu_plugin_id_t id)
{
    qds_api->register_vcpu_tb_trans_cb(id, translated, NULL);
    qds_api->register_vcpu_discon_cb(id, QEMU_PLUGIN_DISCON_INTERRUPT | QEMU_PLUGIN_DISCON_EXCEPTION,
                                     qds_run_discontinuity, NULL);
    qds_api->register_flush_cb(id, flushed, NULL);
    if (qds_instruments_flush()) {
        qds_api->register_vcpu_idle_cb(id, qds_run_stops, NULL);
        qds_api->register_vcpu_resume_cb(id, qds_run_goes_on, NULL);
    }
}
