/* SPDX-License-Identifier: MIT */
/*
 * The driver on a machine of MSRs: the numbered order of ds_start, what every single fault leaves behind, PMI, drain
 * and loss as real hardware shows them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "kernel/errno.h"
#include "tests/unit/ds_fake.h"

static struct ds_fake fake;
static struct ds_caps caps;
static struct ds_cpu *ds;
static void *buffer;
static uint64_t area[512] __attribute__((aligned(4096)));

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

static char order[256]; /* b: before_drain, d: drained */
static struct ds_drain last;
static uint64_t last_index, before_index;

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
    strcat(order, "b");
    before_index = area[5];
}

static bool panic_in_drain;

static void drained(void *context, uint32_t cpu, const struct ds_drain *drain)
{
    (void)context;
    assert_int_equal(cpu, 7);
    strcat(order, "d");
    last = *drain;
    last_index = drain->area[5]; /* not yet set back */
    if (panic_in_drain) {
        panic_in_drain = false;
        ds_drain_panic(ds);
    }
}

static int init(const char *events, const char *groups, uint32_t records, uint32_t threshold, char *error, size_t size)
{
    struct ds_config config = {.records = records, .threshold = threshold};
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained};
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_int_equal(ds_parse_events(events, &config, error, size), 0);
    assert_int_equal(ds_parse_groups(groups, &config, error, size), 0);
    free(buffer);
    buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
    ds = realloc(ds, ds_cpu_bytes());
    order[0] = '\0';
    return ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, size);
}

