/* SPDX-License-Identifier: MIT */
/*
 * The scheduler, threads and waits as they are, on simulated CPUs: kernel stacks are ucontexts, each CPU is a chain of
 * them, and a driver gives the CPUs turns in a seeded random order. Interrupts (ticks, reschedule IPIs) arrive where a
 * thread says it may be interrupted, so every run can be repeated. What real CPUs do to each other inside the
 * dispatcher lock is not seen here; the boot tests' truth is for that.
 */
#define _XOPEN_SOURCE 700 /* ucontext */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include <cmocka.h>
#include <sanitizer/common_interface_defs.h>

/* ---- the hardware under the kernel's headers is replaced by this file's */
#define arch_irq_save      arch_irq_save_hardware
#define arch_irq_restore   arch_irq_restore_hardware
#define arch_read_rflags   arch_read_rflags_hardware
#define arch_cpu_index     arch_cpu_index_hardware
#define arch_pause         arch_pause_hardware
#include "arch/arch.h"
#undef arch_irq_save
#undef arch_irq_restore
#undef arch_read_rflags
#undef arch_cpu_index
#undef arch_pause
#define kcpu_this kcpu_this_hardware
#include "kernel/cpu.h"
#undef kcpu_this
#define kthread_from_stack kthread_from_stack_hardware
#include "kernel/thread.h"
#undef kthread_from_stack

#define CPUS 4

static struct kcpu cpus[CPUS];
static uint32_t here;           /* the CPU whose turn it is */
static bool irq_on[CPUS];
static uint32_t ipis[CPUS];     /* bit 0: RESCHEDULE */
static bool counting[CPUS];     /* what ds_pause and ds_resume do */
struct kcpu *kcpu_table[ARCH_MAX_CPUS];
uint32_t kcpu_count;

static struct kcpu *kcpu_this(void)
{
    return &cpus[here];
}

static bool arch_irq_save(void)
{
    bool on = irq_on[here];
    irq_on[here] = false;
    return on;
}

static void arch_irq_restore(bool on)
{
    irq_on[here] = on;
}

static uint64_t arch_read_rflags(void)
{
    return irq_on[here] ? ARCH_RFLAGS_IF : 0;
}

static uint32_t arch_cpu_index(void)
{
    return here;
}

static void arch_pause(void)
{
    fail_msg("a spinlock is held by a CPU that does not run");
}

static struct kthread *kthread_from_stack(void);

#include "kernel/dpc.c"
#include "kernel/event.c"
#include "kernel/mutex.c"
#include "kernel/runq.c"
#include "kernel/sched.c"
#include "kernel/semaphore.c"
#include "kernel/spinlock.c"
#include "kernel/thread.c"
#include "kernel/timerq.c"
#include "kernel/wait.c"

#include "kernel/rand.h"

struct kopt kopt;

/* ---- stacks and switches */
struct fiber {
    ucontext_t context;
    void *fake; /* ASan's */
    char *stack;
    struct kthread *thread; /* NULL: a CPU's boot stack, or the driver */
    void (*entry)(void *);
    void *argument;
};
#define STACK_BYTES KSTACK_SLOT

static struct fiber driver, boot[CPUS];
static struct fiber *running;       /* the stack in use */
static struct fiber *paused[CPUS];  /* where each CPU goes on when its turn comes */
static unsigned stacks;

static void jump(struct fiber *to)
{
    struct fiber *from = running;
    running = to;
    __sanitizer_start_switch_fiber(&from->fake, to->stack, to->stack ? STACK_BYTES : 0);
    swapcontext(&from->context, &to->context);
    __sanitizer_finish_switch_fiber(from->fake, NULL, NULL);
}

static void fiber_main(void)
{
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(NULL, &bottom, &size);
    if (!driver.stack) { /* the first one learns where the driver's own stack lies */
        driver.stack = (char *)(uintptr_t)bottom;
    }
    running->entry(running->argument);
    abort();
}

static void fiber_init(struct fiber *f, void (*entry)(void *), void *argument)
{
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK_BYTES;
    f->entry = entry;
    f->argument = argument;
    makecontext(&f->context, fiber_main, 0);
}

static struct kthread *kthread_from_stack(void)
{
    return running->thread;
}

void *kstack_alloc(struct kthread *thread)
{
    char *slot = aligned_alloc(KSTACK_SLOT, KSTACK_SLOT);
    struct fiber *f = calloc(1, sizeof *f);
    f->stack = malloc(STACK_BYTES);
    f->thread = thread;
    *(struct fiber **)slot = f; /* the slot itself only leads to the fiber */
    stacks++;
    return slot;
}

void kstack_free(void *slot)
{
    struct fiber *f = *(struct fiber **)slot;
    free(f->stack);
    free(f);
    free(slot);
    stacks--;
}

