/* SPDX-License-Identifier: MIT */
/* Rows about times in records. */
#include "tools/grab/report/ask.h"

#include <inttypes.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/pebs/pebs.h"

#define NEAR 12u /* core cycles: the second cache of every processor takes longer */

/* Each load of the loop finds its data in the first cache, or in a store right before it. */
void grab_ask_latency(const struct grab_judged *j, struct grab_answer *a)
{
    uint64_t least = UINT64_MAX, most = 0, latency;
    size_t near = 0, all = 0;
    if (!j->format) {
        GRAB_NOT_ASKED(a, "records of format 0 have no latency");
        return;
    }
    if (!grab_was_run(j, GRAB_LOADS, a))
        return;
    for (struct grab_seen s = grab_seen_first(GRAB_LOADS); grab_seen_next(j, &s);) {
        if (!s.known || !cairn_pebs_get(j->format, s.record, s.size, CAIRN_PEBS_LATENCY, &latency))
            continue;
        latency &= 0xFFFF; /* above it adaptive records have what the cache took */
        near += latency < NEAR;
        least = latency < least ? latency : least;
        most = latency > most ? latency : most;
        all++;
    }
    if (!all)
        GRAB_NOT_ASKED(a, "no load of the known program has a latency: an emulator needs a model of the memory for it "
                          "(qemu-ds: --plugin memory=model)");
    else if (all < GRAB_LEAST)
        GRAB_NOT_ASKED(a, "only %zu loads of the known program have a latency" GRAB_TOO_FEW, all);
    else
        grab_say(a, grab_nearly(near, all) ? "l1" : "other",
                 "%zu of %zu loads below %u cycles, %" PRIu64 " to %" PRIu64, near, all, NEAR, least, most);
}

/* False: it has none. Redwood Cove has none of FIXED_CTR0: Linux' arch/x86/events/intel/core.c keeps such events off
 * it. */
static bool retire_latency(const struct grab_judged *j, const struct grab_seen *s, uint64_t *latency)
{
    uint64_t word = 0;
    if (s->counters & DS_BIT(DS_COUNTER_FIXED) && j->generation == DS_GENERATION_REDWOODCOVE)
        return false;
    if (j->format != DS_FORMAT_ARCH) {
        memcpy(&word, s->record, sizeof word);
        *latency = ds_pebs_head_latency(word);
        return true;
    }
    cairn_pebs_get(j->format, s->record, s->size, CAIRN_PEBS_RETIRE, &word);
    *latency = word & DS_ARCH_RETIRE_LATENCY;
    return word & DS_ARCH_RETIRE_VALID;
}

/* The retire latency is the cycles since the retirement before. So those of instructions taken evenly, times their
 * number, are the cycles of the loop. */
void grab_ask_retire_latency(const struct grab_judged *j, struct grab_answer *a)
{
    const struct grab_setting *setting = &grab_settings[GRAB_PRECISE];
    const struct grab_state end = {GRAB_K8, 1};
    const uint64_t cycles = j->taken[GRAB_PRECISE].cycles;
    uint64_t sum = 0, all = 0, latency;
    if (!(j->store->cpu[j->cpu].drains->head.capabilities & IA32_PERF_CAPABILITIES_PEBS_TIMING)) {
        GRAB_NOT_ASKED(a, "records of this processor have no retire latency");
        return;
    }
    if (!grab_was_run(j, GRAB_PRECISE, a))
        return;
    for (struct grab_seen s = grab_seen_first(GRAB_PRECISE); grab_seen_next(j, &s);) {
        if (!s.known || !retire_latency(j, &s, &latency))
            continue;
        sum += latency;
        all++;
    }
    if (!grab_enough(a, all))
        return;
    const uint64_t instructions = grab_known_count(&end, setting->iterations, false) + 1;
    const uint64_t times = sum * instructions / all;
    if (cycles)
        grab_say(a, times < cycles * 5 / 4 && times > cycles * 3 / 4 ? "sums_up" : "other",
                 "%" PRIu64 " latencies, %" PRIu64 " cycles for the loop; it took %" PRIu64, all, times, cycles);
    else
        GRAB_NOT_ASKED(a, "Linux could not count cycles beside the records");
}
