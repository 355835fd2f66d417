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
#include "trace/clock.h"
#include "trace/session.h"
#include "trace/wire/format.h"
#include "trace/wire/truth.h"

/* ---- holes: where a CPU's stream is not continuous -------------------------------------------------------------- */

enum cairn_hole_kind {
    CAIRN_HOLE_BYTES,       /* part of one buffer is not in the log */
    CAIRN_HOLE_BUFFERS,     /* whole buffers are not in the log (circular mode: or were overwritten) */
    CAIRN_HOLE_OVERWRITTEN, /* circular mode wrote over them: no damage */
    CAIRN_HOLE_LOST,        /* the kernel found no buffer, and counted what it lost */
    CAIRN_HOLE_STOPPED,     /* the session did not run here, between two of its lives or before its first, or its masks
                             * did not ask for switches, perhaps up to its end */
    CAIRN_HOLE_LOST_HERE,   /* the same, but in a live session, which then found one */
    CAIRN_HOLE_MAYBE_LOST,  /* circular mode, or the end of a panic's or a live dump: what was lost may have been lost
                             * here */
};

enum cairn_maybe {
    CAIRN_MAYBE_COUNTED, /* events or buffers were lost, nobody knows where */
    CAIRN_MAYBE_MISSING, /* of an ETL file: its buffers' sequence numbers leave some out, nobody knows of which CPU */
    CAIRN_MAYBE_UNREAD,  /* the same: a buffer cannot be read, nobody knows of which CPU */
};

struct cairn_hole {
    uint8_t kind;
    bool malformed;           /* BYTES: they are there, but are no events */
    uint8_t why;              /* MAYBE_LOST: enum cairn_maybe */
    uint32_t buffer, buffers; /* first buffer concerned; how many (BUFFERS, OVERWRITTEN) */
    uint64_t bytes;           /* BYTES: how many */
    uint32_t after, before;   /* numbers of the frames around it: missing ones between these belong to it */
    int64_t until;            /* STOPPED: when it began to run again; */
    int64_t since;            /* when it had stopped: INT64_MIN where that is not told */
};

#define CAIRN_NO_HOLE UINT32_MAX

/* ---- one CPU ---------------------------------------------------------------------------------------------------- */

struct cairn_piece { /* a part of one buffer in which nothing is missing: whole events */
    const uint8_t
        *data;       /* behind WMI_BUFFER_HEADER where that is part of it; NULL: they are in a serial log's frames */
    uint64_t at;     /* of its first frame: see struct cairn_chain */
    uint32_t size;   /* of the events, up to the first byte that is none */
    uint32_t buffer; /* this CPU's how-manieth */
    uint32_t sequence, offset, used;   /* as in the first frame; offset counts from the buffer header */
    uint32_t frame, frames, crc;       /* as in struct cairn_chain: number, count (0: of an ETL file), crc */
    uint32_t hole;                     /* index of the hole before it, or CAIRN_NO_HOLE */
    struct cairn_batch_counts batches; /* as in struct cairn_chain */
    uint16_t cpu;
    bool malformed;
    bool header;      /* it begins its buffer: the first frame has WMI_BUFFER_HEADER in front of the events */
    bool added;       /* of an ETL file: by its writer, it is not the kernel's */
    bool lost_before; /* it begins its buffer, whose header says that events were lost in front of it */
};

struct cairn_record { /* one PEBS record */
    const uint8_t *at;
    uint64_t address, ip, tsc; /* where it lay; the instruction that caused it (see `after`); tsc 0 where !timed */
    uint64_t index; /* PebsIndex, as switches have it, before it was stored; CAIRN_NO_INDEX: not known (format 15) */
    int64_t time;   /* session clock; of the drain where !timed */
    uint32_t size, epoch;
    uint32_t piece;  /* of this CPU: where its event lies */
    uint32_t number; /* in its list, as they came */
    uint8_t format;
    bool after; /* ip is where execution went on: formats 0 and 1, but of a fault-like CPU, name no more */
    bool timed; /* its format has a TSC and the session's clock is known */
};

#define CAIRN_NO_INDEX UINT64_MAX

struct cairn_epoch {     /* one drain */
    const uint8_t *area; /* the DS area, unaligned: area_bytes, of whole words, at least the 60H form; format 15:
                          * struct ds_arch_registers */
    uint32_t area_bytes;
    int64_t time; /* of the event */
    uint64_t tsc, lost;
    uint64_t swallowed; /* samples another counter's record took with it, or CAIRN_DS_LOST_UNKNOWN */
    uint32_t number, record_bytes, record_events;
    uint32_t bytes_seen, events_seen, records; /* in the records events that follow: of whole records */
    uint32_t torn;                             /* records of which only parts are there */
    uint64_t base;                             /* of the PEBS buffer, as `area` has it */
    uint32_t piece;
    uint8_t reason, format;
};

