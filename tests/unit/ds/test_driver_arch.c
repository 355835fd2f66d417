/* SPDX-License-Identifier: MIT */
/*
 * Architectural PEBS on a machine of MSRs: the plan, the numbered order of ds_start, backwards at ds_stop, what every
 * single fault leaves behind, other periods, and BTS, which has the Debug Store for itself.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/bts/bts.h"
#include "ds/driver/driver.h"
#include "ds/later/later.h"
#include "kernel/lib/errno.h"
#include "tests/unit/ds/driver/arch_machine.h"
#include "tests/unit/support/cmocka.h"

#define EN     IA32_PMC_CFG_C_EN
#define GPR    IA32_PMC_CFG_C_GPR
#define RELOAD UINT64_C(0xFFFFFFFF)

static uint32_t gp_c(unsigned i)
{
    return IA32_PMC_GP0_CFG_C + IA32_PMC_STEP * i;
}

static uint32_t fx_c(unsigned i)
{
    return IA32_PMC_FX0_CFG_C + IA32_PMC_STEP * i;
}

/* ---- up and down ------------------------------------------------------------------------------------------------- */

static void start_order(void **state)
{
    (void)state;
    arch_begin("INST_RETIRED.ANY:10000:k,BR_INST_RETIRED.ALL_BRANCHES:500,instructions:70000:plain", "gpr");
    memset(area, 0xA5, sizeof area);
    driver_start();
    const uint64_t base = (uintptr_t)buffer;
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0}, /* 1 */
        {IA32_PEBS_INDEX, 0},
        {IA32_PEBS_BASE, base},           /* 3: SIZE 0, a page */
        {DS_FAKE_LVTPC, ARCH_VECTOR_PMI}, /* 4 */
        {IA32_PMC_GP0_CFG_B + 4 * 2, 0},  /* 5 */
        {IA32_PMC_GP0_CFG_B + 4 * 3, 0},
        {IA32_PMC_GP0_CFG_B + 4 * 4, 0},
        {IA32_PMC_GP0_CFG_B + 4 * 5, 0},
        {IA32_PMC_GP0_CFG_B + 4 * 6, 0},
        {IA32_PMC_GP0_CFG_B + 4 * 7, 0},
        {IA32_PMC_FX0_CFG_B, 0},
        {IA32_PMC_FX0_CFG_B + 4, 0},
        {gp_c(0), EN | GPR | (MINUS(500) & RELOAD)},
        {gp_c(1), 0}, /* counts without PEBS */
        {gp_c(2), 0},
        {gp_c(3), 0},
        {gp_c(4), 0},
        {gp_c(5), 0},
        {gp_c(6), 0},
        {gp_c(7), 0},
        {fx_c(0), UINT64_C(0xA0000000FFFFD8F0)},
        {fx_c(1), 0},
        {fx_c(2), 0},
        {fx_c(3), 0},
        {IA32_FIXED_CTR0, MINUS(10000)}, /* 6 */
        {IA32_A_PMC0, MINUS(500)},
        {IA32_PERFEVTSEL0, 0x4300C4}, /* EN OS USR: neither INT nor ADAPTIVE */
        {IA32_A_PMC0 + 1, MINUS(70000)},
        {IA32_PERFEVTSEL0 + 1, 0x5300C0}, /* and INT */
        {IA32_FIXED_CTR_CTRL, 1},
        {IA32_PERF_GLOBAL_OVF_CTRL, 0},  /* 7 */
        {IA32_PEBS_INDEX, arch_index(0)} /* 8 */
    };
    EXPECT(expected, 0);
    for (unsigned i = 0; i < 512; i++)
        assert_int_equal(area[i], 0); /* nothing of PEBS is in it */
    assert_string_equal(order, "bd");
    assert_true(last.reason == CAIRN_DS_START && last.epoch == 0 && last.bytes == 0 && last.lost == 0);
    assert_int_equal(arch_registers.base, base);
    assert_int_equal(arch_registers.index, arch_index(0));
    assert_true(arch_registers.gp_cfg_c[0] == (EN | GPR | (MINUS(500) & RELOAD)) && !arch_registers.gp_cfg_c[1]);
    assert_true(arch_registers.fx_cfg_c[0] == UINT64_C(0xA0000000FFFFD8F0));
    unsigned n = fake.logged;
    ds_resume(ds); /* 9 */
    const struct driver_write on[] = {{IA32_PERF_GLOBAL_CTRL, DS_BIT(32) | 3}};
    EXPECT(on, n);
}

