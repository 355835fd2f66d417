/* SPDX-License-Identifier: MIT */
/* The rules of `cairn check`: how often each was applied, and where it did not hold. */
#pragma once

#include <stdio.h>

#include "tools/cairn/log/log.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/log/truth_stream.h"
#include "tools/cairn/model/counters.h"
#include "tools/cairn/model/timeline.h"

/* in the order they are shown */
enum cairn_rule {
    CAIRN_RULE_FRAMES,
    CAIRN_RULE_BUFFERS,
    CAIRN_RULE_EVENTS,
    CAIRN_RULE_TIMES,
    CAIRN_RULE_ITEMS,
    CAIRN_RULE_PMC,
    CAIRN_RULE_BATCHES,
    CAIRN_RULE_STAMPS,
    CAIRN_RULE_EPOCHS,
    CAIRN_RULE_AREAS,
    CAIRN_RULE_RECORDS,
    CAIRN_RULE_MAPS,
    CAIRN_RULE_COUNTS,
    CAIRN_RULE_SESSION,
    CAIRN_RULE_RUNDOWN,
    CAIRN_RULE_TRUTH_SESSION,
    CAIRN_RULE_TRUTH_RUNDOWN,
    CAIRN_RULE_TRUTH_COMPACT,
    CAIRN_RULE_TRUTH_FULL,
    CAIRN_RULE_TRUTH_LOST,
    CAIRN_RULE_TRUTH_RECORDS,
    CAIRN_RULE_TRUTH_WORDS,
    CAIRN_RULE_TRUTH_THREADS,
    CAIRN_RULE_TRUTH_LIVE,
    CAIRN_RULE_TRUTH_COUNTS,
    CAIRN_RULE_BTS,
    CAIRN_RULE_TRUTH_BRANCHES,
    CAIRN_RULE_LOG,
    CAIRN_RULE_LOCKS,
    CAIRN_RULE_TRUTH_LOCKS,
    CAIRN_RULES,
};

/* Why it is not checked who is told of: sound Windows may have written the file. */
enum cairn_unlisted {
    CAIRN_UNLISTED_START,   /* there is no list of what was there when the session began */
    CAIRN_UNLISTED_IDLE,    /* a thread of the idle process: only the list of the end has it */
    CAIRN_UNLISTED_CROSSED, /* it began or ended while a list was made, or the session began */
    CAIRN_UNLISTED_MERGED,  /* the file was made of several, and perhaps two sessions tell of it */
    CAIRN_UNLISTED
};

struct cairn_check {
    const struct cairn_log *log;
    FILE *out;                         /* for failures; NULL: only count them */
    enum cairn_by by;                  /* whose a record is */
    bool whole;                        /* nothing of the log is missing: counts can be compared */
    const struct cairn_plugin *plugin; /* of a log whose processor was QEMU with qemu-ds; NULL: unknown what it did */
    const char *no_rundown; /* of an ETL file: why it is not checked who is told of; NULL: it is, or there is nobody */
    uint64_t unlisted[CAIRN_UNLISTED]; /* processes, threads, images of which that is not checked, though of others */
    uint64_t backwards;                /* places where time goes back, as a sound file of Windows may have them */
    uint64_t compared[CAIRN_RULES], failed[CAIRN_RULES];
    uint64_t closed[CAIRN_CPUS_MOST][CCSWAP_CLOSE_REASONS]; /* batches, by what must have closed them */
    /* the truth */
    uint64_t incoming_known, incoming_unknown;
    uint64_t truth_missing;                           /* switches of the truth that are not in the trace: loss */
    uint64_t uncompared_switches, uncompared_records; /* in the trace, without truth to compare with */
    bool unfinished[CAIRN_CPUS_MOST]; /* stopped by a panic within its last switch, before the truth of it */
    uint64_t blames[CAIRN_BLAMES];
    uint64_t wordless; /* records with truth, but not of their words */
    uint64_t untimed;  /* records without a TSC */
    uint64_t wrong;
    uint64_t uncompared_branches;
    uint64_t uncompared_live;
    uint64_t uncompared_sessions; /* starts, stops and changes of masks without truth */
    uint64_t uncompared_locks;    /* events of spin locks without truth, and releases that may have been sampled out */
};

