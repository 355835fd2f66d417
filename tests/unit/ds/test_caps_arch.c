/* SPDX-License-Identifier: MIT */
/* Detection of architectural PEBS, and what is said about it. */
#include <stdbool.h>
#include <string.h>

#include "ds/in_use/in_use.h"
#include "ds/lbr_layout.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_fake.h"

static struct ds_fake fake;
static struct ds_caps caps;

/* The whole table, then what a processor may lack of it. */
static void tables(void **state)
{
    (void)state;
    static const char *const processor[] = {
        "CPUID.00H vendor = 756e6547 ok: GenuineIntel",
        "CPUID.01H:EAX family and model = 0 ok: no list of its events here: the architectural ones only",
        "CPUID.23H:EAX subleaves[5:4] = 3 ok: architectural PEBS: subleaves 4 and 5 describe it",
        "CPUID.01H:EDX.DS[21] = 1 ok: the Debug Store exists: for BTS alone",
        "CPUID.01H:ECX.DTES64[2] = 1 ok: 64-bit layout in every mode",
        "CPUID.01H:ECX.DS_CPL[4] = 1 ok: BTS can be limited by ring",
        "CPUID.0AH:EAX version[7:0] = 6 ok: IA32_PERF_GLOBAL_CTRL and _STATUS exist",
        "CPUID.0AH:EAX counters[15:8] = 8 ok: general-purpose counters",
        "CPUID.0AH:EDX counters[4:0] = 4 ok: fixed counters",
        "IA32_MISC_ENABLE.PERFMON[7] = 1 ok: performance monitoring is on",
        "IA32_MISC_ENABLE.BTS_UNAVAIL[11] = 0 ok: BTS is there",
        "IA32_MISC_ENABLE.PEBS_UNAVAIL[12] = 1 ok: no PEBS in the Debug Store: it is architectural",
        "CPUID.01H:ECX.PDCM[15] = 1 ok: IA32_PERF_CAPABILITIES can be read",
        "IA32_PERF_CAPABILITIES.PEBS_FMT[11:8] = f ok: architectural PEBS",
        "IA32_PERF_CAPABILITIES.PEBS_BASELINE[14] = 0 ok: no meaning here: each counter has its own groups",
        "IA32_PERF_CAPABILITIES.PEBS_TRAP[6] = 0 ok: a record's RIP is where execution continues",
        "IA32_PERF_CAPABILITIES.FW_WRITE[13] = 1 ok: counters are written at full width",
        "IA32_PERF_CAPABILITIES.PEBS_TIMING_INFO[17] = 0 ok: no retire latency in records",
        "IA32_PERF_CAPABILITIES.LBR_FMT[5:0] = 3f ok: branch history by IA32_LBR_CTL (CPUID.07H:EDX.ARCH_LBR)",
        "CPUID.07H.1:EAX.ARCH_PERFMON_EXT[8] = 1 ok: CPUID.23H counts",
        "CPUID.23H.1:EAX, EBX counters = f000000ff ok: all counters, fixed ones from bit 32 on",
        "CPUID.23H.2:EAX, EBX reloaded = 3000000fc ok: counters with auto counter reload, which set-up turns off",
        "CPUID.23H.4:EBX groups = 60020378 ok: groups of records, where a counter's CFG_C has them in [63:32]",
        "CPUID.23H.5:EAX, ECX PEBS = f000000ff ok: counters with PEBS",
        "CPUID.23H.5:EBX, EDX PDIST = 100000003 ok: counters with precise distribution",
        "counters in use = 7000000ff no: enabled before us: PEBS leaves them alone without ds.force=1",
        "IA32_DS_AREA in use = fffffe0000001000 no: already set, or PEBS or BTS is on: left alone without ds.force=1",
        "IA32_PEBS_BASE in use = 12340004 no: already set, or architectural PEBS is on: left alone without ds.force=1",
        "CPUID.01H:ECX hypervisor[31] = 0 ok: no hypervisor shows itself",
        NULL,
    };
    ds_fake_init_arch(&fake);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    ds_fake_whole_table(&caps, processor);
    assert_true(caps.pebs && caps.bts && caps.instead && !caps.baseline);
    assert_true(caps.pebs_counters == UINT64_C(0xF000000FF) && caps.pdist_counters == UINT64_C(0x100000003));
    assert_true(caps.acr_counters == UINT64_C(0x3000000FC));
    assert_true(caps.arch_groups == UINT64_C(0x6002037800000000));
    assert_int_equal(caps.area_bytes, 0x60);
    assert_int_equal(fake.logged, 0);
    assert_string_equal(caps.reason, "the processor has architectural PEBS");
    assert_string_equal(caps.bts_reason, "the processor has BTS, in the Debug Store");

    fake.leaf[1][3] &= ~CPUID_01H_EDX_DS; /* it does without a Debug Store, BTS does not */
    ds_fake_remove(&fake, IA32_DS_AREA);
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value &= ~(uint64_t)IA32_MISC_ENABLE_PEBS_UNAVAIL;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs && !caps.bts && caps.in_use[0] && !caps.area_in_use);
    assert_string_equal(caps.bts_reason, "CPUID.01H:EDX.DS is 0: this processor, real or emulated, has no Debug Store");
    assert_string_equal(ds_fake_test(&caps, "DS[21]")->verdict,
                        "no Debug Store, so no BTS; architectural PEBS needs none");
    assert_string_equal(ds_fake_test(&caps, "PEBS_UNAVAIL")->verdict, "0, which says nothing about architectural PEBS");
}

