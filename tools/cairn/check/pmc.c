/* SPDX-License-Identifier: MIT */
/*
 * Checks PMC items. Against each other: a session always has the same counters, they only grow, and each event of a CPU
 * has at least the values of the event before. Those of 0524H also against the truth: what a counter gains from one
 * switch of a CPU to the next belongs to the outgoing thread, and the stepper has counted that thread's instructions
 * and branches independently.
 */
#include <inttypes.h>
#include <string.h>

#include "tools/cairn/check/check.h"
#include "tools/cairn/model/pmc_items.h"
#include "tools/cairn/model/switches.h"

static void compare_items(struct cairn_check *check, uint32_t n, const struct cairn_event *e, struct cairn_pmcs *last)
{
    struct cairn_pmcs now;
    cairn_pmcs_of(&now, e);
    check->compared[CAIRN_RULE_PMC]++;
    if (last->count && now.count != last->count)
        cairn_fail(check, CAIRN_RULE_PMC, (int)n, &e->time, "%04" PRIX32 "H event with %u items, after one with %u",
                   e->hook, now.count, last->count);
    for (unsigned i = 0; i < now.count && i < last->count; i++)
        if (now.value[i] < last->value[i])
            cairn_fail(check, CAIRN_RULE_PMC, (int)n, &e->time,
                       "%04" PRIX32 "H event: item %u is %" PRIu64 ", but was %" PRIu64 " before", e->hook, i + 1,
                       now.value[i], last->value[i]);
    *last = now;
}

/* In Windows somebody else may set counters: only this kernel's are known to do nothing but count. */
void cairn_check_items(struct cairn_check *check, uint32_t n)
{
    struct cairn_pmcs last = {0};
    struct cairn_walk walk;
    struct cairn_event e;
    cairn_walk_init(&walk, check->log, n);
    while (check->log->own && check->log->cpu[n].with_items && cairn_walk_next(&walk, &e))
        if (e.counters)
            compare_items(check, n, &e, &last);
}

/* ---- against the truth ------------------------------------------------------------------------------------------- */

enum { INSTRUCTIONS, BRANCHES, NEITHER };

/* What the truth has of a counter. Only the stepper writes such truth, and where it steps, a cycle is an instruction by
 * the model's own rule (ds/model/model.h). */
static unsigned told_of(const char *name)
{
    static const struct {
        const char *name;
        unsigned what;
    } rows[] = {
        {"InstructionRetired", INSTRUCTIONS},   {"UnhaltedCoreCycles", INSTRUCTIONS}, {"TotalCycles", INSTRUCTIONS},
        {"BranchInstructionRetired", BRANCHES}, {"BranchInstructions", BRANCHES},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(name, rows[i].name) == 0)
            return rows[i].what;
    return NEITHER;
}

static void compare(struct cairn_check *check, uint32_t n, const struct cairn_switch *sw,
                    const struct cairn_pmcs *gained, const struct cairn_pmc_names *names,
                    const struct cairn_truth_counts *t)
{
    const uint64_t told[] = {t->instructions, t->branches};
    for (unsigned i = 0; i < gained->count; i++) {
        unsigned what = i < names->count ? told_of(names->name[i]) : NEITHER;
        if (what == NEITHER)
            continue;
        check->compared[CAIRN_RULE_TRUTH_COUNTS]++;
        if (gained->value[i] != told[what])
            cairn_fail(check, CAIRN_RULE_TRUTH_COUNTS, (int)n, &sw->time,
                       "thread %" PRIu32 " has counted %" PRId64 " of %s, in truth %" PRIu64, sw->old_tid,
                       (int64_t)gained->value[i], names->name[i], told[what]);
    }
}

void cairn_check_pmc(struct cairn_check *check, uint32_t n)
{
    const struct cairn_log *log = check->log;
    struct cairn_truth truth;
    struct cairn_pmc_names names;
    struct cairn_pmcs last = {0}, gained;
    struct cairn_cursor cursor;
    struct cairn_switch sw;
    cairn_pmc_names(&names, log);
    if (log->cpu[n].pebs.drains.throttles || !log->cpu[n].with_items)
        return; /* where counting is held, the stepper goes on */
    cairn_truth_init(&truth, log, n);
    cairn_cursor_init(&cursor, log, n, false);
    const uint8_t *record = cairn_truth_next(&truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_SWITCH));
    while (record && cairn_cursor_next(&cursor, &sw)) {
        struct cairn_truth_switch t;
        for (; record; record = cairn_truth_next(&truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_SWITCH))) {
            memcpy(&t, record, sizeof(t));
            if (trace_clock_units(&log->session.clock, t.tsc) >= sw.time)
                break;
        }
        if (!record)
            break;
        bool same = trace_clock_units(&log->session.clock, t.tsc) == sw.time && t.old_tid == sw.old_tid;
        bool known = cairn_pmcs_gained(&gained, &last, &sw);
        const uint8_t *counts = same ? cairn_truth_follows(&truth, CAIRN_TRUTH_COUNTS) : NULL;
        if (counts && known) {
            struct cairn_truth_counts c;
            memcpy(&c, counts, sizeof(c));
            compare(check, n, &sw, &gained, &names, &c);
        }
        if (same)
            record = cairn_truth_next(&truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_SWITCH));
    }
}