void cairn_check_init(struct cairn_check *check, const struct cairn_log *log, FILE *out);
void cairn_check_trace(struct cairn_check *check);
void cairn_check_truth(struct cairn_check *check);
void cairn_check_plugin(struct cairn_check *check); /* check->plugin is there */
uint64_t cairn_check_failed(const struct cairn_check *check);

/* Parts of cairn_check_trace. The batches of one CPU, one after another; what closed each is known from what follows: a
 * switch it could not take, a drain, or the end. */
struct cairn_batches {
    struct cairn_check *check;
    uint32_t n;          /* the CPU */
    bool open;           /* what closed the batch before is not yet known, and no hole is behind it */
    bool has_last;       /* there was one at all */
    bool has_drain;      /* since the last hole */
    int64_t drain;       /* when the epoch began */
    int64_t first, last; /* of the batch before: its first and last switch, size and table */
    uint32_t bytes;
    struct ccswap_buffer table;
};
void cairn_batches_next(struct cairn_batches *batches, const struct cairn_event *event);
void cairn_batches_drained(struct cairn_batches *batches, const struct cairn_epoch *epoch);
/* A session of this clock came, went, or got other masks. */
void cairn_batches_told(struct cairn_batches *batches);
void cairn_batches_hole(struct cairn_batches *batches, const struct cairn_hole *hole);
void cairn_batches_end(struct cairn_batches *batches);
/* Whether something may be missing behind the last event of a CPU that has one. */
bool cairn_check_end_unknown(const struct cairn_log *log, const struct cairn_cpu *cpu);
/* What the log's keys say of a CPU's PEBS: read once, drains are many. */
struct cairn_number {
    bool known;
    uint64_t is; /* 0 where it is not known */
};
struct cairn_pebs_keys {
    struct cairn_number format, record_bytes, records, threshold, buffer, buffer_bytes, late;
    struct cairn_number physical, groups, caps; /* architectural PEBS: of the buffer; in CFG_C; and CPUID.23H.4 */
    uint64_t overrun;                           /* how far the index may stand above the maximum */
};
/* The drains of one CPU and the events with their records, one after another. */
struct cairn_drained {
    struct cairn_check *check;
    uint32_t n; /* the CPU */
    struct cairn_pebs_keys keys;
    struct cairn_counters counters;
    bool grabbed;                                                             /* the log is of cairn grab */
    enum cairn_later { CAIRN_NOT_YET, CAIRN_MAYBE_LATER, CAIRN_LATER } later; /* whether its periods are pebs.later's */
    const struct cairn_epoch *now; /* whose records follow, nothing missing since */
    uint32_t part;                 /* of its records events, the next */
    bool has_last;
    uint64_t last;    /* TSC of the drain before, */
    uint64_t last_wr; /* and architectural PEBS: its WR; 0: that has gone back since then */
};
void cairn_drained_init(struct cairn_drained *drained, struct cairn_check *check, uint32_t cpu);
void cairn_drained_epoch(struct cairn_drained *drained, const struct cairn_epoch *epoch); /* it stays until the next */
void cairn_drained_part(struct cairn_drained *drained, const struct cairn_event *event);
void cairn_drained_hole(struct cairn_drained *drained);
/* Whether the value that a counter starts from (`counter` NULL: counts nothing) is that of its period, or of
 * pebs.later's. */
bool cairn_right_reset(const struct cairn_drained *drained, const struct cairn_counter *counter, uint64_t reset);
void cairn_check_counts(struct cairn_check *check);
void cairn_check_pebs(struct cairn_check *check, uint32_t cpu);
/* Of architectural PEBS: the registers of a drain; a record, and the drain it came with (NULL: that is missing). */
struct cairn_reader { /* of one CPU's records */
    struct cairn_check *check;
    uint32_t n;
};
void cairn_check_registers(struct cairn_drained *drained, const struct cairn_epoch *epoch);
void cairn_check_arch_record(const struct cairn_reader *reader, const struct cairn_record *record,
                             const struct cairn_epoch *epoch);