/* The steps backwards; the buffer's address goes before anybody can free it, and what the firmware had on comes last.
 */
static void stop_order(void **state)
{
    (void)state;
    arch_begin("INST_RETIRED.ANY:10000:k", "gpr");
    const struct ds_fake before = fake;
    driver_start();
    ds_resume(ds);
    unsigned n = fake.logged;
    ds_stop(ds);
    const uint64_t cfg_c = EN | 0x1000;
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0},
        {IA32_PEBS_INDEX, arch_index(0)}, /* drained */
        {IA32_PERF_GLOBAL_OVF_CTRL, 0},
        {IA32_PEBS_INDEX, 0}, /* 8 */
        {IA32_FIXED_CTR_CTRL, 0x333},
        {IA32_FIXED_CTR0, 0x200},
        {fx_c(3), cfg_c | 35},
        {fx_c(2), cfg_c | 34},
        {fx_c(1), cfg_c | 33},
        {fx_c(0), cfg_c | 32},
        {gp_c(7), cfg_c | 7},
        {gp_c(6), cfg_c | 6},
        {gp_c(5), cfg_c | 5},
        {gp_c(4), cfg_c | 4},
        {gp_c(3), cfg_c | 3},
        {gp_c(2), cfg_c | 2},
        {gp_c(1), cfg_c | 1},
        {gp_c(0), cfg_c},
        {IA32_PMC_FX0_CFG_B + 4, 4},
        {IA32_PMC_FX0_CFG_B, 4},
        {IA32_PMC_GP0_CFG_B + 4 * 7, 4},
        {IA32_PMC_GP0_CFG_B + 4 * 6, 4},
        {IA32_PMC_GP0_CFG_B + 4 * 5, 4},
        {IA32_PMC_GP0_CFG_B + 4 * 4, 4},
        {IA32_PMC_GP0_CFG_B + 4 * 3, 4},
        {IA32_PMC_GP0_CFG_B + 4 * 2, 4},
        {DS_FAKE_LVTPC, LVTPC_RESET},
        {IA32_PEBS_BASE, 0x12340004}, /* 3 */
        {IA32_PEBS_INDEX, ia32_pebs_index(0x40, 0x8000) | IA32_PEBS_INDEX_EN},
        {IA32_PERF_GLOBAL_CTRL, 0xF},
    };
    EXPECT(expected, n);
    for (unsigned i = 0; i < before.msrs; i++)
        assert_int_equal(fake.msr[i].value, before.msr[i].value);
}

/* #GP at any access of the set-up: one line names it, and all is as it was. */
static void every_fault_of_the_set_up(void **state)
{
    (void)state;
    int previous = 0, steps = 0;
    for (unsigned at = 1;; at++) {
        struct ds_refusal refusal = {0};
        struct ds_counts counts;
        arch_begin("INST_RETIRED.ANY:10000:k,branches:500:plain", "gpr,lbr:8,counters");
        const struct ds_fake before = fake;
        fake.fault_at = at;
        if (ds_start(ds, &refusal) == 0) {
            assert_true(fake.accesses < at);
            break;
        }
        assert_string_equal(refusal.during, "the set-up of architectural PEBS");
        assert_true(refusal.step >= previous && refusal.msr == fake.faulted.msr);
        assert_true(refusal.write == fake.faulted.write && refusal.value == fake.faulted.value);
        steps += refusal.step != previous;
        previous = refusal.step;
        for (unsigned i = 0; i < before.msrs; i++)
            assert_int_equal(fake.msr[i].value, before.msr[i].value);
        assert_string_equal(order, "");
        ds_cpu_counts(ds, &counts);
        assert_int_equal(counts.faults, 0);
        assert_false(ds_started(ds));
    }
    assert_int_equal(steps, 6); /* 1, 3, 5, 6, 7, 8 */
}

