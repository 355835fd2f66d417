/* SPDX-License-Identifier: MIT */
/* Architectural PEBS: CPUID, the registers and their other names, and which writes raise #GP. */
#include <stdbool.h>
#include <string.h>

#include "ds/model/variant/variant.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

#define GP_CTR(i)   (0x1900u + 4 * (i))
#define GP_CFG_A(i) (0x1901u + 4 * (i))
#define GP_CFG_B(i) (0x1902u + 4 * (i))
#define GP_CFG_C(i) (0x1903u + 4 * (i))
#define FX_CTR(i)   (0x1980u + 4 * (i))
#define FX_CFG_A(i) (0x1981u + 4 * (i))
#define FX_CFG_B(i) (0x1982u + 4 * (i))
#define FX_CFG_C(i) (0x1983u + 4 * (i))

static struct ds_bench bench, *b = &bench;

/* The kinds of core: "darkmont" is the efficient one beside Cougar Cove. */
static const struct ds_model_preset *core(const char *name)
{
    static struct ds_model_preset efficient;
    if (strcmp(name, "darkmont") != 0)
        return ds_model_preset(name);
    assert_true(ds_model_efficient(ds_model_preset("pantherlake"), &efficient));
    return &efficient;
}

static const struct ds_model_preset *init(const char *name, const struct ds_model_policy *policy)
{
    const struct ds_model_preset *preset = core(name);
    ds_bench_init(b, preset, policy, 4096, 4096);
    return preset;
}

/* ---- CPUID ------------------------------------------------------------------------------------------------------- */

static void assert_leaf(const char *name, uint32_t leaf, uint32_t subleaf, const uint32_t expected[4])
{
    uint32_t r[4];
    ds_model_cpuid(&b->model, leaf, subleaf, r);
    for (int i = 0; i < 4; i++)
        if (r[i] != expected[i])
            fail_msg("%s: CPUID.%xH.%u: register %d is %x, not %x", name, leaf, subleaf, i, r[i], expected[i]);
}

