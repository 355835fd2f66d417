/* SPDX-License-Identifier: MIT */
/*
 * The PMI's handler as a driver writes it, one step at a time: the order of ds/driver/drain.c (SDM vol. 3B, "Writing
 * the DS Interrupt Service Routine"). Its instructions are not the program's: while it runs the counters are off, so
 * only the interrupt itself and the IRETQ at its end are told to the model.
 */
#include "tools/playground/handler.h"

#include "kernel/lib/string.h"

enum { STOP = 2, ACKNOWLEDGE, DRAIN, RESTART, UNMASK, START, RETURN };

#define WORD(field) offsetof(struct ds_area_60, field)

void play_handler_enter(struct play_machine *m)
{
    const uint64_t from = m->cpu.registers.rip;
    const struct ds_model_branch branch = {.from = from, .to = PLAY_PMI_CODE, .type = DS_MODEL_OTHER_BRANCH, .cpl = 0};
    m->pmi_due = false;
    play_act(m, PLAY_PMI_TAKEN, 0, from, 0);
    play_retire(m, NULL, &branch);
    m->in_handler = m->settings.handler == PLAY_HANDLER_NONE ? RETURN : STOP;
}

/* With DEBUGCTL.BTS off and the counters off, nothing that the handler does is recorded. */
static void stop(struct play_machine *m)
{
    const uint64_t before = m->model.global_ctrl;
    ds_model_wrmsr(&m->model, IA32_PERF_GLOBAL_CTRL, 0);
    ds_model_wrmsr(&m->model, IA32_DEBUGCTL, m->debugctl & ~(IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS));
    play_act(m, PLAY_STOPPED, 0, before, 0);
}

/* The bits of PEBS counters are left alone: between arming and record they are the processor's to clear. */
static void acknowledge(struct play_machine *m)
{
    const uint64_t frozen = IA32_PERF_GLOBAL_STATUS_LBR_FRZ | IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
    m->status = m->model.global_status;
    const uint64_t full = IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_ARCH_PEBS;
    const uint64_t clear = m->status & (play_plain(m) | full | frozen);
    ds_model_wrmsr(&m->model, IA32_PERF_GLOBAL_OVF_CTRL, clear);
    play_act(m, PLAY_ACKNOWLEDGED, clear, m->status, m->model.global_status);
}

/* Architectural PEBS: the whole register is written, so its position goes back, and FULL is 0. */
static void drain_arch(struct play_machine *m)
{
    const uint64_t index = play_pebs_index(m), again = m->model.pebs_index & IA32_PEBS_INDEX_THRESH;
    uint64_t taken = 0;
    if (!(m->status & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS)) {
        play_act(m, PLAY_NOT_DRAINED, 0, m->status, index);
        return;
    }
    for (uint32_t at = 0, size; at < index; at += size, taken++) {
        size = ds_arch_record_size(m->buffer + at, (uint32_t)index - at);
        if (!size)
            break;
    }
    ds_model_wrmsr(&m->model, IA32_PEBS_INDEX, again | IA32_PEBS_INDEX_EN);
    m->drains++;
    m->drained += taken;
    play_act(m, PLAY_DRAINED, taken, index, again | IA32_PEBS_INDEX_EN);
}

static void drain_pebs(struct play_machine *m)
{
    const uint64_t index = play_area_word(m, WORD(pebs_index));
    if (m->status & IA32_PERF_GLOBAL_STATUS_OVF_BUF && index >= play_area_word(m, WORD(pebs_interrupt_threshold))) {
        const uint64_t taken = (index - PLAY_PEBS_BUFFER) / play_record_bytes(&m->settings);
        play_area_set(m, WORD(pebs_index), PLAY_PEBS_BUFFER);
        m->drains++;
        m->drained += taken;
        play_act(m, PLAY_DRAINED, taken, index, PLAY_PEBS_BUFFER);
    } else {
        play_act(m, PLAY_NOT_DRAINED, 0, m->status, index);
    }
}

static void drain(struct play_machine *m)
{
    if (play_arch(m->settings.preset))
        drain_arch(m);
    else
        drain_pebs(m);
    const uint64_t bts = play_area_word(m, WORD(bts_index));
    if (m->settings.bts && bts >= play_area_word(m, WORD(bts_interrupt_threshold))) {
        const uint64_t taken = (bts - PLAY_BTS_BUFFER) / sizeof(struct ds_bts_record);
        play_area_set(m, WORD(bts_index), PLAY_BTS_BUFFER);
        m->bts_drained += taken;
        play_act(m, PLAY_BRANCHES_TAKEN, taken, bts, PLAY_BTS_BUFFER);
    }
}

