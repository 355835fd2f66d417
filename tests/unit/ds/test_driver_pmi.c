/* SPDX-License-Identifier: MIT */
/* The PMI on a machine of MSRs: whose it is, what it drains and reloads, storms of it. */
#include <stdbool.h>
#include <stdlib.h>

#include "ds/later/later.h"
#include "kernel/lib/errno.h"
#include "tests/unit/ds/driver/driver_machine.h"
#include "tests/unit/support/cmocka.h"

static void threshold_pmi(void **state)
{
    (void)state;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    driver_start();
    ds_resume(ds);
    driver_records(6);
    const uint64_t others = IA32_PERF_GLOBAL_STATUS_COND_CHG | IA32_PERF_GLOBAL_STATUS_LBR_FRZ | DS_BIT(5);
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = IA32_PERF_GLOBAL_STATUS_OVF_BUF | DS_BIT(32) | others;
    unsigned n = fake.logged;
    assert_true(ds_pmi(ds));
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0},
        {IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_OVF_BUF}, /* not the armed counter's bit */
        {DS_FAKE_LVTPC, ARCH_VECTOR_PMI},                             /* late */
    };
    EXPECT(expected, n);
    assert_string_equal(order, "bdbd");
    assert_int_equal(last.reason, CAIRN_DS_THRESHOLD);
    assert_int_equal(last.bytes, 6 * 176);
    assert_ptr_equal(last.records, buffer);
    assert_int_equal(last.lost, 0);
    assert_int_equal(last.epoch, 0);
    assert_int_equal(before_index, area[4] + 6 * 176);
    assert_int_equal(last_index, area[4] + 6 * 176);
    assert_int_equal(area[5], area[4]);
    assert_int_equal(*ds_pebs_index(ds), area[4]);
    assert_false(ds_pmi(ds)); /* spurious, whatever others have set: unmasks, and says so */
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_STATUS), DS_BIT(32) | others);
    assert_int_equal(ds_fake_value(&fake, DS_FAKE_LVTPC), ARCH_VECTOR_PMI);
    struct arch_trap_frame frame = {0};
    ds_resume_frame(ds, &frame);
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), DS_BIT(32));
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.records, 6);
    assert_int_equal(counts.drains, 1);
    assert_int_equal(counts.pmis, 1);
    assert_false(counts.lost_unknown);
}

static void drain_overtakes_pmi(void **state) /* status 62 is still set, the buffer already empty */
{
    (void)state;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    driver_start();
    driver_records(6);
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_true(ds_pmi(ds));
    assert_string_equal(order, "bdbd");
    assert_int_equal(last.reason, CAIRN_DS_RECONFIGURE);
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_STATUS), 0);
}

/* A storm of PMIs: counting stops until the next tick, which the trace says; nothing is lost by it. */
static void storm(void **state)
{
    (void)state;
    struct arch_trap_frame frame = {0};
    struct ds_config config = {.records = 8, .threshold = 1, .throttle = 3};
    const struct ds_hooks hooks = {.before_drain = driver_before_drain, .drained = driver_drained};
    struct ds_counts counts;
    char error[160] = "";
    driver_begin(true, "INST_RETIRED.ANY:1", "gpr");
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:1", &config, error, sizeof error), 0);
    assert_int_equal(ds_parse_groups("gpr", &config, error, sizeof error), 0);
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
    driver_start();
    ds_resume(ds);
    for (unsigned tick = 0; tick < 3; tick++) {
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), DS_BIT(32));
            driver_records(1);
            ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
            assert_true(ds_pmi(ds));
            ds_resume_frame(ds, &frame);
            assert_int_equal(last.reason, i < 2 ? CAIRN_DS_THRESHOLD : CAIRN_DS_THROTTLE);
        }
        assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), 0);
        ds_pause(ds); /* a switch, a system call */
        ds_resume(ds);
        assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), 0);
        assert_int_equal(ds_fake_value(&fake, DS_FAKE_LVTPC), ARCH_VECTOR_PMI);
        if (tick == 2)
            break; /* the session ends before the tick */
        ds_tick(ds);
        assert_int_equal(last.reason, CAIRN_DS_UNTHROTTLE);
        assert_int_equal(last.bytes, 0);
        ds_resume_frame(ds, &frame);
        assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), DS_BIT(32));
        ds_pause(ds);
        ds_tick(ds); /* of which nothing comes where nothing was held, */
        assert_int_equal(last.reason, CAIRN_DS_UNTHROTTLE);
        ds_resume_frame(ds, &frame);
    }
    ds_cpu_counts(ds, &counts);
    const uint64_t until_tick = counts.throttled_tsc; /* what the session's end cuts short counts, too */
    assert_true(until_tick > 0);
    ds_stop(ds);
    assert_int_equal(last.reason, CAIRN_DS_STOP);
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.throttles, 3);
    assert_true(counts.throttled_tsc > until_tick);
    assert_int_equal(counts.records, 9);
    assert_true(counts.lost == 0 && !counts.lost_unknown);
    ds_tick(NULL);

    /* and where ticks come often enough nothing ever is; nor without a limit */
    for (config.throttle = 3;; config.throttle = 0) {
        assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error),
                         0);
        order[0] = '\0';
        driver_start();
        for (unsigned i = 0; i < 20; i++) {
            ds_resume_frame(ds, &frame);
            driver_records(1);
            ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
            assert_true(ds_pmi(ds));
            assert_false(ds_pmi(ds)); /* a spurious one is not counted */
            if (config.throttle && i % 2)
                ds_tick(ds);
            order[0] = '\0';
        }
        ds_stop(ds);
        ds_cpu_counts(ds, &counts);
        assert_int_equal(counts.throttles, 0);
        assert_int_equal(counts.records, 20);
        if (!config.throttle)
            break;
    }
}