static void begin(bool baseline, const char *events, const char *groups)
{
    char error[160] = "";
    ds_fake_init(&fake, baseline);
    if (init(events, groups, 8, 6, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(fake.logged, 0); /* detection and planning write nothing */
    fake.accesses = 0;
}

static void start(void)
{
    struct ds_refusal refusal;
    assert_int_equal(ds_start(ds, &refusal), 0);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

struct write {
    uint32_t msr;
    uint64_t value;
};

static void expect_writes(const struct write *expected, size_t n, unsigned from)
{
    for (size_t i = 0; i < n; i++)
        if (from + i >= fake.logged || fake.log[from + i].msr != expected[i].msr ||
            fake.log[from + i].value != expected[i].value)
            fail_msg("write %zu: MSR %x = %llx, not %x = %llx", i, fake.log[from + i].msr,
                     (unsigned long long)fake.log[from + i].value, expected[i].msr,
                     (unsigned long long)expected[i].value);
    assert_int_equal(fake.logged - from, n);
}
#define EXPECT(list, from) expect_writes(list, sizeof(list) / sizeof(list)[0], from)
#define MINUS(n)           (-(uint64_t)(n) & (DS_BIT(48) - 1))

static void start_order_baseline(void **state)
{
    (void)state;
    begin(true, "INST_RETIRED.ANY:1000:k,BR_INST_RETIRED.ALL_BRANCHES:500,instructions:70000:plain", "gpr");
    memset(area, 0xA5, sizeof area);
    start();
    const struct write expected[] = {
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
    const struct write on[] = {{IA32_PERF_GLOBAL_CTRL, DS_BIT(32) | 3}};
    EXPECT(on, n);
}

static void start_order_format3(void **state)
{
    (void)state;
    begin(false, "INST_RETIRED.ANY:1000", "gpr"); /* groups mean nothing to format 3 */
    start();
    const struct write expected[] = {
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
    assert_int_equal(init("INST_RETIRED.ANY:1000,instructions:5:plain", "none", 8, 6, error, sizeof error), 0);
    start();
    assert_int_equal(ds_fake_value(&fake, IA32_A_PMC0 + 1), MINUS(5));
}

static void branch_tracing_left_on(void **state)
{
    (void)state;
    const uint64_t left_on = IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_BTINT |
                             IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    ds_fake_find(&fake, IA32_DEBUGCTL)->value = left_on;
    struct ds_fake before = fake;
    start();
    const struct write expected[] = {
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
        begin(true, rows[i].events, rows[i].groups);
        start();
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
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = stale;
    start();
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
    assert_int_equal(init("INST_RETIRED.ANY_P:2147483648", "none", 8, 6, error, sizeof error), 0);
    start();
    assert_int_equal(ds_fake_value(&fake, IA32_PMC0), MINUS(2147483648));
    assert_int_equal(ds_fake_value(&fake, IA32_A_PMC0), 0x100);
    ds_fake_init(&fake, false);
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value &= ~IA32_PERF_CAPABILITIES_FW_WRITE;
    assert_int_equal(init("INST_RETIRED.ANY_P:2147483649", "none", 8, 6, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "2^31"));
}

/* Everything but the acknowledged status is as it was. */
static void expect_unchanged(const struct ds_fake *before)
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
            begin(baseline, "INST_RETIRED.ANY:1000,BR_INST_RETIRED.ALL_BRANCHES:500", "gpr");
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
            expect_unchanged(&before);
            assert_string_equal(order, "");
            ds_stop(ds);   /* nothing runs: */
            ds_resume(ds); /* no effect */
            ds_drain(ds, CAIRN_DS_STOP);
            assert_false(ds_pmi(ds));
            expect_unchanged(&before);
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
    assert_int_equal(init("INST_RETIRED.ANY:1000", "gpr,lbr:4", 8, 6, error, sizeof error), 0);
    ds_fake_find(&fake, IA32_DEBUGCTL)->value =
        IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI | IA32_DEBUGCTL_BTF;
    struct ds_fake before = fake;
    start();
    const uint64_t cfg = MSR_PEBS_DATA_CFG_GPR | MSR_PEBS_DATA_CFG_LBR | 3 << 24;
    const struct write set_up[] = {
        {IA32_PERF_GLOBAL_CTRL, 0},      {IA32_PEBS_ENABLE, 0}, {IA32_DS_AREA, (uintptr_t)area},
        {DS_FAKE_LVTPC, ARCH_VECTOR_PMI}, {MSR_PEBS_DATA_CFG, cfg}, {IA32_DEBUGCTL, IA32_DEBUGCTL_BTF},
        {MSR_LBR_SELECT, 0},             {IA32_FIXED_CTR0, MINUS(1000)},
    };
    unsigned n = fake.logged;
    fake.logged = 8;
    EXPECT(set_up, 0);
    fake.logged = n;
    ds_resume(ds);
    ds_pause(ds);
    const struct write run[] = {
        {IA32_DEBUGCTL, IA32_DEBUGCTL_BTF | IA32_DEBUGCTL_LBR}, {IA32_PERF_GLOBAL_CTRL, DS_BIT(32)},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_BTF}, {IA32_PERF_GLOBAL_CTRL, 0},
    };
    EXPECT(run, n);
    ds_stop(ds);
    expect_unchanged(&before);
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
        assert_int_equal(init("INST_RETIRED.ANY:1000", "lbr", 8, 6, error, sizeof error), 0);
        struct ds_fake before = fake;
        fake.accesses = 0;
        fake.fault_at = at;
        struct ds_refusal refusal;
        if (ds_start(ds, &refusal)) {
            expect_unchanged(&before);
            continue;
        }
        assert_true(fake.accesses < at);
        fake.fault_at = 0;
        assert_int_equal(ds_fake_value(&fake, IA32_LBR_CTL), 0);
        assert_int_equal(ds_fake_value(&fake, IA32_LBR_DEPTH), 32);
        unsigned n = fake.logged;
        ds_resume(ds);
        ds_pause(ds);
        const struct write run[] = {{IA32_LBR_CTL, all}, {IA32_PERF_GLOBAL_CTRL, DS_BIT(32)},
                                    {IA32_LBR_CTL, 0}, {IA32_PERF_GLOBAL_CTRL, 0}};
        EXPECT(run, n);
        ds_stop(ds);
        expect_unchanged(&before);
        break;
    }
    fake.leaf[0x1C][0] = 1; /* 8 entries */
    assert_int_equal(init("INST_RETIRED.ANY:1000", "lbr:8", 8, 6, error, sizeof error), 0);
    assert_int_equal(init("INST_RETIRED.ANY:1000", "lbr:9", 8, 6, error, sizeof error), -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': lbr:9: the history of this processor (CPU 7) has 8 entries");
    fake.leaf[7][3] = 0;
    for (unsigned format = 0; format <= 0x3F; format += 0x3F) { /* 0 is what a hypervisor without it shows */
        uint64_t *capabilities = &ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value;
        *capabilities = (*capabilities & ~IA32_PERF_CAPABILITIES_LBR_FMT) | format;
        assert_int_equal(init("INST_RETIRED.ANY:1000", "lbr:8", 8, 6, error, sizeof error), -EINVAL);
        assert_string_equal(error, "option 'pebs.groups': lbr: this processor (CPU 7) has no branch history");
    }
}

static void stop_is_start_backwards(void **state)
{
    (void)state;
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    struct ds_fake before = fake;
    start();
    ds_resume(ds);
    unsigned n = fake.logged;
    ds_stop(ds);
    const struct write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0}, /* 9: counting ends before anything else */
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
    expect_unchanged(&before);
    assert_int_equal(last.reason, CAIRN_DS_STOP);
    start(); /* and again */
    assert_int_equal(last.epoch, 1);
}

/* ---- drains ------------------------------------------------------------------------------------------------------ */

static void write_records(unsigned n) /* as the processor would */
{
    memset((uint8_t *)buffer + (area[5] - area[4]), 0xA5, n * (size_t)176);
    area[5] += n * 176;
}

/* Workload `known` borrows a CPU from a session that is paused, and gives it back as it was. */
static void second_driver_borrows(void **state)
{
    (void)state;
    static uint64_t other_area[512] __attribute__((aligned(4096)));
    struct ds_config config = {.records = 4, .threshold = 4};
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained};
    struct ds_refusal refusal;
    char error[160];
    begin(true, "INST_RETIRED.ANY:1000,BR_INST_RETIRED.ALL_BRANCHES:500", "gpr");
    start();
    ds_resume(ds);
    ds_pause(ds);
    write_records(8); /* full, and its PMI is pending: it will come to the borrower, who clears what it says */
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
    ds_fake_find(&fake, DS_FAKE_LVTPC)->value = ARCH_VECTOR_PMI | LVTPC_MASKED;
    assert_true(ds_pmi(ds)); /* so it is served before */
    assert_true(last.reason == CAIRN_DS_THRESHOLD && last.bytes == 8 * 176);
    write_records(2);
    ds_fake_find(&fake, IA32_FIXED_CTR0)->value = MINUS(77);
    const struct ds_fake before = fake;
    uint64_t area_before[512];
    memcpy(area_before, area, sizeof area);

    assert_int_equal(ds_parse_events("instructions:5:u,branches:9:u:plain", &config, error, sizeof error), 0);
    void *other_buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
    struct ds_cpu *other = malloc(ds_cpu_bytes());
    assert_int_equal(ds_cpu_init(other, 7, &fake.machine, &caps, &config, &hooks, other_area, other_buffer, error,
                                 sizeof error), 0);
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
    write_records(1);
    ds_drain(ds, CAIRN_DS_STOP);
    assert_int_equal(last.bytes, 3 * 176);
    free(other);
    free(other_buffer);
}

static void threshold_pmi(void **state)
{
    (void)state;
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    start();
    ds_resume(ds);
    write_records(6);
    const uint64_t others = IA32_PERF_GLOBAL_STATUS_COND_CHG | IA32_PERF_GLOBAL_STATUS_LBR_FRZ | DS_BIT(5);
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = IA32_PERF_GLOBAL_STATUS_OVF_BUF | DS_BIT(32) | others;
    unsigned n = fake.logged;
    assert_true(ds_pmi(ds));
    const struct write expected[] = {
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
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    start();
    write_records(6);
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_true(ds_pmi(ds));
    assert_string_equal(order, "bdbd");
    assert_int_equal(last.reason, CAIRN_DS_RECONFIGURE);
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_STATUS), 0);
}

static void full_buffer_is_unknown_loss(void **state)
{
    (void)state;
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    start();
    write_records(7);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_int_equal(last.lost, 0);
    write_records(8);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);
    assert_int_equal(last.epoch, 1);
    area[5] = area[4] + 64 * 176; /* an index that is not believed */
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN && last.bytes == 0);
    assert_int_equal(area[5], area[4]);
    write_records(9); /* a processor that compares only the start: into the slack record */
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
        if (init(rows[i].events, "none", 8, 6, error, sizeof error))
            fail_msg("%s", error);
        start();
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
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    start();
    ds_resume(ds);
    write_records(5);
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
        begin(true, "INST_RETIRED.ANY:1000", "gpr");
        start();
        area[5] = below ? area[4] - 8 : area[4] + 9 * 176 + 8;
        ds_drain_panic(ds);
        assert_string_equal(order, "bdbd");
        assert_null(last.records);
        assert_int_equal(last.bytes, 0);
        assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);
    }

    begin(true, "INST_RETIRED.ANY:1000", "gpr"); /* after a drain, and after a stop */
    start();
    write_records(3);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    write_records(2);
    ds_drain_panic(ds);
    assert_int_equal(last.reason, CAIRN_DS_PANIC);
    assert_int_equal(last.bytes, 2 * 176);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.records, 5);
    assert_int_equal(counts.drains, 2);
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    start();
    ds_stop(ds);
    n = fake.logged;
    ds_stop(ds);
    ds_drain_panic(ds);
    assert_int_equal(fake.logged, n);
    assert_string_equal(order, "bdbd");

    begin(true, "INST_RETIRED.ANY:1000", "gpr"); /* stopped in the hook: that epoch again, with all of its records */
    start();
    write_records(3);
    panic_in_drain = true;
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_string_equal(order, "bdbdbd");
    assert_int_equal(last.reason, CAIRN_DS_PANIC);
    assert_int_equal(last.epoch, 0);
    assert_int_equal(last.bytes, 3 * 176);
}

