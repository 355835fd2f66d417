/* SPDX-License-Identifier: MIT */
/* Truth records: what really happened, recorded apart from the sessions. They leave Cairn in frames of
 * CAIRN_STREAM_TRUTH. For all else the rules of trace/wire/format.h apply. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/wire/format.h"

enum cairn_truth_kind {
    CAIRN_TRUTH_SWITCH = 1,
    CAIRN_TRUTH_PEBS = 2,
    CAIRN_TRUTH_BRANCH = 3,
    CAIRN_TRUTH_WORDS = 4,
    CAIRN_TRUTH_SWALLOWED = 5, /* a cairn_truth_pebs: the record before it took these counters' samples with it */
    CAIRN_TRUTH_ACQUIRED = 6,
    CAIRN_TRUTH_RELEASED = 7,
    CAIRN_TRUTH_THREAD = 8,
    CAIRN_TRUTH_INTERRUPT = 9,
    CAIRN_TRUTH_COUNTS = 10,
    CAIRN_TRUTH_SESSION = 16,
};
#define CAIRN_TRUTH_BYTES 48u

struct cairn_truth_switch {
    uint8_t kind;                /* 00: CAIRN_TRUTH_SWITCH */
    uint8_t cpu;                 /* 01 */
    uint8_t old_state;           /* 02: KTHREAD_STATE */
    uint8_t old_wait_reason;     /* 03: KWAIT_REASON */
    int8_t old_priority;         /* 04 */
    int8_t old_base;             /* 05: base priority at the switch */
    int8_t new_priority;         /* 06 */
    uint8_t old_ideal_processor; /* 07 */
    uint32_t old_tid;            /* 08: 0 is the CPU's idle thread */
    uint32_t new_tid;            /* 0C */
    uint64_t tsc;                /* 10: the very RDTSC value the trace was given */
    uint64_t pebs_index;         /* 18: PebsIndex read on the incoming side; 0 without DS. Format 15: the byte offset */
    uint32_t new_wait;           /* 20: ticks the incoming thread waited */
    int32_t old_quantum;         /* 24: ticks left */
    uint32_t reserved[2];        /* 28 */
};
_Static_assert(sizeof(struct cairn_truth_switch) == CAIRN_TRUTH_BYTES, "cairn_truth_switch");

struct cairn_truth_pebs {
    uint8_t kind;      /* 00: CAIRN_TRUTH_PEBS */
    uint8_t cpu;       /* 01 */
    uint8_t stored;    /* 02: 0: the processor (model) dropped it, the buffer was full */
    uint8_t more;      /* 03: so many CAIRN_TRUTH_WORDS follow, which are of this record */
    uint32_t tid;      /* 04: the thread that was stepped, from its stack */
    uint64_t tsc;      /* 08: TSC of the step, as in the record where its format has one */
    uint64_t event_ip; /* 10: the instruction that caused the record */
    uint64_t next_ip;  /* 18: where execution went on */
    uint64_t address;  /* 20: where the record was stored; format 15: physical */
    uint32_t counters; /* 28: applicable counters: bit i general-purpose, bit 16+i fixed */
    uint32_t epoch;    /* 2C */
};
_Static_assert(sizeof(struct cairn_truth_pebs) == CAIRN_TRUTH_BYTES, "cairn_truth_pebs");

/* What the thread had in its registers when it had executed the instruction, and what else the record shows, in words
 * of 8 bytes: registers from the frame of the #DB, branches from the single-stepping, MSRs and counters by RDMSR, never
 * from the model's input or the record. */
enum cairn_truth_group {
    CAIRN_TRUTH_STATE = 0, /* enum cairn_truth_state */
    CAIRN_TRUTH_XMM = 1,   /* XMM0 to XMM15, low half first */
    CAIRN_TRUTH_LBR = 2,   /* branches taken, newest first: from, to */
    CAIRN_TRUTH_CNTR = 3,  /* counters of the counter group, in its order; then slots and metrics, if they are in it */
    CAIRN_TRUTH_ARCH = 4,  /* format 15 only: enum cairn_truth_arch */
    CAIRN_TRUTH_GROUPS = 5,
};

/* registers in the order of the instruction encoding */
enum cairn_truth_state {
    CAIRN_TRUTH_RFLAGS = 0,
    CAIRN_TRUTH_RAX = 1,
    CAIRN_TRUTH_R15 = 16,
    CAIRN_TRUTH_TSC_FIRST = 17, /* the record's TSC is not before this */
    CAIRN_TRUTH_TSC_LAST = 18,  /* and not after this */
    CAIRN_TRUTH_MSR = 19, /* formats 1, 2: IA32_PERF_GLOBAL_STATUS; 4 and up: MSR_PEBS_DATA_CFG, 0: basic group only;
                           * 15: the groups (IA32_PMC_CFG_C_GROUPS) in CFG_C of the counters that caused the record, of
                           * all of them together, with the longest branch history that one of them asks for */
    CAIRN_TRUTH_STATES = 20,
};

