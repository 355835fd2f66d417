/* SPDX-License-Identifier: MIT */
/* Slots of the pipeline: fixed counters 3 to 6, events of them, MSR_PERF_METRICS. Worked out on paper. */
#include <stdbool.h>

#include "ds/lbr_layout.h"
#include "ds/model/topdown/slots.h"
#include "ds/model/variant/variant.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"

#define ALL_RINGS    (IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN)
#define FIXED(i)     DS_BIT(32 + (i))
#define FIXED_CTR(i) ds_bench_read(b, IA32_FIXED_CTR0 + (i))
#define EVENT(e)     DS_BIT(DS_MODEL_##e)

static struct ds_bench bench, *b = &bench;
static struct ds_model_preset preset;

static const uint64_t plain = EVENT(INSTRUCTION) | EVENT(NOT_BRANCH),
                      conditional = EVENT(INSTRUCTION) | EVENT(BRANCH) | EVENT(BRANCH_CONDITIONAL),
                      unconditional = EVENT(INSTRUCTION) | EVENT(BRANCH) | EVENT(BRANCH_UNCONDITIONAL);

static void begin(const char *name, bool efficient)
{
    preset = *ds_model_preset(name);
    if (efficient)
        assert_true(ds_model_efficient(ds_model_preset(name), &preset));
    ds_bench_init(b, &preset, NULL, 4096, 4096);
}

static void run(unsigned n, uint64_t events)
{
    while (n--)
        assert_int_equal(ds_bench_retire(b, events, 0), 0);
}

/* 15 instructions: 120 slots. */
static void mix(void)
{
    run(10, plain);
    run(3, conditional);
    run(2, unconditional);
}

/* GP counter i counts `select`, without PEBS. */
static void count(unsigned i, uint64_t select)
{
    ds_bench_write(b, IA32_A_PMC0 + i, 0);
    ds_bench_write(b, IA32_PERFEVTSEL0 + i, select | ALL_RINGS);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, ds_bench_read(b, IA32_PERF_GLOBAL_CTRL) | DS_BIT(i));
}

static void efficient_cores(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool efficient;
    } rows[] = {{"arrowlake", true}, {"lunarlake", true}, {"pantherlake", true}, {"clearwaterforest", false}};
    for (unsigned r = 0; r < 4; r++) {
        begin(rows[r].name, rows[r].efficient);
        ds_bench_write(b, IA32_FIXED_CTR_CTRL, 0x3330333);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, UINT64_C(0x7700000000));
        count(0, 0x0073);
        count(1, 0x019C);
        count(2, 0x02C2);
        count(3, 0x02A4);
        mix();
        assert_int_equal(FIXED_CTR(4), 21);
        assert_int_equal(FIXED_CTR(5), 14);
        assert_int_equal(FIXED_CTR(6), 15);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(PMC(b, i), FIXED_CTR(4 + i));
        assert_int_equal(PMC(b, 3), 70);
        assert_int_equal(PMC(b, 3) + FIXED_CTR(4) + FIXED_CTR(5) + FIXED_CTR(6), 8 * FIXED_CTR(1));
        run(1, plain); /* ring 3 alone */
        ds_bench_write(b, IA32_FIXED_CTR_CTRL, 0x2220333);
        mix();
        assert_int_equal(FIXED_CTR(4), 21);
        assert_int_equal(ds_bench_retire(b, conditional, 3), 0);
        assert_int_equal(FIXED_CTR(4), 28);
    }
}

/* An instruction moves a counter by more than one: past 0. */
static void overflows(void **state)
{
    (void)state;
    begin("clearwaterforest", false);
    ds_bench_write(b, IA32_FIXED_CTR0 + 4, MINUS(10));
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, 0xB0000);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, FIXED(4));
    run(1, conditional);
    assert_true(FIXED_CTR(4) == MINUS(3) && !STATUS(b) && !b->pmis);
    run(1, conditional);
    assert_int_equal(FIXED_CTR(4), 4);
    assert_true(STATUS(b) == FIXED(4));
    assert_int_equal(b->pmis, 1);
}

/* PEBS on fixed counter 6: armed by an instruction, the next writes the record and reloads. */
static void recorded(void **state)
{
    (void)state;
    begin("clearwaterforest", false);
    ds_bench_arch(b, 0, 0x7FFFFF0);
    ds_bench_write(b, IA32_FIXED_CTR0 + 6, MINUS(2));
    ds_bench_write(b, 0x1983 + 4 * 6, IA32_PMC_CFG_C_EN | 0xFFFFFFF0);
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, 0x3000000);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, FIXED(6));
    run(2, plain);
    assert_int_equal(b->stored, 0);
    run(1, conditional);
    assert_int_equal(b->stored, 1);
    assert_true(*ds_bench_physical(b, 0x18) == FIXED(6));
    assert_true(FIXED_CTR(6) == MINUS(16));
}

