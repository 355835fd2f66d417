/* SPDX-License-Identifier: MIT */
/* The interval of samples: what it is rounded to, what is told of it, and which ticks are samples. */
#include "kernel/activity/events.h"
#include "kernel/activity/sample_interval.h"
#include "kernel/options/options.h"
#include "kernel/tracepoint/activity.h"
#include "tests/unit/support/cmocka.h"

struct kopt kopt;

static uint32_t told_new, told_old;
static unsigned told;

uint32_t kactivity_sample_every = 1;

void ksample_interval_changed(uint32_t new_interval, uint32_t old_interval)
{
    told_new = new_interval;
    told_old = old_interval;
    told++;
}

static void rounding(void **state)
{
    (void)state;
    static const struct {
        uint32_t tick_us, asked, interval;
    } rows[] = {
        {1000, 10000, 10000},
        {1000, 0, 10000},
        {1000, 1, 10000},
        {1000, 14999, 10000},
        {1000, 15000, 20000},
        {1000, 50000, 50000},
        {1000, 9999999, 10000000},
        {1000, 10000001, 10000000},
        {1000, UINT32_MAX, 10000000},
        {100, 1221, 1000},
        {100, 1500, 2000},
        {100000, 1, 1000000},
        {100000, UINT32_MAX, 10000000},
        {700, UINT32_MAX, 9996000},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kopt.tick_us = rows[i].tick_us;
        kactivity_sample_every = 3;
        told = 0;
        ksample_interval_set(rows[i].asked);
        assert_int_equal(ksample_interval(), rows[i].interval);
        assert_int_equal(told, 1);
        assert_int_equal(told_new, rows[i].interval);
        assert_int_equal(told_old, rows[i].tick_us * 30);
    }
}

static void ticks(void **state)
{
    (void)state;
    static struct kcpu cpu;
    kopt.tick_us = 1000;
    for (uint32_t n = 1; n <= 7; n++) {
        unsigned samples = 0, last = 0;
        ksample_interval_set(n * 10000);
        for (cpu.ticks = 1; cpu.ticks <= 70; cpu.ticks++)
            if (kactivity_sample_due(&cpu)) {
                assert_int_equal(cpu.ticks - last, n);
                last = (unsigned)cpu.ticks;
                samples++;
            }
        assert_int_equal(samples, 70 / n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounding), cmocka_unit_test(ticks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
