/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/modelled/caches.h"

#include <pthread.h>
#include <stdlib.h>

#define LOCKS   64u /* at most */
#define HOLDERS 64u /* bits of an L3 line; cores beyond share them */

#define STATE (QDS_PRESENT | QDS_EXCLUSIVE | QDS_DIRTY)

struct l2_line {
    uint64_t word, used;
};

struct l3_line {
    uint64_t word; /* EXCLUSIVE: a holder may have changed it, or may change it without asking */
    uint64_t used;
    uint64_t holders; /* bit i % HOLDERS: core i has asked for it and has not said since that it has it no more */
};

struct core {
    struct qds_cache_size l1_size, l2_size;
    struct qds_l1_line *l1;
    uint64_t *l1_ready; /* of a PENDING line: when its data is there */
    struct l2_line *l2;
};

struct qds_caches {
    unsigned cores;
    struct core *core;
    struct qds_cache_size l3_size;
    struct l3_line *l3;
    uint16_t latency[DS_MODEL_SOURCES];
    uint32_t lock_mask;
    struct lock {
        _Alignas(64) pthread_mutex_t mutex;
        uint64_t now; /* of the L3's sets under this lock */
    } lock[LOCKS];
};

static uint64_t line_of(uint64_t word)
{
    return word >> QDS_LINE_SHIFT;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Of each level: in_NAME(), a line's place in its set, NULL where it is not there; and room_in_NAME(), a place for it:
 * one that is free, or else that of the line used least recently. */
#define LEVEL(name, type, owner)                                                                                       \
    static struct type *in_##name(const struct owner *o, uint64_t line)                                                \
    {                                                                                                                  \
        struct type *const set = &o->name[(line & (o->name##_size.sets - 1)) * o->name##_size.ways];                   \
        for (struct type *at = set; at < set + o->name##_size.ways; at++) {                                            \
            const uint64_t word = at->word;                                                                            \
            if (word && line_of(word) == line)                                                                         \
                return at;                                                                                             \
        }                                                                                                              \
        return NULL;                                                                                                   \
    }                                                                                                                  \
    static struct type *room_in_##name(const struct owner *o, uint64_t line)                                           \
    {                                                                                                                  \
        struct type *const set = &o->name[(line & (o->name##_size.sets - 1)) * o->name##_size.ways], *best = set;      \
        for (struct type *at = set; at < set + o->name##_size.ways && best->word; at++)                                \
            if (!at->word || at->used < best->used)                                                                    \
                best = at;                                                                                             \
        return best;                                                                                                   \
    }
LEVEL(l1, qds_l1_line, core)
LEVEL(l2, l2_line, core)
LEVEL(l3, l3_line, qds_caches)

/* ---- what other cores have --------------------------------------------------------------------------------------- */

/* Takes flags of a line from a core; all of them: the line itself. Returns those it had. */
static unsigned take(struct core *k, uint64_t line, unsigned flags)
{
    unsigned had = 0;
    struct qds_l1_line *l1 = in_l1(k, line);
    struct l2_line *l2 = in_l2(k, line);
    const bool all = flags & QDS_PRESENT;
    if (l1) {
        had |= (unsigned)(l1->word & STATE);
        l1->word = all ? 0 : l1->word & ~(uint64_t)flags;
    }
    if (l2) {
        had |= (unsigned)(l2->word & STATE);
        l2->word = all ? 0 : l2->word & ~(uint64_t)flags;
    }
    return had;
}

static bool holds(const struct l3_line *l, unsigned core)
{
    return l->holders >> core % HOLDERS & 1;
}

/* The same of all other cores that may have it; a set of flags that any of them had. */
static unsigned take_from_others(struct qds_caches *c, const struct l3_line *l, unsigned core, unsigned flags)
{
    unsigned had = 0;
    for (unsigned other = 0; other < c->cores; other++)
        if (other != core && holds(l, other))
            had |= take(&c->core[other], line_of(l->word), flags);
    return had;
}

static bool others_hold(const struct qds_caches *c, const struct l3_line *l, unsigned core)
{
    for (unsigned other = 0; other < c->cores; other++)
        if (other != core && holds(l, other))
            return true;
    return false;
}

static enum ds_model_source snooped(unsigned had)
{
    return had & QDS_DIRTY     ? DS_MODEL_SOURCE_SNOOP_HITM
           : had & QDS_PRESENT ? DS_MODEL_SOURCE_SNOOP_HIT
                               : DS_MODEL_SOURCE_SNOOP_MISS;
}

/* ---- filling ----------------------------------------------------------------------------------------------------- */

/* Makes a place of the L1 free. */
static void leave_l1(struct core *k, struct qds_l1_line *at)
{
    if (at->word & QDS_DIRTY)
        in_l2(k, line_of(at->word))->word |= QDS_DIRTY;
    at->word = 0;
}

/* The same of the L2. */
static void leave_l2(struct qds_caches *c, unsigned core, struct l2_line *at)
{
    struct core *k = &c->core[core];
    if (!at->word)
        return;
    struct qds_l1_line *l1 = in_l1(k, line_of(at->word));
    if (l1)
        leave_l1(k, l1);
    if (at->word & QDS_DIRTY) {
        struct l3_line *l3 = in_l3(c, line_of(at->word));
        l3->word = (l3->word & ~(uint64_t)QDS_EXCLUSIVE) | QDS_DIRTY;
        l3->holders &= ~(UINT64_C(1) << core % HOLDERS); /* and it was nobody else's */
    }
    at->word = 0;
}

/* The same of the L3: no core may have the line any more. */
static void leave_l3(struct qds_caches *c, struct l3_line *at)
{
    if (at->word)
        take_from_others(c, at, UINT32_MAX, UINT32_MAX);
    at->word = at->holders = 0;
}

/* The core gets a line that it does not have, or not as it needs it. *exclusive: whether it has it alone now. */
static enum ds_model_source ask_l3(struct qds_caches *c, unsigned core, uint64_t line, bool write, uint64_t now,
                                   bool *exclusive)
{
    enum ds_model_source source;
    struct l3_line *at = in_l3(c, line);
    if (!at) {
        at = room_in_l3(c, line);
        leave_l3(c, at);
        at->word = line << QDS_LINE_SHIFT | QDS_PRESENT;
        source = DS_MODEL_SOURCE_MEMORY;
        *exclusive = true;
    } else if (!others_hold(c, at, core)) {
        source = DS_MODEL_SOURCE_L3;
        *exclusive = true;
    } else if (write) {
        source = snooped(take_from_others(c, at, core, UINT32_MAX));
        at->holders = 0;
        *exclusive = true;
    } else if (at->word & QDS_EXCLUSIVE) {
        const unsigned had = take_from_others(c, at, core, QDS_EXCLUSIVE | QDS_DIRTY);
        source = snooped(had);
        at->word |= had & QDS_DIRTY;
        at->holders = had ? at->holders : 0;
        *exclusive = !had;
    } else {
        source = DS_MODEL_SOURCE_L3;
        *exclusive = false;
    }
    at->used = now;
    at->holders |= UINT64_C(1) << core % HOLDERS;
    at->word = *exclusive ? at->word | QDS_EXCLUSIVE : at->word & ~(uint64_t)QDS_EXCLUSIVE;
    return source;
}

/* The L1 has the line, and as the core needs it. */
static void hit(const struct qds_caches *c, struct core *k, bool write, uint64_t now, struct qds_fetched *f)
{
    struct qds_l1_line *l1 = f->line;
    const uint64_t ready = k->l1_ready[l1 - k->l1];
    f->source = DS_MODEL_SOURCE_L1;
    f->latency = c->latency[f->source];
    if (l1->word & QDS_PENDING && now < ready) {
        f->source = DS_MODEL_SOURCE_FILL_BUFFER;
        f->latency = ready - now > f->latency ? (uint32_t)(ready - now) : f->latency;
    }
    if (!write || now >= ready) /* who reads waits for it */
        l1->word &= ~(uint64_t)QDS_PENDING;
    l1->word |= write ? QDS_DIRTY : 0;
    l1->used = now;
}

struct qds_fetched qds_caches_access(struct qds_caches *c, unsigned core, uint64_t line, bool write, uint64_t now)
{
    struct lock *lock = &c->lock[line & c->lock_mask];
    struct core *k = &c->core[core];
    struct qds_fetched f = {0};
    pthread_mutex_lock(&lock->mutex);
    f.line = in_l1(k, line);
    f.l1_filled = !f.line;
    if (f.line && (!write || f.line->word & QDS_EXCLUSIVE)) {
        hit(c, k, write, now, &f);
        pthread_mutex_unlock(&lock->mutex);
        return f;
    }
    struct l2_line *l2 = in_l2(k, line);
    bool exclusive = l2 && l2->word & QDS_EXCLUSIVE;
    f.source = DS_MODEL_SOURCE_L2;
    if (!l2 || (write && !exclusive)) {
        f.l3_asked = true;
        f.source = ask_l3(c, core, line, write, ++lock->now, &exclusive);
        f.l3_missed = f.source == DS_MODEL_SOURCE_MEMORY;
    }
    f.latency = c->latency[f.source];
    if (!l2) {
        l2 = room_in_l2(k, line);
        leave_l2(c, core, l2);
        l2->word = line << QDS_LINE_SHIFT | QDS_PRESENT;
    }
    l2->word |= exclusive ? QDS_EXCLUSIVE : 0;
    l2->used = now;
    if (!f.line) {
        f.line = room_in_l1(k, line);
        leave_l1(k, f.line);
    }
    f.line->word =
        line << QDS_LINE_SHIFT | QDS_PRESENT | (exclusive ? QDS_EXCLUSIVE : 0) | (write ? QDS_DIRTY | QDS_PENDING : 0);
    f.line->used = now;
    k->l1_ready[f.line - k->l1] = now + f.latency;
    pthread_mutex_unlock(&lock->mutex);
    return f;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

static bool new_core(struct core *k, struct qds_cache_size l1, struct qds_cache_size l2)
{
    const size_t lines = (size_t)l1.sets * l1.ways;
    k->l1_size = l1;
    k->l2_size = l2;
    k->l1 = calloc(lines, sizeof k->l1[0]);
    k->l1_ready = calloc(lines, sizeof k->l1_ready[0]);
    k->l2 = calloc((size_t)l2.sets * l2.ways, sizeof k->l2[0]);
    return k->l1 && k->l1_ready && k->l2;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

struct qds_caches *qds_caches_new(const struct qds_caches_config *config, unsigned cores)
{
    struct qds_caches *c = aligned_alloc(64, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct qds_caches){.cores = cores, .l3_size = config->l3, .lock_mask = least(LOCKS, config->l3.sets)};
    for (unsigned i = 0; i < DS_MODEL_SOURCES; i++)
        c->latency[i] = config->latency[i];
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_init(&c->lock[i].mutex, NULL);
    c->core = calloc(cores, sizeof c->core[0]);
    c->l3 = calloc((size_t)config->l3.sets * config->l3.ways, sizeof c->l3[0]);
    bool done = c->core && c->l3;
    for (unsigned i = 0; done && i < cores; i++) {
        const unsigned kind = i >= config->efficient;
        done = new_core(&c->core[i], config->kind[kind].l1, config->kind[kind].l2);
        c->lock_mask = least(c->lock_mask, least(config->kind[kind].l1.sets, config->kind[kind].l2.sets));
    }
    c->lock_mask--;
    if (done)
        return c;
    qds_caches_free(c);
    return NULL;
}

void qds_caches_free(struct qds_caches *c)
{
    for (unsigned i = 0; c->core && i < c->cores; i++) {
        free(c->core[i].l1);
        free(c->core[i].l1_ready);
        free(c->core[i].l2);
    }
    free(c->core);
    free(c->l3);
    free(c);
}

struct qds_line_state qds_caches_state(struct qds_caches *c, unsigned core, uint64_t line)
{
    const struct qds_l1_line *l1 = in_l1(&c->core[core], line);
    const struct l2_line *l2 = in_l2(&c->core[core], line);
    const struct l3_line *l3 = in_l3(c, line);
    return (struct qds_line_state){l1 ? l1->word & STATE : 0, l2 ? l2->word & STATE : 0, l3 ? l3->word & STATE : 0};
}
