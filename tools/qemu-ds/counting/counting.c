/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/counting/counting.h"

#include <string.h>

#define RATE_LEAST 16u                 /* so that looks at the TSC cost little */
#define FAR_AWAY   (UINT64_C(1) << 61) /* nothing counts this event: more than ever happens */

static bool frozen(const struct ds_model *m)
{
    return m->global_status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
}

/* The counters of a group that count the event. */
static uint64_t counters(const struct ds_model *m, enum qds_group group, unsigned event)
{
    const uint64_t ring0 = m->counting[0][event], others = m->counting[1][event];
    switch (group) {
    case QDS_RING_0:
        return ring0 & ~others;
    case QDS_OTHER_RINGS:
        return others & ~ring0;
    default:
        return ring0 & others;
    }
}

/* What blocks have added to a lead since: in all; branches, of which some may have been taken back; instructions. */
static int64_t lead_added(const struct qds_counting *c, unsigned group)
{
    return (int64_t)(c->now->lead[group] - c->then.lead[group]);
}

static int64_t branches_of(int64_t lead)
{
    return (int64_t)((uint64_t)lead << (64 - QDS_LEAD_SHIFT)) >> (64 - QDS_LEAD_SHIFT);
}

static int64_t instructions_of(int64_t lead)
{
    return (lead - branches_of(lead)) >> QDS_LEAD_SHIFT;
}

/* Events that blocks have added since. */
static uint64_t added_to(const struct qds_counting *c, const struct qds_number *n)
{
    if (n->event == DS_MODEL_INSTRUCTION)
        return (uint64_t)instructions_of(lead_added(c, n->group));
    const uint64_t own = c->now->of[n->group][n->event] - c->then.of[n->group][n->event];
    return n->event == DS_MODEL_BRANCH ? own + (uint64_t)branches_of(lead_added(c, n->group)) : own;
}

/* Events until one that the model must see, that one included. */
static uint64_t remaining(const struct ds_model *m, uint64_t counters)
{
    uint64_t least = FAR_AWAY;
    for (uint64_t set = frozen(m) ? 0 : counters; set; set &= set - 1) {
        unsigned counter = (unsigned)__builtin_ctzll(set);
        uint64_t left = m->counter_mask + m->scale[counter] - m->value[counter];
        left = m->scale[counter] == 1 ? left : left / m->scale[counter]; /* a division takes longer than all the rest */
        left = m->armed & m->pebs & DS_BIT(counter) ? 1 : left;
        least = left < least ? left : least;
    }
    return least;
}

static bool is_reference(const struct qds_number *n)
{
    return n->event == DS_MODEL_REFERENCE;
}

/* Whether the number counts amounts, of which one instruction may cause many: ticks, or what a memory system adds. */
static bool is_amount(const struct qds_number *n)
{
    return n->event >= DS_MODEL_AMOUNTS || is_reference(n);
}

void qds_counting_goes_on(struct qds_counting *c)
{
    c->looked = c->tsc ? c->tsc() : 0;
}

/* Ticks since the last look. */
static uint64_t look(struct qds_counting *c)
{
    const uint64_t before = c->looked;
    qds_counting_goes_on(c);
    return c->looked > before ? c->looked - before : 0;
}

/* Of them those of a number that has got `added` instructions of `all`. */
static uint64_t share(uint64_t ticks, uint64_t added, uint64_t all)
{
    return added >= all ? ticks : (uint64_t)((double)ticks * (double)added / (double)all);
}

/* Executed since. What the model has got may have been taken back: that is none. */
static uint64_t executed(const struct qds_counting *c)
{
    const uint64_t added =
        c->now->of[QDS_ALL_RINGS][DS_MODEL_REFERENCE] - c->then.of[QDS_ALL_RINGS][DS_MODEL_REFERENCE];
    return (int64_t)added > 0 ? added : 0;
}

static uint64_t units(const struct qds_number *n)
{
    return n->event == DS_MODEL_CYCLES ? QDS_UNITS_OF_A_CYCLE : 1;
}

/* What of `added` units the counters are moved by: not so far that one overflows. */
static uint64_t release(const struct ds_model *m, struct qds_number *n, uint64_t added)
{
    n->held += added;
    const uint64_t whole = n->held / units(n), most = remaining(m, n->counters) - 1;
    added = whole < most ? whole : most;
    n->held -= added * units(n);
    return added;
}

