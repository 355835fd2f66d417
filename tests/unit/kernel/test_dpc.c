/* SPDX-License-Identifier: MIT */
/* DPC queues as they are, on CPUs of which only what they use is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/lock/spinlock.h"
#include "kernel/tracepoint/activity.h"
#include "kernel/tracepoint/witness.h"
#include "tests/unit/support/cmocka.h"

#define CPUS 2

static struct kcpu cpus[CPUS];
static uint32_t here;
static unsigned sent, sent_to_self; /* interrupts asked for; of `sent` bit i: CPU i */

struct kcpu *kcpu_table[MAX_CPUS];
uint32_t kcpu_count;

struct kcpu *kcpu_this(void)
{
    return &cpus[here];
}

#include "tests/unit/fake/processor.h"

uint32_t arch_cpu_index(void)
{
    return here;
}

#include "kernel/sched/dpc.h"

void arch_ipi(uint32_t cpu, uint8_t vector)
{
    assert_int_equal(vector, ARCH_VECTOR_RESCHEDULE);
    assert_int_not_equal(cpu, here);
    sent |= 1u << cpu;
}

void arch_ipi_self(uint8_t vector)
{
    assert_int_equal(vector, ARCH_VECTOR_RESCHEDULE);
    sent_to_self++;
}

static bool panicked;
static jmp_buf panic_exit;

_Noreturn void kpanic(const char *format, ...)
{
    (void)format;
    panicked = true;
    longjmp(panic_exit, 1);
}

/* ---- what is told of it */
static const void *begun, *witnessed;

void kactivity_dpc_begins(const struct kcpu *cpu)
{
    assert_ptr_equal(cpu, kcpu_this());
    assert_false(processor.irq_on);
    assert_null(begun);
    begun = cpu;
}

void kactivity_dpc_ends(struct kcpu *cpu, const void *routine, bool timer)
{
    assert_ptr_equal(cpu, begun);
    assert_false(timer);
    assert_false(processor.irq_on);
    assert_false(cpu->in_dpc);
    begun = NULL;
    witnessed = routine;
}

/* ---- what happened, a letter each */
static char story[32];

static void tell(char c)
{
    size_t n = strlen(story);
    assert_true(n + 1 < sizeof story);
    story[n] = c;
    story[n + 1] = '\0';
}

static void teller(struct kdpc *dpc, void *letter)
{
    assert_non_null(dpc);
    assert_true(processor.irq_on); /* a routine may be interrupted, */
    assert_true(kcpu_in_dpc(kcpu_this()));
    assert_false(kcpu_in_isr(kcpu_this()));
    assert_int_equal(kcpu_this()->irq_depth, 1); /* but its thread cannot be switched away */
    tell((char)(uintptr_t)letter);
}

static struct kdpc letter(char c, enum kdpc_importance importance)
{
    struct kdpc dpc;
    kdpc_init(&dpc, teller, (void *)(uintptr_t)c);
    dpc.importance = importance;
    return dpc;
}

/* The end of an interrupt on `cpu`. */
static void run(uint32_t cpu)
{
    here = cpu;
    processor.irq_on = false;
    cpus[cpu].irq_depth++;
    assert_true(kcpu_in_isr(&cpus[cpu]));
    kdpc_run(&cpus[cpu]);
    assert_false(processor.irq_on);
    assert_false(cpus[cpu].in_dpc);
    cpus[cpu].irq_depth--;
    processor.irq_on = true;
}

static int setup(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CPUS; i++) {
        cpus[i] = (struct kcpu){.arch.index = i};
        kcpu_table[i] = &cpus[i];
    }
    kcpu_count = CPUS;
    kdpc_init_queues();
    here = 0;
    processor.irq_on = true;
    sent = sent_to_self = 0;
    story[0] = '\0';
    return 0;
}

/* First come, first run; High before all that wait. */
static void order(void **state)
{
    (void)state;
    struct kdpc a = letter('a', KDPC_LOW), b = letter('b', KDPC_MEDIUM), c = letter('c', KDPC_HIGH),
                d = letter('d', KDPC_MEDIUM_HIGH), e = letter('e', KDPC_HIGH);
    cpus[0].irq_depth = 1;
    assert_true(kdpc_queue(&a) && kdpc_queue(&b) && kdpc_queue(&c) && kdpc_queue(&d) && kdpc_queue(&e));
    cpus[0].irq_depth = 0;
    assert_true(processor.irq_on);
    run(1); /* another CPU's queue is not this one's */
    assert_string_equal(story, "");
    run(0);
    assert_string_equal(story, "ecabd");
    assert_ptr_equal(witnessed, teller);
    run(0);
    assert_string_equal(story, "ecabd");
    assert_int_equal(sent | sent_to_self, 0); /* an interrupt was in progress */
}

