/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS on a machine of MSRs: what is drained, when, what is lost, and when IA32_PEBS_INDEX is read. It is
 * a register, so a switch that is not stamped and an interrupt must not read it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ds/driver/mechanism.h"
#include "kernel/lib/errno.h"
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

static uint64_t *status(void)
{
    return &ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value;
}

static uint64_t *index_register(void)
{
    return &ds_fake_find(&fake, IA32_PEBS_INDEX)->value;
}

/* Where in the buffer the records of the last drain begin. */
static uint64_t first(void)
{
    return last.address - (arch_registers.base & IA32_PEBS_BASE_ADDRESS);
}

/* ---- drains ------------------------------------------------------------------------------------------------------ */

static void drains(void **state)
{
    (void)state;
    start();
    arch_records(5);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(5, 1);
    assert_true(last.lost == 0 && last.swallowed == 0 && first() == 0 && last.records == buffer);
    assert_true(last.epoch == 0 && last.reason == CAIRN_DS_RECONFIGURE);
    assert_int_equal(arch_registers.index, arch_index(5 * ARCH_RECORD)); /* before it goes back */
    assert_int_equal(arch_index_before, 5 * ARCH_RECORD); /* what batches that close now are stamped with */
    assert_int_equal(arch_index_after, 5 * ARCH_RECORD);
    assert_int_equal(*index_register(), arch_index(0));
    assert_int_equal(*ds_pebs_index(ds), 0); /* an epoch begins with 0 */
    assert_true(ds_counting(ds));            /* as it was */
    assert_int_equal(arch_reads, 2);         /* and two that agree, before it is written */
    arch_records(1);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(1, 6);
    assert_int_equal(last.epoch, 1);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_true(last.bytes == 0 && !last.records && last.lost == 0);
    arch_records(2);
    ds_stop(ds);
    arch_expect_drained(2, 7);
    assert_int_equal(counts_now().records, 8);
    assert_true(counts_now().faults == 0 && !counts_now().lost_unknown);
}

/* FULL is all there is to see of a loss; the buffer itself may hold more than was asked for. */
static void full(void **state)
{
    (void)state;
    const unsigned fit = 4096 / ARCH_RECORD;
    start();
    arch_records(fit);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(fit, 1);
    assert_int_equal(last.lost, 0);
    arch_records(fit + 3);
    assert_true(*index_register() & IA32_PEBS_INDEX_FULL);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(fit, fit + 1);
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);
    assert_int_equal(*index_register(), arch_index(0)); /* FULL is cleared */
    unsigned n = fake.logged;
    arch_records(1);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_true(last.lost == 0 && counts_now().lost_unknown && counts_now().lost == 0);
    for (unsigned i = n; i < fake.logged; i++)
        assert_true(fake.log[i].msr != IA32_FIXED_CTR0); /* still on: its counters go on */
    /* A processor that turns PEBS off by it: its counters have gone on, past 0. */
    arch_records(fit + 1);
    *index_register() &= ~IA32_PEBS_INDEX_EN;
    n = fake.logged;
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0},
        {IA32_PEBS_INDEX, arch_index(0)},
        {IA32_FIXED_CTR0, MINUS(10000)},
        {IA32_PERF_GLOBAL_CTRL, DS_BIT(32) | 1},
    };
    EXPECT(expected, n);
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);
    *index_register() = arch_index(64 * 1024); /* a position that is not believed */
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN && last.bytes == 0);
    assert_int_equal(*index_register(), arch_index(0));
}

/* Two records on their way while an epoch is handed over: the next begins with them. */
static void two_more(void)
{
    arch_in_drain = NULL;
    arch_records(2);
}

static void late_records(void **state)
{
    (void)state;
    start();
    arch_records(3);
    arch_in_drain = two_more;
    ds_drain(ds, CAIRN_DS_THRESHOLD);
    arch_expect_drained(3, 1);
    assert_int_equal(*index_register(), arch_index(2 * ARCH_RECORD));
    assert_int_equal(*ds_pebs_index(ds), 2 * ARCH_RECORD);
    assert_int_equal(counts_now().late, 2);
    ds_drain(ds, CAIRN_DS_THRESHOLD);
    arch_expect_drained(2, 4);
    arch_records(1);
    arch_in_drain = two_more; /* at the stop they are drained at once */
    order[0] = '\0';
    ds_stop(ds);
    assert_string_equal(order, "bdbd");
    arch_expect_drained(2, 7);
    assert_int_equal(counts_now().records, 8);
}

/* Fragments are one record. */
static void fragments(void **state)
{
    (void)state;
    const uint64_t sizes[] = {16, /* a null header */
                              DS_ARCH_HEADER_BASIC | DS_ARCH_HEADER_CONT | 64, IA32_PMC_CFG_C_GPR | 176,
                              DS_ARCH_HEADER_BASIC | 64};
    uint8_t *at = buffer;
    start();
    uint32_t bytes = 0;
    for (unsigned i = 0; i < 4; i++) {
        const struct ds_arch_header header = {.format = sizes[i]};
        at = (uint8_t *)buffer + bytes;
        memcpy(at, &header, sizeof header);
        bytes += ds_arch_header_size(sizes[i]);
    }
    assert_int_equal(ds->mechanism->count(ds, 0, bytes), 2);
    assert_int_equal(ds->mechanism->count(ds, 16 + 64 + 176, 64), 1);
    assert_int_equal(ds->mechanism->count(ds, 0, 80), 0); /* cut off */
    assert_int_equal(ds->mechanism->count(ds, 0, 0), 0);
}

