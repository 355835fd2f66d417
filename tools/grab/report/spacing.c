/* SPDX-License-Identifier: MIT */
/* Rows about the distance of one record to the next. */
#include "tools/grab/report/ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/grab/base/memory.h"
#include "tools/pebs/pebs.h"

struct distances {
    uint64_t *item;
    size_t count, room;
    uint64_t usual; /* the most frequent */
    size_t usually;
    uint64_t counters; /* of all records */
};

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of one record of the setting to the next, in branches or instructions. */
static struct distances measure(const struct grab_judged *j, enum grab_setting_number n, bool branches)
{
    struct distances d = {0};
    uint64_t last = 0;
    bool any = false;
    for (struct grab_seen s = grab_seen_first(n); grab_seen_next(j, &s);) {
        any &= s.joined;
        if (!s.known)
            continue;
        const uint64_t now = grab_seen_count(&s, branches);
        if (any && now > last) {
            uint64_t *distance = GRAB_ADD(d.item, d.count, d.room);
            *distance = now - last;
        }
        last = now;
        any = true;
        d.counters |= s.counters;
    }
    if (d.count)
        qsort(d.item, d.count, sizeof *d.item, by_value);
    for (size_t i = 0, from = 0; i < d.count; i++) {
        from = d.item[i] == d.item[from] ? from : i;
        if (i - from + 1 > d.usually) {
            d.usually = i - from + 1;
            d.usual = d.item[i];
        }
    }
    free(d.item);
    d.item = NULL;
    return d;
}

/* "PMC2" of counters that are one. */
static void name_counter(char name[24], uint64_t counters)
{
    const unsigned n = counters ? (unsigned)__builtin_ctzll(counters) : 0;
    if (!counters || counters & (counters - 1))
        snprintf(name, 24, "counter unknown");
    else if (n < DS_COUNTER_FIXED)
        snprintf(name, 24, "PMC%u", n);
    else
        snprintf(name, 24, "FIXED_CTR%u", n - DS_COUNTER_FIXED);
}

static void answer_distance(struct grab_answer *a, const struct distances *d, enum grab_setting_number n)
{
    const uint64_t period = grab_settings[n].period;
    char counter[24];
    name_counter(counter, d->counters);
    grab_say(a,
             d->usual == period       ? "n"
             : d->usual == period + 1 ? "n_plus_1"
                                      : "other",
             "%zu of %zu are %" PRIu64 " apart, %s", d->usually, d->count, d->usual, counter);
}

void grab_ask_spacing(const struct grab_judged *j, struct grab_answer *a)
{
    if (!grab_was_run(j, GRAB_BRANCHES, a))
        return;
    const struct distances d = measure(j, GRAB_BRANCHES, true);
    if (grab_enough(a, d.count))
        answer_distance(a, &d, GRAB_BRANCHES);
}

/* Of instructions; if these are not exact, of branches, which Linux then counts on counter 0. */
void grab_ask_pdist_spacing(const struct grab_judged *j, struct grab_answer *a)
{
    if (!grab_was_run(j, GRAB_PRECISE, a))
        return;
    const struct distances d = measure(j, GRAB_PRECISE, false);
    if (!grab_enough(a, d.count))
        return;
    answer_distance(a, &d, GRAB_PRECISE);
    if (strcmp(a->answer, "n_plus_1") || j->taken[GRAB_PRECISE_FIRST].refused)
        return;
    const struct distances first = measure(j, GRAB_PRECISE_FIRST, true);
    if (first.count >= GRAB_LEAST && first.usual == grab_settings[GRAB_PRECISE_FIRST].period)
        answer_distance(a, &first, GRAB_PRECISE_FIRST);
}

