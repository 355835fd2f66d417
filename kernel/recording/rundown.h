/* SPDX-License-Identifier: MIT */
/*
 * Who and what is there: processes, threads, images, the machine, the interval of samples (trace/rundown.h). A session
 * that asks for them gets what there is when it starts (DCStart) and when it stops (DCEnd), and what comes and goes
 * meanwhile.
 *
 * A process is an address space: each thread of ring 3 has its own, whose number is of the threads' numbers. All other
 * threads are the system process', number 4, but for the idle ones: process 0.
 *
 * A session starts, and stops, on one CPU after another. Meanwhile threads run and switch, but none is created and none
 * ends: for as long as an interrupt takes to reach all CPUs who wants to do so waits (kthread_watch). So whoever can be
 * found in a session was there before, and is told of by DCStart when the last CPU has been reached, or began later and
 * is told of by its start. All this is done thread by thread, each under the dispatcher lock for as long as its events
 * take; one that ends before its turn has come tells of itself first.
 */
#pragma once

#include <stdint.h>

#include "kernel/sched/cross_call.h"
#include "trace/groups.h"

struct kthread;

#define KRUNDOWN_IDLE_PROCESS   0u
#define KRUNDOWN_SYSTEM_PROCESS 4u

/* From now on it knows which threads there are: before the first one is created. */
void krundown_init(void);

/* ---- for kernel/recording/sample_interval.c */
/* Sessions that have samples are told that their interval changes, in units of 100 ns. Thread context. */
void krundown_interval(uint32_t new_interval, uint32_t old_interval);

/* ---- for kernel/recording/sessions.c */
struct krundown_change { /* of a session's masks; no group: it does not run */
    uint32_t number;
    struct perfinfo_groupmask old, new;
};
/* kcall_all(function, argument), which is to make these changes; before it, what ends is told, and behind it what
 * begins. Thread context, no spinlock held, one caller at a time. */
void krundown_call(const struct krundown_change *changes, unsigned count, kcall_function function, void *argument);
