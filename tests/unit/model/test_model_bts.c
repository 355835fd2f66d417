/* SPDX-License-Identifier: MIT */
/* The model's BTS against vectors worked out by hand: both modes, rings, full buffers, beside PEBS. */
#include <stdbool.h>

#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

#define TR      IA32_DEBUGCTL_TR
#define BTS     IA32_DEBUGCTL_BTS
#define BTINT   IA32_DEBUGCTL_BTINT
#define OFF_OS  IA32_DEBUGCTL_BTS_OFF_OS
#define OFF_USR IA32_DEBUGCTL_BTS_OFF_USR
#define RECORD  24u

static struct ds_bench bench, *b = &bench;

/* A buffer of `records` and a threshold behind `threshold` of them. */
static void begin(const struct ds_model_policy *policy, unsigned records, unsigned threshold, uint64_t debugctl)
{
    ds_bench_init(b, ds_bench_icelake(), policy, 320, 320);
    ds_bench_bts(b, records * RECORD, threshold * RECORD, debugctl);
}

static uint64_t slot(unsigned i, unsigned field)
{
    return *ds_bench_word(b, ds_bench_bts_buffer() + i * RECORD + 8 * field);
}

static void branches(unsigned first, unsigned last, unsigned cpl)
{
    for (unsigned i = first; i <= last; i++)
        ds_bench_branch(b, i, cpl);
}

static void circular(void **state)
{
    (void)state;
    begin(NULL, 4, 5, TR | BTS);
    branches(1, 6, 0);
    assert_int_equal(ds_bench_bts_index(b), 2 * RECORD);
    static const unsigned oldest_at_index[] = {5, 6, 3, 4};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(slot(i, 0), 0x1000 + oldest_at_index[i]);
        assert_int_equal(slot(i, 1), 0x2000 + oldest_at_index[i]);
        assert_int_equal(slot(i, 2), DS_BTS_PREDICTED);
    }
    assert_int_equal(slot(4, 0), 0);
    assert_int_equal(b->pmis, 0);
    assert_int_equal(b->model.bts_records, 6);
    assert_int_equal(b->model.bts_dropped, 0);
    /* a threshold within reach interrupts in this mode, too */
    begin(NULL, 4, 3, TR | BTS);
    branches(1, 3, 0);
    assert_int_equal(b->pmis, 1);
    /* software has moved the maximum: no room at the index, nor anywhere */
    begin(NULL, 4, 5, TR | BTS);
    branches(1, 2, 0);
    *ds_bench_area(b, 0x10) = ds_bench_bts_buffer() + 2 * RECORD;
    branches(3, 3, 0);
    assert_int_equal(slot(0, 0), 0x1003);
    *ds_bench_area(b, 0x10) = ds_bench_bts_buffer() + RECORD - 1;
    branches(4, 4, 0);
    assert_int_equal(slot(1, 0), 0x1002);
    assert_int_equal(b->model.bts_dropped, 1);
}

static void interrupting(void **state)
{
    (void)state;
    begin(NULL, 8, 3, TR | BTS | BTINT);
    branches(1, 2, 0);
    assert_int_equal(b->pmis, 0);
    branches(3, 5, 0);
    assert_int_equal(b->pmis, 1); /* LVTPC is masked now */
    assert_int_equal(ds_bench_bts_index(b), 5 * RECORD);
    assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_STATUS), 0);
}

static void full(void **state) /* policy bts_full */
{
    (void)state;
    for (int wraps = 0; wraps < 2; wraps++) {
        begin(&(struct ds_model_policy){.bts_full_wraps = wraps}, 4, 4, TR | BTS | BTINT);
        branches(1, 6, 0);
        assert_int_equal(slot(0, 0), wraps ? 0x1005 : 0x1001);
        assert_int_equal(slot(3, 0), 0x1004);
        assert_int_equal(ds_bench_bts_index(b), wraps ? 2 * RECORD : 4 * RECORD);
        assert_int_equal(b->model.bts_dropped, wraps ? 0 : 2);
        assert_int_equal(b->model.bts_records, wraps ? 6 : 4);
        assert_int_equal(slot(4, 0), 0);
    }
}