static void cpuid(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t leaf, subleaf, registers[4];
    } rows[] = {
        {"pantherlake", 0x07, 0, {1, 0, 0, CPUID_07H_EDX_ARCH_LBR | CPUID_07H_EDX_HYBRID}},
        {"pantherlake", 0x07, 1, {0x100, 0, 0, 0}},
        {"pantherlake", 0x07, 2, {0}},
        {"pantherlake", 0x0A, 0, {0x08300A06, 0x58, 0xF, 0x8604}},
        {"pantherlake", 0x1A, 0, {0x40000004, 0, 0, 0}},
        {"pantherlake", 0x1C, 0, {0x0B, 7, 0xF0000, 0}},
        {"pantherlake", 0x23, 0, {0x3F, 3, 8, 0}},
        {"pantherlake", 0x23, 1, {0x3FF, 0xF, 0, 0}},
        {"pantherlake", 0x23, 2, {0x3FC, 0xF, 0xFC, 3}},
        {"pantherlake", 0x23, 3, {0xA7, 0, 0, 0}},
        {"pantherlake", 0x23, 4, {0, 0x60020378, 0, 0}},
        {"pantherlake", 0x23, 5, {0x3FF, 3, 0xF, 1}},
        {"pantherlake", 0x23, 6, {0}},
        {"darkmont", 0x07, 0, {1, 0, 0, CPUID_07H_EDX_ARCH_LBR | CPUID_07H_EDX_HYBRID}},
        {"darkmont", 0x07, 1, {0x100, 0, 0, 0}},
        {"darkmont", 0x0A, 0, {0x0D300806, 0xD8, 0x77, 0x8603}},
        {"darkmont", 0x1A, 0, {0x20000004, 0, 0, 0}},
        {"darkmont", 0x23, 0, {0x3F, 3, 8, 0}},
        {"darkmont", 0x23, 1, {0xFF, 0x77, 0, 0}},
        {"darkmont", 0x23, 2, {0xFC, 7, 0xFC, 3}},
        {"darkmont", 0x23, 3, {0x1F27, 0, 0, 0}},
        {"darkmont", 0x23, 4, {0, 0x60020338, 0, 0}},
        {"darkmont", 0x23, 5, {0xFF, 3, 0x77, 1}},
        {"clearwaterforest", 0x07, 0, {1, 0, 0, CPUID_07H_EDX_ARCH_LBR}},
        {"clearwaterforest", 0x07, 1, {0x100, 0, 0, 0}},
        {"clearwaterforest", 0x0A, 0, {0x0D300806, 0xD8, 0x77, 0x8603}},
        {"clearwaterforest", 0x1A, 0, {0}},
        {"clearwaterforest", 0x1C, 0, {0x0B, 7, 0xF0000, 0}},
        {"clearwaterforest", 0x23, 0, {0x3F, 3, 8, 0}},
        {"clearwaterforest", 0x23, 1, {0xFF, 0x77, 0, 0}},
        {"clearwaterforest", 0x23, 2, {0xFC, 7, 0xFC, 3}},
        {"clearwaterforest", 0x23, 3, {0x1F27, 0, 0, 0}},
        {"clearwaterforest", 0x23, 4, {0, 0x60020338, 0, 0}},
        {"clearwaterforest", 0x23, 5, {0xFF, 3, 0x77, 1}},
        {"lunarlake", 0x23, 0, {0xB, 1, 0, 0}}, /* PEBS in the Debug Store: no more than before */
        {"lunarlake", 0x23, 2, {0}},
        {"lunarlake", 0x23, 4, {0}},
        {"lunarlake", 0x23, 5, {0}},
        {"sapphirerapids", 0x23, 0, {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        init(rows[i].name, NULL);
        assert_leaf(rows[i].name, rows[i].leaf, rows[i].subleaf, rows[i].registers);
    }
}

/* What Linux checks before it believes in architectural PEBS. */
static void consistent(void **state)
{
    (void)state;
    static const char *const names[] = {"pantherlake", "darkmont", "clearwaterforest"};
    for (size_t i = 0; i < 3; i++) {
        uint32_t counters[4], acr[4], pebs[4], version[4];
        init(names[i], NULL);
        const uint64_t capabilities = ds_bench_read(b, IA32_PERF_CAPABILITIES);
        ds_model_cpuid(&b->model, 0x0A, 0, version);
        ds_model_cpuid(&b->model, 0x23, 1, counters);
        ds_model_cpuid(&b->model, 0x23, 2, acr);
        ds_model_cpuid(&b->model, 0x23, 5, pebs);
        assert_int_equal(ia32_perf_capabilities_pebs_fmt(capabilities), 15);
        assert_int_equal(capabilities & IA32_PERF_CAPABILITIES_PEBS_BASELINE, 0);
        assert_true(capabilities & IA32_PERF_CAPABILITIES_FW_WRITE);
        assert_true(capabilities & IA32_PERF_CAPABILITIES_PEBS_TIMING);
        assert_int_equal(cpuid_0ah_eax_version(version[0]), 6);
        assert_int_equal(counters[0], (1u << cpuid_0ah_eax_gp_counters(version[0])) - 1);
        for (int fixed = 0; fixed < 2; fixed++) {
            assert_int_equal((pebs[2 * fixed] | acr[fixed] | acr[2 + fixed]) & ~counters[fixed], 0);
            assert_int_equal(pebs[2 * fixed + 1] & ~pebs[2 * fixed], 0);
        }
        assert_int_equal(ds_bench_read(b, IA32_MISC_ENABLE), 0x1081); /* BTS is there, the Debug Store's PEBS is not */
    }
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

/* One register by two names, whichever is written; the older write path takes 32 bits. */
static void other_names(void **state)
{
    (void)state;
    static const char *const names[] = {"pantherlake", "darkmont", "clearwaterforest"};
    for (size_t n = 0; n < 3; n++) {
        const struct ds_model_preset *p = init(names[n], NULL);
        for (uint32_t i = 0; i < p->gp_counters; i++) {
            ds_bench_write(b, GP_CTR(i), UINT64_C(0x8765432100) + i);
            assert_int_equal(ds_bench_read(b, IA32_A_PMC0 + i), UINT64_C(0x8765432100) + i);
            assert_int_equal(PMC(b, i), UINT64_C(0x8765432100) + i);
            ds_bench_write(b, IA32_PMC0 + i, UINT64_C(0x1FFFFFF00) + i);
            assert_true(ds_bench_read(b, GP_CTR(i)) == MINUS(0x100 - i));
            ds_bench_write(b, GP_CFG_A(i), 0x4300C0 + (i << 8));
            assert_int_equal(ds_bench_read(b, IA32_PERFEVTSEL0 + i), 0x4300C0 + (i << 8));
            ds_bench_write(b, IA32_PERFEVTSEL0 + i, 0x4300C4 + (i << 8));
            assert_int_equal(ds_bench_read(b, GP_CFG_A(i)), 0x4300C4 + (i << 8));
        }
        for (uint32_t i = 0; i < p->fixed_counters; i++) {
            ds_bench_write(b, FX_CTR(i), UINT64_C(0x1234567800) + i);
            assert_int_equal(ds_bench_read(b, IA32_FIXED_CTR0 + i), UINT64_C(0x1234567800) + i);
            ds_bench_write(b, IA32_FIXED_CTR0 + i, i);
            assert_int_equal(ds_bench_read(b, FX_CTR(i)), i);
        }
    }
}

/* Each keeps its own value. */
static void kept(void **state)
{
    (void)state;
    const struct ds_model_preset *p = init("pantherlake", NULL);
    for (int read = 0; read < 2; read++) {
        for (uint32_t i = 0; i < p->gp_counters + p->fixed_counters; i++) {
            const bool gp = i < p->gp_counters;
            const uint32_t j = gp ? i : i - p->gp_counters;
            const uint64_t c = DS_BIT(63) | DS_BIT(61) | (100 + i), a = DS_BIT(2 + i % 6);
            if (!read)
                ds_bench_write(b, gp ? GP_CFG_C(j) : FX_CFG_C(j), c);
            else
                assert_true(ds_bench_read(b, gp ? GP_CFG_C(j) : FX_CFG_C(j)) == c);
            if (gp && j < 2)
                continue;
            if (!read)
                ds_bench_write(b, gp ? GP_CFG_B(j) : FX_CFG_B(j), a);
            else
                assert_true(ds_bench_read(b, gp ? GP_CFG_B(j) : FX_CFG_B(j)) == a);
        }
        if (!read)
            ds_bench_write(b, IA32_PEBS_BASE, 0x12340004);
        assert_int_equal(ds_bench_read(b, IA32_PEBS_BASE), 0x12340004);
        if (!read)
            ds_bench_write(b, IA32_PEBS_INDEX, UINT64_C(0x0000F001800000E0));
        assert_true(ds_bench_read(b, IA32_PEBS_INDEX) == UINT64_C(0x0000F001800000E0));
    }
    struct ds_model fresh; /* RESET leaves nothing of it */
    ds_model_init(&fresh, p, NULL, &b->model.host);
    assert_true(!fresh.pebs_base && !fresh.pebs_index && !fresh.cfg_b[5] && !fresh.cfg_c[40] && !fresh.snapshot);
}

/* clang-format off */
static const struct {
    const char *preset;
    uint32_t msr;
    uint64_t legal, reserved; /* written whole; each bit of the second alone raises #GP. Both 0: there is no such MSR */
} rules[] = {
    {"pantherlake", IA32_PEBS_BASE, 0x000FFFFFFFFFF00F, 0xFFF0000000000FF0},
    {"pantherlake", IA32_PEBS_INDEX, 0x07FFFFF187FFFFF0, 0xF800000E7800000F},
    {"clearwaterforest", IA32_PEBS_INDEX, 0x07FFFFF187FFFFF0, 0xF800000E7800000F},
    /* CFG_C: V1 of KVM's mask, and what CPUID.23H.4 does not grant: metrics, other vector registers than XMM */
    {"pantherlake", GP_CFG_C(0), 0xE0020378FFFFFFFF, 0x1FFDFC8700000000},
    {"pantherlake", GP_CFG_C(9), 0xE0020378FFFFFFFF, 0x1FFDFC8700000000},
    {"pantherlake", FX_CFG_C(0), 0xE0020378FFFFFFFF, 0x1FFDFC8700000000},
    {"pantherlake", FX_CFG_C(3), 0xE0020378FFFFFFFF, 0x1FFDFC8700000000},
    {"darkmont", GP_CFG_C(7), 0xE0020338FFFFFFFF, 0x1FFDFCC700000000},
    {"clearwaterforest", FX_CFG_C(2), 0xE0020338FFFFFFFF, 0x1FFDFCC700000000},
    {"pantherlake", GP_CFG_B(2), 0x00010003000000FC, 0xFFFEFFFCFFFFFF03},
    {"pantherlake", GP_CFG_B(9), 0x00010003000000FC, 0xFFFEFFFCFFFFFF03},
    {"pantherlake", FX_CFG_B(3), 0x00010003000000FC, 0xFFFEFFFCFFFFFF03},
    {"clearwaterforest", GP_CFG_B(7), 0x00000003000000FC, 0xFFFFFFFCFFFFFF03}, /* no metrics to clear */
    {"pantherlake", GP_CFG_A(0), 0x0000FF18FFFFFFFF, 0xFFFF00E700000000}, /* UMASK2, EQ, EN_LBR_LOG */
    {"pantherlake", GP_CFG_A(3), 0x0000FF18FFFFFFFF, 0xFFFF00E700000000},
    {"pantherlake", GP_CFG_A(4), 0x0000FF10FFFFFFFF, 0xFFFF00EF00000000}, /* CPUID.1CH:ECX[19:16]: PMC0 to PMC3 alone */
    {"clearwaterforest", IA32_PERFEVTSEL0 + 7, 0x0000FF10FFFFFFFF, 0xFFFF00EF00000000},
    {"lunarlake", IA32_PERFEVTSEL0, 0x0000FF0CFFFFFFFF, 0xFFFF00F300000000},
    {"lunarlake", IA32_PERFEVTSEL0 + 9, 0x0000FF04FFFFFFFF, 0xFFFF00FB00000000},
    {"pantherlake", IA32_FIXED_CTR_CTRL, 0x000000000000FFFF, 0xFFFFFFFFFFFF0000}, /* bit 14: METRICS_CLEAR */
    {"clearwaterforest", IA32_FIXED_CTR_CTRL, 0x000000000FFF0FFF, 0xFFFFFFFFF000F000},
    {"pantherlake", GP_CTR(0), 0x0000FFFFFFFFFFFF, 0xFFFF000000000000},
    {"pantherlake", FX_CTR(3), 0x0000FFFFFFFFFFFF, 0xFFFF000000000000},
    {"pantherlake", IA32_PERF_GLOBAL_CTRL, 0x0001000F000003FF, 0xFFFEFFF0FFFFFC00},
    {"clearwaterforest", IA32_PERF_GLOBAL_CTRL, 0x00000077000000FF, 0xFFFFFF88FFFFFF00},
    {"pantherlake", IA32_PERF_GLOBAL_STATUS_SET, 0xFC41000F000003FF, 0x03BEFFF0FFFFFC00},
    {"pantherlake", IA32_PERF_GLOBAL_OVF_CTRL, 0xFC41000F000003FF, 0x03BEFFF0FFFFFC00},
    {"lunarlake", IA32_PERF_GLOBAL_OVF_CTRL, 0xFC01000F000003FF, 0x03FEFFF0FFFFFC00}, /* bit 54 is not there */
    /* PEBS of the Debug Store is gone */
    {"pantherlake", IA32_PEBS_ENABLE, 0, 0},
    {"pantherlake", MSR_PEBS_DATA_CFG, 0, 0},
    {"clearwaterforest", IA32_PEBS_ENABLE, 0, 0},
    {"clearwaterforest", MSR_PEBS_DATA_CFG, 0, 0},
    /* Counters that are not there, and CFG_B of those that nothing reloads, CFG_A of fixed ones */
    {"pantherlake", GP_CTR(10), 0, 0},
    {"pantherlake", GP_CFG_A(10), 0, 0},
    {"pantherlake", GP_CFG_C(10), 0, 0},
    {"pantherlake", GP_CFG_C(31), 0, 0},
    {"pantherlake", GP_CFG_B(0), 0, 0},
    {"pantherlake", GP_CFG_B(1), 0, 0},
    {"pantherlake", FX_CFG_A(0), 0, 0},
    {"pantherlake", FX_CFG_A(3), 0, 0},
    {"pantherlake", FX_CTR(4), 0, 0},
    {"pantherlake", FX_CFG_C(4), 0, 0},
    {"pantherlake", FX_CFG_C(15), 0, 0},
    {"pantherlake", FX_CFG_C(31), 0, 0},
    {"darkmont", GP_CFG_C(8), 0, 0},
    {"darkmont", FX_CFG_C(6), 0xE0020338FFFFFFFF, 0x1FFDFCC700000000},
    {"darkmont", FX_CFG_C(3), 0, 0},
    {"darkmont", FX_CFG_B(3), 0, 0},
    {"clearwaterforest", FX_CTR(3), 0, 0},
    {"clearwaterforest", FX_CFG_C(3), 0, 0},
    {"clearwaterforest", FX_CFG_C(7), 0, 0},
    {"clearwaterforest", MSR_PERF_METRICS, 0, 0},
};
/* clang-format on */

static void assert_kept(uint32_t msr, uint64_t value)
{
    uint64_t now;
    assert_int_equal(ds_model_rdmsr(&b->model, msr, &now), 0);
    if (msr != IA32_PERF_GLOBAL_STATUS_SET && msr != IA32_PERF_GLOBAL_OVF_CTRL && now != value)
        fail_msg("MSR %x: %llx, not %llx", msr, (unsigned long long)now, (unsigned long long)value);
}

static void general_protection(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const uint32_t msr = rules[i].msr;
        uint64_t value;
        init(rules[i].preset, NULL);
        if (!rules[i].legal) {
            assert_int_equal(ds_model_rdmsr(&b->model, msr, &value), -EFAULT);
            assert_int_equal(ds_model_wrmsr(&b->model, msr, 0), -EFAULT);
            continue;
        }
        assert_int_equal(rules[i].legal & rules[i].reserved, 0);
        assert_true((rules[i].legal | rules[i].reserved) == UINT64_MAX);
        ds_bench_write(b, msr, rules[i].legal);
        assert_kept(msr, rules[i].legal);
        for (unsigned bit = 0; bit < 64; bit++) {
            const int e = ds_model_wrmsr(&b->model, msr, DS_BIT(bit));
            if (e != (rules[i].reserved >> bit & 1 ? -EFAULT : 0))
                fail_msg("%s: MSR %x, bit %u: %d", rules[i].preset, msr, bit, e);
            assert_kept(msr, e ? rules[i].legal : DS_BIT(bit));
            ds_bench_write(b, msr, rules[i].legal);
        }
        init(rules[i].preset, &(struct ds_model_policy){.reserved_ignored = true});
        ds_bench_write(b, msr, UINT64_MAX);
        assert_kept(msr, rules[i].legal);
    }
}

/* Before version 6 the host decides about these MSRs, as it does about all that the model does not know. */
static void not_there_before(void **state)
{
    (void)state;
    static const char *const names[] = {"penryn", "skylake", "icelake", "lunarlake"};
    for (size_t i = 0; i < 4; i++) {
        uint64_t value;
        init(names[i], NULL);
        for (uint32_t msr = 0x18FF; msr <= 0x1A00; msr++) {
            assert_int_equal(ds_model_rdmsr(&b->model, msr, &value), -ENOENT);
            assert_int_equal(ds_model_wrmsr(&b->model, msr, 0), -ENOENT);
        }
        for (uint32_t msr = IA32_PEBS_BASE; msr <= IA32_PEBS_INDEX; msr++) {
            assert_int_equal(ds_model_rdmsr(&b->model, msr, &value), -ENOENT);
            assert_int_equal(ds_model_wrmsr(&b->model, msr, 0), -ENOENT);
        }
    }
    uint64_t value;
    init("pantherlake", NULL); /* what is beside the block there */
    assert_int_equal(ds_model_rdmsr(&b->model, 0x18FF, &value), -ENOENT);
    assert_int_equal(ds_model_rdmsr(&b->model, 0x1A00, &value), -ENOENT);
    assert_int_equal(ds_model_rdmsr(&b->model, 0x19FF, &value), -EFAULT);
}

/* ---- policies of IA32_PEBS_BASE ---------------------------------------------------------------------------------- */

static void base_and_size(void **state)
{
    (void)state;
    static const struct {
        bool aligned, wide;
        uint64_t value;
        int result;
    } rows[] = {
        {false, false, 0x12348004, 0},
        {true, false, 0x12348004, -EFAULT},
        {true, false, 0x12348003, 0},
        {true, false, 0x12340004, 0},
        {true, false, 0x12341000, 0},
        {true, false, 0x12341001, -EFAULT},
        {false, false, 0x1000F, 0},
        {false, false, 0x10010, -EFAULT},
        {false, true, 0x10010, 0},
        {false, true, 0x10FFF, 0},
        {true, true, 0x10010, -EFAULT},
        {true, true, 0x8000010, 0},
        {true, true, 0x8000FFF, 0},
        {true, false, 0x8000000F, 0},
        {true, false, 0x400000F, -EFAULT},
        {false, false, 0, 0},
        {true, false, UINT64_C(1) << 52, -EFAULT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ds_model_policy policy = {.arch_base_aligned = rows[i].aligned, .arch_size_wide = rows[i].wide};
        init("pantherlake", &policy);
        const uint64_t before = ds_bench_read(b, IA32_PEBS_BASE);
        const int e = ds_model_wrmsr(&b->model, IA32_PEBS_BASE, rows[i].value);
        if (e != rows[i].result)
            fail_msg("row %zu: %d", i, e);
        assert_int_equal(ds_bench_read(b, IA32_PEBS_BASE), e ? before : rows[i].value);
    }
    init("pantherlake", &(struct ds_model_policy){.arch_base_aligned = true, .reserved_ignored = true});
    ds_bench_write(b, IA32_PEBS_BASE, 0x12340FF4);
    assert_int_equal(ds_bench_read(b, IA32_PEBS_BASE), 0x12340004);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_PEBS_BASE, 0x12348FF4), -EFAULT); /* no bit of it is reserved */
}

