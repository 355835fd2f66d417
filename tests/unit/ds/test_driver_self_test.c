/* SPDX-License-Identifier: MIT */
/* The self-test on machines whose events of instructions have PEBS, or have none: counting_machine.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ds/ds.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/counting_machine.h"

static const struct ds_machine *const machine = &counting_machine_hw;
static struct counting_machine fake;
static struct ds_caps caps;
static uint64_t area[512] __attribute__((aligned(4096)));
static uint8_t buffer[DS_SELF_TEST_BUFFER] __attribute__((aligned(4096)));

static void set_up(const char *preset, uint32_t signature)
{
    counting_machine_reset(&fake, preset, signature);
    assert_int_equal(ds_detect(machine, &caps), 0);
}

static struct ds_event event_of(const char *spec)
{
    struct ds_config config;
    char error[160];
    assert_int_equal(ds_parse_events(spec, &config, error, sizeof error), 0);
    return config.event[0];
}

static enum ds_tried try(const char *spec)
{
    struct ds_cpu *ds = malloc(ds_cpu_bytes());
    const struct ds_event event = event_of(spec);
    enum ds_tried tried = ds_self_test(ds, machine, &caps, &event, area, buffer);
    free(ds);
    return tried;
}

static const struct ds_test *last_row(void)
{
    return &caps.test[caps.tests - 1];
}

/* Every preset makes records where Intel's lists say so, else none, and has its registers back. */
static void makes_records(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DS_MODEL_PRESETS; i++) {
        set_up(ds_model_presets[i].name, 0);
        ds_model_wrmsr(&fake.model, IA32_DS_AREA, 0x1234000);
        ds_model_wrmsr(&fake.model, IA32_PMC0, 77);
        static struct ds_model before;
        before = fake.model;
        const bool listed = i < 2 || i > 4; /* from Sandy Bridge to Skylake C0H/01H alone is */
        assert_int_equal(try("INST_RETIRED.ANY:5003:u"), listed ? DS_TRIED_RECORDS : DS_TRIED_NO_RECORD);
        assert_string_equal(last_row()->name, "self-test: instructions");
        assert_int_equal(last_row()->ok, listed);
        assert_int_equal(last_row()->value, listed ? 5 : 0);
        if (!listed)
            assert_int_equal(try("INST_RETIRED.PREC_DIST:5003:u"), DS_TRIED_RECORDS);
        assert_memory_equal(before.value, fake.model.value, sizeof before.value);
        assert_memory_equal(before.perfevtsel, fake.model.perfevtsel, sizeof before.perfevtsel);
        assert_int_equal(before.ds_area, fake.model.ds_area);
        assert_int_equal(before.lvtpc, fake.model.lvtpc);
        assert_int_equal(before.global_ctrl, fake.model.global_ctrl);
        assert_int_equal(fake.model.pebs_enable | fake.model.global_status, 0);
    }
}

/* It counts and writes no record: INST_RETIRED.PREC_DIST does, or does not. */
static void counts_without_a_record(void **state)
{
    static const char *const presets[] = {"sandybridge", "haswell", "skylake"};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        set_up(presets[i], 0);
        fake.any_p = DS_TRIED_NO_RECORD;
        assert_int_equal(try("INST_RETIRED.ANY:5003"), DS_TRIED_NO_RECORD);
        assert_int_equal(last_row()->value, 0);
        assert_false(last_row()->ok);
        assert_string_equal(last_row()->verdict, "its counter has run past 0, and PEBS has made no record");
        assert_int_equal(try("INST_RETIRED.PREC_DIST:5056"), DS_TRIED_RECORDS);
        assert_string_equal(last_row()->name, "self-test: INST_RETIRED.PREC_DIST");
        fake.prec_dist = DS_TRIED_NO_RECORD;
        assert_int_equal(try("INST_RETIRED.PREC_DIST:5056"), DS_TRIED_NO_RECORD);
    }
}

