/* SPDX-License-Identifier: MIT */
/* Drains on a machine of MSRs: what is handed over, when, and what is lost as real hardware shows it. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ds/later/later.h"
#include "kernel/lib/errno.h"
#include "tests/unit/ds/driver/driver_machine.h"
#include "tests/unit/support/cmocka.h"

/* Workload `known` borrows a CPU from a session that is paused, and gives it back as it was. */
static void second_driver_borrows(void **state)
{
    (void)state;
    static uint64_t other_area[512] __attribute__((aligned(4096)));
    struct ds_config config = {.records = 4, .threshold = 4};
    const struct ds_hooks hooks = {.before_drain = driver_before_drain, .drained = driver_drained};
    struct ds_refusal refusal;
    char error[160];
    driver_begin(true, "INST_RETIRED.ANY:1000,BR_INST_RETIRED.ALL_BRANCHES:500", "gpr");
    driver_start();
    ds_resume(ds);
    ds_pause(ds);
    driver_records(8); /* full, and its PMI is pending: it will come to the borrower, who clears what it says */
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
    ds_fake_find(&fake, DS_FAKE_LVTPC)->value = ARCH_VECTOR_PMI | LVTPC_MASKED;
    assert_true(ds_pmi(ds)); /* so it is served before */
    assert_true(last.reason == CAIRN_DS_THRESHOLD && last.bytes == 8 * 176);
    driver_records(2);
    ds_fake_find(&fake, IA32_FIXED_CTR0)->value = MINUS(77);
    const struct ds_fake before = fake;
    uint64_t area_before[512];
    memcpy(area_before, area, sizeof area);

    assert_int_equal(ds_parse_events("instructions:5:u,branches:9:u:plain", &config, error, sizeof error), 0);
    void *other_buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
    struct ds_cpu *other = malloc(ds_cpu_bytes());
    assert_int_equal(
        ds_cpu_init(other, 7, &fake.machine, &caps, &config, &hooks, other_area, other_buffer, error, sizeof error), 0);
    assert_int_equal(ds_start(other, &refusal), 0);
    assert_false(ds_pmi(other));
    ds_resume(other);
    assert_int_equal(ds_fake_value(&fake, IA32_DS_AREA), (uintptr_t)other_area);
    ds_fake_find(&fake, IA32_FIXED_CTR0)->value = 3; /* it counts */
    ds_pause(other);
    ds_stop(other);
    for (unsigned i = 0; i < before.msrs; i++)
        assert_true(fake.msr[i].msr == before.msr[i].msr && fake.msr[i].value == before.msr[i].value);
    assert_memory_equal(area, area_before, sizeof area);

    assert_int_equal(ds_fake_value(&fake, DS_FAKE_LVTPC), ARCH_VECTOR_PMI); /* nobody is left waiting for a PMI */
    ds_resume(ds);
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), DS_BIT(32) | 1);
    driver_records(1);
    ds_drain(ds, CAIRN_DS_STOP);
    assert_int_equal(last.bytes, 3 * 176);
    free(other);
    free(other_buffer);
}

static void full_buffer_is_unknown_loss(void **state)
{
    (void)state;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    driver_start();
    driver_records(7);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_int_equal(last.lost, 0);
    driver_records(8);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);
    assert_int_equal(last.epoch, 1);
    area[5] = area[4] + 64 * 176; /* an index that is not believed */
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN && last.bytes == 0);
    assert_int_equal(area[5], area[4]);
    driver_records(9); /* a processor that compares only the start: into the slack record */
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);
    assert_int_equal(last.bytes, 9 * 176);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_true(counts.lost_unknown);
    assert_int_equal(counts.lost, 0);
    assert_int_equal(counts.records, 24);
}

