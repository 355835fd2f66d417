/* SPDX-License-Identifier: MIT */
/* The model's CPUID, MSRs and presets; which writes raise #GP. */
#include <string.h>

#include "ds/model/variant/variant.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"
#include "tests/unit/support/presets.h"

static struct ds_bench bench, *b = &bench;

/* ---- #GP --------------------------------------------------------------------------------------------------------- */

struct gp_row {
    const char *preset;
    uint32_t msr;
    uint64_t value;
    int result;
};

/* clang-format off */
static const struct gp_row gp_rows[] = {
    /* DS_AREA: canonical, aligned or not */
    {"icelake", IA32_DS_AREA, UINT64_C(0x0000800000000000), -EFAULT},
    {"icelake", IA32_DS_AREA, UINT64_C(0xFFFF7FFFFFFFFFFF), -EFAULT},
    {"icelake", IA32_DS_AREA, UINT64_C(0x00007FFFFFFFFFFF), 0},
    {"icelake", IA32_DS_AREA, UINT64_C(0xFFFF800000000000), 0},
    {"penryn", IA32_DS_AREA, UINT64_C(0x0000800000000000), -EFAULT},
    {"sapphirerapids", IA32_DS_AREA, UINT64_C(0x00FFFFFFFFFFFFFF), 0},
    {"sapphirerapids", IA32_DS_AREA, UINT64_C(0xFF11000000000000), 0},
    {"sapphirerapids", IA32_DS_AREA, UINT64_C(0x0100000000000000), -EFAULT},
    {"sapphirerapids", IA32_DS_AREA, UINT64_C(0xFEFFFFFFFFFFFFFF), -EFAULT},
    {"lunarlake", IA32_DS_AREA, UINT64_C(0xFF11000000000000), -EFAULT},
    {"clearwaterforest", IA32_DS_AREA, UINT64_C(0xFF11000000000000), -EFAULT},
    /* PEBS_ENABLE: counters PEBS can be enabled for */
    {"penryn", IA32_PEBS_ENABLE, 1, 0},
    {"penryn", IA32_PEBS_ENABLE, 2, -EFAULT},
    {"nehalem", IA32_PEBS_ENABLE, 0xF, 0},
    {"nehalem", IA32_PEBS_ENABLE, 0x10, -EFAULT},
    {"penryn", IA32_PEBS_ENABLE, DS_BIT(32), -EFAULT},
    {"nehalem", IA32_PEBS_ENABLE, 0xF0000000F, 0}, /* load latency */
    {"nehalem", IA32_PEBS_ENABLE, DS_BIT(36), -EFAULT},
    {"nehalem", IA32_PEBS_ENABLE, DS_BIT(63), -EFAULT},
    {"sandybridge", IA32_PEBS_ENABLE, DS_BIT(63), 0}, /* precise store */
    {"skylake", IA32_PEBS_ENABLE, 0xF, 0},
    {"skylake", IA32_PEBS_ENABLE, 0x10, -EFAULT},
    {"skylake", IA32_PEBS_ENABLE, 0xF0000000F, 0},
    {"skylake", IA32_PEBS_ENABLE, DS_BIT(63), -EFAULT},
    {"icelake", IA32_PEBS_ENABLE, 0xF000000FF, 0},
    {"icelake", IA32_PEBS_ENABLE, 0x100, -EFAULT},
    {"icelake", IA32_PEBS_ENABLE, DS_BIT(36), -EFAULT},
    {"icelake", IA32_PEBS_ENABLE, DS_BIT(63), -EFAULT},
    {"lunarlake", IA32_PEBS_ENABLE, 0xF000003FF, 0},
    {"lunarlake", IA32_PEBS_ENABLE, 0x400, -EFAULT},
    /* PEBS_DATA_CFG: with the baseline */
    {"skylake", MSR_PEBS_DATA_CFG, 0, -EFAULT},
    {"icelake", MSR_PEBS_DATA_CFG, 0xFF00000F, 0},
    {"icelake", MSR_PEBS_DATA_CFG, 0x10, -EFAULT},
    {"arrowlake", MSR_PEBS_DATA_CFG, 0x20, -EFAULT},
    {"lunarlake", MSR_PEBS_DATA_CFG, 0xFF00003F | UINT64_C(0x000F03FF00000000), 0},
    {"lunarlake", MSR_PEBS_DATA_CFG, 0x40, -EFAULT},
    {"lunarlake", MSR_PEBS_DATA_CFG, DS_BIT(42), -EFAULT}, /* PMC10 */
    {"lunarlake", MSR_PEBS_DATA_CFG, DS_BIT(52), -EFAULT}, /* fixed counter 4 */
    /* PERFEVTSELx */
    {"icelake", IA32_PERFEVTSEL0, UINT64_C(0x4005300C0), 0},
    {"skylake", IA32_PERFEVTSEL0, 0xFFFFFFFF, 0},
    {"nehalem", IA32_PERFEVTSEL0, IA32_PERFEVTSEL_ANY, 0}, /* from version 3 on */
    {"penryn", IA32_PERFEVTSEL0, 0xFFDFFFFF, 0},
    {"penryn", IA32_PERFEVTSEL0, IA32_PERFEVTSEL_ANY, -EFAULT},
    {"skylake", IA32_PERFEVTSEL0, IA32_PERFEVTSEL_ADAPTIVE, -EFAULT},
    {"icelake", IA32_PERFEVTSEL0, IA32_PERFEVTSEL_ANY, 0},
    {"lunarlake", IA32_PERFEVTSEL0, IA32_PERFEVTSEL_ANY, 0},
    {"clearwaterforest", IA32_PERFEVTSEL0, UINT64_C(0xFFF7EFFF), 0}, /* as Linux 7.3 has written it for root */
    {"icelake", IA32_PERFEVTSEL0, DS_BIT(35), -EFAULT},
    {"icelake", IA32_PERFEVTSEL0, DS_BIT(32), -EFAULT},
    {"icelake", IA32_PERFEVTSEL0 + 8, 0, -EFAULT},
    {"skylake", IA32_PERFEVTSEL0 + 4, 0, -EFAULT},
    {"lunarlake", IA32_PERFEVTSEL0 + 9, 0xC0, 0},
    /* A_PMCx: with FW_WRITE, up to the width */
    {"icelake", IA32_A_PMC0 + 7, DS_BIT(48) - 1, 0},
    {"icelake", IA32_A_PMC0, DS_BIT(48), -EFAULT},
    {"skylake", IA32_A_PMC0 + 4, 0, -EFAULT},
    {"nehalem", IA32_A_PMC0, 0, -EFAULT},
    {"penryn", IA32_A_PMC0, 0, -EFAULT},
    /* PMCx: the upper half is ignored */
    {"icelake", IA32_PMC0, UINT64_MAX, 0},
    {"icelake", IA32_FIXED_CTR0, DS_BIT(48), -EFAULT},
    {"penryn", IA32_FIXED_CTR0, DS_BIT(40), -EFAULT},
    /* controls of counters that are there */
    {"icelake", IA32_FIXED_CTR_CTRL, UINT64_C(0x0000111100009999) | 0x2222, 0},
    {"skylake", IA32_FIXED_CTR_CTRL, 0xFFF, 0},
    {"nehalem", IA32_FIXED_CTR_CTRL, 0xFFF, 0},
    {"penryn", IA32_FIXED_CTR_CTRL, 0xBBB, 0},
    {"penryn", IA32_FIXED_CTR_CTRL, 4, -EFAULT},
    {"skylake", IA32_FIXED_CTR_CTRL, 0x1000, -EFAULT},
    {"skylake", IA32_FIXED_CTR_CTRL, DS_BIT(32), -EFAULT},
    {"icelake", IA32_FIXED_CTR_CTRL, 0x4444, 0},
    {"pantherlake", IA32_FIXED_CTR_CTRL, 0x4444, 0},
    {"icelake", IA32_PERF_GLOBAL_CTRL, UINT64_C(0x1000F000000FF), 0},
    {"icelake", IA32_PERF_GLOBAL_CTRL, 0x100, -EFAULT},
    {"skylake", IA32_PERF_GLOBAL_CTRL, DS_BIT(35), -EFAULT},
    {"skylake", IA32_PERF_GLOBAL_CTRL, DS_BIT(48), -EFAULT},
    /* status */
    {"icelake", IA32_PERF_GLOBAL_STATUS, 0, -EFAULT},
    {"icelake", IA32_PERF_GLOBAL_OVF_CTRL, UINT64_C(0xFC0100000000000F), 0},
    {"icelake", IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(40), -EFAULT},
    {"penryn", IA32_PERF_GLOBAL_OVF_CTRL, UINT64_C(0xC000000700000003), 0},
    {"penryn", IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(61), -EFAULT},
    {"haswell", IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(61), 0},
    {"haswell", IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(58), -EFAULT},
    {"icelake", IA32_PERF_GLOBAL_STATUS_SET, OVF_BUF, 0},
    {"icelake", IA32_PERF_GLOBAL_STATUS_SET, DS_BIT(40), -EFAULT},
    {"skylake", IA32_PERF_GLOBAL_STATUS_SET, OVF_BUF, 0},
    {"haswell", IA32_PERF_GLOBAL_STATUS_SET, OVF_BUF, -EFAULT},
    {"icelake", IA32_PERF_CAPABILITIES, 0, -EFAULT},
    {"skylake", IA32_PERF_GLOBAL_INUSE, 0, -EFAULT},
    {"haswell", IA32_PERF_GLOBAL_INUSE, 0, -EFAULT},
    {"skylake", MSR_PERF_METRICS, 0, -EFAULT},
    {"icelake", MSR_PERF_METRICS, DS_BIT(32), -EFAULT},
    /* DEBUGCTL: freezing in SMM needs SMM_FREEZE */
    {"penryn", IA32_DEBUGCTL, 0x1FC3, 0},
    {"icelake", IA32_DEBUGCTL, 0x1FC3, 0},
    {"lunarlake", IA32_DEBUGCTL, 0x1FC3, 0},
    {"icelake", IA32_DEBUGCTL, DS_BIT(2), -EFAULT},
    {"icelake", IA32_DEBUGCTL, DS_BIT(13), -EFAULT},
    {"icelake", IA32_DEBUGCTL, DS_BIT(14), -EFAULT},
    {"icelake", IA32_DEBUGCTL, DS_BIT(16), -EFAULT},
    {"penryn", MSR_OFFCORE_RSP_0, 0, -EFAULT},
    {"nehalem", MSR_OFFCORE_RSP_0, 0xFFFF, 0},
    {"nehalem", MSR_OFFCORE_RSP_1, 0, -EFAULT},
    {"sandybridge", MSR_OFFCORE_RSP_1, 0x3F807F8FFF, 0},
    {"clearwaterforest", MSR_OFFCORE_RSP_1, 0x10001, 0},
    {"penryn", MSR_PEBS_LD_LAT, 3, -EFAULT},
    {"nehalem", MSR_PEBS_LD_LAT, 0xFFFF, 0},
    {"lunarlake", MSR_PEBS_LD_LAT, 0x10000, -EFAULT},
    {"haswell", MSR_PEBS_FRONTEND, 0, -EFAULT},
    {"skylake", MSR_PEBS_FRONTEND, 0xFFFFFF, 0},
    {"icelake", MSR_PEBS_FRONTEND, 0x1000000, -EFAULT},
    /* what does not stick, what is not there */
    {"icelake", IA32_MISC_ENABLE, UINT64_MAX, 0},
    {"icelake", 0x10, 0, -ENOENT},
    {"skylake", IA32_FIXED_CTR0 + 3, 0, -EFAULT},
    {"icelake", IA32_FIXED_CTR0 + 4, 0, -EFAULT},
    {"penryn", IA32_PMC0 + 2, 0, -EFAULT},
    {"lunarlake", IA32_PMC0 + 10, 0, -ENOENT},
};
/* clang-format on */