static void waits_at_lvtpc(void **state) /* policy masked_pmi; no bit of GLOBAL_STATUS tells of it */
{
    (void)state;
    for (unsigned lost = 0; lost < 2; lost++) {
        const struct ds_model_policy p = {.masked_pmi_lost = lost};
        begin(&p, 4, 2, TR | BTS | BTINT);
        ds_model_lvtpc_write(&b->model, LVTPC_MASKED);
        branches(1, 6, 0); /* the buffer is full: no record raises another PMI */
        ds_bench_write(b, IA32_PERF_GLOBAL_OVF_CTRL, IA32_PERF_GLOBAL_STATUS_OVF_BUF);
        assert_int_equal(b->pmis, 0);
        ds_model_lvtpc_write(&b->model, 0xEE);
        assert_int_equal(b->pmis, !lost);
        ds_model_lvtpc_write(&b->model, 0xEE);
        assert_int_equal(b->pmis, !lost);
    }
}

static void does_not_freeze(void **state)
{
    (void)state;
    uint64_t freeze = IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI | IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
    begin(NULL, 4, 1, TR | BTS | BTINT | freeze);
    branches(1, 1, 0);
    assert_int_equal(b->pmis, 1);
    assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_STATUS), 0);
}

static void sets_ovf_buf(void **state) /* policy bts_ovf_buf */
{
    (void)state;
    for (int sets = 0; sets < 2; sets++) {
        begin(&(struct ds_model_policy){.bts_sets_ovf_buf = sets}, 4, 2, TR | BTS | BTINT);
        branches(1, 2, 0);
        assert_int_equal(b->pmis, 1);
        assert_int_equal(b->pmi_status[0], sets ? OVF_BUF : 0);
    }
}