/* CPUID.23H and IA32_PERF_CAPABILITIES have to agree, and the masks with one another. */
static void refused(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    fake.leaf[0][0] = 0x23;
    fake.leaf[0x23][0] = 0x3B;
    ds_fake_refused(&fake, &caps, "PEBS_FMT is not 15: the two disagree");
    assert_true(caps.bts && !caps.instead);
    fake.leaf[1][2] &= ~CPUID_01H_ECX_PDCM;
    ds_fake_refused(&fake, &caps, "PEBS_FMT is not 15: the two disagree");
    ds_fake_init_arch(&fake);
    fake.leaf[0x23][0] = 0x0F; /* only the format says it */
    ds_fake_refused(&fake, &caps, "CPUID.23H has no subleaves 4 and 5: the two disagree");
    assert_true(caps.bts);
    fake.leaf[1][3] &= ~CPUID_01H_EDX_DS; /* neither this nor BTS: and why */
    ds_fake_refused(&fake, &caps, "CPUID.23H has no subleaves 4 and 5: the two disagree");
    assert_false(caps.bts);
    assert_non_null(strstr(caps.bts_reason, "CPUID.01H:EDX.DS is 0"));
    ds_fake_init_arch(&fake);
    fake.leaf[0][0] = 0x1C;
    ds_fake_refused(&fake, &caps, "CPUID.23H has no subleaves 4 and 5: the two disagree");
    ds_fake_init_arch(&fake);
    ds_fake_remove(&fake, IA32_PERF_CAPABILITIES);
    ds_fake_refused(&fake, &caps, "IA32_PERF_CAPABILITIES cannot be read");
    ds_fake_init_arch(&fake);
    fake.leaf_7_1[0] = 0;
    ds_fake_refused(&fake, &caps,
                    "CPUID.07H.1:EAX.ARCH_PERFMON_EXT is 0, so CPUID.23H is not valid: there is no PEBS to "
                    "rely on");
    for (unsigned bad = 0; bad < 5; bad++) {
        static const char *const why[] = {"counters with PEBS that are not among those of CPUID.23H.1",
                                          "with precise distribution that are not among those of CPUID.23H.1",
                                          "counters with PEBS that are not among those of CPUID.23H.1",
                                          "with precise distribution that are not among those of CPUID.23H.1",
                                          "no counter with PEBS that CPUID.0AH has"};
        ds_fake_init_arch(&fake);
        if (bad < 4)
            fake.subleaf_23h[5][bad] |= 1u << 20; /* EAX PEBS, EBX PDIST, ECX and EDX the same of fixed ones */
        else
            fake.subleaf_23h[5][0] = fake.subleaf_23h[5][2] = 0;
        ds_fake_refused(&fake, &caps, why[bad]);
        assert_true(caps.bts);
    }
}

/* Darkmont's fixed counters 4 to 6 lie behind a gap: CPUID.0AH counts those before it. And a performance core's masks
 * are its own: each CPU is asked. */
