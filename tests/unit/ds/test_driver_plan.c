/* SPDX-License-Identifier: MIT */
/* What is refused, and what is planned: counters, periods, buffers, by what the processor has and has wrong. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/errno.h"
#include "tests/unit/ds/driver/driver_machine.h"
#include "tests/unit/support/cmocka.h"

static char error[160];

/* Events on the machine as it is, the basic group alone, 8 records. */
static int plan(const char *events)
{
    error[0] = '\0';
    return driver_init(events, "none", 8, 6, error, sizeof error);
}

static void impossible_configurations(void **state)
{
    (void)state;
    ds_fake_init(&fake, false);
    assert_int_equal(plan("branches:1,branches:2,branches:3,branches:4,branches:5"), -EINVAL);
    assert_non_null(strstr(error, "no PEBS counter left for BR_INST_RETIRED.ALL_BRANCHES"));
    assert_int_equal(plan("BR_INST_RETIRED.NEAR_CALL:5:plain"), -EINVAL);
    assert_non_null(strstr(error, "BR_INST_RETIRED.NEAR_CALL: not an event of this processor (CPU 7: no list"));
    assert_int_equal(plan("cycles:5"), -EINVAL);
    assert_non_null(strstr(error, "CPU_CLK_UNHALTED.THREAD: PEBS cannot record it on this processor"));
    assert_int_equal(plan("cycles:5:plain"), 0);
    assert_int_equal(ds_event_counter(ds, 0), 33);
    /* plain: fixed 0 is free */
    assert_int_equal(plan("branches:1,branches:2,branches:3,branches:4,INST_RETIRED.ANY:5:plain"), 0);
    /* plain: PMC0, where no PEBS event needs it */
    assert_int_equal(plan("branches:1:plain,branches:2"), 0);
    driver_start();
    assert_int_equal(ds_fake_value(&fake, IA32_PEBS_ENABLE), 1);
    assert_int_equal(ds_fake_value(&fake, IA32_A_PMC0 + 1), MINUS(1));
    assert_int_equal(driver_init("branches:1", "none", 8, 9, error, sizeof error), -EINVAL);
    assert_int_equal(driver_init("branches:1", "none", 8, 0, error, sizeof error), -EINVAL);
    caps.pebs = false;
    caps.reason = "there is none";
    struct ds_config config = {.events = 1, .records = 1, .threshold = 1};
    const struct ds_hooks hooks = {0};
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error),
                     -EINVAL);
    assert_string_equal(error, "cpu 7: there is none");
}

/* Events whose setting goes into a register that a hypervisor hides: found out before a set-up that would raise #GP. */
static void settings_that_a_hypervisor_hides(void **state)
{
    static const char latency[] = "MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=30";
    static const char frontend[] = "FRONTEND_RETIRED:9:frontend=1";
    (void)state;
    ds_fake_init(&fake, true);
    fake.leaf[1][0] = 0x000606A6; /* Ice Lake */
    ds_fake_reset(&fake);
    assert_int_equal(plan(latency), 0);
    assert_int_equal(plan(frontend), 0);
    fake.leaf[1][2] |= CPUID_01H_ECX_HYPERVISOR;
    assert_int_equal(plan(latency), -EINVAL);
    assert_string_equal(error, "option 'pebs': MEM_TRANS_RETIRED.LOAD_LATENCY: the hypervisor hides MSR_PEBS_LD_LAT: "
                               "give another event");
    assert_int_equal(plan(frontend), -EINVAL);
    assert_string_equal(error, "option 'pebs': FRONTEND_RETIRED: the hypervisor hides MSR_PEBS_FRONTEND: give another "
                               "event");
    assert_int_equal(plan("INST_RETIRED.ANY:9"), 0);
}