/* What only records of architectural PEBS have: with CAIRN_TRUTH_MSR all that their headers say. The last three are 0
 * without their group. In every format a word of a record that none of the truth's words is for must be 0: it is
 * reserved, or padding, or what the model does not know. */
enum cairn_truth_arch {
    CAIRN_TRUTH_ARCH_MODE64 = 0,    /* 1: 64-bit mode: DS_ARCH_HEADER_MODE64 of each header that is no null header */
    CAIRN_TRUTH_ARCH_COUNTERS = 1,  /* masks of the counter group: [31:0] general-purpose, [63:32] fixed */
    CAIRN_TRUTH_ARCH_METRICS = 2,   /* its third word: 0, or DS_PEBS_CNTR_METRICS */
    CAIRN_TRUTH_ARCH_XSTATE = 3,    /* bitmap of the XER group */
    CAIRN_TRUTH_ARCH_LBR_CTL = 4,   /* of the LBR group */
    CAIRN_TRUTH_ARCH_LBR_DEPTH = 5, /* likewise */
    CAIRN_TRUTH_ARCH_WORDS = 6,
};
#define CAIRN_TRUTH_PER_RECORD 5u
#define CAIRN_TRUTH_LBR_MAX    32u
/* Words of the largest group, and so that whole records of them fit. */
#define CAIRN_TRUTH_WORDS_MAX 65u
_Static_assert(CAIRN_TRUTH_WORDS_MAX >= 2u * CAIRN_TRUTH_LBR_MAX && CAIRN_TRUTH_WORDS_MAX % CAIRN_TRUTH_PER_RECORD == 0,
               "cairn_truth_words");

struct cairn_truth_words {
    uint8_t kind;                          /* 00: CAIRN_TRUTH_WORDS */
    uint8_t cpu;                           /* 01 */
    uint8_t group;                         /* 02: enum cairn_truth_group */
    uint8_t first;                         /* 03: which of the group's words the first one is */
    uint32_t reserved;                     /* 04 */
    uint64_t word[CAIRN_TRUTH_PER_RECORD]; /* 08: beyond the group's last: 0 */
};
_Static_assert(sizeof(struct cairn_truth_words) == CAIRN_TRUTH_BYTES, "cairn_truth_words");

struct cairn_truth_branch { /* taken while BTS was on */
    uint8_t kind;           /* 00: CAIRN_TRUTH_BRANCH */
    uint8_t cpu;            /* 01 */
    uint8_t stored;         /* 02: 0: the processor (model) dropped it, the buffer was full */
    uint8_t reserved8;      /* 03 */
    uint32_t tid;           /* 04: the thread that was stepped, from its stack */
    uint64_t tsc;           /* 08: TSC of the step */
    uint64_t from;          /* 10: the branch */
    uint64_t to;            /* 18: where it led */
    uint32_t epoch;         /* 20: of BTS */
    uint32_t reserved[3];   /* 24 */
};
_Static_assert(sizeof(struct cairn_truth_branch) == CAIRN_TRUTH_BYTES, "cairn_truth_branch");

struct cairn_truth_session { /* as struct cairn_session_event */
    uint8_t kind;            /* 00: CAIRN_TRUTH_SESSION */
    uint8_t cpu;             /* 01 */
    uint8_t session;         /* 02 */
    uint8_t what;            /* 03 */
    uint32_t life;           /* 04 */
    uint64_t tsc;            /* 08 */
    uint32_t masks[8];       /* 10 */
};
_Static_assert(sizeof(struct cairn_truth_session) == CAIRN_TRUTH_BYTES, "cairn_truth_session");

/* For the events of activity.h: one for each time that a session could have had one. */

enum cairn_level { CAIRN_LEVEL_THREAD = 0, CAIRN_LEVEL_DPC = 1, CAIRN_LEVEL_ISR = 2 }; /* what a CPU is at */

enum cairn_thread_what {
    CAIRN_THREAD_READY = 1, /* made ready: 0532H */
    CAIRN_THREAD_BOOST = 2, /* and got a higher priority by that: 0530H, as the next ones */
    CAIRN_THREAD_DECAY = 3, /* a quantum has ended */
    CAIRN_THREAD_SET = 4,   /* it has set its own base priority: also 0531H */
};

struct cairn_truth_thread { /* read from the thread when all was done */
    uint8_t kind;           /* 00: CAIRN_TRUTH_THREAD */
    uint8_t cpu;            /* 01: that did it */
    uint8_t what;           /* 02: enum cairn_thread_what */
    uint8_t level;          /* 03: enum cairn_level: of the CPU meanwhile */
    uint32_t tid;           /* 04 */
    uint64_t tsc;           /* 08: as the event's */
    int8_t old_priority;    /* 10 */
    int8_t new_priority;    /* 11 */
    int8_t old_base;        /* 12 */
    int8_t new_base;        /* 13 */
    uint8_t waited;         /* 14: READY: 1: its wait has ended; 0: it is new */
    uint8_t state;          /* 15: READY: KTHREAD_STATE after it */
    uint8_t reserved8[2];   /* 16 */
    uint64_t reserved[3];   /* 18 */
};
_Static_assert(sizeof(struct cairn_truth_thread) == CAIRN_TRUTH_BYTES, "cairn_truth_thread");