/* By the value that Linux has the processor put into the counter of these records: in the DS area, or CFG_C. */
static uint64_t period_of(const struct grab_judged *j, enum grab_setting_number n, uint64_t counters)
{
    struct grab_seen s = grab_seen_first(n);
    struct cairn_pebs_area area = {0};
    struct grab_registers registers;
    const unsigned counter = counters ? (unsigned)__builtin_ctzll(counters) : CAIRN_PEBS_COUNTERS_MOST;
    if (counter >= CAIRN_PEBS_COUNTERS_MOST || !grab_seen_next(j, &s))
        return 0;
    if (j->format == DS_FORMAT_ARCH) {
        memcpy(&registers, s.drain->head.area, sizeof registers);
        return -registers.cfg_c[counter] & IA32_PMC_CFG_C_RELOAD;
    }
    cairn_pebs_area(j->format, s.drain->head.area, sizeof s.drain->head.area, &area);
    return -area.reset[counter] & (DS_BIT(40) - 1);
}

void grab_ask_pdist_minimum(const struct grab_judged *j, struct grab_answer *a)
{
    struct grab_answer spacing = {0};
    if (!grab_was_run(j, GRAB_SHORT, a))
        return;
    grab_ask_pdist_spacing(j, &spacing);
    const struct distances d = measure(j, GRAB_SHORT, false);
    const uint64_t wanted = grab_settings[GRAB_SHORT].period, got = period_of(j, GRAB_SHORT, d.counters);
    if (strcmp(spacing.answer, "n")) {
        GRAB_NOT_ASKED(a, "no counter has precise distribution");
    } else if (grab_enough(a, d.count)) {
        if (got && got != wanted)
            GRAB_NOT_ASKED(a, "Linux makes a period of %" PRIu64 " one of %" PRIu64, wanted, got);
        else
            grab_say(a,
                     d.usual == wanted ? "none"
                     : d.usual == 128  ? "128"
                                       : "other",
                     "%zu of %zu are %" PRIu64 " apart, period %" PRIu64, d.usually, d.count, d.usual, wanted);
    }
}

/* ---- two counters ------------------------------------------------------------------------------------------------ */

/* The counter that counts branches: each record that names it alone is of one, which is so of no other counter. 0:
 * unknown. */
static uint64_t counter_of_branches(const struct grab_judged *j)
{
    uint64_t all = 0, others = 0;
    for (struct grab_seen s = grab_seen_first(GRAB_TWO); grab_seen_next(j, &s);)
        if (s.known && s.eventing != GRAB_ELSEWHERE && !(s.counters & (s.counters - 1))) {
            all |= s.counters;
            others |= grab_known_is_branch(s.eventing) ? 0 : s.counters;
        }
    all &= ~others;
    return all & (all - 1) ? 0 : all;
}

/* A counter of branches that has overflowed is armed up to the next branch. If the other counter has a record in
 * between, its own either follows with that branch, or is missing; that record may name both. */
void grab_ask_bystander(const struct grab_judged *j, struct grab_answer *a)
{
    if (j->format < 3) {
        GRAB_NOT_ASKED(a, "records of format %u do not name their counter", j->format);
        return;
    }
    if (!grab_was_run(j, GRAB_TWO, a))
        return;
    const uint64_t branches = counter_of_branches(j), apart = grab_settings[GRAB_TWO].period + 1;
    size_t own = 0, reloaded = 0;
    uint64_t last = 0;
    bool any = false, armed = false;
    for (struct grab_seen s = grab_seen_first(GRAB_TWO); branches && grab_seen_next(j, &s);) {
        any &= s.joined;
        if (!s.known)
            continue;
        const uint64_t count = grab_seen_count(&s, true);
        if (s.counters & branches && !grab_known_is_branch(s.eventing)) {
            reloaded++;
            last = count;
            armed = false;
        } else if (s.counters & branches) {
            own += any && armed && count == last + apart;
            reloaded += any && armed && count != last + apart;
            last = count;
            any = true;
            armed = false;
        } else if (count == last + apart - 1 && !grab_known_is_branch(s.eventing)) {
            armed = true;
        }
    }
    if (own + reloaded < 10)
        GRAB_NOT_ASKED(a, "only %zu records came while the other counter was armed" GRAB_TOO_FEW, own + reloaded);
    else
        grab_say(a, own > reloaded ? "by_format" : "swapped", "%zu have a record of their own, %zu were reloaded", own,
                 reloaded);
}
