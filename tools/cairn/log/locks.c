/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/locks.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/log/show.h"
#include "trace/wire/spinlock.h"

#define CONFIG_BYTES_2 offsetof(struct perfinfo_spinlock_config, hold_threshold) /* version 2 */

static bool is_config(const struct cairn_event *e)
{
    return e->hook == HOOK_SPINLOCK_DC_START || e->hook == HOOK_SPINLOCK_DC_END;
}

/* Version 3, or a later one that has more behind it; version 2 has no HoldThreshold. */
static bool read_config(struct cairn_lock_config *c, const struct cairn_event *e)
{
    uint32_t bytes = e->version >= HOOK_VERSION_SPINLOCK_CONFIG ? sizeof(c->is) : CONFIG_BYTES_2;
    if (e->unknown_items || e->version < 2 || e->size < bytes)
        return false;
    *c = (struct cairn_lock_config){.time = e->time, .end = e->hook == HOOK_SPINLOCK_DC_END};
    memcpy(&c->is, e->payload, bytes);
    return true;
}

/* Version 2, or a later one. */
static bool read_event(struct cairn_lock_event *l, const struct cairn_event *e)
{
    *l = (struct cairn_lock_event){.payload = e->payload, .time = e->time, .pointer = e->pointer};
    return !e->unknown_items && e->version >= HOOK_VERSION_SPINLOCK && e->size >= ETL_SPINLOCK_BYTES(e->pointer);
}

bool cairn_locks_index(struct cairn_cpu *cpu, const struct cairn_event *e, uint32_t piece, bool *lock)
{
    struct cairn_lock_config c;
    struct cairn_lock_event l;
    *lock = false;
    if (is_config(e) && (*lock = read_config(&c, e))) {
        c.piece = piece;
        *CAIRN_ADD(cpu->locks.configs) = c;
    } else if (e->hook == HOOK_SPINLOCK && (*lock = read_event(&l, e))) {
        l.piece = piece;
        l.configs = (uint32_t)cpu->locks.configs.count;
        cpu->locks.events++;
    }
    return *lock || !(is_config(e) || e->hook == HOOK_SPINLOCK);
}

bool cairn_lock_of(struct cairn_lock_event *lock, const struct cairn_event *e)
{
    if (e->hook != HOOK_SPINLOCK || !read_event(lock, e))
        return false;
    lock->piece = e->piece;
    return true;
}

bool cairn_lock_configures(const struct cairn_event *e)
{
    struct cairn_lock_config c;
    return is_config(e) && read_config(&c, e);
}

void cairn_lock_walk_init(struct cairn_lock_walk *w, const struct cairn_log *log, uint32_t cpu)
{
    w->cpu = &log->cpu[cpu];
    w->configs = 0;
    cairn_walk_init(&w->walk, log, cpu);
}

bool cairn_lock_walk_next(struct cairn_lock_walk *w, struct cairn_lock_event *lock)
{
    struct cairn_event e;
    while ((w->cpu->locks.events || w->cpu->locks.configs.count) && cairn_walk_next(&w->walk, &e)) {
        if (cairn_lock_of(lock, &e)) {
            lock->configs = w->configs;
            return true;
        }
        if (w->configs < w->cpu->locks.configs.count) /* else the file has changed */
            w->configs += cairn_lock_configures(&e);
    }
    return false;
}

struct wmi_spinlock cairn_lock_read(const struct cairn_lock_event *event)
{
    const uint32_t p = event->pointer, tail = offsetof(struct wmi_spinlock, acquire_time);
    struct wmi_spinlock lock = {0};
    memcpy(&lock.spin_lock_address, event->payload, p);
    memcpy(&lock.caller_address, event->payload + p, p);
    memcpy((uint8_t *)&lock + tail, event->payload + 2 * p, sizeof(lock) - tail);
    return lock;
}

/* ---- sampling --------------------------------------------------------------------------------------------------- */

static bool option(const struct cairn_log *log, const char *name, uint32_t *value)
{
    uint64_t v;
    if (!cairn_slice_u64(cairn_key(&log->text, "option.spinlock.%s", name), &v) || v > UINT32_MAX)
        return false;
    *value = (uint32_t)v;
    return true;
}

bool cairn_lock_options(const struct cairn_log *log, struct trace_spinlock_sampling *s)
{
    *s = (struct trace_spinlock_sampling){.every = cairn_slice_is(cairn_key(&log->text, "option.spinlock.every"), "1")};
    return option(log, "spin_threshold", &s->spin_threshold) &&
           option(log, "acquire_sample_rate", &s->acquire_sample_rate) &&
           option(log, "contention_sample_rate", &s->contention_sample_rate) &&
           option(log, "hold_threshold", &s->hold_threshold);
}

static bool hole_between(const struct cairn_cpu *cpu, uint32_t from, uint32_t to)
{
    for (uint32_t p = from + 1; p <= to && p < cpu->piece_count; p++)
        if (cpu->pieces[p].hole != CAIRN_NO_HOLE)
            return true;
    return false;
}

