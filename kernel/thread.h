/* SPDX-License-Identifier: MIT */
/* Threads: creation, end, join, sleep, yield, and how a stack names its thread. How they are chosen:
 * kernel/sched/sched.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/lib/cpuset.h"
#include "kernel/lib/list.h"
#include "kernel/memory/stack.h"
#include "kernel/sched/wait.h"
#include "trace/session.h"

#define KTHREAD_NAME        24u
#define KTHREAD_RECORDS_MAX 4096u

enum kthread_flags {
    KTHREAD_SAMPLED = 1, /* the Debug Store counts while it runs its own code */
    KTHREAD_USER = 4,    /* its own code is a program's, in ring 3: kernel/user/user.h */
    KTHREAD_IDLE = 2,    /* one per CPU, TID 0, priority 0, never in a queue, always Running as in Windows */
};

/* All fields from `state` to `waited` are under the dispatcher lock. */
struct kthread {
    struct kobject object; /* first: signalled when the thread has ended */
    uint32_t tid;          /* multiples of 4 from 8, never used twice; idle threads: 0 */
    uint32_t flags;
    char name[KTHREAD_NAME];

    uint8_t state;         /* enum kthread_state */
    uint8_t wait_reason;   /* enum kwait_reason of the wait, or why a running thread was made Ready */
    int8_t priority;       /* 1..15 dynamic, 16..31 real-time; idle 0 */
    int8_t base_priority;
    int32_t quantum;       /* timer ticks left */
    uint32_t ideal_processor;
    uint32_t cpu;          /* where it runs, is queued, or ran last */
    struct kcpuset affinity; /* where it may run */
    uint64_t wait_start;   /* tick of creation, begin of the wait or entry into a ready queue: Windows' WaitTime */
    uint32_t waited;       /* ticks from there to its coming in, set by that switch; idle threads: 0 */

    struct klist queue_link;     /* ready queue */
    struct klist wait_link;      /* kobject.waiters */
    struct klist timer_link;     /* kernel/sched/timerq.h */
    uint64_t timer_due;          /* tick */
    int wait_status;             /* what kwait returns */
    struct klist owned;          /* kmutex.owned_link */

    struct klist all_link;             /* this and the next: kernel/recording/rundown.c's */
    uint32_t told[TRACE_MAX_SESSIONS]; /* by session: which rundown of its has told of this thread */
    struct kthread_retired {     /* its instructions and branches, as they were stepped: session.pmc with truth=1 */
        uint64_t instructions, branches;
    } retired, retired_before;   /* the latter when it last came in; only its own CPU touches them */

    uint32_t gate_depth;         /* kernel/gate.h; only its own CPU touches it, interrupts off */
    void *stack;                 /* slot of kernel/memory/stack.h */
    void *context;               /* stack pointer while it does not run: arch_context_switch */
    void (*entry)(void *);
    void *argument;
    struct kuser *user;          /* NULL: a thread of the kernel's */
    int exit_code;
};

struct kthread_params {
    const char *name; /* copied, cut at KTHREAD_NAME - 1 */
    int priority;     /* base, 1..31 */
    uint32_t flags;   /* KTHREAD_SAMPLED, KTHREAD_USER or 0 */
    struct kcpuset affinity; /* empty: any CPU */
    void (*entry)(void *);
    void *argument;
    struct kuser *user; /* with KTHREAD_USER, instead of entry and argument; kuser_create's. kthread_join frees it */
};

#define KTHREAD_ANY_CPU UINT32_MAX
/* As an affinity: one CPU, or KTHREAD_ANY_CPU. */
static inline struct kcpuset kthread_affinity(uint32_t cpu)
{
    return cpu == KTHREAD_ANY_CPU ? (struct kcpuset){ 0 } : kcpuset_of(cpu);
}

/* Creates a thread and makes it ready. It ends when `entry` returns. The creator must join it. 0, -EINVAL (priority,
 * flags or an affinity without a CPU in use), -ENOMEM. */
int kthread_create(struct kthread **thread, const struct kthread_params *params);
/* Waits for its end, frees it; its exit code in *code (may be NULL). Once per thread, not by itself. 0 or -ETIMEDOUT
 * (then it is still there). */
int kthread_join(struct kthread *thread, uint64_t ticks, int *code);
_Noreturn void kthread_exit(int code);
/* Lets another ready thread of at least the same priority run on this CPU, if there is one. */
void kthread_yield(void);
/* Until the `ticks`th timer tick from now; 0 yields. `reason`: KWAIT_DELAY_EXECUTION unless there is a better one. */
void kthread_sleep(uint64_t ticks, enum kwait_reason reason);
/* New base priority of the calling thread, 1..31; a boost is dropped. 0 or -EINVAL. */
int kthread_set_priority(int base);

static inline struct kthread *kthread_from_stack(void)
{
    uint64_t sp;
    __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
    return kstack_thread(sp);
}

/* ---- every thread there ever was */
struct kthread_record {
    uint32_t tid;
    uint32_t flags;
    int8_t base_priority; /* at creation */
    char name[KTHREAD_NAME];
};
/* Idle threads included, in order of creation. No lock: records never change, also safe in a panic. */
void kthread_for_each(void (*visit)(void *context, const struct kthread_record *record), void *context);
/* Threads that did not fit KTHREAD_RECORDS_MAX. */
uint64_t kthread_records_dropped(void);
/* Above the numbers of all threads and processes so far. */
uint32_t kthread_limit(void);

/* ---- for kernel/sched/sched.c */
/* Fills in what idle threads and others have in common; -ENOMEM. The caller sets TID, state and place. */
int kthread_prepare(struct kthread *thread, const struct kthread_params *params);
/* Appends to the records; dispatcher lock held. */
void kthread_remember(const struct kthread *thread);
