/* SPDX-License-Identifier: MIT */
/*
 * A scripted machine for golden dumps: a scheduler and a Debug Store that exist only on paper, but drive the real trace
 * code through the calls the kernel makes, and write the truth the kernel would write. Deterministic: integers and a
 * seed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ds/layout.h"
#include "trace/hub.h"
#include "trace/locks/lock_sampling.h"
#include "trace/wire/truth.h"

#define SCRIPT_THREADS      24u /* of most kinds */
#define SCRIPT_MOST_THREADS 400u
#define SCRIPT_CPUS         256u /* at most: MAX_CPUS */
#define SCRIPT_TSC_HZ       UINT64_C(2400000000)
#define SCRIPT_TSC_START    UINT64_C(9600000000) /* 4 s after power-on */
#define SCRIPT_TICK_US      1000u
#define SCRIPT_RECORD_BYTES 176u /* PEBS format 4: basic group 32, GPR group 144 */
#define SCRIPT_PERIOD       1000u

struct script_thread {
    uint32_t tid;
    int8_t base, priority;
    bool sampled, busy;
    uint64_t left; /* TSC when it last gave up a CPU */
    char name[24];
    uint64_t ip, calls[4]; /* where it is, and behind which calls it returns */
    unsigned depth;
};

struct script_symbol {
    uint64_t address;
    uint32_t size;
    const char *name;
};

union script_truth {
    struct cairn_truth_switch sw;
    struct cairn_truth_pebs pebs;
    struct cairn_truth_words words;
    struct cairn_truth_branch branch;
    struct cairn_truth_session session;
    struct cairn_truth_acquired acquired;
    struct cairn_truth_released released;
    struct cairn_truth_interrupt interrupt;
};

struct script_hold { /* of a spin lock */
    uint64_t lock, query, tsc;
    uint32_t spins, interrupts;
    uint8_t mode;
};

struct script_locks {
    struct trace_spinlock_counts counts;
    unsigned sampling; /* which of script_sampling is in force */
    uint32_t depth;
    struct script_hold hold[TRACE_SPINLOCK_DEPTH];
    uint64_t released, events, untracked;
};

struct script_cpu {
    struct trace_hub_cpu *trace;
    uint32_t current;     /* thread number, 0: idle */
    uint64_t since, next; /* TSC of the last and of the next switch */
    /* Debug Store */
    uint64_t base, index;
    uint64_t physical; /* architectural PEBS: of the buffer; base is 0 then */
    uint8_t *records;
    uint32_t epoch;
    bool in_epoch;
    uint64_t lost;
    bool lost_unknown, bts_lost_unknown; /* hw: once */
    /* counts */
    uint32_t entries; /* of the model's log */
    uint64_t switches, all_records, drains, pmis, all_lost;
    /* Branch trace */
    struct ds_bts_record *branches;
    uint64_t bts_base, bts_index, bts_lost; /* index: bytes from the base */
    bool bts_round;
    uint32_t bts_epoch;
    uint64_t all_branches, bts_drains, all_bts_lost;
    uint32_t interrupts;
    struct script_locks locks;
    union script_truth *truth;
    uint32_t truth_count, truth_room;
};

/* Architectural PEBS in place of the Debug Store's: records with registers and counters, or large ones in fragments. */
enum script_arch { SCRIPT_ARCH_OFF, SCRIPT_ARCH_WHOLE, SCRIPT_ARCH_FRAGMENTS };

enum script_bts { SCRIPT_BTS_OFF, SCRIPT_BTS_CIRCULAR, SCRIPT_BTS_INTERRUPT };