static void drain_keeps_running_state(void **state)
{
    (void)state;
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    start();
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), 0);
    assert_null(last.records);
    ds_resume(ds);
    unsigned n = fake.logged;
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    const struct write expected[] = {{IA32_PERF_GLOBAL_CTRL, 0}, {IA32_PERF_GLOBAL_CTRL, DS_BIT(32)}};
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
    begin(true, "INST_RETIRED.ANY:1000,branches:500,cycles:300:plain", "gpr");
    struct ds_fake before = fake;
    assert_int_equal(ds_reconfigure(ds, period, error, sizeof error), 0); /* nothing runs: asked only */
    assert_int_equal(fake.logged, 0);
    start();
    ds_resume(ds);
    write_records(3);
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = 1;
    unsigned n = fake.logged;
    assert_int_equal(ds_reconfigure(ds, period, error, sizeof error), 0);
    const struct write expected[] = {
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

/* A storm of PMIs: counting stops until the next tick, which the trace says; nothing is lost by it. */
static void storm(void **state)
{
    (void)state;
    struct arch_trap_frame frame = {0};
    struct ds_config config = {.records = 8, .threshold = 1, .throttle = 3};
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained};
    struct ds_counts counts;
    char error[160] = "";
    begin(true, "INST_RETIRED.ANY:1", "gpr");
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:1", &config, error, sizeof error), 0);
    assert_int_equal(ds_parse_groups("gpr", &config, error, sizeof error), 0);
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
    start();
    ds_resume(ds);
    for (unsigned tick = 0; tick < 3; tick++) {
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), DS_BIT(32));
            write_records(1);
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
        start();
        for (unsigned i = 0; i < 20; i++) {
            ds_resume_frame(ds, &frame);
            write_records(1);
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
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained, .overflowed = overflowed};
    struct ds_config config = {.records = 8, .threshold = 6};
    char error[160] = "";
    begin(true, "INST_RETIRED.ANY:1000,branches:300:plain", "gpr");
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:1000,branches:300:plain", &config, error, sizeof error), 0);
    assert_int_equal(ds_parse_groups("gpr", &config, error, sizeof error), 0);
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
    start();
    ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value = 1;
    ds_fake_find(&fake, IA32_A_PMC0)->value = 7; /* so late is the interrupt */
    unsigned n = fake.logged;
    overflowed_times = 0;
    assert_true(ds_pmi(ds));
    assert_int_equal(overflowed_times, 1);
    assert_int_equal(overflowed_event, 1);
    const struct write expected[] = {
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
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained, .overflowed = overflowed};
    struct ds_config config = {.records = 8, .threshold = 6};
    uint64_t values[DS_MAX_COUNTING] = {9, 9, 9, 9};
    char error[160] = "";
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:1000", &config, error, sizeof error), 0);
    assert_int_equal(ds_parse_groups("gpr", &config, error, sizeof error), 0);
    assert_int_equal(ds_add_counting(&config, "no.such"), -EINVAL);
    assert_int_equal(ds_add_counting(&config, "CPU_CLK_UNHALTED.THREAD"), 0);
    assert_int_equal(ds_add_counting(&config, "INST_RETIRED.ANY"), 0); /* PEBS has the fixed one */
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
    ds_read_counting(ds, values); /* nothing runs yet */
    assert_true(values[0] == 0 && values[1] == 0 && values[2] == 9);
    start();
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
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained};
    char error[160] = "";
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
    start();
    assert_int_equal(ds_fake_value(&fake, IA32_FIXED_CTR0 + 2), MINUS(300));
    assert_int_equal(ds_fake_value(&fake, IA32_FIXED_CTR_CTRL), 0x9A0);
    assert_int_equal(ds_fake_value(&fake, IA32_PEBS_ENABLE), 0);
    ds_fake_find(&fake, IA32_FIXED_CTR0 + 1)->value = 5; /* on its way */
    ds_fake_find(&fake, IA32_FIXED_CTR0 + 2)->value = 5;
    write_records(6); /* whose threshold interrupt is another */
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
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    start();
    write_records(6);
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
    begin(true, "INST_RETIRED.ANY:1000", "gpr");
    start();
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

