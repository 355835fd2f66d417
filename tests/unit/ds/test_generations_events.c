/* SPDX-License-Identifier: MIT */
/*
 * On the model of every processor there is: which events the driver can count there and what it programs for them, load
 * latency, precise distribution and the frontend among them; which groups a record can have.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "ds/ds.h"
#include "ds/later/later.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/model_machine.h"
#include "tests/unit/support/presets.h"

static struct ds_model *const model = &model_machine.model;
static struct ds_cpu *ds;
static uint64_t area[512] __attribute__((aligned(4096)));

/* Where the processor has them the registers take what is programmed; elsewhere they are refused by name. */
static void special_events(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        uint16_t latency, distribution, frontend; /* the code; 0: refused */
        uint8_t latency_counter, distribution_counter;
    } rows[] = {
        {"penryn", 0, 0, 0, 0, 0},
        {"nehalem", 0x100B, 0, 0, 3, 0},
        {"sandybridge", 0x01CD, 0x01C0, 0, 3, 1},
        {"haswell", 0x01CD, 0x01C0, 0, 3, 1},
        {"skylake", 0x01CD, 0x01C0, 0x01C6, 0, 1},
        {"icelake", 0x01CD, 0x0100, 0x01C6, 0, 32},
        {"sapphirerapids", 0x01CD, 0x0100, 0x01C6, 1, 32},
        {"arrowlake", 0x01CD, 0x0100, 0x03C6, 2, 32},
        {"lunarlake", 0x01CD, 0x0100, 0x03C6, 2, 32},
        {"pantherlake", 0x01CD, 0x0100, 0x03C6, 2, 32},
        {"clearwaterforest", 0x05D0, 0, 0, 0, 0},
    };
    _Static_assert(sizeof rows / sizeof rows[0] == PRESETS, "every preset");
    static const char *const specs[] = {"MEM_TRANS_RETIRED.LOAD_LATENCY:1009:ldlat=30:k",
                                        "INST_RETIRED.PREC_DIST:1009:k", "FRONTEND_RETIRED:1009:frontend=0x11:k"};
    const struct ds_hooks hooks = {.before_drain = model_machine_before_drain, .drained = model_machine_drained};
    for (size_t i = 0; i < PRESETS; i++)
        for (unsigned kind = 0; kind < 3; kind++) {
            const struct ds_model_preset *p = ds_model_preset(rows[i].preset);
            const uint16_t code = kind == 0 ? rows[i].latency : kind == 1 ? rows[i].distribution : rows[i].frontend;
            const unsigned counter = kind == 0 ? rows[i].latency_counter : kind == 1 ? rows[i].distribution_counter : 0;
            struct ds_config config = {.records = 4, .threshold = 4};
            struct ds_caps caps;
            struct ds_refusal refusal;
            char error[200] = "";
            model_machine_reset(p, NULL, model_machine_numbered);
            model_machine_set(IA32_FIXED_CTR_CTRL, 0); /* as it is: what the model derives is up to date */
            struct ds_model before;
            memcpy(&before, model, sizeof before);
            assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
            assert_int_equal(ds_parse_events(specs[kind], &config, error, sizeof error), 0);
            void *buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
            ds = realloc(ds, ds_cpu_bytes());
            int e = ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error);
            assert_int_equal(e, code ? 0 : -EINVAL);
            if (!code) {
                assert_non_null(strstr(error, "not an event of this processor"));
                assert_non_null(strstr(error, config.event[0].name));
                free(buffer);
                continue;
            }
            if (ds_start(ds, &refusal))
                fail_msg("%s: %s: MSR %x", p->name, specs[kind], refusal.msr);
            assert_int_equal(ds_event_counter(ds, 0), counter);
            if (counter < DS_COUNTER_FIXED)
                assert_int_equal(model->perfevtsel[counter] & 0xFFFF, code);
            else
                assert_int_equal(model->fixed_ctr_ctrl & 0xF, 1);
            assert_int_equal(model->ld_lat, kind == 0 ? 30 : 0);
            assert_int_equal(model->frontend, kind == 2 ? 0x11 : 0);
            const bool by_enable = !p->baseline && p->format != DS_FORMAT_ARCH;
            const uint64_t latency = kind == 0 && by_enable ? DS_BIT(32 + counter) : 0;
            assert_true(model->pebs_enable == (DS_BIT(counter) | latency));
            const bool helped = kind == 0 && strcmp(p->name, "sapphirerapids") == 0; /* by another counter's event */
            ds_resume(ds);
            assert_true(model->global_ctrl == (DS_BIT(counter) | helped));
            if (helped)
                assert_int_equal(model->perfevtsel[0], 0x428203);
            const uint64_t later[] = {2003}; /* another period is all that changes */
            assert_int_equal(ds_reconfigure(ds, later, error, sizeof error), 0);
            assert_true(model->pebs_enable == (DS_BIT(counter) | latency));
            assert_int_equal(model->ld_lat, kind == 0 ? 30 : 0);
            assert_int_equal(model->frontend, kind == 2 ? 0x11 : 0);
            ds_stop(ds);
            model_machine_expect(&before);
            free(buffer);
        }
}

