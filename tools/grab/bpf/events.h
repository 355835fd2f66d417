/* SPDX-License-Identifier: MIT */
/* What the BPF programs and cairn-grab share: the events in the ring buffers, and the counts of each CPU. Both compile
 * this file; it includes only fixed-width types. */
#pragma once

#include <linux/types.h>

#define GRAB_CPUS     256 /* as MAX_CPUS in kernel/lib/limits.h */
#define GRAB_PIECE    4096
#define GRAB_AREA     0x1C0 /* the largest form of the DS area, to which Linux gives a page; the registers need less */
#define GRAB_AT_INDEX 5     /* the word of it that is PebsIndex */
#define GRAB_COMM     16
#define GRAB_ATTR     112 /* bytes of a struct perf_event_attr: all to sample_max_stack, in every kernel from 4.8 on */
#define GRAB_COUNTERS 64
#define GRAB_COLLECTS 0x400 /* PERF_X86_EVENT_LARGE_PEBS, in every kernel from 4.18 on: Linux collects its records */
#define GRAB_OWN      2     /* one for each kind of core */
#define GRAB_RING     (1 << 22) /* bytes of a ring, unless told otherwise */

/* A CPU's own life. Its first switch after the program has been attached makes it run; its last one stops it. */
enum grab_phase { GRAB_IDLE, GRAB_RUNS, GRAB_STOPPED };

enum grab_kind {
    GRAB_START,       /* the DS area, or the registers, as they were when this CPU began */
    GRAB_DRAIN,       /* Linux is about to read the records and to put the index back */
    GRAB_STOP,        /* this CPU ends; what is in the buffer stays there, and is copied */
    GRAB_BTS,         /* branches of a thread, which leaves, or which Linux is about to read */
    GRAB_RECORDS,     /* bytes of the START, DRAIN or STOP before */
    GRAB_BTS_RECORDS, /* bytes of the GRAB_BTS before; an interrupt may drain PEBS in between */
    GRAB_ENABLED      /* an event has come to a counter */
};

/* Architectural PEBS: Linux is in its function that drains, and has not read the index yet. */
enum grab_draining { GRAB_NO_DRAIN, GRAB_BY_SOFTWARE, GRAB_BY_INTERRUPT };

/* A read of the index of architectural PEBS by Linux, the first one behind a switch. */
struct grab_read {
    __u64 switches; /* of this CPU before it; 0: there is none */
    __u64 drains;   /* likewise */
    __u32 bytes;    /* that the buffer had */
    __u32 tid;      /* that ran: until the end of a switch that is the old one */
};

/* What was not recorded, and why. Each is written by its own CPU only. */
struct grab_cpu {
    __u32 phase;                 /* enum grab_phase */
    __u32 draining;              /* enum grab_draining */
    __u64 drains;                /* GRAB_DRAINs and GRAB_STOPs so far: the number of the next */
    __u64 switches;              /* so far */
    __u64 lost_switches;         /* the ring was full */
    __u64 lost_drains;           /* the ring was full: nothing is known of them */
    __u64 lost_bytes;            /* of records; the ring was full, or memory could not be read */
    __u64 interrupts;            /* drains by an interrupt of the PMU */
    __u64 bts_drains;            /* GRAB_BTSs so far */
    __u64 lost_bts;              /* bytes, as lost_bytes */
    __u64 bts_seen;              /* up to this address branches have been copied, or are being copied */
    __u64 bts_resets, bts_found; /* times that Linux set the index back; what bts_seen was at the last */
    __u64 lost_events;           /* GRAB_ENABLED; the ring was full */
    __u64 throttled;             /* times that Linux stopped an event with PEBS until the next tick */
    __u64 unseen;                /* drains of architectural PEBS whose index was not seen: Linux skipped that hook */
    struct grab_read read;       /* behind the last switch; with switches of an earlier one: there is none yet */
    __u64 event[GRAB_COUNTERS];  /* what the counter has: the event's ID in Linux; 0: not told yet */
};