static uint32_t overflowed_event, overflowed_times;

static void overflowed(void *context, uint32_t cpu, uint32_t event)
{
    (void)context;
    assert_int_equal(cpu, 7);
    overflowed_event = event;
    overflowed_times++;
}

static void plain_counter_overflow(void **state)
{
    (void)state;
    const struct ds_hooks hooks = {
        .before_drain = driver_before_drain, .drained = driver_drained, .overflowed = overflowed};
    struct ds_config config = {.records = 8, .threshold = 6};
    char error[160] = "";
    driver_begin(true, "INST_RETIRED.ANY:1000,branches:300:plain", "gpr");
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:1000,branches:300:plain", &config, error, sizeof error), 0);
    assert_int_equal(ds_parse_groups("gpr", &config, error, sizeof error), 0);
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
    driver_start();
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = 1;
    ds_fake_find(&fake, IA32_A_PMC0)->value = 7; /* so late is the interrupt */
    unsigned n = fake.logged;
    overflowed_times = 0;
    assert_true(ds_pmi(ds));
    assert_int_equal(overflowed_times, 1);
    assert_int_equal(overflowed_event, 1);
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_OVF_CTRL, 1},
        {IA32_A_PMC0, MINUS(300)},
        {DS_FAKE_LVTPC, ARCH_VECTOR_PMI},
    };
    EXPECT(expected, n);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_true(counts.plain[1].overflows == 1 && counts.plain[1].events == 307 && !counts.plain_whole);
    assert_int_equal(counts.drains, 0);
    const uint64_t later[] = {1000, 50};
    ds_fake_find(&fake, IA32_A_PMC0)->value = MINUS(280);
    assert_int_equal(ds_reconfigure(ds, later, error, sizeof error), 0);
    assert_int_equal(ds_fake_value(&fake, IA32_A_PMC0), MINUS(50));
    ds_fake_find(&fake, IA32_A_PMC0)->value = MINUS(49);
    ds_stop(ds);
    ds_cpu_counts(ds, &counts); /* two periods, and what neither of them came to */
    assert_true(counts.plain[1].overflows == 1 && counts.plain[1].events == 307 + 20 + 1 && counts.plain_whole);
    assert_true(counts.plain[0].overflows == 0 && counts.plain[0].events == 0);
}