void *arch_context_new(void *stack_top, void (*entry)(void *), void *argument)
{
    struct fiber *f = *(struct fiber **)((uintptr_t)stack_top & ~(KSTACK_SLOT - 1));
    fiber_init(f, entry, argument);
    return f;
}

/* Whoever comes in has been told to the processor: its kernel stack and its address space. */
static void *stack_in[CPUS];
static uint64_t space_in[CPUS];

void arch_thread_in(void *stack_top, uint64_t space)
{
    stack_in[here] = stack_top;
    space_in[here] = space;
}

void arch_context_switch(void **save, void *load)
{
    const struct kthread *next = ((struct fiber *)load)->thread;
    assert_false(irq_on[here]);
    if (running->thread) { /* not from the boot stack */
        assert_ptr_equal(stack_in[here], kstack_pointer(next->stack));
        assert_int_equal(space_in[here], next->user ? next->user->space : 0);
    }
    *save = running;
    jump(load);
}

/* ---- interrupts, and turns */
static arch_irq_handler handlers[256];
static struct krand turns;
static bool finished;
static uint32_t tick_odds; /* one in so many pauses brings a tick; 0: only sim_tick does */

void arch_irq_set(uint8_t vector, arch_irq_handler handler)
{
    handlers[vector] = handler;
}

static void interrupt(uint8_t vector)
{
    struct arch_trap_frame frame = { .vector = vector };
    assert_true(irq_on[here]);
    irq_on[here] = false;
    kernel_irq_enter(&frame);
    assert_false(counting[here]);
    handlers[vector](&frame);
    kernel_irq_exit(&frame, handlers[vector]);
    irq_on[here] = true; /* IRET; `here` may be another CPU by now */
}

/* The CPU's turn ends; what has come meanwhile is delivered when the next one begins. Interrupts on. */
static void pause_cpu(void)
{
    assert_true(irq_on[here]);
    paused[here] = running;
    jump(&driver);
    if (ipis[here]) {
        ipis[here] = 0;
        interrupt(ARCH_VECTOR_RESCHEDULE);
    }
    if (tick_odds && krand_below(&turns, tick_odds) == 0)
        interrupt(ARCH_VECTOR_TIMER);
}

void arch_wait_for_interrupt(void)
{
    assert_ptr_equal(running->thread, kcpu_this()->idle);
    assert_int_equal(running->thread->state, KTHREAD_RUNNING);
    irq_on[here] = true;
    pause_cpu();
    irq_on[here] = false;
}

void arch_ipi(uint32_t cpu, uint8_t vector)
{
    assert_int_equal(vector, ARCH_VECTOR_RESCHEDULE);
    assert_int_not_equal(cpu, here);
    ipis[cpu] |= 1;
}

void arch_ipi_self(uint8_t vector)
{
    (void)vector;
    fail(); /* no DPC is queued but in interrupts */
}

void arch_timer_start(uint32_t period_us)
{
    assert_int_equal(period_us, 1000);
}

/* A thread's own code: counted where it is sampled, and interruptible. */
static void work(void)
{
    struct kthread *self = kthread_from_stack();
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(self, kcpu_this()->current);
        assert_int_equal(self->state, KTHREAD_RUNNING);
        assert_int_equal(self->gate_depth, 0);
        assert_int_equal(counting[here], (self->flags & KTHREAD_SAMPLED) != 0);
        if (i == 0)
            pause_cpu();
    }
}

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

void ds_soft_interrupted(struct ds_soft *soft, struct arch_trap_frame *frame)
{
    (void)soft, (void)frame;
    fail(); /* nothing is stepped here */
}

void ds_tick(struct ds_cpu *ds)
{
    (void)ds;
    if (counting[here])
        fail_msg("the Debug Store hears of a tick while it counts");
}

static unsigned begun, freed; /* user threads */

_Noreturn void kuser_begin(struct kthread *self)
{
    assert_ptr_equal(self, kthread_from_stack());
    assert_int_equal(self->gate_depth, 1);
    begun++;
    kthread_exit((int)self->user->argument[0]);
}

void kuser_free(struct kuser *user)
{
    freed += (unsigned)user->argument[1];
}

static unsigned threads_there;

void krundown_created(struct kthread *thread)
{
    assert_true(thread->tid >= 8 && thread->state == KTHREAD_INITIALIZED);
    threads_there++;
}

void krundown_ended(struct kthread *thread)
{
    assert_ptr_equal(thread, kcpu_this()->current);
    assert_int_equal(thread->state, KTHREAD_TERMINATED);
}

void krundown_gone(struct kthread *thread)
{
    assert_false(irq_on[here]);
    assert_int_equal(thread->state, KTHREAD_TERMINATED);
    threads_there--;
}

