/* SPDX-License-Identifier: MIT */
#include "tests/unit/support/ds_fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/lbr_layout.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

struct ds_fake_msr *ds_fake_find(struct ds_fake *fake, uint32_t msr)
{
    for (unsigned i = 0; i < fake->msrs; i++)
        if (fake->msr[i].msr == msr)
            return &fake->msr[i];
    return NULL;
}

uint64_t ds_fake_value(struct ds_fake *fake, uint32_t msr)
{
    const struct ds_fake_msr *m = ds_fake_find(fake, msr);
    if (!m)
        abort();
    return m->value;
}

void ds_fake_add(struct ds_fake *fake, uint32_t msr, uint64_t value)
{
    if (ds_fake_find(fake, msr) || fake->msrs == DS_FAKE_MSRS)
        abort();
    fake->msr[fake->msrs++] = (struct ds_fake_msr){.msr = msr, .value = value};
}

void ds_fake_remove(struct ds_fake *fake, uint32_t msr)
{
    struct ds_fake_msr *m = ds_fake_find(fake, msr);
    *m = fake->msr[--fake->msrs];
}

static void fake_cpuid(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    struct ds_fake *fake = context;
    memset(out, 0, 16);
    if (leaf == 1 && ds_fake_find(fake, IA32_BIOS_SIGN_ID))
        ds_fake_find(fake, IA32_BIOS_SIGN_ID)->value = fake->microcode;
    if (leaf == CPUID_HYPERVISOR)
        memcpy(out, fake->hypervisor, 16);
    if (leaf < 0x24 && subleaf == 0)
        memcpy(out, fake->leaf[leaf], 16);
    if (leaf == 7 && subleaf == 1)
        memcpy(out, fake->leaf_7_1, 16);
    if (leaf == 0x23 && subleaf && subleaf < 6)
        memcpy(out, fake->subleaf_23h[subleaf], 16);
}

static int fault(struct ds_fake *fake, uint32_t msr, bool write, uint64_t value)
{
    fake->faulted.msr = msr;
    fake->faulted.write = write;
    fake->faulted.value = value;
    return -EFAULT;
}

static int fake_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    struct ds_fake *fake = context;
    struct ds_fake_msr *m = ds_fake_find(fake, msr);
    if (++fake->accesses == fake->fault_at || !m)
        return fault(fake, msr, false, 0);
    *value = m->value;
    return 0;
}

static int fake_wrmsr(void *context, uint32_t msr, uint64_t value)
{
    struct ds_fake *fake = context;
    struct ds_fake_msr *m = ds_fake_find(fake, msr);
    if (++fake->accesses == fake->fault_at || !m || value & m->refuses || msr == IA32_PERF_GLOBAL_STATUS)
        return fault(fake, msr, true, value);
    if (fake->logged < DS_FAKE_LOG) {
        fake->log[fake->logged].msr = msr;
        fake->log[fake->logged++].value = value;
    }
    if (m->dropped)
        return 0;
    if (msr == IA32_PERF_GLOBAL_OVF_CTRL)
        ds_fake_find(fake, IA32_PERF_GLOBAL_STATUS)->value &= ~value;
    else
        m->value = value;
    return 0;
}

static uint32_t fake_lvtpc_read(void *context)
{
    return (uint32_t)ds_fake_value(context, DS_FAKE_LVTPC);
}

static void fake_lvtpc_write(void *context, uint32_t value)
{
    struct ds_fake *fake = context;
    fake->log[fake->logged].msr = DS_FAKE_LVTPC;
    fake->log[fake->logged++].value = value;
    ds_fake_find(fake, DS_FAKE_LVTPC)->value = value;
}