static void counters(void **state)
{
    (void)state;
    ds_fake_init_arch(&fake);
    fake.leaf[0x0A][3] = 48u << 5 | 3;
    fake.subleaf_23h[1][1] = fake.subleaf_23h[5][2] = 0x77;
    fake.subleaf_23h[5][3] = 0x11;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs_counters == UINT64_C(0x7000000FF) && caps.pdist_counters == UINT64_C(0x100000003));
    assert_int_equal(caps.fixed_counters, 3);
    fake.leaf[0x23][0] = 0x3B; /* no auto counter reload */
    fake.subleaf_23h[5][0] = 0xF0;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs_counters == UINT64_C(0x7000000F0) && caps.pdist_counters == UINT64_C(0x100000000));
    assert_true(caps.acr_counters == 0 && !ds_fake_find_test(&caps, "reloaded"));
}

/* Firmware that uses it: left alone, unless told otherwise. */
static void in_use(void **state)
{
    (void)state;
    static const struct {
        uint32_t msr;
        uint64_t value;
        bool pebs, bts;
        const char *names;
    } rows[] = {
        {IA32_DEBUGCTL, 0, true, true, ""},
        {IA32_PEBS_BASE, 0x12340004, false, true, "IA32_PEBS_BASE=0x12340004 in use, perhaps by firmware"},
        {IA32_PEBS_INDEX, IA32_PEBS_INDEX_EN, false, true, "architectural PEBS in use, perhaps by firmware"},
        {IA32_PEBS_INDEX, 0x40, true, true, ""},
        {IA32_PMC_GP0_CFG_C + 4 * 7, IA32_PMC_CFG_C_EN, false, true, "architectural PEBS in use, perhaps by firmware"},
        {IA32_PMC_FX0_CFG_C, IA32_PMC_CFG_C_EN, false, true, "architectural PEBS in use, perhaps by firmware"},
        {IA32_PMC_FX0_CFG_C, IA32_PMC_CFG_C_CNTR_ALLOW, true, true, ""},
        {IA32_PERFEVTSEL0, IA32_PERFEVTSEL_EN, false, true, "PMC0 in use, perhaps by firmware"},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_BTS, false, false, "IA32_DS_AREA=0x0 in use, perhaps by firmware"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ds_fake_init_arch(&fake);
        ds_fake_reset(&fake);
        ds_fake_find(&fake, rows[i].msr)->value = rows[i].value;
        assert_int_equal(ds_detect(&fake.machine, &caps), 0);
        ds_leave_alone(&caps);
        assert_int_equal(caps.pebs, rows[i].pebs);
        assert_int_equal(caps.bts, rows[i].bts);
        if (strncmp(caps.in_use, rows[i].names, strlen(rows[i].names)) != 0 || !caps.in_use[0] != !rows[i].names[0])
            fail_msg("row %zu: '%s'", i, caps.in_use);
        assert_int_equal(fake.logged, 0);
    }
    ds_fake_init_arch(&fake); /* all there may be: the longest sentence, whole */
    fake.leaf[0x0A][0] = 7u << 24 | 48u << 16 | 10u << 8 | 6;
    fake.leaf[0x0A][3] = 48u << 5 | DS_FIXED_MAX;
    ds_fake_add(&fake, IA32_PERFEVTSEL0 + 8, IA32_PERFEVTSEL_EN);
    ds_fake_add(&fake, IA32_PERFEVTSEL0 + 9, IA32_PERFEVTSEL_EN);
    ds_fake_find(&fake, IA32_FIXED_CTR_CTRL)->value = UINT64_C(0x33333333);
    ds_fake_find(&fake, IA32_PEBS_BASE)->value = UINT64_C(0xFFFFFFFFFF004);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    ds_leave_alone(&caps);
    const char *end = strstr(caps.reason, "FIXED_CTR7 IA32_DS_AREA=0x");
    assert_non_null(end);
    assert_non_null(
        strstr(end, " IA32_PEBS_BASE=0xffffffffff004 in use, perhaps by firmware: ds.force=1 takes it anyway"));
    assert_true(caps.tests < DS_TESTS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(refused),
        cmocka_unit_test(counters),
        cmocka_unit_test(in_use),
    };
    return cmocka_run_group_tests_name("caps_arch", tests, NULL, NULL);
}