struct cairn_bts_drain { /* of a BTS buffer */
    int64_t time;        /* of the event */
    uint64_t area[4];    /* of the DS area: base, index, absolute maximum, threshold */
    uint64_t tsc, lost;
    uint32_t number, tid, record_bytes, record_events;
    uint32_t bytes_seen, events_seen; /* in the events that follow, up to the first that is missing */
    uint8_t reason;
    bool interrupting;
};

struct cairn_logged { /* one entry of the model's log */
    struct cairn_model_entry head;
    const uint8_t *actions; /* head.actions of them, unaligned: cairn_logged_action (model_log.h) */
    int64_t time;           /* session clock */
};

#define CAIRN_LIVE_MOST 16u /* kinds: activity.h */

#define CAIRN_STRETCHES 3u /* told.h */

struct cairn_told {         /* an event about a process, a thread, an image, or what goes with them */
    const uint8_t *payload; /* unaligned */
    int64_t time;           /* session clock */
    uint32_t size;          /* of the payload */
    uint16_t hook;
    uint8_t version, class, what;
    uint32_t stretch[CAIRN_STRETCHES]; /* in force; 0: none */
};

struct cairn_ack { /* a session came, went, or got other masks: this one, or another of the same clock */
    struct cairn_session_event event;
    int64_t time;
    uint32_t piece;
    bool own;                          /* of the session that is read */
    bool first;                        /* it is the first event of its piece */
    uint32_t stretch[CAIRN_STRETCHES]; /* own: in force from here on */
};

struct cairn_live {         /* an event between the switches: activity.h */
    const uint8_t *payload; /* unaligned */
    int64_t time;           /* session clock */
    uint32_t piece;         /* of this CPU: where it lies */
    uint16_t size;          /* of the payload */
    uint8_t kind;           /* enum cairn_live_kind */
    uint8_t pointer;        /* bytes of one in the payload */
};

struct cairn_lock_event {   /* 0529H */
    const uint8_t *payload; /* unaligned: cairn_lock_read (locks.h) */
    int64_t time;           /* session clock */
    uint32_t piece;
    uint32_t configs; /* of this CPU, before it */
    uint8_t pointer;  /* bytes of one in the payload */
};

struct cairn_lock_config { /* 0F4BH, 0F4CH */
    struct perfinfo_spinlock_config is;
    int64_t time;
    uint32_t piece;
    bool end;
};

struct cairn_truth_part {
    uint64_t at;           /* of its first frame: see struct cairn_chain */
    uint32_t first, count; /* ordinal of the first record, how many */
    uint32_t frame, frames, crc, kinds;
};

struct cairn_lost {
    uint64_t counted;
    bool unknown; /* and others, nobody knows how many */
};

enum { CAIRN_TRIED, CAIRN_WRITTEN, CAIRN_LOST };

/* end.cpu.N.*, of another session than 1 end.session.S.cpu.N.*: each `..._known` where the key was there and
 * well-formed. */
struct cairn_cpu_end {
    bool events_known, switches_known, compact_known, full_known, batches_known, buffers_known, ds_known, truth_known;
    bool ds_lost_known, swallowed_known, bts_known, bts_lost_known, log_known, lives_known, locks_known;
    uint64_t events[3], switches[3], compact[3], full[3];
    uint64_t batches[CCSWAP_CLOSE_REASONS];
    uint64_t buffers;
    uint64_t ds[5]; /* records drains pmis lost steps */
    uint64_t swallowed;
    uint64_t bts[3];   /* records drains lost */
    uint64_t truth[3]; /* switches records lost */
    uint64_t log;      /* entries of the model's log */
    uint64_t lives;    /* times the session was started here; kernels before there were several do not tell */
    uint64_t locks[5]; /* contended uncontended released events untracked */
};

struct cairn_drain_sum {        /* over epochs in their order: drains.h */
    uint64_t drains;            /* that ended something */
    uint64_t missing_bytes;     /* of records, behind the drains that are there */
    uint64_t throttles, cycles; /* how often counting stood still, and how long by the TSC */
    struct cairn_lost dropped, swallowed;
    uint64_t since; /* TSC: it does since then, */
    bool throttled; /* if it does */
};

struct cairn_records {
    struct cairn_record *items;
    size_t count, room;
    struct cairn_join { /* one that comes in parts, as far as they have come */
        uint8_t *bytes;
        size_t used, room;
        uint64_t address, next, end; /* of its first byte; of the part that is due; its end, UINT64_MAX: not known */
        uint32_t epoch, piece;
        bool open, torn; /* all of it is here, up to `next`; it is one that has lost a part */
    } join;
    struct {
        uint8_t **items;
        size_t count, room;
    } joined; /* bytes of those that `items` has and that came in parts */
};