static void general_protection(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof gp_rows / sizeof gp_rows[0]; i++) {
        const struct gp_row *row = &gp_rows[i];
        ds_bench_init(b, ds_model_preset(row->preset), NULL, 320, 320);
        uint64_t before = 0, after = 0;
        int readable = ds_model_rdmsr(&b->model, row->msr, &before);
        int e = ds_model_wrmsr(&b->model, row->msr, row->value);
        if (e != row->result)
            fail_msg("%s: wrmsr %x %llx: %d", row->preset, row->msr, (unsigned long long)row->value, e);
        if (e && !readable) { /* a write that faults changes nothing */
            assert_int_equal(ds_model_rdmsr(&b->model, row->msr, &after), 0);
            assert_int_equal(before, after);
        }
    }
}

static void no_debug_store(void **state) /* CPUID.DS = 0, and DS without DS_CPL */
{
    (void)state;
    static struct ds_model_preset none, without_cpl;
    uint32_t r[4];
    uint64_t v;
    none = without_cpl = *ds_bench_icelake();
    none.ds = none.ds_cpl = without_cpl.ds_cpl = false;
    ds_bench_init(b, &none, NULL, 320, 320);
    ds_model_cpuid(&b->model, 1, 0, r);
    assert_int_equal(r[3] & CPUID_01H_EDX_DS, 0);
    assert_int_equal(ds_bench_read(b, IA32_MISC_ENABLE), 0x1881);
    static const uint32_t absent[] = {IA32_DS_AREA, IA32_PEBS_ENABLE, MSR_PEBS_DATA_CFG};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ds_model_wrmsr(&b->model, absent[i], 0), -EFAULT);
        assert_int_equal(ds_model_rdmsr(&b->model, absent[i], &v), -EFAULT);
    }
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_DEBUGCTL, IA32_DEBUGCTL_BTS), -EFAULT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_DEBUGCTL, IA32_DEBUGCTL_BTINT), -EFAULT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_DEBUGCTL, IA32_DEBUGCTL_LBR), 0);

    ds_bench_init(b, &without_cpl, NULL, 320, 320);
    ds_model_cpuid(&b->model, 1, 0, r);
    assert_int_equal(r[2] & CPUID_01H_ECX_DS_CPL, 0);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_DEBUGCTL, IA32_DEBUGCTL_BTS), 0);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_DEBUGCTL, IA32_DEBUGCTL_BTS_OFF_OS), -EFAULT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_DEBUGCTL, IA32_DEBUGCTL_BTS_OFF_USR), -EFAULT);
}