/* ---- RDPMC ------------------------------------------------------------------------------------------------------- */

static void rdpmc(void **state)
{
    (void)state;
    const struct ds_model_preset *p = init("pantherlake", NULL);
    uint64_t value;
    ds_bench_write(b, MSR_PERF_METRICS, 0x300);
    for (unsigned c = 0; c < 14; c++) {
        ds_bench_write(b, c < 10 ? GP_CTR(c) : FX_CTR(c - 10), 0x100 + c);
        assert_int_equal(ds_model_rdpmc(&b->model, c < 10 ? c : RDPMC_FIXED | (c - 10), &value), 0);
        assert_int_equal(value, 0x100 + c);
    }
    assert_int_equal(ds_model_rdpmc(&b->model, RDPMC_METRICS, &value), 0);
    assert_int_equal(value, 0x300);
    assert_int_equal(ds_model_rdpmc(&b->model, RDPMC_FIXED | 4, &value), -EFAULT);
    assert_int_equal(p->gp_counters + p->fixed_counters, 14);
}

/* ---- a guest of KVM ---------------------------------------------------------------------------------------------- */

/* It has no PEBS, no Debug Store and no version 6; a hybrid gives it no counters at all. */
static void guest_of_kvm(void **state)
{
    (void)state;
    struct ds_model_preset guest = *ds_model_preset("pantherlake");
    uint32_t r[4];
    uint64_t value;
    assert_int_equal(ds_model_kvm_guest(&guest), -ENODEV);
    guest = *ds_model_preset("clearwaterforest");
    assert_int_equal(ds_model_kvm_guest(&guest), 0);
    ds_bench_init(b, &guest, NULL, 4096, 4096);
    ds_model_cpuid(&b->model, 1, 0, r);
    assert_int_equal(r[3] & CPUID_01H_EDX_DS, 0);
    ds_model_cpuid(&b->model, 7, 1, r);
    assert_int_equal(r[0], 0);
    ds_model_cpuid(&b->model, 0x0A, 0, r);
    assert_int_equal(cpuid_0ah_eax_version(r[0]), 2);
    for (uint32_t subleaf = 0; subleaf < 6; subleaf++)
        assert_leaf("guest", 0x23, subleaf, (const uint32_t[4]){0});
    assert_int_equal(ia32_perf_capabilities_pebs_fmt(ds_bench_read(b, IA32_PERF_CAPABILITIES)), 0);
    assert_int_equal(ds_model_rdmsr(&b->model, IA32_DS_AREA, &value), -EFAULT);
    assert_int_equal(ds_model_rdmsr(&b->model, IA32_PEBS_ENABLE, &value), -EFAULT);
    assert_int_equal(ds_model_rdmsr(&b->model, IA32_PEBS_BASE, &value), -ENOENT);
    assert_int_equal(ds_model_rdmsr(&b->model, GP_CTR(0), &value), -ENOENT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_PERFEVTSEL0, IA32_PERFEVTSEL_EQ), -EFAULT);
    assert_int_equal(ds_model_wrmsr(&b->model, IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(54)), -EFAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpuid),
        cmocka_unit_test(consistent),
        cmocka_unit_test(other_names),
        cmocka_unit_test(kept),
        cmocka_unit_test(general_protection),
        cmocka_unit_test(not_there_before),
        cmocka_unit_test(base_and_size),
        cmocka_unit_test(rdpmc),
        cmocka_unit_test(guest_of_kvm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
