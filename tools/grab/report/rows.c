/* SPDX-License-Identifier: MIT */
#include "tools/grab/report/rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "ds/probe/probe.h"
#include "tools/grab/base/memory.h"
#include "tools/pebs/pebs.h"

#define LEAST 50u /* records that an answer needs */
#define FIRST 64u /* iterations: branches before them may lie before the loop */

__attribute__((format(printf, 3, 4))) static void say(struct grab_answer *a, const char *answer, const char *format,
                                                      ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(a->evidence, sizeof a->evidence, format, args);
    va_end(args);
    snprintf(a->answer, sizeof a->answer, "%s", answer);
}

#define NOT_ASKED(a, ...) say(a, "", __VA_ARGS__)

/* Whether Linux recorded in that setting; else why not. */
static bool was_run(const struct grab_judged *j, enum grab_setting_number n, struct grab_answer *a)
{
    if (!j->taken[n].refused)
        return true;
    NOT_ASKED(a, "%s: %s", grab_settings[n].event, j->taken[n].refused);
    return false;
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

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
    say(a,
        d->usual == period       ? "n"
        : d->usual == period + 1 ? "n_plus_1"
                                 : "other",
        "%zu of %zu are %" PRIu64 " apart, %s", d->usually, d->count, d->usual, counter);
}

static bool enough(struct grab_answer *a, size_t count)
{
    if (count >= LEAST)
        return true;
    NOT_ASKED(a, "only %zu records of the known program", count);
    return false;
}

static void ask_spacing(const struct grab_judged *j, struct grab_answer *a)
{
    if (!was_run(j, GRAB_BRANCHES, a))
        return;
    const struct distances d = measure(j, GRAB_BRANCHES, true);
    if (enough(a, d.count))
        answer_distance(a, &d, GRAB_BRANCHES);
}

/* Of instructions; if these are not exact, of branches, which Linux then counts on counter 0. */
static void ask_pdist_spacing(const struct grab_judged *j, struct grab_answer *a)
{
    if (!was_run(j, GRAB_PRECISE, a))
        return;
    const struct distances d = measure(j, GRAB_PRECISE, false);
    if (!enough(a, d.count))
        return;
    answer_distance(a, &d, GRAB_PRECISE);
    if (strcmp(a->answer, "n_plus_1") || j->taken[GRAB_PRECISE_FIRST].refused)
        return;
    const struct distances first = measure(j, GRAB_PRECISE_FIRST, true);
    if (first.count >= LEAST && first.usual == grab_settings[GRAB_PRECISE_FIRST].period)
        answer_distance(a, &first, GRAB_PRECISE_FIRST);
}

/* The reset value that Linux has put into the DS area for the counter of these records. */
static uint64_t period_of(const struct grab_judged *j, enum grab_setting_number n, uint64_t counters)
{
    struct grab_seen s = grab_seen_first(n);
    struct cairn_pebs_area area = {0};
    const unsigned counter = counters ? (unsigned)__builtin_ctzll(counters) : CAIRN_PEBS_COUNTERS_MOST;
    if (counter >= CAIRN_PEBS_COUNTERS_MOST || !grab_seen_next(j, &s))
        return 0;
    cairn_pebs_area(j->format, s.drain->head.area, sizeof s.drain->head.area, &area);
    return -area.reset[counter] & (DS_BIT(40) - 1);
}

static void ask_pdist_minimum(const struct grab_judged *j, struct grab_answer *a)
{
    struct grab_answer spacing = {0};
    if (!was_run(j, GRAB_SHORT, a))
        return;
    ask_pdist_spacing(j, &spacing);
    const struct distances d = measure(j, GRAB_SHORT, false);
    const uint64_t wanted = grab_settings[GRAB_SHORT].period, got = period_of(j, GRAB_SHORT, d.counters);
    if (strcmp(spacing.answer, "n")) {
        NOT_ASKED(a, "no counter has precise distribution");
    } else if (enough(a, d.count)) {
        if (got && got != wanted)
            NOT_ASKED(a, "Linux makes a period of %" PRIu64 " one of %" PRIu64, wanted, got);
        else
            say(a,
                d.usual == wanted ? "none"
                : d.usual == 128  ? "128"
                                  : "other",
                "%zu of %zu are %" PRIu64 " apart, period %" PRIu64, d.usually, d.count, d.usual, wanted);
    }
}

/* ---- one record by itself ---------------------------------------------------------------------------------------- */