/* ---- the PMI ----------------------------------------------------------------------------------------------------- */

static void threshold(void **state)
{
    (void)state;
    const uint64_t bits[] = {IA32_PERF_GLOBAL_STATUS_ARCH_PEBS,
                             IA32_PERF_GLOBAL_STATUS_ARCH_PEBS | IA32_PERF_GLOBAL_STATUS_OVF_BUF};
    for (unsigned i = 0; i < 2; i++) { /* whether it sets OVF_BUF as well no source says */
        start();
        arch_records(6);
        assert_int_equal(*status(), bits[0]);
        *status() = bits[i] | DS_BIT(32); /* the counter's own bit is the assist's to clear */
        ds_fake_find(&fake, DS_FAKE_LVTPC)->value |= LVTPC_MASKED;
        unsigned n = fake.logged;
        assert_true(ds_pmi(ds));
        const struct driver_write expected[] = {
            {IA32_PERF_GLOBAL_CTRL, 0},
            {IA32_PERF_GLOBAL_OVF_CTRL, bits[i]},
            {IA32_PEBS_INDEX, arch_index(0)},
            {DS_FAKE_LVTPC, ARCH_VECTOR_PMI},
        };
        EXPECT(expected, n);
        arch_expect_drained(6, 1);
        assert_true(last.reason == CAIRN_DS_THRESHOLD && *status() == DS_BIT(32));
        assert_int_equal(arch_reads, 2);
        assert_false(ds_counting(ds));
    }
    /* Another drain came between: an epoch of nothing is none. */
    arch_records(2);
    *status() = IA32_PERF_GLOBAL_STATUS_ARCH_PEBS;
    order[0] = '\0';
    assert_true(ds_pmi(ds));
    assert_true(order[0] == '\0' && *status() == 0);
    *index_register() |= IA32_PEBS_INDEX_FULL; /* but a full buffer is drained, whatever it holds */
    *status() = IA32_PERF_GLOBAL_STATUS_ARCH_PEBS;
    assert_true(ds_pmi(ds));
    assert_string_equal(order, "bd");
    /* Not ours; and a plain counter's. */
    assert_false(ds_pmi(ds));
    *status() = 1;
    arch_reads = 0;
    assert_true(ds_pmi(ds));
    assert_int_equal(counts_now().plain[1].overflows, 1);
    assert_int_equal(arch_reads, 0);
}

/* ---- when it is read --------------------------------------------------------------------------------------------- */

static void one_read_for_a_switch(void **state)
{
    (void)state;
    struct arch_trap_frame frame = {0};
    start();
    for (unsigned i = 0; i < 10; i++) { /* interrupts, and switches that are not stamped */
        ds_pause(ds);
        ds_tick(ds);
        ds_resume_frame(ds, &frame);
        ds_pause(ds);
        ds_switch(ds, i);
        ds_resume(ds);
    }
    assert_int_equal(arch_reads, 0);
    arch_records(2);
    assert_int_equal(*ds_pebs_index(ds), 0);
    ds_refresh_index(ds); /* a batch is closed */
    assert_int_equal(*ds_pebs_index(ds), 2 * ARCH_RECORD);
    assert_int_equal(arch_reads, 1);
    ds_stamp_switches(ds, true);
    arch_records(1);
    const unsigned accesses = fake.accesses;
    ds_pause(ds);
    ds_switch(ds, 11);
    assert_int_equal(*ds_pebs_index(ds), 3 * ARCH_RECORD);
    ds_resume(ds);
    assert_int_equal(arch_reads, 2);
    assert_int_equal(fake.accesses - accesses, 3); /* counters off, the index, counters on */
    ds_stamp_switches(ds, false);
    ds_switch(ds, 12);
    assert_int_equal(arch_reads, 2);
    ds_stop(ds);
    arch_reads = 0;
    ds_stamp_switches(ds, true);
    ds_switch(ds, 13); /* it does not run */
    ds_refresh_index(ds);
    ds_switch(NULL, 14);
    ds_refresh_index(NULL);
    ds_stamp_switches(NULL, true);
    ds_lend(NULL, true);
    ds_refresh_index_panic(NULL);
    assert_int_equal(arch_reads, 0);
    /* Asked for before the start. */
    driver_start();
    arch_reads = 0;
    ds_switch(ds, 15);
    assert_int_equal(arch_reads, 1);
}

