/* SPDX-License-Identifier: MIT */
/* Rows about what Linux samples without PEBS: by interrupts, and by BTS. */
#include "tools/grab/report/ask.h"

#include <inttypes.h>

/* Where the interrupt of an overflow comes. The sample has the count of that moment: what is beyond a whole number of
 * periods are the instructions in between. Its IP and RCX tell how many of the loop had retired: the same number less
 * those before the loop, as long as Linux counts nothing else. */
void grab_ask_skid(const struct grab_judged *j, struct grab_answer *a)
{
    const struct grab_samples *samples = &j->taken[GRAB_INTERRUPTS].samples;
    const struct grab_setting *s = &grab_settings[GRAB_INTERRUPTS];
    uint64_t least = UINT64_MAX, most = 0, before = 0;
    size_t all = 0, alike = 0;
    if (!grab_was_run(j, GRAB_INTERRUPTS, a))
        return;
    for (size_t i = 0; i < samples->count; i++) {
        const uint64_t ip = samples->items[i].word[0], count = samples->items[i].word[1];
        struct grab_state state;
        if (!grab_known_state(&state, ip, samples->items[i].word[3], s->iterations))
            continue;
        const uint64_t skid = count % s->period, outside = count - grab_known_count(&state, s->iterations, false);
        least = skid < least ? skid : least;
        most = skid > most ? skid : most;
        alike += !all || outside == before;
        before = outside;
        all++;
    }
    if (grab_enough(a, all))
        grab_say(a, most ? "some" : "none",
                 "%zu samples, %" PRIu64 " to %" PRIu64 " instructions; %zu at the IP of the count", all, least, most,
                 alike);
}

/* The branches of the loop, the last one first, against the loop on paper. */
void grab_ask_bts_path(const struct grab_judged *j, struct grab_answer *a)
{
    const struct grab_samples *samples = &j->taken[GRAB_TRACE].samples;
    const uint64_t iterations = grab_settings[GRAB_TRACE].iterations;
    struct grab_state at = {GRAB_K8, 1};
    size_t i = samples->count, good = 0, all = 0;
    if (!grab_was_run(j, GRAB_TRACE, a))
        return;
    if (i < GRAB_LEAST) {
        GRAB_NOT_ASKED(a, "only %zu branches, %" PRIu64 " lost by Linux" GRAB_TOO_FEW, i, samples->lost);
        return;
    }
    while (i && grab_known_label(samples->items[i - 1].word[0]) == GRAB_ELSEWHERE)
        i--;
    for (enum grab_label from, to; (from = grab_known_back(&at, iterations)) != GRAB_ELSEWHERE;) {
        if (!grab_known_taken(from, &at, &to))
            continue;
        const uint64_t *branch = samples->items[i ? i - 1 : 0].word;
        const bool same = i && branch[0] == grab_known_at[from] && branch[1] == grab_known_at[to];
        good += same && good == all;
        all++;
        i -= i != 0;
    }
    grab_say(a, good == all ? "exact" : "other", "%zu of %zu branches of the loop, from its end on; %" PRIu64 " lost",
             good, all, samples->lost);
}
