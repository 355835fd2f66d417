/* SPDX-License-Identifier: MIT */
/*
 * The contents of a log, checked once and indexed: the session, each CPU's stream of events, where parts of it are
 * missing, and counts. Events stay in the file and are not unpacked here: code that needs them walks over them
 * (event_walk.h) and keeps what it needs. So memory hardly grows with the log: there is an entry for each of its
 * buffers, each place where something is missing, each thread, process, session and configuration.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cairn/event/event.h"
#include "tools/cairn/frame/deframe.h"
#include "tools/cairn/frame/text_streams.h"
#include "tools/cairn/log/cpu.h"
#include "tools/cairn/log/mappings.h"
#include "trace/clock.h"
#include "trace/session.h"
#include "trace/wire/format.h"
#include "trace/wire/truth.h"

#define CAIRN_WAIT_REASONS_UNKNOWN UINT8_MAX /* as maximum_wait_reason: no state can be told from a reason */

struct cairn_wall { /* time of day, and the boot: date.h */
    bool known, boot_known;
    int64_t time, filetime; /* it was `filetime` (UTC) at `time` of the session clock */
    int64_t boot;           /* of the session clock: when the machine booted */
    bool zoned;             /* the zone of the machine's clock is known: of Cairn's log it is so far `east`, */
    int32_t east;           /* in seconds; a file of Windows has rules for it */
};

struct cairn_session {
    bool known; /* how its clock comes from the TSC */
    struct trace_clock clock;
    uint64_t hz;         /* of the session clock */
    int64_t start, stop; /* session clock */
    bool start_known, stop_known;
    bool circular, live;
    bool compact, full;                /* when it was made */
    bool none;                         /* it was made to write no switches */
    bool lives;                        /* its kernel tells when it comes and goes */
    int pebs;                          /* stamps: 1 present, 0 absent, -1 the session stream is missing */
    uint64_t buffer_bytes, tick_units; /* 0: unknown */
    uint32_t maximum_wait_reason;
    struct cairn_wall wall;
};

struct cairn_etl;

struct cairn_log {
    struct cairn_etl *etl;    /* the file it was read from; NULL: a serial log */
    struct cairn_input input; /* what failed in reading it shows here */
    bool own;                 /* it has the streams of a serial log beside the trace: text, truth */
    struct cairn_frames frames;
    struct cairn_text text;
    struct cairn_mappings maps; /* where a Linux' programs had code */
    uint32_t sessions;          /* bit i: something of session i + 1 is there */
    uint32_t number;            /* of the one that `session` and `cpu` are about */
    uint32_t wait_reasons;      /* MaximumWaitReason that was asked for; 0: none */
    uint32_t helpers;           /* threads that help whoever reads it (ahead.h) */
    struct cairn_session session;
    struct cairn_cpu *cpu;   /* room for all that such a log may have: MAX_CPUS, or CAIRN_CPUS_MOST of an ETL file */
    uint32_t cpus;           /* highest seen + 1, or as the session says */
    uint32_t bad_frames;     /* frames whose contents are not what their stream holds */
    uint32_t bad_pieces;     /* trace frames with bytes that are no events */
    uint32_t other_sessions; /* frames of sessions this reader does not know */
    bool has_end, has_truth;
    bool panic;         /* dumped by a panic: the CPUs were stopped wherever they were */
    const char *report; /* text of a machine without a trace (machine_text.h), in words; NULL: a log */
    char flaw[160];     /* then: what is wrong with it, or "" */
    bool miscopied;     /* a card that does not prove itself: nothing is concluded from its words */
};

struct cairn_choice {             /* what to read, and how; zeroed: the usual */
    uint32_t dump;                /* of a serial log, from 1; 0: the last */
    uint32_t maximum_wait_reason; /* of compact switches; 0: as the log says, or the build of Windows */
    uint32_t threads;             /* that decode; 0: one for each core, if the log is worth it */
    void (*progress)(uint64_t done, uint64_t all);
};

