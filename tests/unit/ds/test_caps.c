/* SPDX-License-Identifier: MIT */
/* Detection: the machines one meets, and what is said about each. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ds/in_use/in_use.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_fake.h"

static struct ds_fake fake;
static struct ds_caps caps;

/* More counters than the form of the area has reset values for: the others have no PEBS. */
static void counters_without_a_reset_value(void **state)
{
    (void)state;
    for (unsigned format = 4; format <= 5; format++) {
        ds_fake_init(&fake, true);
        uint64_t *capabilities = &ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value;
        *capabilities = (*capabilities & ~UINT64_C(0xF00)) | format << 8;
        fake.leaf[0x0A][0] = 7u << 24 | 48u << 16 | 10u << 8 | 5;
        fake.leaf[0x0A][3] = 48u << 5 | 7;
        assert_int_equal(ds_detect(&fake.machine, &caps), 0);
        assert_true(caps.pebs_counters == (format == 4 ? UINT64_C(0xF000000FF) : UINT64_C(0x7F000003FF)));
    }
}

static void baseline(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs && caps.bts && caps.bts_cpl && caps.baseline && caps.full_width_writes);
    assert_int_equal(caps.format, 4);
    assert_int_equal(caps.gp_counters, 8);
    assert_int_equal(caps.fixed_counters, 4);
    assert_int_equal(caps.gp_width, 48);
    assert_int_equal(caps.area_bytes, 0xA0);
    assert_true(caps.pebs_counters == UINT64_C(0xF000000FF));
    assert_int_equal(fake.logged, 0);
    for (uint32_t i = 0; i < caps.tests; i++)
        assert_false(caps.test[i].faulted);
    static const char *const in_order[] = {"vendor",  "CPUID.23H",  "DS[21]",      "DTES64",
                                           "version", "PERFMON[7]", "BTS_UNAVAIL", "PEBS_UNAVAIL",
                                           "PDCM",    "PEBS_FMT",   "hypervisor"};
    for (size_t i = 1; i < sizeof in_order / sizeof in_order[0]; i++)
        assert_true(ds_fake_test(&caps, in_order[i - 1]) < ds_fake_test(&caps, in_order[i]));
}