/* Now and then CPUs are just being told of a session. */
void krundown_wait(void)
{
    assert_true(kspin_held(&dispatcher));
    while (krand_below(&turns, 4) == 0) {
        ksched_unlock();
        assert_false(irq_on[here]);
        ksched_lock();
    }
}

void *kmem_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

void kmem_free(void *object)
{
    free(object);
}

void kcall_init(void)
{
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

/* ---- the live events: nobody wants them here, and still the witness hears of each */
uint64_t klive_write_ready(struct kcpu *cpu, const struct kthread *thread, enum etw_adjust reason, int increment)
{
    fail_msg("CPU %u, thread %u: %d, %d", cpu->arch.index, thread->tid, reason, increment);
    return 0;
}

uint64_t klive_write_priority(struct kcpu *cpu, const struct kthread *thread, int8_t old, int8_t old_base)
{
    fail_msg("CPU %u, thread %u: %d, %d", cpu->arch.index, thread->tid, old, old_base);
    return 0;
}

uint64_t klive_write_profile(struct kcpu *cpu, const struct arch_trap_frame *frame)
{
    fail_msg("CPU %u, vector %lu", cpu->arch.index, (unsigned long)frame->vector);
    return 0;
}

uint64_t klive_write_interrupt(struct kcpu *cpu, uint64_t vector, arch_irq_handler handler, uint64_t begin)
{
    fail_msg("CPU %u, vector %lu, %p, %lu", cpu->arch.index, (unsigned long)vector, (void *)handler,
             (unsigned long)begin);
    return 0;
}

uint64_t klive_write_dpc(struct kcpu *cpu, const void *routine, bool timer, uint64_t begin)
{
    fail_msg("CPU %u, %p, %d, %lu", cpu->arch.index, routine, timer, (unsigned long)begin);
    return 0;
}

static unsigned boosts, decays;

void kwitness_thread(struct kcpu *cpu, enum cairn_thread_what what, const struct kthread *thread,
                     struct kwitness_thread before, uint64_t tsc)
{
    assert_int_equal(tsc, 0);
    assert_ptr_equal(cpu, &cpus[here]);
    assert_true(kspin_held(&dispatcher));
    switch (what) {
    case CAIRN_THREAD_READY:
    case CAIRN_THREAD_BOOST:
        assert_true(before.state == KTHREAD_WAITING || before.state == KTHREAD_INITIALIZED);
        assert_true(thread->state == KTHREAD_READY || thread->state == KTHREAD_STANDBY);
        assert_true(thread->priority >= before.priority);
        boosts += what == CAIRN_THREAD_BOOST && thread->priority > before.priority;
        break;
    case CAIRN_THREAD_DECAY:
        assert_ptr_equal(thread, cpu->current);
        assert_true(thread->priority == before.priority - 1 || thread->priority == before.base);
        decays += thread->priority < before.priority;
        break;
    case CAIRN_THREAD_SET:
        assert_ptr_equal(thread, cpu->current);
    }
    if (what != CAIRN_THREAD_SET)
        assert_int_equal(thread->base_priority, before.base);
}

void kwitness_interrupt(struct kcpu *cpu, const struct arch_trap_frame *frame, arch_irq_handler handler,
                        uint64_t begin, uint64_t tsc)
{
    assert_int_equal(begin | tsc, 0);
    assert_int_equal(cpu->irq_depth, 1);
    assert_ptr_equal(handler, handlers[frame->vector]);
}

void kwitness_dpc(struct kcpu *cpu, const void *routine, bool timer, uint64_t begin, uint64_t tsc)
{
    assert_int_equal(begin | tsc, 0);
    assert_int_equal(cpu->arch.index, 0); /* the only one there is */
    assert_ptr_equal(routine, end_waits);
    assert_true(timer);
}

void kwitness_sample(struct kcpu *cpu, enum cairn_interrupt_what what, const struct arch_trap_frame *frame,
                     uint16_t source, uint64_t tsc)
{
    assert_int_equal(source | tsc, 0);
    assert_int_equal(cpu->irq_depth, 1);
    assert_int_equal(what, CAIRN_INTERRUPT_PROFILE);
    assert_int_equal(frame->vector, ARCH_VECTOR_TIMER);
}

/* ---- traced locks: on every other CPU. What it takes it gives back itself, whoever runs there by then */
static const void *held[CPUS];
static uint64_t handed_over; /* to another thread */
static const struct kthread *taker[CPUS];

void klocktrace_acquired(const void *lock, enum spinlock_mode mode, const struct klocktrace_query *query,
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

void klocktrace_released(const void *lock, uint64_t tsc, const void *caller)
{
    (void)tsc;
    assert_non_null(caller);
    assert_ptr_equal(held[here], lock);
    held[here] = NULL;
    handed_over += taker[here] != cpus[here].current;
}

/* ---- the hooks: what must hold at every switch; the last ones are kept for the tests */
struct seen {
    uint32_t cpu, old_tid, new_tid, waited;
    uint8_t state, reason;
    int8_t priority, base;
    int32_t quantum;
};
#define SEEN 64
static struct seen seen[SEEN];
static uint64_t seen_count;

void khook_switch_out(struct kcpu *cpu, const struct kthread *old, const struct kthread *new, uint64_t tsc)
{
    (void)tsc;
    assert_ptr_equal(cpu, &cpus[here]);
    assert_false(irq_on[here]);
    assert_false(counting[here]);
    assert_true(kspin_held(&dispatcher));
    assert_int_equal(new->state, KTHREAD_RUNNING);
    assert_true(new->priority >= new->base_priority || new->flags & KTHREAD_IDLE);
    for (uint32_t i = 0; i < kcpu_count; i++) {
        if (i != here)
            assert_ptr_not_equal(cpus[i].current, new);
        assert_ptr_not_equal(cpus[i].standby, new);
    }
    assert_true(krunq_highest(&cpu->ready) <= new->priority); /* nobody better is left in this CPU's queue */
    struct seen *s = &seen[seen_count++ % SEEN];
    *s = (struct seen){ cpu->arch.index, old->tid, new->tid, new->waited, old->state, old->wait_reason, old->priority,
                        old->base_priority, old->quantum };
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

void khook_switch_in(struct kcpu *cpu, struct kthread *incoming, const struct kthread *previous, uint64_t tsc)
{
    (void)tsc;
    assert_ptr_equal(cpu, &cpus[here]);
    assert_ptr_equal(incoming, cpu->current);
    assert_ptr_equal(previous, cpu->previous);
    assert_true(kspin_held(&dispatcher));
}

static const struct seen *last_out(uint32_t tid)
{
    for (uint64_t i = seen_count; i && i + SEEN > seen_count; i--)
        if (seen[(i - 1) % SEEN].old_tid == tid)
            return &seen[(i - 1) % SEEN];
    fail_msg("thread %u was not switched out", tid);
    return NULL;
}

/* ---- running a test: `body` is a thread's, of priority 8 on CPU 0 */
static void enter(void *unused)
{
    (void)unused;
    ksched_enter();
}

static struct kthread *start_thread(int priority, uint64_t affinity, void (*entry)(void *), void *argument)
{
    struct kthread *t = NULL;
    struct kthread_params params = { .name = "test", .priority = priority, .flags = KTHREAD_SAMPLED,
                                     .affinity = affinity, .entry = entry, .argument = argument };
    assert_int_equal(kthread_create(&t, &params), 0);
    return t;
}

static void (*body)(void);

static void run_body(void *unused)
{
    (void)unused;
    while (online != bit(kcpu_count) - 1)
        pause_cpu(); /* until every CPU has entered */
    body();
    finished = true;
    pause_cpu();
    abort();
}

static void simulate(uint32_t count, uint64_t seed, uint32_t odds, void (*test)(void))
{
    memset(cpus, 0, sizeof cpus);
    memset(ipis, 0, sizeof ipis);
    memset(irq_on, 0, sizeof irq_on);
    memset(counting, 0, sizeof counting);
    online = idle = tick_count = 0;
    stacks = threads_there = 0;
    kdpc_init_queues();
    next_ideal = count - 1; /* so that the first thread's ideal CPU is 0 */
    next_tid = 8;
    record_count = 0;
    seen_count = 0;
    dispatcher.owner = 0;
    memset(held, 0, sizeof held);
    handed_over = 0;
    kopt.tick_us = 1000;
    krand_init(&turns, seed);
    finished = false;
    tick_odds = odds;
    body = test;
    kcpu_count = count;
    ksched_init();
    for (uint32_t i = 0; i < count; i++) {
        kcpu_table[i] = &cpus[i];
        cpus[i].arch.index = i;
        cpus[i].locktrace = i % 2 ? NULL : (struct klocktrace_cpu *)&held; /* only that it is there counts */
        assert_int_equal(ksched_cpu_init(&cpus[i]), 0);
        boot[i].stack = malloc(STACK_BYTES);
        fiber_init(&boot[i], enter, NULL);
        paused[i] = &boot[i];
    }
    here = 0;
    struct kthread *main_thread = start_thread(8, 1, run_body, NULL);
    running = &driver;
    for (unsigned long i = 0; !finished; i++) {
        if (i > 50000000)
            fail_msg("the test hangs");
        here = krand_below(&turns, count);
        jump(paused[here]);
    }
    /* Nothing but the idle threads and the test itself is left. */
    for (uint32_t i = 0; i < count; i++) {
        assert_null(cpus[i].standby);
        assert_int_equal(cpus[i].ready.bitmap, 0);
        kstack_free(cpus[i].idle->stack);
        free(cpus[i].idle);
        free(boot[i].stack);
    }
    assert_true(handed_over > 0);
    assert_true(klist_empty(&timers));
    assert_int_equal(stacks, 1);
    assert_int_equal(threads_there, 1);
    kstack_free(main_thread->stack);
    free(main_thread);
}

/* ---- tests */
/* A user thread begins in ring 3, and gives its address space back when it is joined. */
static void user_body(void)
{
    struct kuser user = { .space = 0x5000, .argument = { 7, 1 } };
    struct kthread_params params = { .name = "user", .priority = 8, .flags = KTHREAD_SAMPLED | KTHREAD_USER,
                                     .user = &user };
    struct kthread *t;
    int code = 0;
    begun = freed = 0;
    assert_int_equal(kthread_create(&t, &params), 0);
    while (kthread_join(t, 0, &code) != 0) {
        assert_int_equal(freed, 0);
        kthread_sleep(1, KWAIT_DELAY_EXECUTION);
    }
    assert_int_equal(code, 7);
    assert_int_equal(begun, 1);
    assert_int_equal(freed, 1);
}

static void user_threads(void **state)
{
    (void)state;
    simulate(1, 1, 3, user_body);
    simulate(3, 2, 3, user_body);
}

static char story[64]; /* what happened, a letter each */
#define LETTER(c) ((void *)(uintptr_t)(c))

static void tell(char c)
{
    size_t n = strlen(story);
    assert_true(n + 1 < sizeof story);
    story[n] = c;
    story[n + 1] = '\0';
}

static void teller(void *letter)
{
    tell((char)(uintptr_t)letter);
}

static void preemption_body(void)
{
    story[0] = '\0';
    uint32_t me = kthread_from_stack()->tid;
    struct kthread *low = start_thread(7, 1, teller, LETTER('l')), *equal = start_thread(8, 1, teller, LETTER('e'));
    tell('m');
    struct kthread *high = start_thread(9, 1, teller, LETTER('h')); /* runs before this call returns */
    tell('m');
    assert_int_equal(last_out(me)->state, KTHREAD_READY);
    assert_int_equal(last_out(me)->reason, KWAIT_WR_PREEMPTED);
    kthread_yield(); /* to the equal one, not to the low one */
    tell('m');
    assert_int_equal(last_out(me)->reason, KWAIT_WR_YIELD_EXECUTION);
    assert_int_equal(last_out(equal->tid)->state, KTHREAD_TERMINATED);
    kthread_yield(); /* nobody */
    assert_int_equal(kthread_join(low, KWAIT_FOREVER, NULL), 0);
    assert_int_equal(kthread_join(equal, KWAIT_FOREVER, NULL), 0);
    assert_int_equal(kthread_join(high, KWAIT_FOREVER, NULL), 0);
    assert_string_equal(story, "mhmeml");
}

static void preemption(void **state)
{
    (void)state;
    simulate(1, 1, 0, preemption_body);
}

static void count_turns(void *letter)
{
    for (int i = 0; i < 3; i++) {
        tell((char)(uintptr_t)letter);
        interrupt(ARCH_VECTOR_TIMER);
        interrupt(ARCH_VECTOR_TIMER); /* the quantum's end */
    }
}

static void quantum_body(void)
{
    story[0] = '\0';
    struct kthread *a = start_thread(6, 1, count_turns, LETTER('a')), *b = start_thread(6, 1, count_turns, LETTER('b'));
    uint32_t tid = a->tid;
    kthread_sleep(5, KWAIT_DELAY_EXECUTION); /* two ticks a letter */
    assert_string_equal(story, "aba");
    assert_int_equal(last_out(tid)->reason, KWAIT_WR_PREEMPTED); /* by this thread, in the middle of its second turn */
    assert_int_equal(last_out(tid)->quantum, 1);
    kthread_sleep(1, KWAIT_DELAY_EXECUTION); /* it goes on with what is left */
    assert_string_equal(story, "aba");
    assert_int_equal(last_out(tid)->reason, KWAIT_WR_QUANTUM_END);
    assert_int_equal(last_out(tid)->quantum, 0);
    kthread_sleep(2, KWAIT_DELAY_EXECUTION);
    assert_string_equal(story, "abab");
    assert_int_equal(kthread_join(a, KWAIT_FOREVER, NULL), 0);
    assert_int_equal(kthread_join(b, KWAIT_FOREVER, NULL), 0);
}

static void quantum(void **state)
{
    (void)state;
    simulate(1, 1, 0, quantum_body);
}

static struct kevent go;

static void boosted(void *levels)
{
    int8_t *level = levels;
    assert_int_equal(kevent_wait(&go, KWAIT_WR_QUEUE, KWAIT_FOREVER), 0);
    for (int i = 0; i < 6; i++) {
        level[i] = kthread_from_stack()->priority;
        interrupt(ARCH_VECTOR_TIMER);
        interrupt(ARCH_VECTOR_TIMER);
    }
}

static void boost_body(void)
{
    static int8_t dynamic[6], real_time[6];
    boosts = decays = 0;
    kthread_set_priority(4);
    kevent_init(&go, false, false);
    struct kthread *t = start_thread(10, 1, boosted, dynamic); /* runs until it waits */
    assert_int_equal(t->state, KTHREAD_WAITING);
    assert_int_equal(last_out(t->tid)->reason, KWAIT_WR_QUEUE);
    kevent_set(&go, 3);
    assert_memory_equal(dynamic, ((int8_t[]){ 13, 12, 11, 10, 10, 10 }), 6);
    assert_int_equal(boosts, 1);
    assert_int_equal(decays, 3);
    kthread_join(t, KWAIT_FOREVER, NULL);
    t = start_thread(20, 1, boosted, real_time);
    kevent_set(&go, 3);
    assert_memory_equal(real_time, ((int8_t[]){ 20, 20, 20, 20, 20, 20 }), 6);
    kthread_join(t, KWAIT_FOREVER, NULL);
    t = start_thread(15, 1, boosted, dynamic);
    kevent_set(&go, 8);
    assert_int_equal(dynamic[0], 15);
    kthread_join(t, KWAIT_FOREVER, NULL);
    assert_int_equal(kthread_set_priority(0), -EINVAL);
    assert_int_equal(kthread_set_priority(32), -EINVAL);
}

static void boost_and_decay(void **state)
{
    (void)state;
    simulate(1, 1, 0, boost_body);
}

static void wait_go(void *unused)
{
    (void)unused;
    int e = kevent_wait(&go, KWAIT_USER_REQUEST, 50);
    kthread_exit(e);
}

static int end_of(struct kthread *t)
{
    int code = 99;
    assert_int_equal(kthread_join(t, KWAIT_FOREVER, &code), 0);
    return code;
}

static void events_body(void)
{
    struct kthread *t[3];
    kevent_init(&go, true, false); /* manual: wakes all, stays */
    for (int i = 0; i < 3; i++)
        t[i] = start_thread(8, 0, wait_go, NULL);
    work();
    assert_int_equal(kthread_join(t[0], 0, NULL), -ETIMEDOUT);
    kevent_set(&go, KWAIT_INCREMENT);
    for (int i = 0; i < 3; i++)
        assert_int_equal(end_of(t[i]), 0);
    assert_int_equal(kevent_wait(&go, KWAIT_USER_REQUEST, 0), 0);
    kevent_reset(&go);
    assert_int_equal(kevent_wait(&go, KWAIT_USER_REQUEST, 0), -ETIMEDOUT);

    kevent_init(&go, false, false); /* auto: wakes the first; the others time out */
    for (int i = 0; i < 3; i++)
        t[i] = start_thread(9, 1, wait_go, NULL); /* each waits before the next is made */
    kevent_set(&go, KWAIT_INCREMENT);
    uint64_t begin = ksched_ticks();
    assert_int_equal(end_of(t[0]), 0);
    assert_int_equal(end_of(t[1]), -ETIMEDOUT);
    assert_int_equal(end_of(t[2]), -ETIMEDOUT);
    assert_in_range(ksched_ticks() - begin, 49, 52);
    kevent_set(&go, KWAIT_INCREMENT);
    kevent_set(&go, KWAIT_INCREMENT); /* no more than set */
    assert_int_equal(kevent_wait(&go, KWAIT_USER_REQUEST, 0), 0);
    assert_int_equal(kevent_wait(&go, KWAIT_USER_REQUEST, 0), -ETIMEDOUT);
}

static void events(void **state)
{
    (void)state;
    simulate(1, 1, 3, events_body);
    simulate(3, 2, 3, events_body);
}

static struct ksem sem;

static void semaphores_body(void)
{
    ksem_init(&sem, 1, 3);
    assert_int_equal(ksem_wait(&sem, KWAIT_WR_QUEUE, 5), 0);
    uint64_t begin = ksched_ticks();
    assert_int_equal(ksem_wait(&sem, KWAIT_WR_QUEUE, 5), -ETIMEDOUT);
    assert_int_equal(ksched_ticks() - begin, 5);
    assert_int_equal(ksem_post(&sem, 4, 1), -EOVERFLOW);
    assert_int_equal(ksem_post(&sem, 3, 1), 0);
    assert_int_equal(ksem_post(&sem, 1, 1), -EOVERFLOW);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ksem_wait(&sem, KWAIT_WR_QUEUE, 0), 0);
    assert_int_equal(ksem_wait(&sem, KWAIT_WR_QUEUE, 0), -ETIMEDOUT);
}

static void semaphores(void **state)
{
    (void)state;
    simulate(1, 1, 2, semaphores_body);
}

static struct kmutex mutex;

static void lock_twice_and_end(void *unused)
{
    (void)unused;
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, KWAIT_FOREVER), 0);
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, 0), 0);
    kthread_sleep(10, KWAIT_DELAY_EXECUTION);
}

