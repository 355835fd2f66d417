/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/model_log.h"

#include "ds/layout.h"
#include "tools/cairn/base/bytes.h"

#define ACTION ((uint32_t)sizeof(struct cairn_model_action))

bool cairn_logged_index(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *event)
{
    struct cairn_logged n = {.actions = event->payload + sizeof(n.head), .time = event->time};
    if (event->version != HOOK_VERSION_CAIRN_MODEL || event->size < sizeof(n.head))
        return false;
    memcpy(&n.head, event->payload, sizeof(n.head));
    if (!n.head.actions || event->size != sizeof(n.head) + n.head.actions * ACTION || n.head.length > CAIRN_CODE_MAX)
        return false;
    for (unsigned i = 0; i < n.head.actions; i++) {
        struct cairn_model_action a = cairn_logged_action(&n, i);
        if (a.kind < CAIRN_MODEL_OVERFLOWED || a.kind > CAIRN_MODEL_PMI_LOST || a.counter >= DS_COUNTER_NUMBERS)
            return false;
    }
    if (log->session.known)
        n.time = trace_clock_units(&log->session.clock, n.head.tsc);
    cpu->log_entries++;
    if (!log->passing)
        *CAIRN_ADD(cpu->logged) = n;
    return true;
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

uint32_t cairn_logged_missing(const struct cairn_cpu *cpu, size_t i)
{
    uint32_t expected = i ? cpu->logged.items[i - 1].head.sequence + 1 : 0;
    if (i < cpu->logged.count)
        return cpu->logged.items[i].head.sequence - expected;
    return cpu->end.log_known ? (uint32_t)cpu->end.log - expected : 0;
}

/* Whether the entry stores a record; *stored is that action. */
static bool stores(const struct cairn_logged *entry, struct cairn_model_action *stored, unsigned *at)
{
    for (*at = 0; *at < entry->head.actions; ++*at) {
        *stored = cairn_logged_action(entry, *at);
        if (stored->kind == CAIRN_MODEL_STORED)
            return true;
    }
    return false;
}

/* The entry that stored the record, at its action *at. Between those of the records before and behind it none other can
 * be. */
static size_t find_stored(struct cairn_life_step *step, const struct cairn_cpu *cpu, const struct cairn_record *record,
                          unsigned *at)
{
    uint32_t missing = 0;
    for (size_t i = 0; i < cpu->logged.count; i++) {
        const struct cairn_logged *entry = &cpu->logged.items[i];
        missing += cairn_logged_missing(cpu, i);
        if (!stores(entry, &step->action, at))
            continue;
        if (entry->head.epoch == record->epoch && step->action.before == record->address) {
            step->entry = entry;
            return i;
        }
        if (entry->head.epoch > record->epoch ||
            (entry->head.epoch == record->epoch && step->action.before > record->address)) {
            step->missing = missing;
            return 0;
        }
        missing = 0;
    }
    step->missing = missing + cairn_logged_missing(cpu, cpu->logged.count);
    return 0;
}

/* The last action of `kind` on `counter` before action *at of entry *i, which then tell where it is. Over no
 * gap. */
static bool find_back(struct cairn_life_step *step, const struct cairn_cpu *cpu, size_t *i, unsigned *at, uint8_t kind,
                      unsigned counter)
{
    for (;;) {
        const struct cairn_logged *entry = &cpu->logged.items[*i];
        while (*at) {
            struct cairn_model_action a = cairn_logged_action(entry, --*at);
            if (a.kind == kind && a.counter == counter) {
                step->entry = entry;
                step->action = a;
                return true;
            }
        }
        step->missing = cairn_logged_missing(cpu, *i);
        if (step->missing || !*i)
            return false;
        *at = cpu->logged.items[--*i].head.actions;
    }
}

/* Whether the counter was armed by the overflow at action `at` of `entry`. */
static bool armed(const struct cairn_logged *entry, unsigned at, unsigned counter)
{
    for (unsigned n = at + 1; n < entry->head.actions; n++) {
        struct cairn_model_action a = cairn_logged_action(entry, n);
        if (a.kind == CAIRN_MODEL_ARMED && a.counter == counter)
            return true;
    }
    return false;
}

void cairn_life_read(struct cairn_life *life, const struct cairn_cpu *cpu, const struct cairn_record *record)
{
    unsigned stored_at;
    *life = (struct cairn_life){0};
    size_t stored = find_stored(&life->stored, cpu, record, &stored_at);
    if (!life->stored.entry)
        return;
    for (uint32_t set = life->stored.action.counters; set; set &= set - 1) {
        struct cairn_life_counter *c = &life->counter[life->counters++];
        size_t i = stored;
        unsigned at = stored_at;
        c->number = (unsigned)__builtin_ctzll(cairn_counters_unpack(set & -set));
        if (!find_back(&c->overflow, cpu, &i, &at, CAIRN_MODEL_OVERFLOWED, c->number)) {
            c->load.missing = c->overflow.missing;
            continue;
        }
        c->armed = armed(c->overflow.entry, at, c->number);
        find_back(&c->load, cpu, &i, &at, CAIRN_MODEL_RELOADED, c->number);
    }
}