static void stands_still(void **state)
{
    (void)state;
    set_up("skylake", 0);
    fake.any_p = fake.prec_dist = DS_TRIED_STILL;
    assert_int_equal(try("INST_RETIRED.ANY:5003"), DS_TRIED_STILL);
    assert_false(last_row()->ok);
    assert_int_equal(try("INST_RETIRED.PREC_DIST:5003"), DS_TRIED_STILL);
    set_up("icelake", 0);
    fake.forbidden = MSR_PEBS_DATA_CFG;
    assert_int_equal(try("INST_RETIRED.ANY:5003"), DS_TRIED_NOT);
    assert_string_equal(last_row()->verdict, "it could not be tried: the set-up of PEBS fails");
}

/* ---- another event in its place ---------------------------------------------------------------------------------- */

static void takes_its_place(void **state)
{
    static const struct {
        uint32_t signature;
        const char *preset, *spec;
        uint64_t later, period, period_later;
    } rows[] = {
        {0x000506E3, "skylake", "INST_RETIRED.ANY:5003:k,branches:99", 31, 5003, 31},
        {0x000206A7, "sandybridge", "INST_RETIRED.ANY_P:7:k,branches:99:plain", 0, 7, 0}, /* alone there */
        {0x000306C3, "haswell", "INST_RETIRED.ANY:100:k,branches:99", 129, 128, 129},
        {0x000306D4, "haswell", "INST_RETIRED.ANY:5003:k,branches:99", 33, 4992, 128}, /* Broadwell */
        {0x000306D4, "haswell", "INST_RETIRED.ANY:5024:k,branches:99", 160, 5056, 192},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ds_config config = {.records = 8, .threshold = 8};
        uint64_t later[DS_MAX_COUNTERS] = {rows[i].later, 11};
        char error[160] = "";
        set_up(rows[i].preset, rows[i].signature);
        assert_int_equal(ds_parse_events(rows[i].spec, &config, error, sizeof error), 0);
        assert_int_equal(ds_take_prec_dist(&caps, &config, later), 0);
        assert_string_equal(config.event[0].name, "INST_RETIRED.PREC_DIST");
        assert_true(config.event[0].kernel && !config.event[0].user && !config.event[0].plain);
        assert_int_equal(config.event[0].period, rows[i].period);
        assert_int_equal(later[0], rows[i].period_later);
        assert_true(later[1] == 11 && config.event[1].period == 99);
        const struct ds_hooks hooks = {0};
        struct ds_cpu *ds = malloc(ds_cpu_bytes());
        assert_int_equal(ds_cpu_init(ds, 0, machine, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
        assert_int_equal(ds_event_counter(ds, 0), 1);
        free(ds);
    }
}

static void nothing_takes_its_place(void **state)
{
    static const struct {
        uint32_t signature;
        const char *preset, *spec;
        int e;
    } rows[] = {
        {0, "icelake", "INST_RETIRED.ANY:5003", -ENOENT}, /* there it is what fixed counter 0 counts anyway */
        {0, "nehalem", "INST_RETIRED.ANY:5003", -ENOENT},
        {0x00030678, "skylake", "INST_RETIRED.ANY:5003", -ENOENT}, /* Silvermont */
        {0, "skylake", "branches:9,INST_RETIRED.ANY_P:5003:plain", -ENOENT},
        {0, "skylake", "INST_RETIRED.ANY:5003,INST_RETIRED.ANY_P:9", -EBUSY},
        {0, "skylake", "INST_RETIRED.ANY:5003,INST_RETIRED.PREC_DIST:9", -EBUSY},
        {0, "sandybridge", "INST_RETIRED.ANY:5003,branches:9", -EBUSY}, /* alone there, not on Skylake */
    };
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ds_config config, before;
        uint64_t later[DS_MAX_COUNTERS] = {3, 3};
        char error[160];
        memset(&config, 0, sizeof config);
        set_up(rows[i].preset, rows[i].signature);
        assert_int_equal(ds_parse_events(rows[i].spec, &config, error, sizeof error), 0);
        before = config;
        assert_int_equal(ds_take_prec_dist(&caps, &config, later), rows[i].e);
        assert_memory_equal(&before, &config, sizeof config);
        assert_int_equal(later[0], 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_records),   cmocka_unit_test(counts_without_a_record), cmocka_unit_test(stands_still),
        cmocka_unit_test(takes_its_place), cmocka_unit_test(nothing_takes_its_place),
    };
    return cmocka_run_group_tests_name("ds_self_test", tests, NULL, NULL);
}
