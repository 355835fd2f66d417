/* SPDX-License-Identifier: MIT */
/*
 * Sessions for their tests (test_sessions*.c): kernel/recording/sessions.c, kernel/control/session.c and what they use,
 * on CPUs that are told one after another; memory, the truth and what is told to others are counted. First of all
 * includes, for the hardware under the kernel's headers is replaced.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"

/* ---- the kernel's headers, on this hardware ---------------------------------------------------------------------- */
#include "arch/arch.h"
#include "kernel/control/session.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/locks/lock_trace.h"
#include "kernel/options/options.h"
#include "kernel/recording/ds.h"
#include "kernel/thread.h"
#include "tests/unit/support/trace_support.h"
#include "trace/wire/truth.h"

#define CPUS 3u

extern struct kcpu cpus[CPUS];
extern uint32_t here; /* the CPU that runs */
extern uint64_t tsc_hz;
extern struct kds kds_store;

/* ---- what was taken, done and told since control_begin ----------------------------------------------------------- */

extern bool locked;
extern bool before_and_after; /* the run: who starts and stops all takes no lock */
extern size_t pages_free, pages_taken;
extern uint32_t calls;           /* to CPUs */
extern unsigned indices_read;    /* ds_refresh_index */
extern bool each_switch_stamped; /* ds_stamp_switches, the last */
extern unsigned changes_told;    /* to the rundown: before the first CPU hears of a change, and when the last one has */
extern struct cairn_truth_session truth_seen[64];
extern unsigned truths;
extern bool ktruth_kept;

extern void (*meanwhile)(void); /* what somebody else does before the lock is ours; NULL: nothing */

/* ---- what tests do ----------------------------------------------------------------------------------------------- */

/* Before and after each: no session is there; all memory has come back. */
int control_begin(void **state);
int control_end(void **state);
/* Its memory is given back, if there is one. */
void control_destroy(uint32_t number);
/* A session of 8 buffers of 4 KiB with these groups. */
struct ksession_params control_params(uint32_t number, const char *groups);
/* The events of session 1 on one CPU, in order. */
unsigned control_events(uint32_t cpu, struct cairn_session_event e[8]);
