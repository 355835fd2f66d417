/* SPDX-License-Identifier: MIT */
/* The driver's set-up, in the order of ds/driver/driver.c: SDM vol. 3B, "Setting Up the PEBS Facility" and "Setting Up
 * the BTS Buffer". */
#include "tools/playground/set_up.h"

#include "ds/lbr_layout.h"
#include "kernel/lib/string.h"

static int set(struct play_machine *m, uint32_t msr, uint64_t value)
{
    int e = ds_model_wrmsr(&m->model, msr, value);
    play_act(m, PLAY_WROTE, msr, e ? 1 : 0, value);
    m->set_up += e != 0;
    return e;
}

static void fill_pebs(struct play_machine *m)
{
    const struct play_settings *s = &m->settings;
    const uint64_t bytes = play_record_bytes(s), maximum = PLAY_PEBS_BUFFER + s->records * bytes + s->extra;
    play_area_set(m, offsetof(struct ds_area_60, pebs_buffer_base), PLAY_PEBS_BUFFER);
    play_area_set(m, offsetof(struct ds_area_60, pebs_index), PLAY_PEBS_BUFFER);
    play_area_set(m, offsetof(struct ds_area_60, pebs_absolute_maximum), maximum);
    play_area_set(m, offsetof(struct ds_area_60, pebs_interrupt_threshold),
                  s->threshold ? PLAY_PEBS_BUFFER + s->threshold * bytes : maximum + 2 * bytes); /* out of reach */
    for (unsigned i = 0; i < PLAY_COUNTERS_MAX; i++)
        if (s->counter[i].used && !s->counter[i].plain)
            play_area_set(m, ds_area_reset(s->preset->format, play_counter_number(i)),
                          (0 - (uint64_t)s->counter[i].period) & m->model.counter_mask);
}

static void fill_area(struct play_machine *m)
{
    const struct play_settings *s = &m->settings;
    if (!play_arch(s->preset))
        fill_pebs(m);
    if (!s->bts)
        return;
    const uint64_t record = sizeof(struct ds_bts_record), end = PLAY_BTS_BUFFER + s->bts * record;
    play_area_set(m, offsetof(struct ds_area_60, bts_buffer_base), PLAY_BTS_BUFFER);
    play_area_set(m, offsetof(struct ds_area_60, bts_index), PLAY_BTS_BUFFER);
    play_area_set(m, offsetof(struct ds_area_60, bts_absolute_maximum), end + 1);
    play_area_set(m, offsetof(struct ds_area_60, bts_interrupt_threshold),
                  s->bts_threshold ? PLAY_BTS_BUFFER + s->bts_threshold * record : end + 2 * record);
}

static uint64_t data_cfg(const struct play_settings *s)
{
    uint64_t cfg = s->groups;
    if (cfg & MSR_PEBS_DATA_CFG_LBR)
        cfg |= msr_pebs_data_cfg_entries(s->lbr);
    if (cfg & MSR_PEBS_DATA_CFG_CNTR)
        cfg |= msr_pebs_data_cfg_counters((1u << s->preset->gp_counters) - 1, (1u << s->preset->fixed_counters) - 1);
    return cfg;
}

/* Of the codes that count the event on this processor, the first that PEBS records on this counter, if there is one;
 * else the first. The model itself says which it records. */
static void set_event(struct play_machine *m, unsigned i, uint64_t bits)
{
    static const struct ds_model_event_code architectural[] = {
        {0x00C0, DS_MODEL_INSTRUCTION, 0}, {0x00C4, DS_MODEL_BRANCH, 0}, {0}};
    const struct ds_model_event_code *const tables[] = {architectural, m->settings.preset->events};
    const struct play_counter *c = &m->settings.counter[i];
    uint64_t first = 0;
    for (size_t t = 0; t < 2; t++)
        for (const struct ds_model_event_code *e = tables[t]; e->code; e++) {
            if (!play_is_event(e->event, c->event))
                continue;
            first = first ? first : e->code;
            ds_model_wrmsr(&m->model, IA32_PERFEVTSEL0 + i, e->code | bits);
            if (c->plain || !(m->model.unlisted & DS_BIT(i))) {
                m->code[i] = e->code;
                set(m, IA32_PERFEVTSEL0 + i, e->code | bits);
                return;
            }
        }
    m->code[i] = first;
    set(m, IA32_PERFEVTSEL0 + i, first | bits);
    play_act_counter(m, PLAY_NOT_RECORDED, i, first, 0);
    m->set_up++;
}

static uint64_t fixed_control(const struct play_counter *c, unsigned n, bool adaptive)
{
    return (c->kernel ? ia32_fixed_ctr_ctrl_os(n) : 0) | (c->user ? ia32_fixed_ctr_ctrl_usr(n) : 0) |
           (c->plain || c->interrupt ? ia32_fixed_ctr_ctrl_pmi(n) : 0) |
           (!c->plain && adaptive ? ia32_fixed_ctr_ctrl_adaptive(n) : 0);
}