/* What one counter's record took of another's: a processor of formats 0 to 2 may have, and does not tell. */
static void swallowed_samples(void **state)
{
    (void)state;
    static const struct {
        unsigned format;
        const char *events;
        bool unknown;
    } rows[] = {
        {1, "branches:100,INST_RETIRED.ANY_P:100", true},
        {2, "branches:100,INST_RETIRED.ANY_P:100", true},
        {2, "branches:100,INST_RETIRED.ANY_P:100:plain", false}, /* one PEBS counter: whose should it be */
        {3, "branches:100,INST_RETIRED.ANY_P:100", false},
    };
    char error[160] = "";
    struct ds_counts counts;
    for (unsigned i = 0; i < 4; i++) {
        ds_fake_init(&fake, false);
        uint64_t *capabilities = &ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value;
        *capabilities = (*capabilities & ~UINT64_C(0xF00)) | (uint64_t)rows[i].format << 8;
        if (driver_init(rows[i].events, "none", 8, 6, error, sizeof error))
            fail_msg("%s", error);
        driver_start();
        ds_drain(ds, CAIRN_DS_RECONFIGURE); /* without a record none was swallowed */
        assert_int_equal(last.swallowed, 0);
        area[5] += ds_pebs_fixed_size(rows[i].format);
        ds_drain(ds, CAIRN_DS_RECONFIGURE);
        assert_true(last.swallowed == (rows[i].unknown ? CAIRN_DS_LOST_UNKNOWN : 0));
        assert_int_equal(last.lost, 0);
        ds_cpu_counts(ds, &counts);
        assert_true(counts.swallowed_unknown == rows[i].unknown && counts.swallowed == 0);
    }
}

static void panic_hands_over(void **state)
{
    (void)state;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    driver_start();
    ds_resume(ds);
    driver_records(5);
    unsigned n = fake.logged, accesses = fake.accesses;
    ds_drain_panic(ds);
    assert_string_equal(order, "bdbd");
    assert_int_equal(last.reason, CAIRN_DS_PANIC);
    assert_int_equal(last.bytes, 5 * 176);
    assert_ptr_equal(last.records, buffer);
    assert_int_equal(last.lost, 0);
    ds_drain_panic(ds); /* once only */
    ds_drain_panic(NULL);
    assert_string_equal(order, "bdbd");
    assert_int_equal(fake.logged, n); /* no register is touched, not even read */
    assert_int_equal(fake.accesses, accesses);

    for (int below = 0; below < 2; below++) { /* an index beyond the slack record, and one below the base */
        driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
        driver_start();
        area[5] = below ? area[4] - 8 : area[4] + 9 * 176 + 8;
        ds_drain_panic(ds);
        assert_string_equal(order, "bdbd");
        assert_null(last.records);
        assert_int_equal(last.bytes, 0);
        assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);
    }

    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr"); /* after a drain, and after a stop */
    driver_start();
    driver_records(3);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    driver_records(2);
    ds_drain_panic(ds);
    assert_int_equal(last.reason, CAIRN_DS_PANIC);
    assert_int_equal(last.bytes, 2 * 176);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.records, 5);
    assert_int_equal(counts.drains, 2);
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    driver_start();
    ds_stop(ds);
    n = fake.logged;
    ds_stop(ds);
    ds_drain_panic(ds);
    assert_int_equal(fake.logged, n);
    assert_string_equal(order, "bdbd");

    /* stopped in the hook: that epoch again, with all of its records */
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    driver_start();
    driver_records(3);
    panic_in_drain = true;
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_string_equal(order, "bdbdbd");
    assert_int_equal(last.reason, CAIRN_DS_PANIC);
    assert_int_equal(last.epoch, 0);
    assert_int_equal(last.bytes, 3 * 176);
}

static const void *gone; /* cannot be read */

static bool readable(const void *address, size_t bytes)
{
    return (uintptr_t)gone < (uintptr_t)address || (uintptr_t)gone >= (uintptr_t)address + bytes;
}