/* One register, one event; those that are bound to a counter get it whatever the order. */
static void special_events_beside_others(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *events, *error;
    } rows[] = {
        {"skylake", "branches:9,branches:9,INST_RETIRED.PREC_DIST:9", NULL},
        {"skylake", "INST_RETIRED.PREC_DIST:9,INST_RETIRED.PREC_DIST:9",
         "no PEBS counter left for INST_RETIRED.PREC_DIST"},
        {"sandybridge", "branches:9:plain,branches:9:plain,branches:9:plain,MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=9",
         NULL},
        {"sandybridge", "branches:9,INST_RETIRED.PREC_DIST:9",
         "INST_RETIRED.PREC_DIST: must be the only PEBS event on this processor (CPU 0): leave BR_INST"},
        {"skylake", "branches:9:plain,branches:9,FRONTEND_RETIRED:9:frontend=1",
         "FRONTEND_RETIRED: must be the only PEBS event"},
        {"icelake", "instructions:9,INST_RETIRED.PREC_DIST:9", NULL},
        {"skylake", "MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=9,MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=9",
         "MEM_TRANS_RETIRED.LOAD_LATENCY: once only: there is one MSR_PEBS_LD_LAT"},
        {"icelake", "FRONTEND_RETIRED:9:frontend=1,FRONTEND_RETIRED:9:frontend=2", "there is one MSR_PEBS_FRONTEND"},
        {"sapphirerapids",
         "branches:9:plain,branches:9:plain,branches:9:plain,branches:9:plain,"
         "MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=9",
         NULL},
        {"sapphirerapids",
         "MEM_TRANS_RETIRED.LOAD_LATENCY:9:ldlat=9,"
         "branches:9:plain,branches:9:plain,branches:9:plain,branches:9:plain,branches:9:plain,"
         "branches:9:plain,branches:9:plain",
         "no counter left for BR_INST_RETIRED.ALL_BRANCHES, as MEM_TRANS_RETIRED.LOAD_LATENCY takes two: give fewer"},
        {"sapphirerapids",
         "branches:9:plain,branches:9:plain,branches:9:plain,branches:9:plain,branches:9:plain,"
         "branches:9:plain,branches:9:plain,branches:9:plain,branches:9:plain",
         "no counter left for BR_INST_RETIRED.ALL_BRANCHES: give fewer events"},
    };
    const struct ds_hooks hooks = {.before_drain = model_machine_before_drain, .drained = model_machine_drained};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ds_config config = {.records = 1, .threshold = 1};
        struct ds_caps caps;
        char error[200] = "";
        model_machine_reset(ds_model_preset(rows[i].preset), NULL, model_machine_numbered);
        assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
        assert_int_equal(ds_parse_events(rows[i].events, &config, error, sizeof error), 0);
        ds = realloc(ds, ds_cpu_bytes());
        int e = ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, area, error, sizeof error);
        if (e != (rows[i].error ? -EINVAL : 0) || !strstr(error, rows[i].error ? rows[i].error : ""))
            fail_msg("%s, %s: '%s'", rows[i].preset, rows[i].events, error);
    }
    static const char *const machines[] = {"skylake", "haswell", "sapphirerapids", "haswell"};
    for (unsigned i = 0; i < 4; i++) { /* shortest periods */
        struct ds_config config = {.records = 1, .threshold = 1};
        struct ds_caps caps;
        char error[200] = "";
        const bool broadwell = i == 3;
        model_machine_reset(ds_model_preset(machines[i]), NULL, model_machine_numbered);
        assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
        caps.errata.period_64 = broadwell;
        for (uint64_t period = 1; period < 300; period++) {
            assert_int_equal(ds_parse_events("INST_RETIRED.PREC_DIST:9,branches:9", &config, error, sizeof error), 0);
            config.event[0].period = period;
            config.event[1].period = 300;
            const bool good = broadwell ? period == 128 || period == 192 || period == 256 : i == 0 || period >= 128;
            assert_int_equal(
                ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, area, error, sizeof error),
                good ? 0 : -EINVAL);
            config.event[0].period = 128;
            config.event[1].period = period;
            assert_int_equal(
                ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, area, error, sizeof error),
                period >= 32 || i % 2 == 0 ? 0 : -EINVAL);
        }
    }
}

