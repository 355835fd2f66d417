/* SPDX-License-Identifier: MIT */
/*
 * Branch history beside BTS, whose control is in the same register, and while counting is throttled: the driver on a
 * machine whose registers are the model's. Without BTS, what is written is in test_driver.c.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "ds/bts/bts.h"
#include "ds/lbr_layout.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/model_machine.h"

static struct ds_model *const model = &model_machine.model;
static struct ds_cpu *ds;
static enum cairn_ds_reason reason; /* of the last drain */

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *drain)
{
    (void)context, (void)cpu;
    reason = drain->reason;
}

static void bts_drained(void *context, uint32_t cpu, const struct ds_bts_drain *drain)
{
    (void)context, (void)cpu, (void)drain;
}

/* Records of 8 branches, two PMIs a tick; `bts`: branches into a buffer as well. Everything is up, and paused. */
static void begin(const char *preset, const struct ds_machine *machine, bool bts)
{
    static struct ds_bts branch_trace;
    static uint64_t area[512] __attribute__((aligned(4096))), buffer[2048], branches[512];
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained, .bts_drained = bts_drained};
    struct ds_config config = {.records = 8, .threshold = 1, .throttle = 2};
    struct ds_refusal refusal;
    struct ds_caps caps;
    char error[160] = "";
    model_machine_reset(ds_model_preset(preset), NULL, NULL);
    assert_int_equal(ds_detect(machine, &caps), 0);
    assert_int_equal(ds_parse_events("INST_RETIRED.ANY:3", &config, error, sizeof error), 0);
    assert_int_equal(ds_parse_groups("lbr:8", &config, error, sizeof error), 0);
    ds = realloc(ds, ds_cpu_bytes());
    if (ds_cpu_init(ds, 0, machine, &caps, &config, &hooks, area, buffer, error, sizeof error))
        fail_msg("%s", error);
    if (bts)
        assert_int_equal(ds_bts_init(&branch_trace, ds, DS_BTS_INTERRUPT, DS_BTS_ALL, 64, branches), 0);
    assert_int_equal(ds_start(ds, &refusal), 0);
    if (bts)
        assert_int_equal(ds_bts_start(ds, &refusal), 0);
}

/* Whether the taken branch that retires goes into the history; a PMI that it raises is taken. */
static bool remembered(void)
{
    static uint64_t from;
    struct arch_trap_frame frame = {0};
    const struct ds_model_branch branch = {.from = ++from, .to = from + 0x1000};
    const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_INSTRUCTION), .branch = &branch};
    const uint32_t next = model->lbr_tos;
    assert_int_equal(ds_model_retire(model, &retired), 0);
    const bool is = model->lbr_tos != next;
    if (model_machine.pmi) {
        model_machine.pmi = false;
        assert_true(ds_pmi(ds));
        ds_resume_frame(ds, &frame);
    }
    return is;
}

/* Off before the counters, on before them: each branch of ours would push out one of the thread's. */
static void off_first_on_first(void **state)
{
    (void)state;
    const uint64_t chosen = IA32_DEBUGCTL_BTS | IA32_DEBUGCTL_BTINT;
    begin("icelake", &model_machine_hw, true);
    const unsigned n = model_machine.written;
    ds_resume(ds);
    ds_pause(ds);
    const struct model_machine_write expected[] = {
        {IA32_DEBUGCTL, chosen | IA32_DEBUGCTL_TR | IA32_DEBUGCTL_LBR},
        {IA32_PERF_GLOBAL_CTRL, DS_BIT(32)},
        {IA32_DEBUGCTL, chosen},
        {IA32_PERF_GLOBAL_CTRL, 0},
    };
    assert_int_equal(model_machine.written - n, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(model_machine.writes[n + i].msr, expected[i].msr);
        assert_int_equal(model_machine.writes[n + i].value, expected[i].value);
    }
    ds_stop(ds);
}

/* One rule for both kinds of history, with BTS and without it, whatever holds the counters. */
static void stands_still_while_throttled(void **state)
{
    (void)state;
    struct arch_trap_frame frame = {0};
    static const char *const preset[] = {"icelake", "sapphirerapids"}; /* by DEBUGCTL, by IA32_LBR_CTL */
    for (unsigned i = 0; i < 8; i++) {
        begin(preset[i & 1], i & 2 ? &model_machine_stepped : &model_machine_hw, i & 4);
        ds_resume(ds);
        do
            assert_true(remembered());
        while (reason != CAIRN_DS_THROTTLE);
        for (unsigned n = 0; n < 20; n++)
            assert_false(remembered());
        ds_pause(ds);
        ds_tick(ds);
        ds_resume_frame(ds, &frame);
        assert_int_equal(reason, CAIRN_DS_UNTHROTTLE);
        assert_true(remembered());
        ds_stop(ds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(off_first_on_first),
        cmocka_unit_test(stands_still_while_throttled),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    return failed;
}