static int (*inner_rdmsr)(void *context, uint32_t msr, uint64_t *value);

/* Somebody's record is on its way, and comes while the driver waits. */
static int moving_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    uint64_t *index = &ds_fake_find(&fake, IA32_PEBS_INDEX)->value;
    if (msr == IA32_PEBS_INDEX && *index & IA32_PEBS_INDEX_EN && ia32_pebs_index_wr(*index) == 0 && arch_reads == 5)
        *index += ARCH_RECORD;
    return inner_rdmsr(context, msr, value);
}

/* Where PEBS had been on, its records have time to come, to the buffer they are for: its position is saved after that.
 */
static void waits_for_others(void **state)
{
    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        arch_begin("INST_RETIRED.ANY:10000:k", "none");
        ds_fake_find(&fake, IA32_PEBS_INDEX)->value = on ? IA32_PEBS_INDEX_EN : 0;
        inner_rdmsr = fake.machine.rdmsr;
        fake.machine.rdmsr = moving_rdmsr;
        driver_start();
        assert_true(on ? arch_reads >= 64 : arch_reads < 4);
        fake.machine.rdmsr = inner_rdmsr;
        ds_stop(ds);
        assert_int_equal(ds_fake_value(&fake, IA32_PEBS_INDEX), on ? IA32_PEBS_INDEX_EN | ARCH_RECORD : 0);
    }
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

#define WHOLE (GPR | IA32_PMC_CFG_C_AUX | IA32_PMC_CFG_C_XMM)

/* What pebs.groups= comes to: CFG_C, the size of a record, the buffer. */
static void groups(void **state)
{
    (void)state;
    static const struct {
        const char *groups;
        uint64_t cfg_c;
        uint32_t bytes, buffer;
    } rows[] = {
        {"none", 0, 64, 4096},
        {"gpr", GPR, 224, 4096},
        {"mem", IA32_PMC_CFG_C_AUX, 128, 4096},
        {"gpr,mem,xmm", WHOLE, 560, 8192},
        {"lbr:8", UINT64_C(1) << 40, 304, 4096},
        {"lbr:16", UINT64_C(2) << 40, 496, 8192},
        {"lbr", UINT64_C(3) << 40, 880, 8192},
        {"gpr,lbr:32", GPR | UINT64_C(3) << 40, 1040, 16384},
        {"counters", IA32_PMC_CFG_C_CNTR, 112, 4096}, /* two and the metrics */
    };
    char error[160] = "";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        arch_begin("INST_RETIRED.ANY:10000:k,branches:77:plain", rows[i].groups);
        const uint64_t shown = rows[i].cfg_c & IA32_PMC_CFG_C_CNTR ? IA32_PMC_CFG_C_CNTR_ALLOW : 0;
        assert_int_equal(ds_record_size(&caps, &ds->config), rows[i].bytes);
        assert_int_equal(ds_buffer_bytes(&caps, &ds->config), rows[i].buffer);
        driver_start();
        assert_true(ds_fake_value(&fake, fx_c(0)) == (EN | rows[i].cfg_c | shown | (MINUS(10000) & RELOAD)));
        assert_true(ds_fake_value(&fake, gp_c(0)) == shown); /* the plain one */
        assert_true(ds_fake_value(&fake, gp_c(1)) == 0);     /* nobody's */
        assert_int_equal(ia32_pebs_base_bytes(ds_fake_value(&fake, IA32_PEBS_BASE)), rows[i].buffer);
        assert_int_equal(ia32_pebs_index_thresh(ds_fake_value(&fake, IA32_PEBS_INDEX)), 6 * rows[i].bytes);
        ds_stop(ds);
    }
    fake.subleaf_23h[4][1] &= ~(uint32_t)(IA32_PMC_CFG_C_CNTR_METRICS >> 32); /* an efficient core: without metrics */
    assert_int_equal(arch_init("branches:1", "counters", 8, 6, error, sizeof error), 0);
    assert_int_equal(ds_record_size(&caps, &ds->config), 96); /* 88, and padding */
}