/* What people read, line by line: a processor; a guest of KVM, which hides the baseline; QEMU's TCG; faults. */
static void tables(void **state)
{
    (void)state;
    static const char *const processor[] = {
        "CPUID.00H vendor = 756e6547 ok: GenuineIntel",
        "CPUID.01H:EAX family and model = 0 ok: no list of its events here: the architectural ones only",
        "CPUID.23H:EAX subleaves[5:4] = 0 ok: not architectural PEBS",
        "CPUID.01H:EDX.DS[21] = 1 ok: the Debug Store exists",
        "CPUID.01H:ECX.DTES64[2] = 1 ok: 64-bit layout in every mode",
        "CPUID.01H:ECX.DS_CPL[4] = 1 ok: BTS can be limited by ring",
        "CPUID.0AH:EAX version[7:0] = 5 ok: IA32_PERF_GLOBAL_CTRL and _STATUS exist",
        "CPUID.0AH:EAX counters[15:8] = 8 ok: general-purpose counters",
        "CPUID.0AH:EDX counters[4:0] = 4 ok: fixed counters",
        "IA32_MISC_ENABLE.PERFMON[7] = 1 ok: performance monitoring is on",
        "IA32_MISC_ENABLE.BTS_UNAVAIL[11] = 0 ok: BTS is there",
        "IA32_MISC_ENABLE.PEBS_UNAVAIL[12] = 0 ok: PEBS is there",
        "CPUID.01H:ECX.PDCM[15] = 1 ok: IA32_PERF_CAPABILITIES can be read",
        "IA32_PERF_CAPABILITIES.PEBS_FMT[11:8] = 4 ok: a record format this driver knows",
        "IA32_PERF_CAPABILITIES.PEBS_BASELINE[14] = 1 ok: adaptive records, PEBS on every counter",
        "IA32_PERF_CAPABILITIES.PEBS_TRAP[6] = 1 ok: a record's RIP is where execution continues",
        "IA32_PERF_CAPABILITIES.FW_WRITE[13] = 1 ok: counters are written at full width",
        "IA32_PERF_CAPABILITIES.PEBS_TIMING_INFO[17] = 0 ok: no retire latency in records",
        "IA32_PERF_CAPABILITIES.LBR_FMT[5:0] = 5 ok: branch history by IA32_DEBUGCTL.LBR",
        "counters in use = 7000000ff no: enabled before us: PEBS leaves them alone without ds.force=1",
        "IA32_DS_AREA in use = fffffe0000001000 no: already set, or PEBS or BTS is on: left alone without ds.force=1",
        "CPUID.01H:ECX hypervisor[31] = 0 ok: no hypervisor shows itself",
        NULL,
    };
    ds_fake_init(&fake, true);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    ds_fake_whole_table(&caps, processor);

    static const char *const guest[] = {
        "CPUID.00H vendor = 756e6547 ok: GenuineIntel",
        "CPUID.01H:EAX family and model = 0 ok: no list of its events here: the architectural ones only",
        "CPUID.23H:EAX subleaves[5:4] = 1 ok: not architectural PEBS",
        "CPUID.01H:EDX.DS[21] = 1 ok: the Debug Store exists",
        "CPUID.01H:ECX.DTES64[2] = 0 ok: 64-bit layout in long mode, as here",
        "CPUID.01H:ECX.DS_CPL[4] = 0 ok: BTS sees all rings",
        "CPUID.0AH:EAX version[7:0] = 2 ok: IA32_PERF_GLOBAL_CTRL and _STATUS exist",
        "CPUID.0AH:EAX counters[15:8] = 1 ok: general-purpose counters",
        "CPUID.0AH:EDX counters[4:0] = 0 ok: no fixed counters",
        "IA32_MISC_ENABLE.PERFMON[7] = 1 ok: performance monitoring is on",
        "IA32_MISC_ENABLE.BTS_UNAVAIL[11] = 1 no: BTS is not there",
        "IA32_MISC_ENABLE.PEBS_UNAVAIL[12] = 0 ok: PEBS is there",
        "CPUID.01H:ECX.PDCM[15] = 1 ok: IA32_PERF_CAPABILITIES can be read",
        "IA32_PERF_CAPABILITIES.PEBS_FMT[11:8] = 4 ok: a record format this driver knows",
        "IA32_PERF_CAPABILITIES.PEBS_BASELINE[14] = 0 ok: the hypervisor hides the groups: basic records of 32 bytes "
        "only",
        "IA32_PERF_CAPABILITIES.PEBS_TRAP[6] = 0 ok: a record's RIP is that of its instruction",
        "IA32_PERF_CAPABILITIES.FW_WRITE[13] = 0 ok: counters take 32 bits, sign-extended",
        "counters in use = 0 ok: none is enabled",
        "IA32_DS_AREA in use = 0 ok: free: it is 0, PEBS and BTS are off",
        "CPUID.01H:ECX hypervisor[31] = 1 ok: a hypervisor: what it shows is probed",
        "CPUID.40000000H:EBX signature = 4b4d564b ok: Linux' KVM: docs/how-to/kvm.md says what it hides",
        "IA32_PEBS_ENABLE read = 0 ok: it can be read",
        "IA32_DS_AREA write, read back = ffff800000001000 ok: it holds what was written",
        "MSR_PEBS_LD_LAT read = 0 no #GP: raises #GP: no loads by their latency",
        "MSR_PEBS_FRONTEND read = 0 no #GP: raises #GP: no frontend events",
        NULL,
    };
    ds_fake_init(&fake, true);
    fake.leaf[0][0] = 0x23;
    fake.leaf[1][2] = CPUID_01H_ECX_PDCM | CPUID_01H_ECX_HYPERVISOR;
    fake.leaf[0x0A][0] = 7u << 24 | 32u << 16 | 1u << 8 | 2;
    fake.leaf[0x0A][3] = 0;
    fake.leaf[0x23][0] = CPUID_23H_EAX_ARCH_PEBS_CAPS;
    memcpy(&fake.hypervisor[1], "KVMKVMKVM\0\0\0", 12);
    ds_fake_reset(&fake);
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value |= IA32_MISC_ENABLE_BTS_UNAVAIL;
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value = 4u << 8;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_int_equal(caps.pebs_counters, 1);
    ds_fake_whole_table(&caps, guest);

    static const char *const tcg[] = {
        "CPUID.00H vendor = 756e6547 ok: GenuineIntel",
        "CPUID.01H:EAX family and model = 0 ok: no list of its events here: the architectural ones only",
        "CPUID.23H:EAX subleaves[5:4] = 0 ok: not architectural PEBS",
        "CPUID.01H:EDX.DS[21] = 0 no: CPUID.01H:EDX.DS is 0: this processor, real or emulated, has no Debug Store",
        "CPUID.01H:ECX.DTES64[2] = 0 ok: 64-bit layout in long mode, as here",
        "CPUID.01H:ECX.DS_CPL[4] = 0 ok: BTS sees all rings",
        "CPUID.0AH:EAX version[7:0] = 0 no: architectural performance monitoring is older than version 2: no "
        "IA32_PERF_GLOBAL_CTRL",
        "CPUID.0AH:EAX counters[15:8] = 0 no: CPUID.0AH names no usable general-purpose counters",
        "CPUID.0AH:EDX counters[4:0] = 0 ok: no fixed counters",
        "IA32_MISC_ENABLE.PERFMON[7] = 0 no: IA32_MISC_ENABLE says that performance monitoring is off",
        "IA32_MISC_ENABLE.BTS_UNAVAIL[11] = 0 no: 0 would say that BTS is there, but without CPUID's DS bit it means "
        "nothing",
        "IA32_MISC_ENABLE.PEBS_UNAVAIL[12] = 0 no: 0 would say that PEBS is there, but without CPUID's DS bit it means "
        "nothing",
        "CPUID.01H:ECX.PDCM[15] = 0 no: no IA32_PERF_CAPABILITIES: the record format is 0",
        "CPUID.01H:ECX hypervisor[31] = 1 ok: a hypervisor: nothing is left to probe",
        "CPUID.40000000H:EBX signature = 54474354 ok: QEMU's TCG: emulated",
        NULL,
    };
    ds_fake_init(&fake, true);
    fake.leaf[1][2] = CPUID_01H_ECX_HYPERVISOR;
    fake.leaf[1][3] = 0;
    memset(fake.leaf[0x0A], 0, 16);
    memcpy(&fake.hypervisor[1], "TCGTCGTCGTCG", 12);
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value = 1;
    ds_fake_refused(&fake, &caps, "CPUID.01H:EDX.DS is 0");
    ds_fake_whole_table(&caps, tcg);

    static const char *const faults[] = {
        "CPUID.00H vendor = 756e6547 ok: GenuineIntel",
        "CPUID.01H:EAX family and model = 0 ok: no list of its events here: the architectural ones only",
        "CPUID.23H:EAX subleaves[5:4] = 0 ok: not architectural PEBS",
        "CPUID.01H:EDX.DS[21] = 1 ok: the Debug Store exists",
        "CPUID.01H:ECX.DTES64[2] = 1 ok: 64-bit layout in every mode",
        "CPUID.01H:ECX.DS_CPL[4] = 1 ok: BTS can be limited by ring",
        "CPUID.0AH:EAX version[7:0] = 4 ok: IA32_PERF_GLOBAL_CTRL and _STATUS exist",
        "CPUID.0AH:EAX counters[15:8] = 4 ok: general-purpose counters",
        "CPUID.0AH:EDX counters[4:0] = 3 ok: fixed counters",
        "IA32_MISC_ENABLE = 0 no #GP: reading it raises #GP",
        "CPUID.01H:ECX.PDCM[15] = 1 ok: IA32_PERF_CAPABILITIES can be read",
        "IA32_PERF_CAPABILITIES = 0 no #GP: reading it raises #GP although CPUID has PDCM",
        "IA32_DS_AREA in use = fffffe0000001000 no: already set, or PEBS or BTS is on: left alone without ds.force=1",
        "CPUID.01H:ECX hypervisor[31] = 0 ok: no hypervisor shows itself",
        NULL,
    };
    ds_fake_init(&fake, false);
    ds_fake_remove(&fake, IA32_MISC_ENABLE);
    ds_fake_remove(&fake, IA32_PERF_CAPABILITIES);
    ds_fake_refused(&fake, &caps, "IA32_MISC_ENABLE cannot be read");
    assert_false(caps.bts);
    ds_fake_whole_table(&caps, faults);
}