static void reads(void **state)
{
    (void)state;
    uint64_t v;
    ds_bench_init(b, ds_bench_icelake(), NULL, 320, 320);
    static const struct {
        uint32_t msr;
        uint64_t value;
    } kept[] = {
        {IA32_A_PMC0 + 3, 0x123456789ABC},
        {IA32_FIXED_CTR0 + 2, 0x123456789ABC},
        {IA32_PERFEVTSEL0 + 7, 0x4300C0},
        {IA32_FIXED_CTR_CTRL, 0x3},
        {IA32_PERF_GLOBAL_CTRL, 0xF},
        {IA32_PEBS_ENABLE, 1},
        {MSR_PEBS_DATA_CFG, 2},
        {MSR_PERF_METRICS, UINT32_MAX},
        {MSR_PEBS_LD_LAT, 30},
        {MSR_PEBS_FRONTEND, 0x11},
        {MSR_OFFCORE_RSP_0, 0x10001},
        {MSR_OFFCORE_RSP_1, 0x3FFFC00001},
        {IA32_DEBUGCTL, 0xC0},
        {IA32_DS_AREA, 0x1000},
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        ds_bench_write(b, kept[i].msr, kept[i].value);
        assert_int_equal(ds_bench_read(b, kept[i].msr), kept[i].value);
    }
    assert_int_equal(PMC(b, 3), 0x123456789ABC);
    assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_OVF_CTRL), 0);
    assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_STATUS_SET), 0);
    assert_int_equal(ds_model_rdmsr(&b->model, 0x10, &v), -ENOENT);
    static const struct {
        uint32_t msr;
        int result;
    } behind_the_last[] = {
        {IA32_PMC0 + 8, -EFAULT},        {IA32_A_PMC0 + 8, -EFAULT},     {IA32_A_PMC0 + DS_MODEL_GP_MAX, -ENOENT},
        {IA32_PERFEVTSEL0 + 8, -EFAULT}, {IA32_FIXED_CTR0 + 4, -EFAULT},
    };
    for (size_t i = 0; i < sizeof behind_the_last / sizeof behind_the_last[0]; i++) {
        assert_int_equal(ds_model_rdmsr(&b->model, behind_the_last[i].msr, &v), behind_the_last[i].result);
        assert_int_equal(ds_model_wrmsr(&b->model, behind_the_last[i].msr, 0), behind_the_last[i].result);
    }
    ds_bench_init(b, ds_model_preset("lunarlake"), NULL, 320, 320); /* as many as the model can have */
    assert_int_equal(ds_model_rdmsr(&b->model, IA32_A_PMC0 + DS_MODEL_GP_MAX, &v), -ENOENT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_A_PMC0 + DS_MODEL_GP_MAX, 0), -ENOENT);
    ds_bench_init(b, ds_bench_skylake(), NULL, 320, 320);
    assert_int_equal(ds_model_rdmsr(&b->model, MSR_PERF_METRICS, &v), -EFAULT);
    assert_int_equal(ds_model_rdmsr(&b->model, IA32_A_PMC0 + 4, &v), -EFAULT);
}

