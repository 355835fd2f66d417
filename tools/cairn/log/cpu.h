/* SPDX-License-Identifier: MIT */
/* What a log holds of one CPU: its pieces and the holes between them, and by what they are of, counts and lists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cairn/event/event.h"
#include "trace/session.h"
#include "trace/wire/format.h"
#include "trace/wire/spinlock.h"
#include "trace/wire/truth.h"

/* CPUs of a log, at most: a kernel of Cairn has MAX_CPUS, and Windows' buffers have 11 bits for the number of theirs.
 */
#define CAIRN_CPUS_MOST 2048u

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
    CAIRN_MAYBE_OLDER,   /* the same: before the first, as the file keeps only newer buffers */
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
    uint64_t drains, empty;     /* that ended something; those of them without a record */
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

struct cairn_cpu_switches {
    uint64_t batches, forms[CCSWAP_FULL + 1], compact, full; /* by record form, in 0525H, in 0524H */
    uint64_t compact_bytes, full_bytes; /* of the events that hold them, headers and padding included */
};

struct cairn_cpu_pebs {
    bool fault_like; /* its PEBS records hold the state before the instruction: RIP is that of the instruction itself */
    uint64_t records, epochs, events; /* events: CA01H, CA04H */
    struct cairn_drain_sum drains;
    uint64_t base; /* architectural PEBS: where the buffer lies, by the first drain; 0: unknown, or it is not */
};

struct cairn_cpu_bts {
    uint64_t records, strays; /* strays: their drain, or records before them, are missing */
    uint64_t epochs, drained; /* drains; those that ended something, as of PEBS */
    struct cairn_lost lost;
};

struct cairn_cpu_locks {
    struct {
        struct cairn_lock_config *items;
        size_t count, room;
    } configs;
    uint64_t events;
};

struct cairn_cpu_activity {
    uint64_t events[CAIRN_LIVE_MOST];
    struct cairn_live pmc_config; /* the first; payload NULL: none */
};

struct cairn_cpu_indexing {       /* while it is indexed */
    struct cairn_records records; /* those of one event, */
    struct cairn_epochs epochs;   /* and the drain they belong to */
    struct cairn_bts_drain bts;   /* the last */
    bool piece_begins;            /* with the next event */
};

struct cairn_cpu {
    struct cairn_piece *pieces;
    size_t piece_count, piece_room;
    struct {
        struct cairn_hole *items;
        size_t count, room;
    } holes;
    uint32_t tail; /* hole behind the last piece, or CAIRN_NO_HOLE */
    struct {
        uint8_t **items;
        size_t count, room;
    } held; /* payloads that lists point to, unless the file is in memory */
    struct cairn_cpu_end end;
    /* what is there */
    uint64_t buffers, events, other_events;
    uint64_t undecoded;  /* that are shown as they are (cairn_event_decoded) */
    uint64_t with_items; /* of `events`: they carry PMC items */
    uint64_t log_entries;
    uint32_t bad_pieces; /* trace frames with bytes that are no events */
    struct cairn_cpu_switches switches;
    struct cairn_cpu_pebs pebs;
    struct cairn_cpu_bts bts;
    struct cairn_cpu_locks locks;
    struct cairn_cpu_activity activity;
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
        uint32_t stretch[CAIRN_STRETCHES], stretches[CAIRN_STRETCHES]; /* the last one; so many so far */
    } told;
    struct cairn_cpu_indexing indexing;
};
