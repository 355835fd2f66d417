/* SPDX-License-Identifier: MIT */
/*
 * The self-test on a machine whose registers are the model's, and whose counters count while they are on: which events
 * have no PEBS there is the test's to say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ds/ds.h"
#include "ds/model/model.h"
#include "kernel/lib/errno.h"

static struct counting_machine {
    struct ds_model model;
    bool no_any_p, no_prec_dist; /* PEBS makes no record of C0H/00H; of C0H/01H */
    bool still;                  /* no counter counts */
    uint32_t forbidden;          /* MSR that raises #GP */
} fake;

static struct ds_caps caps;
static uint64_t area[512] __attribute__((aligned(4096)));
static uint8_t buffer[DS_SELF_TEST_BUFFER] __attribute__((aligned(4096)));

static bool read_memory(void *context, uint64_t address, void *to, uint32_t size)
{
    (void)context;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static bool write_memory(void *context, uint64_t address, const void *from, uint32_t size)
{
    (void)context;
    assert_true(address - (uintptr_t)buffer < sizeof buffer || address - (uintptr_t)area < sizeof area);
    memcpy((void *)(uintptr_t)address, from, size);
    return true;
}

static void registers(void *context, struct ds_model_registers *out)
{
    (void)context;
    memset(out, 0, sizeof *out);
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    (void)context, (void)lvtpc;
    fail_msg("a PMI");
}

static void cpuid(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    (void)context;
    ds_model_cpuid(&fake.model, leaf, subleaf, out);
}

static int rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    (void)context;
    return msr == fake.forbidden || ds_model_rdmsr(&fake.model, msr, value) ? -EFAULT : 0;
}

/* What has run in the kernel since counters went on. */
static void count(void)
{
    const struct ds_model_retired retired = {.events = 1u << DS_MODEL_INSTRUCTION};
    const uint64_t pebs = fake.model.pebs;
    for (unsigned i = 0; i < DS_MODEL_GP_MAX; i++)
        if ((fake.no_any_p && (fake.model.perfevtsel[i] & 0xFFFF) == 0x00C0) ||
            (fake.no_prec_dist && (fake.model.perfevtsel[i] & 0xFFFF) == 0x01C0))
            fake.model.pebs &= ~DS_BIT(i);
    for (unsigned i = 0; i < 700 && !fake.still; i++)
        ds_model_retire(&fake.model, &retired);
    fake.model.pebs = pebs;
}

static int wrmsr(void *context, uint32_t msr, uint64_t value)
{
    (void)context;
    if (msr == IA32_PERF_GLOBAL_CTRL && !value && fake.model.global_ctrl && fake.model.ds_area == (uintptr_t)area)
        count();
    return msr == fake.forbidden || ds_model_wrmsr(&fake.model, msr, value) ? -EFAULT : 0;
}

static uint32_t lvtpc_read(void *context)
{
    (void)context;
    return fake.model.lvtpc;
}

static void lvtpc_write(void *context, uint32_t value)
{
    (void)context;
    ds_model_lvtpc_write(&fake.model, value);
}

static const struct ds_machine machine = {"fake", cpuid, rdmsr, wrmsr, lvtpc_read, lvtpc_write, NULL, NULL};

static void set_up(const char *preset, uint32_t signature)
{
    static struct ds_model_preset p;
    const struct ds_model_host host = {
        .read = read_memory, .write = write_memory, .registers = registers, .raise_pmi = raise_pmi};
    memset(&fake, 0, sizeof fake);
    p = *ds_model_preset(preset);
    p.signature = signature ? signature : p.signature;
    ds_model_init(&fake.model, &p, NULL, &host);
    assert_int_equal(ds_detect(&machine, &caps), 0);
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
    enum ds_tried tried = ds_self_test(ds, &machine, &caps, &event, area, buffer);
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
        fake.no_any_p = true;
        assert_int_equal(try("INST_RETIRED.ANY:5003"), DS_TRIED_NO_RECORD);
        assert_int_equal(last_row()->value, 0);
        assert_false(last_row()->ok);
        assert_string_equal(last_row()->verdict, "its counter has run past 0, and PEBS has made no record");
        assert_int_equal(try("INST_RETIRED.PREC_DIST:5056"), DS_TRIED_RECORDS);
        assert_string_equal(last_row()->name, "self-test: INST_RETIRED.PREC_DIST");
        fake.no_prec_dist = true;
        assert_int_equal(try("INST_RETIRED.PREC_DIST:5056"), DS_TRIED_NO_RECORD);
    }
}

static void stands_still(void **state)
{
    (void)state;
    set_up("icelake", 0);
    fake.still = true;
    assert_int_equal(try("INST_RETIRED.ANY:5003"), DS_TRIED_STILL);
    assert_false(last_row()->ok);
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
        assert_int_equal(ds_cpu_init(ds, 0, &machine, &caps, &config, &hooks, area, buffer, error, sizeof error), 0);
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