static void older_formats(void **state)
{
    (void)state;
    static const struct {
        unsigned format;
        uint64_t counters;
        uint32_t area;
    } cases[] = {
        {0, 1, 0x60}, {1, 0xF, 0x60}, {3, 0xF, 0x60}, {4, 0xF, 0xA0}, {5, 0xF, 0x1C0}, {6, 0xF, 0x1C0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ds_fake_init(&fake, false);
        ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value = cases[i].format << 8;
        assert_int_equal(ds_detect(&fake.machine, &caps), 0);
        assert_int_equal(caps.format, cases[i].format);
        assert_true(caps.pebs_counters == cases[i].counters);
        assert_int_equal(caps.area_bytes, cases[i].area);
        assert_false(caps.full_width_writes);
    }
}

static void no_pdcm_is_format_0(void **state)
{
    (void)state;
    ds_fake_init(&fake, false);
    fake.leaf[1][2] &= ~CPUID_01H_ECX_PDCM;
    ds_fake_remove(&fake, IA32_PERF_CAPABILITIES); /* reading it would raise #GP */
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_int_equal(caps.format, 0);
    assert_null(ds_fake_find_test(&caps, "PEBS_FMT"));
}

static void amd(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    memcpy(&fake.leaf[0][1], "AuthcAMDenti", 12);
    ds_fake_refused(&fake, &caps, "AMD has no Debug Store");
    assert_int_equal(fake.accesses, 0);
    memcpy(&fake.leaf[0][1], "CentaulsaurH", 12);
    ds_fake_refused(&fake, &caps, "not GenuineIntel");
    assert_string_equal(caps.bts_reason, caps.reason);
}

static void no_ds(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    fake.leaf[1][3] = 0;
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value |= IA32_MISC_ENABLE_BTS_UNAVAIL | IA32_MISC_ENABLE_PEBS_UNAVAIL;
    ds_fake_refused(&fake, &caps, "CPUID.01H:EDX.DS is 0");
    assert_false(caps.bts);
    assert_string_equal(caps.bts_reason, caps.reason);
}

/* QEMU's TCG with an Intel model: no DS, no leaf 0AH, yet MISC_ENABLE reads 1 and every MSR write is swallowed. */
static void tcg(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    fake.leaf[1][2] = CPUID_01H_ECX_HYPERVISOR;
    fake.leaf[1][3] = 0;
    memset(fake.leaf[0x0A], 0, 16);
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value = 1;
    ds_fake_find(&fake, IA32_DS_AREA)->dropped = true;
    ds_fake_refused(&fake, &caps, "CPUID.01H:EDX.DS is 0");
    assert_false(caps.bts);
    assert_int_equal(ds_fake_test(&caps, "PEBS_UNAVAIL")->value, 0); /* looks available */
    assert_false(ds_fake_test(&caps, "PEBS_UNAVAIL")->ok);           /* and is not believed */
    assert_false(ds_fake_test(&caps, "BTS_UNAVAIL")->ok);
    assert_int_equal(fake.logged, 0); /* nothing was written to find that out */
}

static void unavailable_bits(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value |= IA32_MISC_ENABLE_PEBS_UNAVAIL;
    ds_fake_refused(&fake, &caps, "PEBS_UNAVAIL says that PEBS is not there");
    assert_true(caps.bts);
    assert_string_equal(caps.bts_reason, "the processor has BTS");
    ds_fake_init(&fake, true);
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value |= IA32_MISC_ENABLE_BTS_UNAVAIL;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_false(caps.bts);
    assert_string_equal(caps.bts_reason, "IA32_MISC_ENABLE.BTS_UNAVAIL says that BTS is not there");
    ds_fake_init(&fake, true);
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value = 0;
    ds_fake_refused(&fake, &caps, "performance monitoring is off");
    assert_true(caps.bts); /* which counts nothing */
}

static void registers_that_fault(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    ds_fake_remove(&fake, IA32_MISC_ENABLE);
    ds_fake_refused(&fake, &caps, "IA32_MISC_ENABLE cannot be read");
    assert_string_equal(caps.bts_reason, "IA32_MISC_ENABLE cannot be read, so nothing says that BTS is there");
    assert_true(ds_fake_test(&caps, "IA32_MISC_ENABLE")->faulted);
    ds_fake_init(&fake, true);
    ds_fake_remove(&fake, IA32_PERF_CAPABILITIES);
    ds_fake_refused(&fake, &caps, "IA32_PERF_CAPABILITIES cannot be read");
    assert_true(ds_fake_test(&caps, "IA32_PERF_CAPABILITIES")->faulted);
    ds_fake_init(&fake, true);
    ds_fake_remove(&fake, IA32_PERFEVTSEL0 + 1);
    ds_fake_remove(&fake, IA32_DS_AREA);
    ds_detect(&fake.machine, &caps); /* what is unknown is not called unused */
    assert_true(ds_fake_test(&caps, "counters in use")->faulted);
    assert_true(ds_fake_test(&caps, "IA32_DS_AREA in use")->faulted);
}

static void old_perfmon(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    fake.leaf[0x0A][0] = (fake.leaf[0x0A][0] & ~0xFFu) | 1;
    ds_fake_refused(&fake, &caps, "older than version 2");
    ds_fake_init(&fake, true);
    fake.leaf[0][0] = 9; /* no leaf 0AH at all */
    ds_fake_refused(&fake, &caps, "older than version 2");
    ds_fake_init(&fake, true);
    fake.leaf[0x0A][0] &= ~0xFF00u;
    ds_fake_refused(&fake, &caps, "no usable general-purpose counters");
    for (unsigned n = DS_GP_MAX; n < 256; n++) { /* IA32_PERFEVTSEL0 + 26 would be IA32_MISC_ENABLE */
        ds_fake_init(&fake, true);
        fake.leaf[0x0A][0] = 7u << 24 | 48u << 16 | n << 8 | 5;
        if (n == DS_GP_MAX)
            assert_int_equal(ds_detect(&fake.machine, &caps), 0);
        else
            ds_fake_refused(&fake, &caps, "names more than 10 general-purpose counters");
        assert_int_equal(caps.gp_counters, n);
        assert_int_equal(fake.logged, 0);
    }
    for (unsigned width = 0; width < 256; width++) {
        ds_fake_init(&fake, true);
        fake.leaf[0x0A][3] = width << 5 | 4;
        if (width < 32 || width > 63)
            ds_fake_refused(&fake, &caps, "fixed counters of an unusable number or width");
        else
            assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    }
    ds_fake_init(&fake, true);
    fake.leaf[0x0A][3] = 48u << 5 | (DS_FIXED_MAX + 1);
    ds_fake_refused(&fake, &caps, "fixed counters of an unusable number or width");
    ds_fake_init(&fake, true);
    fake.leaf[0x0A][3] = 0; /* none at all will do */
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs_counters == 0xFF);
}