/* Reads a serial log or an ETL file. 0; -ENOENT: it is neither, or has no such dump; -ENOTSUP: an ETL file that cannot
 * be read here, `refusal` says why; or another negative errno. `input` is to be closed behind the log, and the log
 * stays where it is. */
#define CAIRN_REFUSAL 160u
int cairn_log_read(struct cairn_log *log, const struct cairn_input *input, const struct cairn_choice *choice,
                   char refusal[CAIRN_REFUSAL]);
void cairn_log_free(struct cairn_log *log);

/* Reads another session of the same serial log: 1..TRACE_MAX_SESSIONS, whether there is anything of it or not. */
void cairn_log_select(struct cairn_log *log, uint32_t number);

/* Whether any CPU of the session has BTS records or drains. */
bool cairn_log_has_branches(const struct cairn_log *log);

/* A key of the session: "session.N." and `key`. */
struct cairn_slice cairn_session_key(const struct cairn_log *log, const char *key);
/* The key of the end summary that tells `what` of it: "end." or "end.session.N." and the rest. */
struct cairn_slice cairn_end_key(const struct cairn_log *log, const char *what);

/* What came while the run went on: in front of the second header. */
struct cairn_sent {
    uint64_t frames;  /* of the trace, of all sessions; 0: it came at the end */
    uint64_t buffers; /* of the session that is read: those that were whole by then */
};
struct cairn_sent cairn_log_sent(const struct cairn_log *log);

/* The frames of a part of the truth. */
struct cairn_chain cairn_truth_chain(const struct cairn_truth_part *part);

/* Whether the session did not run all the time that the Debug Store did on this CPU. */
bool cairn_part_of_run(const struct cairn_log *log, uint32_t cpu);

/* Parts of cairn_log_read. What the frames that are not the trace's tell: text, session, truth. */
void cairn_log_streams(struct cairn_log *log);
/* What they tell of one CPU, which its index goes by. */
void cairn_log_cpu(struct cairn_log *log, uint32_t cpu);
/* Behind the index: records by time, the truth in order. */
void cairn_log_order(struct cairn_log *log, uint32_t cpu);
/* Checks and counts the events of one CPU's pieces, and cuts each piece at the first byte that is no event, where
 * another begins with the next frame. Walks rely on that. Touches nothing of the log but this CPU. */
void cairn_log_index(struct cairn_log *log, uint32_t cpu);
/* What comes behind the last event has been indexed. */
void cairn_log_index_end(struct cairn_log *log, uint32_t cpu);
/* A payload that lists may point to. */
const uint8_t *cairn_hold(const struct cairn_log *log, struct cairn_cpu *cpu, const uint8_t *payload, uint32_t size);

/* Whether anything is missing or malformed. What the kernel lost and counted, or overwrote, is no damage. */
bool cairn_log_damaged(const struct cairn_log *log);

/* Whether the model went by `value` of a policy: ds/policy/table/policy.c. */
bool cairn_policy_is(const struct cairn_log *log, const char *name, const char *value);

/* Whether PEBS is architectural (record format 15): then the Debug Store is for branch records alone. */
bool cairn_log_arch(const struct cairn_log *log);

/* Whether Linux set up the Debug Store and cairn grab read it: no rule about Cairn's own driver holds there. */
static inline bool cairn_log_grabbed(const struct cairn_log *log)
{
    return cairn_has_key(&log->text, "grab.source");
}
/* Whether Linux did not run its hook of drains, or that of switches, each time: so often. */
bool cairn_grab_skipped(const struct cairn_log *log, uint64_t skipped[2]);
/* Whether the processor was the model, whose truth tells of each PEBS record and branch. Nobody can of a real one's. */
bool cairn_log_modelled(const struct cairn_log *log);

/* First run of missing frames between two frame numbers, NULL: none. */
const struct cairn_run *cairn_missing_between(const struct cairn_frames *f, uint32_t after, uint32_t before);

/* A part of cairn_log_index: counts and keeps one event of piece `piece`. False: it is not what its hook ID says. */
bool cairn_log_index_event(struct cairn_log *log, uint32_t cpu, const struct cairn_event *event, uint32_t piece);