static void lock_and_tell(void *letter)
{
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, KWAIT_FOREVER), 0);
    tell((char)(uintptr_t)letter);
    assert_int_equal(kmutex_unlock(&mutex, KWAIT_INCREMENT), 0);
}

static void mutexes_body(void)
{
    kmutex_init(&mutex);
    assert_int_equal(kmutex_unlock(&mutex, 1), -EPERM);
    struct kthread *t = start_thread(9, 1, lock_twice_and_end, NULL);
    assert_ptr_equal(mutex.owner, t);
    assert_int_equal(mutex.depth, 2);
    assert_int_equal(kmutex_unlock(&mutex, 1), -EPERM);
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, 3), -ETIMEDOUT);
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, 50), -EOWNERDEAD); /* owned all the same */
    assert_ptr_equal(mutex.owner, kthread_from_stack());
    kthread_join(t, KWAIT_FOREVER, NULL);
    assert_int_equal(kmutex_lock(&mutex, KWAIT_WR_MUTEX, 0), 0); /* said once */

    story[0] = '\0';
    struct kthread *a = start_thread(11, 1, lock_and_tell, LETTER('a'));
    struct kthread *b = start_thread(12, 1, lock_and_tell, LETTER('b'));
    assert_int_equal(kmutex_unlock(&mutex, 1), 0);
    assert_string_equal(story, "");
    assert_int_equal(kmutex_unlock(&mutex, 1), 0); /* to `a`, the first who waited, whatever the priorities */
    kthread_join(a, KWAIT_FOREVER, NULL);
    kthread_join(b, KWAIT_FOREVER, NULL);
    assert_string_equal(story, "ab");
    assert_int_equal(mutex.object.signal, 1);
}

