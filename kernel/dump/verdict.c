/* SPDX-License-Identifier: MIT */
#include "kernel/dump/verdict.h"

#include "ds/ds.h"
#include "kernel/console/report.h"
#include "kernel/cpu.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"

static void report_debug_store(void)
{
    struct ds_counts sum = {0}, c;
    char fault[160];
    for (uint32_t i = 0; i < kcpu_count && kcpu_table[i]->ds; i++) {
        ds_cpu_counts(kcpu_table[i]->ds, &c);
        sum.records += c.records;
        sum.drains += c.drains;
        sum.lost += c.lost;
        sum.lost_unknown |= c.lost_unknown;
        sum.swallowed += c.swallowed;
        sum.late += c.late;
        if (c.restless)
            kreport(KREPORT_FAIL, "ds", "CPU %u: PEBS still writes records though counters are off: please report it",
                    i);
        sum.swallowed_unknown |= c.swallowed_unknown;
        if (c.faults && !sum.faults)
            kds_explain(&c.fault, i, fault, sizeof fault);
        sum.faults += c.faults;
        sum.throttles += c.throttles;
    }
    if (sum.late)
        kprintf("ds: %lu records came after counters had been turned off: none of them is lost\n", sum.late);
    if (sum.swallowed_unknown)
        kprintf("ds: a record of one counter may have swallowed another's sample: how many is unknown\n");
    else if (sum.swallowed)
        kprintf("ds: %lu samples without a record: another counter's record reloaded theirs\n", sum.swallowed);
    if (sum.throttles)
        kprintf("ds: counting stood still %lu times, for a tick each: ds.throttle=%u PMIs within one\n", sum.throttles,
                kds->ds.throttle);
    if (sum.faults)
        kreport(KREPORT_FAIL, "debug store", "%s; %lu times in all: what was recorded cannot be trusted", fault,
                sum.faults);
    else if (kds->pebs_refusal[0])
        kreport(KREPORT_FAIL, "debug store", "%s", kds->pebs_refusal);
    else if (!kds->pebs)
        kreport(KREPORT_SKIP, "debug store", "%s", kopt_pebs() ? kds->reason : "no PEBS, as asked for");
    else if (sum.lost_unknown)
        kreport(KREPORT_PASS, "debug store",
                "%lu records in %lu drains; a buffer was full: how many are lost is unknown", sum.records, sum.drains);
    else
        kreport(KREPORT_PASS, "debug store", "%lu records in %lu drains, %lu lost", sum.records, sum.drains, sum.lost);
}

static void report_session(uint32_t number)
{
    char name[24] = "trace";
    const struct trace_counts sum = ksession_counts(ksession_get(number));
    if (number > 1)
        snprintf(name, sizeof name, "trace, session %u", number);
    bool compact = sum.compact_tried != 0;
    if (sum.events_tried != sum.events_written + sum.events_lost ||
        sum.switches_tried != sum.switches_written + sum.switches_lost)
        kreport(KREPORT_FAIL, name, "the events tried are not those written plus those lost");
    else
        kreport(KREPORT_PASS, name, "%lu switches; lost: %lu of them, %lu events",
                compact ? sum.compact_tried : sum.full_tried, compact ? sum.compact_lost : sum.full_lost,
                sum.events_lost);
}

void kverdict(void)
{
    report_debug_store();
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS; number++)
        if (ksession_get(number))
            report_session(number);
    kphase_run(KPHASE_VERDICT, NULL);
}