static const struct {
    const char *name;
    unsigned event; /* of the model: what it counts */
} events[] = {
    {"INST_RETIRED.ANY", DS_MODEL_INSTRUCTION},
    {"INST_RETIRED.ANY_P", DS_MODEL_INSTRUCTION},
    {"CPU_CLK_UNHALTED.THREAD", DS_MODEL_INSTRUCTION},
    {"CPU_CLK_UNHALTED.THREAD_P", DS_MODEL_INSTRUCTION},
    {"BR_INST_RETIRED.ALL_BRANCHES", DS_MODEL_BRANCH},
    {"BR_INST_RETIRED.CONDITIONAL", DS_MODEL_BRANCH_CONDITIONAL},
    {"BR_INST_RETIRED.NEAR_TAKEN", DS_MODEL_BRANCH_TAKEN},
    {"BR_INST_RETIRED.NEAR_CALL", DS_MODEL_NEAR_CALL},
    {"BR_INST_RETIRED.NEAR_RETURN", DS_MODEL_NEAR_RETURN},
    {"BR_INST_RETIRED.FAR_BRANCH", DS_MODEL_FAR_BRANCH},
};
#define EVENTS (sizeof events / sizeof events[0])

/* What the driver programs for each event counts that one and no other, or the driver refuses it by name. */
static unsigned count_each(const struct ds_model_preset *p, const char *plain)
{
    const struct ds_hooks hooks = {.before_drain = model_machine_before_drain, .drained = model_machine_drained};
    struct ds_config config = {.records = 8, .threshold = 8};
    struct ds_caps caps;
    struct ds_refusal refusal;
    char spec[64], error[160] = "";
    unsigned taken = 0;
    assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
    void *buffer = aligned_alloc(4096, 4096);
    ds = realloc(ds, ds_cpu_bytes());
    for (size_t i = 0; i < EVENTS; i++) {
        snprintf(spec, sizeof spec, "%s:%u%s", events[i].name, 1000000, plain);
        assert_int_equal(ds_parse_events(spec, &config, error, sizeof error), 0);
        if (ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error)) {
            assert_non_null(strstr(error, events[i].name));
            continue;
        }
        taken |= 1u << i;
        assert_int_equal(ds_start(ds, &refusal), 0);
        ds_resume(ds);
        unsigned counter = ds_event_counter(ds, 0);
        for (unsigned e = 0; e < DS_MODEL_EVENTS; e++) {
            const struct ds_model_retired retired = {.events = DS_BIT(e)};
            uint64_t before = model->value[counter];
            assert_int_equal(ds_model_retire(model, &retired), 0);
            if (model->value[counter] - before != (e == events[i].event))
                fail_msg("%s: %s: event %u", p->name, spec, e);
        }
        ds_stop(ds);
    }
    free(buffer);
    return taken;
}

static void each_event(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        unsigned plain, precise; /* bits of `events` */
    } rows[] = {
        {"penryn", 0x05F, 0x003},         {"nehalem", 0x0BF, 0x0B3},          {"sandybridge", 0x3FF, 0x1F3},
        {"haswell", 0x3FF, 0x1F3},        {"skylake", 0x3FF, 0x3F3},          {"icelake", 0x3FF, 0x3FF},
        {"sapphirerapids", 0x3FF, 0x3FF}, {"arrowlake", 0x3FF, 0x3FF},        {"lunarlake", 0x3FF, 0x3FF},
        {"pantherlake", 0x3FF, 0x3FF},    {"clearwaterforest", 0x1FF, 0x1FF},
    };
    _Static_assert(sizeof rows / sizeof rows[0] == PRESETS, "every preset");
    for (size_t i = 0; i < PRESETS; i++) {
        const struct ds_model_preset *p = ds_model_preset(rows[i].preset);
        assert_non_null(p);
        model_machine_reset(p, NULL, model_machine_numbered);
        assert_int_equal(count_each(p, ":plain"), rows[i].plain);
        assert_int_equal(count_each(p, ""), rows[i].precise);
    }
}

