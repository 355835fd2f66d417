/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/model_log.h"

#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "tools/cairn/base/bytes.h"
#include "trace/wire/model_log.h"

#define ACTION ((uint32_t)sizeof(struct cairn_model_action))

/* False: it is none. */
static bool read_entry(struct cairn_logged *n, const struct cairn_log *log, const struct cairn_event *event)
{
    *n = (struct cairn_logged){.actions = event->payload + sizeof(n->head), .time = event->time};
    if (event->hook != HOOK_CAIRN_MODEL || event->unknown_items || event->version != HOOK_VERSION_CAIRN_MODEL ||
        event->size < sizeof(n->head))
        return false;
    memcpy(&n->head, event->payload, sizeof(n->head));
    if (!n->head.actions || event->size != sizeof(n->head) + n->head.actions * ACTION ||
        n->head.length > CAIRN_CODE_MAX)
        return false;
    for (unsigned i = 0; i < n->head.actions; i++) {
        struct cairn_model_action a = cairn_logged_action(n, i);
        if (a.kind < CAIRN_MODEL_OVERFLOWED || a.kind > CAIRN_MODEL_PMI_LOST || a.counter >= DS_COUNTER_NUMBERS)
            return false;
    }
    if (log->session.known)
        n->time = trace_clock_units(&log->session.clock, n->head.tsc);
    return true;
}

bool cairn_logged_index(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *event)
{
    struct cairn_logged entry;
    const bool good = read_entry(&entry, log, event);
    cpu->log_entries += good;
    return good;
}

bool cairn_logged_any(const struct cairn_log *log)
{
    for (uint32_t c = 0; c < log->cpus; c++)
        if (log->cpu[c].log_entries)
            return true;
    return cairn_slice_is(cairn_key(&log->text, "option.ds.log"), "1");
}

struct cairn_model_action cairn_logged_action(const struct cairn_logged *entry, unsigned i)
{
    struct cairn_model_action a;
    memcpy(&a, entry->actions + (size_t)i * ACTION, sizeof(a));
    return a;
}

/* ---- entries in order -------------------------------------------------------------------------------------------- */

void cairn_logged_walk_init(struct cairn_logged_walk *w, const struct cairn_log *log, uint32_t cpu)
{
    w->log = log;
    w->expected = w->missing = 0;
    cairn_walk_init(&w->walk, log, cpu);
}

bool cairn_logged_walk_next(struct cairn_logged_walk *w, struct cairn_logged *entry)
{
    const struct cairn_cpu *cpu = w->walk.cpu;
    struct cairn_event e;
    while (cpu->log_entries && cairn_walk_next(&w->walk, &e))
        if (read_entry(entry, w->log, &e)) {
            w->missing = entry->head.sequence - w->expected;
            w->expected = entry->head.sequence + 1;
            return true;
        }
    w->missing = cpu->end.log_known ? (uint32_t)cpu->end.log - w->expected : 0;
    return false;
}

/* ---- the life of a record ---------------------------------------------------------------------------------------- */

struct place { /* where an action is */
    bool there;
    size_t entry;     /* how-manieth */
    uint32_t missing; /* not there: so many entries are missing where it should be */
    struct cairn_model_action action;
};

struct life { /* the last of each kind that came, of each counter; over no gap */
    struct place load[DS_COUNTER_NUMBERS];
    struct overflow {
        struct place at, load; /* that, and the load before it */
        bool armed;
    } overflow[DS_COUNTER_NUMBERS];
    struct place stored;
};

static void pass_gap(struct life *l, uint32_t missing)
{
    for (unsigned c = 0; c < DS_COUNTER_NUMBERS; c++) {
        l->load[c] = (struct place){.missing = missing};
        l->overflow[c] = (struct overflow){.at = {.missing = missing}, .load = {.missing = missing}};
    }
}