static void counter_writes(void **state)
{
    (void)state;
    ds_bench_init(b, ds_bench_icelake(), NULL, 320, 320);
    ds_bench_write(b, IA32_PMC0, UINT64_C(0x12345678FFFFFFFE)); /* upper half ignored, lower half sign-extended */
    assert_int_equal(PMC(b, 0), MINUS(2));
    ds_bench_write(b, IA32_PMC0, UINT64_C(0xFFFFFFFF7FFFFFFF));
    assert_int_equal(PMC(b, 0), 0x7FFFFFFF);
    ds_bench_write(b, IA32_A_PMC0 + 1, UINT64_C(0x123456789ABC));
    assert_int_equal(PMC(b, 1), UINT64_C(0x123456789ABC));
    ds_bench_write(b, IA32_PERF_GLOBAL_STATUS_SET, OVF_BUF);
    ds_bench_write(b, IA32_PERF_GLOBAL_STATUS_SET, 2);
    assert_int_equal(STATUS(b), OVF_BUF | 2);
    ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, 2);
    assert_int_equal(STATUS(b), OVF_BUF);
    ds_bench_write(b, IA32_MISC_ENABLE, 0x1804); /* the UNAVAIL bits and bit 7 do not change */
    assert_int_equal(ds_bench_read(b, IA32_MISC_ENABLE), IA32_MISC_ENABLE_PERFMON | 4);
}

