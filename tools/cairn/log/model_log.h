/* SPDX-License-Identifier: MIT */
/*
 * The model's own log, and in it the life of one PEBS record: the overflow that caused it, the instruction that it
 * describes, and what followed. The log's order and numbers are used only where they agree; where entries are missing,
 * the output says so.
 */
#pragma once

#include "tools/cairn/log/event_walk.h"
#include "trace/wire/model_log.h"

struct cairn_logged { /* one entry of the model's log */
    struct cairn_model_entry head;
    const uint8_t *actions; /* head.actions of them, unaligned: cairn_logged_action */
    int64_t time;           /* session clock */
};

/* Checks an event of the log and counts it; false: it is none. */
bool cairn_logged_index(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *event);

/* Whether the model kept a log, as far as what is left of the trace tells. */
bool cairn_logged_any(const struct cairn_log *log);

/* Action `i` of an entry, below its head.actions. */
struct cairn_model_action cairn_logged_action(const struct cairn_logged *entry, unsigned i);

struct cairn_logged_walk { /* along the entries of one CPU */
    const struct cairn_log *log;
    uint32_t expected; /* number of the next entry */
    uint32_t missing;  /* so many entries are missing right before the one that came last; at the end: behind it */
    struct cairn_walk walk;
};
void cairn_logged_walk_init(struct cairn_logged_walk *walk, const struct cairn_log *log, uint32_t cpu);
/* The next; its actions stay until the next call. False: there is none. */
bool cairn_logged_walk_next(struct cairn_logged_walk *walk, struct cairn_logged *entry);

struct cairn_life_step {
    const struct cairn_logged *entry; /* NULL: not found */
    uint32_t missing;                 /* not found: so many entries are missing where it should be; 0: none */
    struct cairn_model_action action;
};

struct cairn_life_counter {          /* of those that caused the record */
    unsigned number;                 /* as in IA32_PERF_GLOBAL_STATUS */
    struct cairn_life_step load;     /* CAIRN_MODEL_RELOADED; not found, none missing: the driver has set it */
    struct cairn_life_step overflow; /* CAIRN_MODEL_OVERFLOWED */
    bool armed;                      /* CAIRN_MODEL_ARMED, there */
};

#define CAIRN_LIFE_COUNTERS 32u

struct cairn_life {
    struct cairn_life_step stored; /* CAIRN_MODEL_STORED: its entry has all that followed, too */
    unsigned counters;             /* 0 without `stored` */
    struct cairn_life_counter counter[CAIRN_LIFE_COUNTERS];
    struct cairn_logged entries[1 + 2 * CAIRN_LIFE_COUNTERS]; /* what the steps point to */
    unsigned count;
};

/* `record` is one of this CPU's. */
void cairn_life_read(struct cairn_life *life, const struct cairn_log *log, uint32_t cpu,
                     const struct cairn_record *record);
void cairn_life_free(struct cairn_life *life);