static void mutexes(void **state)
{
    (void)state;
    simulate(1, 1, 3, mutexes_body);
}

static void run_until_told(void *where)
{
    while (!go.object.signal) {
        *(uint64_t *)where |= UINT64_C(1) << here;
        work();
    }
}

/* Pinned threads stay where they belong; a thread that lost its CPU moves to an idle one. */
static void placement_body(void)
{
    uint64_t where[4] = { 0 };
    kevent_init(&go, true, false);
    struct kthread *free_one = start_thread(8, 0, run_until_told, &where[0]); /* ideal CPU 1 */
    for (int i = 0; i < 100; i++)
        work();
    assert_int_equal(where[0], 2);
    struct kthread *pinned = start_thread(10, 2, run_until_told, &where[1]); /* pushes it off CPU 1 */
    for (int i = 0; i < 100; i++)
        work();
    assert_int_equal(where[1], 2);
    assert_int_equal(where[0], 2 | 4);
    assert_int_equal(free_one->cpu, 2);
    struct kthread *t = NULL;
    struct kthread_params nowhere = { .name = "nowhere", .priority = 8, .affinity = 8, .entry = run_until_told };
    assert_int_equal(kthread_create(&t, &nowhere), -EINVAL); /* there is no CPU 3 */
    kevent_set(&go, 0);
    kthread_join(free_one, KWAIT_FOREVER, NULL);
    kthread_join(pinned, KWAIT_FOREVER, NULL);
}

