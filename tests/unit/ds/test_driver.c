/* SPDX-License-Identifier: MIT */
/*
 * The driver goes up and down on a machine of MSRs: the numbered order of ds_start, backwards at ds_stop, and what
 * every single fault leaves behind.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ds/lbr_layout.h"
#include "kernel/lib/errno.h"
#include "tests/unit/ds/driver/driver_machine.h"
#include "tests/unit/support/cmocka.h"

static void start_order_baseline(void **state)
{
    (void)state;
    driver_begin(true, "INST_RETIRED.ANY:1000:k,BR_INST_RETIRED.ALL_BRANCHES:500,instructions:70000:plain", "gpr");
    memset(area, 0xA5, sizeof area);
    driver_start();
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0}, /* 1 */
        {IA32_PEBS_ENABLE, 0},
        {IA32_DS_AREA, (uintptr_t)area},            /* 3 */
        {DS_FAKE_LVTPC, ARCH_VECTOR_PMI},           /* 4 */
        {MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_GPR}, /* 5 */
        {IA32_FIXED_CTR0, MINUS(1000)},             /* 6 */
        {IA32_A_PMC0, MINUS(500)},
        {IA32_PERFEVTSEL0, UINT64_C(0x4004300C4)}, /* ADAPTIVE EN OS USR, no INT */
        {IA32_A_PMC0 + 1, MINUS(70000)},
        {IA32_PERFEVTSEL0 + 1, 0x5300C0}, /* EN INT OS USR */
        {IA32_FIXED_CTR_CTRL, UINT64_C(0x100000001)},
        {IA32_PERF_GLOBAL_OVF_CTRL, 0},     /* 7: nothing is left from before */
        {IA32_PEBS_ENABLE, DS_BIT(32) | 1}, /* 8 */
    };
    EXPECT(expected, 0);
    assert_int_equal(area[4], (uintptr_t)buffer);
    assert_int_equal(area[5], (uintptr_t)buffer);
    assert_int_equal(area[6], (uintptr_t)buffer + 8 * 176 + 1);
    assert_int_equal(area[7], (uintptr_t)buffer + 6 * 176);
    assert_int_equal(area[8], MINUS(500));
    assert_int_equal(area[16], MINUS(1000));
    for (unsigned i = 0; i < 512; i++) /* no BTS, no reset value of plain counters */
        if (area[i])
            assert_true((i >= 4 && i <= 8) || i == 16);
    assert_string_equal(order, "bd");
    assert_int_equal(last.reason, CAIRN_DS_START);
    assert_int_equal(last.epoch, 0);
    unsigned n = fake.logged;
    ds_resume(ds); /* 9 */
    const struct driver_write on[] = {{IA32_PERF_GLOBAL_CTRL, DS_BIT(32) | 3}};
    EXPECT(on, n);
}

static void start_order_format3(void **state)
{
    (void)state;
    driver_begin(false, "INST_RETIRED.ANY:1000", "gpr"); /* groups mean nothing to format 3 */
    driver_start();
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0},      {IA32_PEBS_ENABLE, 0},
        {IA32_DS_AREA, (uintptr_t)area}, {DS_FAKE_LVTPC, ARCH_VECTOR_PMI},
        {IA32_A_PMC0, MINUS(1000)}, /* no PEBS on fixed counters: PMC0 counts C0H/00H */
        {IA32_PERFEVTSEL0, 0x4300C0},    {IA32_FIXED_CTR_CTRL, 0},
        {IA32_PERF_GLOBAL_OVF_CTRL, 0},  {IA32_PEBS_ENABLE, 1},
    };
    EXPECT(expected, 0);
    assert_int_equal(area[6], (uintptr_t)buffer + 8 * 200 + 1);
    assert_int_equal(area[8], MINUS(1000));
}

static void no_fixed_counters(void **state)
{
    (void)state;
    char error[160] = "";
    ds_fake_init(&fake, false);
    fake.leaf[0x0A][3] = 0;
    ds_fake_remove(&fake, IA32_FIXED_CTR_CTRL);
    ds_fake_remove(&fake, IA32_FIXED_CTR0);
    assert_int_equal(driver_init("INST_RETIRED.ANY:1000,instructions:5:plain", "none", 8, 6, error, sizeof error), 0);
    driver_start();
    assert_int_equal(ds_fake_value(&fake, IA32_A_PMC0 + 1), MINUS(5));
}

