/* SPDX-License-Identifier: MIT */
/* Detection beneath a hypervisor: what it shows is tried, and what it hides is found before set-up. */
#include <stdbool.h>
#include <string.h>

#include "ds/trial/trial.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_fake.h"

static struct ds_fake fake;
static struct ds_caps caps;

static void hypervisor(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    fake.leaf[1][2] |= CPUID_01H_ECX_HYPERVISOR;
    uint64_t before = ds_fake_value(&fake, IA32_DS_AREA);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0); /* the fake's firmware has left PEBS on */
    assert_string_equal(ds_fake_test(&caps, "read back")->verdict, "not tried: PEBS or BTS has been left on");
    assert_int_equal(fake.logged, 0);
    ds_fake_find(&fake, IA32_PEBS_ENABLE)->value = 0;
    ds_fake_find(&fake, IA32_DEBUGCTL)->value = IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_int_equal(fake.logged, 0);
    ds_fake_find(&fake, IA32_DEBUGCTL)->value = IA32_DEBUGCTL_TR;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(ds_fake_test(&caps, "IA32_DS_AREA write")->ok && ds_fake_test(&caps, "BTINT")->ok && caps.bts);
    assert_int_equal(fake.logged, 4);
    assert_true(ds_fake_value(&fake, IA32_DS_AREA) == before);
    assert_int_equal(ds_fake_value(&fake, IA32_DEBUGCTL), IA32_DEBUGCTL_TR);

    ds_fake_find(&fake, IA32_DS_AREA)->dropped = true; /* write swallowed, as VirtualBox does */
    ds_fake_refused(&fake, &caps, "does not keep what is written");
    ds_fake_remove(&fake, IA32_DS_AREA); /* #GP, as Bochs does */
    ds_fake_refused(&fake, &caps, "IA32_DS_AREA raises #GP");
    assert_true(ds_fake_test(&caps, "read back")->faulted);
    assert_false(caps.bts);
}

/* What KVM shows by way of QEMU, each of it once: docs/how-to/kvm.md. */
static void what_kvm_and_qemu_show(void **state)
{
    (void)state;
    ds_fake_init(&fake, true); /* nothing of IA32_MISC_ENABLE is set up: CPUID.0AH says that there are counters */
    ds_fake_reset(&fake);
    fake.leaf[1][2] |= CPUID_01H_ECX_HYPERVISOR;
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value = 1;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(ds_fake_test(&caps, "PERFMON[7]")->ok && caps.bts);
    fake.leaf[1][2] &= ~CPUID_01H_ECX_HYPERVISOR; /* on a processor it is believed */
    ds_fake_refused(&fake, &caps, "performance monitoring is off");
    fake.leaf[1][2] |= CPUID_01H_ECX_HYPERVISOR; /* and where there are no counters */
    fake.leaf[0x0A][0] = 0;
    ds_fake_refused(&fake, &caps, "older than version 2");
    assert_false(ds_fake_test(&caps, "PERFMON[7]")->ok);

    ds_fake_init(&fake, true); /* BTS that is refused: PEBS stays */
    ds_fake_reset(&fake);
    fake.leaf[1][2] |= CPUID_01H_ECX_HYPERVISOR;
    ds_fake_find(&fake, IA32_DEBUGCTL)->refuses = IA32_DEBUGCTL_BTINT;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs && !caps.bts && ds_fake_test(&caps, "BTINT")->faulted);
    assert_string_equal(caps.bts_reason, "the hypervisor refuses what IA32_DEBUGCTL takes for BTS");
    ds_fake_find(&fake, IA32_DEBUGCTL)->refuses = 0; /* or dropped */
    ds_fake_find(&fake, IA32_DEBUGCTL)->dropped = true;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs && !caps.bts && !ds_fake_test(&caps, "BTINT")->faulted);

    ds_fake_init(&fake, false); /* CPUID's bit without a format, as -cpu host has it without migratable=off */
    ds_fake_reset(&fake);
    fake.leaf[1][2] |= CPUID_01H_ECX_HYPERVISOR;
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value = IA32_PERF_CAPABILITIES_FW_WRITE;
    ds_fake_remove(&fake, IA32_PEBS_ENABLE);
    ds_fake_refused(&fake, &caps, "IA32_PEBS_ENABLE raises #GP: KVM and QEMU need -cpu host,pmu=on,migratable=off");
    assert_true(caps.bts);
    assert_null(ds_fake_find_test(&caps, "MSR_PEBS_LD_LAT"));

    ds_fake_init(&fake, true); /* registers of some events */
    ds_fake_reset(&fake);
    fake.leaf[1][2] |= CPUID_01H_ECX_HYPERVISOR;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.no_load_latency && caps.no_frontend);
    ds_fake_add(&fake, MSR_PEBS_LD_LAT, 0);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(!caps.no_load_latency && caps.no_frontend);
    ds_fake_add(&fake, MSR_PEBS_FRONTEND, 0);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_false(caps.no_load_latency || caps.no_frontend);
}