static void ask_record_size(const struct grab_judged *j, struct grab_answer *a)
{
    size_t good = 0, all = 0;
    uint32_t least = UINT32_MAX, most = 0;
    for (unsigned n = 0; n < GRAB_SETTINGS; n++)
        for (struct grab_seen s = grab_seen_first((enum grab_setting_number)n); grab_seen_next(j, &s);) {
            const uint64_t left = s.drain->bytes - (s.next_at - s.size); /* what is no record is at the end */
            const bool ends = grab_record_bytes(j->store, s.drain, j->format, s.next_at) || left == s.size;
            least = s.size < least ? s.size : least;
            most = s.size > most ? s.size : most;
            const bool fills = !cairn_pebs_check(j->format, s.record, s.size);
            good += fills && ends && (j->format >= 4 || s.known); /* those of older ones do not tell their size */
            all++;
        }
    if (enough(a, all))
        say(a, good * 100 >= all * 95 ? "as_told" : "other", "%zu of %zu records, %" PRIu32 " to %" PRIu32 " bytes",
            good, all, least, most);
}

static void ask_groups(const struct grab_judged *j, struct grab_answer *a)
{
    size_t good = 0, all = 0;
    uint32_t seen = 0;
    if (j->format < 4) {
        NOT_ASKED(a, "records of format %u have no groups", j->format);
        return;
    }
    for (unsigned n = 0; n < GRAB_SETTINGS; n++)
        for (struct grab_seen s = grab_seen_first((enum grab_setting_number)n); grab_seen_next(j, &s); all++) {
            uint64_t head;
            memcpy(&head, s.record, sizeof head);
            good += ds_pebs_head_groups(head) == (uint32_t)s.drain->head.data_cfg;
            seen |= ds_pebs_head_groups(head);
        }
    if (enough(a, all))
        say(a, good == all ? "as_asked" : "other", "%zu of %zu heads; bits of all of them %" PRIx32 "H", good, all,
            seen);
}

static void ask_eventing_ip(const struct grab_judged *j, struct grab_answer *a)
{
    size_t yes = 0, next = 0, all = 0; /* next: one that can come after a branch */
    if (j->format < 2) {
        NOT_ASKED(a, "records of format %u have no EventingIP", j->format);
        return;
    }
    if (!was_run(j, GRAB_BRANCHES, a))
        return;
    for (struct grab_seen s = grab_seen_first(GRAB_BRANCHES); grab_seen_next(j, &s);)
        if (s.eventing != GRAB_ELSEWHERE) {
            yes += grab_known_is_branch(s.eventing);
            next += s.eventing == GRAB_K4 || s.eventing == GRAB_K5 || s.eventing == GRAB_F0 || s.eventing == GRAB_K6 ||
                    s.eventing == GRAB_K0;
            all++;
        }
    if (enough(a, all))
        say(a,
            yes == all    ? "yes"
            : next == all ? "next"
                          : "other",
            "%zu of %zu records of branches name a branch", yes, all);
}

static void ask_rip(const struct grab_judged *j, struct grab_answer *a)
{
    size_t next = 0, same = 0, all = 0;
    if (j->format < 2) {
        NOT_ASKED(a, "records of format %u have no EventingIP to compare with", j->format);
        return;
    }
    ask_eventing_ip(j, a);
    if (strcmp(a->answer, "yes")) {
        NOT_ASKED(a, "EventingIP is not the instruction's, so there is nothing to compare");
        return;
    }
    for (unsigned n = 0; n < GRAB_SETTINGS; n++)
        for (struct grab_seen s = grab_seen_first((enum grab_setting_number)n); grab_seen_next(j, &s);) {
            if (!s.known || s.eventing == GRAB_ELSEWHERE)
                continue;
            const enum grab_label label = s.state.next;
            struct grab_state before = s.state;
            next += grab_known_back(&before, grab_settings[n].iterations) == s.eventing;
            same += label == s.eventing;
            all++;
        }
    if (enough(a, all))
        say(a,
            next == all   ? "next"
            : same == all ? "eventing"
                          : "other",
            "%zu of %zu: the instruction after; %zu: itself", next, all, same);
}