static void branch_tracing_left_on(void **state)
{
    (void)state;
    const uint64_t left_on = IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_BTINT |
                             IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI | IA32_DEBUGCTL_FREEZE_WHILE_SMM;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    ds_fake_find(&fake, IA32_DEBUGCTL)->value = left_on;
    struct ds_fake before = fake;
    driver_start();
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0},
        {IA32_PEBS_ENABLE, 0},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_BTINT}, /* before the area it writes to changes */
        {IA32_DS_AREA, (uintptr_t)area},
    };
    fake.logged = 4;
    EXPECT(expected, 0);
    ds_stop(ds);
    for (unsigned i = 0; i < before.msrs; i++)
        assert_int_equal(fake.msr[i].value, before.msr[i].value);
}

/* Rings, ADAPTIVE and the interrupt, for a fixed counter and for PMC0. */
static void control_bits(void **state)
{
    (void)state;
    static const struct {
        const char *events, *groups;
        uint32_t msr;
        uint64_t value;
    } rows[] = {
        {"instructions:9:u", "none", IA32_FIXED_CTR_CTRL, 2},
        {"instructions:9:k", "none", IA32_FIXED_CTR_CTRL, 1},
        {"instructions:9:uk", "gpr", IA32_FIXED_CTR_CTRL, UINT64_C(0x100000003)},
        {"instructions:9:u:plain", "gpr", IA32_FIXED_CTR_CTRL, 0xA},
        {"branches:9:u", "none", IA32_PERFEVTSEL0, 0x4100C4},
        {"branches:9:k", "none", IA32_PERFEVTSEL0, 0x4200C4},
        {"branches:9:uk", "gpr", IA32_PERFEVTSEL0, UINT64_C(0x4004300C4)},
        {"branches:9:k:plain", "gpr", IA32_PERFEVTSEL0, 0x5200C4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        driver_begin(true, rows[i].events, rows[i].groups);
        driver_start();
        if (ds_fake_value(&fake, rows[i].msr) != rows[i].value)
            fail_msg("%s: MSR %x = %llx", rows[i].events, rows[i].msr,
                     (unsigned long long)ds_fake_value(&fake, rows[i].msr));
        /* the other fixed counters are off */
        assert_int_equal(ds_fake_value(&fake, IA32_FIXED_CTR_CTRL) & ~UINT64_C(0xF0000000F), 0);
    }
}

/* Overflows of others, and the freeze bits of version 4: with CTR_FRZ set nothing counts, whatever GLOBAL_CTRL says. */
static void stale_status(void **state)
{
    (void)state;
    const uint64_t stale = IA32_PERF_GLOBAL_STATUS_CTR_FRZ | IA32_PERF_GLOBAL_STATUS_LBR_FRZ |
                           IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_COND_CHG | DS_BIT(33) | 4;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = stale;
    driver_start();
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_STATUS), 0);
    bool cleared = false;
    for (unsigned i = 0; i < fake.logged; i++) {
        cleared |= fake.log[i].msr == IA32_PERF_GLOBAL_OVF_CTRL && fake.log[i].value == stale;
        if (fake.log[i].msr == IA32_PEBS_ENABLE && fake.log[i].value) /* an armed bit is PEBS' own from there on */
            assert_true(cleared);
    }
    assert_true(cleared);
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
    ds_stop(ds); /* nor is anything left to the next one */
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_STATUS), 0);
}

static void legacy_counter_writes(void **state)
{
    (void)state;
    char error[160] = "";
    ds_fake_init(&fake, false);
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value &= ~IA32_PERF_CAPABILITIES_FW_WRITE;
    assert_int_equal(driver_init("INST_RETIRED.ANY_P:2147483648", "none", 8, 6, error, sizeof error), 0);
    driver_start();
    assert_int_equal(ds_fake_value(&fake, IA32_PMC0), MINUS(2147483648));
    assert_int_equal(ds_fake_value(&fake, IA32_A_PMC0), 0x100);
    ds_fake_init(&fake, false);
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value &= ~IA32_PERF_CAPABILITIES_FW_WRITE;
    assert_int_equal(driver_init("INST_RETIRED.ANY_P:2147483649", "none", 8, 6, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "2^31"));
}

