/* SPDX-License-Identifier: MIT */
/* What each counter of the model counts, as its MSRs say. */
#include "ds/model/internal.h"
#include "kernel/lib/string.h"

static uint64_t cmask(uint64_t sel)
{
    return (sel & IA32_PERFEVTSEL_CMASK) >> 24;
}

/* Puts the counter into the masks of its rings. */
static void count(const struct ds_model *m, unsigned counter, bool os, uint64_t *ring_0, bool usr, uint64_t *others)
{
    *ring_0 |= os ? DS_BIT(counter) & m->global_ctrl : 0;
    *others |= usr ? DS_BIT(counter) & m->global_ctrl : 0;
}

static bool is_load(unsigned event)
{
    return (event >= DS_MODEL_LOAD && event <= DS_MODEL_PREFETCH) ||
           (event >= DS_MODEL_LOAD_L1_HIT && event <= DS_MODEL_LOAD_LATENCY && event != DS_MODEL_STORE_STLB_MISS);
}

static bool is_store(unsigned event)
{
    return event == DS_MODEL_STORE || event == DS_MODEL_STORE_STLB_MISS;
}

static unsigned cycles(const struct ds_model *m)
{
    return m->preset->memory ? DS_MODEL_CYCLES : DS_MODEL_INSTRUCTION;
}

#define REFERENCE_CYCLES 0x013Cu

/* What counts as `event` by its code, or where `reference` as reference cycles. */
static unsigned counted_as(const struct ds_model *m, unsigned event, bool reference)
{
    return reference && m->preset->reference ? DS_MODEL_REFERENCE : event;
}

static const struct ds_model_event_code *event_of(const struct ds_model *m, uint64_t sel)
{
    const uint64_t code = sel & (0xFFFF | IA32_PERFEVTSEL_UMASK2);
    const struct ds_model_event_code *e = ds_model_event_code(m->preset, code);
    return e || !m->preset->memory ? e : m->preset->memory->offcore(m, code);
}

bool ds_model_knows(const struct ds_model *m, unsigned counter)
{
    return event_of(m, m->perfevtsel[counter]);
}

static void update_gp(struct ds_model *m, unsigned i)
{
    uint64_t sel = m->perfevtsel[i];
    m->adaptive |= sel & IA32_PERFEVTSEL_ADAPTIVE ? DS_BIT(i) : 0;
    m->interrupting |= sel & IA32_PERFEVTSEL_INT ? DS_BIT(i) : 0;
    const struct ds_model_event_code *e = event_of(m, sel);
    if (e && ds_model_recorded && !(ds_model_recorded(m, e, sel) & DS_BIT(i)))
        m->unlisted |= DS_BIT(i);
    if (!e || (e->only && !(e->only & DS_BIT(i)) && !cmask(sel)) || !(sel & IA32_PERFEVTSEL_EN))
        return;
    const bool os = sel & IA32_PERFEVTSEL_OS, usr = sel & IA32_PERFEVTSEL_USR, edge = sel & IA32_PERFEVTSEL_EDGE;
    bool inverted = sel & IA32_PERFEVTSEL_INV && cmask(sel);
    const unsigned counts = counted_as(m, e->event, e->code == REFERENCE_CYCLES);
    uint32_t most; /* of them in one cycle */
    unsigned event = ds_model_slots_event(m, counts, &most);
    if (!most || ((cmask(sel) || edge) && event == DS_MODEL_BACKEND)) /* of that nobody knows the cycle */
        return;
    m->scale[i] = cmask(sel) || edge ? 1 : most;
    if (cmask(sel) > most || (sel & IA32_PERFEVTSEL_EQ && cmask(sel) && cmask(sel) != most)) {
        if (!inverted)
            return;
        event = cycles(m);
        inverted = false;
    } else if ((event == DS_MODEL_INSTRUCTION || event == DS_MODEL_CYCLES) && inverted)
        return;
    if (edge && event == DS_MODEL_CYCLES) /* an edge, wherever an instruction has cycles */
        event = DS_MODEL_INSTRUCTION;
    m->pdist |= cmask(sel) ? 0 : e->only;
    m->loads |= is_load(event) && !inverted ? DS_BIT(i) : 0;
    m->stores |= is_store(event) && !inverted ? DS_BIT(i) : 0;
    const struct ds_model_memory *memory = m->preset->memory;
    m->latencies |= memory && memory->has_latency(m->preset, e) && !inverted ? DS_BIT(i) : 0;
    m->condition[i].event = (uint8_t)event;
    m->condition[i].inverted = inverted;
    m->condition[i].edge = edge;
    if (inverted || edge)
        count(m, i, os, &m->conditional[0], usr, &m->conditional[1]);
    else
        count(m, i, os, &m->counting[0][event], usr, &m->counting[1][event]);
}

static void update_fixed(struct ds_model *m, unsigned i)
{
    unsigned c = ds_counter_fixed(i);
    m->adaptive |= m->fixed_ctr_ctrl & ia32_fixed_ctr_ctrl_adaptive(i) ? DS_BIT(c) : 0;
    m->interrupting |= m->fixed_ctr_ctrl & ia32_fixed_ctr_ctrl_pmi(i) ? DS_BIT(c) : 0;
    const unsigned counts[DS_MODEL_FIXED_MAX] = {DS_MODEL_INSTRUCTION,
                                                 cycles(m),
                                                 counted_as(m, cycles(m), true),
                                                 DS_MODEL_SLOTS,
                                                 DS_MODEL_BAD_SPECULATION,
                                                 DS_MODEL_FRONTEND_BOUND,
                                                 DS_MODEL_INSTRUCTION /* retiring */};
    uint32_t scale;
    const unsigned event = ds_model_slots_event(m, counts[i], &scale);
    if (!scale)
        return;
    m->scale[c] = scale;
    count(m, c, m->fixed_ctr_ctrl & ia32_fixed_ctr_ctrl_os(i), &m->counting[0][event],
          m->fixed_ctr_ctrl & ia32_fixed_ctr_ctrl_usr(i), &m->counting[1][event]);
}

void ds_model_select_pebs(struct ds_model *m)
{
    if (m->preset->pebs23)
        m->preset->pebs23->select(m);
    m->pebs = m->pebs_enable & m->preset->pebs_counters & ~m->unlisted;
}

void ds_model_select(struct ds_model *m)
{
    memset(m->counting, 0, sizeof m->counting);
    memset(m->conditional, 0, sizeof m->conditional);
    for (unsigned c = 0; c < DS_MODEL_COUNTERS; c++)
        m->scale[c] = 1;
    m->adaptive = m->interrupting = m->loads = m->stores = m->latencies = m->unlisted = 0;
    m->pdist = m->preset->pdist;
    for (unsigned i = 0; i < m->preset->gp_counters; i++)
        update_gp(m, i);
    for (uint32_t set = ds_model_fixed(m->preset); set; set &= set - 1)
        update_fixed(m, (unsigned)__builtin_ctz(set));
    if (ds_model_select_tallies)
        ds_model_select_tallies(m);
    ds_model_select_pebs(m);
}
