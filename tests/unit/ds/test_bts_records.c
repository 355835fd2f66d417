/* SPDX-License-Identifier: MIT */
/*
 * What is drained of branch records: oldest first, wraps included; loss exact where the machine is stepped, unknown
 * where it is not; drains that find nothing, or what they cannot believe.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "ds/later/later.h"
#include "tests/unit/ds/bts/bts_machine.h"
#include "tests/unit/support/cmocka.h"

#define TR IA32_DEBUGCTL_TR

/* Every mode, buffer, number of branches and reading of the manual: what is handed over is the newest (circular, or a
 * full buffer that wraps) or the oldest of what was taken, in order, and none is unaccounted for. */
static void every_wrap(void **state)
{
    (void)state;
    for (unsigned fit = DS_MODEL_END_LE; fit <= DS_MODEL_START_LT; fit++)
        for (unsigned wraps = 0; wraps < 2; wraps++)
            for (unsigned mode = DS_BTS_CIRCULAR; mode <= DS_BTS_INTERRUPT; mode++)
                for (uint32_t records = 1; records < 6; records++)
                    for (unsigned n = 0; n < 24; n++)
                        for (unsigned stepped = 0; stepped < 2; stepped++) {
                            const struct ds_model_policy policy = {.fit = (uint8_t)fit, .bts_full_wraps = wraps};
                            bts_begin(&policy, stepped, mode, records);
                            const unsigned branches[] = {n, n, 1}; /* no epoch knows anything of those before */
                            uint64_t sum = 0, lost = 0;
                            for (uint64_t epoch = 0; epoch < 3; epoch++) {
                                const unsigned b = branches[epoch];
                                count = 0;
                                for (uint64_t i = 1; i <= b; i++)
                                    bts_branch(i);
                                ds_pause(ds);
                                ds_bts_drain(ds, CAIRN_DS_RECONFIGURE, 7);
                                ds_resume(ds);
                                assert_int_equal(last.epoch, epoch);
                                assert_int_equal(last.tsc, 7);
                                uint32_t room = records + (fit == DS_MODEL_START_LT);
                                bool newest = mode == DS_BTS_CIRCULAR || wraps;
                                assert_int_equal(count, b < room ? b : room);
                                for (unsigned i = 0; i < count; i++)
                                    assert_int_equal(taken[i], (newest ? b - count : 0) + i + 1);
                                if (stepped)
                                    assert_true(last.lost == b - count);
                                else
                                    assert_true(last.lost == (b < records ? 0 : CAIRN_DS_LOST_UNKNOWN));
                                assert_int_equal(area[1], (uintptr_t)buffer);
                                sum += count;
                                lost += b - count;
                            }
                            struct ds_bts_counts c;
                            c = bts.counts;
                            assert_int_equal(c.drains, 3);
                            assert_int_equal(c.records, sum);
                            assert_int_equal(c.lost, stepped ? lost : 0);
                            assert_int_equal(c.lost_unknown, !stepped && (n >= records || records == 1));
                        }
}

/* With the interrupt taken at once nothing is lost, down to a buffer of one record. */
static void interrupts_keep_up(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 15, 16, 17, 64, 170, 171}; /* 170 and the slack record: 4104 bytes */
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int stepped = 0; stepped < 2; stepped++) {
            bts_begin(NULL, stepped, DS_BTS_INTERRUPT, sizes[s]);
            unsigned started = pebs_drains, interrupts = 0;
            for (uint64_t i = 1; i <= 500; i++) {
                bts_branch(i);
                interrupts += model_machine.pmi;
                bts_interrupt();
            }
            ds_stop(ds);
            assert_int_equal(count, 500);
            for (unsigned i = 0; i < count; i++)
                assert_int_equal(taken[i], i + 1);
            assert_int_equal(interrupts, 500 / (sizes[s] - sizes[s] / 16));
            assert_int_equal(pebs_drains, started + 1); /* its stop: no drain of BTS is one of PEBS */
            struct ds_bts_counts c;
            c = bts.counts;
            assert_int_equal(c.lost, 0);
            /* A buffer that was full to the brim may have been fuller: only the steps know. */
            assert_int_equal(c.lost_unknown, !stepped && sizes[s] < 16);
        }
}

static void circular_never_interrupts(void **state)
{
    (void)state;
    bts_begin(NULL, false, DS_BTS_CIRCULAR, 3);
    for (uint64_t i = 1; i <= 100; i++)
        bts_branch(i);
    assert_false(model_machine.pmi);
}

