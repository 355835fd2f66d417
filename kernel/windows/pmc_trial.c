/* SPDX-License-Identifier: MIT */
/*
 * Tests PMC items, set as in Windows on a running machine. The last session that stays gets counters, unless
 * session.pmc gave it some, and hooks one after another. `cairn check` finds which events carried the items, and that
 * no item ever went back.
 */
#include "kernel/control/session.h"
#include "kernel/lib/string.h"
#include "kernel/pmc/pmc.h"
#include "kernel/restarts/restarts.h"
#include "kernel/sched/threads.h"
#include "kernel/thread.h"
#include "kernel/windows/trial.h"
#include "trace/pmc_sources.h"
#include "trace/wire/activity.h"

static uint32_t last; /* session */

static kntstatus set_list(uint32_t class, uint64_t handle, const uint32_t *element, uint32_t elements)
{
    struct ktrial_list i = {.head = {.information_class = class, .trace_handle = handle}};
    memcpy(i.element, element, elements * sizeof *element);
    return ktrial_set(&i, ktrial_list_bytes(elements));
}

static kntstatus set_counters(const uint32_t *source, uint32_t sources)
{
    return set_list(EVENT_TRACE_PROFILE_COUNTER_LIST_INFORMATION, last, source, sources);
}

static kntstatus set_hooks(const uint32_t *hook, uint32_t hooks)
{
    return set_list(EVENT_TRACE_PROFILE_EVENT_LIST_INFORMATION, last, hook, hooks);
}

/* What the session's events carry. */
static struct trace_pmc carried(uint32_t number)
{
    const struct trace_session *session = ksession_find(number);
    const struct trace_pmc *items = session ? trace_session_config(session)->items : NULL;
    return items ? *items : (struct trace_pmc){0};
}

/* Of either class: loggers that do not run. */
static void try_nobody(struct ktrial *t, uint32_t class, uint32_t element)
{
    const struct trace_pmc before = carried(last);
    for (unsigned n = 0; n < KTRIAL_NOBODIES; n++)
        ktrial_expect(t, "a logger that does not run", set_list(class, ktrial_nobody(n), &element, 1),
                      STATUS_WMI_INSTANCE_NOT_FOUND);
    const struct trace_pmc after = carried(last);
    ktrial_expect(t, "refusals have changed something", (uint64_t)memcmp(&before, &after, sizeof after), 0);
}

static void try_counters(struct ktrial *t)
{
    const struct trace_pmc *counted = kpmc_asked();
    const kntstatus one = carried(1).count ? STATUS_WMI_ALREADY_ENABLED : STATUS_NOT_SUPPORTED;
    static const uint32_t nobodys[] = {TRACE_PMC_TIMER, 1, TRACE_PMC_CAIRN, 0x10000 + TRACE_PMC_INSTRUCTION_RETIRED,
                                       0xFFFFFFFF};
    const uint32_t had = carried(last).count;
    uint32_t source[TRACE_PMC_MAX];
    ktrial_begin(t, "1FH ProfileCounterList");
    try_nobody(t, EVENT_TRACE_PROFILE_COUNTER_LIST_INFORMATION, TRACE_PMC_INSTRUCTION_RETIRED);
    for (unsigned n = 0; n < sizeof nobodys / sizeof nobodys[0]; n++)
        ktrial_expect(t, "a source nobody counts", set_counters(&nobodys[n], 1),
                      had ? STATUS_WMI_ALREADY_ENABLED : STATUS_NOT_SUPPORTED);
    ktrial_expect(t, "it is refused", carried(last).count, had);
    ktrial_expect(t, "session 1, which has some by session.pmc, or cannot",
                  set_list(EVENT_TRACE_PROFILE_COUNTER_LIST_INFORMATION, TRACE_HANDLE_NT_KERNEL_LOGGER, nobodys, 1),
                  one);
    for (uint32_t i = 0; i < counted->count; i++)
        source[i] = counted->source[counted->count - 1 - i];
    if (counted->count && !had) {
        ktrial_expect(t, "counters", set_counters(source, counted->count), STATUS_SUCCESS);
        ktrial_expect(t, "counters again", set_counters(source, 1), STATUS_WMI_ALREADY_ENABLED);
    }
    ktrial_expect(t, "it has them", carried(last).count, counted->count);
    ktrial_end(t);
}

/* Long enough for some of each event: this thread leaves, and is made ready again. */
static void wait(void)
{
    for (unsigned n = 0; n < 4; n++)
        kthread_sleep(3, KWAIT_DELAY_EXECUTION);
}

static void try_hooks(struct ktrial *t)
{
    static const uint32_t good[] = {HOOK_CONTEXTSWAP, HOOK_READY_THREAD, HOOK_SAMPLED_PROFILE, HOOK_INTERRUPT};
    const struct trace_pmc had = carried(last);
    struct perfinfo_groupmask before = {0}, masks;
    uint32_t back[TRACE_PMC_HOOKS_MAX];
    ktrial_begin(t, "1FH ProfileEventList");
    try_nobody(t, EVENT_TRACE_PROFILE_EVENT_LIST_INFORMATION, HOOK_SET_PRIORITY);
    ktrial_expect(t, "masks", (uint64_t)ksession_masks(last, &before), 0);
    masks = before;
    trace_group_add_switches(&masks, false);
    trace_group_add(&masks, PERF_DISPATCHER);
    trace_group_add(&masks, PERF_PROFILE);
    trace_group_add(&masks, PERF_INTERRUPT);
    ktrial_expect(t, "masks with those events", (uint64_t)ksession_change(last, &masks), 0);
    for (uint32_t hooks = 4; hooks != 0; hooks -= 2) { /* all four, then two of them; then they stop */
        ktrial_expect(t, "hooks", set_hooks(good, hooks), STATUS_SUCCESS);
        ktrial_expect(t, "it has them", carried(last).hooks, hooks);
        wait();
    }
    ktrial_expect(t, "no hook", set_hooks(good, 0), STATUS_SUCCESS);
    wait();
    ktrial_expect(t, "it has none", carried(last).hooks, 0);
    for (uint32_t i = 0; i < had.hooks; i++)
        back[i] = had.hook[i];
    ktrial_expect(t, "hooks as before", set_hooks(back, had.hooks), STATUS_SUCCESS);
    ktrial_expect(t, "masks as before", (uint64_t)ksession_change(last, &before), 0);
    ktrial_end(t);
}

void ktrial_items(struct ktrial *t)
{
    /* Session 1 runs. Where sessions are restarted, any other may be stopped meanwhile. */
    for (last = krestart_count ? 1 : TRACE_MAX_SESSIONS; !ksession_get(last) || !ksession_get(last)->running; last--)
        ;
    try_counters(t);
    try_hooks(t);
}
