/* SPDX-License-Identifier: MIT */
/* The self-test on machines whose events of instructions have PEBS, or have none: counting_machine.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ds/trial/trial.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/counting_machine.h"
#include "tests/unit/support/presets.h"

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

/* Every preset makes records, and has its registers back. */
static void makes_records(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PRESETS; i++) {
        set_up(preset_at(i)->name, 0);
        ds_model_wrmsr(&fake.model, IA32_DS_AREA, 0x1234000);
        ds_model_wrmsr(&fake.model, IA32_PMC0, 77);
        static struct ds_model before;
        before = fake.model;
        assert_int_equal(try("INST_RETIRED.ANY:5003:u"), DS_TRIED_RECORDS);
        assert_string_equal(last_row()->name, "self-test: instructions");
        assert_true(last_row()->ok);
        assert_int_equal(last_row()->value, 5);
        assert_memory_equal(before.value, fake.model.value, sizeof before.value);
        assert_memory_equal(before.perfevtsel, fake.model.perfevtsel, sizeof before.perfevtsel);
        assert_int_equal(before.ds_area, fake.model.ds_area);
        assert_int_equal(before.lvtpc, fake.model.lvtpc);
        assert_int_equal(before.global_ctrl, fake.model.global_ctrl);
        assert_int_equal(fake.model.pebs_enable | fake.model.global_status, 0);
    }
}

static void counts_without_a_record(void **state)
{
    (void)state;
    set_up("haswell", 0);
    fake.instructions = DS_TRIED_NO_RECORD;
    assert_int_equal(try("INST_RETIRED.ANY:5003"), DS_TRIED_NO_RECORD);
    assert_int_equal(last_row()->value, 0);
    assert_false(last_row()->ok);
    assert_string_equal(last_row()->verdict, "its counter has run past 0, and PEBS has made no record");
    set_up("haswell", 0); /* the model as Intel's lists have it */
    fake.model.policy.unlisted = DS_MODEL_UNLISTED_NONE;
    assert_int_equal(try("INST_RETIRED.ANY:5003"), DS_TRIED_NO_RECORD);
}

static void stands_still(void **state)
{
    (void)state;
    set_up("skylake", 0);
    fake.instructions = DS_TRIED_STILL;
    assert_int_equal(try("INST_RETIRED.ANY:5003"), DS_TRIED_STILL);
    assert_false(last_row()->ok);
    set_up("icelake", 0);
    fake.forbidden = MSR_PEBS_DATA_CFG;
    assert_int_equal(try("INST_RETIRED.ANY:5003"), DS_TRIED_NOT);
    assert_string_equal(last_row()->verdict, "it could not be tried: the set-up of PEBS fails");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_records),
        cmocka_unit_test(counts_without_a_record),
        cmocka_unit_test(stands_still),
    };
    return cmocka_run_group_tests_name("ds_self_test", tests, NULL, NULL);
}