static void impossible_configurations(void **state)
{
    (void)state;
    char error[160] = "";
    ds_fake_init(&fake, false);
    assert_int_equal(init("branches:1,branches:2,branches:3,branches:4,branches:5", "none", 8, 6, error, sizeof error),
                     -EINVAL);
    assert_non_null(strstr(error, "no PEBS counter left for BR_INST_RETIRED.ALL_BRANCHES"));
    assert_int_equal(init("BR_INST_RETIRED.NEAR_CALL:5:plain", "none", 8, 6, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "BR_INST_RETIRED.NEAR_CALL: not an event of this processor (CPU 7: no list"));
    assert_int_equal(init("cycles:5", "none", 8, 6, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "CPU_CLK_UNHALTED.THREAD: PEBS cannot record it on this processor"));
    assert_int_equal(init("cycles:5:plain", "none", 8, 6, error, sizeof error), 0);
    assert_int_equal(ds_event_counter(ds, 0), 33);
    assert_int_equal(
        init("branches:1,branches:2,branches:3,branches:4,INST_RETIRED.ANY:5:plain", "none", 8, 6, error, sizeof error),
        0); /* plain: fixed 0 is free */
    /* plain: PMC0, where no PEBS event needs it */
    assert_int_equal(init("branches:1:plain,branches:2", "none", 8, 6, error, sizeof error), 0);
    start();
    assert_int_equal(ds_fake_value(&fake, IA32_PEBS_ENABLE), 1);
    assert_int_equal(ds_fake_value(&fake, IA32_A_PMC0 + 1), MINUS(1));
    assert_int_equal(init("branches:1", "none", 8, 9, error, sizeof error), -EINVAL);
    assert_int_equal(init("branches:1", "none", 8, 0, error, sizeof error), -EINVAL);
    caps.pebs = false;
    caps.reason = "there is none";
    struct ds_config config = {.events = 1, .records = 1, .threshold = 1};
    const struct ds_hooks hooks = {0};
    assert_int_equal(ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, sizeof error),
                     -EINVAL);
    assert_string_equal(error, "cpu 7: there is none");
}