/* The threshold of BTS in GLOBAL_STATUS, where a processor shows it there: acknowledged, and no drain of PEBS. */
static void status_bit_of_bts(void **state)
{
    (void)state;
    const struct ds_model_policy policy = {.bts_sets_ovf_buf = true};
    bts_begin(&policy, false, DS_BTS_INTERRUPT, 2);
    bts_branch(1);
    bts_branch(2);
    assert_true(model->global_status & IA32_PERF_GLOBAL_STATUS_OVF_BUF);
    bts_interrupt();
    assert_int_equal(count, 2);
    assert_int_equal(last.reason, CAIRN_DS_THRESHOLD);
    assert_int_equal(model->global_status, 0);
    assert_int_equal(pebs_drains, 1);
    assert_true(model->debugctl & TR);
    assert_false(model->lvtpc & LVTPC_MASKED);
}

static void both_thresholds_in_one_interrupt(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    bts_prepare("icelake", NULL, false, "BR_INST_RETIRED.ALL_BRANCHES:1");
    bts_buffer(DS_BTS_INTERRUPT, 7);
    assert_int_equal(ds_start(ds, &refusal), 0);
    assert_int_equal(ds_bts_start(ds, &refusal), 0);
    ds_resume(ds);
    for (uint64_t i = 1; i <= 12; i++) /* a PEBS record with every second; its threshold is 6 of them */
        bts_branch(i);
    bts_interrupt();
    assert_int_equal(pebs_drains, 2);
    assert_int_equal(bts_drains, 2);
    struct ds_counts counts;
    ds_cpu_counts(ds, &counts);
    assert_int_equal(counts.pmis, 1);
    assert_int_equal(counts.records, 6);
}

/* Too many PMIs within a tick: neither branches nor records until the next, whatever holds the counters; then both. */
static void a_storm_holds_both(void **state)
{
    (void)state;
    struct ds_refusal refusal;
    struct arch_trap_frame frame = {0};
    struct ds_counts counts;
    struct ds_bts_counts branches;
    for (int stepped = 0; stepped < 2; stepped++) {
        throttle = 2;
        bts_prepare("icelake", NULL, stepped, "BR_INST_RETIRED.ALL_BRANCHES:1");
        throttle = 0;
        bts_buffer(DS_BTS_INTERRUPT, 16);
        assert_int_equal(ds_start(ds, &refusal), 0);
        assert_int_equal(ds_bts_start(ds, &refusal), 0);
        ds_resume(ds);
        uint64_t i = 1;
        while (!model->records || bts_drains < 2) { /* BTS' at 15, PEBS' at 12 */
            bts_branch(i++);
            bts_interrupt();
        }
        assert_int_equal(last.reason, CAIRN_DS_THROTTLE);
        ds_pause(ds); /* other periods meanwhile: held all the same */
        const uint64_t same[] = {1};
        char error[160] = "";
        assert_int_equal(ds_reconfigure(ds, same, error, sizeof error), 0);
        ds_resume(ds);
        const uint64_t records = model->records, stored = model->bts_records, value = model->value[0];
        const unsigned drains = pebs_drains;
        for (unsigned n = 0; n < 100; n++)
            bts_branch(i++);
        assert_false(model_machine.pmi);
        assert_true(model->records == records && model->bts_records == stored && model->value[0] == value);
        ds_pause(ds);
        ds_tick(ds);
        ds_resume_frame(ds, &frame);
        assert_int_equal(last.reason, CAIRN_DS_UNTHROTTLE);
        assert_int_equal(last.records, 0);
        assert_int_equal(pebs_drains, drains + 1);
        bts_branch(i++);
        bts_branch(i++);
        assert_true(model->records == records + 1 && model->bts_records == stored + 2);
        ds_stop(ds);
        ds_cpu_counts(ds, &counts);
        branches = bts.counts;
        assert_true(counts.throttles == 1 && counts.pmis == 2);
        assert_true(counts.lost == 0 && !counts.lost_unknown && branches.lost == 0 && !branches.lost_unknown);
        assert_int_equal(counts.records, model->records);
        assert_int_equal(branches.records, model->bts_records);
        assert_int_equal(count, branches.records);
    }
}

static void a_switch_without_branches_ends_no_epoch(void **state)
{
    (void)state;
    bts_begin(NULL, true, DS_BTS_INTERRUPT, 8);
    ds_pause(ds);
    ds_bts_drain(ds, CAIRN_DS_SWITCH, 1);
    assert_int_equal(bts_drains, 1);
    ds_resume(ds);
    bts_branch(1);
    ds_pause(ds);
    ds_bts_drain(ds, CAIRN_DS_SWITCH, 2);
    ds_bts_drain(ds, CAIRN_DS_SWITCH, 3);
    assert_int_equal(bts_drains, 2);
    assert_int_equal(last.epoch, 0);
    assert_int_equal(last.tsc, 2);
    ds_bts_drain(ds, CAIRN_DS_RECONFIGURE, 4);
    assert_int_equal(bts_drains, 3);
    assert_int_equal(last.records, 0);
}

