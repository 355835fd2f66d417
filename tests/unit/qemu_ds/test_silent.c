/* SPDX-License-Identifier: MIT */
/* Counters that have overflowed with PEBS on and recorded nothing, and what is said of them. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"
#include "tools/qemu-ds/zeros/silent.h"

static struct ds_bench bench, *b = &bench;
static struct qds_silent silent;
static char said[4000];

static void acted(void *context, const struct ds_model_action *action)
{
    (void)context;
    qds_silent_acted(&silent, &b->model, action);
}

static void recorded(void *context, const struct ds_model_record *record)
{
    (void)context;
    qds_silent_recorded(&silent, &b->model, record);
}

static void lost(void *context, uint64_t counters)
{
    (void)context;
    qds_silent_lost(&silent, &b->model, counters);
}

static void init(const char *preset, uint8_t unlisted, uint64_t maximum)
{
    const struct ds_model_policy policy = {.unlisted = unlisted};
    memset(&silent, 0, sizeof silent);
    ds_bench_init_listed(b, ds_model_preset(preset), &policy, maximum, maximum);
    b->model.host.acted = acted;
    b->model.host.recorded = recorded;
    b->model.host.lost = lost;
}

static const char *print(void)
{
    memset(said, 0, sizeof said);
    FILE *to = fmemopen(said, sizeof said - 1, "w");
    qds_silent_print(&silent, 3, to);
    fclose(to);
    return said;
}

static void instructions(unsigned n)
{
    while (n--)
        ds_bench_retire(b, DS_BIT(DS_MODEL_BRANCH) | DS_BIT(DS_MODEL_INSTRUCTION), 0);
}

static void nothing_to_say(void **state)
{
    (void)state;
    init("skylake", DS_MODEL_UNLISTED_BY_GENERATION, 8192);
    ds_bench_pebs_counter(b, 0, 0xC4, MINUS(1), MINUS(3));
    instructions(20);
    assert_int_equal(silent.followed[0].records, b->model.records);
    assert_true(b->model.records > 2);
    assert_string_equal(print(), "");
    ds_bench_write(b, IA32_PEBS_ENABLE, 0); /* overflows without PEBS */
    ds_bench_write(b, IA32_PERFEVTSEL0, 0xC0 | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN);
    ds_bench_write(b, IA32_PMC0, 0xFFFFFFFF);
    instructions(20);
    assert_string_equal(print(), "");
}

static void unlisted(void **state)
{
    (void)state;
    init("skylake", DS_MODEL_UNLISTED_NONE, 8192);
    ds_bench_pebs_counter(b, 2, 0xC4, MINUS(1), MINUS(3));
    instructions(20);
    assert_string_equal(print(), "qemu-ds: vCPU 3: PMC2, event C4H/00H: 1 overflow with PEBS on, but no record: PEBS "
                                 "does not record this event on this counter (policy.unlisted=)\n");
    ds_bench_pebs_counter(b, 2, 0x04C4, MINUS(1), MINUS(3)); /* the same counter records another event */
    instructions(20);
    assert_non_null(strstr(print(), "event C4H/00H: 1 overflow"));
    assert_null(strstr(said, "C4H/04H"));
}

static void full(void **state)
{
    (void)state;
    init("skylake", DS_MODEL_UNLISTED_BY_GENERATION, 0);
    ds_bench_pebs_counter(b, 0, 0xC4, MINUS(1), MINUS(3));
    instructions(20);
    assert_int_equal(b->model.records, 0);
    assert_non_null(strstr(print(), ": the buffer was full\n"));
}

static void turned_off(void **state)
{
    (void)state;
    init("skylake", DS_MODEL_UNLISTED_BY_GENERATION, 8192);
    ds_bench_pebs_counter(b, 0, 0xC4, MINUS(1), MINUS(3));
    instructions(1);
    assert_non_null(strstr(print(), "1 overflow with PEBS on, but no record: the next event"));
}

static void not_mapped(void **state)
{
    (void)state;
    init("icelake", DS_MODEL_UNLISTED_BY_GENERATION, 8192);
    ds_bench_pebs_counter(b, 1, 0xC4, MINUS(1), MINUS(3));
    b->accesses = 0;
    b->missing = 1;
    for (unsigned i = 0; i < 3; i++)
        ds_bench_retire(b, DS_BIT(DS_MODEL_BRANCH), 0);
    assert_int_equal(b->model.lost, 1);
    assert_non_null(strstr(print(), "no record: DS memory was not mapped\n"));
}

