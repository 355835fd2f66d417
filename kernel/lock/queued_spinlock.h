/* SPDX-License-Identifier: MIT */
/*
 * Queued spin lock (MCS: Mellor-Crummey and Scott, 1991): CPUs get it in the order in which they came, each spinning on
 * a word of its own. See kernel/lock/spinlock.h for what all spin locks have in common, and why the kernel does not
 * usually use this one.
 */
#pragma once

#include <stdint.h>

#include "kernel/lock/spinlock.h"

struct kqspin_place;

struct kqspinlock {
    struct kqspin_place *tail; /* the last in the queue, its holder included; NULL: free */
    const char *name;
};

/* One CPU's place in the queue, from kqspin_lock to kqspin_unlock. The caller's, usually on its stack. */
struct kqspin_place {
    struct kqspin_place *next; /* who comes behind; set by that CPU */
    struct kqspinlock *lock;
    uint32_t owner;   /* CPU index + 1 */
    uint32_t waiting; /* 1 until the CPU before lets go */
};

/* Interrupts off. Panics where the holder never lets go, this CPU being one, too. */
void kqspin_lock(struct kqspinlock *lock, struct kqspin_place *place);
void kqspin_unlock(struct kqspin_place *place);