static void in_use(void **state) /* what is programmed, whether it counts or not */
{
    (void)state;
    uint64_t value;
    ds_bench_init(b, ds_bench_of_format(2), NULL, 320, 320);
    assert_int_equal(ds_model_rdmsr(&b->model, IA32_PERF_GLOBAL_INUSE, &value), -EFAULT); /* version 3 */

    ds_bench_init(b, ds_bench_icelake(), NULL, 320, 320);
    assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_INUSE), 0);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 1, INSTRUCTIONS);
    ds_bench_write(b, IA32_PERFEVTSEL0 + 2, 0x4100); /* no event select */
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, 0x2010);
    assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_INUSE), 1 << 1 | DS_BIT(33) | DS_BIT(35));
    static const struct {
        uint32_t msr;
        uint64_t value, used;
    } rows[] = {
        {IA32_PERFEVTSEL0, IA32_PERFEVTSEL_INT, DS_BIT(63)},
        {IA32_FIXED_CTR_CTRL, 8, DS_BIT(63)},
        {IA32_PEBS_ENABLE, 4, DS_BIT(63)},
    };
    ds_bench_init(b, ds_bench_icelake(), NULL, 320, 320);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ds_bench_write(b, rows[i].msr, rows[i].value);
        assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_INUSE), rows[i].used);
        ds_bench_write(b, rows[i].msr, 0);
        assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_INUSE), 0);
    }
}

/* ---- presets ----------------------------------------------------------------------------------------------------- */

