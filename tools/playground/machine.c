/* SPDX-License-Identifier: MIT */
/* The model's host: memory, registers, interrupt, and what is told of a step. */
#include "tools/playground/machine.h"

#include "kernel/lib/string.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint8_t *memory(struct play_machine *m, uint64_t address, uint32_t size)
{
    const struct {
        uint64_t base;
        uint8_t *at;
        size_t size;
    } parts[] = {
        {PLAY_AREA, m->area, sizeof m->area},
        {PLAY_PEBS_BUFFER, m->buffer, m->settings.unmapped ? 0 : sizeof m->buffer},
        {PLAY_BTS_BUFFER, m->bts, sizeof m->bts},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (address >= parts[i].base && address - parts[i].base < parts[i].size &&
            size <= parts[i].size - (address - parts[i].base))
            return parts[i].at + (address - parts[i].base);
    return NULL;
}

static uint8_t *physical(struct play_machine *m, uint64_t address, uint32_t size)
{
    const uint64_t offset = address - PLAY_PEBS_PHYSICAL;
    return offset < sizeof m->buffer && size <= sizeof m->buffer - offset ? m->buffer + offset : NULL;
}

/* ---- what happened ----------------------------------------------------------------------------------------------- */

static uint8_t mark_of(uint8_t kind)
{
    switch (kind) {
    case DS_MODEL_OVERFLOWED:
        return PLAY_MARK_OVERFLOW;
    case DS_MODEL_STORED:
        return PLAY_MARK_RECORD;
    case DS_MODEL_DROPPED:
    case PLAY_BRANCH_DROPPED:
    case PLAY_MEMORY_MISSING:
        return PLAY_MARK_DROP;
    case DS_MODEL_PMI_RAISED:
    case DS_MODEL_PMI_LATCHED:
    case DS_MODEL_PMI_LOST:
        return PLAY_MARK_PMI;
    case PLAY_DRAINED:
    case PLAY_BRANCHES_TAKEN:
        return PLAY_MARK_DRAIN;
    case PLAY_BRANCH_STORED:
    case PLAY_BRANCH_WRAPPED:
        return PLAY_MARK_BRANCH;
    default:
        return 0;
    }
}

static void keep(struct play_machine *m, const struct ds_model_action *action)
{
    if (m->step < PLAY_STEPS)
        m->marks[m->step] |= mark_of(action->kind);
    if (m->actions < PLAY_ACTIONS)
        m->action[m->actions++] = *action;
}

void play_act(struct play_machine *m, uint8_t kind, uint64_t counters, uint64_t before, uint64_t after)
{
    keep(m, &(struct ds_model_action){kind, 0, counters, before, after});
}

void play_act_counter(struct play_machine *m, uint8_t kind, unsigned counter, uint64_t before, uint64_t after)
{
    keep(m, &(struct ds_model_action){kind, (uint8_t)counter, 0, before, after});
}

uint64_t play_area_word(const struct play_machine *m, size_t offset)
{
    uint64_t value;
    memcpy(&value, m->area + offset, sizeof value);
    return value;
}

void play_area_set(struct play_machine *m, size_t offset, uint64_t value)
{
    memcpy(m->area + offset, &value, sizeof value);
}

/* The model tells no actions of branch records: its counts tell. They lie between a record's and the PMIs'. */
static void tell_branches(struct play_machine *m)
{
    const uint64_t index = play_area_word(m, offsetof(struct ds_area_60, bts_index));
    const uint64_t base = play_area_word(m, offsetof(struct ds_area_60, bts_buffer_base));
    if (m->model.bts_records != m->bts_seen)
        play_act(m, index == base ? PLAY_BRANCH_WRAPPED : PLAY_BRANCH_STORED, 0, index - sizeof(struct ds_bts_record),
                 index);
    if (m->model.bts_dropped != m->bts_dropped_seen)
        play_act(m, PLAY_BRANCH_DROPPED, 0, index,
                 play_area_word(m, offsetof(struct ds_area_60, bts_absolute_maximum)));
    m->bts_seen = m->model.bts_records;
    m->bts_dropped_seen = m->model.bts_dropped;
}

static void acted(void *context, const struct ds_model_action *action)
{
    struct play_machine *m = context;
    const bool pmi = action->kind >= DS_MODEL_PMI_RAISED && action->kind <= DS_MODEL_PMI_LOST;
    if (pmi)
        tell_branches(m);
    keep(m, action);
    m->pmis_lost += action->kind == DS_MODEL_PMI_LOST;
    if (action->kind != DS_MODEL_STORED)
        return;
    const bool arch = play_arch(m->settings.preset);
    m->newest_address = action->before + (arch ? PLAY_PEBS_PHYSICAL : 0); /* there it is an offset */
    m->newest_bytes = (uint32_t)(action->after - action->before);
    m->newest_counters = action->counters;
    m->newest_step = m->step;
    memset(m->newest, 0, sizeof m->newest);
    memcpy(m->newest, (arch ? physical : memory)(m, m->newest_address, m->newest_bytes), m->newest_bytes);
}

/* ---- the model's host -------------------------------------------------------------------------------------------- */

static bool read(void *context, uint64_t address, void *to, uint32_t size)
{
    const uint8_t *at = memory(context, address, size);
    if (at)
        memcpy(to, at, size);
    return at;
}

static bool write(void *context, uint64_t address, const void *from, uint32_t size)
{
    uint8_t *at = memory(context, address, size);
    if (at)
        memcpy(at, from, size);
    return at;
}

static bool read_physical(void *context, uint64_t address, void *to, uint32_t size)
{
    const uint8_t *at = physical(context, address, size);
    if (at)
        memcpy(to, at, size);
    return at;
}

static bool write_physical(void *context, uint64_t address, const void *from, uint32_t size)
{
    uint8_t *at = physical(context, address, size);
    if (at)
        memcpy(at, from, size);
    return at;
}

static void registers(void *context, struct ds_model_registers *out)
{
    const struct play_machine *m = context;
    *out = m->cpu.registers;
    out->tsc = m->step; /* this processor's clock counts steps */
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    struct play_machine *m = context;
    (void)lvtpc;
    m->pmis++;
    m->pmi_due = true;
    m->pmi_delay = m->settings.delay;
}

static void page_fault(void *context, uint64_t address, bool is_write)
{
    struct play_machine *m = context;
    (void)is_write;
    play_act(m, PLAY_MEMORY_MISSING, 0, 1, address);
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

uint64_t play_rdmsr(const struct play_machine *m, uint32_t msr)
{
    uint64_t value = 0;
    return ds_model_rdmsr(&m->model, msr, &value) ? 0 : value;
}

uint32_t play_counter_msr(unsigned number)
{
    return number < DS_COUNTER_FIXED ? IA32_PMC0 + number : IA32_FIXED_CTR0 + number - DS_COUNTER_FIXED;
}

uint32_t play_cfg_c_msr(unsigned number)
{
    return ds_arch_msr(number, IA32_PMC_GP0_CFG_C, IA32_PMC_FX0_CFG_C);
}

uint64_t play_pebs_index(const struct play_machine *m)
{
    return play_arch(m->settings.preset) ? ia32_pebs_index_wr(m->model.pebs_index)
                                         : play_area_word(m, offsetof(struct ds_area_60, pebs_index));
}

/* With architectural PEBS it may be off for a time, as in the handler, or because the buffer is full. */
uint64_t play_plain(const struct play_machine *m)
{
    uint64_t pebs = m->model.pebs_enable;
    for (unsigned c = 0; c < DS_COUNTER_NUMBERS; c++)
        pebs |= m->model.cfg_c[c] & IA32_PMC_CFG_C_EN ? DS_BIT(c) : 0;
    return m->ctrl & ~pebs;
}

void play_retire(struct play_machine *m, const struct ds_model_retired *retired, const struct ds_model_branch *branch)
{
    int e = retired ? ds_model_retire(&m->model, retired) : ds_model_interrupt(&m->model, branch, m->cpu.cpl);
    tell_branches(m);
    if (e)
        play_act(m, PLAY_MEMORY_MISSING, 0, 0, m->model.fault_address);
}

/* A reload hides what a counter has counted: the action has its value before. */
uint64_t play_moved(const struct play_machine *m, const uint64_t before[DS_COUNTER_NUMBERS])
{
    uint64_t moved = 0, reloaded = 0;
    for (uint32_t i = 0; i < m->actions; i++) {
        const struct ds_model_action *a = &m->action[i];
        if (a->kind == DS_MODEL_OVERFLOWED || (a->kind == DS_MODEL_RELOADED && a->before != before[a->counter]))
            moved |= DS_BIT(a->counter);
        if (a->kind == DS_MODEL_RELOADED)
            reloaded |= DS_BIT(a->counter);
    }
    for (unsigned c = 0; c < DS_COUNTER_NUMBERS; c++)
        if (m->model.value[c] != before[c] && !(reloaded & DS_BIT(c)))
            moved |= DS_BIT(c);
    return moved;
}

void play_machine_begin(struct play_machine *m, const struct play_settings *settings)
{
    const struct ds_model_host host = {
        .read = read,
        .write = write,
        .read_physical = read_physical,
        .write_physical = write_physical,
        .registers = registers,
        .raise_pmi = raise_pmi,
        .page_fault = page_fault,
        .acted = acted,
        .context = m,
    };
    const struct play_settings kept = *settings; /* they may be the machine's own */
    memset(m, 0, sizeof *m);
    m->settings = kept;
    ds_model_init(&m->model, kept.preset, &kept.policy, &host);
    play_cpu_reset(&m->cpu, &m->settings.program, 3);
}