void qds_counting_sync(struct qds_counting *c, struct ds_model *m)
{
    const uint64_t all = c->referring ? executed(c) : 0, ticks = all ? look(c) : 0;
    if (ticks)
        c->rate = all * QDS_RATE_TICKS / ticks > RATE_LEAST ? all * QDS_RATE_TICKS / ticks : RATE_LEAST;
    for (struct qds_number *n = c->number; n < c->number + c->moving; n++) {
        uint64_t added = added_to(c, n);
        c->then.of[n->group][n->event] = c->now->of[n->group][n->event];
        if (n->group == QDS_ALL_RINGS && n->event == DS_MODEL_INSTRUCTION)
            c->instructions += added;
        if (!(added | n->held) || frozen(m))
            continue;
        if (is_reference(n))
            added = share(ticks, added, all);
        if (is_amount(n))
            added = release(m, n, added);
        for (uint64_t set = n->counters; set; set &= set - 1) {
            const unsigned counter = (unsigned)__builtin_ctzll(set);
            uint64_t *value = &m->value[counter];
            *value = (*value + added * m->scale[counter]) & m->counter_mask;
        }
    }
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        c->then.lead[g] = c->now->lead[g];
}

/* Events that there may be. */
static unsigned events_of(const struct ds_model *m)
{
    return m->preset->memory ? DS_MODEL_EVENTS : DS_MODEL_PLAIN_EVENTS;
}

static bool changed(const struct qds_counting *c, const struct ds_model *m)
{
    const size_t size = events_of(m) * sizeof m->counting[0][0];
    return memcmp(c->counting[0], m->counting[0], size) != 0 || memcmp(c->counting[1], m->counting[1], size) != 0;
}

/* The model counts something else than before. */
static void choose(struct qds_counting *c, const struct ds_model *m)
{
    memcpy(c->counting, m->counting, sizeof c->counting);
    c->moving = 0;
    c->referring = qds_counting_refers(m);
    c->rate = QDS_RATE_TICKS;
    qds_counting_goes_on(c);
    for (unsigned g = 0; g < QDS_GROUPS; g++) {
        for (unsigned e = 0; e < events_of(m); e++) {
            uint64_t moved = counters(m, g, e);
            c->now->of[g][e] = c->then.of[g][e] = QDS_DUE - FAR_AWAY;
            if (moved || (c->always && g == QDS_ALL_RINGS && e == DS_MODEL_INSTRUCTION) ||
                (c->referring && g == QDS_ALL_RINGS && e == DS_MODEL_REFERENCE))
                c->number[c->moving++] = (struct qds_number){(uint8_t)g, (uint8_t)e, moved, 0};
        }
    }
    c->chosen = true;
}

/* Sets the leads: they are due before any event that blocks do not check can be, and before they are full. `left`:
 * instructions until one is due; blocks may count them for another vCPU alone. */
static void lead(struct qds_counting *c, const uint64_t left[QDS_GROUPS], uint64_t least[QDS_GROUPS])
{
    for (unsigned g = 0; g < QDS_GROUPS; g++) {
        if (least[g] > QDS_LEAD_MOST)
            least[g] = QDS_LEAD_MOST;
        c->early[g] = (int64_t)(left[g] - least[g]);
        c->now->lead[g] = c->then.lead[g] = -(least[g] << QDS_LEAD_SHIFT);
        c->forced[g] = false;
    }
}

/* How many instructions may run before it is time to look at the TSC again, `ticks` before the overflow: half of what
 * the latest rate gives, and so none if few ticks are left. */
static uint64_t instructions_in(const struct qds_counting *c, uint64_t ticks)
{
    return (ticks / QDS_RATE_TICKS + 1) / 2 * c->rate + ticks % QDS_RATE_TICKS * c->rate / QDS_RATE_TICKS / 2;
}

void qds_counting_arm(struct qds_counting *c, const struct ds_model *m)
{
    if (!c->chosen || changed(c, m))
        choose(c, m);
    uint64_t instructions[QDS_GROUPS] = {FAR_AWAY, FAR_AWAY, FAR_AWAY}, least[QDS_GROUPS];
    memcpy(least, instructions, sizeof least);
    for (const struct qds_number *n = c->number; n < c->number + c->moving; n++) {
        uint64_t left = remaining(m, n->counters);
        left = left == FAR_AWAY ? left : left * units(n);
        left = left > n->held ? left - n->held : 0;
        if (n->event == DS_MODEL_INSTRUCTION)
            instructions[n->group] = left;
        if ((QDS_COVERED_EVENTS | DS_BIT(DS_MODEL_INSTRUCTION)) & ~c->near[n->group] & DS_BIT(n->event) &&
            left < least[n->group])
            least[n->group] = left;
        left = is_reference(n) && left < FAR_AWAY ? instructions_in(c, left) : left;
        c->now->of[n->group][n->event] = c->then.of[n->group][n->event] = QDS_DUE - left;
    }
    lead(c, instructions, least);
}

