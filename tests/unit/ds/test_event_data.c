/* SPDX-License-Identifier: MIT */
/*
 * ds/events, read here once more, against what the driver is told of each processor: models, codes, counters, whether
 * PEBS records the event, precisely, alone. Run where ds/events is.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/driver/events.h"
#include "ds/ds.h"
#include "ds/events/events.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

#define COLUMNS 11
#define CORES   64

struct core {
    char name[32];
    uint32_t signature, core_type;
};
static struct core cores[CORES];
static size_t core_count;

/* The next line of `file` in its columns; NULL at the end. */
static char **columns(FILE *file, unsigned wanted)
{
    static char line[512], *column[COLUMNS];
    if (!fgets(line, sizeof line, file))
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    char *at = line;
    unsigned n = 0;
    for (char *next; (next = strsep(&at, "\t")) && n < COLUMNS; n++)
        column[n] = next;
    assert_int_equal(n, wanted);
    return column;
}

static FILE *data(const char *name)
{
    FILE *file = fopen(name, "r");
    if (!file)
        fail_msg("%s: the test runs in the folder of the Makefile", name);
    return file;
}

static uint32_t signature_of(unsigned family, unsigned model)
{
    const unsigned base = family < 15 ? family : 15;
    return (family - base) << 20 | (model >> 4) << 16 | base << 8 | (model & 15) << 4;
}

/* Every model of every core is found, also with another stepping; the last of each stands for it below. */
static void models(void **state)
{
    (void)state;
    FILE *file = data("ds/events/cores.tsv");
    unsigned all = 0;
    columns(file, 7);
    for (char **c; (c = columns(file, 7));) {
        struct core *core = &cores[core_count++];
        assert_true(core_count < CORES);
        snprintf(core->name, sizeof core->name, "%s", c[0]);
        core->core_type = (uint32_t)strtoul(c[3], NULL, 16) << 24 | (uint32_t)strtoul(c[4], NULL, 16);
        for (char *word; (word = strsep(&c[2], " ")); all++) {
            char *dash;
            unsigned family = (unsigned)strtoul(word, &dash, 10);
            core->signature = signature_of(family, (unsigned)strtoul(dash + 1, NULL, 16));
            char text[64] = "";
            const enum ds_generation g = ds_generation(core->signature | 3, core->core_type);
            if (g == DS_GENERATION_OTHER)
                fail_msg("%s: %s", c[0], word);
            char *to = text; /* its name as in the table: GOLDENCOVE */
            for (const char *from = ds_generation_text(g) + strlen("events are coded as on "); *from; from++)
                if (*from != ' ')
                    *to++ = (char)toupper(*from);
            if (strcmp(text, c[1]) != 0 && (g != DS_GENERATION_KNIGHTS || strcmp(c[1], "KNIGHTS") != 0))
                fail_msg("%s, %08x: '%s', not %s", c[0], core->signature, text, c[1]);
        }
    }
    fclose(file);
    assert_true(all > 75);
    static const uint32_t hybrids[] = {0x97, 0x9A, 0xB7, 0xBA, 0xBF, 0xAA, 0xAC, 0xB5, 0xC5, 0xC6, 0xBD};
    for (size_t i = 0; i < sizeof hybrids / sizeof hybrids[0]; i++) { /* hidden kinds, and both */
        const uint32_t s = signature_of(6, hybrids[i]);
        assert_int_equal(ds_generation(s, 0), ds_generation(s, 0x40000000));
        assert_true(ds_generation(s, 0x20000000) >= DS_GENERATION_GRACEMONT);
    }
    assert_int_equal(ds_generation(signature_of(6, 0xC5), 0x20000003), DS_GENERATION_SKYMONT);
    assert_int_equal(ds_generation(signature_of(6, 0xC5), 0x20000002), DS_GENERATION_CRESTMONT);
    assert_int_equal(ds_generation(signature_of(6, 0xD7), 0), DS_GENERATION_GOLDENCOVE);
    assert_int_equal(ds_generation(signature_of(6, 0xE7), 0), DS_GENERATION_OTHER);
    assert_int_equal(ds_generation(signature_of(15, 0x8F), 0), DS_GENERATION_OTHER);
}