static void refused(const char *events, const char *spec, const char *why)
{
    char error[160] = "";
    assert_int_equal(arch_init(events, spec, 8, 6, error, sizeof error), -EINVAL);
    if (!strstr(error, why))
        fail_msg("'%s', not '%s'", error, why);
}

static void groups_that_are_not_there(void **state)
{
    (void)state;
    static const struct {
        const char *group;
        uint64_t bits;
    } rows[] = {
        {"gpr", GPR},
        {"mem", IA32_PMC_CFG_C_AUX},
        {"xmm", IA32_PMC_CFG_C_XMM},
        {"lbr", UINT64_C(1) << 41},
        {"counters", IA32_PMC_CFG_C_CNTR_ALLOW},
        {"counters", IA32_PMC_CFG_C_CNTR_GP | IA32_PMC_CFG_C_CNTR_FIXED},
    };
    char error[160] = "", line[96];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ds_fake_init_arch(&fake);
        fake.subleaf_23h[4][1] &= ~(uint32_t)(rows[i].bits >> 32);
        snprintf(line, sizeof line,
                 "'pebs.groups': %s: records of this processor (CPU 7, architectural PEBS) have none", rows[i].group);
        refused("branches:1", rows[i].group, line);
        assert_int_equal(arch_init("branches:1", "none", 8, 6, error, sizeof error), 0);
    }
    ds_fake_init_arch(&fake);
    refused("branches:1", "lbr:12", "lbr:12: records of this processor (CPU 7) have 8, 16 or all 32 branches");
    fake.leaf[7][3] = 0;
    refused("branches:1", "lbr", "has no branch history");
}

/* 32 bits of CFG_C reload a counter; other counters have their whole width. */
static void periods(void **state)
{
    (void)state;
    char error[160] = "";
    const uint64_t later[] = {DS_BIT(31) + 1, 5};
    ds_fake_init_arch(&fake);
    refused("instructions:2147483649", "none", "must be from 1 to 2^31 on this processor");
    refused("branches:2147483649", "none", "must be from 1 to 2^31 on this processor");
    assert_int_equal(arch_init("branches:2147483648,instructions:140737488355327:plain", "none", 8, 6, error, 160), 0);
    driver_start();
    assert_true(ds_fake_value(&fake, gp_c(0)) == (EN | DS_BIT(31)));
    assert_true(ds_fake_value(&fake, IA32_A_PMC0) == MINUS(DS_BIT(31)));
    assert_int_equal(ds_reconfigure(ds, later, error, sizeof error), -EINVAL);
}