/* Everything but the acknowledged status is as it was. */
static void driver_expect_unchanged(const struct ds_fake *before)
{
    for (unsigned i = 0; i < before->msrs; i++)
        if (fake.msr[i].value != before->msr[i].value)
            fail_msg("fault at access %u: MSR %x = %llx, was %llx", before->fault_at, before->msr[i].msr,
                     (unsigned long long)fake.msr[i].value, (unsigned long long)before->msr[i].value);
}

static void every_fault_undoes_all(void **state)
{
    (void)state;
    for (int baseline = 0; baseline < 2; baseline++) {
        int steps = 0, previous = 0;
        for (unsigned at = 1;; at++) {
            driver_begin(baseline, "INST_RETIRED.ANY:1000,BR_INST_RETIRED.ALL_BRANCHES:500", "gpr");
            fake.fault_at = at;
            struct ds_fake before = fake;
            struct ds_refusal refusal;
            int e = ds_start(ds, &refusal);
            if (!e) {
                assert_true(fake.accesses < at);
                break;
            }
            assert_int_equal(e, -EFAULT);
            assert_true(refusal.step >= previous);
            steps += refusal.step != previous;
            previous = refusal.step;
            assert_int_equal(refusal.msr, fake.faulted.msr);
            assert_int_equal(refusal.write, fake.faulted.write);
            assert_true(refusal.value == fake.faulted.value);
            driver_expect_unchanged(&before);
            assert_string_equal(order, "");
            ds_stop(ds);   /* nothing runs: */
            ds_resume(ds); /* no effect */
            ds_drain(ds, CAIRN_DS_STOP);
            assert_false(ds_pmi(ds));
            driver_expect_unchanged(&before);
        }
        assert_int_equal(steps, baseline ? 6 : 5); /* 1 3 5 6 7 8; 5 only with the baseline */
        assert_int_equal(previous, 8);
    }
}

/* Branch history by DEBUGCTL.LBR: set up in step 5, off first and on last but the counters. */
static void branch_history(void **state)
{
    (void)state;
    char error[160] = "";
    ds_fake_init(&fake, true);
    assert_int_equal(driver_init("INST_RETIRED.ANY:1000", "gpr,lbr:4", 8, 6, error, sizeof error), 0);
    ds_fake_find(&fake, IA32_DEBUGCTL)->value =
        IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI | IA32_DEBUGCTL_BTF;
    struct ds_fake before = fake;
    driver_start();
    const uint64_t cfg = MSR_PEBS_DATA_CFG_GPR | MSR_PEBS_DATA_CFG_LBR | 3 << 24;
    const struct driver_write set_up[] = {
        {IA32_PERF_GLOBAL_CTRL, 0},
        {IA32_PEBS_ENABLE, 0},
        {IA32_DS_AREA, (uintptr_t)area},
        {DS_FAKE_LVTPC, ARCH_VECTOR_PMI},
        {MSR_PEBS_DATA_CFG, cfg},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_BTF},
        {MSR_LBR_SELECT, 0},
        {IA32_FIXED_CTR0, MINUS(1000)},
    };
    unsigned n = fake.logged;
    fake.logged = 8;
    EXPECT(set_up, 0);
    fake.logged = n;
    ds_resume(ds);
    ds_pause(ds);
    const struct driver_write run[] = {
        {IA32_DEBUGCTL, IA32_DEBUGCTL_BTF | IA32_DEBUGCTL_LBR},
        {IA32_PERF_GLOBAL_CTRL, DS_BIT(32)},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_BTF},
        {IA32_PERF_GLOBAL_CTRL, 0},
    };
    EXPECT(run, n);
    ds_stop(ds);
    driver_expect_unchanged(&before);
}