void ds_fake_init(struct ds_fake *fake, bool baseline)
{
    unsigned gp = baseline ? 8 : 4, fixed = baseline ? 4 : 3;
    memset(fake, 0, sizeof *fake);
    fake->machine = (struct ds_machine){.backend = "fake",
                                        .cpuid = fake_cpuid,
                                        .rdmsr = fake_rdmsr,
                                        .wrmsr = fake_wrmsr,
                                        .lvtpc_read = fake_lvtpc_read,
                                        .lvtpc_write = fake_lvtpc_write,
                                        .context = fake};
    fake->leaf[0][0] = 0x1B;
    memcpy(&fake->leaf[0][1], "GenuntelineI", 12); /* as EBX, ECX, EDX hold it */
    fake->leaf[1][2] = CPUID_01H_ECX_DTES64 | CPUID_01H_ECX_DS_CPL | CPUID_01H_ECX_PDCM;
    fake->leaf[1][3] = CPUID_01H_EDX_DS;
    fake->leaf[0x0A][0] = 7u << 24 | 48u << 16 | gp << 8 | (baseline ? 5 : 4);
    fake->leaf[0x0A][3] = 48u << 5 | fixed;
    ds_fake_add(fake, IA32_MISC_ENABLE, IA32_MISC_ENABLE_PERFMON);
    ds_fake_add(fake, IA32_PERF_CAPABILITIES,
                IA32_PERF_CAPABILITIES_PEBS_TRAP | IA32_PERF_CAPABILITIES_FW_WRITE |
                    (baseline ? IA32_PERF_CAPABILITIES_PEBS_BASELINE | 4u << 8 | 5 : 3u << 8));
    for (unsigned i = 0; i < gp; i++) {
        ds_fake_add(fake, IA32_PMC0 + i, 0x100 + i);
        ds_fake_add(fake, IA32_A_PMC0 + i, 0x100 + i);
        ds_fake_add(fake, IA32_PERFEVTSEL0 + i, 0x4300C0 + i);
    }
    for (unsigned i = 0; i < fixed; i++)
        ds_fake_add(fake, IA32_FIXED_CTR0 + i, 0x200 + i);
    ds_fake_add(fake, IA32_FIXED_CTR_CTRL, 0x333);
    ds_fake_add(fake, IA32_PERF_GLOBAL_STATUS, 0);
    ds_fake_add(fake, IA32_PERF_GLOBAL_CTRL, 0xF);
    ds_fake_add(fake, IA32_PERF_GLOBAL_OVF_CTRL, 0);
    ds_fake_add(fake, IA32_PEBS_ENABLE, 1);
    ds_fake_add(fake, IA32_DEBUGCTL, 0);
    ds_fake_add(fake, IA32_DS_AREA, UINT64_C(0xFFFFFE0000001000));
    ds_fake_add(fake, DS_FAKE_LVTPC, LVTPC_RESET);
    if (baseline) {
        ds_fake_add(fake, MSR_PEBS_DATA_CFG, 1);
        ds_fake_add(fake, MSR_LBR_SELECT, 0x1C5);
    }
}

#define RELOADED (UINT64_C(0xFC) | UINT64_C(3) << DS_COUNTER_FIXED)

static void add_arch_msrs(struct ds_fake *fake)
{
    for (unsigned c = 0; c < DS_COUNTER_FIXED + 4; c = c == 7 ? DS_COUNTER_FIXED : c + 1) {
        ds_fake_add(fake, ds_arch_msr(c, IA32_PMC_GP0_CFG_C, IA32_PMC_FX0_CFG_C), IA32_PMC_CFG_C_EN | 0x1000 | c);
        if (RELOADED >> c & 1)
            ds_fake_add(fake, ds_arch_msr(c, IA32_PMC_GP0_CFG_B, IA32_PMC_FX0_CFG_B), 4);
    }
    ds_fake_add(fake, IA32_PEBS_BASE, 0x12340000 | 4);
    ds_fake_add(fake, IA32_PEBS_INDEX, ia32_pebs_index(0x40, 0x8000) | IA32_PEBS_INDEX_EN);
    ds_fake_add(fake, IA32_LBR_CTL, 7);
    ds_fake_add(fake, IA32_LBR_DEPTH, 16);
}

