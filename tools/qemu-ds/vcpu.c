/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/vcpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/soft/retired.h"
#include "tools/qemu-ds/cpuid/tsc.h"
#include "tools/qemu-ds/end.h"
#include "tools/qemu-ds/flags.h"
#include "tools/qemu-ds/memory.h"
#include "tools/qemu-ds/modelled/accesses.h"
#include "tools/qemu-ds/need.h"
#include "tools/qemu-ds/pmi.h"
#include "tools/qemu-ds/truth.h"

struct qds_vcpu *qds_vcpus[QDS_VCPUS];
static struct qemu_plugin_scoreboard *boards;

static void find_board(struct qds_vcpu *v)
{
    v->board = qemu_plugin_scoreboard_find(boards, v->index);
    v->counting.now = &v->board->now;
}

static void keep(struct qds_block *b)
{
    if (b)
        b->kept = true;
}

static void keep_of(const struct qds_block_insn *i)
{
    keep(i ? i->block : NULL);
}

void qds_vcpus_keep_blocks(void)
{
    for (unsigned i = 0; i < QDS_VCPUS; i++) {
        struct qds_vcpu *v = qds_vcpus[i];
        if (!v)
            continue;
        find_board(v);
        v->board->pages_known = 0;
        keep((void *)(uintptr_t)v->board->block);
        keep(v->step.block);
        keep((struct qds_block *)v->history.block);
        keep_of(v->counted);
        for (unsigned store = 0; store < 2; store++)
            keep_of((const void *)(uintptr_t)v->board->accessed[store]);
    }
}

void qds_vcpus_forget_blocks(void)
{
    for (unsigned i = 0; i < QDS_VCPUS; i++)
        if (qds_vcpus[i]) {
            qds_vcpus[i]->board->block = 0;
            qds_vcpus[i]->board->accessed[0] = qds_vcpus[i]->board->accessed[1] = 0;
            qds_vcpus[i]->step.block = NULL;
            qds_vcpus[i]->history.block = NULL;
            qds_vcpus[i]->counted = NULL;
        }
}

uint64_t qds_read(struct qds_vcpu *v, enum qds_register reg)
{
    uint64_t value = 0;
    if (v->env && reg <= QDS_EFLAGS)
        return reg < QDS_RIP ? v->env[reg] : v->env[v->env_rip + (reg - QDS_RIP)];
    g_byte_array_set_size(v->bytes, 0);
    if (qemu_plugin_read_register(v->handle[reg], v->bytes))
        memcpy(&value, v->bytes->data, v->bytes->len < 8 ? v->bytes->len : 8);
    return value;
}

void qds_write(struct qds_vcpu *v, enum qds_register reg, uint64_t value)
{
    if (v->env && reg == QDS_EFLAGS) { /* for each record, and QEMU does no more there */
        v->env[v->env_rip + 1] = (uint32_t)value;
        return;
    }
    g_byte_array_set_size(v->bytes, sizeof value);
    memcpy(v->bytes->data, &value, sizeof value);
    qemu_plugin_write_register(v->handle[reg], v->bytes);
}

unsigned qds_cpl(struct qds_vcpu *v)
{
    if (!(qds_read(v, QDS_CR0) & 1)) /* PE */
        return 0;
    return qds_read(v, QDS_EFLAGS) & QDS_RFLAGS_VM ? 3 : qds_read(v, QDS_CS) & 3;
}

uint32_t qds_read_device(struct qds_vcpu *v, uint64_t address)
{
    uint32_t value = 0;
    g_byte_array_set_size(v->bytes, 0);
    if (qemu_plugin_read_memory_hwaddr(address, v->bytes, sizeof value) == 0)
        memcpy(&value, v->bytes->data, sizeof value);
    return value;
}

void qds_write_device(struct qds_vcpu *v, uint64_t address, uint32_t value)
{
    g_byte_array_set_size(v->bytes, sizeof value);
    memcpy(v->bytes->data, &value, sizeof value);
    qemu_plugin_write_memory_hwaddr(address, v->bytes);
}