static void senseless_index(void **state)
{
    (void)state;
    static const int64_t offsets[] = {-24, 1, 25, 8 * 24 + 24 + 24, INT64_MIN};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
        for (int stepped = 0; stepped < 2; stepped++) {
            bts_begin(NULL, stepped, DS_BTS_INTERRUPT, 8);
            bts_branch(1);
            ds_pause(ds);
            area[1] = (uintptr_t)buffer + (uint64_t)offsets[i];
            ds_bts_drain(ds, i % 2 ? CAIRN_DS_RECONFIGURE : CAIRN_DS_SWITCH, 0); /* which is not nothing */
            assert_int_equal(bts_drains, 2);
            assert_true(last.lost == CAIRN_DS_LOST_UNKNOWN);
            assert_int_equal(count, 0);
            ds_resume(ds);
            bts_branch(2);
            ds_stop(ds);
            assert_int_equal(last.lost, 0); /* the next epoch begins anew */
            assert_int_equal(count, 1);
        }
}

static bool not_readable(const void *address, size_t bytes)
{
    (void)address, (void)bytes;
    return false;
}

static void panic_hands_over(void **state)
{
    (void)state;
    bts_begin(NULL, true, DS_BTS_CIRCULAR, 4);
    bts_branch(100);
    ds_pause(ds);
    ds_bts_drain(ds, CAIRN_DS_SWITCH, 0); /* this one is over */
    ds_resume(ds);
    for (uint64_t i = 1; i <= 6; i++)
        bts_branch(i);
    ds_pause(ds);
    unsigned before = model_machine.accesses;
    ds_drain_panic(ds);
    ds_drain_panic(ds);
    assert_int_equal(model_machine.accesses, before); /* no register */
    assert_int_equal(bts_drains, 3);
    assert_int_equal(last.reason, CAIRN_DS_PANIC);
    assert_int_equal(last.lost, 2);
    assert_int_equal(count, 1 + 4);
    assert_int_equal(taken[1], 3);
    assert_int_equal(pebs_drains, 2);

    bts_begin(NULL, true, DS_BTS_CIRCULAR, 4); /* memory that is gone */
    bts_branch(1);
    ds_pause(ds);
    machine.readable = not_readable;
    ds_drain_panic(ds);
    machine.readable = NULL;
    assert_int_equal(bts_drains, 1);
    struct ds_bts_counts counts;
    counts = bts.counts;
    assert_true(counts.lost_unknown && counts.records == 0);

    bts_begin(NULL, true, DS_BTS_CIRCULAR, 4); /* stopped in the hook: that epoch again, and PEBS' own all the same */
    for (uint64_t i = 1; i <= 6; i++)
        bts_branch(i);
    ds_pause(ds);
    panic_in_drain = true;
    ds_bts_drain(ds, CAIRN_DS_RECONFIGURE, 0);
    assert_int_equal(bts_drains, 3);
    assert_int_equal(last.reason, CAIRN_DS_PANIC);
    assert_true(last.epoch == 0 && last.records == 4 && last.lost == 2);
    assert_int_equal(pebs_drains, 2);
}

/* A jump to the null pointer is a branch, and so would be one that leads away from there. */
static void address_zero(void **state)
{
    (void)state;
    static const uint64_t from[] = {-UINT64_C(0x1000), 0};
    for (size_t i = 0; i < 2; i++) {
        bts_begin(NULL, true, DS_BTS_CIRCULAR, 1);
        bts_branch(from[i]);
        ds_pause(ds);
        ds_bts_drain(ds, CAIRN_DS_SWITCH, 0);
        assert_int_equal(count, 1);
        assert_true(taken[0] == from[i]);
        assert_int_equal(last.lost, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wrap),
        cmocka_unit_test(interrupts_keep_up),
        cmocka_unit_test(circular_never_interrupts),
        cmocka_unit_test(status_bit_of_bts),
        cmocka_unit_test(both_thresholds_in_one_interrupt),
        cmocka_unit_test(a_storm_holds_both),
        cmocka_unit_test(a_switch_without_branches_ends_no_epoch),
        cmocka_unit_test(senseless_index),
        cmocka_unit_test(panic_hands_over),
        cmocka_unit_test(address_zero),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(ds);
    free(buffer);
    return failed;
}
