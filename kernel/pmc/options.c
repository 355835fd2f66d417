/* SPDX-License-Identifier: MIT */
/* The options of PMC items, and what they mean. */
#include "kernel/pmc/options.h"

#include "ds/ds.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/options/row.h"
#include "kernel/sessions/options.h"
#include "trace/pmc/pmc_names.h"
#include "trace/pmc_sources.h"
#include "trace/sessions/group_names.h"

struct kpmc_options kpmc_options;

static const struct kopt_option counters = {
    .name = "session.pmc",
    .standard = "none",
    .text = "counters whose values are added to events (PMC items): up to 4 of InstructionRetired, "
            "BranchInstructionRetired, BranchInstructions, UnhaltedCoreCycles, TotalCycles, separated by commas",
    .field = kpmc_options.counters,
    .size = sizeof kpmc_options.counters,
    .kind = TEXT,
    .needs = "ds!=off,pebs!=none"};
ROWS_ADD(kopt, counters);

static const struct kopt_option hooks = {
    .name = "session.pmc.hooks",
    .standard = "0x0524",
    .text = "events that carry these values, in every session that writes them: up to 4 of 0x0524 ('full' or 'both'), "
            "0x0529, 0x0530, 0x0531, 0x0532, 0x0F22, 0x0F2E, 0x0F2F, 0x0F43, 0x0F44, 0x0F45, separated by commas",
    .field = kpmc_options.hooks,
    .size = sizeof kpmc_options.hooks,
    .kind = TEXT,
    .needs = "ds!=off,pebs!=none,session.pmc!=none"};
ROWS_ADD(kopt, hooks);

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

int kpmc_parse(struct trace_pmc *pmc, char *error, size_t error_size)
{
    *pmc = (struct trace_pmc){0};
    if (strcmp(kpmc_options.counters, "none") == 0)
        return 0;
    int e = add_each(pmc, "session.pmc", kpmc_options.counters, add_source, error, error_size);
    return e ? e : add_each(pmc, "session.pmc.hooks", kpmc_options.hooks, add_hook, error, error_size);
}

int kopt_add_counting(struct ds_config *config, char *error, size_t error_size)
{
    struct trace_pmc pmc;
    int e = kpmc_parse(&pmc, error, error_size);
    for (uint32_t i = 0; !e && i < pmc.count; i++)
        if ((e = ds_add_counting(config, event_of(pmc.source[i]))))
            snprintf(error, error_size,
                     "option 'session.pmc': with those of pebs= these are more events than any "
                     "processor here has counters (14)");
    return e;
}

/* Whether some session writes events of this hook. `auto` writes 0524H where items are asked for on it. */
static bool is_written(uint16_t hook)
{
    bool written = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        written |= ksession_options[n].on && ((ksession_options[n].automatic && hook == HOOK_CONTEXTSWAP) ||
                                              trace_pmc_writes(&ksession_options[n].masks, hook));
    return written;
}

/* Whether session.pmc and session.pmc.hooks are wrong, or name a hook whose events no session writes. */
static bool idle_items(char *error, size_t error_size)
{
    struct trace_pmc pmc;
    if (kpmc_parse(&pmc, error, error_size))
        return true;
    for (uint32_t i = 0; i < pmc.hooks; i++) {
        struct perfinfo_groupmask group = {0};
        char word[TRACE_GROUPS_TEXT];
        if (is_written(pmc.hook[i]))
            continue;
        trace_group_add(&group, trace_pmc_group(pmc.hook[i]));
        trace_groups_show(&group, word);
        snprintf(error, error_size,
                 "option 'session.pmc.hooks=%s': no session writes %04XH events: give one the group "
                 "'%s'",
                 kpmc_options.hooks, pmc.hook[i], pmc.hook[i] == HOOK_CONTEXTSWAP ? "full' or 'both" : word);
        return true;
    }
    return false;
}
KOPT_CHECK(idle_items);
