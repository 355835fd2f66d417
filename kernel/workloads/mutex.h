/* SPDX-License-Identifier: MIT */
/* Mutexes: owned by a thread, which may lock again what it holds, and must unlock it as often before it ends. The first
 * who waited gets it, as with the event that it is made of (kernel/event/event.h). */
#pragma once

#include "kernel/event/event.h"

struct kmutex {
    struct kevent free;
    struct kthread *owner;
    uint32_t depth;
};
void kmutex_init(struct kmutex *mutex);
/* 0 (owned now) or -ETIMEDOUT. */
int kmutex_lock(struct kmutex *mutex, enum kwait_reason reason, uint64_t ticks);
/* 0, or -EPERM where the caller is not the owner. */
int kmutex_unlock(struct kmutex *mutex, int increment);