static void restart(struct play_machine *m, uint64_t overflowed)
{
    for (; overflowed; overflowed &= overflowed - 1) {
        const unsigned c = (unsigned)__builtin_ctzll(overflowed);
        const uint64_t before = m->model.value[c], value = m->initial[c];
        ds_model_wrmsr(&m->model, play_counter_msr(c), c < DS_COUNTER_FIXED ? (uint32_t)value : value);
        play_act_counter(m, PLAY_RESTARTED, c, before, m->model.value[c]);
    }
}

static void unmask(struct play_machine *m)
{
    const uint32_t before = m->model.lvtpc;
    if (m->settings.handler == PLAY_HANDLER_FORGET) {
        play_act(m, PLAY_LVTPC_FORGOTTEN, 0, before, before);
        return;
    }
    play_act(m, PLAY_LVTPC_WRITTEN, 0, before, PLAY_VECTOR);
    ds_model_lvtpc_write(&m->model, PLAY_VECTOR); /* a PMI that was latched comes now */
}

static void start(struct play_machine *m)
{
    ds_model_wrmsr(&m->model, IA32_DEBUGCTL, m->debugctl);
    ds_model_wrmsr(&m->model, IA32_PERF_GLOBAL_CTRL, m->ctrl);
    play_act(m, PLAY_STARTED, 0, 0, m->ctrl);
}

/* IRETQ retires at CPL 0 with the counters on, as in Cairn's kernel. */
static void leave(struct play_machine *m)
{
    struct ds_model_registers *r = &m->cpu.registers;
    const struct ds_model_registers interrupted = *r;
    const struct ds_model_branch branch = {
        .from = PLAY_PMI_CODE + PLAY_INSN_BYTES,
        .to = r->rip,
        .type = DS_MODEL_OTHER_BRANCH,
        .cpl = m->cpu.cpl,
    };
    const struct ds_model_retired retired = {
        .events = DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_BRANCH) | DS_BIT(DS_MODEL_FAR_BRANCH) |
                  DS_BIT(DS_MODEL_ANY_TAKEN),
        .branch = &branch,
    };
    uint64_t before[DS_COUNTER_NUMBERS];
    memcpy(before, m->model.value, sizeof before);
    r->eventing_ip = branch.from;
    play_act(m, PLAY_RETURNED, 0, 0, branch.to);
    play_retire(m, &retired, NULL);
    m->action[0].counters = play_moved(m, before);
    *r = interrupted;
}

/* The step that follows. Plain counters are started only where one has overflowed. */
static uint32_t next(const struct play_machine *m, uint64_t overflowed)
{
    if (m->in_handler == RETURN)
        return 0;
    return m->in_handler + 1 == RESTART && !overflowed ? UNMASK : m->in_handler + 1;
}

/* By the policy `residual`: some time has passed. The model tells of a record that it stores, and of no other. */
static void late(struct play_machine *m)
{
    const uint64_t counters = m->model.late.counters, dropped = m->model.dropped;
    if (ds_model_late(&m->model))
        play_act(m, PLAY_MEMORY_MISSING, 0, 0, m->model.fault_address);
    if (m->model.dropped != dropped && !play_arch(m->settings.preset)) /* of which the model does tell there */
        play_act(m, DS_MODEL_DROPPED, counters, play_area_word(m, WORD(pebs_index)),
                 play_area_word(m, WORD(pebs_absolute_maximum)));
}

void play_handler_step(struct play_machine *m)
{
    const uint64_t plain = play_plain(m);
    m->marks[m->step] |= PLAY_MARK_HANDLER;
    if (m->in_handler > STOP && m->in_handler < RETURN)
        late(m);
    switch (m->in_handler) {
    case STOP:
        stop(m);
        break;
    case ACKNOWLEDGE:
        acknowledge(m);
        break;
    case DRAIN:
        drain(m);
        break;
    case RESTART:
        restart(m, m->status & plain);
        break;
    case UNMASK:
        unmask(m);
        break;
    case START:
        start(m);
        break;
    default:
        leave(m);
        break;
    }
    m->in_handler = next(m, m->status & plain);
}
