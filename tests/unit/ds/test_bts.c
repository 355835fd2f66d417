/* SPDX-License-Identifier: MIT */
/*
 * Branch tracing goes up and down: the numbered order, with PEBS and without; what a fault leaves behind; the rings
 * that are left out.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/errno.h"
#include "tests/unit/ds/bts/bts_machine.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/presets.h"

static void expect_writes(const struct model_machine_write *expected, unsigned n, unsigned from)
{
    for (unsigned i = 0; i < n && from + i < model_machine.written; i++)
        if (model_machine.writes[from + i].msr != expected[i].msr ||
            model_machine.writes[from + i].value != expected[i].value)
            fail_msg("write %u: MSR %x = %llx, not %x = %llx", i, model_machine.writes[from + i].msr,
                     (unsigned long long)model_machine.writes[from + i].value, expected[i].msr,
                     (unsigned long long)expected[i].value);
    assert_int_equal(model_machine.written - from, n);
}
#define EXPECT(list, from) expect_writes(list, sizeof(list) / sizeof(list)[0], from)

#define TR    IA32_DEBUGCTL_TR
#define BTS   IA32_DEBUGCTL_BTS
#define BTINT IA32_DEBUGCTL_BTINT

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void order_beside_pebs(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    bts_prepare("icelake", NULL, false, "INST_RETIRED.ANY:1000");
    bts_buffer(DS_BTS_INTERRUPT, 64);
    assert_int_equal(model_machine.written, 0);
    assert_int_equal(ds_start(ds, &refusal), 0);
    unsigned n = model_machine.written;
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    const struct model_machine_write start[] = {{IA32_DEBUGCTL, 0}, {IA32_DEBUGCTL, BTS | BTINT}}; /* 1 and 5 */
    EXPECT(start, n);
    assert_int_equal(area[0], (uintptr_t)buffer);
    assert_int_equal(area[1], (uintptr_t)buffer);
    assert_int_equal(area[2], (uintptr_t)(buffer + 64) + 1);
    assert_int_equal(area[3], (uintptr_t)(buffer + 60)); /* a sixteenth is left */
    assert_int_not_equal(area[4], 0);                    /* PEBS' own is still there */
    assert_int_equal(last.mode, DS_BTS_INTERRUPT);
    n = model_machine.written;
    ds_resume(ds);
    const uint64_t counters = DS_BIT(32);
    const struct model_machine_write resume[] = {{IA32_DEBUGCTL, TR | BTS | BTINT}, {IA32_PERF_GLOBAL_CTRL, counters}};
    EXPECT(resume, n);
    n = model_machine.written;
    ds_pause(ds);
    const struct model_machine_write pause[] = {{IA32_DEBUGCTL, BTS | BTINT}, {IA32_PERF_GLOBAL_CTRL, 0}};
    EXPECT(pause, n);
    n = model_machine.written;
    ds_stop(ds);
    const struct model_machine_write stop[] = {
        {IA32_DEBUGCTL, 0}, {IA32_DEBUGCTL, 0}, {IA32_PEBS_ENABLE, 0}, {IA32_PERF_GLOBAL_OVF_CTRL, 0}};
    model_machine.written = n + 4; /* then PEBS goes down: test_driver.c */
    EXPECT(stop, n);
    assert_int_equal(last.reason, CAIRN_DS_STOP);
}

static void order_without_pebs(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    const uint64_t left_on = IA32_DEBUGCTL_LBR | TR | BTS | BTINT;
    model_machine.unavailable = IA32_MISC_ENABLE_PEBS_UNAVAIL;
    bts_prepare("haswell", NULL, false, NULL);
    model_machine.unavailable = 0;
    assert_false(caps.pebs);
    assert_true(caps.bts);
    assert_non_null(strstr(caps.reason, "PEBS_UNAVAIL"));
    assert_string_equal(caps.bts_reason, "the processor has BTS");
    bts_buffer(DS_BTS_CIRCULAR, 64);
    ds_model_wrmsr(model, IA32_DEBUGCTL, left_on);
    assert_int_equal(ds_start(ds, &refusal), 0);
    assert_int_equal(model_machine.accesses, 0);
    unsigned n = model_machine.written;
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    const struct model_machine_write start[] = {
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR},       /* 1 */
        {IA32_DS_AREA, (uintptr_t)area},          /* 3 */
        {MODEL_MACHINE_LVTPC, ARCH_VECTOR_PMI},   /* 4 */
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | BTS}, /* 5 */
    };
    EXPECT(start, n);
    assert_int_equal(area[3], (uintptr_t)(buffer + 66)); /* out of reach */
    for (unsigned i = 4; i < 512; i++)
        assert_int_equal(area[i], 0);
    n = model_machine.written;
    ds_resume(ds);
    for (uint64_t i = 1; i <= 3; i++)
        bts_branch(i);
    assert_false(ds_pmi(ds)); /* not ours: nothing was reached */
    struct arch_trap_frame frame = {0};
    ds_resume_frame(ds, &frame);
    ds_pause(ds);
    ds_resume_user(ds, &frame);
    ds_stop(ds);
    const struct model_machine_write run[] = {
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | TR | BTS},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | BTS},
        {MODEL_MACHINE_LVTPC, ARCH_VECTOR_PMI},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | TR | BTS},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | BTS},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | TR | BTS},
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR | BTS}, /* held, then 5 to 1 */
        {IA32_DEBUGCTL, IA32_DEBUGCTL_LBR},
        {MODEL_MACHINE_LVTPC, LVTPC_RESET},
        {IA32_DS_AREA, 0},
        {IA32_DEBUGCTL, left_on},
    };
    EXPECT(run, n);
    assert_int_equal(count, 3);
    assert_int_equal(pebs_drains, 0);
    n = model_machine.written;
    ds_pause(ds); /* nothing runs any more: */
    ds_resume(ds);
    ds_bts_drain(ds, CAIRN_DS_RECONFIGURE, 0);
    ds_stop(ds);
    ds_drain_panic(ds);
    assert_int_equal(model_machine.written, n);
    assert_int_equal(bts_drains, 2);
}

