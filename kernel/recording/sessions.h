/* SPDX-License-Identifier: MIT */
/*
 * Trace sessions on a running machine: create, start, change masks, query, stop, remove. Options and
 * NtSetSystemInformation use this interface.
 *
 * A new session has its memory and runs on no CPU. It may be started and stopped again and again: its buffers keep what
 * it wrote in each of its lives. The session's CA10H events say what happens on each CPU and when.
 *
 * Unless its comment says otherwise, a function needs thread context and no spinlock held. Calls exclude each other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/rows.h"
#include "kernel/sched/cross_call.h"
#include "trace/hub.h"

struct ksession_params {
    uint32_t number; /* 1..TRACE_MAX_SESSIONS */
    struct perfinfo_groupmask masks;
    uint32_t clock; /* enum trace_clock_type */
    bool circular;
    bool live;                     /* not circular: its full buffers may be taken out while it runs */
    uint32_t buffer_kib, buffers;  /* 4..1024; at least kcpu_count, circular: and one more */
    const struct trace_pmc *items; /* that its events carry beside PebsIndex, while there is a session; NULL: none */
};

/* Clocks, and a hub for every CPU, on which no session runs. Before all others; all CPUs run. 0, or negative with one
 * line in `error`. */
int ksession_init(char *error, size_t error_size);

/* 0, or negative with one line in `error`, and nothing is taken: -EINVAL (out of range), -EEXIST (there is one of this
 * number), -ENOMEM. */
int ksession_create(const struct ksession_params *params, char *error, size_t error_size);
/* For tests: its memory is given back, and what it recorded is gone. 0, -ENOENT, -EBUSY (it runs, or is live:
 * somebody may be reading its buffers). */
int ksession_destroy(uint32_t number);

/* When these return it runs, has its new masks, or has ended on every CPU. 0, -ENOENT, -EBUSY (it runs already), for
 * the other two -EINVAL (it does not run). `masks`: NULL: those it had last. */
int ksession_start(uint32_t number, const struct perfinfo_groupmask *masks);
int ksession_change(uint32_t number, const struct perfinfo_groupmask *masks);
int ksession_stop(uint32_t number);

/* Switch events of a running session carry PebsIndex: those of `on` (CAIRN_STAMP_...) from now on, those of `off` no
 * longer. A start begins with all of them. 0, -ENOENT, -EINVAL (it does not run), -ENODEV (PEBS runs nowhere). */
int ksession_stamp(uint32_t number, uint32_t on, uint32_t off);

/* Other items of a running session's events (struct trace_config): `choose` sets them in the session, and no CPU uses
 * those it had before when this returns. 0, -ENOENT, -EINVAL (it does not run), or negative: what `choose` returned. */
typedef int (*ksession_choose)(struct trace_session *session, void *argument);
int ksession_carry(uint32_t number, ksession_choose choose, void *argument);

/* Runs `function` on this CPU as kcross_call_here does. Where it says that it has moved kcpu.pebs_stamp, each session
 * that runs here is told at once. */
void ksession_move_pebs(bool (*function)(void *argument), void *argument);

struct ksession_info {
    bool running;
    struct trace_config config;      /* as it was made, but for `items`, which are in force */
    struct perfinfo_groupmask masks; /* in force, or when it was last */
    uint32_t stamps;                 /* CAIRN_STAMP_...: switch events that carry PebsIndex, where PEBS runs */
    uint64_t lives;                  /* times it was started */
    uint64_t start_tsc, stop_tsc;    /* of its first start and its last stop; 0: none yet, start_tsc alone: it runs */
    struct trace_counts sum;         /* over all CPUs; while it runs a little behind */
};
/* 0 or -ENOENT. From any context, while nobody unmakes it. Takes no lock, for dumps: while somebody changes the masks,
 * these may be half the old ones. */
int ksession_query(uint32_t number, struct ksession_info *info);

/* The masks that hold on every CPU. 0, -ENOENT, -EINVAL (it does not run). */
int ksession_masks(uint32_t number, struct perfinfo_groupmask *masks);

/* NULL: there is none. From any context, while nobody unmakes it. */
struct trace_session *ksession_find(uint32_t number);

/* All sessions there are, on each CPU at one moment: started before `then`, or stopped behind `first`, which run there
 * as kcross_call_all's functions do. Where `then` says that it has moved kcpu.pebs_stamp, each is told at once. */
void ksession_start_all(bool (*then)(void));
void ksession_stop_all(kcross_call_function first);

/* Another part of the kernel that writes to sessions: ROWS_ADD(ksession, ...). On each CPU, before session `number`
 * starts, changes or stops there (NULL: nothing) and after it; interrupts off. */
struct ksession_row {
    void (*before)(uint32_t number, enum cairn_session_what what);
    void (*after)(uint32_t number, enum cairn_session_what what);
};
ROWS(ksession, const struct ksession_row);

/* ---- weak: another part of the kernel may define it */
struct ksession_change { /* of a session's masks; no group: it does not run */
    uint32_t number;
    struct perfinfo_groupmask old, new;
};
/* kcross_call_all(function, argument), which makes these changes, and no more than that by default. Thread context, no
 * spinlock held, one caller at a time. */
void ksession_call(const struct ksession_change *changes, unsigned count, kcross_call_function function,
                   void *argument);

/* ---- panic, all other CPUs being stopped: trace_hub_settle and trace_hub_freeze of every CPU. Nothing before
 * ksession_init. */
void ksession_settle(void);
void ksession_freeze(uint64_t tsc);
