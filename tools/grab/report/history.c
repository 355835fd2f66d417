/* SPDX-License-Identifier: MIT */
/* Rows about the branch history of a record. */
#include "tools/grab/report/ask.h"

#include "tools/pebs/pebs.h"

#define FIRST 64u /* iterations: branches before them may lie before the loop */

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
        GRAB_NOT_ASKED(a, "records of format %u have no branch history", j->format);
        return false;
    }
    if (!grab_was_run(j, GRAB_HISTORY, a))
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
    return grab_enough(a, h->all);
}

void grab_ask_lbr_order(const struct grab_judged *j, struct grab_answer *a)
{
    struct history h;
    if (look_at_history(j, &h, a))
        grab_say(a,
                 grab_nearly(h.forwards, h.all)    ? "newest_first"
                 : grab_nearly(h.backwards, h.all) ? "oldest_first"
                                                   : "other",
                 "%zu of %zu are the path, newest first; %zu oldest first", h.forwards, h.all, h.backwards);
}

void grab_ask_lbr_depth(const struct grab_judged *j, struct grab_answer *a)
{
    struct history h;
    if (look_at_history(j, &h, a))
        grab_say(a, h.size && h.most == h.size ? "all_used" : "other", "%u entries; up to %u of them are the path",
                 h.size, h.most);
}
