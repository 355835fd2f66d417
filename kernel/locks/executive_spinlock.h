/* SPDX-License-Identifier: MIT */
/*
 * Executive spin lock: either many CPUs share it, or one CPU holds it exclusively. A CPU that wants it exclusively
 * keeps further CPUs from sharing it and waits for those that do. See kernel/lock/spinlock.h for what all spin locks
 * have in common.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/lock/spinlock.h"

struct kexecutive_spinlock {
    uint32_t state; /* KEXECUTIVE_EXCLUSIVE and the number of those that share it */
    uint32_t owner; /* CPU index + 1 of who has it alone */
    const char *name;
};
#define KEXECUTIVE_EXCLUSIVE 0x80000000u /* held alone, or as soon as nobody shares it any more */

/* Interrupts off. They panic where the lock is never free, this CPU holding it, too. */
void kexecutive_lock_shared(struct kexecutive_spinlock *lock);
void kexecutive_lock_exclusive(struct kexecutive_spinlock *lock);
/* This CPU shares the lock, and has it alone from now on, if no other CPU shares it or waits for it; else false, and
 * nothing changes. */
bool kexecutive_try_convert(struct kexecutive_spinlock *lock);
void kexecutive_unlock_shared(struct kexecutive_spinlock *lock);
void kexecutive_unlock_exclusive(struct kexecutive_spinlock *lock); /* a converted one, too */
