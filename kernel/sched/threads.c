/* SPDX-License-Identifier: MIT */
#include "kernel/sched/threads.h"
#include "kernel/memory/stack.h"
#include "kernel/sched/time.h"
#include "kernel/sched/wait.h"
#include "kernel/thread.h"

#include "arch/arch.h"
#include "kernel/gate.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/string.h"
#include "kernel/sched/priority.h"
#include "kernel/sched/sched.h"

/* Written under the dispatcher lock; a record is complete before record_count says it is there. */
static struct kthread_record records[KTHREAD_RECORDS_MAX];
static uint32_t record_count;
static uint64_t records_dropped;

/* Dispatcher lock. */
static uint32_t next_tid = 8;
struct klist kthread_all = {&kthread_all, &kthread_all};

void kthread_remember(const struct kthread *thread)
{
    if (record_count == KTHREAD_RECORDS_MAX) {
        records_dropped++;
        return;
    }
    struct kthread_record *r = &records[record_count];
    r->tid = thread->tid;
    r->flags = thread->flags;
    r->base_priority = thread->base_priority;
    memcpy(r->name, thread->name, sizeof r->name);
    __atomic_store_n(&record_count, record_count + 1, __ATOMIC_RELEASE);
}

void kthread_for_each(void (*visit)(void *context, const struct kthread_record *record), void *context)
{
    uint32_t n = __atomic_load_n(&record_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++)
        visit(context, &records[i]);
}

uint64_t kthread_records_dropped(void)
{
    return __atomic_load_n(&records_dropped, __ATOMIC_RELAXED);
}

uint32_t kthread_limit(void)
{
    return __atomic_load_n(&next_tid, __ATOMIC_RELAXED);
}

static const struct kthread_watch *watch;

void kthread_watch(const struct kthread_watch *by)
{
    watch = by;
}

/* Threads and processes have one row of numbers, as in Windows. */
static uint32_t take_number(void)
{
    uint32_t number = next_tid;
    __atomic_store_n(&next_tid, number + 4, __ATOMIC_RELAXED);
    return number;
}

/* First code of every thread but the idle ones: interrupts off, dispatcher lock held, gate entered. */
static _Noreturn void begin(void *argument)
{
    struct kthread *self = argument;
    ksched_begin_thread();
    if (!(self->flags & KTHREAD_USER))
        kgate_leave(true);
    self->entry(self->argument);
    kthread_exit(0);
}

struct kthread *kthread_prepare(const struct kthread_params *params)
{
    struct kthread *thread = kstack_alloc();
    if (!thread)
        return NULL;
    kwait_object_init(&thread->object, KOBJECT_THREAD, 0);
    snprintf(thread->name, sizeof thread->name, "%s", params->name);
    thread->flags = params->flags;
    kthread_set_state(thread, KTHREAD_INITIALIZED);
    thread->priority = thread->base_priority = (int8_t)params->priority;
    thread->quantum = KSCHED_QUANTUM;
    thread->affinity = params->affinity;
    if (kcpuset_empty(&thread->affinity))
        memset(&thread->affinity, 0xFF, sizeof thread->affinity);
    klist_init(&thread->queue_link);
    klist_init(&thread->wait_link);
    klist_init(&thread->timer_link);
    klist_init(&thread->all_link);
    thread->gate_depth = 1;
    thread->entry = params->entry;
    thread->argument = params->argument;
    thread->user = params->user;
    thread->gone = params->gone;
    thread->context = arch_context_new(kstack_pointer(thread), begin, thread);
    return thread;
}

int kthread_create(struct kthread **thread, const struct kthread_params *params)
{
    if (params->priority < KPRIORITY_LOWEST || params->priority > KPRIORITY_HIGHEST ||
        (params->flags & ~(uint32_t)(KTHREAD_SAMPLED | KTHREAD_USER)))
        return -EINVAL;

    bool on = kgate_enter();
    int e = -ENOMEM;
    struct kthread *t = kthread_prepare(params);
    if (t) {
        ksched_lock();
        if (watch)
            watch->wait();
        e = ksched_usable(&t->affinity) ? 0 : -EINVAL;
        if (!e) {
            if (params->process_id)
                *params->process_id = take_number();
            t->tid = take_number();
            t->ideal_processor = t->cpu = ksched_ideal_cpu(&t->affinity);
            t->wait_start = ktime_ticks();
            kthread_remember(t);
            klist_add_tail(&kthread_all, &t->all_link);
            if (watch)
                watch->created(t);
            *thread = t; /* before it can run */
            ksched_ready(t, 0);
        }
        ksched_unlock();
        if (e)
            kstack_free(t);
    }
    kgate_leave(on);
    return e;
}

int kthread_join(struct kthread *thread, uint64_t ticks, int *code)
{
    bool on = kgate_enter();
    KASSERT(thread != kcpu_this()->current); /* behind the gate: before it this thread may move to another CPU */
    int e = kwait(&thread->object, KWAIT_EXECUTIVE, ticks);
    if (e == 0) {
        ksched_lock();
        if (watch)
            watch->gone(thread);
        klist_remove(&thread->all_link);
        ksched_unlock();
        /* It was signalled under the dispatcher lock, which it kept until it had left its stack for good. */
        if (code)
            *code = thread->exit_code;
        if (thread->user)
            thread->gone(thread->user); /* the CPU it ran on has left its address space with its stack */
        kstack_free(thread);
    }
    kgate_leave(on);
    return e;
}

_Noreturn void kthread_exit(int code)
{
    kgate_enter();
    struct kthread *self = kcpu_this()->current;
    ksched_lock();
    if (watch)
        watch->wait();
    self->exit_code = code;
    self->wait_reason = KWAIT_WR_TERMINATED;
    kthread_set_state(self, KTHREAD_TERMINATED);
    if (watch)
        watch->ended(self);
    self->object.signal = 1;
    kwait_object_wake(&self->object, 0);
    ksched_switch_away();
    kpanic("thread %u runs after its end", self->tid);
}

void kthread_yield(void)
{
    bool on = kgate_enter();
    ksched_lock();
    ksched_yield();
    ksched_unlock();
    kgate_leave(on);
}

void kthread_sleep(uint64_t ticks, enum kwait_reason reason)
{
    if (ticks)
        kwait(NULL, reason, ticks);
    else
        kthread_yield();
}