/* Those of CPUID.23H.5 alone; with precise distribution those that have it. */
static void counters(void **state)
{
    (void)state;
    char error[160] = "";
    ds_fake_init_arch(&fake);
    fake.leaf[1][0] = 0x000C06C0; /* Panther Lake */
    fake.subleaf_23h[5][2] = 0;   /* no fixed counter has PEBS, */
    fake.subleaf_23h[5][3] = 0;
    fake.subleaf_23h[5][0] = 0xFD; /* nor PMC1 */
    assert_int_equal(arch_init("INST_RETIRED.PREC_DIST:128,branches:9", "none", 8, 6, error, sizeof error), -EINVAL);
    assert_int_equal(arch_init("instructions:9,branches:9,cycles:9:plain", "counters", 8, 6, error, sizeof error), 0);
    assert_int_equal(ds_event_counter(ds, 0), 0);
    assert_int_equal(ds_event_counter(ds, 1), 2);
    assert_int_equal(ds_event_counter(ds, 2), ds_counter_fixed(1)); /* has no CFG_C to be shown by */
    assert_true(ds_record_size(&caps, &ds->config) >= ds_arch_record_bytes(ds_groups(&caps, &ds->config), 4, 32));
    driver_start();
    assert_true(ds_fake_value(&fake, gp_c(2)) & IA32_PMC_CFG_C_CNTR_ALLOW);
    assert_int_equal(ds_fake_value(&fake, gp_c(1)), EN | 0x1001); /* not touched: CPUID says that it is not there */
    fake.subleaf_23h[5][3] = 1;
    fake.subleaf_23h[5][2] = 1;
    assert_int_equal(arch_init("INST_RETIRED.PREC_DIST:128,branches:9", "none", 8, 6, error, sizeof error), 0);
    assert_int_equal(ds_event_counter(ds, 0), ds_counter_fixed(0));
}

/* The processor has the physical address of the first byte, and nothing else. */
static uint64_t hole, shift;

static uint64_t physical(void *context, const void *address)
{
    (void)context;
    const uint64_t at = (uintptr_t)address - (uintptr_t)buffer;
    return UINT64_C(0x40000) + shift + at + (at >= hole ? 4096 : 0);
}

static void physical_memory(void **state)
{
    (void)state;
    char error[160] = "";
    static const char why[] = "CPU 7: the PEBS buffer is not one piece of physical memory, aligned to its size";
    ds_fake_init_arch(&fake);
    fake.machine.physical = physical;
    hole = UINT64_MAX;
    shift = 0;
    assert_int_equal(arch_init("branches:1", "gpr,mem,xmm", 40, 6, error, sizeof error), 0); /* 32 KiB */
    driver_start();
    assert_int_equal(ds_fake_value(&fake, IA32_PEBS_BASE), 0x40000 | 3);
    shift = 4096;
    refused("branches:1", "gpr,mem,xmm", why);
    assert_int_equal(arch_init("branches:1", "gpr", 8, 6, error, sizeof error), 0); /* a page may lie anywhere */
    shift = UINT64_C(1) << 60;
    refused("branches:1", "gpr", why);
    shift = 0;
    hole = 4096;
    refused("branches:1", "gpr,mem,xmm", why);
}

/* ---- on the way -------------------------------------------------------------------------------------------------- */

static void other_periods(void **state)
{
    (void)state;
    char error[160] = "";
    const uint64_t later[] = {200, 300};
    arch_begin("INST_RETIRED.ANY:10000:k,branches:500:plain", "gpr");
    driver_start();
    ds_resume(ds);
    arch_records(2);
    unsigned n = fake.logged;
    assert_int_equal(ds_reconfigure(ds, later, error, sizeof error), 0);
    const struct driver_write expected[] = {
        {IA32_PERF_GLOBAL_CTRL, 0},
        {IA32_PEBS_INDEX, arch_index(0)},       /* drained */
        {fx_c(0), GPR | (MINUS(200) & RELOAD)}, /* an overflow of the old period writes no record any more */
        {fx_c(0), EN | GPR | (MINUS(200) & RELOAD)},
        {IA32_FIXED_CTR0, MINUS(200)},
        {IA32_A_PMC0, MINUS(300)},
        {IA32_PERF_GLOBAL_OVF_CTRL, 0},
    };
    EXPECT(expected, n);
    arch_expect_drained(2, 1);
    assert_true(last.reason == CAIRN_DS_RECONFIGURE);
    assert_true(arch_registers.fx_cfg_c[0] == (EN | GPR | (MINUS(10000) & RELOAD))); /* they were made with this */
    ds_resume(ds);
    arch_records(1);
    ds_drain(ds, CAIRN_DS_THRESHOLD);
    assert_true(arch_registers.fx_cfg_c[0] == (EN | GPR | (MINUS(200) & RELOAD)));
}