/* As KVM shows Ice Lake: without the baseline fixed counters have no PEBS, and precise distribution is one's. */
static void precise_distribution_without_the_baseline(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    fake.leaf[1][0] = 0x000606A6;
    assert_int_equal(plan("INST_RETIRED.PREC_DIST:9"), 0);
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value &= ~IA32_PERF_CAPABILITIES_PEBS_BASELINE;
    assert_int_equal(plan("INST_RETIRED.PREC_DIST:9"), -EINVAL);
    assert_string_equal(error, "option 'pebs': INST_RETIRED.PREC_DIST: no counter that can count it has PEBS here (CPU "
                               "7): give another event");
    assert_int_equal(plan("INST_RETIRED.ANY:9"), 0);
}

/* What each erratum changes: the buffer, the least period, the counters that are given out. */
static void errata_have_effects(void **state)
{
    (void)state;
    struct ds_config config = {.records = 64, .threshold = 48};
    struct ds_caps core2 = {.errata.one_page_buffer = true};
    assert_int_equal(ds_buffer_bytes(&core2, &config), 4096); /* 27 records of 144 bytes, and the slack one */
    ds_fit_config(&core2, &config);
    assert_int_equal(config.records, 27);
    assert_int_equal(config.threshold, 20);
    config = (struct ds_config){.records = 27, .threshold = 27};
    ds_fit_config(&core2, &config);
    assert_true(config.records == 27 && config.threshold == 27);
    config = (struct ds_config){.records = 4096, .threshold = 1};
    ds_fit_config(&core2, &config);
    assert_true(config.records == 27 && config.threshold == 1);
    ds_fake_init(&fake, false);
    fake.leaf[1][0] = 0x00010676;
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value = 0;
    assert_int_equal(driver_init("INST_RETIRED.ANY:1000", "none", 64, 48, error, sizeof error), 0);
    driver_start();
    assert_int_equal(area[6], area[4] + 27 * 144 + 1);
    assert_int_equal(area[7], area[4] + 20 * 144);
    area[5] = area[4] + 27 * 144; /* is full */
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_int_equal(last.bytes, 27 * 144);
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);

    ds_fake_init(&fake, false);
    fake.leaf[1][0] = 0x000106A5;
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value = 1u << 8;
    assert_int_equal(plan("INST_RETIRED.ANY:31"), -EINVAL);
    assert_non_null(strstr(error, "option 'pebs': period 31 of INST_RETIRED.ANY: must be from 32 to 2^31 on this "
                                  "processor"));
    assert_int_equal(plan("branches:32"), 0);
    fake.logged = 0;
    driver_start();
    const struct driver_write freed[] = {
        {IA32_PERF_GLOBAL_CTRL, 0},
        {IA32_PEBS_ENABLE, 0},
        {IA32_DS_AREA, (uintptr_t)area},
        {DS_FAKE_LVTPC, ARCH_VECTOR_PMI},
        {IA32_PERFEVTSEL0, 0x4300B5},
        {IA32_PMC0, 0}, /* 6: the counters are set free */
        {IA32_PERFEVTSEL0 + 1, 0x4300D2},
        {IA32_PMC0 + 1, 0},
        {IA32_PERFEVTSEL0 + 2, 0x4300B1},
        {IA32_PMC0 + 2, 0},
        {IA32_PERFEVTSEL0 + 3, 0x4300B1},
        {IA32_PMC0 + 3, 0},
        {IA32_PERF_GLOBAL_CTRL, 0xF},
        {IA32_PERF_GLOBAL_CTRL, 0},
        {IA32_PERFEVTSEL0, 0},
        {IA32_PERFEVTSEL0 + 1, 0},
        {IA32_PERFEVTSEL0 + 2, 0},
        {IA32_PERFEVTSEL0 + 3, 0},
        {IA32_PMC0, MINUS(32)},
        {IA32_PERFEVTSEL0, 0x4304C4}, /* and given their event */
        {IA32_FIXED_CTR_CTRL, 0},
        {IA32_PERF_GLOBAL_OVF_CTRL, 0},
        {IA32_PEBS_ENABLE, 1},
    };
    EXPECT(freed, 0);
    ds_stop(ds);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(ds_fake_value(&fake, IA32_PERFEVTSEL0 + i), 0x4300C0 + i);
        assert_int_equal(ds_fake_value(&fake, IA32_PMC0 + i), 0x100 + i);
    }
    fake.leaf[0x0A][0] = 7u << 24 | 48u << 16 | 2u << 8 | 3; /* a hypervisor that hides two of them */
    ds_fake_remove(&fake, IA32_PERFEVTSEL0 + 2);
    assert_int_equal(plan("branches:32"), 0);
    driver_start();

    ds_fake_init(&fake, false);
    fake.leaf[7][3] = CPUID_07H_EDX_TSX_FORCE_ABORT;
    ds_fake_add(&fake, MSR_TSX_FORCE_ABORT, 0);
    assert_int_equal(plan("branches:1,branches:2,branches:3,branches:4"), -EINVAL);
    assert_int_equal(plan("branches:1,branches:2,branches:3,cycles:9:plain"), 0);
    driver_start();
    ds_resume(ds);
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), DS_BIT(33) | 7);
}

