/* SPDX-License-Identifier: MIT */
/* The plugin's options: what each sets, and one line for each that is wrong. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ds/ds.h"
#include "ds/pebs23_layout.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/presets.h"
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
    assert_true(options.preset->reference);
    assert_false(options.exact_flags || options.ready || options.stats || options.truth || options.refused.number ||
                 options.refused.read || options.policy.fit);
}

static void each_is_set(void **state)
{
    (void)state;
    assert_int_equal(parse("preset=skylake", "exact=flags", "stats=on"), 0);
    assert_string_equal(options.preset->name, "skylake");
    assert_true(options.exact_flags && options.stats);
    assert_int_equal(parse("ready=on", NULL, NULL), 0);
    assert_true(options.ready);
    assert_int_equal(parse("truth=a=b,c", "policy.fit=start_lt", "stats=off"), 0);
    assert_string_equal(options.truth, "a=b,c");
    assert_int_equal(options.policy.fit, DS_MODEL_START_LT);
    assert_false(options.stats);
    assert_true(options.instructions);
    assert_int_equal(parse("truth=a", "instructions=off", NULL), 0);
    assert_false(options.instructions);
    assert_int_equal(parse("refuse=17", "policy.arch_fragments=null", NULL), 0);
    assert_true(options.refused.number == 17 && !options.refused.read && !options.refused.write);
    assert_int_equal(options.policy.arch_fragments, DS_MODEL_ARCH_NULL);
    assert_int_equal(parse("refuse=RDMSR:1a6", NULL, NULL), 0);
    assert_true(options.refused.read && !options.refused.write && options.refused.msr == 0x1A6);
    assert_int_equal(parse("refuse=WRMSR:FFFFFFFF", NULL, NULL), 0);
    assert_true(!options.refused.number && options.refused.write && options.refused.msr == 0xFFFFFFFF);
    assert_int_equal(parse("preset=lunarlake", "efficient=1", "ref=cycles"), 0);
    assert_false(options.preset->reference || options.little.reference);
    assert_int_equal(parse("preset=lunarlake", "ref=tsc", "efficient=1"), 0);
    assert_true(options.preset->reference && options.little.reference);
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
    assert_false(options.preset->kvm);
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
        assert_true(options.little.pebs_counters == UINT64_C(0x77000000FF));
        assert_int_equal(options.little.gp_counters, 8);
        assert_true((options.little.data_cfg & ~options.preset->data_cfg & UINT32_MAX) == 0);
        assert_true(options.little.data_cfg >> 32 == 0x7700FF);
        assert_int_equal(options.little.signature, options.preset->signature);
    }
    assert_int_equal(parse("preset=arrowlake", NULL, NULL), 0);
    assert_int_equal(options.efficient, UINT_MAX);
    assert_int_equal(parse("efficient=2", "preset=pantherlake", NULL), 0);
    assert_int_equal(options.preset->format, DS_FORMAT_ARCH);
    assert_int_equal(options.little.format, DS_FORMAT_ARCH);
    assert_int_equal(options.little.generation, DS_GENERATION_DARKMONT);
    assert_true(options.little.pebs_counters == UINT64_C(0x77000000FF));
    assert_true(options.little.pdist == UINT64_C(0x100000003));
    assert_false(options.little.arch_groups & IA32_PMC_CFG_C_CNTR_METRICS);
}

static void memory_systems(void **state)
{
    (void)state;
    assert_int_equal(parse("memory=off", NULL, NULL), 0);
    assert_false(options.memory || options.preset->memory);
    for (unsigned late = 0; late < 2; late++) { /* whichever comes first */
        const char *const model = "memory=model", *const l2 = "memory.l2=1M/16/20", *const preset = "preset=skylake";
        assert_int_equal(late ? parse(model, l2, preset) : parse(preset, l2, model), 0);
        const struct qds_memory_config *c = &options.memory_config;
        assert_true(options.memory && options.preset->memory);
        assert_string_equal(options.preset->name, "skylake");
        assert_false(ds_model_preset("skylake")->memory);
        assert_true(c->caches.kind[0].l1.sets == 64 && c->caches.kind[0].l1.ways == 8);
        assert_true(c->caches.kind[0].l2.sets == 1024 && c->caches.kind[0].l2.ways == 16);
        assert_int_equal(c->caches.latency[DS_MODEL_SOURCE_L2], 20);
        assert_true(c->kind[0].stlb.sets == 128 && c->kind[0].stlb.ways == 12);
        assert_int_equal(options.cpi, QDS_UNITS_OF_A_CYCLE);
    }
    assert_int_equal(parse("memory=model", "memory.line=128", "memory.stlb=32/4/9"), 0);
    assert_true(options.memory_config.caches.kind[0].l1.sets == 32 && options.memory_config.line_shift == 7);
    assert_true(options.memory_config.kind[0].stlb.sets == 8 && options.memory_config.stlb_latency == 9);
    assert_int_equal(parse("memory=model", "memory.walk=50", "memory.ram=400"), 0);
    assert_int_equal(options.memory_config.walk_latency, 50);
    assert_int_equal(options.memory_config.caches.latency[DS_MODEL_SOURCE_MEMORY], 400);
    assert_int_equal(parse("memory=model", "memory.hitm=99", "memory.snoop=44"), 0);
    assert_int_equal(options.memory_config.caches.latency[DS_MODEL_SOURCE_SNOOP_HITM], 99);
    assert_int_equal(options.memory_config.caches.latency[DS_MODEL_SOURCE_SNOOP_MISS], 44);
    for (size_t i = 1; i < PRESETS; i++) { /* all but penryn */
        char preset[40], said[200];
        snprintf(preset, sizeof preset, "preset=%s", preset_at(i)->name);
        assert_int_equal(parse(preset, "memory=model", NULL), 0);
        struct qds_memory *m = qds_memory_new(&options.memory_config, 1);
        assert_non_null(m);
        qds_memory_free(m);
        qds_memory_describe(&options.memory_config, said, sizeof said);
        assert_non_null(strstr(said, "K/"));
    }
}

