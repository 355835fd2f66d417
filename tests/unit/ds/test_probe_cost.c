/* SPDX-License-Identifier: MIT */
/* What the probe measures, on a machine of which each thing takes a known time. */
#include <stdbool.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tests/unit/ds/probe/probe_machine.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/presets.h"

/* `before`: the last record of the NOPs falls behind them, with 4. */
static void expect_costs(const struct ds_model_preset *p, unsigned before)
{
    set_up(p, NULL);
    fake.way = 1500;
    fake.before = before;
    probe();
    for (unsigned i = 0; i < DS_PROBE_COSTS; i++) {
        const char *name = ds_probe_costs[i].name;
        const uint64_t takes = strcmp(name, "pmi") == 0 ? 500 : strcmp(name, "bts") == 0 ? 7 : 40;
        const bool there = !ds_probe_costs[i].groups || p->format == DS_FORMAT_ARCH ||
                           (p->baseline && (p->format >= 6 || strcmp(name, "record_counters")));
        if (strcmp(name, "drain") == 0)
            continue;
        if (costs[i].samples != (there ? bench.samples : 0) ||
            (there && (costs[i].least != takes || costs[i].median != takes || costs[i].p99 != takes)))
            fail_msg("%s: %s: %u samples, %lu %lu %lu: %s", p->name, name, costs[i].samples, costs[i].least,
                     costs[i].median, costs[i].p99, costs[i].reason);
        if (!there)
            assert_string_equal(costs[i].reason, "records of this format have no such group");
    }
    assert_int_equal(cost("drain")->samples, bench.samples); /* what the host takes is the host's */
}

static void measured(void **state) /* what a record, a branch and an interrupt take: no more, no less */
{
    (void)state;
    for (unsigned n = 0; n < PRESETS; n++) {
        expect_costs(preset_at(n), 14);
        expect_costs(preset_at(n), 4);
        expect_costs(preset_at(n), 0);
    }
}

/* Adaptive records that are not as large as their groups make them: how many there are is not known. */
static void other_size(void **state)
{
    (void)state;
    set_up(ds_model_preset("icelake"), NULL);
    fake.fewer = 24;
    fake.of_groups = MSR_PEBS_DATA_CFG_LBR;
    probe();
    assert_int_equal(cost("record_lbr")->samples, 0);
    assert_string_equal(cost("record_lbr")->reason, "its head says 776 bytes, its groups make 800");
    assert_int_equal(cost("record_gpr")->samples, bench.samples);
    set_up(ds_model_preset("icelake"), NULL);
    fake.fewer = 8;
    probe();
    assert_string_equal(result("fit")->answer, "");
    assert_string_equal(result("fit")->evidence, "the head of a record says 24 bytes, not 32");
    assert_int_equal(cost("record")->samples, 0);
}

static void late_pmi(void **state) /* one that comes behind the code is no sample of 0 */
{
    (void)state;
    set_up(ds_model_preset("skylake"), NULL);
    fake.way = 1000000;
    probe();
    assert_int_equal(cost("pmi")->samples, 0);
    assert_string_equal(cost("pmi")->reason, "none came");
}

static void sorted(void **state)
{
    (void)state;
    struct ds_probe_cost c;
    uint64_t sample[DS_PROBE_SAMPLES];
    for (unsigned i = 0; i < DS_PROBE_SAMPLES; i++)
        sample[i] = 1 + i * 37 % DS_PROBE_SAMPLES; /* 1 to 512 in disorder */
    ds_probe_cost_of(&c, sample, DS_PROBE_SAMPLES);
    assert_int_equal(c.least, 1);
    assert_int_equal(c.median, 257);
    assert_int_equal(c.p99, 507);
    sample[0] = 9;
    ds_probe_cost_of(&c, sample, 1);
    assert_true(c.samples == 1 && c.least == 9 && c.median == 9 && c.p99 == 9);
    ds_probe_cost_of(&c, sample, 0);
    assert_int_equal(c.samples, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured),
        cmocka_unit_test(late_pmi),
        cmocka_unit_test(sorted),
        cmocka_unit_test(other_size),
    };
    return cmocka_run_group_tests_name("ds_probe_cost", tests, NULL, NULL);
}
