/* SPDX-License-Identifier: MIT */
/* Parts of workloads, as in kernel/workload/parts.h. */
#pragma once

#include "kernel/event/event.h"
#include "kernel/workload/parts.h"

/* Pairs that hand the turn to each other; after `burst` rounds on average they rest some ticks (0: never). */
int kpart_pingpong(struct kevent *day, uint64_t seed, uint32_t pairs, uint32_t burst);
/* Rings of two producers and two consumers each. */
int kpart_prodcons(struct kevent *day, uint64_t seed, uint32_t rings);
/* Groups of threads that want one mutex, and one spinlock; with a `day` they rest at times. */
int kpart_lockfight(struct kevent *day, uint64_t seed, uint32_t groups, uint32_t fighters);
