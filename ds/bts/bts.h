/* SPDX-License-Identifier: MIT */
/* Branch Trace Store of one CPU, with or without PEBS. The rules are those of ds/ds.h. */
#pragma once

#include "ds/driver/beside.h"

enum ds_bts_mode { DS_BTS_OFF, DS_BTS_CIRCULAR, DS_BTS_INTERRUPT }; /* in the order of option bts */
enum ds_bts_rings { DS_BTS_ALL, DS_BTS_USER, DS_BTS_KERNEL };       /* in the order of option bts.rings */

struct ds_bts_run { /* of records, oldest first */
    const struct ds_bts_record *at;
    uint32_t count;
};

struct ds_bts_drain {
    enum cairn_ds_reason reason;
    enum ds_bts_mode mode;
    uint32_t epoch; /* BTS' own, from 0 */
    uint64_t tsc;
    uint64_t lost;            /* overwritten or dropped in this epoch, or CAIRN_DS_LOST_UNKNOWN */
    const uint64_t *area;     /* as struct ds_drain's */
    uint32_t records;         /* in both runs */
    struct ds_bts_run run[2]; /* the second is empty unless the circular buffer has wrapped */
};

struct ds_bts_counts {
    uint64_t records, drains, lost;
    bool lost_unknown; /* hw: a drain found that the buffer had been full */
};

struct ds_bts { /* the driver's, but for reading the counts */
    struct ds_beside beside;
    enum ds_bts_mode mode;
    uint32_t rings;   /* enum ds_bts_rings */
    uint32_t records; /* the buffer holds, the slack record not counted */
    struct ds_bts_record *buffer;
    uint64_t debugctl;        /* what IA32_DEBUGCTL is while a session runs, without TR */
    uint32_t undos;           /* of ds_cpu.undo, when ds_bts_start began */
    volatile uint32_t handed; /* as struct ds_cpu's */
    uint64_t branches_before; /* stepping: the machine's count when this epoch began */
    struct ds_bts_counts counts;
};

/* Why a processor cannot trace the branches of these rings; NULL: it can. */
const char *ds_bts_refusal(const struct ds_caps *caps, enum ds_bts_rings rings);

/* Bytes of a buffer of `records` records and one slack record, in whole pages. */
size_t ds_bts_buffer_bytes(uint32_t records);

/* After ds_cpu_init, whose `ds` uses `bts` and `buffer` from here on; accesses no MSR. `buffer`: as for ds_cpu_init.
 * `rings`: the privilege levels whose branches are traced. 0, or -EINVAL: the processor has no BTS (caps->bts_reason)
 * or cannot choose by ring (!caps->bts_cpl), or nothing is asked for. */
int ds_bts_init(struct ds_bts *bts, struct ds_cpu *ds, enum ds_bts_mode mode, enum ds_bts_rings rings, uint32_t records,
                void *buffer);

/* Runs its own numbered set-up sequence, after ds_start or without it. On failure everything is as before, PEBS keeps
 * running, and *refusal says why (step: in ds/bts/bts.c). Begins BTS' first epoch (hook, reason START). 0 or
 * -EFAULT. ds_stop, ds_pause, ds_resume, ds_pmi and ds_drain_panic handle both PEBS and BTS. */
int ds_bts_start(struct ds_cpu *ds, struct ds_refusal *refusal);

/* Drains the BTS buffer now, at the time `tsc`; counting is paused. If the reason is CAIRN_DS_SWITCH and the buffer is
 * empty, no epoch ends. Does nothing without BTS; `ds` may be NULL. PEBS and its epochs are not affected. */
void ds_bts_drain(struct ds_cpu *ds, enum cairn_ds_reason reason, uint64_t tsc);
