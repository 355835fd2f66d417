/* SPDX-License-Identifier: MIT */
/* The plugin's options: what each sets, and one line for each that is wrong. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ds/ds.h"
#include "tools/qemu-ds/options.h"

static struct qds_options options;
static char why[400];

static int parse(const char *a, const char *b, const char *c)
{
    const char *const arguments[] = {a, b, c};
    return qds_options_parse(&options, !!a + !!b + !!c, arguments, why, sizeof why);
}

static void defaults(void **state)
{
    (void)state;
    assert_int_equal(parse(NULL, NULL, NULL), 0);
    assert_string_equal(options.preset->name, "icelake");
    assert_false(options.exact_flags || options.stats || options.truth || options.refuse || options.policy.fit);
}

static void each_is_set(void **state)
{
    (void)state;
    assert_int_equal(parse("preset=skylake", "exact=flags", "stats=on"), 0);
    assert_string_equal(options.preset->name, "skylake");
    assert_true(options.exact_flags && options.stats);
    assert_int_equal(parse("truth=a=b,c", "policy.fit=start_lt", "stats=off"), 0);
    assert_string_equal(options.truth, "a=b,c");
    assert_int_equal(options.policy.fit, DS_MODEL_START_LT);
    assert_false(options.stats);
    assert_int_equal(parse("refuse=17", "policy.arch_fragments=null", NULL), 0);
    assert_int_equal(options.refuse, 17);
    assert_int_equal(options.policy.arch_fragments, DS_MODEL_ARCH_NULL);
}

/* Whichever comes first: what KVM leaves of the preset, and a hybrid is refused. */
static void a_guest_of_kvm(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        assert_int_equal(
            late ? parse("preset=sapphirerapids", "kvm=on", NULL) : parse("kvm=on", "preset=sapphirerapids", NULL), 0);
        assert_string_equal(options.preset->name, "sapphirerapids");
        assert_true(options.preset->kvm && !options.preset->baseline && options.preset->format == 4);
        assert_false(ds_model_preset("sapphirerapids")->kvm);
    }
    assert_int_equal(parse("kvm=off", NULL, NULL), 0);
    assert_ptr_equal(options.preset, ds_model_preset("icelake"));
    assert_int_equal(parse("kvm=yes", NULL, NULL), -EINVAL);
    assert_string_equal(why, "kvm=yes: must be on or off");
    assert_int_equal(parse("kvm=on", "preset=lunarlake", NULL), -EINVAL);
    assert_string_equal(why, "kvm=on: preset lunarlake is a hybrid processor, and KVM shows no counters of those");
}

static void efficient_cores(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) { /* whichever comes first */
        assert_int_equal(
            late ? parse("preset=lunarlake", "efficient=4", NULL) : parse("efficient=4", "preset=lunarlake", NULL), 0);
        assert_int_equal(options.efficient, 4);
        assert_int_equal(options.preset->core_type, CPUID_1AH_EAX_CORE);
        assert_int_equal(options.little.core_type, CPUID_1AH_EAX_ATOM);
        assert_true(options.little.pebs_counters == UINT64_C(0x7000000FF));
        assert_int_equal(options.little.gp_counters, 8);
        assert_true((options.little.data_cfg & ~options.preset->data_cfg) == 0);
        assert_true(options.little.data_cfg >> 32 == 0x700FF);
        assert_int_equal(options.little.signature, options.preset->signature);
    }
    assert_int_equal(parse("preset=arrowlake", NULL, NULL), 0);
    assert_int_equal(options.efficient, UINT_MAX);
    assert_int_equal(parse("efficient=2", "preset=pantherlake", NULL), 0);
    assert_int_equal(options.preset->format, DS_FORMAT_ARCH);
    assert_int_equal(options.little.format, DS_FORMAT_ARCH);
    assert_int_equal(options.little.generation, DS_GENERATION_DARKMONT);
    assert_true(options.little.pebs_counters == UINT64_C(0x7000000FF));
    assert_true(options.little.pdist == UINT64_C(0x100000003));
    assert_false(options.little.arch_groups & IA32_PMC_CFG_C_CNTR_METRICS);
}

static void wrong_ones_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *argument;
        const char *why;
    } wrong[] = {
        {"preset=zen", "preset=zen: not one of penryn nehalem sandybridge haswell skylake icelake sapphirerapids "
                       "arrowlake lunarlake pantherlake clearwaterforest"},
        {"exact=ip", "exact=ip: can only be exact=flags"},
        {"stats=1", "stats=1: must be on or off"},
        {"truth=", "truth=: names no file"},
        {"policy.fit=never", "policy.fit=never: not one of end_le end_lt start_lt"},
        {"policy.luck=good", "policy.luck: not one of fit drop_reload bts_full bts_ovf_buf masked_pmi bystander "
                             "pdist_minimum reserved residual unmapped unlisted arch_threshold arch_full arch_base "
                             "arch_size arch_padding arch_overflow arch_ovf_buf arch_fragments arch_together"},
        {"policy.arch_fragments=two", "policy.arch_fragments=two: not one of none cont null"},
        {"policy.unmapped=page_fault",
         "policy.unmapped=page_fault: not possible here: a plugin cannot raise a page fault"},
        {"policy.residual=1",
         "policy.residual=1: not possible here: records are stored when an instruction retires, not later"},
        {"policy.masked_pmi=latched",
         "policy.masked_pmi=latched: not possible here: no plugin sees LVTPC unmasked in xAPIC mode"},
        {"presets=icelake",
         "presets=icelake: not an option: there are preset, efficient, kvm, exact, truth, refuse, stats, policy.NAME, "
         "memory, memory.NAME, cpi"},
        {"refuse=0", "refuse=0: must be the number of an access, from 1 on"},
        {"refuse=-1", "refuse=-1: must be the number of an access, from 1 on"},
        {"efficient=1", "efficient=1: preset icelake is not of a hybrid processor"},
        {"efficient=0", "efficient=0: must be the number of a vCPU, from 1 on"},
        {"efficient=2x", "efficient=2x: must be the number of a vCPU, from 1 on"},
        {"efficient=4294967295", "efficient=4294967295: must be the number of a vCPU, from 1 on"},
        {"stats", "stats: not of the form option=value"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_not_equal(parse("stats=on", wrong[i].argument, NULL), 0);
        assert_string_equal(why, wrong[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(each_is_set),
        cmocka_unit_test(a_guest_of_kvm),
        cmocka_unit_test(efficient_cores),
        cmocka_unit_test(wrong_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