static void placement(void **state)
{
    (void)state;
    simulate(3, 5, 0, placement_body);
}

static uint32_t last_waited(uint32_t tid)
{
    for (uint64_t i = seen_count; i; i--)
        if (seen[(i - 1) % SEEN].new_tid == tid)
            return seen[(i - 1) % SEEN].waited;
    fail_msg("thread %u never came in", tid);
    return 0;
}

/* A new thread has waited since its creation, on an idle CPU too. */
static void new_wait_time_body(void)
{
    kthread_sleep(9, KWAIT_DELAY_EXECUTION);
    kevent_init(&go, true, true);
    struct kthread *t = start_thread(8, 2, wait_go, NULL);
    uint32_t tid = t->tid;
    kthread_join(t, KWAIT_FOREVER, NULL);
    assert_true(last_waited(tid) <= 1);
}

/* Wait time: from the begin of the wait where the CPU was idle, from the entry into the queue where it was not. */
static void wait_time_body(void)
{
    kthread_sleep(7, KWAIT_DELAY_EXECUTION);
    assert_int_equal(kthread_from_stack()->waited, 7);
    kevent_init(&go, false, false);
    struct kthread *t = start_thread(9, 1, wait_go, NULL);
    for (int i = 0; i < 4; i++)
        interrupt(ARCH_VECTOR_TIMER);
    kthread_set_priority(12);
    kevent_set(&go, 1); /* 10: queued behind this thread */
    interrupt(ARCH_VECTOR_TIMER);
    uint32_t tid = t->tid;
    assert_int_equal(t->state, KTHREAD_READY);
    kthread_join(t, KWAIT_FOREVER, NULL);
    assert_int_equal(last_waited(tid), 1);
}