/* What each erratum changes: the buffer, the least period, the counters that are given out. */
static void errata_have_effects(void **state)
{
    (void)state;
    char error[160] = "";
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
    assert_int_equal(init("INST_RETIRED.ANY:1000", "none", 64, 48, error, sizeof error), 0);
    start();
    assert_int_equal(area[6], area[4] + 27 * 144 + 1);
    assert_int_equal(area[7], area[4] + 20 * 144);
    area[5] = area[4] + 27 * 144; /* is full */
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_int_equal(last.bytes, 27 * 144);
    assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);

    ds_fake_init(&fake, false);
    fake.leaf[1][0] = 0x000106A5;
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value = 1u << 8;
    assert_int_equal(init("INST_RETIRED.ANY:31", "none", 8, 6, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "option 'pebs': period 31 of INST_RETIRED.ANY: must be from 32 to 2^31 on this "
                                  "processor"));
    assert_int_equal(init("branches:32", "none", 8, 6, error, sizeof error), 0);
    fake.logged = 0;
    start();
    const struct write freed[] = {
        {IA32_PERF_GLOBAL_CTRL, 0},      {IA32_PEBS_ENABLE, 0},
        {IA32_DS_AREA, (uintptr_t)area}, {DS_FAKE_LVTPC, ARCH_VECTOR_PMI},
        {IA32_PERFEVTSEL0, 0x4300B5},    {IA32_PMC0, 0}, /* 6: the counters are set free */
        {IA32_PERFEVTSEL0 + 1, 0x4300D2}, {IA32_PMC0 + 1, 0},
        {IA32_PERFEVTSEL0 + 2, 0x4300B1}, {IA32_PMC0 + 2, 0},
        {IA32_PERFEVTSEL0 + 3, 0x4300B1}, {IA32_PMC0 + 3, 0},
        {IA32_PERF_GLOBAL_CTRL, 0xF},     {IA32_PERF_GLOBAL_CTRL, 0},
        {IA32_PERFEVTSEL0, 0},            {IA32_PERFEVTSEL0 + 1, 0},
        {IA32_PERFEVTSEL0 + 2, 0},        {IA32_PERFEVTSEL0 + 3, 0},
        {IA32_PMC0, MINUS(32)},           {IA32_PERFEVTSEL0, 0x4304C4}, /* and given their event */
        {IA32_FIXED_CTR_CTRL, 0},         {IA32_PERF_GLOBAL_OVF_CTRL, 0},
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
    assert_int_equal(init("branches:32", "none", 8, 6, error, sizeof error), 0);
    start();

    ds_fake_init(&fake, false);
    fake.leaf[7][3] = CPUID_07H_EDX_TSX_FORCE_ABORT;
    ds_fake_add(&fake, MSR_TSX_FORCE_ABORT, 0);
    assert_int_equal(init("branches:1,branches:2,branches:3,branches:4", "none", 8, 6, error, sizeof error), -EINVAL);
    assert_int_equal(init("branches:1,branches:2,branches:3,cycles:9:plain", "none", 8, 6, error, sizeof error), 0);
    start();
    ds_resume(ds);
    assert_int_equal(ds_fake_value(&fake, IA32_PERF_GLOBAL_CTRL), DS_BIT(33) | 7);
}