static uint8_t taken[1024]; /* the records of the last drain */
static uint32_t taken_bytes;

static void take(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu;
    assert_true(d->bytes <= sizeof taken);
    memcpy(taken, d->bytes ? d->records : "", d->bytes);
    taken_bytes = d->bytes;
}

/* Format 6: every counter there is, as it stands when the record is written, behind the memory and register groups. */
static void counters_in_the_record(void **state)
{
    (void)state;
    const struct ds_hooks hooks = {.before_drain = model_machine_before_drain, .drained = take};
    struct ds_config config = {.records = 2, .threshold = 2};
    struct ds_caps caps;
    struct ds_refusal refusal;
    char error[160] = "";
    model_machine_reset(ds_model_preset("lunarlake"), NULL, model_machine_numbered);
    assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:4,branches:100:plain", &config, error, sizeof error), 0);
    assert_int_equal(ds_parse_groups("gpr,mem,counters", &config, error, sizeof error), 0);
    const uint32_t size = 32 + 32 + 144 + 16 + 14 * 8;
    assert_int_equal(ds_record_size(&caps, &config), size);
    void *buffer = aligned_alloc(4096, ds_buffer_bytes(&caps, &config));
    ds = realloc(ds, ds_cpu_bytes());
    if (ds_cpu_init(ds, 0, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(ds_start(ds, &refusal), 0);
    ds_resume(ds);
    for (model_machine.now = 1; model_machine.now <= 5; model_machine.now++) { /* the 4th arms, the 5th writes */
        const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_INSTRUCTION) |
                                                           (model_machine.now & 1 ? DS_BIT(DS_MODEL_BRANCH) : 0)};
        assert_int_equal(ds_model_retire(model, &retired), 0);
    }
    ds_pause(ds);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    assert_int_equal(taken_bytes, size);
    const struct ds_pebs_basic *basic = (const void *)taken;
    assert_int_equal(ds_pebs_head_size(basic->head), size);
    assert_int_equal(basic->eventing_ip, 5);
    const struct ds_pebs_gpr *gpr = (const void *)(taken + 32 + 32);
    assert_int_equal(gpr->rip, 6);
    const struct ds_pebs_cntr *head = (const void *)(gpr + 1);
    assert_int_equal(head->gp_mask, 0x3FF);
    assert_int_equal(head->fixed_mask, 0xF);
    const uint64_t *values = (const void *)(head + 1);
    assert_true(values[0] == DS_BIT(48) - 100 + 3); /* branches so far */
    assert_int_equal(values[10], 1);                /* instructions since the overflow, not reloaded yet */
    ds_stop(ds);

    model_machine_reset(ds_model_preset("arrowlake"), NULL, model_machine_numbered);
    assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
    assert_int_equal(ds_cpu_init(ds, 3, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error),
                     -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': counters: records of this processor (CPU 3, format 5) have none");
    model_machine_reset(ds_model_preset("skylake"), NULL, model_machine_numbered);
    assert_int_equal(ds_detect(&model_machine_hw, &caps), 0);
    config.groups = MSR_PEBS_DATA_CFG_MEMINFO;
    assert_int_equal(ds_cpu_init(ds, 3, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error),
                     -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': mem: records of this processor (CPU 3, format 3) have none");
    config.groups = MSR_PEBS_DATA_CFG_XMM | MSR_PEBS_DATA_CFG_LBR;
    assert_int_equal(ds_cpu_init(ds, 3, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error),
                     -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': xmm: records of this processor (CPU 3, format 3) have none");
    config.groups = MSR_PEBS_DATA_CFG_LBR;
    assert_int_equal(ds_cpu_init(ds, 3, &model_machine_hw, &caps, &config, &hooks, area, buffer, error, sizeof error),
                     -EINVAL);
    assert_string_equal(error, "option 'pebs.groups': lbr: records of this processor (CPU 3, format 3) have none");
    free(buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event),
        cmocka_unit_test(counters_in_the_record),
        cmocka_unit_test(special_events),
        cmocka_unit_test(special_events_beside_others),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    return failed;
}