static void pebs_without_bts(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    model_machine.unavailable = IA32_MISC_ENABLE_BTS_UNAVAIL;
    bts_prepare("haswell", NULL, false, "INST_RETIRED.ANY:1000");
    model_machine.unavailable = 0;
    assert_true(caps.pebs);
    assert_false(caps.bts);
    assert_non_null(strstr(caps.bts_reason, "BTS_UNAVAIL"));
    struct ds_bts_record two[2];
    assert_int_equal(ds_bts_init(&bts, ds, DS_BTS_CIRCULAR, DS_BTS_ALL, 1, two), -EINVAL);
    assert_int_equal(ds_start(ds, &refusal), 0);
    ds_resume(ds);
    ds_stop(ds);
    assert_int_equal(pebs_drains, 2);
    assert_int_equal(bts_drains, 0);
    bts_prepare("haswell", NULL, false, "INST_RETIRED.ANY:1000");
    assert_int_equal(ds_bts_init(&bts, ds, DS_BTS_OFF, DS_BTS_ALL, 1, two), -EINVAL);
    assert_int_equal(ds_bts_init(&bts, ds, DS_BTS_CIRCULAR, DS_BTS_ALL, 0, two), -EINVAL);
    ds_bts_drain(NULL, CAIRN_DS_SWITCH, 0);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* All registers the driver may have touched. */
struct picture { /* without padding: compared as bytes */
    uint64_t debugctl, ds_area, global_ctrl, pebs_enable, fixed, lvtpc;
};

static struct picture picture(void)
{
    return (struct picture){model->debugctl,    model->ds_area,        model->global_ctrl,
                            model->pebs_enable, model->fixed_ctr_ctrl, model->lvtpc};
}

static void every_fault_undoes_all(void **state)
{
    (void)state;
    for (size_t p = 0; p < PRESETS; p++)
        for (int with_pebs = 0; with_pebs < 2; with_pebs++) {
            int previous = 0, steps = 0;
            for (unsigned at = 1;; at++) {
                struct ds_refusal refusal;
                bts_prepare(preset_at(p)->name, NULL, false, with_pebs ? "INST_RETIRED.ANY:1000" : NULL);
                bts_buffer(DS_BTS_INTERRUPT, 8);
                assert_int_equal(ds_model_wrmsr(model, IA32_DEBUGCTL, TR), 0);
                assert_int_equal(ds_start(ds, &refusal), 0);
                const struct picture before = picture();
                model_machine.accesses = 0;
                model_machine.fault_at = at;
                int e = ds_bts_start(ds, &refusal);
                if (!e) {
                    assert_true(model_machine.accesses < at);
                    break;
                }
                assert_int_equal(e, -EFAULT);
                assert_true(refusal.step >= previous);
                steps += refusal.step != previous;
                previous = refusal.step;
                const struct picture after = picture();
                assert_memory_equal(&after, &before, sizeof after);
                for (unsigned i = 0; i < 4; i++)
                    assert_int_equal(area[i], 0);
                assert_int_equal(bts_drains, 0);
                ds_resume(ds); /* PEBS runs on, if it was there */
                assert_int_equal(model->global_ctrl != before.global_ctrl, with_pebs);
                bts_branch(1);
                ds_stop(ds);
                assert_int_equal(pebs_drains, with_pebs ? 2 : 0);
                assert_int_equal(model->debugctl, TR);
            }
            const bool with_area = with_pebs && preset_at(p)->format != DS_FORMAT_ARCH;
            assert_int_equal(steps, with_area ? 2 : 3); /* 1, 3 where PEBS has set no area, 5 */
        }
}

static void bts_after_pebs_was_refused(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    bts_prepare("skylake", NULL, false, "INST_RETIRED.ANY:1000");
    bts_buffer(DS_BTS_INTERRUPT, 8);
    model_machine.accesses = 0;
    model_machine.fault_at = 9;
    assert_int_equal(ds_start(ds, &refusal), -EFAULT);
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    assert_int_equal(model->ds_area, (uintptr_t)area);
    assert_int_equal(area[4], 0);
    unsigned n = model_machine.written;
    ds_resume(ds);
    for (uint64_t i = 1; i <= 11; i++) {
        bts_branch(i);
        bts_interrupt();
    }
    ds_stop(ds);
    for (unsigned i = n; i < model_machine.written; i++)
        assert_true(model_machine.writes[i].msr == IA32_DEBUGCTL || model_machine.writes[i].msr == IA32_DS_AREA ||
                    model_machine.writes[i].msr == MODEL_MACHINE_LVTPC);
    assert_int_equal(count, 11);
    assert_int_equal(pebs_drains, 0);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.pmis, 1);
    assert_int_equal(counts.faults, 0);
}

