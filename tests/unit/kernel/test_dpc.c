/* SPDX-License-Identifier: MIT */
/* DPC queues as they are, on CPUs of which only what they use is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "kernel/cpu.h"
#include "kernel/tracepoint/activity.h"
#include "kernel/tracepoint/witness.h"
#include "tests/unit/support/cmocka.h"

#define CPUS 2

static struct kcpu cpus[CPUS];
static uint32_t here;

struct kcpu *kcpu_table[MAX_CPUS];
uint32_t kcpu_count;

struct kcpu *kcpu_this(void)
{
    return &cpus[here];
}

#include "tests/unit/fake/processor.h"

#include "kernel/sched/dpc.h"

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

static void teller(char c)
{
    assert_true(processor.irq_on); /* a routine may be interrupted, */
    assert_true(kcpu_in_dpc(kcpu_this()));
    assert_false(kcpu_in_isr(kcpu_this()));
    assert_int_equal(kcpu_this()->irq_depth, 1); /* but its thread cannot be switched away */
    tell(c);
}

static void tell_a(void)
{
    teller('a');
}

static void tell_b(void)
{
    teller('b');
}

/* What a handler does. */
static void queue(struct kdpc *dpc)
{
    bool on = processor.irq_on;
    processor.irq_on = false;
    kdpc_queue(dpc);
    processor.irq_on = on;
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
    here = 0;
    processor.irq_on = true;
    story[0] = '\0';
    return 0;
}

/* First come, first run, on its own CPU; one that is queued twice runs once. */
static void order(void **state)
{
    (void)state;
    struct kdpc a = {.routine = tell_a}, b = {.routine = tell_b}, other = {.routine = tell_a};
    queue(&b);
    queue(&a);
    queue(&b);
    here = 1;
    queue(&other);
    run(0);
    assert_string_equal(story, "ba");
    assert_ptr_equal(witnessed, tell_a);
    run(0);
    assert_string_equal(story, "ba");
    run(1);
    assert_string_equal(story, "baa");
}

/* It may be queued again as soon as it runs: then it runs before the interrupt ends, behind those that wait. */
static struct kdpc again, waits = {.routine = tell_b};
static unsigned rounds;

static void come_again(void)
{
    if (++rounds < 3)
        tell('r');
    if (rounds == 1)
        queue(&waits);
    if (rounds == 1000)
        return;
    queue(&again);
    queue(&again);
}

static void once(void **state)
{
    (void)state;
    again = (struct kdpc){.routine = come_again};
    rounds = 0;
    queue(&again);
    run(0);
    assert_int_equal(rounds, 1000);
    assert_string_equal(story, "rbr");
}

/* An interrupt that comes while a routine runs is an interrupt's, and leaves the queue alone. */
static struct kdpc late = {.routine = tell_b};

static void interrupted(void)
{
    tell('(');
    cpus[0].irq_depth++;
    processor.irq_on = false;
    assert_true(kcpu_in_isr(&cpus[0]));
    assert_false(kcpu_in_dpc(&cpus[0]));
    kdpc_queue(&late);
    cpus[0].irq_depth--;
    processor.irq_on = true;
    tell(')');
}

static void nested(void **state)
{
    (void)state;
    struct kdpc outer = {.routine = interrupted};
    queue(&outer);
    run(0);
    assert_string_equal(story, "()b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(order, setup),
        cmocka_unit_test_setup(once, setup),
        cmocka_unit_test_setup(nested, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
