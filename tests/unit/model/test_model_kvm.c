/* SPDX-License-Identifier: MIT */
/* What is left of a processor for a guest of Linux' KVM: CPUID, capabilities, and each MSR that KVM refuses. The
 * expected values are those of arch/x86/kvm/vmx/pmu_intel.c, by hand. */
#include <string.h>

#include "ds/lbr_layout.h"
#include "ds/model/variant/variant.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

static struct ds_bench bench, *const b = &bench;
static struct ds_model_preset guest;

static void begin(const char *name)
{
    guest = *ds_model_preset(name);
    assert_int_equal(ds_model_kvm_guest(&guest), 0);
    ds_bench_init(b, &guest, NULL, 320, 320);
}

static void what_cpuid_shows(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t signature, ds;
        uint64_t capabilities;
        uint32_t counters, fixed;
    } rows[] = {
        /* DS and DTES64; the format with PEBS_TRAP and PEBS_ARCH_REG, no baseline, no metrics; history of Haswell to
         * Ice Lake, not the architectural one */
        {"penryn", 0x10676, 0, 0x2000, 0x07280202, 0x8503},         {"haswell", 0x306C3, 0, 0x2004, 0x07300402, 0x8603},
        {"skylake", 0x506E3, 0, 0x2005, 0x07300402, 0x8603},        {"icelake", 0x606A6, 1, 0x24C5, 0x07300802, 0x8603},
        {"sapphirerapids", 0x806F8, 1, 0x24C0, 0x07300802, 0x8603},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t r[4];
        begin(rows[i].name);
        ds_model_cpuid(&b->model, 1, 0, r);
        assert_int_equal(r[0], rows[i].signature);
        assert_int_equal(r[2], CPUID_01H_ECX_HYPERVISOR | CPUID_01H_ECX_PDCM |
                                   (rows[i].ds ? CPUID_01H_ECX_DTES64 : 0)); /* nobody has DS_CPL */
        assert_int_equal(r[3], rows[i].ds ? CPUID_01H_EDX_DS : 0);
        ds_model_cpuid(&b->model, 0x0A, 0, r);
        assert_int_equal(r[0], rows[i].counters);
        assert_int_equal(r[3], rows[i].fixed);
        ds_model_cpuid(&b->model, 0x40000000, 0, r);
        assert_int_equal(r[0], 0x40000001);
        assert_memory_equal(&r[1], "KVMKVMKVM\0\0\0", 12);
        ds_model_cpuid(&b->model, 7, 0, r);
        assert_int_equal(r[3], 0);
        assert_int_equal(ds_bench_read(b, IA32_PERF_CAPABILITIES), rows[i].capabilities);
        assert_int_equal(ds_bench_read(b, IA32_MISC_ENABLE), 1); /* QEMU's: neither bit 7 nor 11 nor 12 */
        assert_int_equal(b->model.counters >> DS_COUNTER_FIXED, 7);
    }
    guest = *ds_model_preset("arrowlake");
    assert_int_equal(ds_model_kvm_guest(&guest), -ENODEV);
    ds_bench_init(b, ds_model_preset("icelake"), NULL, 320, 320); /* and a processor names nobody */
    uint32_t r[4];
    ds_model_cpuid(&b->model, 0x40000000, 0, r);
    assert_int_equal(r[0] | r[1] | r[2] | r[3], 0);
    ds_model_cpuid(&b->model, 1, 0, r);
    assert_false(r[2] & CPUID_01H_ECX_HYPERVISOR);
}

static void registers_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        uint32_t msr;
    } rows[] = {
        {"icelake", MSR_PEBS_DATA_CFG},
        {"icelake", MSR_PERF_METRICS},
        {"icelake", MSR_PEBS_LD_LAT},
        {"icelake", MSR_PEBS_FRONTEND},
        {"icelake", IA32_PERF_GLOBAL_STATUS_SET},
        {"icelake", IA32_PERF_GLOBAL_INUSE},
        {"icelake", IA32_FIXED_CTR0 + 3},
        {"sapphirerapids", MSR_LASTBRANCH_TOS},
        {"sapphirerapids", MSR_LBR_SELECT},
        {"sapphirerapids", IA32_LBR_CTL},
        {"sapphirerapids", IA32_LBR_DEPTH},
        {"sapphirerapids", IA32_LBR_0_FROM_IP},
        {"sapphirerapids", MSR_LASTBRANCH_0_FROM_IP},
        {"skylake", IA32_PEBS_ENABLE},
        {"skylake", IA32_DS_AREA},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t value;
        begin(rows[i].preset);
        assert_int_equal(ds_model_rdmsr(&b->model, rows[i].msr, &value), -EFAULT);
        assert_int_equal(ds_model_wrmsr(&b->model, rows[i].msr, 0), -EFAULT);
    }
}