static void a_fault_while_running_is_counted(void **state)
{
    (void)state;
    bts_begin(NULL, false, DS_BTS_INTERRUPT, 8);
    model_machine.fault_at = model_machine.accesses + 2; /* GLOBAL_CTRL, then DEBUGCTL */
    ds_pause(ds);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.faults, 1);
}

/* ---- what is traced ---------------------------------------------------------------------------------------------- */

/* Of branches at alternating levels, those of the rings that were asked for. */
static void rings(void **state)
{
    (void)state;
    static const struct {
        enum ds_bts_rings rings;
        uint64_t debugctl;
        uint32_t records;
    } cases[] = {
        {DS_BTS_ALL, 0, 6}, {DS_BTS_USER, IA32_DEBUGCTL_BTS_OFF_OS, 3}, {DS_BTS_KERNEL, IA32_DEBUGCTL_BTS_OFF_USR, 3}};
    for (unsigned n = 0; n < 3; n++) {
        struct ds_refusal refusal;
        bts_prepare("skylake", NULL, false, NULL);
        free(buffer);
        buffer = calloc(1, ds_bts_buffer_bytes(16));
        assert_int_equal(ds_bts_init(&bts, ds, DS_BTS_CIRCULAR, cases[n].rings, 16, buffer), 0);
        assert_int_equal(ds_bts_start(ds, &refusal), 0);
        ds_resume(ds);
        assert_int_equal(model->debugctl, TR | BTS | cases[n].debugctl);
        for (unsigned i = 0; i < 6; i++) {
            const struct ds_model_branch b = {.from = i, .to = i + 0x1000};
            const struct ds_model_retired retired = {
                .events = DS_BIT(DS_MODEL_INSTRUCTION) | DS_BIT(DS_MODEL_BRANCH), .cpl = i % 2 ? 3 : 0, .branch = &b};
            assert_int_equal(ds_model_retire(model, &retired), 0);
        }
        ds_pause(ds);
        ds_bts_drain(ds, CAIRN_DS_SWITCH, 0);
        assert_int_equal(count, cases[n].records);
        for (uint32_t i = 0; i < count && cases[n].rings != DS_BTS_ALL; i++)
            assert_true(taken[i] % 2 == (cases[n].rings == DS_BTS_USER));
        ds_stop(ds);
    }
    const struct ds_config none = {.records = 8, .threshold = 6};
    char error[160];
    caps.bts_cpl = false; /* DS_CPL is 0 */
    assert_int_equal(ds_cpu_init(ds, 3, &machine, &caps, &none, &hooks, area, area, error, sizeof error), 0);
    assert_int_equal(ds_bts_init(&bts, ds, DS_BTS_CIRCULAR, DS_BTS_USER, 16, buffer), -EINVAL);
    assert_int_equal(ds_bts_init(&bts, ds, DS_BTS_CIRCULAR, DS_BTS_ALL, 16, buffer), 0);
}

static void sizes(void **state)
{
    (void)state;
    assert_int_equal(ds_bts_buffer_bytes(511), 3 * 4096);
    assert_int_equal(ds_bts_buffer_bytes(1), 4096);
    assert_int_equal(ds_bts_buffer_bytes(169), 4096);
    assert_int_equal(ds_bts_buffer_bytes(170), 8192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_beside_pebs),
        cmocka_unit_test(order_without_pebs),
        cmocka_unit_test(pebs_without_bts),
        cmocka_unit_test(every_fault_undoes_all),
        cmocka_unit_test(bts_after_pebs_was_refused),
        cmocka_unit_test(a_fault_while_running_is_counted),
        cmocka_unit_test(rings),
        cmocka_unit_test(sizes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