/* One value in each counter, which reads of its number give, and no others. */
static void rdpmc(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        unsigned gp, fixed, metrics; /* fixed: bit by bit */
    } rows[] = {{"penryn", 2, 7, false},      {"skylake", 4, 7, false},       {"icelake", 8, 0xF, true},
                {"lunarlake", 10, 0xF, true}, {"pantherlake", 10, 0xF, true}, {"clearwaterforest", 8, 0x77, false}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        uint64_t value = 0;
        ds_bench_init(b, ds_model_preset(rows[r].preset), NULL, 4096, 4096);
        for (unsigned i = 0; i < rows[r].gp; i++)
            ds_bench_write(b, IA32_PMC0 + i, 0x100 + i);
        for (uint32_t set = rows[r].fixed; set; set &= set - 1)
            ds_bench_write(b, IA32_FIXED_CTR0 + (unsigned)__builtin_ctz(set),
                           UINT64_C(0xFE00000200) + (unsigned)__builtin_ctz(set));
        if (rows[r].metrics)
            ds_bench_write(b, MSR_PERF_METRICS, 0x300);
        for (unsigned i = 0; i < 16; i++) {
            assert_int_equal(ds_model_rdpmc(&b->model, i, &value), i < rows[r].gp ? 0 : -EFAULT);
            assert_true(i >= rows[r].gp || value == 0x100 + i);
            assert_int_equal(ds_model_rdpmc(&b->model, RDPMC_FIXED | i, &value), rows[r].fixed >> i & 1 ? 0 : -EFAULT);
            assert_true(!(rows[r].fixed >> i & 1) || value == UINT64_C(0xFE00000200) + i);
            assert_int_equal(ds_model_rdpmc(&b->model, RDPMC_METRICS | i, &value),
                             rows[r].metrics && i == 0 ? 0 : -EFAULT);
            assert_true(!rows[r].metrics || i || value == 0x300);
            assert_int_equal(ds_model_rdpmc(&b->model, RDPMC_FIXED | RDPMC_METRICS | i, &value), -EFAULT);
            assert_int_equal(ds_model_rdpmc(&b->model, DS_BIT(31) | i, &value), -EFAULT);
        }
    }
}

