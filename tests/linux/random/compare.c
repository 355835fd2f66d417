/* SPDX-License-Identifier: MIT */
#include "tests/linux/random/perf.h"

#include <stdio.h>

static char said[300];

#define KERNEL(address) ((int64_t)(address) < 0)

/* ---- counters ---------------------------------------------------------------------------------------------------- */

bool random_causes(const struct random_step *s, enum random_event event)
{
    if (!s->retired)
        return false;
    switch (event) {
    case RANDOM_EVENT_INSTRUCTIONS:
    case RANDOM_EVENT_CYCLES: /* by convention */
        return true;
    case RANDOM_EVENT_BRANCHES:
        return s->kind >= RANDOM_JCC && s->kind <= RANDOM_INT4;
    case RANDOM_EVENT_CONDITIONAL:
        return s->kind == RANDOM_JCC || s->kind == RANDOM_LOOP;
    case RANDOM_EVENT_CALLS:
        return s->kind == RANDOM_CALL;
    case RANDOM_EVENT_RETURNS:
        return s->kind == RANDOM_RETURN;
    case RANDOM_EVENT_TAKEN:
        return s->taken && s->kind != RANDOM_FAR;
    case RANDOM_EVENT_FAR:
        return s->kind >= RANDOM_FAR && s->kind <= RANDOM_INT4;
    default:
        return false;
    }
}

const char *random_compare_counts(const struct random_trace *t, const enum random_event *events, unsigned n,
                                  const struct random_told *told)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t expected = 0;
        if (events[i] == RANDOM_EVENT_PAGE_FAULTS)
            continue; /* stepping does not see them all */
        for (unsigned k = 0; k < t->count; k++)
            expected += random_causes(&t->steps[k], events[i]);
        if (told->count[i] != expected) {
            snprintf(said, sizeof said, "%llu %s were counted, not %llu", (unsigned long long)told->count[i],
                     random_event_names[events[i]], (unsigned long long)expected);
            return said;
        }
    }
    return NULL;
}

/* ---- BTS --------------------------------------------------------------------------------------------------------- */

/* A record that stepping foretells: any but page faults, most of which only the kernel sees, and interrupts. */
static bool foretold(const struct random_step *s)
{
    return s->taken || (s->entry && s->entry != RANDOM_ENTRY_PAGE_FAULT);
}

static bool is_foretold(const struct random_machine *m, const struct random_record *r)
{
    if (!KERNEL(r->to))
        return true;
    for (unsigned i = 1; i < RANDOM_ENTRIES; i++)
        if (i != RANDOM_ENTRY_PAGE_FAULT && m->entry[i] == r->to)
            return true;
    return false;
}

static const char *differs(unsigned number, const struct random_record *r, const char *what, uint64_t from, uint64_t to)
{
    snprintf(said, sizeof said, "BTS record %u: %llx -> %llx (%llx), but %s %llx -> %llx", number,
             (unsigned long long)r->from, (unsigned long long)r->to, (unsigned long long)r->flags, what,
             (unsigned long long)from, (unsigned long long)to);
    return said;
}

/* Steps are passed: none of them may have wanted a record of a page fault, unless it has been seen. */
static bool passes(const struct random_trace *t, unsigned from, unsigned to, unsigned seen, unsigned *at)
{
    for (unsigned i = from; i < to; i++)
        if (t->steps[i].entry == RANDOM_ENTRY_PAGE_FAULT && i != seen) {
            *at = i;
            snprintf(said, sizeof said, "no BTS record of the page fault at %llx", (unsigned long long)t->steps[i].rip);
            return false;
        }
    return true;
}

/* Where the comparison begins: at the start, or in a ring where its first record is. */
static unsigned begin(const struct random_machine *m, const struct random_trace *t, const struct random_told *told)
{
    unsigned n = 0, i = t->count;
    for (unsigned k = 0; k < told->records; k++)
        n += is_foretold(m, &told->record[k]);
    for (; i > 0 && n; i--)
        n -= foretold(&t->steps[i - 1]);
    while (i > 0 && !foretold(&t->steps[i - 1]))
        i--;
    return i;
}

const char *random_compare_bts(const struct random_machine *m, const struct random_trace *t,
                               const struct random_told *told, bool ring, uint64_t page_faults, unsigned *at)
{
    unsigned now = ring ? begin(m, t, told) : 0, seen = t->count, faults = 0;
    for (unsigned k = 0; k < told->records; k++) {
        const struct random_record *r = &told->record[k];
        unsigned next = now;
        while (next < t->count && !foretold(&t->steps[next]))
            next++;
        *at = next < t->count ? next : t->count - 1;
        if (KERNEL(r->from))
            return differs(k, r, "it is of ring 0; next is", t->steps[*at].rip, t->steps[*at].after.rip);
        if (r->flags)
            return differs(k, r, "no prediction is known; next is", t->steps[*at].rip, t->steps[*at].after.rip);
        if (is_foretold(m, r)) {
            const struct random_step *s = &t->steps[*at];
            const uint64_t to = s->taken ? s->after.rip : m->entry[s->entry];
            if (next == t->count || r->from != s->rip || r->to != to)
                return differs(k, r, next == t->count ? "there is no more after" : "next is", s->rip, to);
            if ((!ring || k) && !passes(t, now, next, seen, at))
                return said;
            now = next + 1;
            continue;
        }
        unsigned where = now;
        while (where < t->count && where <= next && t->steps[where].rip != r->from)
            where++;
        if (where == t->count || where > next)
            return differs(k, r, "no interrupt can be there before", t->steps[*at].rip, t->steps[*at].after.rip);
        if ((!ring || k) && !passes(t, now, where, seen, at))
            return said;
        now = where;
        if (r->to == m->entry[RANDOM_ENTRY_PAGE_FAULT]) {
            seen = where;
            faults++;
        }
    }
    for (*at = now; *at < t->count; ++*at)
        if (foretold(&t->steps[*at])) {
            snprintf(said, sizeof said, "no BTS record after number %u, but there is a branch at %llx", told->records,
                     (unsigned long long)t->steps[*at].rip);
            return said;
        }
    *at = t->count - 1;
    if (!ring && faults != page_faults) {
        snprintf(said, sizeof said, "BTS has %u page faults, the kernel %llu", faults, (unsigned long long)page_faults);
        return said;
    }
    return NULL;
}
