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

static uint64_t *now(struct qds_counting *c, const struct qds_number *n)
{
    return &c->now->of[n->group][n->event];
}

static uint64_t *then(struct qds_counting *c, const struct qds_number *n)
{
    return &c->then.of[n->group][n->event];
}

/* Events until one that the model must see, that one included. */
static uint64_t remaining(const struct ds_model *m, uint64_t counters)
{
    uint64_t least = FAR_AWAY;
    for (uint64_t set = frozen(m) ? 0 : counters; set; set &= set - 1) {
        unsigned counter = (unsigned)__builtin_ctzll(set);
        uint64_t left = (m->counter_mask + m->scale[counter] - m->value[counter]) / m->scale[counter];
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

/* Executed since. */
static uint64_t instructions_of(struct qds_counting *c)
{
    return c->now->of[QDS_ALL_RINGS][DS_MODEL_REFERENCE] - c->then.of[QDS_ALL_RINGS][DS_MODEL_REFERENCE];
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
    const uint64_t all = c->referring ? instructions_of(c) : 0, ticks = all ? look(c) : 0;
    if (ticks)
        c->rate = all * QDS_RATE_TICKS / ticks > RATE_LEAST ? all * QDS_RATE_TICKS / ticks : RATE_LEAST;
    for (struct qds_number *n = c->number; n < c->number + c->moving; n++) {
        uint64_t added = *now(c, n) - *then(c, n);
        *then(c, n) = *now(c, n);
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
    c->covers = false;
    c->referring = qds_counting_refers(m);
    c->rate = QDS_RATE_TICKS;
    qds_counting_goes_on(c);
    memset(c->early, 0, sizeof c->early);
    for (unsigned g = 0; g < QDS_GROUPS; g++) {
        for (unsigned e = 0; e < events_of(m); e++) {
            uint64_t moved = counters(m, g, e);
            c->now->of[g][e] = c->then.of[g][e] = QDS_DUE - FAR_AWAY;
            if (moved || (c->always && g == QDS_ALL_RINGS && e == DS_MODEL_INSTRUCTION) ||
                (c->referring && g == QDS_ALL_RINGS && e == DS_MODEL_REFERENCE))
                c->number[c->moving++] = (struct qds_number){(uint8_t)g, (uint8_t)e, moved, 0};
            c->covers |= moved && QDS_COVERED_EVENTS >> e & 1;
        }
        c->forced[g] = false;
    }
    c->chosen = true;
}

static void unforce(struct qds_counting *c, enum qds_group group)
{
    uint64_t by = c->forced[group] ? QDS_DUE : 0;
    c->now->of[group][DS_MODEL_INSTRUCTION] -= by;
    c->then.of[group][DS_MODEL_INSTRUCTION] -= by;
    c->forced[group] = false;
}

/* Numbers of instructions reach QDS_DUE before any that blocks do not check can. */
static void say_early(struct qds_counting *c)
{
    uint64_t most[QDS_GROUPS] = {0}, is[QDS_GROUPS];
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        is[g] = QDS_DUE - FAR_AWAY; /* blocks may count instructions for another vCPU alone */
    for (const struct qds_number *n = c->number; n < c->number + c->moving; n++)
        if (n->event == DS_MODEL_INSTRUCTION)
            is[n->group] = *now(c, n);
        else if (QDS_COVERED_EVENTS & ~c->near[n->group] & DS_BIT(n->event) && *now(c, n) > most[n->group])
            most[n->group] = *now(c, n);
    for (unsigned g = 0; g < QDS_GROUPS; g++) {
        c->early[g] = most[g] > is[g] ? most[g] - is[g] : 0;
        c->now->of[g][DS_MODEL_INSTRUCTION] = c->then.of[g][DS_MODEL_INSTRUCTION] = is[g] + c->early[g];
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
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        unforce(c, g);
    for (const struct qds_number *n = c->number; n < c->number + c->moving; n++) {
        uint64_t left = remaining(m, n->counters);
        left = left == FAR_AWAY ? left : left * units(n);
        left = left > n->held ? left - n->held : 0;
        *now(c, n) = *then(c, n) = QDS_DUE - (is_reference(n) && left < FAR_AWAY ? instructions_in(c, left) : left);
    }
    if (c->covers)
        say_early(c);
}

/* Whether it counts what happens in the ring. */
static bool counts_in(const struct qds_number *n, unsigned ring)
{
    return n->group == (ring ? QDS_OTHER_RINGS : QDS_RING_0) || n->group == QDS_ALL_RINGS;
}

bool qds_counting_due(const struct qds_counting *c, unsigned ring, const uint32_t *events, uint64_t mask)
{
    for (const struct qds_number *n = c->number; n < c->number + c->moving; n++) {
        uint64_t added = 0;
        if (n->event == DS_MODEL_INSTRUCTION)
            added = c->early[n->group] + (c->forced[n->group] ? QDS_DUE : 0);
        if (counts_in(n, ring) && mask >> n->event & 1 && events[n->event] &&
            c->now->of[n->group][n->event] - added + events[n->event] >= QDS_DUE)
            return true;
    }
    return false;
}

static void force_group(struct qds_counting *c, enum qds_group group)
{
    if (c->forced[group])
        return;
    c->forced[group] = true;
    c->now->of[group][DS_MODEL_INSTRUCTION] += QDS_DUE;
    c->then.of[group][DS_MODEL_INSTRUCTION] += QDS_DUE;
}

void qds_counting_force(struct qds_counting *c, unsigned ring)
{
    force_group(c, ring ? QDS_OTHER_RINGS : QDS_RING_0);
    force_group(c, QDS_ALL_RINGS);
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
