/* SPDX-License-Identifier: MIT */
/*
 * Slots of the pipeline, of which a cycle has preset->slots, and what becomes of them: top-down analysis. A model, not
 * a measurement: what a slot is lost to depends on the instruction alone, by these rules.
 *
 * - An instruction takes one slot to retire in. How many micro-operations it has nobody knows.
 * - The other slots of its own cycles are lost: behind a conditional branch to bad speculation, as if none were
 *   predicted; behind any other branch to the front end, which has to go on elsewhere; else to the back end.
 * - Cycles that a load waits for the memory system are lost to the back end. They are what is memory bound.
 *
 * Sources: Intel's lists of events for the codes; Linux' arch/x86/events/intel/core.c for the fixed counters, the bytes
 * of MSR_PERF_METRICS, and that it holds 255ths of the slots that fixed counter 3 has counted. Slots of a cycle:
 * Intel's lists of metrics.
 */
#include "ds/model/topdown/slots.h"
#include "ds/ds.h"
#include "ds/model/internal.h"

#define HUNDRED 100u
#define WHOLE   255u

/* Performance cores, from Ice Lake on; efficient ones. */
static const struct ds_model_event_code performance[] = {
    {0x01A4, DS_MODEL_SLOTS, 0},           /* TOPDOWN.SLOTS_P */
    {0x02A4, DS_MODEL_BACKEND_BOUND, 0},   /* .BACKEND_BOUND_SLOTS */
    {0x08A4, DS_MODEL_BAD_SPECULATION, 0}, /* .BR_MISPREDICT_SLOTS */
    {0x019C, DS_MODEL_FRONTEND_BOUND, 0},  /* IDQ_BUBBLES.CORE, IDQ_UOPS_NOT_DELIVERED.CORE */
    {0},
};

static const struct ds_model_event_code efficient[] = {
    {0x0073, DS_MODEL_BAD_SPECULATION, 0}, /* TOPDOWN_BAD_SPECULATION.ALL_P */
    {0x019C, DS_MODEL_FRONTEND_BOUND, 0},  /* TOPDOWN_FE_BOUND.ALL_P */
    {0x02A4, DS_MODEL_BACKEND_BOUND, 0},   /* TOPDOWN_BE_BOUND.ALL_P */
    {0x02C2, DS_MODEL_INSTRUCTION, 0},     /* TOPDOWN_RETIRING.ALL_P */
    {0x01E4, DS_MODEL_LBR_INSERT, 0},      /* LBR_INSERTS.ANY */
    {0},
};

bool ds_model_has_metrics(const struct ds_model_preset *p)
{
    return p->perf_metrics;
}

const struct ds_model_event_code *ds_model_slots_codes(const struct ds_model_preset *p)
{
    static const struct ds_model_event_code none[] = {{0}};
    return !p->slots ? none : p->fixed_more ? efficient : performance;
}

uint32_t ds_model_slots_left(const struct ds_model_preset *p)
{
    const uint32_t all = p->slots * (p->memory ? p->cpi : HUNDRED) / HUNDRED;
    return all ? all - 1 : 0;
}

unsigned ds_model_slots_event(const struct ds_model *m, unsigned event, uint32_t *scale)
{
    const struct ds_model_preset *p = m->preset;
    *scale = ds_model_slots_left(p);
    switch (event) {
    case DS_MODEL_SLOTS:
        *scale = p->slots;
        return p->memory ? DS_MODEL_CYCLES : DS_MODEL_INSTRUCTION;
    case DS_MODEL_BAD_SPECULATION:
        return DS_MODEL_BRANCH_CONDITIONAL;
    case DS_MODEL_FRONTEND_BOUND:
        return DS_MODEL_BRANCH_UNCONDITIONAL;
    case DS_MODEL_BACKEND_BOUND:
        if (!p->memory)
            return DS_MODEL_NOT_BRANCH;
        *scale = 1;
        return DS_MODEL_BACKEND;
    default:
        *scale = 1;
        return event;
    }
}