static void controls(void **state) /* every row of the manual's table */
{
    (void)state;
    static const struct {
        uint64_t debugctl;
        bool os, usr;
    } rows[] = {
        {0, false, false},
        {BTS, false, false},
        {BTS | BTINT | OFF_OS | OFF_USR, false, false},
        {TR, false, false},
        {TR | BTINT, false, false},
        {TR | BTS, true, true},
        {TR | BTS | OFF_OS, false, true},
        {TR | BTS | OFF_USR, true, false},
        {TR | BTS | OFF_OS | OFF_USR, false, false},
        {TR | BTS | OFF_OS | OFF_USR | BTINT, false, false},
        {TR | BTS | BTINT, true, true},
        {TR | BTS | OFF_OS | BTINT, false, true},
        {TR | BTS | OFF_USR | BTINT, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin(NULL, 8, 9, rows[i].debugctl);
        branches(1, 1, 0);
        assert_int_equal(b->model.bts_records, rows[i].os);
        branches(2, 2, 3);
        assert_int_equal(b->model.bts_records, rows[i].os + rows[i].usr);
    }
}

static void fit_applies(void **state) /* policy fit: as for PEBS */
{
    (void)state;
    static const unsigned stored[] = {[DS_MODEL_END_LE] = 4, [DS_MODEL_END_LT] = 3, [DS_MODEL_START_LT] = 4};
    for (unsigned fit = 0; fit < 3; fit++) {
        begin(&(struct ds_model_policy){.fit = (uint8_t)fit}, 4, 100, TR | BTS | BTINT);
        branches(1, 9, 0);
        assert_int_equal(b->model.bts_records, stored[fit]);
        assert_int_equal(b->model.bts_dropped, 9 - stored[fit]);
    }
}

/* PEBS record first, then the branch record, then their interrupts. */
static void beside_pebs(void **state)
{
    (void)state;
    begin(NULL, 8, 1, TR | BTS | BTINT);
    b->handler_unmasks = true;
    *ds_bench_area(b, 0x38) = ds_bench_buffer(); /* every record is beyond it */
    ds_bench_pebs_counter(b, 0, 0x00C4, -UINT64_C(1), 0);
    branches(1, 1, 0);
    assert_int_equal(b->pmis, 1);
    branches(2, 2, 0);
    assert_int_equal(b->pmis, 3);
    assert_int_equal(b->pmi_status[1], OVF_BUF);
    assert_int_equal(b->pmi_status[2], OVF_BUF);
    assert_int_equal(ds_bench_index(b), 32);
    assert_int_equal(ds_bench_bts_index(b), 2 * RECORD);

    /* the assist finds no page at its first access: the branch record is none the worse */
    begin(NULL, 8, 9, TR | BTS | BTINT);
    ds_bench_pebs_counter(b, 0, 0x00C4, -UINT64_C(1), 0);
    branches(1, 1, 0);
    b->missing = b->accesses + 1;
    const struct ds_model_branch branch = {.from = 1, .to = 2, .prediction = DS_MODEL_PREDICTED};
    const struct ds_model_retired retired = {.events = DS_BIT(DS_MODEL_BRANCH), .branch = &branch};
    assert_int_equal(ds_model_retire(&b->model, &retired), -EFAULT);
    assert_int_equal(b->model.fault_address, DS_BENCH_BASE + 0x20);
    assert_int_equal(b->model.lost, 1);
    assert_int_equal(b->model.bts_lost, 0);
    assert_int_equal(ds_bench_bts_index(b), 2 * RECORD);
}

static void interrupts_are_branches(void **state)
{
    (void)state;
    const struct ds_model_branch interrupt = {.from = 0x7000, .to = 0x8000, .prediction = DS_MODEL_PREDICTION_UNKNOWN};
    begin(NULL, 8, 2, TR | BTS | BTINT | OFF_OS);
    assert_int_equal(ds_model_interrupt(&b->model, &interrupt, 0), 0);
    assert_int_equal(b->model.bts_records, 0);
    assert_int_equal(ds_model_interrupt(&b->model, &interrupt, 3), 0);
    assert_int_equal(slot(0, 0), 0x7000);
    assert_int_equal(slot(0, 1), 0x8000);
    assert_int_equal(slot(0, 2), 0);
    assert_int_equal(b->pmis, 0);
    assert_int_equal(ds_model_interrupt(&b->model, &interrupt, 3), 0);
    assert_int_equal(b->pmis, 1);
}

static void prediction_bit(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) { /* not on Core 2 */
        ds_bench_init(b, ds_model_preset(known ? "nehalem" : "penryn"), NULL, 320, 320);
        ds_bench_bts(b, 8 * RECORD, 9 * RECORD, TR | BTS);
        branches(1, 1, 0);
        assert_int_equal(slot(0, 2), known ? DS_BTS_PREDICTED : 0);
    }
}

static void unmapped(void **state) /* at each single access */
{
    (void)state;
    const struct ds_model_branch branch = {.from = 1, .to = 2, .prediction = DS_MODEL_PREDICTED};
    for (int injected = 0; injected < 2; injected++)
        for (unsigned missing = 1; missing <= 4; missing++) {
            begin(&(struct ds_model_policy){.unmapped_page_fault = injected}, 8, 1, TR | BTS | BTINT);
            b->missing = missing;
            int e = ds_model_interrupt(&b->model, &branch, 0);
            assert_int_equal(e, missing < 4 && !injected ? -EFAULT : 0); /* the area, the record, the index */
            assert_int_equal(b->page_faults, missing < 4 && injected);
            assert_int_equal(ds_bench_bts_index(b), missing < 4 ? 0 : RECORD);
            assert_int_equal(b->model.bts_lost, missing < 4);
            assert_int_equal(b->model.bts_records, missing == 4);
            assert_int_equal(b->pmis, missing == 4);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circular),        cmocka_unit_test(interrupting), cmocka_unit_test(full),
        cmocka_unit_test(does_not_freeze), cmocka_unit_test(sets_ovf_buf), cmocka_unit_test(controls),
        cmocka_unit_test(fit_applies),     cmocka_unit_test(beside_pebs),  cmocka_unit_test(interrupts_are_branches),
        cmocka_unit_test(prediction_bit),  cmocka_unit_test(unmapped),     cmocka_unit_test(waits_at_lvtpc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