static void metrics(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned slots;
        uint64_t metrics; /* of the mix: 15, 3 and 2 of (slots - 1), in 255ths of all; the back end has the rest */
    } rows[] = {
        {"icelake", 5, UINT64_C(0x881B2933)},
        {"sapphirerapids", 6, UINT64_C(0x001C2B008D1C2B2B)},
        {"pantherlake", 8, UINT64_C(0x001E2D00941E2D20)},
    };
    for (unsigned r = 0; r < 3; r++) {
        begin(rows[r].name, false);
        ds_bench_write(b, IA32_FIXED_CTR_CTRL, 0x3000);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, IA32_PERF_GLOBAL_METRICS | FIXED(3));
        count(2, 0x01A4);
        count(3, 0x02A4);
        assert_int_equal(ds_bench_read(b, MSR_PERF_METRICS), 0);
        mix();
        assert_int_equal(FIXED_CTR(3), 15 * rows[r].slots);
        assert_int_equal(PMC(b, 2), 15 * rows[r].slots);
        assert_int_equal(PMC(b, 3), 10 * (rows[r].slots - 1));
        const uint64_t now = ds_bench_read(b, MSR_PERF_METRICS);
        assert_int_equal((now & 0xFF) + (now >> 8 & 0xFF) + (now >> 16 & 0xFF) + (now >> 24 & 0xFF), 255);
        assert_true(now == rows[r].metrics);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, FIXED(3)); /* without the metrics' own bit they stand still */
        run(50, plain);
        assert_true(ds_bench_read(b, MSR_PERF_METRICS) == now);
        ds_bench_write(b, MSR_PERF_METRICS, 0);
        ds_bench_write(b, IA32_FIXED_CTR0 + 3, 0);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, IA32_PERF_GLOBAL_METRICS | FIXED(3));
        run(4, plain);
        const uint64_t retiring = (255 + rows[r].slots / 2) / rows[r].slots;
        assert_int_equal(ds_bench_read(b, MSR_PERF_METRICS) & UINT32_MAX, retiring | (255 - retiring) << 24);
    }
}

/* What Linux does at each context switch: it saves both, and later writes slots first. Metrics stand for all of them.
 */
static void restored(void **state)
{
    (void)state;
    static const char *const names[] = {"icelake", "pantherlake"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        begin(names[i], false);
        ds_bench_write(b, IA32_FIXED_CTR_CTRL, 0x3000);
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, IA32_PERF_GLOBAL_METRICS | FIXED(3));
        run(10000, plain);
        run(2000, conditional);
        const uint64_t slots = FIXED_CTR(3), saved = ds_bench_read(b, MSR_PERF_METRICS);
        ds_bench_write(b, IA32_FIXED_CTR0 + 3, 0); /* another task's */
        ds_bench_write(b, MSR_PERF_METRICS, 0);
        run(500, unconditional);
        ds_bench_write(b, IA32_FIXED_CTR0 + 3, slots);
        ds_bench_write(b, MSR_PERF_METRICS, saved);
        assert_true(ds_bench_read(b, MSR_PERF_METRICS) == saved);
        run(10, conditional);
        assert_true(ds_bench_read(b, MSR_PERF_METRICS) == saved);
        run(12000, plain); /* so bad speculation has half the share */
        assert_in_range(ds_bench_read(b, MSR_PERF_METRICS) >> 8 & 0xFF, (saved >> 8 & 0xFF) / 2 - 1,
                        (saved >> 8 & 0xFF) / 2 + 1);
        assert_int_equal(ds_bench_read(b, MSR_PERF_METRICS) >> 16 & 0xFF, 0);
    }
}

static void tallies_have_no_overflow(void **state)
{
    (void)state;
    static const char *const names[] = {"icelake", "pantherlake"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        begin(names[i], false);
        ds_bench_write(b, IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_os(3));
        ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, FIXED(3) | IA32_PERF_GLOBAL_METRICS);
        for (unsigned t = DS_MODEL_TALLY_SLOTS; t < DS_MODEL_COUNTERS; t++)
            b->model.value[t] = b->model.counter_mask;
        mix();
        assert_int_equal(ds_bench_read(b, IA32_PERF_GLOBAL_STATUS), 0);
    }
}

