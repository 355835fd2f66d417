/* SPDX-License-Identifier: MIT */
/* pebs= and pebs.groups= */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ds/ds.h"
#include "kernel/errno.h"

static struct ds_config config;
static char error[160];

static void good(const char *spec, uint32_t events)
{
    error[0] = '\0';
    if (ds_parse_events(spec, &config, error, sizeof error))
        fail_msg("%s: %s", spec, error);
    assert_int_equal(config.events, events);
}

static void bad(const char *spec, const char *word, const char *what)
{
    error[0] = '\0';
    assert_int_equal(ds_parse_events(spec, &config, error, sizeof error), -EINVAL);
    if (!strstr(error, word) || !strstr(error, what))
        fail_msg("%s: '%s' does not name '%s' and '%s'", spec, error, word, what);
}

static void names(void **state)
{
    (void)state;
    good("INST_RETIRED.ANY:5003", 1);
    assert_int_equal(config.event[0].select, 0xC0);
    assert_int_equal(config.event[0].umask, 0);
    assert_int_equal(config.event[0].fixed, 0);
    assert_int_equal(config.event[0].period, 5003);
    assert_true(config.event[0].user && config.event[0].kernel && !config.event[0].plain);
    good("instructions:1:u,branches:140737488355327:k:plain,Inst_Retired.Any_P:7:uk", 3);
    assert_string_equal(config.event[0].name, "INST_RETIRED.ANY");
    assert_true(config.event[0].user && !config.event[0].kernel);
    assert_string_equal(config.event[1].name, "BR_INST_RETIRED.ALL_BRANCHES");
    assert_int_equal(config.event[1].select, 0xC4);
    assert_int_equal(config.event[1].fixed, DS_NO_FIXED);
    assert_true(config.event[1].plain && config.event[1].kernel && !config.event[1].user);
    assert_true(config.event[1].period == DS_BIT(47) - 1);
    assert_string_equal(config.event[2].name, "INST_RETIRED.ANY_P");
    assert_int_equal(config.event[2].fixed, DS_NO_FIXED);
    assert_true(config.event[2].user && config.event[2].kernel);
    good("branches:9:plain", 1);
    assert_true(config.event[0].plain && config.event[0].user);
}

static void mistakes(void **state)
{
    (void)state;
    bad("", "''", "known are");
    bad("cycles:100", "'cycles'", "known are");
    bad("xnstructions:5", "'xnstructions'", "known are");
    bad("instructionz:5", "'instructionz'", "known are");
    bad("instructions", "''", "period");
    bad("instructions:", "''", "period");
    bad("instructions:0", "'0'", "period");
    bad("instructions:-5", "'-5'", "period");
    bad("instructions:5k", "'5k'", "period");
    bad("instructions:140737488355328", "'140737488355328'", "2^47");
    bad("instructions:99999999999999999999999", "'99999999999999999999999'", "2^47");
    bad("instructions:5:x", "'x'", "u, k or uk");
    bad("instructions:5:", "''", "u, k or uk");
    bad("instructions:5:u:k", "'k'", "each once");
    bad("instructions:5:plain:u", "'u'", "then plain");
    bad("instructions:5:plain:plain", "'plain'", "each once");
    bad("instructions:5,", "''", "known are");
    bad("instructions:5,,branches:5", "''", "known are");
    bad("instructions:1,instructions:1,instructions:1,instructions:1,instructions:1,instructions:1,instructions:1,"
        "instructions:1,instructions:1,instructions:1,instructions:1,instructions:1,instructions:1",
        "instructions:1", "12");
    char tiny[8];
    assert_int_equal(ds_parse_events("cycles:1", &config, tiny, sizeof tiny), -EINVAL);
    assert_int_equal(strlen(tiny), 7);
}

static void groups(void **state)
{
    (void)state;
    assert_int_equal(ds_parse_groups("gpr", &config, error, sizeof error), 0);
    assert_int_equal(config.groups, MSR_PEBS_DATA_CFG_GPR);
    assert_int_equal(ds_parse_groups("none", &config, error, sizeof error), 0);
    assert_int_equal(config.groups, 0);
    assert_int_equal(ds_parse_groups("gprs", &config, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "'gprs'"));
    assert_int_equal(ds_parse_groups("", &config, error, sizeof error), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
