/* SPDX-License-Identifier: MIT */
/* Spin lock events of the log (0529H, 0F4BH, 0F4CH): indexed here, checked in tools/cairn/check/locks.c, shown by
 * tools/cairn/command/locks.c. */
#pragma once

#include "tools/cairn/log/event_walk.h"
#include "trace/locks/lock_sampling.h"
#include "trace/wire/spinlock.h"

struct cairn_lock_event {   /* 0529H */
    const uint8_t *payload; /* unaligned: cairn_lock_read */
    int64_t time;           /* session clock */
    uint32_t piece;
    uint32_t configs; /* of this CPU, before it */
    uint8_t pointer;  /* bytes of one in the payload */
};

/* Counts the event where it is one of these, and lists a configuration. *lock: whether; false where it is, but cannot
 * be read. */
bool cairn_locks_index(struct cairn_cpu *cpu, const struct cairn_event *event, uint32_t piece, bool *lock);

/* Whether the event is an 0529H and can be read: then *lock is all but how many configurations came before it. */
bool cairn_lock_of(struct cairn_lock_event *lock, const struct cairn_event *event);
/* Whether it is a configuration, of those that the CPU lists. */
bool cairn_lock_configures(const struct cairn_event *event);

struct cairn_lock_walk { /* along the events of one CPU's spin locks, whether the log is kept or not */
    const struct cairn_cpu *cpu;
    uint32_t configs; /* so far */
    struct cairn_walk walk;
};
void cairn_lock_walk_init(struct cairn_lock_walk *walk, const struct cairn_log *log, uint32_t cpu);
/* The next; its payload stays until the call after. False: there is none. */
bool cairn_lock_walk_next(struct cairn_lock_walk *walk, struct cairn_lock_event *lock);

struct wmi_spinlock cairn_lock_read(const struct cairn_lock_event *event);

/* What the sampling was when an event of the CPU was written: as the last 0F4BH before it says (of Windows: on any CPU)
 * or, where a hole may hide one, the log's options. False: nothing tells. */
bool cairn_lock_sampling(const struct cairn_log *log, uint32_t cpu, const struct cairn_lock_event *event,
                         struct trace_spinlock_sampling *s);
void cairn_lock_use(struct trace_spinlock_sampling *s, const struct perfinfo_spinlock_config *config);
/* The options of the log. False: it has none. */
bool cairn_lock_options(const struct cairn_log *log, struct trace_spinlock_sampling *s);

/* The rules (enum trace_spinlock_rule) by which a release with these fields can have become an event; 0: by none. That
 * the CPU's count was a multiple of the rate is not in the event. */
unsigned cairn_lock_rules(const struct trace_spinlock_sampling *s, const struct wmi_spinlock *lock);
#define CAIRN_LOCK_RULES 4u
/* The most telling of them, as a number from 0; CAIRN_LOCK_RULES: none. And in a word: "held long", "contended", ... */
unsigned cairn_lock_rule(unsigned rules);
const char *cairn_lock_rule_name(unsigned rule);

const char *cairn_lock_mode_name(uint8_t mode); /* enum spinlock_mode */

/* What an event of the CPU says, in one line of any length below CAIRN_LOCK_TEXT. */
#define CAIRN_LOCK_TEXT 384u
const char *cairn_lock_show(char out[CAIRN_LOCK_TEXT], const struct cairn_log *log, uint32_t cpu,
                            const struct cairn_lock_event *event);
/* What a configuration says; NULL: the event is none, or cannot be read. */
const char *cairn_lock_config_show(char out[CAIRN_LOCK_TEXT], const struct cairn_event *event);