/* Whether it counts what happens in the ring. */
static bool counts_in(const struct qds_number *n, unsigned ring)
{
    return n->group == (ring ? QDS_OTHER_RINGS : QDS_RING_0) || n->group == QDS_ALL_RINGS;
}

static uint64_t unforced(const struct qds_counting *c, unsigned group)
{
    return c->now->lead[group] - (c->forced[group] ? c->forced_by[group] : 0);
}

/* Events until one that the model must see, that one included. */
static int64_t left(const struct qds_counting *c, const struct qds_number *n)
{
    const int64_t lead = (int64_t)-unforced(c, n->group);
    if (n->event == DS_MODEL_INSTRUCTION)
        return c->early[n->group] + instructions_of(lead);
    const int64_t own = (int64_t)(QDS_DUE - c->now->of[n->group][n->event]);
    return n->event == DS_MODEL_BRANCH ? own + branches_of(lead) : own;
}

bool qds_counting_due(const struct qds_counting *c, unsigned ring, const uint32_t *events, uint64_t mask)
{
    for (const struct qds_number *n = c->number; n < c->number + c->moving; n++)
        if (counts_in(n, ring) && mask >> n->event & 1 && events[n->event] && events[n->event] >= left(c, n))
            return true;
    return false;
}

uint64_t qds_counting_spare(const struct qds_counting *c, unsigned ring)
{
    int64_t least = FAR_AWAY;
    for (const struct qds_number *n = c->number; n < c->number + c->moving; n++)
        if (counts_in(n, ring) && left(c, n) < least)
            least = left(c, n);
    return least > 0 ? (uint64_t)least - 1 : 0;
}

static void force_group(struct qds_counting *c, enum qds_group group)
{
    if (c->forced[group])
        return;
    c->forced[group] = true;
    c->forced_by[group] = -c->now->lead[group];
    c->now->lead[group] = 0;
    c->then.lead[group] += c->forced_by[group];
}

void qds_counting_force(struct qds_counting *c, unsigned ring)
{
    force_group(c, ring ? QDS_OTHER_RINGS : QDS_RING_0);
    force_group(c, QDS_ALL_RINGS);
}

bool qds_counting_full(const struct qds_counting *c)
{
    bool full = false;
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        full |= c->forced[g] && c->now->lead[g] > QDS_LEAD_DUE / 2;
    return full;
}

uint64_t qds_counting_amounts(struct qds_counting *c, unsigned ring, const struct qds_amounts *amounts, uint64_t mask,
                              uint32_t by[DS_MODEL_COUNTERS])
{
    uint64_t events = 0;
    const uint64_t ticks = c->referring && mask >> DS_MODEL_REFERENCE & 1 ? look(c) : 0;
    for (struct qds_number *n = c->number; n < c->number + c->moving; n++) {
        if (!is_amount(n) || !counts_in(n, ring) || !(mask >> n->event & 1))
            continue;
        n->held += is_reference(n) ? ticks : amounts->of[n->event - DS_MODEL_AMOUNTS];
        const uint64_t whole = n->held / units(n);
        n->held -= whole * units(n);
        events |= whole ? DS_BIT(n->event) : 0;
        for (uint64_t set = n->counters; set; set &= set - 1)
            by[__builtin_ctzll(set)] = (uint32_t)whole;
    }
    return events;
}

void qds_counting_hold(struct qds_counting *c, unsigned ring, const struct qds_amounts *amounts)
{
    for (struct qds_number *n = c->number; n < c->number + c->moving; n++)
        if (is_amount(n) && !is_reference(n) && counts_in(n, ring))
            n->held += amounts->of[n->event - DS_MODEL_AMOUNTS];
}

bool qds_counting_refers(const struct ds_model *m)
{
    return m->counting[0][DS_MODEL_REFERENCE] | m->counting[1][DS_MODEL_REFERENCE];
}

uint64_t qds_counting_wanted(const struct ds_model *m, enum qds_group group)
{
    uint64_t wanted = 0;
    for (unsigned e = 0; e < events_of(m); e++)
        wanted |= counters(m, group, e) ? DS_BIT(e) : 0;
    if (group == QDS_ALL_RINGS && qds_counting_refers(m))
        wanted |= DS_BIT(DS_MODEL_REFERENCE); /* the instructions that each ring has its part of */
    return wanted;
}

uint64_t qds_counting_near(const struct ds_model *m, enum qds_group group)
{
    uint64_t near = 0;
    for (unsigned e = 0; e < DS_MODEL_PLAIN_EVENTS; e++) {
        const uint64_t set = counters(m, group, e);
        if (QDS_COVERED_EVENTS >> e & 1 && (set & m->pebs || remaining(m, set) < QDS_NEAR))
            near |= DS_BIT(e);
    }
    return near;
}