/* Counters that only count: no reset value, no interrupt, nothing reloaded; what they hold is read while they pause. */
static void counting(void **state)
{
    (void)state;
    const struct ds_hooks hooks = {
        .before_drain = driver_before_drain, .drained = driver_drained, .overflowed = overflowed};
    struct ds_config config = {.records = 8, .threshold = 6};
    uint64_t values[DS_MAX_COUNTING] = {9, 9, 9, 9};
    char error[160] = "";
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:1000", &config, error, sizeof error), 0);
    assert_int_equal(ds_parse_groups("gpr", &config, error, sizeof error), 0);
    assert_int_equal(ds_add_counting(&config, "no.such"), -EINVAL);
    assert_int_equal(ds_add_counting(&config, "CPU_CLK_UNHALTED.THREAD"), 0);
    assert_int_equal(ds_add_counting(&config, "INST_RETIRED.ANY"), 0); /* PEBS has the fixed one */
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
    ds_read_counting(ds, values); /* nothing runs yet */
    assert_true(values[0] == 0 && values[1] == 0 && values[2] == 9);
    driver_start();
    assert_int_equal(ds_fake_value(&fake, IA32_FIXED_CTR_CTRL) & 0xF0, 0x30); /* both rings, no PMI */
    assert_int_equal(ds_fake_value(&fake, IA32_PERFEVTSEL0), 0x4300C0);       /* nor here */
    assert_int_equal(ds_fake_value(&fake, IA32_PEBS_ENABLE), DS_BIT(32));
    assert_true(area[17] == 0 && area[8] == 0);
    ds_fake_find(&fake, IA32_FIXED_CTR0 + 1)->value = 1234;
    ds_fake_find(&fake, IA32_A_PMC0)->value = 567;
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = DS_BIT(33) | 1; /* somebody's overflow is not reloaded */
    overflowed_times = 0;
    ds_pmi(ds);
    ds_read_counting(ds, values);
    assert_true(values[0] == 1234 && values[1] == 567 && overflowed_times == 0);
    for (unsigned i = 2; i < DS_MAX_COUNTING; i++)
        assert_int_equal(ds_add_counting(&config, "branches"), 0);
    assert_int_equal(ds_add_counting(&config, "branches"), -EINVAL); /* one too many */
    ds_stop(ds);
    ds_fake_find(&fake, IA32_A_PMC0)->value = 99; /* somebody else's */
    ds_read_counting(ds, values);
    assert_true(values[0] == 1234 && values[1] == 567);
    driver_start();
    ds_read_counting(ds, values); /* nothing is taken back */
    assert_true(values[0] == 1234 && values[1] == 567);
    ds_fake_find(&fake, IA32_A_PMC0)->value = 3;
    ds_read_counting(ds, values);
    assert_true(values[0] == 1234 && values[1] == 570);
    ds_stop(ds);
    ds_read_counting(ds, values);
    assert_true(values[0] == 1234 && values[1] == 570);
}

/* Which no event of the table is on yet: the second and third fixed counter. */
static void plain_fixed_counter(void **state)
{
    (void)state;
    struct ds_config config = {.events = 2, .records = 8, .threshold = 6};
    config.event[0] =
        (struct ds_event){.kind = DS_EVENT_CYCLES, .fixed = 2, .kernel = true, .plain = true, .period = 300};
    config.event[1] =
        (struct ds_event){.kind = DS_EVENT_INSTRUCTIONS, .fixed = 1, .user = true, .plain = true, .period = 400};
    const struct ds_hooks hooks = {.before_drain = driver_before_drain, .drained = driver_drained};
    char error[160] = "";
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
    driver_start();
    assert_int_equal(ds_fake_value(&fake, IA32_FIXED_CTR0 + 2), MINUS(300));
    assert_int_equal(ds_fake_value(&fake, IA32_FIXED_CTR_CTRL), 0x9A0);
    assert_int_equal(ds_fake_value(&fake, IA32_PEBS_ENABLE), 0);
    ds_fake_find(&fake, IA32_FIXED_CTR0 + 1)->value = 5; /* on its way */
    ds_fake_find(&fake, IA32_FIXED_CTR0 + 2)->value = 5;
    driver_records(6); /* whose threshold interrupt is another */
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = DS_BIT(34);
    assert_true(ds_pmi(ds));
    assert_int_equal(ds_fake_value(&fake, IA32_FIXED_CTR0 + 2), MINUS(300));
    assert_int_equal(ds_fake_value(&fake, IA32_FIXED_CTR0 + 1), 5);
    assert_string_equal(order, "bd");
    ds_resume(ds);
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), DS_BIT(34) | DS_BIT(33));
}

static void status_that_never_clears(void **state) /* the handler comes to an end, LVTPC is unmasked */
{
    (void)state;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    driver_start();
    driver_records(6);
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
    ds_fake_find(&fake, IA32_PERF_GLOBAL_OVF_CTRL)->dropped = true;
    unsigned n = fake.logged;
    assert_true(ds_pmi(ds));
    assert_int_equal(fake.logged, n + 5);
    assert_int_equal(fake.log[n + 4].msr, DS_FAKE_LVTPC);
    assert_string_equal(order, "bdbd"); /* one drain */
}

static void faults_while_running_are_counted(void **state)
{
    (void)state;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    driver_start();
    fake.fault_at = fake.accesses + 1;
    ds_resume(ds);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.faults, 1);
    fake.fault_at = fake.accesses + 2; /* counters off, then reading the status */
    assert_false(ds_pmi(ds));
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.faults, 2);
    fake.fault_at = fake.accesses + 2; /* reading the status, then its acknowledgement */
    ds_stop(ds);
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.faults, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threshold_pmi),
        cmocka_unit_test(drain_overtakes_pmi),
        cmocka_unit_test(storm),
        cmocka_unit_test(plain_counter_overflow),
        cmocka_unit_test(counting),
        cmocka_unit_test(plain_fixed_counter),
        cmocka_unit_test(status_that_never_clears),
        cmocka_unit_test(faults_while_running_are_counted),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
