/* SPDX-License-Identifier: MIT */
/* What the scheduler calls: each call says what must hold then. */
#include "tests/unit/kernel/sched/sched_machine.h"

#include <stdio.h>
#include <stdlib.h>

#include "ds/ds.h"
#include "kernel/lib/panic.h"
#include "kernel/locks/lock_trace.h"
#include "kernel/sched/cross_call.h"
#include "kernel/sched/runq.h"
#include "kernel/sched/threads.h"
#include "kernel/tracepoint/activity.h"
#include "kernel/tracepoint/stepping.h"
#include "kernel/tracepoint/switch.h"
#include "kernel/tracepoint/witness.h"
#include "trace/wire/spinlock.h"

/* ---- the rest of the kernel */
void ds_pause(struct ds_cpu *ds)
{
    (void)ds;
    counting[here] = false;
}

void ds_resume(struct ds_cpu *ds)
{
    (void)ds;
    assert_false(irq_on[here]);
    counting[here] = true;
}

void ds_resume_frame(struct ds_cpu *ds, struct arch_trap_frame *frame)
{
    (void)frame;
    ds_resume(ds);
}

void kstepping_interrupted(struct arch_trap_frame *frame)
{
    (void)frame; /* nothing is stepped here */
}

void ds_tick(struct ds_cpu *ds)
{
    (void)ds;
    if (counting[here])
        fail_msg("the Debug Store hears of a tick while it counts");
}

unsigned begun, freed;

void sched_user_begin(void *argument)
{
    struct kthread *self = kcpu_this()->current;
    assert_ptr_equal(argument, self->user);
    assert_ptr_equal(self, kthread_from_stack());
    assert_int_equal(self->gate_depth, 1);
    begun++;
    kthread_exit((int)self->user->argument[0]);
}

const struct kthread *sched_told[CPUS];

/* In place of the weak one, which sched_machine.c contains. */
void ksched_change_user(struct kthread *old, struct kthread *next)
{
    assert_true(!sched_told[here] || sched_told[here] == old);
    sched_told[here] = next;
}

void sched_user_gone(struct kuser *user)
{
    freed += (unsigned)user->argument[1];
}

static unsigned threads_there;

static void created(struct kthread *thread)
{
    assert_true(thread->tid >= 8 && thread->state == KTHREAD_INITIALIZED);
    threads_there++;
}

static void ended(struct kthread *thread)
{
    assert_ptr_equal(thread, kcpu_this()->current);
    assert_int_equal(thread->state, KTHREAD_TERMINATED);
}

static void gone(struct kthread *thread)
{
    assert_true(sched_held());
    assert_int_equal(thread->state, KTHREAD_TERMINATED);
    threads_there--;
}

/* Now and then CPUs are just being told of a session. */
static void wait_for_calls(void)
{
    assert_true(sched_held());
    while (krand_below(&turns, 4) == 0) {
        ksched_unlock();
        assert_false(irq_on[here]);
        ksched_lock();
    }
}

const struct kthread_watch sched_watch = {wait_for_calls, created, ended, gone};

void kcross_call_init(void)
{
}

void kcross_call_all(kcross_call_function function, void *argument)
{
    (void)function, (void)argument;
    fail();
}

_Noreturn void kpanic(const char *format, ...)
{
    char line[200];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "kpanic: %s\n", line);
    abort();
}

/* ---- what happens between switches */
unsigned boosts, decays;

void kactivity_thread(struct kcpu *cpu, enum kactivity_what what, const struct kthread *thread,
                      struct kactivity_before before, int increment)
{
    assert_ptr_equal(cpu, &cpus[here]);
    assert_true(sched_held());
    switch (what) {
    case KACTIVITY_READY:
        assert_true(before.state == KTHREAD_WAITING || (before.state == KTHREAD_INITIALIZED && increment == 0));
        assert_true(thread->state == KTHREAD_READY || thread->state == KTHREAD_STANDBY);
        assert_true(thread->priority >= before.priority);
        boosts += thread->priority > before.priority;
        break;
    case KACTIVITY_DECAY:
        assert_ptr_equal(thread, cpu->current);
        assert_true(thread->priority == before.priority - 1 || thread->priority == before.base);
        decays += thread->priority < before.priority;
        break;
    case KACTIVITY_SET:
        assert_ptr_equal(thread, cpu->current);
        break;
    case KACTIVITY_BOOST:
        fail_msg("thread %u: of who makes an event of it", thread->tid);
    }
    if (what != KACTIVITY_SET)
        assert_int_equal(thread->base_priority, before.base);
    if (what != KACTIVITY_READY)
        assert_int_equal(increment, 0);
}

static unsigned interrupts_open;

void kactivity_interrupt_begins(const struct kcpu *cpu)
{
    assert_int_equal(cpu->irq_depth, 1);
    interrupts_open++;
}