static void lost_of_another(void **state)
{
    (void)state;
    init("icelake", DS_MODEL_UNLISTED_BY_GENERATION, 8192);
    ds_bench_pebs_counter(b, 1, 0xC4, MINUS(1), MINUS(3));
    ds_bench_pebs_counter(b, 2, 0x20C4, MINUS(1), MINUS(3));
    ds_bench_retire(b, DS_BIT(DS_MODEL_BRANCH) | DS_BIT(DS_MODEL_BRANCH_TAKEN), 0);
    b->accesses = 0;
    b->missing = 1;
    ds_bench_retire(b, DS_BIT(DS_MODEL_BRANCH), 0);
    assert_int_equal(b->model.lost, 1);
    assert_non_null(strstr(print(), "PMC1, event C4H/00H: 1 overflow with PEBS on, but no record: DS memory was not "
                                    "mapped\n"));
    assert_non_null(strstr(said, "PMC2, event C4H/20H: 1 overflow with PEBS on, but no record: the next event"));
}

static void lost_architectural(void **state)
{
    (void)state;
    init("pantherlake", DS_MODEL_UNLISTED_BY_GENERATION, 8192);
    ds_bench_pebs_counter(b, 4, 0xC4, MINUS(1), MINUS(3));
    instructions(1);
    b->accesses = 0;
    b->missing = 1;
    instructions(1);
    assert_int_equal(b->model.lost, 1);
    assert_non_null(strstr(print(), "no record: DS memory was not mapped\n"));
}

static void swallowed(void **state)
{
    (void)state;
    init("haswell", DS_MODEL_UNLISTED_BY_GENERATION, 8192);
    ds_bench_pebs_counter(b, 0, 0xC4, MINUS(1), MINUS(2));
    ds_bench_pebs_counter(b, 1, 0x81D0, MINUS(1), MINUS(1000));
    ds_bench_retire(b, DS_BIT(DS_MODEL_LOAD_OR_PREFETCH), 0); /* armed; the other one's record comes first */
    instructions(2);
    assert_int_equal(b->model.swallowed, 1);
    assert_non_null(strstr(print(), "PMC1, event D0H/81H: 1 overflow with PEBS on, but no record: another counter's "
                                    "record reloaded it\n"));
}

static void index_is_off(void **state)
{
    (void)state;
    init("pantherlake", DS_MODEL_UNLISTED_BY_GENERATION, 8192);
    ds_bench_pebs_counter(b, 4, UINT64_C(0xC4), MINUS(1), MINUS(3));
    ds_bench_write(b, IA32_PEBS_INDEX, ds_bench_read(b, IA32_PEBS_INDEX) & ~IA32_PEBS_INDEX_EN);
    instructions(20);
    assert_non_null(strstr(print(), "PMC4, event C4H/00H: 1 overflow with PEBS on, but no record: IA32_PEBS_INDEX.EN "
                                    "was 0\n"));
}

static void bounded(void **state)
{
    (void)state;
    init("skylake", DS_MODEL_UNLISTED_NONE, 8192);
    for (unsigned i = 0; i < QDS_SILENT_MOST + 5; i++) { /* CMASK above 1, inverted: each instruction's cycle */
        ds_bench_pebs_counter(b, 0, 0xC0 | IA32_PERFEVTSEL_INV | (2u + i) << 24, MINUS(1), 0);
        instructions(1);
    }
    print();
    unsigned lines = 0;
    for (const char *at = said; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(silent.count, QDS_SILENT_MOST);
    assert_true(lines <= QDS_SILENT_MOST + 1);
    assert_non_null(strstr(said, ": 5 overflows with PEBS on of more than 24 counters and events: not followed\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_say),     cmocka_unit_test(unlisted),   cmocka_unit_test(full),
        cmocka_unit_test(turned_off),         cmocka_unit_test(not_mapped), cmocka_unit_test(swallowed),
        cmocka_unit_test(index_is_off),       cmocka_unit_test(bounded),    cmocka_unit_test(lost_of_another),
        cmocka_unit_test(lost_architectural),
    };
    return cmocka_run_group_tests_name("qds_silent", tests, NULL, NULL);
}