static const struct {
    const char *listed, *name;
    int8_t fixed;
} events[] = {
    {"INST_RETIRED.ANY_P", "INST_RETIRED.ANY_P", DS_NO_FIXED},
    {"CPU_CLK_UNHALTED.THREAD_P", "CPU_CLK_UNHALTED.THREAD_P", DS_NO_FIXED},
    {"CPU_CLK_UNHALTED.CORE_P", "CPU_CLK_UNHALTED.THREAD_P", DS_NO_FIXED},
    {"BR_INST_RETIRED.ALL_BRANCHES_PEBS", "BR_INST_RETIRED.ALL_BRANCHES", DS_NO_FIXED},
    {"BR_INST_RETIRED.CONDITIONAL", "BR_INST_RETIRED.COND", DS_NO_FIXED},
    {"BR_INST_RETIRED.JCC", "BR_INST_RETIRED.COND", DS_NO_FIXED},
    {"BR_INST_RETIRED.NEAR_TAKEN", "BR_INST_RETIRED.NEAR_TAKEN", DS_NO_FIXED},
    {"BR_INST_RETIRED.NEAR_CALL", "BR_INST_RETIRED.NEAR_CALL", DS_NO_FIXED},
    {"BR_INST_RETIRED.CALL", "BR_INST_RETIRED.NEAR_CALL", DS_NO_FIXED},
    {"BR_INST_RETIRED.NEAR_RETURN", "BR_INST_RETIRED.NEAR_RETURN", DS_NO_FIXED},
    {"BR_INST_RETIRED.RETURN", "BR_INST_RETIRED.NEAR_RETURN", DS_NO_FIXED},
    {"BR_INST_RETIRED.FAR_BRANCH", "BR_INST_RETIRED.FAR_BRANCH", DS_NO_FIXED},
    {"INST_RETIRED.PREC_DIST", "INST_RETIRED.PREC_DIST", DS_NO_FIXED},
    {"MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", "MEM_TRANS_RETIRED.LOAD_LATENCY:1:ldlat=4", DS_NO_FIXED},
    {"MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_4", "MEM_TRANS_RETIRED.LOAD_LATENCY:1:ldlat=4", DS_NO_FIXED},
    {"FRONTEND_RETIRED.DSB_MISS", "FRONTEND_RETIRED:1:frontend=1", DS_NO_FIXED},
};

static struct ds_event event_of(const char *name)
{
    struct ds_config config;
    char spec[64], error[160];
    snprintf(spec, sizeof spec, "%s%s", name, strchr(name, ':') ? "" : ":1");
    if (ds_parse_events(spec, &config, error, sizeof error))
        fail_msg("%s", error);
    return config.event[0];
}

static uint64_t counters_of(char *list)
{
    uint64_t mask = 0;
    for (char *word; (word = strsep(&list, ","));)
        if (*word >= '0' && *word <= '9')
            mask |= DS_BIT(strtoul(word, NULL, 10));
    return mask;
}

static const char *core_named;
static struct ds_caps caps_of(const char *name)
{
    struct ds_caps caps = {0};
    core_named = name;
    for (size_t i = 0; i < core_count; i++)
        if (strcmp(cores[i].name, name) == 0)
            ds_events.find(&caps, cores[i].signature, cores[i].core_type);
    assert_true(caps.generation != DS_GENERATION_OTHER);
    return caps;
}