static unsigned branch_drains;

static void bts_drained(void *context, uint32_t cpu, const struct ds_bts_drain *d)
{
    (void)context, (void)cpu;
    assert_ptr_equal(d->area, area);
    branch_drains++;
}

/* BTS has an area of its own, whether PEBS runs or not; LVTPC is one. */
static void bts_beside_it(void **state)
{
    (void)state;
    static struct ds_bts branch_trace;
    static struct ds_bts_record branches[64];
    struct ds_refusal refusal;
    for (int with = 0; with < 2; with++) {
        arch_begin(with ? "INST_RETIRED.ANY:10000:k" : "none", "gpr");
        ds->hooks.bts_drained = bts_drained;
        memset(area, 0xA5, sizeof area);
        branch_drains = 0;
        const struct ds_fake before = fake;
        assert_int_equal(ds_bts_init(&branch_trace, ds, DS_BTS_INTERRUPT, DS_BTS_ALL, 16, branches), 0);
        driver_start();
        unsigned n = fake.logged;
        assert_int_equal(ds_bts_start(ds, &refusal), 0);
        const struct driver_write expected[] = {
            {IA32_DEBUGCTL, 0},
            {IA32_DS_AREA, (uintptr_t)area},
            {DS_FAKE_LVTPC, ARCH_VECTOR_PMI},
            {IA32_DEBUGCTL, IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_BTINT},
        };
        const struct driver_write shared[] = {expected[0], expected[1], expected[3]};
        if (with)
            EXPECT(shared, n);
        else
            EXPECT(expected, n);
        assert_int_equal(area[0], (uintptr_t)branches);
        for (unsigned i = 4; i < 512; i++) /* the area's fields of PEBS stay 0 */
            assert_int_equal(area[i], 0);
        assert_true(ds_started(ds));
        ds_resume(ds);
        area[1] = area[0] + 3 * sizeof branches[0];
        ds_pause(ds);
        ds_switch(ds, 5);
        assert_int_equal(branch_drains, 2);
        ds_stop(ds);
        for (unsigned i = 0; i < before.msrs; i++)
            assert_int_equal(fake.msr[i].value, before.msr[i].value);
    }
    /* Refused, it leaves PEBS alone; and the other way round. */
    arch_begin("INST_RETIRED.ANY:10000:k", "gpr");
    ds->hooks.bts_drained = bts_drained;
    assert_int_equal(ds_bts_init(&branch_trace, ds, DS_BTS_INTERRUPT, DS_BTS_ALL, 16, branches), 0);
    ds_fake_find(&fake, IA32_DS_AREA)->refuses = UINT64_MAX;
    driver_start();
    assert_int_equal(ds_bts_start(ds, &refusal), -EFAULT);
    assert_true(refusal.step == 3 && refusal.msr == IA32_DS_AREA && ds_started(ds));
    ds_stop(ds);
    ds_fake_find(&fake, IA32_DS_AREA)->refuses = 0;
    ds_fake_find(&fake, IA32_PEBS_BASE)->refuses = UINT64_MAX;
    assert_int_equal(ds_start(ds, &refusal), -EFAULT);
    assert_true(refusal.step == 3 && refusal.msr == IA32_PEBS_BASE);
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    ds_stop(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_order),
        cmocka_unit_test(stop_order),
        cmocka_unit_test(every_fault_of_the_set_up),
        cmocka_unit_test(waits_for_others),
        cmocka_unit_test(groups),
        cmocka_unit_test(groups_that_are_not_there),
        cmocka_unit_test(periods),
        cmocka_unit_test(counters),
        cmocka_unit_test(physical_memory),
        cmocka_unit_test(other_periods),
        cmocka_unit_test(bts_beside_it),
    };
    int failed = cmocka_run_group_tests_name("ds_driver_arch", tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
