/* SPDX-License-Identifier: MIT */
/*
 * Queued spin lock (MCS: Mellor-Crummey and Scott, 1991): CPUs get it in the order in which they came, each spinning on
 * a word of its own. See kernel/lock/spinlock.h for what all spin locks have in common, and why the kernel does not
 * usually use this one.
 */
#pragma once

#include <stdint.h>

#include "kernel/lock/spinlock.h"

struct kqueued_place;

struct kqueued_spinlock {
    struct kqueued_place *tail; /* the last in the queue, its holder included; NULL: free */
    const char *name;
};

/* One CPU's place in the queue, from kqueued_lock to kqueued_unlock. The caller's, usually on its stack. */
struct kqueued_place {
    struct kqueued_place *next; /* who comes behind; set by that CPU */
    struct kqueued_spinlock *lock;
    uint32_t owner;   /* CPU index + 1 */
    uint32_t waiting; /* 1 until the CPU before lets go */
};

/* Interrupts off. Panics where the holder never lets go, this CPU being one, too. */
void kqueued_lock(struct kqueued_spinlock *lock, struct kqueued_place *place);
void kqueued_unlock(struct kqueued_place *place);