void kactivity_interrupt_ends(struct kcpu *cpu, const struct arch_trap_frame *frame, arch_irq_handler handler)
{
    assert_int_equal(cpu->irq_depth, 1);
    assert_ptr_equal(handler, handlers[frame->vector]);
    assert_int_equal(interrupts_open--, 1);
}

static bool dpc_open;

void kactivity_dpc_begins(const struct kcpu *cpu)
{
    assert_int_equal(cpu->arch.index, 0); /* the only one there is */
    assert_false(dpc_open);
    dpc_open = true;
}

void kactivity_dpc_ends(struct kcpu *cpu, const void *routine, bool timer)
{
    assert_int_equal(cpu->arch.index, 0);
    assert_ptr_equal(routine, sched_end_waits);
    assert_true(timer && dpc_open);
    dpc_open = false;
}

void kactivity_tick(struct kcpu *cpu, const struct arch_trap_frame *frame)
{
    assert_int_equal(cpu->irq_depth, 1);
    assert_int_equal(frame->vector, ARCH_VECTOR_TIMER);
}

/* ---- traced locks: on every other CPU. What it takes it gives back itself, whoever runs there by then */
static const void *held[CPUS];
static uint64_t handed_over; /* to another thread */
static const struct kthread *taker[CPUS];

void klock_trace_acquired(const void *lock, enum spinlock_mode mode, const struct klock_trace_query *query,
                          uint32_t spins)
{
    (void)query;
    assert_non_null(cpus[here].locktrace);
    assert_null(held[here]);
    assert_int_equal(mode, SPINLOCK_ORDINARY);
    assert_int_equal(spins, 0);
    held[here] = lock;
    taker[here] = cpus[here].current;
}

void klock_trace_released(const void *lock, uint64_t tsc, const void *caller)
{
    (void)tsc;
    assert_non_null(caller);
    assert_ptr_equal(held[here], lock);
    held[here] = NULL;
    handed_over += taker[here] != cpus[here].current;
}

/* ---- the hooks: what must hold at every switch; the last ones are kept for the tests */
struct seen seen[SEEN];
uint64_t seen_count;

void kswitch_out(struct kcpu *cpu, const struct kthread *old, const struct kthread *new, uint64_t tsc)
{
    (void)tsc;
    assert_ptr_equal(cpu, &cpus[here]);
    assert_false(irq_on[here]);
    assert_false(counting[here]);
    assert_true(sched_held());
    assert_int_equal(new->state, KTHREAD_RUNNING);
    assert_true(new->priority >= new->base_priority || (new->flags &KTHREAD_IDLE));
    for (uint32_t i = 0; i < kcpu_count; i++) {
        if (i != here)
            assert_ptr_not_equal(cpus[i].current, new);
        assert_ptr_not_equal(cpus[i].standby, new);
    }
    assert_true(krunq_highest(&cpu->ready) <= new->priority); /* nobody better is left in this CPU's queue */
    struct seen *s = &seen[seen_count++ % SEEN];
    *s = (struct seen){cpu->arch.index,  old->tid,      new->tid,           new->waited, old->state,
                       old->wait_reason, old->priority, old->base_priority, old->quantum};
    assert_int_equal(old->state_wr, old->state == KTHREAD_WAITING ? old->wait_reason : 39 + old->state);
    switch (old->state) {
    case KTHREAD_RUNNING:
        assert_ptr_equal(old, cpu->idle);
        break;
    case KTHREAD_READY:
        assert_in_range(old->wait_reason, KWAIT_WR_QUANTUM_END, KWAIT_WR_YIELD_EXECUTION);
        assert_false(klist_empty(&old->queue_link));
        break;
    case KTHREAD_WAITING:
    case KTHREAD_TERMINATED:
        assert_true(klist_empty(&old->queue_link));
        break;
    default:
        fail_msg("thread %u leaves in state %u", old->tid, old->state);
    }
}

void kwitness_switch(struct kcpu *cpu, const struct kthread *incoming, const struct kthread *previous, uint64_t tsc)
{
    (void)tsc;
    assert_ptr_equal(cpu, &cpus[here]);
    assert_ptr_equal(incoming, cpu->current);
    assert_ptr_equal(previous, cpu->previous);
    assert_true(sched_held());
}

const struct seen *sched_last_out(uint32_t tid)
{
    for (uint64_t i = seen_count; i && i + SEEN > seen_count; i--)
        if (seen[(i - 1) % SEEN].old_tid == tid)
            return &seen[(i - 1) % SEEN];
    fail_msg("thread %u was not switched out", tid);
    return NULL;
}

/* ---- the world's begin and end */
void sched_world_begin(void)
{
    threads_there = 0;
    seen_count = 0;
    memset(held, 0, sizeof held);
    handed_over = 0;
    for (uint32_t i = 0; i < kcpu_count; i += 2)
        cpus[i].locktrace = (struct klock_trace_cpu *)&held; /* only that it is there counts */
}

void sched_world_end(void)
{
    assert_true(handed_over > 0);
    assert_int_equal(threads_there, 1);
}
