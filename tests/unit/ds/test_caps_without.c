// SPDX-License-Identifier: MIT
/* Detection and the plan in a driver that is linked without its wings, and the model without its own. */
#include <stdlib.h>

#include "ds/ds.h"
#include "ds/model/model.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_fake.h"

static struct ds_fake fake;
static struct ds_caps caps;

static void says_so(void **state)
{
    static const char why[] = "the processor has architectural PEBS, which this kernel is built without";
    (void)state;
    ds_fake_init_arch(&fake);
    ds_fake_refused(&fake, &caps, why);
    assert_true(caps.bts && !caps.instead);
    ds_fake_remove(&fake, IA32_DS_AREA);
    ds_fake_refused(&fake, &caps, why);
}

/* What disagrees is told first; and the Debug Store is what it was. */
static void knows_the_store(void **state)
{
    (void)state;
    ds_fake_init(&fake, true);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_true(caps.pebs && caps.adaptive);
    assert_false(ds_fake_test(&caps, "errata")->ok); /* are not known */
    assert_false(ds_fake_test(&caps, "LBR_FMT")->ok);
    assert_null(caps.history);
    ds_fake_find(&fake, IA32_PERF_CAPABILITIES)->value |= 15u << 8;
    ds_fake_refused(&fake, &caps, "CPUID.23H has no subleaves 4 and 5: the two disagree");
}

static void refuses_branch_history(void **state)
{
    (void)state;
    struct ds_config config = {.records = 4, .threshold = 1, .groups = MSR_PEBS_DATA_CFG_LBR};
    const struct ds_hooks hooks = {0};
    struct ds_cpu *ds = malloc(ds_cpu_bytes());
    char error[160] = "";
    ds_fake_init(&fake, true);
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:37", &config, error, sizeof error), 0);
    assert_int_equal(ds_cpu_init(ds, 3, &fake.machine, &caps, &config, &hooks, NULL, NULL, error, sizeof error),
                     -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': lbr: this kernel (CPU 3) has no branch history");
    free(ds);
}

/* The model's processor shows no BTS and no branch history then: neither CPUID nor DEBUGCTL has their bits. */
static void models_neither(void **state)
{
    static struct ds_model model;
    const struct ds_model_host host = {0};
    uint32_t leaf[4];
    uint64_t value;
    (void)state;
    ds_model_init(&model, ds_model_preset("icelake"), NULL, &host);
    ds_model_cpuid(&model, 1, 0, leaf);
    assert_int_equal(leaf[2] & (CPUID_01H_ECX_DTES64 | CPUID_01H_ECX_DS_CPL), CPUID_01H_ECX_DTES64);
    assert_int_equal(ds_model_rdmsr(&model, IA32_PERF_CAPABILITIES, &value), 0);
    assert_int_equal(value & IA32_PERF_CAPABILITIES_LBR_FMT, 0);
    static const uint64_t theirs[] = {IA32_DEBUGCTL_LBR, IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI, IA32_DEBUGCTL_BTS,
                                      IA32_DEBUGCTL_BTINT, IA32_DEBUGCTL_BTS_OFF_OS};
    for (unsigned i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
        assert_int_equal(ds_model_wrmsr(&model, IA32_DEBUGCTL, theirs[i]), -EFAULT);
    assert_int_equal(ds_model_wrmsr(&model, IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI), 0);
}

/* Nor does any of the processors that another wing adds. */
static void no_preset_has_history(void **state)
{
    static struct ds_model model;
    const struct ds_model_host host = {0};
    uint32_t leaf[4];
    unsigned count = 0;
    (void)state;
    for (const struct ds_model_preset *p = ds_model_preset_after(NULL); p; p = ds_model_preset_after(p), count++) {
        ds_model_init(&model, p, NULL, &host);
        ds_model_cpuid(&model, 7, 0, leaf);
        assert_int_equal(leaf[3] & CPUID_07H_EDX_ARCH_LBR, 0);
        ds_model_cpuid(&model, 0x1C, 0, leaf);
        assert_int_equal(leaf[0] | leaf[1] | leaf[2] | leaf[3], 0);
    }
    assert_true(count > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_so),
        cmocka_unit_test(knows_the_store),
        cmocka_unit_test(refuses_branch_history),
        cmocka_unit_test(models_neither),
        cmocka_unit_test(no_preset_has_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