void ds_fake_init_arch(struct ds_fake *fake)
{
    static const uint32_t subleaves[6][4] = {
        [1] = {0xFF, 0xF, 0, 0},
        [2] = {(uint32_t)RELOADED, (uint32_t)(RELOADED >> 32), 0xFC, 3},
        [4] = {0, (uint32_t)((IA32_PMC_CFG_C_CNTR_ALLOW | IA32_PMC_CFG_C_CNTR | IA32_PMC_CFG_C_LBR |
                              IA32_PMC_CFG_C_XMM | IA32_PMC_CFG_C_GPR | IA32_PMC_CFG_C_AUX) >>
                             32)},
        [5] = {0xFF, 3, 0xF, 1},
    };
    ds_fake_init(fake, true);
    fake->leaf[0][0] = 0x23;
    fake->leaf[7][3] = CPUID_07H_EDX_ARCH_LBR;
    fake->leaf[0x0A][0] = (fake->leaf[0x0A][0] & ~0xFFu) | 6;
    fake->leaf[0x1C][0] = 0x0B;
    fake->leaf[0x1C][1] = CPUID_1CH_EBX_CPL | CPUID_1CH_EBX_FILTER;
    fake->leaf[0x23][0] = 0x3F;
    fake->leaf_7_1[0] = CPUID_07H_1_EAX_PERFMON_EXT;
    memcpy(fake->subleaf_23h, subleaves, sizeof subleaves);
    ds_fake_find(fake, IA32_MISC_ENABLE)->value |= IA32_MISC_ENABLE_PEBS_UNAVAIL;
    ds_fake_find(fake, IA32_PERF_CAPABILITIES)->value =
        IA32_PERF_CAPABILITIES_LBR_FMT | IA32_PERF_CAPABILITIES_FW_WRITE | 0xFu << 8;
    ds_fake_remove(fake, IA32_PEBS_ENABLE);
    ds_fake_remove(fake, MSR_PEBS_DATA_CFG);
    ds_fake_remove(fake, MSR_LBR_SELECT);
    add_arch_msrs(fake);
}

void ds_fake_reset(struct ds_fake *fake)
{
    if (ds_fake_find(fake, IA32_PEBS_BASE)) {
        ds_fake_find(fake, IA32_PEBS_BASE)->value = ds_fake_find(fake, IA32_PEBS_INDEX)->value = 0;
        for (unsigned i = 0; i < fake->msrs; i++)
            if (fake->msr[i].msr >= IA32_PMC_GP0_CTR && fake->msr[i].msr < IA32_PMC_FX0_CTR + 0x40)
                fake->msr[i].value = 0;
    }
    for (unsigned i = 0; i < 8; i++)
        if (ds_fake_find(fake, IA32_PERFEVTSEL0 + i))
            ds_fake_find(fake, IA32_PERFEVTSEL0 + i)->value = 0;
    ds_fake_find(fake, IA32_FIXED_CTR_CTRL)->value = 0;
    if (ds_fake_find(fake, IA32_PEBS_ENABLE))
        ds_fake_find(fake, IA32_PEBS_ENABLE)->value = 0;
    ds_fake_find(fake, IA32_DS_AREA)->value = 0;
}

const struct ds_test *ds_fake_find_test(const struct ds_caps *caps, const char *name)
{
    for (uint32_t i = 0; i < caps->tests; i++)
        if (strstr(caps->test[i].name, name))
            return &caps->test[i];
    return NULL;
}

const struct ds_test *ds_fake_test(const struct ds_caps *caps, const char *name)
{
    const struct ds_test *t = ds_fake_find_test(caps, name);
    if (!t)
        fail_msg("no row %s", name);
    return t;
}

void ds_fake_whole_table(const struct ds_caps *caps, const char *const *expected)
{
    char line[200];
    for (uint32_t i = 0; i < caps->tests; i++) {
        const struct ds_test *t = &caps->test[i];
        snprintf(line, sizeof line, "%s = %llx %s%s: %s", t->name, (unsigned long long)t->value, t->ok ? "ok" : "no",
                 t->faulted ? " #GP" : "", t->verdict);
        assert_string_equal(line, expected[i] ? expected[i] : "");
    }
    assert_null(expected[caps->tests]);
}

void ds_fake_refused(struct ds_fake *fake, struct ds_caps *caps, const char *because)
{
    assert_int_equal(ds_detect(&fake->machine, caps), -ENODEV);
    assert_false(caps->pebs);
    if (!caps->reason || !strstr(caps->reason, because))
        fail_msg("reason '%s', not '%s'", caps->reason, because);
    assert_true(caps->tests <= DS_TESTS_MAX);
    for (uint32_t i = 0; i < caps->tests; i++)
        assert_non_null(caps->test[i].verdict);
}