static void pass_action(struct life *l, size_t entry, const struct cairn_model_action *a)
{
    const struct place here = {.there = true, .entry = entry, .action = *a};
    struct overflow *o = &l->overflow[a->counter];
    if (a->kind == CAIRN_MODEL_RELOADED)
        l->load[a->counter] = here;
    else if (a->kind == CAIRN_MODEL_OVERFLOWED)
        *o = (struct overflow){.at = here, .load = l->load[a->counter]};
    else if (a->kind == CAIRN_MODEL_ARMED && o->at.there && o->at.entry == entry)
        o->armed = true;
}

/* Goes to the action that stored the record, the first of its entry. Between those of the records before and behind it
 * none other can be. */
static void find_stored(struct life *l, struct cairn_logged_walk *w, const struct cairn_record *record)
{
    struct cairn_logged e;
    uint32_t missing = 0;
    for (size_t n = 0; cairn_logged_walk_next(w, &e); n++) {
        bool stores = false;
        missing += w->missing;
        if (w->missing)
            pass_gap(l, w->missing);
        for (unsigned i = 0; i < e.head.actions; i++) {
            const struct cairn_model_action a = cairn_logged_action(&e, i);
            if (a.kind == CAIRN_MODEL_STORED && !stores) {
                stores = true;
                if (e.head.epoch == record->epoch && a.before == record->index) {
                    l->stored = (struct place){.there = true, .entry = n, .action = a};
                    return;
                }
                if (e.head.epoch > record->epoch || (e.head.epoch == record->epoch && a.before > record->index)) {
                    l->stored.missing = missing;
                    return;
                }
            }
            pass_action(l, n, &a);
        }
        missing = stores ? 0 : missing;
    }
    l->stored.missing = missing + w->missing;
}

/* The entry of a place, which is read now if it was not. */
static const struct cairn_logged *entry_at(struct cairn_life *life, const struct cairn_log *log, uint32_t cpu, size_t n)
{
    struct cairn_logged_walk *w = cairn_alloc(sizeof(*w));
    struct cairn_logged *e = &life->entries[life->count];
    cairn_logged_walk_init(w, log, cpu);
    bool there = true;
    for (size_t i = 0; i <= n && there; i++)
        there = cairn_logged_walk_next(w, e);
    if (there) {
        const size_t bytes = (size_t)e->head.actions * ACTION;
        e->actions = memcpy(cairn_alloc(bytes), e->actions, bytes);
        life->count++;
    }
    free(w);
    return there ? e : NULL; /* the file has changed */
}

static void take_step(struct cairn_life_step *step, struct cairn_life *life, const struct cairn_log *log, uint32_t cpu,
                      const struct place *p, const struct place *same, const struct cairn_logged *as)
{
    step->missing = p->missing;
    step->action = p->action;
    if (p->there)
        step->entry = same->there && same->entry == p->entry ? as : entry_at(life, log, cpu, p->entry);
}

void cairn_life_read(struct cairn_life *life, const struct cairn_log *log, uint32_t cpu,
                     const struct cairn_record *record)
{
    struct life *l = cairn_alloc(sizeof(*l));
    struct cairn_logged_walk *w = cairn_alloc(sizeof(*w));
    const struct place none = {0};
    *life = (struct cairn_life){0};
    memset(l, 0, sizeof(*l));
    cairn_logged_walk_init(w, log, cpu);
    find_stored(l, w, record);
    take_step(&life->stored, life, log, cpu, &l->stored, &none, NULL);
    for (uint32_t set = life->stored.entry ? life->stored.action.counters : 0; set; set &= set - 1) {
        struct cairn_life_counter *c = &life->counter[life->counters++];
        c->number = (unsigned)__builtin_ctzll(cairn_counters_unpack(set & -set));
        const struct overflow *o = &l->overflow[c->number];
        c->armed = o->at.there && o->armed;
        take_step(&c->overflow, life, log, cpu, &o->at, &l->stored, life->stored.entry);
        take_step(&c->load, life, log, cpu, &o->load, &o->at, c->overflow.entry);
    }
    free(w);
    free(l);
}

void cairn_life_free(struct cairn_life *life)
{
    for (unsigned i = 0; i < life->count; i++)
        free((void *)(uintptr_t)life->entries[i].actions);
}