static void wait_time(void **state)
{
    (void)state;
    simulate(1, 1, 2, wait_time_body); /* ticks while idle; the thread itself asks for its own */
    simulate(2, 1, 2, new_wait_time_body);
}

/* ---- everything at once */
#define STORM 40

static struct kevent storm_event[2];
static struct ksem storm_sem;
static struct kmutex storm_mutex[3];
static uint32_t inside[3];
static bool storm_over;

static void storm_thread(void *number)
{
    struct krand r;
    krand_init(&r, (uintptr_t)number + 77);
    while (!storm_over) {
        uint32_t n = krand_below(&r, 12), m = krand_below(&r, 3);
        work();
        if (n < 2)
            kevent_set(&storm_event[n], (int)krand_below(&r, 9));
        else if (n < 4)
            kevent_wait(&storm_event[n - 2], KWAIT_USER_REQUEST, 1 + krand_below(&r, 20));
        else if (n == 4)
            kevent_reset(&storm_event[0]);
        else if (n == 5)
            ksem_post(&storm_sem, 1 + (int)krand_below(&r, 2), 1);
        else if (n == 6)
            ksem_wait(&storm_sem, KWAIT_WR_QUEUE, 1 + krand_below(&r, 20));
        else if (n == 7)
            kthread_sleep(krand_below(&r, 6), KWAIT_DELAY_EXECUTION);
        else if (n == 8)
            kthread_yield();
        else if (n == 9)
            kthread_set_priority(1 + (int)krand_below(&r, 31));
        else if (kmutex_lock(&storm_mutex[m], KWAIT_WR_MUTEX, 1 + krand_below(&r, 30)) != -ETIMEDOUT) {
            assert_int_equal(inside[m]++, 0);
            work();
            inside[m]--;
            if (krand_below(&r, 200) == 0)
                break; /* ends as its owner */
            kmutex_unlock(&storm_mutex[m], KWAIT_INCREMENT);
        }
    }
}

