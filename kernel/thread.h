/* SPDX-License-Identifier: MIT */
/* Threads, the objects they wait for, and how a stack pointer leads to its thread. The functions are in
 * kernel/sched/threads.h and kernel/sched/wait.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/lib/cpuset.h"
#include "kernel/lib/list.h"
#include "trace/session.h"
#include "trace/wire/format.h"

/* ---- dispatcher objects: kernel/sched/wait.h */

enum kobject_type {
    KOBJECT_EVENT_MANUAL, /* stays signalled until reset: wakes all */
    KOBJECT_EVENT_AUTO,   /* wakes one, and is reset by that */
    KOBJECT_SEMAPHORE,
    KOBJECT_THREAD,
};

struct kobject { /* first member of every dispatcher object */
    uint8_t type;
    int32_t signal;       /* event, thread: 0 or 1; semaphore: its count */
    struct klist waiters; /* struct kthread.wait_link, longest waiting first */
};

/* ---- threads */

#define KTHREAD_NAME 24u

enum kthread_flags {
    KTHREAD_SAMPLED = 1, /* the Debug Store counts while it runs its own code */
    KTHREAD_USER = 4,    /* its own code is a program's, in ring 3 */
    KTHREAD_IDLE = 2,    /* one per CPU, TID 0, priority 0, never in a queue, always Running as in Windows */
};

/* All fields from `state` to `waited` are under the dispatcher lock. */
struct kthread {
    struct kobject object; /* first: signalled when the thread has ended */
    uint32_t tid;          /* multiples of 4 from 8, never used twice; idle threads: 0 */
    uint32_t flags;
    char name[KTHREAD_NAME];

    uint8_t state;       /* enum kthread_state */
    uint8_t wait_reason; /* enum kwait_reason of the wait, or why a running thread was made Ready */
    uint8_t state_wr;    /* what a switch record has of both: made when the state changes, not at the switch */
    int8_t priority;     /* 1..15 dynamic, 16..31 real-time; idle 0 */
    int8_t base_priority;
    int32_t quantum; /* timer ticks left */
    uint32_t ideal_processor;
    uint32_t cpu;            /* where it runs, is queued, or ran last */
    struct kcpuset affinity; /* where it may run */
    uint64_t wait_start;     /* tick of creation, begin of the wait or entry into a ready queue: Windows' WaitTime */
    uint32_t waited;         /* ticks from there until it was switched in, set by that switch; idle threads: 0 */

    struct klist queue_link; /* ready queue */
    struct klist wait_link;  /* kobject.waiters */
    struct klist timer_link; /* kernel/sched/time.c */
    uint64_t timer_due;      /* tick */
    int wait_status;         /* what kwait returns */

    struct klist all_link;             /* kthread_all */
    uint32_t told[TRACE_MAX_SESSIONS]; /* for who watches threads: by session, when it was last told of this one */

    uint32_t gate_depth; /* kernel/gate.h; only its own CPU touches it, interrupts off */
    void *context;       /* stack pointer while it does not run: arch_context_switch */
    void (*entry)(void *);
    void *argument;
    struct kuser *user;               /* kernel/user_thread.h; NULL: a thread of the kernel's */
    void (*gone)(struct kuser *user); /* frees that */
    int exit_code;
    uint64_t magic; /* KSTACK_MAGIC, while it exists */
} __attribute__((aligned(16)));

/* Every change of `state`; `wait_reason` is set before. Dispatcher lock, unless the thread is being created. */
static inline void kthread_set_state(struct kthread *thread, enum kthread_state state)
{
    thread->state = (uint8_t)state;
    thread->state_wr = ccswap_state_wr(thread->state, thread->wait_reason);
}

/* ---- stacks
 * Each lies with its thread in a slot of fixed size and alignment, so that any stack pointer leads to the thread,
 * without the per-CPU data:
 *
 *     slot + KSTACK_SLOT ->  +---------------------------+
 *                            | struct kthread            |
 *                            | frames, growing down      |
 *     slot + 4096        ->  +---------------------------+
 *                            | guard page, never mapped  |
 *     slot               ->  +---------------------------+  KSTACK_BASE + i * KSTACK_SLOT
 */

#define KSTACK_BASE  UINT64_C(0xFFFFD00000000000)
#define KSTACK_SLOT  UINT64_C(32768)
#define KSTACK_COUNT UINT64_C(65536)              /* 2 GiB of addresses */
#define KSTACK_MAGIC UINT64_C(0x4B4341545352434E) /* "NCRSTACK" */

static inline uint64_t kthread_slot(const struct kthread *thread)
{
    return (uint64_t)(uintptr_t)thread & ~(KSTACK_SLOT - 1);
}

/* The thread in whose stack `sp` lies; NULL if it lies in none (boot stack, IST stacks). Any context. */
static inline struct kthread *kthread_of_stack(uint64_t sp)
{
    if (sp - KSTACK_BASE >= KSTACK_COUNT * KSTACK_SLOT)
        return NULL;
    struct kthread *thread = (struct kthread *)((sp & ~(KSTACK_SLOT - 1)) + KSTACK_SLOT - sizeof *thread);
    return thread->magic == KSTACK_MAGIC ? thread : NULL;
}

/* True if `address` is in the guard page of a slot: a fault there is a stack overflow. */
static inline bool kthread_stack_is_guard(uint64_t address)
{
    return address - KSTACK_BASE < KSTACK_COUNT * KSTACK_SLOT && (address & (KSTACK_SLOT - 1)) < 4096;
}
