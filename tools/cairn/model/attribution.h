/* SPDX-License-Identifier: MIT */
/*
 * Which thread caused a PEBS record? There are two rules, independent of each other:
 *
 *   time    The record's TSC converts to the session clock exactly as the kernel converts the TSC of a switch. The
 *           thread that ran then is the one that leaves at the next switch (timeline.h).
 *   index   Each switch event contains PebsIndex, the place where the CPU's next record will go: its address, with
 *           architectural PEBS its offset in the buffer. A record below that existed then, and within an epoch the
 *           index only grows. So a record belongs to the time between two events, and no clock is needed. An 0524H gets
 *           its index at its switch: one thread ran before it. An 0525H gets its index when the batch is closed: all
 *           threads of the batch ran before it, and the one that ran when it was closed.
 *
 * A thread is never guessed: if a rule leaves several threads, or none, the reason is given.
 */
#pragma once

#include "tools/cairn/log/event_walk.h"

enum cairn_by {
    CAIRN_BY_TIME,
    CAIRN_BY_INDEX,
    CAIRN_BY_FORMAT, /* records with a time by time, others by index */
};
#define CAIRN_BY_RULES 2u
extern const char *const cairn_by_names[]; /* of the two rules, then NULL */

enum cairn_blame {
    CAIRN_BLAME_KNOWN,
    CAIRN_BLAME_SAME_UNIT, /* ambiguous; time */
    CAIRN_BLAME_BATCH,     /* ambiguous; index */
    CAIRN_BLAME_LOSS,      /* ambiguous */
    CAIRN_BLAME_LAST,      /* unknown: after the last switch */
    CAIRN_BLAME_NO_TIME,   /* unknown: this record format (or log) has no time to go by */
    CAIRN_BLAME_NO_STAMP,  /* unknown: no switch event of its epoch says where the index was */
    CAIRN_BLAME_UNSAMPLED, /* unknown: only threads ran there that are not sampled, and cannot have caused one */
    CAIRN_BLAMES,
};
const char *cairn_blame_text(enum cairn_blame blame);
const char *cairn_blame_why(enum cairn_blame blame); /* the reason alone, at most 15 characters */

enum cairn_certainty { CAIRN_ATTRIBUTED, CAIRN_AMBIGUOUS, CAIRN_UNKNOWN, CAIRN_CERTAINTIES };
enum cairn_certainty cairn_blame_certainty(enum cairn_blame blame);

/* Whether the session samples only some threads (ds.scope=thread). */
bool cairn_only_sampled(const struct cairn_log *log);
/* Whether thread `tid` is one of them, or may be: its name is not known. */
bool cairn_is_sampled(const struct cairn_log *log, uint32_t tid);

struct cairn_verdict {
    uint8_t blame; /* enum cairn_blame */
    uint32_t tid;  /* with CAIRN_BLAME_KNOWN */
};

/* ---- the rule of the index --------------------------------------------------------------------------------------- */

struct cairn_span { /* of one epoch's buffer, between two stamps */
    uint32_t epoch;
    uint64_t end; /* the later stamp: records below it that are in no earlier span */
    struct cairn_verdict who;
};

struct cairn_spans { /* of one CPU, in order */
    struct cairn_span *items;
    size_t count, room;
};

struct cairn_stamps { /* walking the events of one CPU: the stamps of the 0525H (`compact`) or of the 0524H events */
    const struct cairn_log *log;
    struct cairn_spans spans;
    bool compact;
    bool unstamped;    /* the session says that these events carry no stamps */
    bool only_sampled; /* threads that are not sampled cause no records */
    size_t unplaced;   /* the first span whose epoch is not known yet */
    bool epoch_known;  /* `epoch` is that of the stamps that come now */
    uint32_t epoch;
    uint8_t hole;   /* enum cairn_blame: what is missing since the stamp before; CAIRN_BLAME_KNOWN: nothing */
    size_t waiting; /* the first span that does not know yet who ran at its end */
    uint32_t came;  /* 0524H: who came at the last switch, nothing missing since */
    bool came_known;
    bool ended;             /* all have been read; at once where the CPU has no records */
    struct cairn_walk walk; /* last: it is large, and not zeroed */
};

void cairn_stamps_init(struct cairn_stamps *stamps, const struct cairn_log *log, uint32_t cpu, bool compact);
/* Reads as far as the spans of epochs `from` to `to` need; those of earlier ones are forgotten. UINT32_MAX: to the
 * end. */
void cairn_stamps_read(struct cairn_stamps *stamps, uint32_t from, uint32_t to);
/* Of the record that was stored where PebsIndex was `index`. */
struct cairn_verdict cairn_stamps_find(const struct cairn_stamps *stamps, uint32_t epoch, uint64_t index);
void cairn_stamps_free(struct cairn_stamps *stamps);

/* ---- what really happened ---------------------------------------------------------------------------------------- */

/* The threads the truth names for the stored records of one CPU. */
struct cairn_culprits {
    struct cairn_culprit {
        uint64_t address;
        uint32_t epoch, tid;
    } * items; /* by epoch, then address */
    size_t count, room;
};
void cairn_culprits_read(struct cairn_culprits *culprits, const struct cairn_log *log, uint32_t cpu);
/* False: the truth has no such record. */
bool cairn_culprits_find(const struct cairn_culprits *culprits, uint32_t epoch, uint64_t address, uint32_t *tid);
void cairn_culprits_free(struct cairn_culprits *culprits);