/* By IA32_LBR_CTL, with all rings and types of branches this processor can choose from; each fault undoes all. */
static void architectural_branch_history(void **state)
{
    (void)state;
    const uint64_t all = IA32_LBR_CTL_LBREN | IA32_LBR_CTL_OS | IA32_LBR_CTL_USR | IA32_LBR_CTL_BRANCHES;
    char error[160] = "";
    for (unsigned at = 1;; at++) {
        ds_fake_init(&fake, true);
        fake.leaf[0][0] = 0x1C;
        fake.leaf[7][3] = CPUID_07H_EDX_ARCH_LBR;
        fake.leaf[0x1C][0] = 0x0B; /* 8, 16 or 32 entries */
        fake.leaf[0x1C][1] = CPUID_1CH_EBX_CPL | CPUID_1CH_EBX_FILTER;
        ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value |= IA32_PERF_CAPABILITIES_LBR_FMT;
        ds_fake_add(&fake, IA32_LBR_CTL, 3);
        ds_fake_add(&fake, IA32_LBR_DEPTH, 16);
        assert_int_equal(driver_init("INST_RETIRED.ANY:1000", "lbr", 8, 6, error, sizeof error), 0);
        struct ds_fake before = fake;
        fake.accesses = 0;
        fake.fault_at = at;
        struct ds_refusal refusal;
        if (ds_start(ds, &refusal)) {
            driver_expect_unchanged(&before);
            continue;
        }
        assert_true(fake.accesses < at);
        fake.fault_at = 0;
        assert_int_equal(ds_fake_value(&fake, IA32_LBR_CTL), 0);
        assert_int_equal(ds_fake_value(&fake, IA32_LBR_DEPTH), 32);
        unsigned n = fake.logged;
        ds_resume(ds);
        ds_pause(ds);
        const struct driver_write run[] = {
            {IA32_LBR_CTL, all}, {IA32_PERF_GLOBAL_CTRL, DS_BIT(32)}, {IA32_LBR_CTL, 0}, {IA32_PERF_GLOBAL_CTRL, 0}};
        EXPECT(run, n);
        ds_stop(ds);
        driver_expect_unchanged(&before);
        break;
    }
    fake.leaf[0x1C][0] = 1; /* 8 entries */
    assert_int_equal(driver_init("INST_RETIRED.ANY:1000", "lbr:8", 8, 6, error, sizeof error), 0);
    assert_int_equal(driver_init("INST_RETIRED.ANY:1000", "lbr:9", 8, 6, error, sizeof error), -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': lbr:9: the history of this processor (CPU 7) has 8 entries");
    fake.leaf[7][3] = 0;
    for (unsigned format = 0; format <= 0x3F; format += 0x3F) { /* 0 is what a hypervisor without it shows */
        uint64_t *capabilities = &ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value;
        *capabilities = (*capabilities & ~IA32_PERF_CAPABILITIES_LBR_FMT) | format;
        assert_int_equal(driver_init("INST_RETIRED.ANY:1000", "lbr:8", 8, 6, error, sizeof error), -EINVAL);
        assert_string_equal(error, "option 'pebs.groups': lbr: this processor (CPU 7) has no branch history");
    }
}

static void stop_is_start_backwards(void **state)
{
    (void)state;
    driver_begin(true, "INST_RETIRED.ANY:1000", "gpr");
    struct ds_fake before = fake;
    driver_start();
    ds_resume(ds);
    unsigned n = fake.logged;
    ds_stop(ds);
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0}, /* 9: counting ends before anything else */
        {IA32_PEBS_ENABLE, 0},      /* what is on its way comes to an end, the area still being ours */
        {IA32_PERF_GLOBAL_OVF_CTRL, 0},
        {IA32_PEBS_ENABLE, 0},        /* 8 */
        {IA32_FIXED_CTR_CTRL, 0x333}, /* 6 */
        {IA32_FIXED_CTR0, 0x200},
        {MSR_PEBS_DATA_CFG, 1},                       /* 5 */
        {DS_FAKE_LVTPC, LVTPC_RESET},                 /* 4 */
        {IA32_DS_AREA, UINT64_C(0xFFFFFE0000001000)}, /* 3 */
        {IA32_PEBS_ENABLE, 1},                        /* 1 */
        {IA32_PERF_GLOBAL_CTRL, 0xF},
    };
    EXPECT(expected, n);
    driver_expect_unchanged(&before);
    assert_int_equal(last.reason, CAIRN_DS_STOP);
    driver_start(); /* and again */
    assert_int_equal(last.epoch, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_order_baseline),
        cmocka_unit_test(start_order_format3),
        cmocka_unit_test(no_fixed_counters),
        cmocka_unit_test(branch_tracing_left_on),
        cmocka_unit_test(control_bits),
        cmocka_unit_test(stale_status),
        cmocka_unit_test(legacy_counter_writes),
        cmocka_unit_test(every_fault_undoes_all),
        cmocka_unit_test(branch_history),
        cmocka_unit_test(architectural_branch_history),
        cmocka_unit_test(stop_is_start_backwards),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