static void longest_period(void **state) /* half of what a counter holds, or of what 32 bits written reach */
{
    (void)state;
    struct ds_config config = {.events = 1, .records = 8, .threshold = 6};
    const struct ds_hooks hooks = {.before_drain = driver_before_drain, .drained = driver_drained};
    for (int full_width = 0; full_width < 2; full_width++)
        for (int fixed = -1; fixed < 1; fixed++)
            for (unsigned over = 0; over < 2; over++) {
                const bool full = full_width || fixed == 0;
                driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
                caps.full_width_writes = full_width;
                config.event[0] =
                    (struct ds_event){.fixed = (int8_t)fixed, .kernel = true, .period = DS_BIT(full ? 47 : 31) + over};
                assert_int_equal(
                    ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error),
                    over ? -EINVAL : 0);
                if (over)
                    assert_non_null(strstr(error, full ? "2^47" : "2^31"));
            }
    config.event[0].period = 0;
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error),
                     -EINVAL);
}

static void buffer_sizes(void **state)
{
    (void)state;
    struct ds_config config = {.records = 64, .groups = MSR_PEBS_DATA_CFG_GPR};
    struct ds_caps c = {.format = 4, .baseline = true, .adaptive = true};
    assert_int_equal(ds_buffer_bytes(&c, &config), 12288); /* 65 * 176 */
    static const struct {
        uint32_t records;
        size_t bytes;
    } pages[] = {{22, 4096}, {23, 8192}, {45, 8192}, {46, 12288}}; /* 23 of 176 bytes fit into a page */
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        config.records = pages[i].records;
        assert_int_equal(ds_buffer_bytes(&c, &config), pages[i].bytes);
    }
    c.baseline = c.adaptive = false;
    config.records = 127;
    assert_int_equal(ds_record_size(&c, &config), 32);
    assert_int_equal(ds_buffer_bytes(&c, &config), 4096); /* 128 of 32 are a page */
    config.records = 64;
    c.format = 3;
    assert_int_equal(ds_buffer_bytes(&c, &config), 16384); /* 65 * 200 */
    static const struct {
        uint64_t cfg;
        uint32_t size;
    } sizes[] = {
        {0, 32},  {1, 64},          {2, 176},         {3, 208},         {4, 288},
        {7, 464}, {0x7000008, 224}, {0xF000003, 208}, {0xF00000B, 592}, {0x1F00000F, DS_PEBS_RECORD_MAX_4},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        assert_int_equal(ds_pebs_adaptive_size(sizes[i].cfg), sizes[i].size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impossible_configurations),
        cmocka_unit_test(settings_that_a_hypervisor_hides),
        cmocka_unit_test(precise_distribution_without_the_baseline),
        cmocka_unit_test(errata_have_effects),
        cmocka_unit_test(longest_period),
        cmocka_unit_test(buffer_sizes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