static void bits_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        uint32_t msr;
        uint64_t value, after; /* UINT64_MAX: #GP */
    } rows[] = {
        {"icelake", IA32_PEBS_ENABLE, 0xFF, 0xFF},
        {"icelake", IA32_PEBS_ENABLE, 0x100, UINT64_MAX},
        {"icelake", IA32_PEBS_ENABLE, DS_BIT(32), UINT64_MAX},
        {"icelake", IA32_PERF_GLOBAL_CTRL, UINT64_C(0x7000000FF), UINT64_C(0x7000000FF)},
        {"icelake", IA32_PERF_GLOBAL_CTRL, DS_BIT(35), UINT64_MAX},
        {"icelake", IA32_PERF_GLOBAL_CTRL, DS_BIT(48), UINT64_MAX},
        {"icelake", IA32_PERF_GLOBAL_OVF_CTRL, UINT64_C(0xC0000007000000FF), 0},
        {"icelake", IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(58), UINT64_MAX},
        {"icelake", IA32_PERF_GLOBAL_OVF_CTRL, DS_BIT(61), UINT64_MAX},
        {"icelake", IA32_FIXED_CTR_CTRL, 0xBBB, 0xBBB},
        {"icelake", IA32_FIXED_CTR_CTRL, 0x4, UINT64_MAX},
        {"icelake", IA32_FIXED_CTR_CTRL, 0x1000, UINT64_MAX},
        {"icelake", IA32_FIXED_CTR_CTRL, DS_BIT(32), UINT64_MAX},
        {"icelake", IA32_PERFEVTSEL0, 0xFFDFFFFF, 0xFFDFFFFF},
        {"icelake", IA32_PERFEVTSEL0, DS_BIT(21), UINT64_MAX},
        {"icelake", IA32_PERFEVTSEL0, DS_BIT(34), UINT64_MAX},
        {"icelake", IA32_DEBUGCTL, 0x801, 0x801}, /* history, and its freezing */
        {"icelake", IA32_DEBUGCTL, 0x803, 0x801}, /* BTF is dropped */
        {"icelake", IA32_DEBUGCTL, IA32_DEBUGCTL_TR, UINT64_MAX},
        {"icelake", IA32_DEBUGCTL, IA32_DEBUGCTL_BTS, UINT64_MAX},
        {"icelake", IA32_DEBUGCTL, IA32_DEBUGCTL_BTINT, UINT64_MAX},
        {"icelake", IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI, UINT64_MAX},
        {"sapphirerapids", IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | IA32_DEBUGCTL_BTF, 0}, /* both are dropped */
        {"sapphirerapids", IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI, UINT64_MAX},
        {"icelake", IA32_MISC_ENABLE, 0, 0},
        {"icelake", IA32_MISC_ENABLE, 0x81, 1}, /* PERFMON is ignored, the other two are not */
        {"icelake", IA32_MISC_ENABLE, IA32_MISC_ENABLE_BTS_UNAVAIL, UINT64_MAX},
        {"icelake", IA32_MISC_ENABLE, IA32_MISC_ENABLE_PEBS_UNAVAIL, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin(rows[i].preset);
        const bool refused = rows[i].after == UINT64_MAX;
        const uint64_t before = ds_bench_read(b, rows[i].msr);
        assert_int_equal(ds_model_wrmsr(&b->model, rows[i].msr, rows[i].value), refused ? -EFAULT : 0);
        assert_true(ds_bench_read(b, rows[i].msr) == (refused ? before
                                                      : rows[i].msr == IA32_MISC_ENABLE
                                                          ? (rows[i].after & ~UINT64_C(0x80))
                                                          : rows[i].after));
    }
}

/* Its records are basic ones, reloaded from the reset values, and the threshold raises a PMI. */
static void records(void **state)
{
    (void)state;
    begin("sapphirerapids");
    ds_bench_pebs_counter(b, 1, 0xC0, -UINT64_C(2) & (DS_BIT(48) - 1), -UINT64_C(5));
    ds_bench_step(b, 3, 0);
    assert_int_equal(ds_bench_index(b), sizeof(struct ds_pebs_basic));
    assert_int_equal(b->model.value[1], -UINT64_C(5) & (DS_BIT(48) - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cpuid_shows),
        cmocka_unit_test(registers_that_are_refused),
        cmocka_unit_test(bits_that_are_refused),
        cmocka_unit_test(records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
