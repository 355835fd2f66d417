/* SPDX-License-Identifier: MIT */
/*
 * Tells sessions what exists: processes, threads, images, the machine, the sample interval (trace/rundown.h). A session
 * that asks for them gets what exists when it starts (DCStart) and when it stops (DCEnd), and what begins and ends in
 * between.
 *
 * A process is an address space. Each thread of ring 3 has its own process, whose number comes from the threads'
 * numbers. Idle threads belong to process 0, all other threads to the system process, number 4.
 *
 * A session starts, and stops, on one CPU after another. Meanwhile threads run and switch, but none is created and none
 * ends: until the interrupt has reached all CPUs, a thread that wants to do so waits (kthread_watch). So each thread in
 * a session's events either existed before, and DCStart names it once the last CPU has been reached, or began later,
 * and its start names it. All this goes thread by thread; the dispatcher lock is held only while the events of one
 * thread are written. A thread that ends before its turn writes its own event first.
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

/* The first `most` threads that exist, in the order of creation, without idle threads; returns how many there are. The
 * dispatcher lock is held, or all other CPUs are. */
uint32_t krundown_threads(const struct kthread **all, uint32_t most);

/* ---- for kernel/recording/sample_interval.c */
/* Sessions that have samples are told that their interval changes, in units of 100 ns. Thread context. */
void krundown_interval(uint32_t new_interval, uint32_t old_interval);

/* ---- for kernel/recording/sessions.c */
struct krundown_change { /* of a session's masks; no group: it does not run */
    uint32_t number;
    struct perfinfo_groupmask old, new;
};
/* kcross_call_all(function, argument), which is to make these changes; before it, what ends is told, and behind it what
 * begins. Thread context, no spinlock held, one caller at a time. */
void krundown_call(const struct krundown_change *changes, unsigned count, kcross_call_function function,
                   void *argument);
