/* SPDX-License-Identifier: MIT */
/*
 * Records that come after counters have been turned off: on a machine of MSRs that stores one before chosen accesses,
 * to the area that IA32_DS_AREA leads to then.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ds/driver/driver.h"
#include "ds/later/later.h"
#include "tests/unit/ds/driver/driver_machine.h"
#include "tests/unit/support/cmocka.h"

#define SIZE 176u /* of a record */

static struct late {
    struct ds_machine machine;
    uint64_t due;      /* bit i: a record comes before access i to an MSR since counters went off */
    bool endless;      /* the index moves with each */
    unsigned accesses; /* since then */
    bool off;          /* they are */
    unsigned written;  /* records */
    unsigned astray;   /* records that had no area of the driver's to go to */
    unsigned in_drain; /* so many come while the next epoch is handed over */
    uint64_t handed;   /* bytes of all epochs */
    unsigned reads;    /* reads of IA32_PEBS_ENABLE */
} late;

static void store(void)
{
    if (ds_fake_value(&fake, IA32_DS_AREA) != (uintptr_t)area) {
        late.astray++;
        return;
    }
    memset((uint8_t *)(uintptr_t)area[5], (int)++late.written, SIZE);
    area[5] += SIZE;
}

static void access(uint32_t msr)
{
    if (msr == IA32_PERF_GLOBAL_CTRL)
        return;
    if (late.off && late.accesses < 64 && late.due >> late.accesses & 1)
        store();
    if (late.off && late.endless)
        area[5] = area[4] + (area[5] == area[4] ? SIZE : 0);
    late.accesses++;
}

static int rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    access(msr);
    late.reads += msr == IA32_PEBS_ENABLE;
    return fake.machine.rdmsr(context, msr, value);
}

static int wrmsr(void *context, uint32_t msr, uint64_t value)
{
    access(msr);
    if (msr == IA32_PERF_GLOBAL_CTRL) {
        late.off = !value && ds_fake_value(&fake, msr) && ds_fake_value(&fake, IA32_DS_AREA) == (uintptr_t)area;
        late.accesses = 0;
    }
    return fake.machine.wrmsr(context, msr, value);
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *drain)
{
    late.handed += drain->bytes;
    for (; late.in_drain && drain->reason != CAIRN_DS_START; late.in_drain--)
        store();
    driver_drained(context, cpu, drain);
}

static void begin(uint64_t due)
{
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    late = (struct late){.machine = fake.machine, .due = due};
    late.machine.rdmsr = rdmsr;
    late.machine.wrmsr = wrmsr;
    ds->machine = &late.machine;
    ds->hooks.drained = drained;
    driver_start();
    ds_resume(ds);
}

static struct ds_counts counts_now(void)
{
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    return counts;
}

/* Whatever comes within the first 64 accesses is handed over, none of it goes astray, and it is counted. */
static void stopped(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned i = 0; i < 3000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint64_t due = 0;
        for (unsigned n = 0; n < i % 4; n++) /* up to 3 */
            due |= DS_BIT(seed >> (6 * n + 20) & 63);
        begin(due);
        driver_records(3);
        ds_stop(ds);
        const unsigned came = (unsigned)__builtin_popcountll(due);
        const struct ds_counts counts = counts_now();
        assert_int_equal(late.written, came);
        assert_int_equal(late.astray, 0);
        assert_int_equal(late.handed, (3 + came) * SIZE);
        assert_true(counts.late == came && counts.records == 3 + came && !counts.restless && !counts.lost_unknown);
        assert_int_equal(last.reason, CAIRN_DS_STOP);
        assert_int_equal(ds_fake_value(&fake, IA32_DS_AREA), UINT64_C(0xFFFFFE0000001000));
        assert_int_equal(ds_fake_value(&fake, IA32_PEBS_ENABLE), 1); /* what it was */
    }
}

/* The reset values change when the last record has come. */
static void reconfigured(void **state)
{
    (void)state;
    char error[160];
    const uint64_t period[] = {200};
    begin(DS_BIT(0) | DS_BIT(9) | DS_BIT(40));
    driver_records(2);
    assert_int_equal(ds_reconfigure(ds, period, error, sizeof error), 0);
    assert_int_equal(last.reason, CAIRN_DS_RECONFIGURE);
    assert_int_equal(last.bytes, 5 * SIZE);
    assert_int_equal(((const uint8_t *)buffer)[4 * SIZE], 3);
    assert_int_equal(area[16], MINUS(200));
    assert_int_equal(area[5], area[4]);
    assert_true(counts_now().late == 3 && counts_now().records == 5);
}

/* A processor that never comes to rest: it is not waited for for ever, and what is lost is unknown, not 0. */
static void never_rests(void **state)
{
    (void)state;
    begin(0);
    late.endless = true;
    ds_stop(ds);
    assert_true(counts_now().restless && counts_now().lost_unknown);
    assert_true(late.reads > 64 && late.reads < 10000);
    assert_int_equal(ds_fake_value(&fake, IA32_DS_AREA), UINT64_C(0xFFFFFE0000001000));
}

/* Records that come while an epoch is handed over begin the next one, or are handed over at once where PEBS is off. */
static void while_handed_over(void **state)
{
    (void)state;
    begin(0);
    driver_records(3);
    late.in_drain = 2;
    ds_drain(ds, CAIRN_DS_THRESHOLD);
    assert_int_equal(last.bytes, 3 * SIZE);
    assert_int_equal(area[5], area[4] + 2 * SIZE);
    assert_int_equal(((const uint8_t *)buffer)[0], 1);
    assert_int_equal(((const uint8_t *)buffer)[SIZE], 2);
    assert_int_equal(counts_now().late, 2);
    ds_drain(ds, CAIRN_DS_THRESHOLD);
    assert_true(last.bytes == 2 * SIZE && area[5] == area[4] && last.lost == 0);
    driver_records(1);
    late.in_drain = 1;
    ds_stop(ds);
    assert_string_equal(order, "bdbdbdbdbd");
    assert_true(last.bytes == SIZE && last.reason == CAIRN_DS_STOP);
    assert_int_equal(counts_now().records, 7);
    assert_int_equal(counts_now().late, 3);
}

/* Whoever had PEBS on before: where it was on, its records have time to come; their area is still in force. */
static void before_the_set_up(void **state)
{
    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct ds_refusal refusal;
        driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
        ds_fake_find(&fake, IA32_PEBS_ENABLE)->value = on;
        late = (struct late){.machine = fake.machine};
        late.machine.rdmsr = rdmsr;
        ds->machine = &late.machine;
        for (fake.fault_at = 1;; fake.fault_at++) { /* a read that raises #GP undoes all */
            fake.accesses = 0;
            late.reads = 0;
            if (ds_start(ds, &refusal) == 0)
                break;
            assert_int_equal(ds_fake_value(&fake, IA32_PEBS_ENABLE), on);
        }
        assert_true(on ? late.reads >= 64 : late.reads < 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped),           cmocka_unit_test(reconfigured),      cmocka_unit_test(never_rests),
        cmocka_unit_test(while_handed_over), cmocka_unit_test(before_the_set_up),
    };
    int failed = cmocka_run_group_tests_name("ds_driver_quiet", tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