struct cairn_epochs {
    struct cairn_epoch *items;
    size_t count, room;
};

struct cairn_cpu {
    struct cairn_piece *pieces;
    size_t piece_count, piece_room;
    struct {
        struct cairn_hole *items;
        size_t count, room;
    } holes;
    uint32_t tail;                /* hole behind the last piece, or CAIRN_NO_HOLE */
    struct cairn_records records; /* while it is indexed: those of one event, */
    struct cairn_epochs epochs;   /* and the drain they belong to */
    struct {
        struct cairn_lock_config *items;
        size_t count, room;
    } lock_configs;
    struct {
        struct cairn_truth_part *items;
        size_t count, room;
    } truth; /* by `first` */
    struct {
        struct cairn_ack *items;
        size_t count, room;
    } acks;
    struct {
        struct cairn_told *items;
        size_t count, room;
    } told;
    struct {
        uint8_t **items;
        size_t count, room;
    } held; /* payloads that lists point to, unless the file is in memory */
    uint32_t stretch[CAIRN_STRETCHES], stretches[CAIRN_STRETCHES]; /* the last one; so many so far */
    struct cairn_cpu_end end;
    bool fault_like; /* its PEBS records hold the state before the instruction: RIP is that of the instruction itself */
    /* what is there */
    uint64_t buffers, events, batches, other_events;
    uint64_t undecoded;               /* that are shown as they are (cairn_event_decoded) */
    uint64_t with_items;              /* of `events`: they carry PMC items */
    uint64_t bts_records, bts_strays; /* strays: their drain, or records before them, are missing */
    uint64_t ds_events;               /* CA01H, CA04H */
    uint64_t bts_epochs, bts_drained; /* drains; those that ended something, as of PEBS */
    struct cairn_bts_drain bts_last;  /* while it is indexed */
    uint64_t pebs_records, epochs_seen;
    struct cairn_drain_sum drains;
    uint64_t pebs_base; /* architectural PEBS: where the buffer lies, by the first drain; 0: unknown, or it is not */
    bool piece_begins;  /* while it is indexed: with the next event */
    struct cairn_lost bts_lost;
    uint64_t live_events[CAIRN_LIVE_MOST], lock_events, log_entries;
    struct cairn_live pmc_config;                   /* the first; payload NULL: none */
    uint32_t bad_pieces;                            /* trace frames with bytes that are no events */
    uint64_t forms[CCSWAP_FULL + 1], compact, full; /* switches: by record form, in 0525H, in 0524H */
    uint64_t compact_bytes, full_bytes;             /* of the events that hold them, headers and padding included */
};

#define CAIRN_WAIT_REASONS_UNKNOWN UINT8_MAX /* as maximum_wait_reason: no state can be told from a reason */

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
};

struct cairn_etl;

struct cairn_log {
    struct cairn_etl *etl;    /* the file it was read from; NULL: a serial log */
    struct cairn_input input; /* what failed in reading it shows here */
    bool own;                 /* it has the streams of a serial log beside the trace: text, truth */
    struct cairn_frames frames;
    struct cairn_text text;
    uint32_t sessions;     /* bit i: something of session i + 1 is there */
    uint32_t number;       /* of the one that `session` and `cpu` are about */
    uint32_t wait_reasons; /* MaximumWaitReason that was asked for; 0: none */
    uint32_t helpers;      /* threads that help whoever reads it (ahead.h) */
    struct cairn_session session;
    struct cairn_cpu cpu[MAX_CPUS];
    uint32_t cpus;           /* highest seen + 1, or as the session says */
    uint32_t bad_frames;     /* frames whose contents are not what their stream holds */
    uint32_t bad_pieces;     /* trace frames with bytes that are no events */
    uint32_t other_sessions; /* frames of sessions this reader does not know */
    bool has_end, has_truth;
    bool panic; /* dumped by a panic: the CPUs were stopped wherever they were */
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

/* Whether the model went by `value` of a policy: ds/policy/policy.c. */
bool cairn_policy_is(const struct cairn_log *log, const char *name, const char *value);

/* Whether PEBS is architectural (record format 15): then the Debug Store is for branch records alone. */
bool cairn_log_arch(const struct cairn_log *log);

/* Whether the processor was the model, whose truth tells of each PEBS record and branch. Nobody can of a real one's. */
bool cairn_log_modelled(const struct cairn_log *log);

/* First run of missing frames between two frame numbers, NULL: none. */
const struct cairn_run *cairn_missing_between(const struct cairn_frames *f, uint32_t after, uint32_t before);

/* A part of cairn_log_index: counts and keeps one event of piece `piece`. False: it is not what its hook ID says. */
bool cairn_log_index_event(struct cairn_log *log, uint32_t cpu, const struct cairn_event *event, uint32_t piece);
