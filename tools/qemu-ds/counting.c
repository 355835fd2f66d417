/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/counting.h"

#include <string.h>

#define FAR_AWAY (UINT64_C(1) << 61) /* nothing counts this event: more than ever happens */

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

void qds_counting_sync(struct qds_counting *c, struct ds_model *m)
{
    for (const struct qds_number *n = c->number; n < c->number + c->moving; n++) {
        uint64_t added = *now(c, n) - *then(c, n);
        *then(c, n) = *now(c, n);
        if (n->group == QDS_ALL_RINGS && n->event == DS_MODEL_INSTRUCTION)
            c->instructions += added;
        if (!added || frozen(m))
            continue;
        for (uint64_t set = n->counters; set; set &= set - 1) {
            uint64_t *value = &m->value[__builtin_ctzll(set)];
            *value = (*value + added) & m->counter_mask;
        }
    }
}

/* Events until one that the model must see, that one included. */
static uint64_t remaining(const struct ds_model *m, uint64_t counters)
{
    uint64_t least = FAR_AWAY;
    for (uint64_t set = frozen(m) ? 0 : counters; set; set &= set - 1) {
        unsigned counter = (unsigned)__builtin_ctzll(set);
        uint64_t left = m->armed & DS_BIT(counter) ? 1 : m->counter_mask + 1 - m->value[counter];
        least = left < least ? left : least;
    }
    return least;
}

/* The model counts something else than before. */
static void choose(struct qds_counting *c, const struct ds_model *m)
{
    memcpy(c->counting, m->counting, sizeof c->counting);
    c->moving = 0;
    for (unsigned g = 0; g < QDS_GROUPS; g++) {
        for (unsigned e = 0; e < DS_MODEL_EVENTS; e++) {
            uint64_t moved = counters(m, g, e);
            c->now->of[g][e] = c->then.of[g][e] = QDS_DUE - FAR_AWAY;
            if (moved || (c->always && g == QDS_ALL_RINGS && e == DS_MODEL_INSTRUCTION))
                c->number[c->moving++] = (struct qds_number){(uint8_t)g, (uint8_t)e, moved};
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

void qds_counting_arm(struct qds_counting *c, const struct ds_model *m)
{
    if (!c->chosen || memcmp(c->counting, m->counting, sizeof c->counting) != 0)
        choose(c, m);
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        unforce(c, g);
    for (const struct qds_number *n = c->number; n < c->number + c->moving; n++)
        *now(c, n) = *then(c, n) = QDS_DUE - remaining(m, n->counters);
}

bool qds_counting_due(const struct qds_counting *c, unsigned ring, const uint16_t events[DS_MODEL_EVENTS])
{
    const uint8_t own = ring ? QDS_OTHER_RINGS : QDS_RING_0;
    for (const struct qds_number *n = c->number; n < c->number + c->moving; n++) {
        uint64_t added = c->forced[n->group] && n->event == DS_MODEL_INSTRUCTION ? QDS_DUE : 0;
        if ((n->group == own || n->group == QDS_ALL_RINGS) && events[n->event] &&
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

unsigned qds_counting_wanted(const struct ds_model *m, enum qds_group group)
{
    unsigned wanted = 0;
    for (unsigned e = 0; e < DS_MODEL_EVENTS; e++)
        wanted |= counters(m, group, e) ? 1u << e : 0;
    return wanted;
}