static void set_counters(struct play_machine *m)
{
    const bool adaptive = m->settings.groups && m->settings.preset->baseline;
    uint64_t fixed = 0;
    for (unsigned i = 0; i < PLAY_COUNTERS_MAX; i++) {
        const struct play_counter *c = &m->settings.counter[i];
        const unsigned number = play_counter_number(i);
        if (!c->used)
            continue;
        m->initial[number] = (0 - (uint64_t)c->period) & m->model.counter_mask;
        set(m, play_counter_msr(number), number < DS_COUNTER_FIXED ? (uint32_t)m->initial[number] : m->initial[number]);
        if (number < DS_COUNTER_FIXED)
            set_event(m, i,
                      IA32_PERFEVTSEL_EN | (c->user ? IA32_PERFEVTSEL_USR : 0) | (c->kernel ? IA32_PERFEVTSEL_OS : 0) |
                          (c->plain || c->interrupt ? IA32_PERFEVTSEL_INT : 0) |
                          (!c->plain && adaptive ? IA32_PERFEVTSEL_ADAPTIVE : 0));
        else
            fixed |= fixed_control(c, number - DS_COUNTER_FIXED, adaptive);
    }
    if (fixed)
        set(m, IA32_FIXED_CTR_CTRL, fixed);
}

static uint64_t counters(const struct play_settings *s, bool pebs)
{
    uint64_t set = 0;
    for (unsigned i = 0; i < PLAY_COUNTERS_MAX; i++)
        if (s->counter[i].used && !(pebs && s->counter[i].plain))
            set |= DS_BIT(play_counter_number(i));
    return set;
}

/* Architectural PEBS: what a record holds, and what its counter is reloaded with, for each by itself. Whoever is not
 * recorded is still shown in others' records. */
static void set_contents(struct play_machine *m)
{
    const struct play_settings *s = &m->settings;
    const uint64_t groups = play_cfg_c_groups(s), pebs = counters(s, true);
    for (unsigned i = 0; i < PLAY_COUNTERS_MAX; i++) {
        const unsigned c = play_counter_number(i);
        const uint64_t reload = (0 - (uint64_t)s->counter[i].period) & IA32_PMC_CFG_C_RELOAD;
        if (pebs & DS_BIT(c))
            set(m, play_cfg_c_msr(c), IA32_PMC_CFG_C_EN | groups | reload);
        else if (s->counter[i].used && groups & IA32_PMC_CFG_C_CNTR_ALLOW)
            set(m, play_cfg_c_msr(c), IA32_PMC_CFG_C_CNTR_ALLOW);
    }
}

/* Position 0, the threshold, and on. */
static uint64_t first_index(const struct play_settings *s)
{
    const uint32_t bytes = 4096u << s->size, threshold = s->threshold * play_record_bytes(s);
    return ia32_pebs_index(0, s->threshold ? threshold : 2 * bytes) | IA32_PEBS_INDEX_EN;
}

void play_set_up(struct play_machine *m)
{
    const struct play_settings *s = &m->settings;
    const bool arch = play_arch(s->preset);
    const bool lbr = (arch || s->preset->baseline) && s->groups & MSR_PEBS_DATA_CFG_LBR;
    /* 1. everything off */
    set(m, IA32_PERF_GLOBAL_CTRL, 0);
    set(m, arch ? IA32_PEBS_INDEX : IA32_PEBS_ENABLE, 0);
    /* 2, 3. the DS area, and where it is; with architectural PEBS that is BTS' alone */
    fill_area(m);
    if (!arch || s->bts)
        set(m, IA32_DS_AREA, PLAY_AREA);
    if (arch)
        set(m, IA32_PEBS_BASE, PLAY_PEBS_PHYSICAL | s->size);
    /* 4. LVTPC */
    ds_model_lvtpc_write(&m->model, PLAY_VECTOR | (s->masked ? LVTPC_MASKED : 0));
    /* 5. what a record holds */
    if (s->preset->baseline)
        set(m, MSR_PEBS_DATA_CFG, data_cfg(s));
    if (arch)
        set_contents(m);
    if (lbr && s->preset->arch_lbr)
        set(m, IA32_LBR_CTL, IA32_LBR_CTL_LBREN | IA32_LBR_CTL_OS | IA32_LBR_CTL_USR | IA32_LBR_CTL_BRANCHES);
    /* 6. the counters */
    set_counters(m);
    /* 7, 8. PEBS */
    if (arch)
        set(m, IA32_PEBS_INDEX, first_index(s));
    else
        set(m, IA32_PEBS_ENABLE, counters(s, true));
    m->debugctl = (lbr && !s->preset->arch_lbr ? IA32_DEBUGCTL_LBR : 0) |
                  (s->bts ? IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS : 0) | (s->bts && s->btint ? IA32_DEBUGCTL_BTINT : 0) |
                  (s->bts && s->bts_off == 1 ? IA32_DEBUGCTL_BTS_OFF_OS : 0) |
                  (s->bts && s->bts_off == 2 ? IA32_DEBUGCTL_BTS_OFF_USR : 0) |
                  (s->freeze & 1 ? IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI : 0) |
                  (s->freeze & 2 ? IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI : 0);
    if (m->debugctl && set(m, IA32_DEBUGCTL, m->debugctl))
        m->debugctl = 0;
    /* 9. and on */
    m->ctrl = counters(s, false);
    set(m, IA32_PERF_GLOBAL_CTRL, m->ctrl);
}
