/* SPDX-License-Identifier: MIT */
/* Events: dispatcher objects (kernel/sched/wait.h) that threads set, reset and wait for. */
#pragma once

#include "kernel/sched/wait.h"

struct kevent {
    struct kobject object;
};
/* `manual`: it stays signalled until it is reset, and wakes all; else it wakes one, and that resets it. */
void kevent_init(struct kevent *event, bool manual, bool signalled);
/* 0 or -ETIMEDOUT. */
int kevent_wait(struct kevent *event, enum kwait_reason reason, uint64_t ticks);
void kevent_set(struct kevent *event, int increment);
void kevent_reset(struct kevent *event);
