/* SPDX-License-Identifier: MIT */
/*
 * The scheduler, threads and waits as they are, on simulated CPUs: kernel stacks are ucontexts, each CPU is a chain of
 * them, and a driver gives the CPUs turns in a seeded random order. Interrupts (ticks, reschedule IPIs) arrive where a
 * thread says it may be interrupted, so every run can be repeated. What real CPUs do to each other inside the
 * dispatcher lock is not seen here; the boot tests' truth is for that.
 *
 * For tests/unit/kernel/test_sched*.c; first of all includes, for the hardware under the kernel's headers is replaced.
 */
#pragma once

#include <string.h>

#include "tests/unit/support/cmocka.h"

/* ---- the kernel's headers, on this hardware ---------------------------------------------------------------------- */
#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/event/event.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/rand.h"
#include "kernel/sched/sched.h"
#include "kernel/this_thread.h"
#include "kernel/user/user.h"

#define CPUS 4

extern struct kcpu cpus[CPUS];
extern uint32_t here; /* the CPU whose turn it is */
extern bool irq_on[CPUS];
extern uint32_t ipis[CPUS]; /* bit 0: RESCHEDULE */
extern bool counting[CPUS]; /* what ds_pause and ds_resume do */
extern arch_irq_handler handlers[256];
extern const struct kthread *sched_told[CPUS]; /* who changes address spaces has been told of it last */
extern struct krand turns;                     /* whose turn is next, and what else is left to chance */

/* ---- what tests do ----------------------------------------------------------------------------------------------- */

/* Runs `test` as a thread of priority 8 on CPU 0 of `count`. `odds`: one in so many pauses brings a tick; 0: none. */
void sched_simulate(uint32_t count, uint64_t seed, uint32_t odds, void (*test)(void));
struct kthread *sched_thread(int priority, uint64_t affinity, void (*entry)(void *), void *argument);
/* A thread's own code: counted where it is sampled, and interruptible. */
void sched_work(void);
/* Here and now; interrupts on. */
void sched_interrupt(uint8_t vector);

/* What happened, a letter each. */
extern char story[64];
#define LETTER(c) ((void *)(uintptr_t)(c))
void sched_tell(char c);
void sched_teller(void *letter); /* a thread's */

/* ---- what the rest of the kernel saw (sched_world.c) ------------------------------------------------------------- */

struct seen {
    uint32_t cpu, old_tid, new_tid, waited;
    uint8_t state, reason;
    int8_t priority, base;
    int32_t quantum;
};
#define SEEN 64
extern struct seen seen[SEEN]; /* the last switches, number n at n % SEEN */
extern uint64_t seen_count;
const struct seen *sched_last_out(uint32_t tid);

extern unsigned begun, freed; /* user threads */
/* First code of a user thread, and what gives its address space back; who watches threads come and go. */
void sched_user_begin(void *argument);
void sched_user_gone(struct kuser *user);
extern const struct kthread_watch sched_watch;
extern unsigned boosts, decays;

/* ---- between the two --------------------------------------------------------------------------------------------- */

void sched_world_begin(void);
void sched_world_end(void);               /* with the test's own thread left */
bool sched_held(void);                    /* the dispatcher lock, by this CPU */
extern const void *const sched_end_waits; /* the DPC's routine */
