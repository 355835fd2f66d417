/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* ucontext */
#include "tests/unit/kernel/sched/sched_machine.h"

#include <stdlib.h>
#include <ucontext.h>

#include <sanitizer/common_interface_defs.h>

struct kcpu cpus[CPUS];
uint32_t here;
bool irq_on[CPUS];
uint32_t ipis[CPUS];
bool counting[CPUS];
struct kcpu *kcpu_table[MAX_CPUS];
uint32_t kcpu_count;

struct kcpu *kcpu_this(void)
{
    return &cpus[here];
}

bool arch_irq_save(void)
{
    bool on = irq_on[here];
    irq_on[here] = false;
    return on;
}

void arch_irq_restore(bool on)
{
    irq_on[here] = on;
}

uint64_t arch_read_rflags(void)
{
    return irq_on[here] ? ARCH_RFLAGS_IF : 0;
}

uint32_t arch_cpu_index(void)
{
    return here;
}

void arch_pause(void)
{
    fail_msg("a spinlock is held by a CPU that does not run");
}

#include "arch/upcalls.h"
#include "kernel/memory/stack.h"
#include "kernel/sched/dpc.h"
/* Each simulation begins with their variables as the kernel does. */
#include "kernel/sched/sched.c"
#include "kernel/sched/threads.c"
#include "kernel/sched/time.c"

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
static struct fiber *running;      /* the stack in use */
static struct fiber *paused[CPUS]; /* where each CPU goes on when its turn comes */
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

struct kthread *kthread_from_stack(void)
{
    return running->thread;
}

struct kthread *kstack_alloc(void)
{
    char *slot = aligned_alloc(KSTACK_SLOT, KSTACK_SLOT);
    struct fiber *f = calloc(1, sizeof *f);
    f->stack = malloc(STACK_BYTES);
    f->thread = (struct kthread *)(void *)(slot + KSTACK_SLOT) - 1;
    memset(f->thread, 0, sizeof *f->thread);
    *(struct fiber **)slot = f; /* the rest of the slot only leads to the fiber */
    stacks++;
    return f->thread;
}

void kstack_free(struct kthread *thread)
{
    struct fiber **slot = (struct fiber **)kthread_slot(thread), *f = *slot;
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

void arch_context_switch(void **save, void *load)
{
    const struct kthread *next = ((struct fiber *)load)->thread;
    assert_false(irq_on[here]);
    if (running->thread) /* not from the boot stack */
        assert_ptr_equal(sched_told[here], next);
    *save = running;
    jump(load);
}

/* ---- interrupts, and turns */
arch_irq_handler handlers[256];
struct krand turns;
static bool finished;
static uint32_t tick_odds; /* one in so many pauses brings a tick; 0: only sched_interrupt(ARCH_VECTOR_TIMER) does */

void arch_irq_set(uint8_t vector, arch_irq_handler handler)
{
    handlers[vector] = handler;
}

void sched_interrupt(uint8_t vector)
{
    struct arch_trap_frame frame = {.vector = vector};
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
        sched_interrupt(ARCH_VECTOR_RESCHEDULE);
    }
    if (tick_odds && krand_below(&turns, tick_odds) == 0)
        sched_interrupt(ARCH_VECTOR_TIMER);
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

void arch_timer_stop(void)
{
    fail();
}

void sched_work(void)
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

/* ---- for the rest of the kernel */
const void *const sched_end_waits = (const void *)end_waits;

bool sched_held(void)
{
    return kspin_held(&dispatcher);
}

/* ---- running a test: `body` is a thread's, of priority 8 on CPU 0 */
static void enter(void *unused)
{
    (void)unused;
    ksched_enter();
}

struct kthread *sched_thread(int priority, uint64_t affinity, void (*entry)(void *), void *argument)
{
    struct kthread *t = NULL;
    struct kthread_params params = {.name = "test",
                                    .priority = priority,
                                    .flags = KTHREAD_SAMPLED,
                                    .affinity = {{affinity}},
                                    .entry = entry,
                                    .argument = argument};
    assert_int_equal(kthread_create(&t, &params), 0);
    return t;
}

static void (*body)(void);

static void run_body(void *unused)
{
    (void)unused;
    while (online.word[0] != (UINT64_C(1) << kcpu_count) - 1)
        pause_cpu(); /* until every CPU has entered */
    body();
    finished = true;
    pause_cpu();
    abort();
}

void sched_simulate(uint32_t count, uint64_t seed, uint32_t odds, void (*test)(void))
{
    memset(cpus, 0, sizeof cpus);
    memset(ipis, 0, sizeof ipis);
    memset(irq_on, 0, sizeof irq_on);
    memset(counting, 0, sizeof counting);
    memset(sched_told, 0, sizeof sched_told);
    online = idle = (struct kcpuset){0};
    tick_count = 0;
    stacks = 0;
    next_ideal = count - 1; /* so that the first thread's ideal CPU is 0 */
    next_tid = 8;
    klist_init(&kthread_all);
    record_count = 0;
    dispatcher.owner = 0;
    kopt.tick_us = 1000;
    krand_init(&turns, seed);
    finished = false;
    tick_odds = odds;
    body = test;
    kcpu_count = count;
    sched_world_begin();
    kthread_watch(&sched_watch);
    ksched_init();
    for (uint32_t i = 0; i < count; i++) {
        kcpu_table[i] = &cpus[i];
        cpus[i].arch.index = i;
        assert_int_equal(ksched_cpu_init(&cpus[i]), 0);
        boot[i].stack = malloc(STACK_BYTES);
        fiber_init(&boot[i], enter, NULL);
        paused[i] = &boot[i];
    }
    here = 0;
    struct kthread *main_thread = sched_thread(8, 1, run_body, NULL);
    running = &driver;
    for (unsigned long i = 0; !finished; i++) {
        if (i > 50000000)
            fail_msg("the test hangs");
        here = krand_below(&turns, count);
        jump(paused[here]);
    }
    /* Nothing but the idle threads and the test itself is left. */
    assert_true(kthread_all.next == &main_thread->all_link && kthread_all.prev == kthread_all.next);
    for (uint32_t i = 0; i < count; i++) {
        assert_null(cpus[i].standby);
        assert_int_equal(cpus[i].ready.bitmap, 0);
        kstack_free(cpus[i].idle);
        free(boot[i].stack);
    }
    assert_true(klist_empty(&timers));
    assert_int_equal(stacks, 1);
    sched_world_end();
    kstack_free(main_thread);
}

/* ---- what happened */
char story[64];

void sched_tell(char c)
{
    size_t n = strlen(story);
    assert_true(n + 1 < sizeof story);
    story[n] = c;
    story[n + 1] = '\0';
}

void sched_teller(void *letter)
{
    sched_tell((char)(uintptr_t)letter);
}
