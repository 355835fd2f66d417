/* SPDX-License-Identifier: MIT */
/* Plans what one CPU does, from the configuration and the abilities of its processor: which counter counts which event,
 * with which start value, and how large the buffer is. It touches no register; ds/driver/driver.c programs the plan. */
#include "ds/driver/mechanism.h"

#include "arch/arch.h"
#include "ds/driver/events.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

size_t ds_cpu_bytes(void)
{
    size_t most = ds_store.cpu_bytes;
    const struct ds_mechanism *const *row;
    for (ROWS_EACH(ds_mechanism, row))
        most = (*row)->cpu_bytes > most ? (*row)->cpu_bytes : most;
    return most;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

uint64_t ds_data_cfg(const struct ds_caps *caps, const struct ds_config *config)
{
    uint64_t cfg = config->groups;
    if (cfg & MSR_PEBS_DATA_CFG_CNTR)
        cfg |= msr_pebs_data_cfg_counters((uint32_t)(DS_BIT(caps->gp_counters) - 1) & 0xFFFF,
                                          (uint32_t)(DS_BIT(caps->fixed_counters) - 1) & 0xFF);
    return cfg;
}

uint64_t ds_groups(const struct ds_caps *caps, const struct ds_config *config)
{
    return ds_mechanism_of(caps->format)->groups(caps, config);
}

uint32_t ds_record_size(const struct ds_caps *caps, const struct ds_config *config)
{
    return ds_mechanism_of(caps->format)->record_size(caps, config);
}

void ds_fit_config(const struct ds_caps *caps, struct ds_config *config)
{
    if (!caps->adaptive)
        config->groups = 0; /* one layout, nothing to choose: registers are in it, or there are none */
    uint32_t page = ARCH_PAGE_SIZE / ds_record_size(caps, config) - 1; /* records, and the slack record */
    if (caps->errata.one_page_buffer && config->records > page) {
        config->threshold = config->threshold * page / config->records;
        config->threshold += !config->threshold;
        config->records = page;
    }
}

size_t ds_buffer_bytes(const struct ds_caps *caps, const struct ds_config *config)
{
    struct ds_config fitted = *config;
    ds_fit_config(caps, &fitted);
    return ds_mechanism_of(caps->format)->buffer_bytes(((size_t)fitted.records + 1) * ds_record_size(caps, &fitted));
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

static unsigned width_of(const struct ds_caps *caps, unsigned counter)
{
    return ds_is_fixed(counter) ? caps->fixed_width : caps->gp_width;
}

uint32_t ds_counter_msr(const struct ds_caps *caps, unsigned counter)
{
    if (ds_is_fixed(counter))
        return IA32_FIXED_CTR0 + (counter - DS_COUNTER_FIXED);
    return (caps->full_width_writes ? IA32_A_PMC0 : IA32_PMC0) + counter;
}

uint64_t ds_initial(const struct ds_caps *caps, unsigned counter, uint64_t period)
{
    return -period & (DS_BIT(width_of(caps, counter)) - 1);
}

int ds_check_period(const struct ds_caps *caps, const struct ds_event *event, unsigned counter, uint64_t period,
                    const char *option, char *error, size_t size)
{
    const bool pdist = event->kind == DS_EVENT_PREC_DIST;
    const unsigned least = pdist && caps->errata.period_128 ? 128 : caps->errata.period_32 ? 32 : 1;
    const bool short_reload = ds_mechanism_of(caps->format)->reload_32 && !event->plain;
    const bool full = !short_reload && (caps->full_width_writes || ds_is_fixed(counter)); /* fixed: the whole width */
    const unsigned bits = full ? width_of(caps, counter) - 1 : 31;
    if (pdist && caps->errata.period_64 && (period < 128 || period % 64)) {
        snprintf(error, size, "option '%s': period %lu of %s: must be a multiple of 64, from 128 on, on a Broadwell",
                 option, (unsigned long)period, event->name);
        return -EINVAL;
    }
    if (period >= least && period <= DS_BIT(bits))
        return 0;
    snprintf(error, size, "option '%s': period %lu of %s: must be from %u to 2^%u on this processor", option,
             (unsigned long)period, event->name, least, bits);
    return -EINVAL;
}

/* The counter for an event among `free`: a fixed one, else the lowest GP counter. -1: none. */
static int choose(uint64_t free)
{
    uint64_t fixed = free & ~(DS_BIT(DS_COUNTER_FIXED) - 1);
    return free ? __builtin_ctzll(fixed ? fixed : free) : -1;
}

/* The counters that PEBS can record this event on. */
static uint64_t recorders(const struct ds_caps *caps, const struct ds_event *event)
{
    const bool pdist = event->kind == DS_EVENT_PREC_DIST && caps->instead; /* which tells of them */
    return ds_event_counters(caps, event) & caps->pebs_counters & (pdist ? caps->pdist_counters : UINT64_MAX);
}

/* Whether this processor counts the event at all, and as asked. */
static int plan_event(struct ds_cpu *ds, struct ds_counter *c, char *error, size_t size)
{
    if (&ds_events && ds_events.check(ds, c->event, error, size))
        return -EINVAL;
    ds_event_code(&ds->caps, c->event, &c->code);
    if (!c->event->plain && !ds_event_recorded(&ds->caps, c->event)) {
        snprintf(error, size, "option 'pebs': %s: PEBS cannot record it on this processor: ask for it with :plain",
                 c->event->name);
        return -EINVAL;
    }
    /* Precise distribution is fixed counter 0's from Ice Lake on, which has no PEBS for a guest of KVM's. */
    if (!c->event->plain && !recorders(&ds->caps, c->event)) {
        snprintf(error, size,
                 "option 'pebs': %s: no counter that can count it has PEBS here (CPU %u): give another event",
                 c->event->name, ds->cpu);
        return -EINVAL;
    }
    return 0;
}

static int plan_counters(struct ds_cpu *ds, char *error, size_t size)
{
    const struct ds_caps *caps = &ds->caps;
    uint64_t all = (DS_BIT(caps->gp_counters) - 1) | (DS_BIT(caps->fixed_counters) - 1) << DS_COUNTER_FIXED;
    const char *why = "";
    uint64_t taken = (caps->errata.pmc3_taken ? DS_BIT(3) : 0) | (&ds_events ? ds_events.reserved(ds, &why) : 0);
    ds->counters = ds->config.events + ds->config.counting;
    /* Those first for which fewest counters will do: bound to one, then PEBS, then the others. */
    for (int pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < ds->config.events + ds->config.counting; i++) {
            const struct ds_event *event = &ds->config.event[i];
            const uint64_t can = ds_event_counters(caps, event);
            const bool plain = event->plain, counts = i >= ds->config.events;
            if (pass != (plain ? 2 : can & (can - 1) ? 1 : 0))
                continue;
            struct ds_counter *c = &ds->counter[i];
            c->event = event;
            int e = plan_event(ds, c, error, size);
            if (e)
                return e;
            int n = choose((plain ? all & can : recorders(caps, event)) & ~taken);
            if (n < 0) {
                snprintf(error, size, "option '%s': no %scounter left for %s%s: give fewer events",
                         counts ? "session.pmc" : "pebs", plain ? "" : "PEBS ", event->name, why);
                return -EINVAL;
            }
            if (!counts && (e = ds_check_period(caps, event, (unsigned)n, event->period, "pebs", error, size)))
                return e;
            c->number = (uint8_t)n;
            c->initial = ds_initial(caps, (unsigned)n, event->period);
            if (&ds_events && ds_events.plan(ds, c, error, size))
                return -EINVAL;
            taken |= DS_BIT(n);
            ds->global_ctrl |= DS_BIT(n);
            ds->pebs_enable |= plain ? 0 : DS_BIT(n);
        }
    return 0;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* Groups this processor's records do not have. */
static int plan_groups(const struct ds_cpu *ds, char *error, size_t size)
{
    if (ds->config.groups & MSR_PEBS_DATA_CFG_LBR && ds->caps.adaptive && !ds->caps.history) {
        snprintf(error, size, "option 'pebs.groups': lbr: this %s (CPU %u) has no branch history",
                 ds->caps.lbr == DS_LBR_LEFT_OUT ? "kernel" : "processor", ds->cpu);
        return -EINVAL;
    }
    return ds->mechanism->plan_groups(ds, error, size);
}

int ds_cpu_init(struct ds_cpu *ds, uint32_t cpu, const struct ds_machine *machine, const struct ds_caps *caps,
                const struct ds_config *config, const struct ds_hooks *hooks, void *area, void *buffer, char *error,
                size_t error_size)
{
    const struct ds_mechanism *m = ds_mechanism_of(caps->format);
    memset(ds, 0, m->cpu_bytes);
    ds->mechanism = m;
    ds->cpu = cpu;
    ds->machine = machine;
    ds->caps = *caps;
    ds->config = *config;
    ds->hooks = *hooks;
    ds->area = area;
    ds->buffer = buffer;
    if (!config->events)
        return 0; /* no PEBS */
    if (!caps->pebs) {
        snprintf(error, error_size, "cpu %u: %s", cpu, caps->reason);
        return -EINVAL;
    }
    if (!config->records || !config->threshold || config->threshold > config->records) {
        snprintf(error, error_size, "option 'pebs.threshold=%u': must be from 1 to pebs.records=%u", config->threshold,
                 config->records);
        return -EINVAL;
    }
    if (plan_groups(ds, error, error_size))
        return -EINVAL;
    ds_fit_config(caps, &ds->config);
    ds->record_bytes = ds_record_size(caps, &ds->config);
    int e = plan_counters(ds, error, error_size);
    return !e && m->plan ? m->plan(ds, error, error_size) : e;
}

unsigned ds_event_counter(const struct ds_cpu *ds, uint32_t i)
{
    return ds->counter[i].number;
}