static void longest_period(void **state) /* half of what a counter holds, or of what 32 bits written reach */
{
    (void)state;
    struct ds_config config = {.events = 1, .records = 8, .threshold = 6};
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained};
    char error[160];
    for (int full_width = 0; full_width < 2; full_width++)
        for (int fixed = -1; fixed < 1; fixed++)
            for (unsigned over = 0; over < 2; over++) {
                const bool full = full_width || fixed == 0;
                begin(true, "INST_RETIRED.ANY:1000", "gpr");
                caps.full_width_writes = full_width;
                config.event[0] = (struct ds_event){
                    .fixed = (int8_t)fixed, .kernel = true, .period = DS_BIT(full ? 47 : 31) + over};
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
    struct ds_caps c = {.format = 4, .baseline = true};
    assert_int_equal(ds_buffer_bytes(&c, &config), 12288); /* 65 * 176 */
    static const struct {
        uint32_t records;
        size_t bytes;
    } pages[] = {{22, 4096}, {23, 8192}, {45, 8192}, {46, 12288}}; /* 23 of 176 bytes fit into a page */
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        config.records = pages[i].records;
        assert_int_equal(ds_buffer_bytes(&c, &config), pages[i].bytes);
    }
    c.baseline = false;
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
        cmocka_unit_test(start_order_baseline),
        cmocka_unit_test(start_order_format3),
        cmocka_unit_test(no_fixed_counters),
        cmocka_unit_test(branch_tracing_left_on),
        cmocka_unit_test(control_bits),
        cmocka_unit_test(stale_status),
        cmocka_unit_test(legacy_counter_writes),
        cmocka_unit_test(every_fault_undoes_all),
        cmocka_unit_test(branch_history), cmocka_unit_test(architectural_branch_history),
        cmocka_unit_test(stop_is_start_backwards),
        cmocka_unit_test(second_driver_borrows),
        cmocka_unit_test(threshold_pmi),
        cmocka_unit_test(drain_overtakes_pmi),
        cmocka_unit_test(full_buffer_is_unknown_loss),
        cmocka_unit_test(swallowed_samples),
        cmocka_unit_test(panic_hands_over),
        cmocka_unit_test(drain_keeps_running_state),
        cmocka_unit_test(other_periods),
        cmocka_unit_test(storm),
        cmocka_unit_test(counting), cmocka_unit_test(plain_counter_overflow),
        cmocka_unit_test(plain_fixed_counter),
        cmocka_unit_test(status_that_never_clears),
        cmocka_unit_test(faults_while_running_are_counted),
        cmocka_unit_test(impossible_configurations),
        cmocka_unit_test(errata_have_effects),
        cmocka_unit_test(longest_period),
        cmocka_unit_test(buffer_sizes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