static void presets(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t model, cpuid_0ah_eax, cpuid_0ah_edx;
        uint64_t capabilities, global_ctrl;
        uint32_t record; /* its bytes, without groups */
    } rows[PRESETS] = {
        {"penryn", 0x17, 0x07280202, 0x503, 0x00C2, 0x3, 144},
        {"nehalem", 0x1A, 0x07300403, 0x603, 0x01C3, 0xF, 176},
        {"sandybridge", 0x2A, 0x07300403, 0x603, 0x21C3, 0xF, 176},
        {"haswell", 0x3C, 0x07300403, 0x603, 0x22C4, 0xF, 192},
        {"skylake", 0x5E, 0x07300404, 0x603, 0x23C5, 0xF, 200},
        {"icelake", 0x7E, 0x08300805, 0x8604, 0xE4C5, 0xFF, 32},
        {"sapphirerapids", 0x8F, 0x08300805, 0x8604, 0xE4FF, 0xFF, 32},
        {"arrowlake", 0xC6, 0x08300A05, 0x8604, 0x2E5FF, 0x3FF, 32},
        {"lunarlake", 0xBD, 0x08300A05, 0x8604, 0x2E6FF, 0x3FF, 32},
        {"pantherlake", 0xCC, 0x08300A06, 0x8604, 0x2AFFF, 0x3FF, 64},
        {"clearwaterforest", 0xDD, 0x0D300806, 0x8603, 0x22FFF, 0xFF, 64},
    };
    assert_null(ds_model_preset_after(preset_at(PRESETS - 1)));
    for (size_t i = 0; i < PRESETS; i++) {
        const struct ds_model_preset *p = ds_model_preset(rows[i].name);
        uint32_t r[4];
        assert_ptr_equal(p, preset_at(i));
        assert_true(p->gp_counters <= DS_MODEL_GP_MAX);
        ds_bench_init(b, p, NULL, 1024, 1024);
        ds_model_cpuid(&b->model, 0, 0, r);
        assert_int_equal(r[0], i < 4 ? 0x0A : i < 6 ? 0x16 : i < 7 ? 0x1C : 0x23);
        assert_memory_equal(&r[1], "GenuntelineI", 12); /* EBX, ECX, EDX */
        ds_model_cpuid(&b->model, 1, 0, r);
        assert_int_equal(r[0] >> 8 & 15, 6); /* family */
        assert_int_equal((r[0] >> 12 & 0xF0) | (r[0] >> 4 & 15), rows[i].model);
        assert_int_equal(r[2], CPUID_01H_ECX_DTES64 | CPUID_01H_ECX_DS_CPL | CPUID_01H_ECX_PDCM);
        assert_int_equal(r[3], CPUID_01H_EDX_DS);
        ds_model_cpuid(&b->model, 0x0A, 0, r);
        assert_int_equal(r[0], rows[i].cpuid_0ah_eax);
        assert_int_equal(r[1], i == 10 ? 0xD8 : 0x58); /* neither caches nor mispredicted branches; Darkmont no slots */
        assert_int_equal(r[2], p->perfmon_version < 5 ? 0 : i == 10 ? 0x77 : 0xF);
        assert_int_equal(r[3], rows[i].cpuid_0ah_edx);
        ds_model_cpuid(&b->model, 7, 0, r); /* architectural LBR, from Sapphire Rapids on */
        assert_true(r[0] == (i >= 7) && !r[1] && !r[2]);
        const bool hybrid = i >= 7 && i < 10;
        assert_int_equal(r[3], (i < 6 ? 0 : CPUID_07H_EDX_ARCH_LBR) | (hybrid ? CPUID_07H_EDX_HYBRID : 0));
        ds_model_cpuid(&b->model, 0x1A, 0, r);
        assert_int_equal(r[0], hybrid ? CPUID_1AH_EAX_CORE << 24 | (i == 9 ? 4 : 3) : 0);
        assert_true(!r[1] && !r[2] && !r[3]);
        ds_model_cpuid(&b->model, 0x1C, 0, r);
        assert_true(r[0] == (i < 6 ? 0 : 0x0B) && r[1] == (i < 6 ? 0 : 7) && r[2] == (i < 7 ? 0 : 0xF0000) && !r[3]);
        ds_model_cpuid(&b->model, 0x80000000, 0, r);
        assert_int_equal(r[0] | r[1] | r[2] | r[3], 0);
        assert_int_equal(ds_bench_read(b, IA32_PERF_CAPABILITIES), rows[i].capabilities);
        assert_int_equal(ds_bench_read(b, IA32_MISC_ENABLE), /* fast strings, performance monitoring, PEBS_UNAVAIL */
                         p->format == DS_FORMAT_ARCH ? 0x1081 : 0x81);
        ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(2), MINUS(5)); /* the reload is cut to the counter's width */
        ds_bench_step(b, p->pdist & 1 ? 2 : 3, 0);
        assert_int_equal(ds_bench_index(b), rows[i].record);
        assert_int_equal(PMC(b, 0), -UINT64_C(5) & (DS_BIT(p->width) - 1));
        struct ds_model fresh, reused = b->model; /* RESET leaves nothing of what was */
        memset(&fresh, 0, sizeof fresh);
        ds_model_init(&fresh, p, NULL, &b->model.host);
        ds_model_init(&reused, p, NULL, &b->model.host);
        assert_memory_equal(&fresh, &reused, sizeof fresh);
        assert_int_equal(fresh.lvtpc, 0x10000);
        assert_int_equal(fresh.global_ctrl, rows[i].global_ctrl);
    }
    assert_null(ds_model_preset("pentium"));
}

/* CPUID.07H.1 and 23H: of the Debug Store's PEBS on hybrids alone, and each kind of core tells of its own counters.
 * With architectural PEBS: test_model_arch.c. */
static void cpuid_of_hybrids(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        bool efficient;
        uint32_t ext, subleaves, gp, fixed, events;
    } rows[] = {
        {"sapphirerapids", false, 0, 0, 0, 0, 0},           {"arrowlake", false, 0x100, 0xB, 0x3FF, 0xF, 0xA7},
        {"lunarlake", false, 0x100, 0xB, 0x3FF, 0xF, 0xA7}, {"arrowlake", true, 0x100, 0xB, 0xFF, 0x77, 0x27},
        {"lunarlake", true, 0x100, 0xB, 0xFF, 0x77, 0x27},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ds_model_preset preset = *ds_model_preset(rows[i].preset);
        uint32_t r[4];
        if (rows[i].efficient)
            assert_true(ds_model_efficient(ds_model_preset(rows[i].preset), &preset));
        ds_bench_init(b, &preset, NULL, 1024, 1024);
        ds_model_cpuid(&b->model, 7, 1, r);
        assert_true(r[0] == rows[i].ext && !r[1] && !r[2] && !r[3]);
        for (uint32_t leaf = 0; leaf < 6; leaf++) {
            ds_model_cpuid(&b->model, 0x23, leaf, r);
            assert_int_equal(r[0], leaf == 0   ? rows[i].subleaves
                                   : leaf == 1 ? rows[i].gp
                                   : leaf == 3 ? rows[i].events
                                               : 0);
            const uint32_t umask2 = leaf == 0 && rows[i].ext ? 1 : 0;
            assert_true(r[1] == (leaf == 1 ? rows[i].fixed : umask2) && !r[2] && !r[3]);
        }
    }
}