enum cairn_interrupt_what {
    CAIRN_INTERRUPT_HANDLED = 1,   /* 0F43H */
    CAIRN_INTERRUPT_DPC = 2,       /* 0F44H */
    CAIRN_INTERRUPT_TIMER_DPC = 3, /* 0F45H */
    CAIRN_INTERRUPT_PROFILE = 4,   /* 0F2EH */
    CAIRN_INTERRUPT_PMC = 5,       /* 0F2FH */
};

struct cairn_truth_interrupt {
    uint8_t kind;         /* 00: CAIRN_TRUTH_INTERRUPT */
    uint8_t cpu;          /* 01 */
    uint8_t what;         /* 02: enum cairn_interrupt_what */
    uint8_t level;        /* 03: enum cairn_level: of what was interrupted */
    uint32_t tid;         /* 04: of the thread interrupted, from the stack in use */
    uint64_t begin;       /* 08: TSC; PROFILE and PMC: 0 */
    uint64_t tsc;         /* 10: as the event's */
    uint64_t address;     /* 18: of the routine; PROFILE and PMC: of the instruction interrupted */
    uint16_t vector;      /* 20: HANDLED; PMC: the source */
    int8_t priority;      /* 22: of that thread */
    uint8_t reserved8;    /* 23 */
    uint32_t reserved[3]; /* 24 */
};
_Static_assert(sizeof(struct cairn_truth_interrupt) == CAIRN_TRUTH_BYTES, "cairn_truth_interrupt");

struct cairn_truth_counts { /* right behind a switch, with option session.pmc: what the stepper has counted */
    uint8_t kind;           /* 00: CAIRN_TRUTH_COUNTS */
    uint8_t cpu;            /* 01 */
    uint16_t reserved16;    /* 02 */
    uint32_t tid;           /* 04: of the thread that leaves */
    uint64_t tsc;           /* 08: of the switch */
    uint64_t instructions;  /* 10: that thread's, since it came in */
    uint64_t branches;      /* 18 */
    uint64_t reserved[2];   /* 20 */
};
_Static_assert(sizeof(struct cairn_truth_counts) == CAIRN_TRUTH_BYTES, "cairn_truth_counts");

/* Spin locks, while a session wants them: one record when a CPU has got one, one when it has let go. What WMI_SPINLOCK
 * has of both, its depth among them, follows from the two. */
struct cairn_truth_acquired {
    uint8_t kind;         /* 00: CAIRN_TRUTH_ACQUIRED */
    uint8_t cpu;          /* 01 */
    uint8_t mode;         /* 02: enum spinlock_mode; CONVERTED: the CPU had it, shared, and has it alone from now on */
    uint8_t reserved8;    /* 03 */
    uint32_t tid;         /* 04 */
    uint64_t lock;        /* 08 */
    uint64_t query_tsc;   /* 10: before the first query; CONVERTED: 0 */
    uint64_t tsc;         /* 18: when it was acquired */
    uint32_t spins;       /* 20: queries after the first one; CONVERTED: 0, as the next */
    uint32_t interrupts;  /* 24: of this CPU at query_tsc */
    uint32_t reserved[2]; /* 28 */
};
_Static_assert(sizeof(struct cairn_truth_acquired) == CAIRN_TRUTH_BYTES, "cairn_truth_acquired");

struct cairn_truth_released {
    uint8_t kind;         /* 00: CAIRN_TRUTH_RELEASED */
    uint8_t cpu;          /* 01 */
    uint8_t irql;         /* 02 */
    uint8_t flags;        /* 03: WMI_SPINLOCK_EXECUTE_DPC, _ISR */
    uint32_t tid;         /* 04 */
    uint64_t lock;        /* 08 */
    uint64_t caller;      /* 10: where the release returns to */
    uint64_t tsc;         /* 18 */
    uint32_t interrupts;  /* 20: of this CPU */
    uint32_t reserved[3]; /* 24 */
};
_Static_assert(sizeof(struct cairn_truth_released) == CAIRN_TRUTH_BYTES, "cairn_truth_released");

struct cairn_truth_frame {
    uint16_t cpu;   /* 00 */
    uint16_t count; /* 02: records in this frame */
    uint32_t first; /* 04: ordinal of the first of them on this CPU, from 0 */
};
_Static_assert(sizeof(struct cairn_truth_frame) == 8, "cairn_truth_frame");
#define CAIRN_TRUTH_PER_FRAME ((CAIRN_FRAME_PAYLOAD_MAX - 8u) / CAIRN_TRUTH_BYTES)