/* Counting is on only while a sampled thread runs: whether one can have caused this item, which is a record. */
void cairn_check_sampled(struct cairn_check *check, uint32_t cpu, const struct cairn_item *item);
void cairn_check_bts(struct cairn_check *check, uint32_t cpu);
void cairn_check_log(struct cairn_check *check, uint32_t cpu);
void cairn_check_locks(struct cairn_check *check, uint32_t cpu);
void cairn_check_items(struct cairn_check *check, uint32_t cpu);
void cairn_check_maps(struct cairn_check *check);
/* Time goes back on a CPU, as `how` says: a failure, unless a sound file of Windows may have that. */
void cairn_check_backwards(struct cairn_check *check, uint32_t cpu, int64_t time, const char *how);
/* Why it may; NULL: it may not. */
const char *cairn_check_may_go_back(const struct cairn_log *log);

/* Whether there may be something to check on a CPU. The header of an ETL file may count thousands without anything. */
static inline bool cairn_check_any(const struct cairn_log *log, uint32_t cpu)
{
    const struct cairn_cpu *c = &log->cpu[cpu];
    return cpu < MAX_CPUS || c->piece_count || c->holes.count || c->truth.count;
}

/* The lives of the session on one CPU, event by event. */
struct cairn_running {
    struct cairn_check *check;
    uint32_t n;   /* the CPU */
    bool unknown; /* since a hole: neither whether it runs nor with which masks and stamps */
    bool runs;
    bool began;    /* it has run before */
    uint16_t late; /* the hook of an event behind its end, which a panic may have written, and its time; 0: none */
    int64_t late_time;
    uint32_t life; /* the running one, or the last */
    struct perfinfo_groupmask masks;
    uint32_t stamps; /* CAIRN_STAMP_... */
};
void cairn_running_event(struct cairn_running *running, const struct cairn_event *event);
void cairn_running_hole(struct cairn_running *running, const struct cairn_hole *hole);
void cairn_running_end(struct cairn_running *running);
void cairn_check_session(struct cairn_check *check, uint32_t cpu);
void cairn_check_rundown(struct cairn_check *check);     /* against the truth, too */
void cairn_check_etl_rundown(struct cairn_check *check); /* by what the file alone tells */

/* Parts of cairn_check_truth. */
void cairn_check_records(struct cairn_check *check, uint32_t cpu);
void cairn_check_branches(struct cairn_check *check, uint32_t cpu);
void cairn_check_live(struct cairn_check *check, uint32_t cpu);
void cairn_check_pmc(struct cairn_check *check, uint32_t cpu);
void cairn_check_lock_truth(struct cairn_check *check, uint32_t cpu);

const char *cairn_rule_text(const struct cairn_log *log, enum cairn_rule rule);

/* What a rule comes to (rules.c, which has the table of them). */
enum cairn_word {
    CAIRN_VERIFIED,        /* compared with the truth */
    CAIRN_VERIFIED_PARTLY, /* some of it */
    CAIRN_CONSISTENT,      /* compared with nothing but the log itself */
    CAIRN_NOT_KNOWN,       /* nothing to compare with, or nothing to compare */
    CAIRN_FAILED,
    CAIRN_WORDS
};
const char *cairn_word_text(enum cairn_word word);
#define CAIRN_WHY 320u
/* *why: what keeps it from a better word; empty where it is verified, or has failed. */
enum cairn_word cairn_check_word(const struct cairn_check *check, enum cairn_rule rule, char why[CAIRN_WHY]);
/* Whether it is worth a line: what it is about is in the log, or belongs there. */
bool cairn_check_applies(const struct cairn_check *check, enum cairn_rule rule);

/* Counts a failure and, for the first few of each rule, prints it. `cpu` -1: of no CPU; `time` NULL: at no time. */
void cairn_fail(struct cairn_check *check, enum cairn_rule rule, int cpu, const int64_t *time, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