static void ask_tsc_order(const struct grab_judged *j, struct grab_answer *a)
{
    size_t back = 0, all = 0;
    if (!ds_pebs_has_tsc(j->format)) {
        NOT_ASKED(a, "records of format %u have no TSC", j->format);
        return;
    }
    for (unsigned n = 0; n < GRAB_SETTINGS; n++) {
        uint64_t last = 0;
        for (struct grab_seen s = grab_seen_first((enum grab_setting_number)n); grab_seen_next(j, &s); all++) {
            back += s.tsc < last;
            last = s.tsc;
        }
    }
    if (enough(a, all))
        say(a, back ? "other" : "rising", "%zu of %zu records are older than the one before", back, all);
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
static void ask_bystander(const struct grab_judged *j, struct grab_answer *a)
{
    if (j->format < 3) {
        NOT_ASKED(a, "records of format %u do not name their counter", j->format);
        return;
    }
    if (!was_run(j, GRAB_TWO, a))
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
        NOT_ASKED(a, "only %zu records came while the other counter was armed", own + reloaded);
    else
        say(a, own > reloaded ? "by_format" : "swapped", "%zu have a record of their own, %zu were reloaded", own,
            reloaded);
}

/* ---- branch history ---------------------------------------------------------------------------------------------- */

/* Whether the entries are the branches that were taken before the record, the last one first (or, backwards, the last
 * one at the end), up to one that is empty or leads here from elsewhere: Linux empties the history at a switch, and an
 * interrupt ends with a branch. *found: how many. */
static bool match(const struct grab_seen *s, unsigned format, unsigned size, bool backwards, unsigned *found)
{
    const uint64_t iterations = grab_settings[s->setting].iterations;
    struct grab_state at = s->state;
    for (*found = 0; *found < size; ++*found) {
        struct cairn_pebs_branch branch;
        enum grab_label from, to = GRAB_ELSEWHERE;
        if (!cairn_pebs_branch(format, s->record, s->size, backwards ? size - 1 - *found : *found, &branch))
            return false;
        if (grab_known_label(branch.from) == GRAB_ELSEWHERE)
            break;
        do
            from = grab_known_back(&at, iterations);
        while (from != GRAB_ELSEWHERE && !grab_known_taken(from, &at, &to));
        if (from == GRAB_ELSEWHERE || branch.from != grab_known_at[from] || branch.to != grab_known_at[to])
            return false;
    }
    return *found > 0;
}

struct history {
    size_t all, forwards, backwards; /* records; those whose entries are the path */
    unsigned size, most;             /* entries; the most that were the path */
};

static bool look_at_history(const struct grab_judged *j, struct history *h, struct grab_answer *a)
{
    *h = (struct history){0};
    if (j->format < 4) {
        NOT_ASKED(a, "records of format %u have no branch history", j->format);
        return false;
    }
    if (!was_run(j, GRAB_HISTORY, a))
        return false;
    for (struct grab_seen s = grab_seen_first(GRAB_HISTORY); grab_seen_next(j, &s);) {
        struct cairn_pebs_branch branch;
        unsigned size = 0, found[2];
        if (!s.known || s.state.left + FIRST > grab_settings[GRAB_HISTORY].iterations)
            continue;
        while (cairn_pebs_branch(j->format, s.record, s.size, size, &branch))
            size++;
        h->forwards += match(&s, j->format, size, false, &found[0]);
        h->backwards += match(&s, j->format, size, true, &found[1]);
        h->size = size;
        for (unsigned i = 0; i < 2; i++)
            h->most = found[i] > h->most ? found[i] : h->most;
        h->all++;
    }
    return enough(a, h->all);
}

/* Records right after a switch have no history. */
static bool nearly(size_t count, size_t all)
{
    return count * 100 >= all * 95;
}

static void ask_lbr_order(const struct grab_judged *j, struct grab_answer *a)
{
    struct history h;
    if (look_at_history(j, &h, a))
        say(a,
            nearly(h.forwards, h.all)    ? "newest_first"
            : nearly(h.backwards, h.all) ? "oldest_first"
                                         : "other",
            "%zu of %zu are the path, newest first; %zu oldest first", h.forwards, h.all, h.backwards);
}

static void ask_lbr_depth(const struct grab_judged *j, struct grab_answer *a)
{
    struct history h;
    if (look_at_history(j, &h, a))
        say(a, h.size && h.most == h.size ? "all_used" : "other", "%u entries; up to %u of them are the path", h.size,
            h.most);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void ask_bts(const struct grab_judged *j, struct grab_answer *a)
{
    (void)j;
    NOT_ASKED(a, "cairn grab records no branches by BTS");
}

static void ask_later(const struct grab_judged *j, struct grab_answer *a)
{
    (void)j;
    NOT_ASKED(a, "this version of cairn grab has no measurement of it");
}

const struct grab_row grab_rows[GRAB_ROWS] = {
    {"record_size", "as_told", ask_record_size},
    {"groups", "as_asked", ask_groups},
    {"spacing", NULL, ask_spacing},
    {"pdist_spacing", NULL, ask_pdist_spacing},
    {"pdist_minimum", NULL, ask_pdist_minimum},
    {"eventing_ip", NULL, ask_eventing_ip},
    {"rip", NULL, ask_rip},
    {"bystander", NULL, ask_bystander},
    {"lbr_order", "newest_first", ask_lbr_order},
    {"lbr_depth", "all_used", ask_lbr_depth},
    {"tsc_order", "rising", ask_tsc_order},
    {"bts_path", "exact", ask_bts},
    {"skid", "none", ask_later},
    {"residual", NULL, ask_later},
};

const char *grab_row_model(const struct grab_row *row)
{
    for (unsigned i = 0; !row->model && i < DS_PROBE_ROWS; i++)
        if (strcmp(ds_probe_rows[i].name, row->name) == 0)
            return ds_probe_model(&ds_probe_rows[i]);
    return row->model;
}