static void retire_latency(void **state)
{
    (void)state;
    for (unsigned has = 0; has < 2; has++) {
        ds_fake_init(&fake, true);
        ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value |= (uint64_t)has << 17;
        assert_int_equal(ds_detect(&fake.machine, &caps), 0);
        const struct ds_test *t = ds_fake_test(&caps, DS_TEST_TIMING);
        assert_int_equal(t->value, has);
        assert_string_equal(t->verdict, has ? "records have the retire latency" : "no retire latency in records");
    }
}

static void unknown_format(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value = 7u << 8;
    ds_fake_refused(&fake, &caps, "newer than this driver knows");
}

/* What was there before is named and left alone; what can be used beside it is. */
/* A performance core of a hybrid, whose CPUID.0AH tells of 6 and 3 counters; an efficient core has no others. */
static void in_use_but_hidden(void **state)
{
    static const struct {
        uint8_t core;
        uint32_t msr;
        uint64_t value, counters;
    } rows[] = {
        {CPUID_1AH_EAX_CORE, IA32_PERFEVTSEL0 + 6, IA32_PERFEVTSEL_EN, 1u << 6},
        {CPUID_1AH_EAX_CORE, IA32_PERFEVTSEL0 + 7, IA32_PERFEVTSEL_EN, 1u << 7},
        {CPUID_1AH_EAX_CORE, IA32_PERFEVTSEL0 + 7, 0x0300C0, 0}, /* EN is clear */
        {CPUID_1AH_EAX_CORE, IA32_FIXED_CTR_CTRL, 0x3000, DS_BIT(35)},
        {CPUID_1AH_EAX_CORE, IA32_DEBUGCTL, 0, 0},
        {CPUID_1AH_EAX_ATOM, IA32_PERFEVTSEL0 + 6, IA32_PERFEVTSEL_EN, 0},
        {CPUID_1AH_EAX_ATOM, IA32_FIXED_CTR_CTRL, 0x3000, 0},
        {0, IA32_PERFEVTSEL0 + 6, IA32_PERFEVTSEL_EN, 0}, /* no hybrid */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned there = 0; there < 2; there++) {
            ds_fake_init(&fake, true);
            ds_fake_reset(&fake);
            fake.leaf[0][0] = 0x20;
            fake.leaf[0x0A][0] = 5u | 6u << 8 | 48u << 16 | 7u << 24;
            fake.leaf[0x0A][3] = 3u | 48u << 5;
            fake.leaf[0x1A][0] = (uint32_t)rows[i].core << 24;
            ds_fake_find(&fake, rows[i].msr)->value = rows[i].value;
            if (!there) { /* a hypervisor's guest, say: nobody can use what is not there */
                ds_fake_remove(&fake, IA32_PERFEVTSEL0 + 6);
                ds_fake_remove(&fake, IA32_PERFEVTSEL0 + 7);
            }
            assert_int_equal(ds_detect(&fake.machine, &caps), 0);
            const uint64_t seen = there ? rows[i].counters : rows[i].counters & ~UINT64_C(0xC0);
            assert_true(caps.counters_in_use == seen);
            assert_true(!caps.in_use[0] == !seen);
            assert_false(ds_fake_test(&caps, "counters in use")->faulted);
        }
}

