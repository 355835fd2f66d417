/* SPDX-License-Identifier: MIT */
/*
 * arch/tscsync/exchange.c: two sides that take turns in one thread, with clocks and ways of our own making; and two
 * threads of this machine, one of which has its TSC moved.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/instructions.h"
#include "arch/tscsync/exchange.h"
#include "tests/unit/support/cmocka.h"

static struct arch_tsc_exchange exchange;
static struct arch_tsc_bounds bounds;

/* ---- made-up time ------------------------------------------------------------------------------------------------ */

static bool made_up, silent;
static uint64_t now;         /* of the side that asks */
static int64_t offset;       /* of the other */
static int64_t drift;        /* what the offset gains in each round */
static unsigned there, back; /* cycles a question and an answer take, at least; up to twice that */
static __thread bool other;
static __thread int64_t moved;

static uint64_t real_tsc(void)
{
    __builtin_ia32_lfence();
    const uint64_t tsc = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return tsc;
}

/* Reading the clock is what lets time pass; in between the other side answers. */
uint64_t arch_ordered_tsc(void)
{
    if (!made_up)
        return real_tsc() + (uint64_t)moved;
    if (other)
        return now + (uint64_t)offset;
    now += 7;
    if (exchange.asked != exchange.answered && !silent) {
        now += there + (unsigned)rand() % (there + 1);
        other = true;
        arch_tsc_answer(&exchange);
        other = false;
        now += back + (unsigned)rand() % (back + 1);
        offset += drift;
    }
    return now;
}

static void measure(int64_t other_is_ahead, unsigned way_there, unsigned way_back)
{
    memset(&exchange, 0, sizeof exchange);
    made_up = true;
    drift = 0;
    now = 1000000;
    offset = other_is_ahead;
    there = way_there;
    back = way_back;
    arch_tsc_measure(&exchange, &bounds, 1000000000, 1000000);
}

static void bounded(void **state)
{
    (void)state;
    static const int64_t offsets[] = {0, 1, -1, 40, -40, 1000000, -999990, INT64_C(1) << 62, -(INT64_C(1) << 62)};
    static const unsigned ways[] = {0, 10, 100, 5000};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
        for (size_t t = 0; t < 4; t++)
            for (size_t b = 0; b < 4; b++) {
                measure(offsets[i], ways[t], ways[b]);
                assert_int_equal(bounds.rounds, ARCH_TSC_ROUNDS);
                assert_true(bounds.low <= offsets[i] && offsets[i] <= bounds.high);
                /* of many ways the shortest counts */
                assert_true(bounds.high - bounds.low <= ways[t] + ways[b] + (ways[t] + ways[b]) / 4 + 32);
                assert_true(arch_tsc_uncertainty(&bounds) <= (uint64_t)(bounds.high - bounds.low + 1) / 2);
                const int64_t error = arch_tsc_offset(&bounds) - offsets[i];
                assert_true((uint64_t)llabs(error) <= arch_tsc_uncertainty(&bounds));
            }
}

static void no_answer(void **state)
{
    (void)state;
    silent = true;
    measure(5, 10, 10);
    silent = false;
    assert_int_equal(bounds.rounds, 0);
}

/* A little time: the fewest rounds. */
static void short_time(void **state)
{
    (void)state;
    measure(5, 1000, 1000);
    memset(&exchange, 0, sizeof exchange);
    arch_tsc_measure(&exchange, &bounds, 10000, 1000000);
    assert_int_equal(bounds.rounds, ARCH_TSC_LEAST);
    assert_true(bounds.low <= 5 && 5 <= bounds.high);
}

/* Clocks of two rates: bounds that exclude each other, as wide as what they came to differ by. */
static void no_constant_offset(void **state)
{
    (void)state;
    measure(0, 10, 10);
    memset(&exchange, 0, sizeof exchange);
    drift = 50;
    arch_tsc_measure(&exchange, &bounds, 1000000000, 1000000);
    assert_true(bounds.low > bounds.high);
    assert_in_range(arch_tsc_uncertainty(&bounds), 50 * ARCH_TSC_ROUNDS / 2 - 100, 50 * ARCH_TSC_ROUNDS / 2 + 100);
}

/* ---- two threads ------------------------------------------------------------------------------------------------- */

static bool stop;

static void *answer(void *ahead)
{
    moved = *(int64_t *)ahead;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        arch_tsc_answer(&exchange);
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    static const int64_t offsets[] = {0, 123456789, -123456789};
    made_up = false;
    for (size_t i = 0; i < 3; i++) {
        pthread_t thread;
        int64_t ahead = offsets[i];
        memset(&exchange, 0, sizeof exchange);
        stop = false;
        assert_int_equal(pthread_create(&thread, NULL, answer, &ahead), 0);
        arch_tsc_measure(&exchange, &bounds, 200000000, UINT64_C(100000000000));
        __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
        pthread_join(thread, NULL);
        assert_true(bounds.rounds > 0);
        assert_true(bounds.low <= ahead && ahead <= bounds.high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounded),    cmocka_unit_test(no_answer),          cmocka_unit_test(threads),
        cmocka_unit_test(short_time), cmocka_unit_test(no_constant_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