static void tally(struct ds_model *m, unsigned which, unsigned event)
{
    uint32_t scale;
    const unsigned by = ds_model_slots_event(m, event, &scale);
    if (!scale)
        return;
    m->scale[which] = scale;
    for (unsigned ring = 0; ring < 2; ring++)
        if (m->fixed_ctr_ctrl &
            (ring ? ia32_fixed_ctr_ctrl_usr(DS_MODEL_FIXED_SLOTS) : ia32_fixed_ctr_ctrl_os(DS_MODEL_FIXED_SLOTS)))
            m->counting[ring][by] |= DS_BIT(which);
}

void ds_model_select_tallies(struct ds_model *m)
{
    const uint64_t on = IA32_PERF_GLOBAL_METRICS | DS_BIT(ds_counter_fixed(DS_MODEL_FIXED_SLOTS));
    if (!m->preset->perf_metrics || (m->global_ctrl & on) != on)
        return;
    tally(m, DS_MODEL_TALLY_SLOTS, DS_MODEL_SLOTS);
    tally(m, DS_MODEL_TALLY_RETIRING, DS_MODEL_INSTRUCTION);
    tally(m, DS_MODEL_TALLY_BAD_SPECULATION, DS_MODEL_BAD_SPECULATION);
    tally(m, DS_MODEL_TALLY_FRONTEND, DS_MODEL_FRONTEND_BOUND);
}

/* 255ths of all slots, of what `left` has. */
static uint64_t part(uint64_t slots, uint64_t all, uint64_t *left)
{
    uint64_t n = (slots * WHOLE + all / 2) / all;
    n = n < *left ? n : *left;
    *left -= n;
    return n;
}

uint64_t ds_model_metrics(const struct ds_model *m)
{
    const uint64_t all = m->value[DS_MODEL_TALLY_SLOTS], retired = m->value[DS_MODEL_TALLY_RETIRING];
    uint64_t backend = WHOLE, memory = m->preset->memory ? WHOLE : 0;
    if (all == m->metrics_from)
        return m->perf_metrics;
    const uint64_t retiring = part(retired, all, &backend);
    const uint64_t bad = part(m->value[DS_MODEL_TALLY_BAD_SPECULATION], all, &backend);
    const uint64_t frontend = part(m->value[DS_MODEL_TALLY_FRONTEND], all, &backend);
    const uint64_t first = retiring | bad << 8 | frontend << 16 | backend << 24;
    if (m->preset->generation < DS_GENERATION_GOLDENCOVE)
        return first;
    /* The second level: no heavy operations; all bad speculation is of branches, all of the front end is latency. */
    part(retired * (m->preset->memory ? m->preset->slots * m->preset->cpi / HUNDRED : m->preset->slots), all, &memory);
    memory = memory < backend ? memory : backend;
    return first | bad << 40 | frontend << 48 | memory << 56;
}

/* Of `all` slots, those that byte `i` of the metrics stands for. */
static uint64_t slots_of(uint64_t metrics, unsigned i, uint64_t all)
{
    return ((metrics >> 8 * i & 0xFF) * all + WHOLE / 2) / WHOLE;
}

void ds_model_set_metrics(struct ds_model *m, uint64_t value)
{
    const uint64_t all = value ? m->value[ds_counter_fixed(DS_MODEL_FIXED_SLOTS)] : 0;
    m->value[DS_MODEL_TALLY_SLOTS] = m->metrics_from = all;
    m->value[DS_MODEL_TALLY_RETIRING] = slots_of(value, 0, all);
    m->value[DS_MODEL_TALLY_BAD_SPECULATION] = slots_of(value, 1, all);
    m->value[DS_MODEL_TALLY_FRONTEND] = slots_of(value, 2, all);
    m->perf_metrics = value;
}

int ds_model_write_metrics(struct ds_model *m, uint64_t value)
{
    const bool second = m->preset->generation >= DS_GENERATION_GOLDENCOVE; /* else reserved; that is inferred */
    uint64_t metrics;
    const int e = ds_model_store(m, &metrics, value, second ? UINT64_MAX : UINT32_MAX);
    if (!e)
        ds_model_set_metrics(m, metrics);
    return e;
}
