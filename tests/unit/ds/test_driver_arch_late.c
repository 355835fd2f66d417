/* SPDX-License-Identifier: MIT */
/* Architectural PEBS on a machine of MSRs: records that come when counters are off already, an index that makes no
 * sense, and what a panic finds. */
#include <stdbool.h>
#include <stdlib.h>

#include "ds/driver/driver.h"
#include "tests/unit/ds/driver/arch_machine.h"
#include "tests/unit/support/cmocka.h"

static void start(void)
{
    arch_begin("INST_RETIRED.ANY:10000:k,branches:500:plain", "gpr");
    driver_start();
    ds_resume(ds);
    arch_reads = 0;
}

static struct ds_counts counts_now(void)
{
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    return counts;
}

static uint64_t *index_register(void)
{
    return &ds_fake_find(&fake, IA32_PEBS_INDEX)->value;
}

/* ---- records on their way ---------------------------------------------------------------------------------------- */

static int (*inner_rdmsr)(void *context, uint32_t msr, uint64_t *value);
static unsigned due; /* records that come, one at each read of the index, from now on */

static int late_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    if (msr == IA32_PEBS_INDEX && due && ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL) == 0) {
        due--;
        arch_records(1);
    }
    return inner_rdmsr(context, msr, value);
}

/* However many come after the counters are off: each is handed over once, before the buffer goes. */
static void on_their_way(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 6; n++) {
        start();
        inner_rdmsr = fake.machine.rdmsr;
        fake.machine.rdmsr = late_rdmsr;
        arch_records(1);
        due = n;
        ds_drain(ds, CAIRN_DS_RECONFIGURE);
        ds_stop(ds);
        assert_int_equal(due, 0);
        assert_int_equal(counts_now().records, 1 + n);
        assert_true(!counts_now().restless && !counts_now().lost_unknown && counts_now().faults == 0);
        assert_int_equal(ds_fake_value(&fake, IA32_PEBS_BASE), 0x12340004);
    }
}

static uint64_t moves;

static int endless_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    if (msr == IA32_PEBS_INDEX && due)
        *index_register() ^= moves;
    return inner_rdmsr(context, msr, value);
}

/* Nor is it followed where it leads beyond the buffer. */
static void never_rests(void **state)
{
    (void)state;
    const uint64_t first[] = {0, 0x1000000}, by[] = {ARCH_RECORD, 0x7000000};
    for (unsigned i = 0; i < 2; i++) {
        start();
        inner_rdmsr = fake.machine.rdmsr;
        fake.machine.rdmsr = endless_rdmsr;
        moves = by[i];
        due = 1;
        ds_drain(ds, CAIRN_DS_RECONFIGURE);
        assert_true(arch_reads < 64);
        *index_register() = arch_index((uint32_t)first[i]);
        ds_stop(ds);
        due = 0;
        assert_true(counts_now().restless && counts_now().lost_unknown);
        assert_true(arch_reads > 64 && arch_reads < 10000);
        assert_int_equal(ds_fake_value(&fake, IA32_PEBS_BASE), 0x12340004);
    }
}

/* ---- panic ------------------------------------------------------------------------------------------------------- */

/* The kernel's hook stamps the batches that it closes. */
static void refreshing_before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    driver_before_drain(context, cpu, tsc);
    ds_refresh_index(ds);
}

/* Another CPU has no access to this one's registers: it believes what was read last. Whether that was all, only the CPU
 * itself could say, once its counters are off. */
static void panic(void **state)
{
    (void)state;
    for (int answered = 0; answered < 2; answered++) {
        start();
        arch_records(2);
        ds_refresh_index(ds);
        arch_records(2);
        ds_pause(ds);
        if (answered)
            ds_refresh_index_panic(ds);
        ds->hooks.before_drain = refreshing_before_drain;
        *index_register() = 3 * ARCH_RECORD; /* another CPU's: that which runs this */
        const unsigned accesses = fake.accesses;
        order[0] = '\0';
        ds_drain_panic(ds);
        assert_int_equal(fake.accesses, accesses);
        assert_string_equal(order, "bd");
        arch_expect_drained(answered ? 4 : 2, 1);
        assert_int_equal(arch_registers.index, arch_index((answered ? 4 : 2) * ARCH_RECORD));
        assert_int_equal(*ds_pebs_index(ds), (answered ? 4 : 2) * ARCH_RECORD);
        assert_true(last.reason == CAIRN_DS_PANIC && last.lost == (answered ? 0 : CAIRN_DS_LOST_UNKNOWN));
        assert_int_equal(counts_now().lost_unknown, !answered);
        ds_drain_panic(ds); /* once */
        assert_string_equal(order, "bd");
    }
    start(); /* records on their way when this CPU is stopped: it waits for them */
    arch_records(1);
    inner_rdmsr = fake.machine.rdmsr;
    fake.machine.rdmsr = late_rdmsr;
    due = 2;
    ds_pause(ds);
    ds_refresh_index_panic(ds);
    ds_drain_panic(ds);
    arch_expect_drained(3, 1);
    assert_int_equal(last.lost, 0);
    start(); /* in the middle of a drain: that epoch again, and once it is handed over not again */
    arch_records(2);
    panic_in_drain = true;
    order[0] = '\0';
    ds_drain(ds, CAIRN_DS_THRESHOLD);
    assert_string_equal(order, "bdbd");
    start();
    ds->handed = ds->epoch + 1; /* between the hook and the write */
    order[0] = '\0';
    ds_drain_panic(ds);
    assert_string_equal(order, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_their_way),
        cmocka_unit_test(never_rests),
        cmocka_unit_test(panic),
    };
    int failed = cmocka_run_group_tests_name("ds_driver_arch_late", tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