/* What the processor's kinds of cores have in common, and in what they differ. */
static void efficient_cores(void **state)
{
    (void)state;
    static const struct {
        uint64_t code;
        uint8_t event;
    } counted[] = {
        /* clang-format off */
        {0x00C0, DS_MODEL_INSTRUCTION}, {0x00C2, DS_MODEL_INSTRUCTION}, {0x00C4, DS_MODEL_BRANCH},
        {0x7EC4, DS_MODEL_BRANCH_CONDITIONAL}, {0x7FC4, DS_MODEL_CONDITIONAL_NOT_TAKEN},
        {0xFEC4, DS_MODEL_CONDITIONAL_TAKEN}, {0x80C4, DS_MODEL_ANY_TAKEN}, {0xC0C4, DS_MODEL_BRANCH_TAKEN},
        {0xDFC4, DS_MODEL_NEAR_DIRECT_JUMP}, {0xEFC4, DS_MODEL_NEAR_INDIRECT_JUMP}, {0xEBC4, DS_MODEL_NEAR_INDIRECT},
        {0xF9C4, DS_MODEL_NEAR_CALL}, {0xFBC4, DS_MODEL_NEAR_INDIRECT_CALL}, {0xFDC4, DS_MODEL_NEAR_DIRECT_CALL},
        {0xF7C4, DS_MODEL_NEAR_RETURN}, {0xBFC4, DS_MODEL_FAR_BRANCH}, {0x81D0, DS_MODEL_LOAD},
        {0x82D0, DS_MODEL_STORE}, {0x11C4, DS_MODEL_EVENTS /* none */}, {0x20C4, DS_MODEL_EVENTS},
        {0x02C4, DS_MODEL_EVENTS},
        /* clang-format on */
    };
    static const char *const hybrid[] = {"arrowlake", "lunarlake"}; /* Panther Lake's: test_model_arch.c */
    struct ds_model_preset core;
    assert_false(ds_model_efficient(ds_model_preset("sapphirerapids"), &core));
    for (size_t h = 0; h < 2; h++) {
        const struct ds_model_preset *big = ds_model_preset(hybrid[h]);
        uint32_t r[4];
        assert_true(ds_model_efficient(big, &core));
        ds_bench_init(b, &core, NULL, 1024, 1024);
        ds_model_cpuid(&b->model, 0x0A, 0, r);
        assert_true(r[0] == 0x07300805 && r[1] == 0x58 && r[2] == 0x77 && r[3] == 0x8603);
        ds_model_cpuid(&b->model, 0x1A, 0, r);
        assert_int_equal(r[0], 0x20000003);
        /* All but that there are no metrics, which an operating system has to ask each kind for. */
        uint64_t capabilities = ds_bench_read(b, IA32_PERF_CAPABILITIES);
        ds_bench_init(b, big, NULL, 1024, 1024);
        assert_true((capabilities ^ ds_bench_read(b, IA32_PERF_CAPABILITIES)) == IA32_PERF_CAPABILITIES_PERF_METRICS);
        for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
            for (unsigned event = 0; event < DS_MODEL_EVENTS; event++) {
                ds_bench_init(b, &core, NULL, 1024, 1024);
                ds_bench_write(b, IA32_PERFEVTSEL0 + 7, counted[i].code | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS);
                ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, DS_BIT(7));
                ds_bench_step(b, 5, DS_BIT(event));
                const bool counts = event == counted[i].event;
                assert_int_equal(PMC(b, 7), counted[i].event == DS_MODEL_INSTRUCTION ? 5 : counts);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(general_protection),
        cmocka_unit_test(no_debug_store),
        cmocka_unit_test(reads),
        cmocka_unit_test(counter_writes),
        cmocka_unit_test(in_use),
        cmocka_unit_test(rdpmc),
        cmocka_unit_test(presets),
        cmocka_unit_test(cpuid_of_hybrids),
        cmocka_unit_test(efficient_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
