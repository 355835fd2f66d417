/* SPDX-License-Identifier: MIT */
/* pebs= and pebs.groups= */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ds/ds.h"
#include "ds/events/events.h"
#include "ds/later/later.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

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
    assert_int_equal(config.event[0].kind, DS_EVENT_INSTRUCTIONS);
    assert_int_equal(config.event[0].fixed, 0);
    assert_int_equal(config.event[0].period, 5003);
    assert_true(config.event[0].user && config.event[0].kernel && !config.event[0].plain);
    good("instructions:1:u,branches:140737488355327:k:plain,Inst_Retired.Any_P:7:uk", 3);
    assert_string_equal(config.event[0].name, "INST_RETIRED.ANY");
    assert_true(config.event[0].user && !config.event[0].kernel);
    assert_string_equal(config.event[1].name, "BR_INST_RETIRED.ALL_BRANCHES");
    assert_int_equal(config.event[1].kind, DS_EVENT_BRANCHES);
    assert_int_equal(config.event[1].fixed, DS_NO_FIXED);
    assert_true(config.event[1].plain && config.event[1].kernel && !config.event[1].user);
    assert_true(config.event[1].period == DS_BIT(47) - 1);
    assert_string_equal(config.event[2].name, "INST_RETIRED.ANY_P");
    assert_int_equal(config.event[2].fixed, DS_NO_FIXED);
    assert_true(config.event[2].user && config.event[2].kernel);
    good("branches:9:plain", 1);
    assert_true(config.event[0].plain && config.event[0].user);
    good("cycles:1,cpu-cycles:2,CPU_CLK_UNHALTED.THREAD_P:3,branch-instructions:4,br_inst_retired.cond:5,"
         "BR_INST_RETIRED.NEAR_TAKEN:6,BR_INST_RETIRED.NEAR_CALL:7,BR_INST_RETIRED.NEAR_RETURN:8,"
         "BR_INST_RETIRED.FAR_BRANCH:9",
         9);
    static const uint8_t kinds[] = {DS_EVENT_CYCLES,    DS_EVENT_CYCLES,      DS_EVENT_CYCLES,
                                    DS_EVENT_BRANCHES,  DS_EVENT_CONDITIONAL, DS_EVENT_NEAR_TAKEN,
                                    DS_EVENT_NEAR_CALL, DS_EVENT_NEAR_RETURN, DS_EVENT_FAR_BRANCH};
    for (uint32_t i = 0; i < 9; i++) {
        assert_int_equal(config.event[i].kind, kinds[i]);
        assert_int_equal(config.event[i].fixed, i < 2 ? 1 : DS_NO_FIXED);
    }
    assert_string_equal(config.event[1].name, "CPU_CLK_UNHALTED.THREAD");
    assert_string_equal(config.event[2].name, "CPU_CLK_UNHALTED.THREAD_P");
    assert_string_equal(config.event[4].name, "BR_INST_RETIRED.CONDITIONAL");
}

