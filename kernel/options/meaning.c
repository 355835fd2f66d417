/* SPDX-License-Identifier: MIT */
/* What the options mean for the Debug Store and the trace. */
#include "kernel/options/row.h"

#include "ds/ds.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/session.h"

bool kopt_pebs(void)
{
    return kopt.ds != KOPT_DS_OFF && strcmp(kopt.pebs, "none") != 0;
}

/* Intel's name for what can be asked for in session.pmc. */
static const char *event_of(uint16_t source)
{
    switch (source) {
    case TRACE_PMC_INSTRUCTION_RETIRED:
        return "INST_RETIRED.ANY";
    case TRACE_PMC_UNHALTED_CORE_CYCLES:
    case TRACE_PMC_TOTAL_CYCLES:
        return "CPU_CLK_UNHALTED.THREAD";
    case TRACE_PMC_BRANCH_INSTRUCTION_RETIRED:
    case TRACE_PMC_BRANCH_INSTRUCTIONS:
        return "BR_INST_RETIRED.ALL_BRANCHES";
    default:
        return NULL;
    }
}

/* One word of a list; NULL: it is right. */
static const char *add_source(struct trace_pmc *pmc, const char *s, size_t n)
{
    int source = trace_pmc_find(s, n);
    for (uint32_t i = 0; i < pmc->count; i++)
        if (pmc->source[i] == source)
            return "is there twice";
    if (pmc->count == TRACE_PMC_MAX)
        return "is one too many, 4 are the most";
    if (source < 0 || !event_of((uint16_t)source))
        return "must be InstructionRetired, BranchInstructionRetired, BranchInstructions, UnhaltedCoreCycles or "
               "TotalCycles";
    pmc->source[pmc->count++] = (uint16_t)source;
    return NULL;
}

static const char *add_hook(struct trace_pmc *pmc, const char *s, size_t n)
{
    uint64_t hook;
    if (!knumber_parse(s, n, &hook) || hook > UINT16_MAX || !trace_pmc_group((uint16_t)hook))
        return "no hook ID, such as 0x0524, whose events carry items: docs/reference/options.md lists them";
    for (uint32_t i = 0; i < pmc->hooks; i++)
        if (pmc->hook[i] == hook)
            return "is there twice";
    if (pmc->hooks == TRACE_PMC_HOOKS_MAX)
        return "is one too many, 4 are the most";
    pmc->hook[pmc->hooks++] = (uint16_t)hook;
    return NULL;
}

static int add_each(struct trace_pmc *pmc, const char *option, const char *s,
                    const char *(*add)(struct trace_pmc *pmc, const char *s, size_t n), char *error, size_t error_size)
{
    for (;; s++) {
        const char *comma = strchr(s, ',');
        size_t n = comma ? (size_t)(comma - s) : strlen(s);
        const char *why = add(pmc, s, n);
        if (why) {
            snprintf(error, error_size, "option '%s': '%.*s': %s", option, (int)n, s, why);
            return -EINVAL;
        }
        s += n;
        if (!*s)
            return 0;
    }
}

int kopt_pmc(struct trace_pmc *pmc, char *error, size_t error_size)
{
    *pmc = (struct trace_pmc){0};
    if (strcmp(kopt.session_pmc, "none") == 0)
        return 0;
    int e = add_each(pmc, "session.pmc", kopt.session_pmc, add_source, error, error_size);
    return e ? e : add_each(pmc, "session.pmc.hooks", kopt.session_pmc_hooks, add_hook, error, error_size);
}

bool kopt_pebs_atom(void)
{
    return strcmp(kopt.pebs_atom, "same") != 0;
}

void kopt_name_pebs_atom(char *error, size_t error_size)
{
    static const char pebs[] = "option 'pebs'", atom[] = "option 'pebs.atom'";
    const size_t rest = sizeof pebs - 1;
    char line[KOPT_TEXT];
    if (memcmp(error, pebs, rest) != 0)
        return;
    snprintf(line, sizeof line, "%s%s", atom, error + rest);
    snprintf(error, error_size, "%s", line);
}

/* What an option of events says, and what session.pmc adds to it. */
static int add_events(struct ds_config *config, const char *events, char *error, size_t error_size)
{
    struct trace_pmc pmc;
    *config = (struct ds_config){
        .records = kopt.pebs_records, .threshold = kopt.pebs_threshold, .throttle = kopt.ds_throttle};
    int e = ds_parse_events(events, config, error, error_size);
    e = e ? e : kopt_pmc(&pmc, error, error_size);
    for (uint32_t i = 0; !e && config->events && i < pmc.count; i++)
        if ((e = ds_add_counting(config, event_of(pmc.source[i]))))
            snprintf(error, error_size,
                     "option 'session.pmc': with those of pebs= these are more events than any "
                     "processor here has counters (14)");
    return e ? e : ds_parse_groups(kopt.pebs_groups, config, error, error_size);
}

int kopt_ds_config(struct ds_config *config, struct ds_config *atom, uint64_t *later, char *error, size_t error_size)
{
    int e = add_events(config, kopt.pebs, error, error_size);
    e = e ? e : ds_parse_periods(kopt.pebs_later, config->events, later, error, error_size);
    if (e || !kopt_pebs_atom()) {
        *atom = *config;
        return e;
    }
    e = add_events(atom, kopt.pebs_atom, error, error_size);
    if (e)
        kopt_name_pebs_atom(error, error_size);
    return e;
}

bool kopt_wants(uint32_t group)
{
    bool wants = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        wants |= kopt.session[n].on && trace_group_on(&kopt.session[n].masks, group);
    return wants;
}