static void in_use(void **state)
{
    (void)state;
    static const struct {
        uint32_t msr;
        uint64_t value, counters;
        bool area, pebs, bts;
        const char *names;
    } rows[] = {
        {IA32_DEBUGCTL, 0, 0, false, true, true, ""},
        {IA32_PERFEVTSEL0 + 1, 0x4300C0, 2, false, false, true, "PMC1 in use, perhaps by firmware"},
        {IA32_PERFEVTSEL0 + 1, 0x0300C0, 0, false, true, true, ""}, /* EN is clear */
        {IA32_FIXED_CTR_CTRL, 0x20, DS_BIT(33), false, false, true, "FIXED_CTR1 in use, perhaps by firmware"},
        {IA32_FIXED_CTR_CTRL, 0x80, 0, false, true, true, ""}, /* only its PMI bit */
        {IA32_DS_AREA, 0x1000, 0, true, false, false, "IA32_DS_AREA=0x1000 in use, perhaps by firmware"},
        {IA32_PEBS_ENABLE, 1, 0, true, false, false, "IA32_DS_AREA=0x0 in use"},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_BTS, 0, true, false, false, "IA32_DS_AREA=0x0 in use"},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR, 0, false, true, true, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ds_fake_init(&fake, true);
        ds_fake_reset(&fake);
        ds_fake_find(&fake, rows[i].msr)->value = rows[i].value;
        assert_int_equal(ds_detect(&fake.machine, &caps), 0);
        assert_true(caps.pebs && caps.bts); /* they could be taken */
        assert_true(caps.counters_in_use == rows[i].counters && caps.area_in_use == rows[i].area);
        ds_leave_alone(&caps);
        assert_true(caps.pebs == rows[i].pebs && caps.bts == rows[i].bts);
        assert_non_null(strstr(caps.in_use, rows[i].names));
        if (!rows[i].pebs)
            assert_string_equal(caps.reason, caps.in_use);
        if (!rows[i].bts)
            assert_string_equal(caps.bts_reason, caps.in_use);
        assert_int_equal(fake.logged, 0);
    }
    ds_fake_init(&fake, true); /* all there is, then all there may be: the longest sentence, whole */
    fake.leaf[0x0A][0] = 7u << 24 | 48u << 16 | 10u << 8 | 5;
    ds_fake_add(&fake, IA32_PERFEVTSEL0 + 8, IA32_PERFEVTSEL_EN);
    ds_fake_add(&fake, IA32_PERFEVTSEL0 + 9, IA32_PERFEVTSEL_EN);
    ds_fake_find(&fake, IA32_FIXED_CTR_CTRL)->value = 0x3333;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    ds_leave_alone(&caps);
    assert_string_equal(caps.reason,
                        "PMC0 PMC1 PMC2 PMC3 PMC4 PMC5 PMC6 PMC7 PMC8 PMC9 FIXED_CTR0 FIXED_CTR1 FIXED_CTR2 "
                        "FIXED_CTR3 IA32_DS_AREA=0xfffffe0000001000 in use, perhaps by firmware: ds.force=1 takes it "
                        "anyway");
    fake.leaf[0x0A][3] = 48u << 5 | DS_FIXED_MAX;
    ds_fake_find(&fake, IA32_FIXED_CTR_CTRL)->value = UINT64_C(0x33333333);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.counters_in_use == UINT64_C(0xFF000003FF));
    assert_true(strlen(caps.in_use) < sizeof caps.in_use - 1);
    assert_non_null(strstr(caps.in_use, "FIXED_CTR7 IA32_DS_AREA=0xfffffe0000001000 in use, perhaps by firmware: "));
    assert_true(caps.tests < DS_TESTS_MAX);
    /* A processor that has none of it keeps its own reason. */
    fake.leaf[1][3] = 0;
    ds_fake_refused(&fake, &caps, "EDX.DS is 0");
    ds_leave_alone(&caps);
    assert_non_null(strstr(caps.reason, "EDX.DS is 0"));
    /* Nor are counters looked for where they are senseless; an area that BTS would need is. */
    ds_fake_init(&fake, true);
    fake.leaf[0x0A][3] = 48u << 5 | 17;
    ds_fake_refused(&fake, &caps, "fixed counters of an unusable number or width");
    assert_true(caps.bts && caps.area_in_use && !caps.counters_in_use);
    ds_leave_alone(&caps);
    assert_false(caps.bts);
    assert_non_null(strstr(caps.reason, "unusable number"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baseline),
        cmocka_unit_test(counters_without_a_reset_value),
        cmocka_unit_test(tables),
        cmocka_unit_test(older_formats),
        cmocka_unit_test(no_pdcm_is_format_0),
        cmocka_unit_test(amd),
        cmocka_unit_test(no_ds),
        cmocka_unit_test(tcg),
        cmocka_unit_test(unavailable_bits),
        cmocka_unit_test(registers_that_fault),
        cmocka_unit_test(old_perfmon),
        cmocka_unit_test(unknown_format),
        cmocka_unit_test(retire_latency),
        cmocka_unit_test(in_use),
        cmocka_unit_test(in_use_but_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
