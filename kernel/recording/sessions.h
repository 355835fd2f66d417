/* SPDX-License-Identifier: MIT */
/*
 * The trace sessions of a run: made before it, started and stopped with it on all CPUs. A session has its memory and
 * runs on no CPU at first. It may be started and stopped again and again: its buffers keep what it wrote in each of its
 * lives. The session's CA10H events say what happens on each CPU and when.
 *
 * Functions need thread context, no spinlock held, and one caller at a time, unless their comments say otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/rows.h"
#include "kernel/sched/cross_call.h"
#include "trace/hub.h"

struct ksession_params {
    uint32_t number; /* 1..TRACE_MAX_SESSIONS; there is none of this number */
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
/* 0, or -EINVAL (too few buffers) or -ENOMEM with one line in `error`, and nothing is taken. */
int ksession_create(const struct ksession_params *params, char *error, size_t error_size);

struct ksession {
    struct trace_session *session;   /* NULL: there is none; it lies at the start of its pages */
    struct perfinfo_groupmask masks; /* in force, or when it was last */
    uint32_t without;                /* CAIRN_STAMP_...: its switch events that carry no PebsIndex */
    bool running;
    uint64_t lives;               /* times it was started */
    uint64_t start_tsc, stop_tsc; /* of its first start and its last stop; 0: none yet */
};
/* NULL: there is none. Any context, for reading: while somebody changes the masks, these may be half the old ones. */
struct ksession *ksession_get(uint32_t number);
struct trace_session *ksession_find(uint32_t number);
/* What it has counted on all CPUs; while it runs a little behind. Any context. */
struct trace_counts ksession_counts(const struct ksession *session);

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
/* System time at a TSC value, in units of 100 ns since 1601-01-01, for the sessions with that clock. */
int64_t ksession_filetime(uint64_t tsc);
/* kcross_call_all(function, argument), which makes these changes, and no more than that by default. */
void ksession_call(const struct ksession_change *changes, unsigned count, kcross_call_function function,
                   void *argument);

/* ---- for who starts, changes and stops sessions by themselves */
/* The session starts, stops or changes as `session` says, on this CPU; interrupts off. */
void ksession_act(struct ksession *session, enum cairn_session_what what);
/* kcpu.pebs_stamp has moved on this CPU: each session that runs is told; interrupts off. */
void ksession_tell(void);
/* Before it starts on any CPU, and once it has stopped on all of them. */
void ksession_note_start(struct ksession *session);
void ksession_note_stop(struct ksession *session);