/* A panic for memory of the Debug Store that is gone: what was there is nobody's to hand over, and that is known. */
static void panic_without_memory(void **state)
{
    (void)state;
    for (int buffer_gone = 0; buffer_gone < 2; buffer_gone++) {
        driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
        fake.machine.readable = readable;
        driver_start();
        driver_records(5);
        gone = buffer_gone ? (const uint8_t *)buffer + 176 : (const uint8_t *)area;
        ds_drain_panic(ds);
        assert_string_equal(order, "bd");
        struct ds_counts counts;
        ds_cpu_counts(ds, &counts);
        assert_true(counts.lost_unknown && counts.records == 0);
    }
    gone = NULL;
}

static void drain_keeps_running_state(void **state)
{
    (void)state;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    driver_start();
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), 0);
    assert_null(last.records);
    ds_resume(ds);
    unsigned n = fake.logged;
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    const struct driver_write expected[] = {{IA32_PERF_GLOBAL_CTRL, 0}, {IA32_PERF_GLOBAL_CTRL, DS_BIT(32)}};
    EXPECT(expected, n);
    ds_pause(ds);
    n = fake.logged;
    ds_pause(ds); /* already off: no write */
    assert_int_equal(fake.logged, n);
}

/* Other periods on the way: drained first, PEBS off while the area changes, nothing else touched. */
static void other_periods(void **state)
{
    (void)state;
    char error[160] = "";
    uint64_t period[] = {200, 70, 9};
    driver_begin(true, "INST_RETIRED.ANY:1000,branches:500,cycles:300:plain", "gpr");
    struct ds_fake before = fake;
    assert_int_equal(ds_reconfigure(ds, period, error, sizeof error), 0); /* nothing runs: asked only */
    assert_int_equal(fake.logged, 0);
    driver_start();
    ds_resume(ds);
    driver_records(3);
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = 1;
    unsigned n = fake.logged;
    assert_int_equal(ds_reconfigure(ds, period, error, sizeof error), 0);
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0}, /* 1 */
        {IA32_PEBS_ENABLE, 0},      /* 2 */
        {IA32_FIXED_CTR0, MINUS(200)},
        {IA32_A_PMC0, MINUS(70)},
        {IA32_FIXED_CTR0 + 1, MINUS(9)},
        {IA32_PERF_GLOBAL_OVF_CTRL, 1},     /* 4 */
        {IA32_PEBS_ENABLE, DS_BIT(32) | 1}, /* 5 */
    };
    EXPECT(expected, n);
    assert_string_equal(order, "bdbd");
    assert_int_equal(last.reason, CAIRN_DS_RECONFIGURE);
    assert_int_equal(last.bytes, 3 * 176);
    assert_true(area[5] == area[4] && area[16] == MINUS(200) && area[8] == MINUS(70) && area[17] == 0);
    ds_resume(ds);
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), DS_BIT(32) | DS_BIT(33) | 1);
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = DS_BIT(33); /* the plain one goes on with its new period */
    assert_true(ds_pmi(ds));
    assert_int_equal(ds_fake_value(&fake, IA32_FIXED_CTR0 + 1), MINUS(9));

    n = fake.logged;
    period[1] = 0; /* impossible: nothing is touched, not even drained */
    assert_int_equal(ds_reconfigure(ds, period, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "option 'pebs.later': period 0 of BR_INST_RETIRED.ALL_BRANCHES: must be from 1 to "
                                  "2^47"));
    assert_int_equal(fake.logged, n);
    assert_string_equal(order, "bdbd");
    ds_stop(ds);
    for (unsigned i = 0; i < before.msrs; i++)
        assert_int_equal(fake.msr[i].value, before.msr[i].value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_driver_borrows), cmocka_unit_test(full_buffer_is_unknown_loss),
        cmocka_unit_test(swallowed_samples),     cmocka_unit_test(panic_hands_over),
        cmocka_unit_test(panic_without_memory),  cmocka_unit_test(drain_keeps_running_state),
        cmocka_unit_test(other_periods),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
