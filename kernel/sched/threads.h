/* SPDX-License-Identifier: MIT */
/* Threads: creation, end, join, sleep, yield. kernel/sched/sched.h says which thread runs next. */
#pragma once

#include "kernel/thread.h"

#define KTHREAD_RECORDS_MAX 4096u

struct kthread_params {
    const char *name;        /* copied, cut at KTHREAD_NAME - 1 */
    int priority;            /* base, 1..31 */
    uint32_t flags;          /* KTHREAD_SAMPLED, KTHREAD_USER or 0 */
    struct kcpuset affinity; /* empty: any CPU */
    void (*entry)(void *);
    void *argument;
    struct kuser *user; /* with KTHREAD_USER, by kuser_create; `entry` then begins with interrupts off and the gate
                         * entered (kernel/gate.h), and goes to ring 3. kthread_join calls gone(user) */
    void (*gone)(struct kuser *user);
    uint32_t *process_id; /* with KTHREAD_USER, too: gets a number, from the same numbers as thread IDs */
};

#define KTHREAD_ANY_CPU UINT32_MAX
/* As an affinity: one CPU, or KTHREAD_ANY_CPU. */
static inline struct kcpuset kthread_affinity(uint32_t cpu)
{
    return cpu == KTHREAD_ANY_CPU ? (struct kcpuset){0} : kcpuset_of(cpu);
}

/* Creates a thread and makes it ready. It ends when `entry` returns. The creator must join it. 0, -EINVAL (priority,
 * flags or an affinity without a CPU in use), -ENOMEM. */
int kthread_create(struct kthread **thread, const struct kthread_params *params);
/* Waits for the thread's end and frees it; *code (may be NULL) gets its exit code. Once for each thread, not by itself.
 * 0, or -ETIMEDOUT: then it still exists. */
int kthread_join(struct kthread *thread, uint64_t ticks, int *code);
_Noreturn void kthread_exit(int code);
/* Lets another ready thread of at least the same priority run on this CPU, if there is one. */
void kthread_yield(void);
/* Sleeps until the `ticks`th timer tick from now; 0 yields. `reason`: KWAIT_DELAY_EXECUTION unless another one fits. */
void kthread_sleep(uint64_t ticks, enum kwait_reason reason);

/* ---- every thread there ever was */
struct kthread_record {
    uint32_t tid;
    uint32_t flags;
    int8_t base_priority; /* at creation */
    char name[KTHREAD_NAME];
};
/* Visits them in order of creation, idle threads included. No lock, as records never change: safe in a panic. */
void kthread_for_each(void (*visit)(void *context, const struct kthread_record *record), void *context);
/* Threads that did not fit KTHREAD_RECORDS_MAX. */
uint64_t kthread_records_dropped(void);
/* All that exist, by all_link, in the order of creation, without idle threads. Dispatcher lock. */
extern struct klist kthread_all;
/* Above the numbers of all threads and processes so far. */
uint32_t kthread_limit(void);

/* ---- one observer, at most, of threads that begin and end */
struct kthread_watch {
    /* All with the dispatcher lock held. Before a thread is created or ends: it may release the lock, wait and take it
     * again. */
    void (*wait)(void);
    /* The thread is complete and cannot run yet; not called for idle threads. */
    void (*created)(struct kthread *thread);
    /* The current thread has its exit code. */
    void (*ended)(struct kthread *thread);
    /* The thread has ended, and is about to leave kthread_all and to be freed. */
    void (*gone)(struct kthread *thread);
};
/* Sets the observer, before the first thread that it must see is created. */
void kthread_watch(const struct kthread_watch *by);

/* ---- for kernel/sched/sched.c */
/* A thread with what all, idle ones included, have in common; NULL without memory. The caller sets TID, state and
 * place. */
struct kthread *kthread_prepare(const struct kthread_params *params);
/* Appends to the records; dispatcher lock held. */
void kthread_remember(const struct kthread *thread);
