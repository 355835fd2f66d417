/* SPDX-License-Identifier: MIT */
/*
 * Linux' threads as CCSWAP has them. docs/how-to/own-records.md has this as a table.
 *
 *   state     0 (can run, or was preempted): Ready. S, D, I, P and what else waits: Waiting, for an unknown reason.
 *             T, t (stopped, traced): Suspended. Z, X: Terminated.
 *   priority  fair: 1 (nice 19) to 8 (nice 0) to 15 (nice -20). Real time: 16 (1) to 30 (99). Deadline: 31.
 *   thread    the TID; 0 on every CPU: idle.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tools/grab/base/store.h"
#include "trace/session.h"

/* CCSWAP's, of Linux' 0 to 139, or below 0: deadline. */
int8_t grab_priority(int32_t priority);

/* A switch as the trace takes it. */
struct trace_switch grab_switch_of(const struct grab_switched *s);

struct grab_thread {
    uint32_t tid, tgid, flags;
    int8_t base;
    char comm[GRAB_COMM + 1];
};

struct grab_threads {
    struct grab_thread *items; /* by ID; each once, with the last name that it had */
    size_t count, room;
};

void grab_threads_find(struct grab_threads *threads, struct grab_store *store);

struct grab_sight { /* a thread comes to a CPU, or leaves it */
    struct grab_switched *s;
    uint32_t tid;
    size_t number; /* of the switch on its CPU */
};

/* All, by ID, those of a thread by time; the caller frees them. */
struct grab_sight *grab_sights_find(struct grab_store *store, size_t *count);
