/* SPDX-License-Identifier: MIT */
/*
 * Does a thread get on when a PMI is due after every resume, however long its handler takes and however short a tick
 * is? A clock that moves on with each PMI, against the tick; as on the processor, a PMI is served before a tick.
 */
#include "tests/unit/support/cmocka.h"

static uint64_t now;

#include "arch/arch.h"
#include "ds/driver/driver.h"
uint64_t arch_rdtsc(void)
{
    return now;
}

static unsigned drains[CAIRN_DS_UNTHROTTLE + 1];

void ds_drain(struct ds_cpu *ds, enum cairn_ds_reason reason)
{
    (void)ds;
    drains[reason]++;
}

void ds_hold(struct ds_cpu *ds)
{
    (void)ds;
}

void ds_go_on(struct ds_cpu *ds)
{
    (void)ds;
}

static void threads_get_on_in_a_storm(void **state)
{
    (void)state;
    static const struct ds_machine machine = {.backend = "fake"};
    static const struct {
        uint64_t tick, pmi;
    } rows[] = {{1000, 1}, {1000, 9}, {1000, 11}, {100, 3}, {100, 250}, {1, 250}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ds_cpu ds = {.machine = &machine, .config = {.throttle = 100, .tick_tsc = rows[i].tick}};
        uint64_t due = rows[i].tick, ran = 0;
        now = 0;
        for (unsigned k = 0; k < CAIRN_DS_UNTHROTTLE + 1; k++)
            drains[k] = 0;
        while (drains[CAIRN_DS_UNTHROTTLE] < 50) {
            assert_true(now < 100000000); /* it comes to an end */
            if (!ds.throttled) {          /* a PMI is due, before the thread has run one instruction */
                now += rows[i].pmi;
                ds_throttle(&ds);
            } else if (now >= due) {
                due += (now - due) / rows[i].tick * rows[i].tick + rows[i].tick; /* the local APIC keeps one pending */
                ds_tick(&ds);
            } else {
                now++;
                ran++;
            }
        }
        assert_int_equal(drains[CAIRN_DS_THROTTLE], 50);
        assert_true(ran >= 50 * rows[i].tick);
        assert_int_equal(ds.counts.throttled_tsc, ran);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_get_on_in_a_storm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