struct script_options {
    uint32_t cpus, threads, switches;
    enum script_bts bts;
    enum script_arch arch;
    bool ds;
    bool hw;    /* as a processor shows it: a full buffer hides how many were dropped, no truth of records */
    bool old;   /* the DS area has the form of 60H bytes */
    bool drops; /* now and then a PMI comes too late: the buffer is full and records are dropped */
    bool panic; /* ends in trace_hub_freeze instead of a stop */
    bool truth;
    bool words;       /* of each PEBS record, in the truth; without: the truth of older kernels */
    bool log;         /* the model's own */
    bool locks;       /* spin locks; in the middle their sampling changes */
    bool told;        /* session 1: processes, threads, images; interrupts and samples */
    uint32_t restart; /* so many switches apart sessions 2 and up are stopped and started in turn; 0: never */
    uint64_t seed;
    void (*turn)(void *context, uint32_t n); /* behind switch n, from 0; NULL: nothing is */
    void *context;
};

struct script {
    struct script_options options;
    struct trace_session *const *sessions; /* [TRACE_MAX_SESSIONS], NULL: none of this number */
    struct trace_hub_cpu hub[SCRIPT_CPUS];
    uint64_t random;
    struct script_thread thread[SCRIPT_MOST_THREADS + 1]; /* 0: idle */
    struct script_cpu cpu[SCRIPT_CPUS];
    uint64_t start_tsc, stop_tsc;
    uint32_t record_bytes, buffer_bytes; /* of PEBS */
};

#define SCRIPT_RECORDS     8u /* room in the PEBS buffer; with architectural PEBS at least */
#define SCRIPT_THRESHOLD   6u
#define SCRIPT_BTS_RECORDS 16u
#define SCRIPT_BTS_ROOM    15u /* up to the threshold */

extern const struct script_symbol script_symbols[];
extern const unsigned script_symbol_count;
#define SCRIPT_LOCK_SYMBOLS 4u
extern const struct script_symbol script_lock_symbols[SCRIPT_LOCK_SYMBOLS]; /* with options.locks */
extern const struct trace_spinlock_sampling script_sampling[2];             /* of the first half, and of the second */

/* A number below `n`; one record of the truth. For the script's own files. */
uint32_t script_below(struct script *s, uint32_t n);
union script_truth *script_add_truth(struct script_cpu *cpu);
/* What register `i` of those in the GPR group holds: RFLAGS, RIP, then RAX on. */
uint64_t script_register(unsigned i, uint64_t tsc, uint64_t ip);
/* script_arch.c */
extern const char *const script_arch_events[]; /* as ds.event.N has them, on counters 0, 1 and 32; NULL: the end */
uint32_t script_arch_bytes(enum script_arch arch);
uint64_t script_arch_groups(enum script_arch arch);
void script_arch_epoch(const struct script *s, struct script_cpu *cpu, uint64_t tsc, enum cairn_ds_reason reason);
void script_arch_record(struct script *s, uint32_t c, uint64_t tsc, uint64_t ip);
uint8_t script_arch_words(const struct script *s, struct script_cpu *cpu, uint8_t c, uint64_t tsc, uint64_t ip);
/* script_locks.c */
void script_locks_configure(struct script *s, uint32_t c, uint64_t tsc, unsigned sampling, uint16_t hook_id);
void script_locks_stint(struct script *s, uint32_t c, uint64_t tsc);
void script_locks_before_switch(struct script *s, uint32_t c, uint64_t tsc);
void script_locks_after_switch(struct script *s, uint32_t c, uint64_t tsc);
/* script_told.c */
void script_told_start(struct script *s, uint64_t tsc);
void script_told_guest(struct script *s, uint64_t tsc);
void script_told_stop(struct script *s, uint64_t tsc);
void script_told_tick(struct script *s, uint32_t c, uint64_t tsc);

/* `sessions` are fresh; the clocks' base is SCRIPT_TSC_START. Runs to the end: afterwards every CPU is stopped or
 * frozen. `s` is aligned to 64 bytes. */
void script_run(struct script *s, const struct script_options *options, const struct trace_clocks *clocks,
                struct trace_session *const sessions[TRACE_MAX_SESSIONS]);
void script_free(struct script *s);