void cairn_lock_use(struct trace_spinlock_sampling *s, const struct perfinfo_spinlock_config *c)
{
    s->spin_threshold = c->spin_threshold;
    s->acquire_sample_rate = c->acquire_sample_rate;
    s->contention_sample_rate = c->contention_sample_rate;
    s->hold_threshold = c->hold_threshold;
}

/* A trace of Windows has one sampling; whichever CPU tells of it. NULL: never before `time`. */
static const struct cairn_lock_config *told_anywhere(const struct cairn_log *log, int64_t time)
{
    const struct cairn_lock_config *last = NULL;
    for (uint32_t n = 0; n < log->cpus; n++)
        for (size_t i = 0; i < log->cpu[n].locks.configs.count; i++) {
            const struct cairn_lock_config *c = &log->cpu[n].locks.configs.items[i];
            if (c->time <= time && (!last || c->time > last->time))
                last = c;
        }
    return last;
}

bool cairn_lock_sampling(const struct cairn_log *log, uint32_t n, const struct cairn_lock_event *e,
                         struct trace_spinlock_sampling *s)
{
    const struct cairn_cpu *cpu = &log->cpu[n];
    const struct cairn_lock_config *c = !log->own    ? told_anywhere(log, e->time)
                                        : e->configs ? &cpu->locks.configs.items[e->configs - 1]
                                                     : NULL;
    bool options = cairn_lock_options(log, s);
    if (!c || (log->own && hole_between(cpu, c->piece, e->piece)))
        return options;
    cairn_lock_use(s, &c->is);
    return true;
}

unsigned cairn_lock_rules(const struct trace_spinlock_sampling *s, const struct wmi_spinlock *lock)
{
    const struct trace_spinlock_counts multiples = {0};
    return trace_spinlock_rules(s, &multiples, lock->spin_count, lock->release_time - lock->acquire_time);
}

unsigned cairn_lock_rule(unsigned rules)
{
    static const uint8_t order[CAIRN_LOCK_RULES] = {TRACE_SPINLOCK_HOLD, TRACE_SPINLOCK_CONTENTION,
                                                    TRACE_SPINLOCK_EVERY, TRACE_SPINLOCK_ACQUIRE};
    unsigned i = 0;
    while (i < CAIRN_LOCK_RULES && !(rules & order[i]))
        i++;
    return i;
}

const char *cairn_lock_rule_name(unsigned rule)
{
    static const char *const name[CAIRN_LOCK_RULES + 1] = {"held long", "contended", "every", "uncontended", "no rule"};
    return name[rule < CAIRN_LOCK_RULES ? rule : CAIRN_LOCK_RULES];
}

const char *cairn_lock_mode_name(uint8_t mode)
{
    static const char *const name[SPINLOCK_MODES] = {"ordinary", "queued", "shared", "exclusive", "converted"};
    return mode < SPINLOCK_MODES ? name[mode] : "mode?";
}

/* ---- show ------------------------------------------------------------------------------------------------------- */

const char *cairn_lock_show(char out[CAIRN_LOCK_TEXT], const struct cairn_log *log, uint32_t cpu,
                            const struct cairn_lock_event *event)
{
    struct wmi_spinlock e = cairn_lock_read(event);
    struct trace_spinlock_sampling s;
    char lock[CAIRN_SHOWN], thread[CAIRN_SHOWN];
    bool told = cairn_lock_sampling(log, cpu, event, &s);
    snprintf(out, CAIRN_LOCK_TEXT,
             "%s (%s) released by %s%s: depth %u, %" PRIu32 " %s, wait %" PRIu32 ", held %" PRIu64 " cycles (%s)",
             cairn_show_lock(lock, log, e.spin_lock_address, 40),
             cairn_lock_mode_name(e.flags & WMI_SPINLOCK_MODE_MASK), cairn_show_thread(thread, log, e.thread_id, 24),
             e.flags & WMI_SPINLOCK_EXECUTE_ISR   ? ", in an interrupt"
             : e.flags & WMI_SPINLOCK_EXECUTE_DPC ? ", in a DPC"
                                                  : "",
             e.acquire_depth, e.spin_count, cairn_plural(e.spin_count, "spin", "spins"), e.wait_time_in_cycles,
             e.release_time - e.acquire_time,
             told ? cairn_lock_rule_name(cairn_lock_rule(cairn_lock_rules(&s, &e))) : "rule not known");
    return out;
}

const char *cairn_lock_config_show(char out[CAIRN_LOCK_TEXT], const struct cairn_event *event)
{
    struct cairn_lock_config c;
    if (!is_config(event) || !read_config(&c, event))
        return NULL;
    snprintf(out, CAIRN_LOCK_TEXT,
             "spin locks %s: SpinThreshold %" PRIu32 ", ContentionSampleRate %" PRIu32 ", AcquireSampleRate %" PRIu32
             ", HoldThreshold %" PRIu32,
             c.end ? "to here" : "from here", c.is.spin_threshold, c.is.contention_sample_rate,
             c.is.acquire_sample_rate, c.is.hold_threshold);
    return out;
}