/* How many threads wait in queues and may run on CPU `i`. */
static uint32_t queued_for(uint32_t i)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < kcpu_count; c++)
        for (int p = 0; p < KPRIORITIES; p++)
            for (struct klist *l = cpus[c].ready.list[p].next; l != &cpus[c].ready.list[p]; l = l->next)
                n += KLIST_ITEM(l, struct kthread, queue_link)->affinity >> i & 1;
    return n;
}

/* Nobody waits in a queue for a CPU that idles, but those for whom a CPU has been asked to come. */
static void assert_no_idle_waste(void)
{
    uint32_t coming = 0;
    for (uint32_t i = 0; i < kcpu_count; i++)
        coming += ipis[i] && !cpus[i].standby;
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (cpus[i].current == cpus[i].idle && !cpus[i].standby && !ipis[i])
            assert_true(queued_for(i) <= coming);
}

static void storm_body(void)
{
    struct kthread *t[STORM];
    uintptr_t made = 0;
    storm_over = false;
    memset(inside, 0, sizeof inside);
    kevent_init(&storm_event[0], true, false);
    kevent_init(&storm_event[1], false, false);
    ksem_init(&storm_sem, 0, 5);
    for (int i = 0; i < 3; i++)
        kmutex_init(&storm_mutex[i]);
    kthread_set_priority(31);
    for (; made < STORM; made++)
        t[made] = start_thread(1 + (int)made % 31, made % 5 == 0 ? 1 + made % kcpu_count : 0, storm_thread,
                               (void *)made);
    for (int i = 0; i < 3000; i++) {
        uint32_t k = (uint32_t)i % STORM;
        if (kthread_join(t[k], 0, NULL) == 0)
            t[k] = start_thread(1 + i % 31, 0, storm_thread, (void *)made++);
        kthread_sleep(1, KWAIT_DELAY_EXECUTION);
        assert_no_idle_waste();
    }
    storm_over = true;
    for (int i = 0; i < STORM; i++)
        assert_int_equal(kthread_join(t[i], KWAIT_FOREVER, NULL), 0);
}

static void storm(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (uint32_t n = 1; n <= CPUS; n += n == 1 ? 1 : 2)
            simulate(n, seed, 20, storm_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preemption), cmocka_unit_test(quantum),   cmocka_unit_test(boost_and_decay),
        cmocka_unit_test(events),     cmocka_unit_test(semaphores), cmocka_unit_test(mutexes),
        cmocka_unit_test(placement),  cmocka_unit_test(wait_time), cmocka_unit_test(storm),
        cmocka_unit_test(user_threads),
    };
    return cmocka_run_group_tests_name("kernel scheduler", tests, NULL, NULL);
}
