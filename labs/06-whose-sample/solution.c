/* SPDX-License-Identifier: MIT */
/* Lab 6: a solution. Read it after yours has passed. */
#include "task.h"

/* ---- by index */

struct suspects {
    uint32_t tid; /* the first */
    unsigned count;
};

static void accuse(struct suspects *who, const struct leaving *l)
{
    if (!l->sampled || (who->count && who->tid == l->tid))
        return;
    who->tid = l->tid;
    who->count++;
}

static uint32_t verdict(const struct suspects *who)
{
    return who->count == 0 ? UNKNOWN : who->count == 1 ? who->tid : AMBIGUOUS;
}

/* All that ran while batch `b` was open. A batch behind another one of its epoch begins with the switch that closed
 * that one: whoever left there did not run any more. The thread that ran at the end leaves first in the next batch. */
static uint32_t ran_in(const struct trace *t, uint32_t b)
{
    const struct batch *batch = &t->batches[b];
    struct suspects who = {0};
    for (uint32_t i = b && batch[-1].epoch == batch->epoch; i < batch->count; i++)
        accuse(&who, &t->switches[batch->first + i]);
    if (b + 1 == t->batch_count)
        return who.count ? AMBIGUOUS : UNKNOWN;
    accuse(&who, &t->switches[batch[1].first]);
    return verdict(&who);
}

uint32_t by_index(const struct trace *t, const struct sample *s)
{
    uint32_t b = 0;
    while (b < t->batch_count &&
           (t->batches[b].epoch < s->epoch || (t->batches[b].epoch == s->epoch && t->batches[b].index <= s->address)))
        b++;
    if (b == t->batch_count)
        return UNKNOWN;
    if (t->batches[b].epoch == s->epoch)
        return ran_in(t, b);
    struct suspects who = {0}; /* no switch between the epoch's last stamp and its drain: one thread ran */
    accuse(&who, &t->switches[t->batches[b].first]);
    return verdict(&who);
}

/* ---- by time */

uint32_t by_time(const struct trace *t, const struct sample *s)
{
    uint32_t low = 0, high = t->switch_count; /* the first switch that is not before the record */
    if (!s->timed)
        return UNKNOWN;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (t->switches[middle].time < s->time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == t->switch_count)
        return UNKNOWN;
    if (t->switches[low].time == s->time)
        return AMBIGUOUS; /* cautious: if only one of the two is sampled, it could be named */
    return t->switches[low].sampled ? t->switches[low].tid : UNKNOWN;
}

/* ---- when to close a batch */

/* A record has one suspect only if there is a stamp on both sides of its thread's time. That is worth two batches only
 * for threads that are likely to cause records: those that mostly did when they ran before. */
#define THREADS 1000u
#define LIKELY  64u /* at least: a run takes a quarter off a thread's number, and adds this if it had a record */
#define MANY    UINT64_MAX

struct view {
    uint64_t index;      /* PebsIndex at the last switch */
    uint64_t stamp, who; /* the stamp that is the lower end; the sampled thread that ran since then, or MANY; 0: none */
    uint64_t likely[THREADS]; /* of thread ID / 4 % THREADS */
};
_Static_assert(sizeof(struct view) <= OWN_WORDS * sizeof(uint64_t), "struct view");

bool close_here(uint64_t own[OWN_WORDS], const struct moment *m)
{
    struct view *v = (struct view *)own;
    uint64_t *likely = &v->likely[m->old_tid / 4 % THREADS];
    if (m->stamp != v->stamp) /* closed by the encoder or a drain, in the time of the thread that leaves now */
        v->who = 0;
    if (m->old_sampled) {
        *likely = *likely - *likely / 4 + (m->index != v->index ? LIKELY : 0);
        v->who = v->who && v->who != m->old_tid ? MANY : m->old_tid;
    }
    v->index = m->index;
    v->stamp = m->stamp;
    if (!m->new_sampled || !v->who || v->who == m->new_tid)
        return false; /* no second suspect comes */
    if (!(v->who != MANY && m->index != m->stamp) && v->likely[m->new_tid / 4 % THREADS] < LIKELY)
        return false;
    v->who = 0;
    v->stamp = m->index;
    return true;
}