static void names_of_hypervisors(void **state)
{
    (void)state;
    uint32_t leaf[4] = {0};
    assert_string_equal(ds_hypervisor_name(leaf), "an unknown one");
    memcpy(&leaf[1], "XenVMMXenVMM", 12);
    assert_string_equal(ds_hypervisor_name(leaf), "Xen");
}

/* The area is BTS', too: it is probed for BTS alone, and what is found then is said of BTS. */
static void hypervisor_with_bts_alone(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    fake.leaf[1][2] |= CPUID_01H_ECX_HYPERVISOR;
    ds_fake_find(&fake, IA32_PEBS_ENABLE)->value = 0;
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value |= IA32_MISC_ENABLE_PEBS_UNAVAIL;
    ds_fake_refused(&fake, &caps, "PEBS_UNAVAIL");
    assert_true(caps.bts && ds_fake_test(&caps, "IA32_DS_AREA write")->ok && ds_fake_test(&caps, "BTINT")->ok);
    ds_fake_find(&fake, IA32_DS_AREA)->dropped = true;
    ds_fake_refused(&fake, &caps, "PEBS_UNAVAIL");
    assert_false(caps.bts);
    assert_non_null(strstr(caps.bts_reason, "does not keep what is written"));
    ds_fake_remove(&fake, IA32_DS_AREA);
    ds_fake_refused(&fake, &caps, "PEBS_UNAVAIL");
    assert_false(caps.bts);
    assert_non_null(strstr(caps.bts_reason, "IA32_DS_AREA raises #GP"));
    ds_fake_find(&fake, IA32_MISC_ENABLE)->value |= IA32_MISC_ENABLE_BTS_UNAVAIL;
    ds_fake_refused(&fake, &caps, "PEBS_UNAVAIL");
    assert_null(ds_fake_find_test(&caps, "read back"));
    assert_non_null(strstr(caps.bts_reason, "BTS_UNAVAIL"));
}

/* Architectural PEBS is probed by its own registers, the area for BTS alone: either may be missing. */
static void hypervisor_with_architectural_pebs(void **state)
{
    (void)state;
    static const char *const names[] = {"IA32_PEBS_BASE", "IA32_PEBS_INDEX"};
    static const uint32_t msrs[] = {IA32_PEBS_BASE, IA32_PEBS_INDEX};
    ds_fake_init_arch(&fake);
    fake.leaf[1][2] |= CPUID_01H_ECX_HYPERVISOR;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0); /* the fake's firmware has left PEBS on */
    assert_string_equal(ds_fake_test(&caps, "read back")->verdict, "not tried: PEBS or BTS has been left on");
    assert_int_equal(fake.logged, 0);
    ds_fake_find(&fake, IA32_PEBS_INDEX)->value = ia32_pebs_index(0x40, 0x8000);
    const struct ds_fake before = fake;
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs && caps.bts && caps.no_load_latency);
    assert_int_equal(ds_fake_test(&caps, "IA32_PEBS_BASE write")->value, 0x1000);
    assert_true(ds_fake_test(&caps, "IA32_PEBS_INDEX write")->value == UINT64_C(0x100000000000));
    assert_true(ds_fake_test(&caps, "IA32_DS_AREA write")->ok && ds_fake_test(&caps, "BTINT")->ok);
    for (unsigned i = 0; i < before.msrs; i++) /* each as it was */
        assert_true(fake.msr[i].value == before.msr[i].value);
    for (unsigned i = 0; i < 2; i++) {
        fake = before;
        fake.machine.context = &fake;
        ds_fake_find(&fake, msrs[i])->dropped = true;
        ds_fake_refused(&fake, &caps, "does not keep what is written");
        assert_non_null(strstr(caps.reason, names[i]));
        assert_true(caps.bts);
        ds_fake_remove(&fake, msrs[i]);
        ds_fake_refused(&fake, &caps, "raises #GP");
        assert_non_null(strstr(caps.reason, names[i]));
        assert_true(caps.bts);
    }
    fake = before;
    ds_fake_remove(&fake, IA32_DS_AREA); /* BTS alone needs it */
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs && !caps.bts);
    assert_non_null(strstr(caps.bts_reason, "IA32_DS_AREA raises #GP"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hypervisor),
        cmocka_unit_test(what_kvm_and_qemu_show),
        cmocka_unit_test(names_of_hypervisors),
        cmocka_unit_test(hypervisor_with_bts_alone),
        cmocka_unit_test(hypervisor_with_architectural_pebs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