/* It is in one queue once, and may be queued again as soon as it runs: then it runs before the interrupt ends, behind
 * those that wait, however often. */
static struct kdpc again;
static unsigned rounds;

static void come_again(struct kdpc *dpc, void *unused)
{
    (void)unused;
    assert_ptr_equal(dpc, &again);
    if (rounds < 2)
        tell('r');
    if (++rounds == 1000)
        return;
    assert_true(kdpc_queue(&again));
    assert_false(kdpc_queue(&again));
}

static void once(void **state)
{
    (void)state;
    kdpc_init(&again, come_again, NULL);
    rounds = 0;
    cpus[0].irq_depth = 1;
    assert_true(kdpc_queue(&again));
    assert_false(kdpc_queue(&again));
    here = 1;
    assert_false(kdpc_queue(&again));
    here = 0;
    struct kdpc waits = letter('w', KDPC_LOW);
    assert_true(kdpc_queue(&waits));
    cpus[0].irq_depth = 0;
    run(1);
    assert_int_equal(rounds, 0);
    run(0);
    assert_int_equal(rounds, 1000);
    assert_string_equal(story, "rwr");
    assert_int_equal(sent | sent_to_self, 0);
}

/* Who is interrupted for it. */
static void urgency(void **state)
{
    (void)state;
    static const struct {
        enum kdpc_importance importance;
        bool here, there;
    } cases[] = {
        {KDPC_LOW, false, false},
        {KDPC_MEDIUM, true, false},
        {KDPC_HIGH, true, true},
        {KDPC_MEDIUM_HIGH, true, true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kdpc a = letter('a', cases[i].importance), b = letter('b', cases[i].importance);
        b.target = 1;
        setup(NULL);
        assert_true(kdpc_queue(&a));
        assert_int_equal(sent_to_self, cases[i].here);
        assert_int_equal(sent, 0);
        assert_true(kdpc_queue(&b));
        assert_int_equal(sent, cases[i].there ? 2 : 0);
        assert_int_equal(sent_to_self, cases[i].here);
        run(0);
        assert_string_equal(story, "a");
        run(1);
        assert_string_equal(story, "ab");
    }
}

/* Whatever the importance, a long queue is run. */
static void depth(void **state)
{
    (void)state;
    struct kdpc dpc[KDPC_DEEP];
    for (unsigned i = 0; i < KDPC_DEEP; i++) {
        dpc[i] = letter((char)('a' + i), KDPC_LOW);
        dpc[i].target = 1;
        assert_int_equal(sent, 0);
        assert_true(kdpc_queue(&dpc[i]));
    }
    assert_int_equal(sent, 2);
    run(1);
    assert_string_equal(story, "abcd");
}

/* An interrupt that comes while a routine runs is an interrupt's, and leaves the queue alone. */
static struct kdpc late;

static void interrupted(struct kdpc *dpc, void *unused)
{
    (void)dpc, (void)unused;
    tell('(');
    cpus[0].irq_depth++;
    processor.irq_on = false;
    assert_true(kcpu_in_isr(&cpus[0]));
    assert_false(kcpu_in_dpc(&cpus[0]));
    assert_true(kdpc_queue(&late));
    assert_false(processor.irq_on);
    cpus[0].irq_depth--;
    processor.irq_on = true;
    tell(')');
}

static void nested(void **state)
{
    (void)state;
    struct kdpc outer;
    kdpc_init(&outer, interrupted, NULL);
    late = letter('l', KDPC_HIGH);
    assert_true(kdpc_queue(&outer));
    run(0);
    assert_string_equal(story, "()l");
}

static void no_such_cpu(void **state)
{
    (void)state;
    struct kdpc dpc = letter('a', KDPC_MEDIUM);
    dpc.target = CPUS;
    panicked = false;
    if (setjmp(panic_exit) == 0)
        (void)kdpc_queue(&dpc);
    assert_true(panicked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(order, setup),   cmocka_unit_test_setup(once, setup),
        cmocka_unit_test_setup(urgency, setup), cmocka_unit_test_setup(depth, setup),
        cmocka_unit_test_setup(nested, setup),  cmocka_unit_test_setup(no_such_cpu, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