/* Where the kernel has what is read; set before the programs are loaded. */
struct grab_addresses {
    __u64 offsets;      /* of __per_cpu_offset */
    __u64 events;       /* of cpu_hw_events, less a CPU's offset */
    __u64 pmu;          /* of x86_pmu */
    __u64 switch_state; /* 1: sched_switch has a fourth argument, the state */
    __u64 bts;          /* INTEL_PMC_IDX_FIXED_BTS: which of a CPU's events is that of BTS */
    __u64 direct_map;   /* architectural PEBS: of page_offset_base, where physical address 0 is mapped; 0: DS PEBS */
};

/* What both sides write while the programs run. */
struct grab_shared {
    __u32 on, ends; /* cairn-grab's: CPUs begin, and end, at their next switch, or read of the index */
    __u32 events;   /* cairn-grab's: tell what is counted; set before `on` */
    __u32 reserved;
    __u64 own[GRAB_OWN]; /* IDs of cairn-grab's events that have Linux read the index: they are not told; 0: none */
    struct grab_cpu cpu[GRAB_CPUS];
};

/* Ring of drains: START, then DRAIN or BTS with its RECORDS, ..., STOP with its RECORDS. */
struct grab_drain {
    __u32 kind;
    __u32 interrupt; /* 1: by the PMU's interrupt; 0: by a switch, or by a read or change of an event */
    __u64 number;    /* of this CPU and kind (DRAIN and STOP are one), from 0; a gap: lost */
    __u64 time;      /* CLOCK_MONOTONIC */
    __u64 pebs_enabled, data_cfg;
    __u64 capabilities; /* IA32_PERF_CAPABILITIES as Linux has it */
    __u64 bytes;        /* of records, up to the index; those that follow, unless some are lost */
    __u64 first;        /* address of the first; all but BTS: the base */
    __u64 switches;     /* of this CPU before it */
    __u32 tid;          /* that runs */
    __u32 reserved;
    __u8 area[GRAB_AREA]; /* the DS area; of architectural PEBS: struct grab_registers */
};

/* As struct ds_arch_registers (ds/pebs23_layout.h): IA32_PEBS_BASE, IA32_PEBS_INDEX, CFG_C of 32 general-purpose and 16
 * fixed counters. */
struct grab_registers {
    __u64 base, index, cfg_c[48];
};

/* A part of the records of a drain. */
struct grab_records {
    __u32 kind;
    __u32 bytes;
    __u64 number; /* of the drain */
    __u64 offset; /* from the first of them */
    __u8 data[GRAB_PIECE];
};

/* An event, as it comes to a counter of this CPU, in the ring of drains. */
struct grab_enabled {
    __u32 kind;
    __u32 counter;   /* its bit in a record's counters */
    __u64 drains;    /* of this CPU before it */
    __u64 config;    /* of IA32_PERFEVTSELx, as Linux has made it of the event */
    __u64 large;     /* PERF_SAMPLE_... with which Linux collects records (large PEBS); 0: unknown */
    __u32 of_kernel; /* 1: no program has opened it, but the kernel itself */
    __u32 flags;     /* Linux' own: GRAB_COLLECTS */
    __u8 attr[GRAB_ATTR];
};

/* Ring of switches. */
struct grab_switch {
    __u64 number; /* of this CPU, from 0; a gap: lost */
    __u64 time;   /* CLOCK_MONOTONIC */
    __u64 index;  /* PebsIndex; 0: there is no DS area, or it is in a register, which BPF cannot read (index.h) */
    struct grab_read read; /* as above, behind an earlier switch */
    __u64 drains;          /* of this CPU before it */
    __u32 old_tid, new_tid;
    __u32 old_tgid, new_tgid;
    __u32 old_state; /* TASK_..., as the tracepoint has it; 0: it can still run */
    __u32 old_flags; /* PF_... */
    __u32 new_flags;
    __u32 of_kernel;                        /* architectural PEBS: 1: a counter with PEBS counts in the kernel, too */
    __s32 old_priority, old_base, new_base; /* Linux': 0 to 139, -1 deadline */
    char old_comm[GRAB_COMM], new_comm[GRAB_COMM];
};