/* In hundredths. */
static void cycles_of_an_instruction(void **state)
{
    (void)state;
    static const struct {
        const char *argument;
        unsigned units;
    } rows[] = {{"cpi=1", 100},    {"cpi=0.25", 25},   {"cpi=0.5", 50},
                {"cpi=2.04", 204}, {"cpi=100", 10000}, {"cpi=0.01", 1}};
    static const char *const wrong[] = {"cpi=0",   "cpi=",   "cpi=0.001",  "cpi=-1",
                                        "cpi=1,5", "cpi=.5", "cpi=100.01", "cpi=1.2.3"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(parse(rows[i].argument, "memory=model", NULL), 0);
        assert_int_equal(options.cpi, rows[i].units);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(parse(wrong[i], "memory=model", NULL), -EINVAL);
}

/* CPUID.04H, by the definition of its fields. */
static void caches_by_cpuid(void **state)
{
    (void)state;
    uint32_t r[4];
    assert_int_equal(parse("preset=icelake", "memory=model", NULL), 0);
    static const uint64_t kib[] = {48, 512, 8192};
    for (unsigned i = 0; i < 3; i++) {
        qds_memory_cpuid(&options.memory_config, 0, 3, 4, i, r);
        const uint64_t ways = (r[1] >> 22) + 1, partitions = (r[1] >> 12 & 0x3FF) + 1, line = (r[1] & 0xFFF) + 1;
        assert_true(ways * partitions * line * (r[2] + 1) == kib[i] * 1024);
        assert_int_equal(r[0] & 31, i ? 3 : 1);
        assert_int_equal(r[0] >> 5 & 7, i + 1);
        assert_int_equal(r[0] >> 14 & 0xFFF, i == 2 ? 3 : 0); /* three cores share four numbers */
    }
    qds_memory_cpuid(&options.memory_config, 0, 3, 4, 3, r);
    assert_int_equal(r[0] & 31, 0);
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
        {"instructions=0", "instructions=0: must be on or off"},
        {"policy.fit=never", "policy.fit=never: not one of end_le end_lt start_lt"},
        {"policy.luck=good", "policy.luck: not one of fit drop_reload bts_full bts_ovf_buf masked_pmi bystander "
                             "pdist_minimum reserved residual unmapped unlisted arch_threshold arch_full arch_base "
                             "arch_size arch_padding arch_overflow arch_ovf_buf arch_fragments arch_together"},
        {"policy.arch_fragments=two", "policy.arch_fragments=two: not one of none cont null"},
        {"policy.unmapped=page_fault",
         "policy.unmapped=page_fault: not possible here: a plugin cannot raise a page fault"},
        {"policy.residual=1",
         "policy.residual=1: not possible here: records are stored when an instruction retires, not later"},
        {"presets=icelake",
         "presets=icelake: not an option: there are preset, efficient, kvm, exact, truth, instructions, ready, "
         "refuse, stats, policy.NAME, memory, memory.NAME, cpi, ref"},
        {"ref=bus", "ref=bus: must be tsc or cycles"},
        {"refuse=0", "refuse=0: must be the number of an access, from 1 on, or RDMSR:MSR or WRMSR:MSR"},
        {"refuse=-1", "refuse=-1: must be the number of an access, from 1 on, or RDMSR:MSR or WRMSR:MSR"},
        {"refuse=RDMSR:", "refuse=RDMSR:: must name an MSR by its hexadecimal number"},
        {"refuse=WRMSR:-1", "refuse=WRMSR:-1: must name an MSR by its hexadecimal number"},
        {"refuse=WRMSR:100000000", "refuse=WRMSR:100000000: must name an MSR by its hexadecimal number"},
        {"efficient=1", "efficient=1: preset icelake is not of a hybrid processor"},
        {"efficient=0", "efficient=0: must be the number of a vCPU, from 1 on"},
        {"efficient=2x", "efficient=2x: must be the number of a vCPU, from 1 on"},
        {"efficient=4294967295", "efficient=4294967295: must be the number of a vCPU, from 1 on"},
        {"stats", "stats: not of the form option=value"},
        {"memory=on", "memory=on: must be model or off"},
        {"cpi=two", "cpi=two: must be cycles of an instruction, from 0.01 to 100, as in 0.25"},
        {"memory.l1=32K/8", "memory.l1=32K/8: must be SIZE/WAYS/CYCLES, as in 32K/8/4"},
        {"memory.l2=0K/8/4", "memory.l2=0K/8/4: must be SIZE/WAYS/CYCLES, as in 32K/8/4"},
        {"memory.l3=48K/8/4", "memory.l3=48K/8/4: the number of sets, SIZE / WAYS / 64, must be a power of 2"},
        {"memory.dtlb=64", "memory.dtlb=64: must be ENTRIES/WAYS, as in 64/4"},
        {"memory.stlb=64/4", "memory.stlb=64/4: must be ENTRIES/WAYS/CYCLES, as in 64/4/7"},
        {"memory.stlb=96/4/7", "memory.stlb=96/4/7: the number of sets, ENTRIES / WAYS, must be a power of 2"},
        {"memory.ram=0", "memory.ram=0: must be a number of cycles, from 1 to 10000"},
        {"memory.line=48", "memory.line=48: must be 16, 32, 64, 128 or 256 bytes"},
        {"memory.l4=1M/16/50", "memory.l4: not one of line l1 l2 l3 snoop hitm ram dtlb stlb walk"},
        {"preset=penryn", "memory=model: not with preset penryn, which has no L3 cache"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_not_equal(parse("memory=model", wrong[i].argument, NULL), 0);
        assert_string_equal(why, wrong[i].why);
    }
    assert_int_not_equal(parse("stats=on", "memory.l1=32K/8/4", NULL), 0);
    assert_string_equal(why, "memory.l1=32K/8/4: only with memory=model");
    assert_int_not_equal(parse("stats=on", "cpi=2", NULL), 0);
    assert_string_equal(why, "cpi=: only with memory=model");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),        cmocka_unit_test(each_is_set),
        cmocka_unit_test(a_guest_of_kvm),  cmocka_unit_test(efficient_cores),
        cmocka_unit_test(memory_systems),  cmocka_unit_test(cycles_of_an_instruction),
        cmocka_unit_test(caches_by_cpuid), cmocka_unit_test(wrong_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