static void with_memory(void **state)
{
    (void)state;
    uint32_t by[DS_MODEL_COUNTERS];
    preset = *ds_model_preset("pantherlake");
    preset.memory = &ds_model_memory;
    preset.cpi = 50;
    ds_bench_init(b, &preset, NULL, 4096, 4096);
    assert_int_equal(ds_model_slots_left(&preset), 3);
    ds_bench_write(b, IA32_FIXED_CTR_CTRL, 0x3000);
    ds_bench_write(b, IA32_PERF_GLOBAL_CTRL, IA32_PERF_GLOBAL_METRICS | FIXED(3));
    count(3, 0x02A4);
    for (unsigned i = 0; i < DS_MODEL_COUNTERS; i++)
        by[i] = 1;
    by[32 + 3] = by[DS_MODEL_TALLY_SLOTS] = 10; /* cycles, of which half a cycle is its own, and half another's */
    by[3] = 3 + 9 * 8;
    const struct ds_model_retired load = {.events = plain | EVENT(CYCLES) | EVENT(BACKEND), .by = by};
    assert_int_equal(ds_model_retire(&b->model, &load), 0);
    assert_int_equal(FIXED_CTR(3), 80);
    assert_int_equal(PMC(b, 3), 75);
    assert_true(ds_bench_read(b, MSR_PERF_METRICS) == UINT64_C(0xF2000000FC000003));
}

/* CMASK, EQ: in a cycle there are as many as an instruction has. */
static void in_one_cycle(void **state)
{
    (void)state;
    static const struct {
        uint64_t select;
        unsigned counted; /* of the mix */
    } rows[] = {
        {0x01A4 | UINT64_C(1) << 24, 15}, {0x01A4 | UINT64_C(8) << 24, 15}, {0x01A4 | UINT64_C(9) << 24, 0},
        {0x0073 | UINT64_C(7) << 24, 3},  {0x0073 | UINT64_C(8) << 24, 0},
    };
    for (unsigned r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (unsigned equal = 0; equal < 2; equal++) {
            begin(r < 3 ? "pantherlake" : "clearwaterforest", false);
            const unsigned cmask = (unsigned)(rows[r].select >> 24);
            count(3, rows[r].select | (equal ? IA32_PERFEVTSEL_EQ : 0));
            mix();
            assert_int_equal(PMC(b, 3), equal && cmask == 1 ? 0 : rows[r].counted);
        }
    }
}

/* Entries of branch history, an interrupt's too; a filter leaves out others. */
static void inserts(void **state)
{
    (void)state;
    begin("clearwaterforest", false);
    ds_bench_write(b, IA32_LBR_CTL,
                   IA32_LBR_CTL_LBREN | IA32_LBR_CTL_OS | ia32_lbr_ctl_branch(DS_MODEL_CONDITIONAL) |
                       ia32_lbr_ctl_branch(DS_MODEL_OTHER_BRANCH));
    count(1, 0x01E4);
    for (unsigned i = 0; i < 5; i++)
        ds_bench_branch(b, i, 0);
    assert_int_equal(PMC(b, 1), 5);
    run(1, conditional); /* not taken */
    const struct ds_model_branch interrupt = {.from = 1, .to = 2, .type = DS_MODEL_OTHER_BRANCH};
    assert_int_equal(ds_model_interrupt(&b->model, &interrupt, 0), 0);
    assert_int_equal(PMC(b, 1), 6);
    ds_bench_write(b, IA32_LBR_CTL, IA32_LBR_CTL_LBREN | IA32_LBR_CTL_OS);
    ds_bench_branch(b, 0, 0);
    assert_int_equal(PMC(b, 1), 6);
}

/* Cycles with an entry, how often such cycles begin, and the others. */
static void inserts_in_cycles(void **state)
{
    (void)state;
    begin("clearwaterforest", false);
    ds_bench_write(b, IA32_LBR_CTL, IA32_LBR_CTL_LBREN | IA32_LBR_CTL_OS | IA32_LBR_CTL_USR | 0x7F0000);
    count(1, 0x01E4 | DS_BIT(24));
    count(2, 0x01E4 | DS_BIT(24) | IA32_PERFEVTSEL_INV);
    count(3, 0x01E4 | IA32_PERFEVTSEL_EDGE);
    for (unsigned i = 0; i < 3; i++) {
        ds_bench_branch(b, 0, 0);
        ds_bench_branch(b, 0, 0);
        run(4, plain);
    }
    assert_int_equal(PMC(b, 1), 6);
    assert_int_equal(PMC(b, 2), 12);
    assert_int_equal(PMC(b, 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(efficient_cores), cmocka_unit_test(overflows),
        cmocka_unit_test(recorded),        cmocka_unit_test(metrics),
        cmocka_unit_test(with_memory),     cmocka_unit_test(in_one_cycle),
        cmocka_unit_test(inserts),         cmocka_unit_test(tallies_have_no_overflow),
        cmocka_unit_test(restored),        cmocka_unit_test(inserts_in_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
