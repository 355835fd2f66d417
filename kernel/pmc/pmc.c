/* SPDX-License-Identifier: MIT */
#include "kernel/pmc/pmc.h"

#include "arch/arch.h"
#include "ds/ds.h"
#include "kernel/control/session.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/string.h"
#include "kernel/pmc/options.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/hybrid.h"
#include "kernel/sessions/sessions.h"
#include "trace/pmc/pmc_names.h"
#include "trace/wire/activity.h"

/* Two of each session: a CPU may still use one when the other is made. */
static struct trace_pmc items[TRACE_MAX_SESSIONS][2];
static struct trace_pmc asked; /* its counters are the kds->ds.counting ones, in this order */

const struct trace_pmc *kpmc_asked(void)
{
    return &asked;
}

_Static_assert(DS_MAX_COUNTING == TRACE_PMC_MAX, "read_counters");
static void read_counters(uint32_t cpu, uint64_t values[TRACE_PMC_MAX])
{
    ds_read_counting(kcpu_table[cpu]->ds, values);
}

/* Which counter counts each source. -ENODEV: none does one. */
static int find_counters(struct trace_pmc *pmc)
{
    for (uint32_t i = 0, n = 0; i < pmc->count; i++) {
        for (n = 0; n < kds->ds.counting && asked.source[n] != pmc->source[i]; n++)
            continue;
        if (n == kds->ds.counting)
            return -ENODEV;
        pmc->counter[i] = (uint8_t)n;
    }
    return 0;
}

/* ---- sessions of the options ------------------------------------------------------------------------------------- */

/* Whether each CPU can count. */
static int check_counters(char *error, size_t error_size)
{
    static const char beside[] = "counts beside PEBS only, which";
    if (!kds->pebs) {
        snprintf(error, error_size, "session.pmc=%s %s is not available: %s", kpmc_options.counters, beside,
                 kds->reason);
        return -ENODEV;
    }
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (!kds_samples(i)) { /* on a hybrid */
            snprintf(error, error_size, "session.pmc=%s %s CPU %u does not have: %s", kpmc_options.counters, beside, i,
                     khybrid.why_not(i));
            return -ENODEV;
        }
    return 0;
}

int ksession_prepare(struct ksession_params *params, bool *automatic, char *error, size_t error_size)
{
    kpmc_parse(&asked, error, error_size); /* kopt_check has found it right */
    int e = asked.count ? check_counters(error, error_size) : 0;
    if (e || !asked.count)
        return e;
    struct trace_pmc *own = &items[params->number - 1][0];
    *own = asked;
    KASSERT(find_counters(own) == 0); /* kopt_add_counting has each counted */
    trace_pmc_read = read_counters;
    if (*automatic && trace_pmc_items(own, HOOK_CONTEXTSWAP)) { /* 0525H has none */
        *automatic = false;
        trace_group_add_switches(&params->masks, false);
    }
    for (uint32_t i = 0; i < own->hooks; i++)
        if (trace_pmc_writes(&params->masks, own->hook[i]))
            params->items = own;
    return 0;
}

/* ---- named ------------------------------------------------------------------------------------------------------- */

#define PMC_NAME 32u /* with its 0; longer than any of trace/pmc/pmc_names.c */

/* What the items of a session's events are. */
static void write_config(struct kcpu *cpu, const struct trace_config *config)
{
    const struct perfinfo_pmc_config head = {.counters = config->items->count};
    uint16_t names[TRACE_PMC_MAX * PMC_NAME];
    uint32_t n = 0;
    for (uint32_t i = 0; i < config->items->count; i++) {
        const char *name = trace_pmc_name(config->items->source[i]);
        do
            names[n++] = (uint16_t)*name;
        while (*name++);
    }
    const struct trace_part parts[] = {{&head, sizeof head}, {names, n * (uint32_t)sizeof *names}};
    trace_hub_event_to(cpu->trace, arch_rdtsc(), 1u << (config->number - 1), NULL, HOOK_PMC_CONFIG,
                       HOOK_VERSION_PMC_CONFIG, parts, 2);
}

/* On CPU 0, once in each life of a session. */
static void name(uint32_t number, enum cairn_session_what what)
{
    static bool named[TRACE_MAX_SESSIONS];
    const struct trace_config *config = trace_session_config(ksession_find(number));
    struct kcpu *cpu = kcpu_this();
    bool *done = &named[number - 1];
    if (cpu->arch.index != 0)
        return;
    if (what == CAIRN_SESSION_STOP) {
        *done = false;
    } else if (!*done && config->items && config->items->count) {
        *done = true;
        write_config(cpu, config);
    }
}

static const struct ksession_row writer = {.after = name};
ROWS_ADD(ksession, writer);

/* ---- set while a session runs ------------------------------------------------------------------------------------ */

struct list {
    const uint32_t *of;
    uint32_t count;
};

/* A copy of what the session has, for a change. */
static struct trace_pmc *copy(const struct trace_config *config)
{
    struct trace_pmc *two = items[config->number - 1], *new = &two[config->items == &two[0]];
    *new = config->items ? *config->items : (struct trace_pmc){0};
    return new;
}

static int choose_counters(struct trace_session *session, void *argument)
{
    const struct list *source = argument;
    const struct trace_config *config = trace_session_config(session);
    if (config->items && config->items->count)
        return -EEXIST;
    struct trace_pmc *new = copy(config);
    new->count = source->count;
    for (uint32_t i = 0; i < source->count; i++) {
        if (source->of[i] > UINT16_MAX)
            return -ENODEV;
        new->source[i] = (uint16_t)source->of[i];
    }
    int e = find_counters(new);
    if (!e)
        trace_pmc_set(session, new);
    return e;
}

static int choose_hooks(struct trace_session *session, void *argument)
{
    const struct list *hook = argument;
    struct trace_pmc *new = copy(trace_session_config(session));
    new->hooks = hook->count;
    for (uint32_t i = 0; i < TRACE_PMC_HOOKS_MAX; i++)
        new->hook[i] = i < hook->count ? (uint16_t)hook->of[i] : 0;
    trace_pmc_set(session, new);
    return 0;
}

int kpmc_set_counters(uint32_t number, const uint32_t *source, uint32_t count)
{
    struct list list = {source, count};
    return ksession_carry(number, choose_counters, &list);
}

int kpmc_set_hooks(uint32_t number, const uint32_t *hook, uint32_t count)
{
    struct list list = {hook, count};
    return ksession_carry(number, choose_hooks, &list);
}
