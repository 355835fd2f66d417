/* SPDX-License-Identifier: MIT */
/* Reserves the memory of the truth (truth=1): how much, from what the options ask for. */
#include "kernel/truth/truth.h"

#include "arch/arch.h"
#include "ds/machine.h"
#include "ds/truth/truth.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/sessions.h"

#define RECORDS_A_SWITCH 16u /* of PEBS, with short periods and several events */

/* Whether the truth will have more to tell than of switches and PEBS records. */
static bool wants_live_events(void)
{
    static const uint32_t groups[] = {PERF_DISPATCHER, PERF_PRIORITY,    PERF_INTERRUPT, PERF_DPC,
                                      PERF_PROFILE,    PERF_PMC_PROFILE, PERF_SPINLOCK};
    bool any = false;
    for (uint32_t n = 1; n <= TRACE_MAX_SESSIONS; n++)
        for (unsigned g = 0; g < sizeof groups / sizeof groups[0]; g++)
            any |= ksession_get(n) && trace_group_on(&ksession_get(n)->masks, groups[g]);
    return any;
}

/* At most so many records of the truth for a PEBS record; at least 1. */
static uint32_t for_a_record(void)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < kcpu_count; i++) {
        const struct ds_machine *machine = kcpu_table[i]->machine;
        if (!machine || !machine->stepping)
            continue;
        const uint32_t n = ds_truth_records(&kds->caps[i], kds_planned(i));
        most = n > most ? n : most;
    }
    return most;
}

/* Room for the switches that the options ask for and as many PEBS records; with more than one record of the truth for
 * each of those, for 16 a switch, but no more than a quarter of the free memory for that. Where branches, or what lies
 * between switches, are traced, a quarter of the memory that is free besides. */
int ktruth_reserve(void)
{
    const uint64_t free_pages = kmem_pages_available(), a_chunk = KTRUTH_CHUNK / ARCH_PAGE_SIZE;
    const uint32_t records = for_a_record();
    const uint64_t quarter = free_pages / a_chunk / 4;
    uint64_t chunks = 2 * kopt.switches / KTRUTH_CHUNK_RECORDS + 2 * kcpu_count + 16;
    const uint64_t wish = chunks + RECORDS_A_SWITCH * records * kopt.switches / KTRUTH_CHUNK_RECORDS;
    if (records > 1 && chunks < quarter)
        chunks = wish < quarter ? wish : quarter;
    if (kds->beside || wants_live_events())
        chunks += quarter;
    void *pool = chunks * a_chunk <= free_pages ? kmem_pages_alloc_uncleared(chunks * a_chunk) : NULL;
    if (!pool) {
        kprintf("truth: %lu switches need %lu KiB, %lu KiB are free: lower switches= or give the machine more memory\n",
                (unsigned long)kopt.switches, (unsigned long)(chunks * KTRUTH_CHUNK / 1024),
                (unsigned long)(free_pages * ARCH_PAGE_SIZE / 1024));
        return -ENOMEM;
    }
    ktruth_init(pool, (uint32_t)chunks);
    return 0;
}