static void generations(void **state)
{
    (void)state;
    static const struct {
        uint32_t signature, core_type;
        uint8_t generation;
    } rows[] = {
        {0x00010676, 0, DS_GENERATION_CORE2},
        {0x000106A5, 0, DS_GENERATION_NEHALEM},
        {0x000206C2, 0, DS_GENERATION_NEHALEM},
        {0x000206A7, 0, DS_GENERATION_SANDYBRIDGE},
        {0x000306C3, 0, DS_GENERATION_HASWELL},
        {0x000306D4, 0, DS_GENERATION_HASWELL}, /* Broadwell */
        {0x00050654, 0, DS_GENERATION_SKYLAKE},
        {0x000706E5, 0, DS_GENERATION_ICELAKE},
        {0x000906D0, 0, DS_GENERATION_ICELAKE},
        {0x000306A9, 0, DS_GENERATION_IVYBRIDGE},
        {0x000806F8, 0, DS_GENERATION_GOLDENCOVE},
        {0x000B06D1, 0x40000001, DS_GENERATION_LIONCOVE},
        {0x000B06D1, 0x20000001, DS_GENERATION_SKYMONT},
        {0x000C0652, 0x20000002, DS_GENERATION_CRESTMONT}, /* Arrow Lake's of low power, and its other efficient one */
        {0x000C0652, 0x20000003, DS_GENERATION_SKYMONT},
        {0x00090672, 0x40000001, DS_GENERATION_GOLDENCOVE}, /* Alder Lake: a performance core, an efficient one */
        {0x00090672, 0x20000001, DS_GENERATION_GRACEMONT},
        {0x000506C9, 0, DS_GENERATION_GOLDMONT},
        {0x000706A1, 0, DS_GENERATION_GOLDMONTPLUS},
        {0x00050671, 0, DS_GENERATION_KNIGHTS},
        {0x00800F11, 0, DS_GENERATION_OTHER}, /* not family 6 */
        {0x000F06D0, 0, DS_GENERATION_OTHER}, /* not known here */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (ds_generation(rows[i].signature, rows[i].core_type) != rows[i].generation)
            fail_msg("%08x", rows[i].signature);
    for (unsigned g = 0; g < DS_GENERATIONS; g++)
        assert_non_null(ds_generation_text(g));
}

/* The architectural events on all generations; of branches the code is no precise event up to Skylake. */
static void architectural_codes(void **state)
{
    (void)state;
    static const struct {
        uint8_t generation;
        uint16_t precise;
    } rows[] = {
        {DS_GENERATION_NEHALEM, 0x04C4},    {DS_GENERATION_SANDYBRIDGE, 0x04C4}, {DS_GENERATION_HASWELL, 0x04C4},
        {DS_GENERATION_SKYLAKE, 0x04C4},    {DS_GENERATION_ICELAKE, 0x00C4},     {DS_GENERATION_LIONCOVE, 0x00C4},
        {DS_GENERATION_SILVERMONT, 0x00C4}, {DS_GENERATION_OTHER, 0x00C4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ds_caps caps = {.generation = rows[i].generation};
        uint64_t code;
        good("branches:9,branches:9:plain,INST_RETIRED.ANY_P:9,cycles:9:plain", 4);
        assert_int_equal(ds_event_code(&caps, &config.event[0], &code), 0);
        assert_int_equal(code, rows[i].precise);
        assert_int_equal(ds_event_code(&caps, &config.event[1], &code), 0);
        assert_int_equal(code, 0x00C4);
        assert_int_equal(ds_event_code(&caps, &config.event[2], &code), 0);
        assert_int_equal(code, rows[i].generation == DS_GENERATION_NEHALEM ? 0x01C0 : 0x00C0);
        assert_int_equal(ds_event_code(&caps, &config.event[3], &code), 0);
        assert_int_equal(code, 0x003C);
    }
}

/* What an event needs beside its period, and that no other takes it. */
static void event_settings(void **state)
{
    (void)state;
    good("MEM_TRANS_RETIRED.LOAD_LATENCY:1009:ldlat=30:u,FRONTEND_RETIRED:7:frontend=0x1F,INST_RETIRED.PREC_DIST:9", 3);
    assert_int_equal(config.event[0].kind, DS_EVENT_LOAD_LATENCY);
    assert_int_equal(config.event[0].setting, 30);
    assert_true(config.event[0].user && !config.event[0].kernel);
    assert_int_equal(config.event[1].setting, 0x1F);
    assert_int_equal(config.event[2].kind, DS_EVENT_PREC_DIST);
    good("MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD:9:ldlat=3,frontend_retired:9:frontend=0xffffff", 2);
    assert_string_equal(config.event[0].name, "MEM_TRANS_RETIRED.LOAD_LATENCY");
    assert_int_equal(config.event[1].setting, 0xFFFFFF);
    good("MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=0xFFFF", 1);
    assert_int_equal(config.event[0].setting, 0xFFFF);
    static const char *const latency[] = {"",
                                          ":u",
                                          ":ldlat",
                                          ":ldlat=",
                                          ":ldlat=2",
                                          ":ldlat=65536",
                                          ":ldlat=0x",
                                          ":ldlat=1g",
                                          ":ldlat=99999999999999999999",
                                          ":frontend=5",
                                          ":ldlat=-3"};
    for (size_t i = 0; i < sizeof latency / sizeof latency[0]; i++) {
        char spec[96];
        snprintf(spec, sizeof spec, "MEM_TRANS_RETIRED.LOAD_LATENCY:9%s", latency[i]);
        bad(spec, "'pebs'", "needs its threshold");
    }
    bad("FRONTEND_RETIRED:9", "'FRONTEND_RETIRED:9'", "frontend=");
    bad("FRONTEND_RETIRED:9:frontend=0x1000000", "'FRONTEND_RETIRED:9:frontend=0x1000000'", "frontend=");
    bad("FRONTEND_RETIRED:9:frontend=0", "'FRONTEND_RETIRED:9:frontend=0'", "frontend=");
    bad("branches:7,instructions:9:ldlat=30:u", "option 'pebs': 'instructions:9:ldlat=30': ldlat= is for ",
        "MEM_TRANS_RETIRED.LOAD_LATENCY alone: leave it out, or ask for that event");
    bad("cycles:9:u:frontend=1", "'cycles:9:u:frontend=1'", "frontend= is for FRONTEND_RETIRED alone");
    bad("MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=3:ldlat=3", ":ldlat=3:ldlat=3'", "alone");
    bad("INST_RETIRED.PREC_DIST:9:plain", "9:plain'", "after the period"); /* without PEBS they are nothing */
    bad("FRONTEND_RETIRED:9:frontend=1:plain", "=1:plain'", "after the period");
}

static void mistakes(void **state)
{
    (void)state;
    bad("", "''", "an event is missing");
    bad("cycle:100", "'cycle'", "not a known event: docs/reference/options.md");
    assert_true(strlen(error) < 80); /* a line of the console's */
    bad("xnstructions:5", "'xnstructions'", "not a known event");
    bad("branches:7,instructionz:5", "'instructionz'", "not a known event");
    bad("INST_RETIRED.ANY", "option 'pebs': 'INST_RETIRED.ANY': ", "needs a period");
    bad("instructions:", "'instructions:'", "period");
    bad("instructions:0", "'instructions:0'", "period");
    bad("branches:7,instructions:-5:u", "'instructions:-5'", "period");
    bad("instructions:5k", "'instructions:5k'", "period");
    bad("instructions:140737488355328", "'instructions:140737488355328'", "2^47");
    bad("instructions:99999999999999999999999", "'instructions:99999999999999999999999'", "2^47");
    bad("instructions:5:x", "'instructions:5:x'", "u, k or uk");
    bad("instructions:5:", "'instructions:5:'", "u, k or uk");
    bad("instructions:5:u:k", "'instructions:5:u:k'", "each once");
    bad("instructions:5:plain:u", "'instructions:5:plain:u'", "then plain");
    bad("instructions:5:plain:plain,branches:7", "'instructions:5:plain:plain'", "each once");
    bad("instructions:5,", "'instructions:5,'", "an event is missing");
    bad("instructions:5,,branches:5", "'instructions:5,,branches:5'", "an event is missing");
    bad("instructions:1,instructions:1,instructions:1,instructions:1,instructions:1,instructions:1,instructions:1,"
        "instructions:1,instructions:1,instructions:1,instructions:1,instructions:1,instructions:1,"
        "instructions:1,instructions:1",
        "instructions:1", "14");
    good("none", 0);
    bad("none,instructions:5", "'none'", "not a known event");
    char tiny[8];
    assert_int_equal(ds_parse_events("cycle:1", &config, tiny, sizeof tiny), -EINVAL);
    assert_int_equal(strlen(tiny), 7);
}

/* pebs.later=: as many periods as there are events, or none. */
static void later(void **state)
{
    (void)state;
    uint64_t period[DS_MAX_COUNTERS] = {7};
    assert_int_equal(ds_parse_periods("none", 2, period, error, sizeof error), 0);
    assert_true(period[0] == 0);
    assert_int_equal(ds_parse_periods("1,140737488355327", 2, period, error, sizeof error), 0);
    assert_true(period[0] == 1 && period[1] == (UINT64_C(1) << 47) - 1);
    assert_int_equal(ds_parse_periods("9", 1, period, error, sizeof error), 0);
    static const char *const wrong[] = {"9",    "9,",  ",9",     "9,8,7", "9,0", "9,140737488355328",
                                        "9,8x", "9 8", "none,1", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(ds_parse_periods(wrong[i], 2, period, error, sizeof error), -EINVAL);
        assert_non_null(strstr(error, "option 'pebs.later'"));
        assert_non_null(strstr(error, wrong[i]));
    }
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
    assert_int_equal(ds_parse_groups("counters,gpr,mem", &config, error, sizeof error), 0);
    assert_int_equal(config.groups, MSR_PEBS_DATA_CFG_GPR | MSR_PEBS_DATA_CFG_MEMINFO | MSR_PEBS_DATA_CFG_CNTR);
    assert_int_equal(ds_parse_groups("xmm,lbr", &config, error, sizeof error), 0); /* all the history there is */
    assert_true(config.groups == (MSR_PEBS_DATA_CFG_XMM | MSR_PEBS_DATA_CFG_LBR | UINT64_C(31) << 24));
    assert_int_equal(ds_parse_groups("lbr:8,gpr", &config, error, sizeof error), 0);
    assert_true(config.groups == (MSR_PEBS_DATA_CFG_GPR | MSR_PEBS_DATA_CFG_LBR | UINT64_C(7) << 24));
    assert_int_equal(ds_parse_groups("lbr:1", &config, error, sizeof error), 0);
    assert_true(config.groups == MSR_PEBS_DATA_CFG_LBR);
    static const char *const wrong[] = {"gpr,gpr",     "gpr,",    ",gpr",    "gpr,none", "none,gpr", "gpr mem",
                                        "lbr:0",       "lbr:33",  "lbr:",    "lbr8",     "lb",       "lbr:-1",
                                        "lbr:1,lbr:2", "lbr,lbr", "lbr:8:8", "xmm:1",    "xmm,xmm"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(ds_parse_groups(wrong[i], &config, error, sizeof error), -EINVAL);
        assert_non_null(strstr(error, "each once"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),          cmocka_unit_test(generations), cmocka_unit_test(architectural_codes),
        cmocka_unit_test(event_settings), cmocka_unit_test(mistakes),    cmocka_unit_test(later),
        cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