/* Each row that has a name in pebs=. */
static void rows(void **state)
{
    (void)state;
    FILE *file = data("ds/events/intel.tsv");
    unsigned seen = 0, with_pebs = 0, exact = 0, alone = 0, with_errata = 0;
    columns(file, 11);
    for (char **c; (c = columns(file, 11));) {
        size_t i = 0;
        while (i < sizeof events / sizeof events[0] && strcmp(events[i].listed, c[1]) != 0)
            i++;
        if (i == sizeof events / sizeof events[0])
            continue;
        const struct ds_caps caps = caps_of(c[0]);
        struct ds_event event = event_of(events[i].name);
        const uint64_t listed =
            strtoull(c[2], NULL, 16) | strtoull(c[3], NULL, 16) << 8 | strtoull(c[4], NULL, 16) << 40;
        const bool old = strcmp(c[8], "-") == 0;
        const bool records = !old || strcmp(c[6], "0") != 0, precise = records && strcmp(c[8], "0") != 0;
        uint64_t code = 0, counters = counters_of(c[7]);
        if (!counters)
            counters = counters_of(c[5]);
        if (records) {
            assert_int_equal(ds_event_code(&caps, &event, &code), 0);
            if (code != listed)
                fail_msg("%s %s: %lx", c[0], c[1], (unsigned long)code);
            if (counters && ds_event_counters(&caps, &event) != counters)
                fail_msg("%s %s: counters %lx", c[0], c[1], (unsigned long)ds_event_counters(&caps, &event));
        }
        if (ds_event_recorded(&caps, &event) != (records || event.kind == DS_EVENT_INSTRUCTIONS))
            fail_msg("%s %s: recorded", c[0], c[1]);
        if (ds_event_precise(&caps, &event) != precise)
            fail_msg("%s %s: precise", c[0], c[1]);
        if (ds_event_alone(&caps, &event) != (strcmp(c[9], "1") == 0))
            fail_msg("%s %s: alone", c[0], c[1]);
        const char *errata = ds_event_errata(&caps, &event);
        if (strcmp(errata ? errata : "-", c[10]) != 0)
            fail_msg("%s %s: errata %s", c[0], c[1], errata);
        with_errata += errata != NULL;
        seen++;
        with_pebs += records;
        exact += precise;
        alone += strcmp(c[9], "1") == 0;
    }
    fclose(file);
    assert_true(seen > 350 && with_pebs > 250 && exact > 200 && exact < with_pebs && alone > 10 && with_errata > 50);
}

