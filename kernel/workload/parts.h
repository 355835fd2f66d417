/* SPDX-License-Identifier: MIT */
/*
 * Parts of workloads, which `mix` combines. A part gets an event `day`: while it is not signalled, at night, the part's
 * threads wait (NULL: there is no night). All functions return 0 or the error of kworkload_thread.
 *
 * With ds=soft every instruction of these threads is single-stepped. So between two kernel calls they execute tens of
 * instructions, not thousands, unless their purpose is to use up quanta.
 */
#pragma once

#include <stdint.h>

#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/rand.h"
#include "kernel/sched/priority.h"
#include "kernel/sched/wait.h"
#include "kernel/this_thread.h"
#include "kernel/workload/workload.h"

struct kevent;

/* Threads that sleep, short mostly, long at times. */
int kpart_sleepers(struct kevent *day, uint64_t seed, uint32_t sleepers);
/* Threads that compute: for ever, or `burst` ticks at most and then rest some. */
int kpart_hogs(struct kevent *day, uint64_t seed, uint32_t hogs, uint32_t burst);
/* Hogs and sleepers, as many as a mix has. */
int kpart_rest(struct kevent *day, uint64_t seed);
/* A mix. Weak: another part of the kernel may define a larger one, and by default it is kpart_rest, without nights. */
int kpart_mix(uint64_t seed);

/* Top of every loop: false when the run ends. Waits for the day; nothing may be held. */
bool kpart_goes_on(struct kevent *day);
/* Weak, as kpart_mix: by default no day is waited for. */
void kpart_wait_for(struct kevent *day);

/* Some work of the thread's own: about three instructions a round. */
uint64_t kpart_compute(uint64_t x, uint32_t rounds);