/* ---- the model's host -------------------------------------------------------------------------------------------- */

static bool read_memory(void *context, uint64_t address, void *to, uint32_t size)
{
    return qds_memory_read(context, address, to, size);
}

static bool write_memory(void *context, uint64_t address, const void *from, uint32_t size)
{
    return qds_memory_write(context, address, from, size);
}

static bool read_physical(void *context, uint64_t address, void *to, uint32_t size)
{
    return qds_memory_read_physical(context, address, to, size);
}

static bool write_physical(void *context, uint64_t address, const void *from, uint32_t size)
{
    return qds_memory_write_physical(context, address, from, size);
}

static uint32_t lvtpc(void *context)
{
    return qds_pmi_lvtpc(context);
}

/* What has been delivered since has pushed what it changed: an error code, with some exceptions, RIP, CS, RFLAGS, RSP,
 * SS (SDM vol. 3A, "64-Bit Mode Stack Frame"). */
static void undo_delivery(struct qds_vcpu *v, struct ds_model_registers *r)
{
    enum { FRAME_RFLAGS = 2, FRAME_RSP };
    uint64_t pushed[5];
    g_byte_array_set_size(v->bytes, 0);
    if (qemu_plugin_read_memory_vaddr(r->rsp, v->bytes, sizeof pushed)) {
        memcpy(pushed, v->bytes->data, sizeof pushed);
        const uint64_t *frame = pushed + (v->exception.raised && pushed[FRAME_RSP] != v->exception.rsp);
        r->rflags = frame[FRAME_RFLAGS];
        r->rsp = frame[FRAME_RSP];
    }
    r->rflags &= ~(uint64_t)QDS_RFLAGS_RF;
}

static void registers(void *context, struct ds_model_registers *out)
{
    struct qds_vcpu *v = context;
    *out = (struct ds_model_registers){
        .rip = v->retired_rip,
        .rax = qds_read(v, QDS_RAX),
        .rbx = qds_read(v, QDS_RBX),
        .rcx = qds_read(v, QDS_RCX),
        .rdx = qds_read(v, QDS_RDX),
        .rsi = qds_read(v, QDS_RSI),
        .rdi = qds_read(v, QDS_RDI),
        .rbp = qds_read(v, QDS_RBP),
        .rsp = qds_read(v, QDS_RSP),
        .eventing_ip = v->step.ip,
        .tsc = qds_tsc(v),
        .compatibility = v->step.compatibility,
    };
    for (unsigned i = 0; i < 8; i++)
        out->r8_r15[i] = qds_read(v, QDS_R8 + i);
    if (v->delivered)
        undo_delivery(v, out);
    else
        out->rflags = qds_flags(v);
}

static void xmm(void *context, struct ds_pebs_xmm *out)
{
    struct qds_vcpu *v = context;
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < 16; i++) {
        g_byte_array_set_size(v->bytes, 0);
        if (v->xmm[i] && qemu_plugin_read_register(v->xmm[i], v->bytes) && v->bytes->len >= 16)
            memcpy(out->xmm[i], v->bytes->data, 16);
    }
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    struct qds_vcpu *v = context;
    qds_pmi_deliver(v, lvtpc);
    v->pmis++;
    v->leave = true;
    qds_truth_pmi(v, lvtpc);
}

static void recorded(void *context, const struct ds_model_record *record)
{
    struct qds_vcpu *v = context;
    qds_truth_record(v, record);
    qds_silent_recorded(&v->silent, &v->model, record);
}

static void lost(void *context, uint64_t counters)
{
    struct qds_vcpu *v = context;
    qds_silent_lost(&v->silent, &v->model, counters);
}

static void acted(void *context, const struct ds_model_action *action)
{
    struct qds_vcpu *v = context;
    qds_silent_acted(&v->silent, &v->model, action);
}