/* The Debug Store's index is in memory, and always right. */
static void no_read_for_the_debug_store(void **state)
{
    (void)state;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    driver_start();
    ds_stamp_switches(ds, true);
    const unsigned accesses = fake.accesses;
    assert_ptr_equal(ds_pebs_index(ds), &area[5]);
    ds_switch(ds, 1);
    ds_refresh_index(ds);
    ds_lend(ds, true);
    ds_lend(ds, false);
    ds_refresh_index_panic(ds);
    assert_int_equal(fake.accesses, accesses);
}

/* Workload `known` borrows the registers: what they say is not the session's, which is as it was. */
static void lent(void **state)
{
    (void)state;
    static uint64_t other_area[512] __attribute__((aligned(4096)));
    struct ds_config config = {.records = 4, .threshold = 4};
    struct ds_refusal refusal;
    char error[160];
    start();
    ds_stamp_switches(ds, true);
    ds_pause(ds);
    arch_records(2);
    const struct ds_fake before = fake;
    assert_int_equal(ds_parse_events("instructions:5:u", &config, error, sizeof error), 0);
    uint8_t *other_buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
    struct ds_cpu *other = malloc(ds_cpu_bytes());
    struct ds_hooks quiet = ds->hooks;
    quiet.before_drain = driver_before_drain;
    assert_int_equal(
        ds_cpu_init(other, 7, &fake.machine, &caps, &config, &quiet, other_area, other_buffer, error, sizeof error), 0);
    ds_lend(ds, true);
    assert_int_equal(*ds_pebs_index(ds), 2 * ARCH_RECORD);
    assert_int_equal(ds_start(other, &refusal), 0);
    ds_resume(other);
    assert_int_equal(ds_fake_value(&fake, IA32_PEBS_BASE), (uintptr_t)other_buffer);
    arch_reads = 0;
    ds_switch(ds, 1); /* to the borrower's thread */
    ds_refresh_index(ds);
    assert_int_equal(*ds_pebs_index(ds), 2 * ARCH_RECORD);
    assert_int_equal(arch_reads, 0);
    ds_stop(other);
    for (unsigned i = 0; i < before.msrs; i++)
        assert_true(fake.msr[i].msr == before.msr[i].msr && fake.msr[i].value == before.msr[i].value);
    ds_lend(ds, false);
    ds_resume(ds);
    arch_records(1);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(3, 1);
    free(other);
    free(other_buffer);
}

/* ---- when it refuses --------------------------------------------------------------------------------------------- */

static void refused_index(void **state)
{
    (void)state;
    start();
    arch_records(2);
    ds_refresh_index(ds);
    arch_records(1);
    fake.fault_at = fake.accesses + 2; /* counters off, then the read */
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(2, 1); /* what was known is there, how much is behind it is not */
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);
    assert_true(counts_now().faults == 1 && counts_now().fault.msr == IA32_PEBS_INDEX && !counts_now().fault.write);
    assert_int_equal(counts_now().late, 1); /* it was found all the same: the next epoch begins with it */
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(1, 3);
    assert_int_equal(last.lost, 0);

    start();
    arch_records(2);
    fake.fault_at = fake.accesses + 4; /* off, read, read, written: once more will do */
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(2, 1);
    assert_true(counts_now().faults == 1 && counts_now().fault.write && *index_register() == arch_index(0));
    arch_records(1);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(1, 3);
    assert_int_equal(counts_now().records, 3);

    /* It refuses for good: nothing is handed over twice. */
    start();
    arch_records(2);
    ds_fake_find(&fake, IA32_PEBS_INDEX)->refuses = IA32_PEBS_INDEX_EN;
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(2, 1);
    assert_int_equal(counts_now().faults, 2);
    arch_records(3);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(3, 3);
    assert_int_equal(first(), 2 * ARCH_RECORD);
    ds_fake_find(&fake, IA32_PEBS_INDEX)->refuses = 0;
    arch_records(1);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(1, 6);
    assert_int_equal(first(), 5 * ARCH_RECORD);
    assert_int_equal(*index_register(), arch_index(0));
    arch_records(1);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(1, 7);
    assert_true(first() == 0 && counts_now().records == 7);
}

/* The PMI's read: what it would have said is found by the drain. */
static void refused_in_the_pmi(void **state)
{
    (void)state;
    start();
    arch_records(6);
    fake.fault_at = fake.accesses + 4; /* off, status, its acknowledgement, the read */
    assert_true(ds_pmi(ds));
    assert_true(counts_now().faults == 1 && strcmp(counts_now().fault.during, "the PMI handler") == 0);
    assert_true(last.reason == CAIRN_DS_THRESHOLD && last.lost == CAIRN_DS_LOST_UNKNOWN);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    arch_expect_drained(6, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drains),
        cmocka_unit_test(full),
        cmocka_unit_test(late_records),
        cmocka_unit_test(fragments),
        cmocka_unit_test(threshold),
        cmocka_unit_test(one_read_for_a_switch),
        cmocka_unit_test(no_read_for_the_debug_store),
        cmocka_unit_test(lent),
        cmocka_unit_test(refused_index),
        cmocka_unit_test(refused_in_the_pmi),
    };
    int failed = cmocka_run_group_tests_name("ds_driver_arch_drain", tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
