/* SPDX-License-Identifier: MIT */
/* The leads of counting.h: two events in one number, and blocks that are due whatever they count. */
#include <stdbool.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"
#include "tools/qemu-ds/counting/counting.h"

#define ALL     UINT64_MAX
#define RECORDS (320u * 16u)

static struct ds_bench bench;
static struct qds_numbers now;
static struct qds_counting counting;

static void begin(void)
{
    ds_bench_init(&bench, ds_bench_skylake(), NULL, RECORDS, RECORDS);
    memset(&counting, 0, sizeof counting);
    counting.now = &now;
}

static void add(enum qds_group g, unsigned event, uint64_t n)
{
    qds_numbers_add(&now, g, event, true, n);
}

static bool lead_is_due(enum qds_group g)
{
    return now.lead[g] < QDS_LEAD_DUE;
}

static void what_is_forced_counts_on(void **state)
{
    (void)state;
    const uint32_t plain[DS_MODEL_EVENTS] = {[DS_MODEL_INSTRUCTION] = 3};
    begin();
    ds_bench_pebs_counter(&bench, 0, INSTRUCTIONS, MINUS(1000), MINUS(1000));
    qds_counting_arm(&counting, &bench.model);
    qds_counting_force(&counting, 1);
    assert_true(lead_is_due(QDS_OTHER_RINGS) && !lead_is_due(QDS_RING_0));
    assert_false(qds_counting_due(&counting, 1, plain, ALL)); /* but for being forced */
    add(QDS_ALL_RINGS, DS_MODEL_INSTRUCTION, 7);
    qds_counting_sync(&counting, &bench.model);
    assert_int_equal(PMC(&bench, 0), MINUS(993));
}

/* Blocks of QEMU's greatest length, while nobody arms. */
static void what_is_forced_is_full_before_it_is_not_due(void **state)
{
    (void)state;
    unsigned blocks = 0;
    begin();
    ds_bench_pebs_counter(&bench, 0, INSTRUCTIONS, MINUS(1000), MINUS(1000));
    qds_counting_arm(&counting, &bench.model);
    qds_counting_force(&counting, 1);
    for (; !qds_counting_full(&counting); blocks++) {
        add(QDS_ALL_RINGS, DS_MODEL_INSTRUCTION, 512);
        add(QDS_ALL_RINGS, DS_MODEL_BRANCH, 1);
        assert_true(lead_is_due(QDS_ALL_RINGS));
    }
    assert_true(blocks > 0);
    add(QDS_ALL_RINGS, DS_MODEL_INSTRUCTION, 512);
    assert_true(lead_is_due(QDS_ALL_RINGS));
}

/* Branches may be taken back after the model has got them: the block has been left before its end. */
static void branches_in_a_lead_can_be_taken_back(void **state)
{
    (void)state;
    const uint64_t on = IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN;
    begin();
    ds_bench_write(&bench, IA32_PERFEVTSEL0, INSTRUCTIONS | on);
    ds_bench_write(&bench, IA32_PERFEVTSEL0 + 1, BRANCHES | on);
    ds_bench_write(&bench, IA32_PERF_GLOBAL_CTRL, 3);
    qds_counting_arm(&counting, &bench.model);
    add(QDS_ALL_RINGS, DS_MODEL_INSTRUCTION, 5);
    add(QDS_ALL_RINGS, DS_MODEL_BRANCH, 1);
    qds_counting_sync(&counting, &bench.model);
    qds_counting_arm(&counting, &bench.model);
    add(QDS_ALL_RINGS, DS_MODEL_INSTRUCTION, UINT64_MAX);
    add(QDS_ALL_RINGS, DS_MODEL_BRANCH, UINT64_MAX);
    qds_counting_sync(&counting, &bench.model);
    assert_int_equal(PMC(&bench, 0), 4);
    assert_int_equal(PMC(&bench, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_forced_counts_on),
        cmocka_unit_test(what_is_forced_is_full_before_it_is_not_due),
        cmocka_unit_test(branches_in_a_lead_can_be_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