unsigned qds_cpl_before_delivery(struct qds_vcpu *v)
{
    uint64_t cs;
    if (v->delivered && v->exception.raised)
        return v->exception.cpl;
    return v->delivered && read_memory(v, qds_read(v, QDS_RSP) + 8, &cs, 8) ? cs & 3 : qds_cpl(v);
}

/* ---- what retires ------------------------------------------------------------------------------------------------ */

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
    *cycles += qds_accesses_cpi();
    v->step.amounts.of[DS_MODEL_BACKEND - DS_MODEL_AMOUNTS] += qds_accesses_backend(&v->step.insn);
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

void qds_vcpu_reset(struct qds_vcpu *v)
{
    const struct ds_model model = v->model;
    ds_model_init(&v->model, model.preset, &model.policy, &model.host);
    v->model.records = model.records;
    v->model.dropped = model.dropped;
    v->model.lost = model.lost;
    v->model.bts_records = model.bts_records;
    v->model.bts_dropped = model.bts_dropped;
    v->model.bts_lost = model.bts_lost;
    v->step.on = v->entered.on = v->leave = v->fault.on = false;
    v->exception.raised = 0;
    v->stepped.on = v->stepped.tf = false;
    v->counted = NULL;
    v->history.block = NULL;
    v->history.noted = 0;
    qds_need_follow(v);
    v->patch.kind = QDS_PATCH_NONE;
    memset(v->pages, 0, sizeof v->pages);
    v->board->patch = v->board->block = 0;
    qds_accesses_reset(v->index);
    qds_counting_arm(&v->counting, &v->model);
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

static struct qemu_plugin_register *find(const GArray *registers, const char *name)
{
    const qemu_plugin_reg_descriptor *d = (const void *)registers->data;
    for (unsigned i = 0; i < registers->len; i++)
        if (strcmp(d[i].name, name) == 0)
            return d[i].handle;
    return NULL;
}

bool qds_vcpu_init(unsigned index, const struct ds_model_preset *preset, const struct ds_model_policy *policy,
                   struct qemu_plugin_scoreboard *all_boards)
{
    static const char *const names[QDS_REGISTERS] = {
        "rax", "rcx", "rdx", "rbx",    "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10",     "r11",     "r12", "r13",
        "r14", "r15", "rip", "eflags", "es",  "cs",  "ss",  "ds",  "fs", "gs", "fs_base", "gs_base", "cr0", "cr4"};
    struct qds_vcpu *v = qds_vcpus[index];
    const bool plugged_again = v;
    if (!v && !(v = calloc(1, sizeof *v)))
        qds_out_of_memory();
    const struct ds_model_host host = {.read = read_memory,
                                       .write = write_memory,
                                       .read_physical = read_physical,
                                       .write_physical = write_physical,
                                       .lvtpc = lvtpc,
                                       .registers = registers,
                                       .xmm = xmm,
                                       .raise_pmi = raise_pmi,
                                       .recorded = recorded,
                                       .lost = lost,
                                       .acted = acted,
                                       .context = v};
    v->index = index;
    boards = all_boards;
    find_board(v);
    v->fresh = true;
    if (plugged_again) {
        v->env = NULL;
        v->env_looked_for = false;
        qds_vcpu_reset(v);
    } else {
        v->bytes = g_byte_array_new();
        ds_model_init(&v->model, preset, policy, &host);
        v->counting.always = qds_truth_wanted();
        v->counting.tsc = preset->reference ? qds_tsc_now : NULL;
        qds_counting_arm(&v->counting, &v->model);
    }

    GArray *all = qemu_plugin_get_registers();
    bool found = true;
    for (unsigned i = 0; i < QDS_REGISTERS; i++)
        found &= (v->handle[i] = find(all, names[i])) != NULL;
    for (unsigned i = 0; i < 16; i++) {
        char name[8];
        snprintf(name, sizeof name, "xmm%u", i);
        found &= (v->xmm[i] = find(all, name)) != NULL;
    }
    g_array_free(all, 1);
    qds_vcpus[index] = v;
    return found;
}