/* What used to be wrong here. */
static void by_name(void **state)
{
    (void)state;
    static const struct {
        const char *core, *event;
        uint64_t code, counters;
    } known[] = {
        {"LNL/Core", "BR_INST_RETIRED.COND", 0x100000011C4, 0x3FF},
        {"SPR", "BR_INST_RETIRED.COND", 0x11C4, 0xFF},
        {"GNR", "FRONTEND_RETIRED:1:frontend=1", 0x3C6, 0xFF},
        {"MTL/Core", "FRONTEND_RETIRED:1:frontend=1", 0x3C6, 0xFF},
        {"SPR", "FRONTEND_RETIRED:1:frontend=1", 0x1C6, 0xFF},
        {"ADL/Atom", "BR_INST_RETIRED.NEAR_TAKEN", 0xC0C4, 0x3F},
        {"SRF", "BR_INST_RETIRED.NEAR_TAKEN", 0xC0C4, 0xFF},
        {"ADL/Atom", "MEM_TRANS_RETIRED.LOAD_LATENCY:1:ldlat=4", 0x5D0, 3},
        {"NHM-EP", "MEM_TRANS_RETIRED.LOAD_LATENCY:1:ldlat=4", 0x100B, 8},
        {"BDX", "MEM_TRANS_RETIRED.LOAD_LATENCY:1:ldlat=4", 0x1CD, 8},
        {"SKX", "MEM_TRANS_RETIRED.LOAD_LATENCY:1:ldlat=4", 0x1CD, 0xF},
        {"LNL/Core", "MEM_TRANS_RETIRED.LOAD_LATENCY:1:ldlat=4", 0x1CD, 0x3FC},
        {"PTL/Core", "MEM_TRANS_RETIRED.LOAD_LATENCY:1:ldlat=4", 0x1CD, 0x3FC},
        {"PTL/Core", "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x2CD, 3},
        {"PTL/Core", "FRONTEND_RETIRED:1:frontend=1", 0x3C6, 0x3FF},
        {"PTL/Core", "BR_INST_RETIRED.FAR_BRANCH", 0x100000000C4, 0x3FF},
        {"PTL/Atom", "MEM_TRANS_RETIRED.LOAD_LATENCY:1:ldlat=4", 0x5D0, 0xFF},
        {"CWF", "MEM_UOPS_RETIRED.STORE_LATENCY", 0x6D0, 0xFF},
        {"SPR", "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x2CD, 1},
        {"MTL/Core", "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x2CD, 1},
        {"LNL/Core", "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x2CD, 3},
        {"ADL/Atom", "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x6D0, 0xF},
        {"LNL/Atom", "MEM_UOPS_RETIRED.STORE_LATENCY", 0x6D0, 0xF},
        {"SPR", "INST_RETIRED.ANY_P", 0xC0, 0xFE},
        {"GNR", "INST_RETIRED.ANY_P", 0xC0, 0xFE},
        {"GNR", "INST_RETIRED.ANY", 0xC0, 0xFE | DS_BIT(32)},
        {"ICX", "INST_RETIRED.ANY_P", 0xC0, 0xFF},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct ds_caps caps = caps_of(known[i].core);
        const struct ds_event event = event_of(known[i].event);
        uint64_t code;
        assert_int_equal(ds_event_code(&caps, &event, &code), 0);
        if (code != known[i].code || ds_event_counters(&caps, &event) != known[i].counters)
            fail_msg("%s %s: %lx, %lx", known[i].core, known[i].event, (unsigned long)code,
                     (unsigned long)ds_event_counters(&caps, &event));
    }
    struct ds_caps caps = caps_of("SNR"); /* not in its list, but with the baseline every event has PEBS */
    const struct ds_event cycles = event_of("cycles");
    assert_false(ds_event_recorded(&caps, &cycles));
    caps.adaptive = true;
    assert_true(ds_event_recorded(&caps, &cycles) && !ds_event_precise(&caps, &cycles));
    const struct ds_event alone = event_of("INST_RETIRED.PREC_DIST");
    caps = caps_of("SNB");
    assert_true(ds_event_alone(&caps, &alone));
    caps = caps_of("IVB");
    assert_false(ds_event_alone(&caps, &alone));
    const struct ds_event latency = event_of("MEM_TRANS_RETIRED.LOAD_LATENCY:1:ldlat=4");
    caps = caps_of("LNL/Atom"); /* recorded, not precisely: what Intel's list of Skymont says */
    assert_true(ds_event_recorded(&caps, &latency) && ds_event_alone(&caps, &latency));
    assert_false(ds_event_precise(&caps, &latency));
    caps = caps_of("CWF");
    assert_true(ds_event_precise(&caps, &latency) && ds_event_alone(&caps, &latency));
    caps = caps_of("ADL/Atom");
    assert_true(ds_event_precise(&caps, &latency));
    const struct ds_event stores = event_of("MEM_TRANS_RETIRED.STORE_SAMPLE");
    assert_true(ds_event_precise(&caps, &stores) && !ds_event_alone(&caps, &stores));
    uint64_t code;
    caps = caps_of("ICX");
    assert_int_equal(ds_event_code(&caps, &stores, &code), -ENOENT);
}

/* Errata are a product's, not the core's. */
static void errata(void **state)
{
    (void)state;
    const struct ds_event all = event_of("BR_INST_RETIRED.ALL_BRANCHES"), plain = event_of("branches:1:plain");
    const struct ds_event taken = event_of("BR_INST_RETIRED.NEAR_TAKEN"), any = event_of("INST_RETIRED.ANY:1:plain");
    struct ds_caps caps = caps_of("MTL/Atom");
    assert_string_equal(ds_event_errata(&caps, &all), "MTL012,MTL013");
    assert_string_equal(ds_event_errata(&caps, &plain), "MTL012,MTL013");
    assert_string_equal(ds_event_errata(&caps, &taken), "MTL013");
    assert_null(ds_event_errata(&caps, &any));
    caps = caps_of("SRF");
    assert_string_equal(ds_event_errata(&caps, &all), "SRF6,SRF7");
    caps = caps_of("ARL/LowPower_Atom");
    assert_string_equal(ds_event_errata(&caps, &all), "ARL010,ARL011");
    caps = caps_of("GRR"); /* a Crestmont, too */
    assert_null(ds_event_errata(&caps, &all));
    caps = caps_of("BDX"); /* that of PEBS is another event */
    assert_string_equal(ds_event_errata(&caps, &all), "BDW98");
    assert_null(ds_event_errata(&caps, &plain));
    caps = caps_of("SKL"); /* of INST_RETIRED.ANY_P: on a fixed counter it is another event */
    assert_null(ds_event_errata(&caps, &any));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models),
        cmocka_unit_test(rows),
        cmocka_unit_test(by_name),
        cmocka_unit_test(errata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
