/* SPDX-License-Identifier: MIT */
/*
 * Counting by blocks is the same as going through the model with each instruction: random blocks on two models, one
 * each way, which must never differ: counters, status, records, memory, interrupts.
 */
#include <stdbool.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/ds_bench.h"
#include "tools/qemu-ds/counting/counting.h"

#define EVENT(e) DS_BIT(DS_MODEL_##e)
#define ALL      UINT64_MAX
#define BLOCKS   20000u
#define RECORDS  (320u * 16u)

static struct ds_bench told, counted;
static struct qds_numbers now;
static struct qds_counting counting = {.now = &now};
static unsigned steps, unreached, early;
static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % n;
}

struct block {
    unsigned ring, length;
    uint64_t of[8]; /* events of each instruction */
    uint32_t events[DS_MODEL_EVENTS];
};

static struct block random_block(void)
{
    static const uint64_t ends[] = {EVENT(INSTRUCTION), EVENT(INSTRUCTION) | EVENT(BRANCH),
                                    EVENT(INSTRUCTION) | EVENT(BRANCH) | EVENT(NEAR_CALL),
                                    EVENT(INSTRUCTION) | EVENT(BRANCH) | EVENT(BRANCH_CONDITIONAL)};
    struct block b = {.ring = random_below(2), .length = 1 + random_below(8)};
    for (unsigned i = 0; i < b.length; i++) {
        b.of[i] = i + 1 < b.length ? EVENT(INSTRUCTION) : ends[random_below(4)];
        for (unsigned e = 0; e < DS_MODEL_EVENTS; e++)
            b.events[e] += b.of[i] >> e & 1;
    }
    return b;
}

static void go_through(struct ds_bench *bench, const struct block *b)
{
    for (unsigned i = 0; i < b->length; i++)
        ds_bench_retire(bench, b->of[i], b->ring ? 3 : 0);
}

/* As translated blocks do. */
static void add(enum qds_group g, unsigned event, uint64_t n)
{
    qds_numbers_add(&now, g, event, !(counting.near[g] >> DS_MODEL_BRANCH & 1), n);
}

/* `sign` UINT64_MAX takes it back. */
static void add_block(const struct block *b, uint64_t sign)
{
    for (unsigned e = 0; e < DS_MODEL_EVENTS; e++) {
        add(b->ring, e, sign * b->events[e]);
        add(QDS_ALL_RINGS, e, sign * b->events[e]);
    }
}

static bool lead_is_due(enum qds_group g)
{
    return now.lead[g] < QDS_LEAD_DUE;
}

/* Whether one of the checks of a translated block is reached, which has been added. */
static bool reached(const struct block *b)
{
    bool any = lead_is_due(b->ring) || lead_is_due(QDS_ALL_RINGS);
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        for (unsigned e = 1; e < DS_MODEL_EVENTS; e++)
            if ((g == b->ring || g == QDS_ALL_RINGS) && b->events[e] &&
                (!(QDS_COVERED_EVENTS >> e & 1) || counting.near[g] >> e & 1))
                any |= now.of[g][e] >= QDS_DUE;
    return any;
}

static void expect_spare_not_due(const struct block *b)
{
    assert_false(qds_counting_due(&counting, b->ring, b->events, ALL) &&
                 qds_counting_spare(&counting, b->ring) >= b->length);
}

static void run(const struct block *b)
{
    go_through(&told, b);
    add_block(b, 1);
    const bool any = reached(b);
    add_block(b, UINT64_MAX);
    expect_spare_not_due(b);
    if (!any) {
        assert_false(qds_counting_due(&counting, b->ring, b->events, ALL));
        unreached++;
    } else if (!qds_counting_due(&counting, b->ring, b->events, ALL)) {
        qds_counting_sync(&counting, &counted.model);
        qds_counting_arm(&counting, &counted.model);
        early++;
    }
    if (qds_counting_due(&counting, b->ring, b->events, ALL)) {
        qds_counting_sync(&counting, &counted.model);
        go_through(&counted, b);
        qds_counting_arm(&counting, &counted.model);
        steps++;
        return;
    }
    add_block(b, 1);
}

static void compare(void)
{
    qds_counting_sync(&counting, &counted.model);
    assert_memory_equal(told.model.value, counted.model.value, sizeof told.model.value);
    assert_int_equal(told.model.global_status, counted.model.global_status);
    assert_int_equal(told.model.armed, counted.model.armed);
    assert_int_equal(told.model.records, counted.model.records);
    assert_int_equal(told.model.dropped, counted.model.dropped);
    assert_memory_equal(told.memory, counted.memory, sizeof told.memory);
    assert_int_equal(told.pmis, counted.pmis);
}

static void begin(struct ds_bench *b, const struct ds_model_preset *preset)
{
    ds_bench_init(b, preset, NULL, RECORDS, RECORDS / 2);
    ds_bench_pebs_counter(b, 0, INSTRUCTIONS, MINUS(101), MINUS(101));
}

/* Both at once. */
static void write_both(uint32_t msr, uint64_t value)
{
    qds_counting_sync(&counting, &counted.model);
    ds_bench_write(&told, msr, value);
    ds_bench_write(&counted, msr, value);
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        counting.near[g] = random_below(2) ? qds_counting_near(&counted.model, g) : 0; /* it may be too late to tell */
    qds_counting_arm(&counting, &counted.model);
}

static void same(const struct ds_model_preset *preset)
{
    const uint64_t usr = IA32_PERFEVTSEL_USR, os = IA32_PERFEVTSEL_OS, on = IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_INT;
    begin(&told, preset);
    begin(&counted, preset);
    qds_counting_arm(&counting, &counted.model);
    steps = unreached = early = 0;
    write_both(IA32_PMC0 + 1, MINUS(37) & 0x7FFFFFFF);
    write_both(IA32_PERFEVTSEL0 + 1, BRANCHES | usr | on); /* an interrupt at its end, and all of 2^48 then */
    write_both(IA32_PERFEVTSEL0 + 2, BRANCHES | os | IA32_PERFEVTSEL_EN);
    write_both(IA32_PERFEVTSEL0 + 3, INSTRUCTIONS | usr | os | on);
    for (unsigned i = 0; i < BLOCKS; i++) {
        struct block b = random_block();
        run(&b);
        if (random_below(16) == 0)
            compare();
        if (random_below(64) == 0) /* a counter close to its end */
            write_both(IA32_PMC0 + 1 + random_below(3), -(uint64_t)(1 + random_below(200)) & 0xFFFFFFFF);
        if (random_below(256) == 0) {
            write_both(IA32_PERF_GLOBAL_CTRL, random_below(16));
            told.pmis = counted.pmis = 0; /* it keeps so many */
        }
        if (random_below(256) == 0) { /* the buffer is drained */
            *ds_bench_area(&told, offsetof(struct ds_area_60, pebs_index)) = ds_bench_buffer();
            *ds_bench_area(&counted, offsetof(struct ds_area_60, pebs_index)) = ds_bench_buffer();
        }
    }
    compare();
    assert_true(told.model.records > 100);
    assert_true(steps > 100 && steps < BLOCKS / 2); /* or blocks have counted nothing */
    assert_true(unreached > BLOCKS / 4 && early > 100);
}

/* Counters of a group whose instructions count with them: what is far away needs no check, what is near has one. */
static void only_near_events_have_checks(void **state)
{
    (void)state;
    const uint64_t on = IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN;
    const struct block b = {.ring = 0, .length = 3, .events = {[DS_MODEL_INSTRUCTION] = 3, [DS_MODEL_BRANCH] = 1}};
    ds_bench_init(&counted, ds_bench_skylake(), NULL, RECORDS, RECORDS);
    memset(&counting, 0, sizeof counting);
    counting.now = &now;
    ds_bench_write(&counted, IA32_PERFEVTSEL0, INSTRUCTIONS | on);
    ds_bench_write(&counted, IA32_PERFEVTSEL0 + 1, BRANCHES | on);
    ds_bench_write(&counted, IA32_PERF_GLOBAL_CTRL, 3);
    assert_int_equal(qds_counting_near(&counted.model, QDS_ALL_RINGS), 0);
    ds_bench_write(&counted, IA32_PMC0 + 1, -(uint64_t)1000 & 0xFFFFFFFF);
    assert_int_equal(qds_counting_near(&counted.model, QDS_ALL_RINGS), EVENT(BRANCH));
    assert_int_equal(qds_counting_near(&counted.model, QDS_RING_0), 0);
    qds_counting_arm(&counting, &counted.model); /* without a check */
    add(QDS_ALL_RINGS, DS_MODEL_INSTRUCTION, 999);
    assert_false(reached(&b));
    add(QDS_ALL_RINGS, DS_MODEL_INSTRUCTION, 1);
    assert_true(reached(&b));
    assert_false(qds_counting_due(&counting, 0, b.events, ALL));
    counting.near[QDS_ALL_RINGS] = EVENT(BRANCH);
    qds_counting_arm(&counting, &counted.model);
    add(QDS_ALL_RINGS, DS_MODEL_INSTRUCTION, 100000);
    assert_false(reached(&b));
    add(QDS_ALL_RINGS, DS_MODEL_BRANCH, 1000);
    assert_true(reached(&b) && qds_counting_due(&counting, 0, b.events, ALL));
}

static void blocks_count_as_the_model_does(void **state)
{
    (void)state;
    for (unsigned format = 0; format <= 6; format++) {
        seed = format + 1;
        if (ds_bench_of_format(format)->gp_counters >= 4)
            same(ds_bench_of_format(format));
    }
}

/* The precise answer for an armed counter: its next event, however far its value is from overflow. */
static void an_armed_counter_waits_for_its_next_event(void **state)
{
    (void)state;
    const uint32_t branch[DS_MODEL_EVENTS] = {[DS_MODEL_INSTRUCTION] = 3, [DS_MODEL_BRANCH] = 1};
    const uint32_t plain[DS_MODEL_EVENTS] = {[DS_MODEL_INSTRUCTION] = 3};
    ds_bench_init(&counted, ds_bench_skylake(), NULL, RECORDS, RECORDS);
    ds_bench_pebs_counter(&counted, 0, BRANCHES, MINUS(1), MINUS(1000));
    qds_counting_arm(&counting, &counted.model);
    assert_true(qds_counting_due(&counting, 0, branch, ALL));
    assert_false(qds_counting_due(&counting, 0, plain, ALL));
    ds_bench_retire(&counted, EVENT(INSTRUCTION) | EVENT(BRANCH), 0);
    qds_counting_arm(&counting, &counted.model);
    assert_true(qds_counting_due(&counting, 0, branch, ALL));
    assert_true(qds_counting_due(&counting, 1, branch, ALL));
    ds_bench_write(&counted, IA32_PEBS_ENABLE, 0);
    qds_counting_arm(&counting, &counted.model);
    assert_false(qds_counting_due(&counting, 0, branch, ALL));
    ds_bench_write(&counted, IA32_PEBS_ENABLE, 1);
    qds_counting_arm(&counting, &counted.model);
    assert_true(qds_counting_due(&counting, 0, branch, ALL));
    ds_bench_retire(&counted, EVENT(INSTRUCTION) | EVENT(BRANCH), 0);
    assert_int_equal(counted.model.records, 1);
    qds_counting_arm(&counting, &counted.model);
    assert_false(qds_counting_due(&counting, 0, branch, ALL));
}

static void frozen_counters_stand_still(void **state)
{
    (void)state;
    const uint32_t plain[DS_MODEL_EVENTS] = {[DS_MODEL_INSTRUCTION] = 3};
    ds_bench_init(&counted, ds_bench_icelake(), NULL, RECORDS, RECORDS);
    ds_bench_pebs_counter(&counted, 0, INSTRUCTIONS, MINUS(2), MINUS(1000));
    ds_bench_write(&counted, IA32_PERF_GLOBAL_STATUS_SET, IA32_PERF_GLOBAL_STATUS_CTR_FRZ);
    qds_counting_arm(&counting, &counted.model);
    assert_false(qds_counting_due(&counting, 0, plain, ALL));
    add(QDS_ALL_RINGS, DS_MODEL_INSTRUCTION, 3);
    qds_counting_sync(&counting, &counted.model);
    assert_int_equal(PMC(&counted, 0), MINUS(2));
}

/* ---- amounts ----------------------------------------------------------------------------------------------------- */

enum { CYCLE_MOST = 700, ASKED_MOST = 3 };

/* By so much each counter goes, as an instruction that causes `amounts` moves it. `left`: units of a cycle from before,
 * by where a counter counts: all rings, ring 0, others. */
static void tell_amounts(const struct qds_amounts *amounts, unsigned ring)
{
    static const unsigned counter_of[] = {0, 1, 2};
    static uint64_t left[3];
    uint32_t by[DS_MODEL_COUNTERS];
    struct ds_model_retired retired = {
        .events = EVENT(INSTRUCTION) | EVENT(CYCLES) | EVENT(L3_ASKED), .cpl = ring ? 3 : 0, .by = by};
    for (unsigned i = 0; i < DS_MODEL_COUNTERS; i++)
        by[i] = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (i == 1 ? ring != 0 : i == 2 ? ring == 0 : false)
            continue;
        left[i] += amounts->of[DS_MODEL_CYCLES - DS_MODEL_AMOUNTS];
        by[counter_of[i]] = (uint32_t)(left[i] / QDS_UNITS_OF_A_CYCLE);
        left[i] %= QDS_UNITS_OF_A_CYCLE;
    }
    by[3] = amounts->of[DS_MODEL_L3_ASKED - DS_MODEL_AMOUNTS];
    assert_int_equal(ds_model_retire(&told.model, &retired), 0);
}

static void count_amounts(const struct qds_amounts *amounts, unsigned ring, bool through)
{
    uint32_t by[DS_MODEL_COUNTERS];
    struct ds_model_retired retired = {.events = EVENT(INSTRUCTION), .cpl = ring ? 3 : 0, .by = by};
    if (through) {
        for (unsigned i = 0; i < DS_MODEL_COUNTERS; i++)
            by[i] = 1;
        qds_counting_sync(&counting, &counted.model);
        retired.events |= qds_counting_amounts(&counting, ring, amounts, ALL, by);
        assert_int_equal(ds_model_retire(&counted.model, &retired), 0);
        qds_counting_arm(&counting, &counted.model);
        steps++;
        return;
    }
    for (unsigned g = 0; g < QDS_GROUPS; g++) {
        if (g != QDS_ALL_RINGS && g != (ring ? QDS_OTHER_RINGS : QDS_RING_0))
            continue;
        add(g, DS_MODEL_INSTRUCTION, 1);
        for (unsigned e = 0; e < QDS_AMOUNTS; e++)
            now.of[g][DS_MODEL_AMOUNTS + e] += amounts->of[e];
    }
}

/* Cycles in all rings with PEBS, and in either alone; what the L3 is asked for, with interrupts. */
static void amounts_count_as_the_model_does(void **state)
{
    (void)state;
    static struct ds_model_preset preset;
    const uint64_t usr = IA32_PERFEVTSEL_USR, os = IA32_PERFEVTSEL_OS, on = IA32_PERFEVTSEL_EN;
    const uint64_t cycles_pp = INSTRUCTIONS | IA32_PERFEVTSEL_INV | UINT64_C(16) << 24;
    const uint32_t most[DS_MODEL_EVENTS] = {
        [DS_MODEL_INSTRUCTION] = 1, [DS_MODEL_CYCLES] = CYCLE_MOST, [DS_MODEL_L3_ASKED] = ASKED_MOST};
    preset = *ds_bench_skylake();
    preset.memory = &ds_model_memory;
    memset(&counting, 0, sizeof counting);
    counting.now = &now;
    seed = 99;
    steps = 0;
    struct ds_bench *const both[] = {&told, &counted};
    for (unsigned i = 0; i < 2; i++) {
        ds_bench_init(both[i], &preset, NULL, RECORDS, RECORDS);
        ds_bench_pebs_counter(both[i], 0, cycles_pp, MINUS(1000), MINUS(1000));
    }
    qds_counting_arm(&counting, &counted.model);
    write_both(IA32_PERFEVTSEL0 + 1, 0x003C | os | on);
    write_both(IA32_PERFEVTSEL0 + 2, 0x003C | usr | on);
    write_both(IA32_PERFEVTSEL0 + 3, 0x4F2E | usr | os | on | IA32_PERFEVTSEL_INT);
    write_both(IA32_PMC0 + 3, MINUS(20) & 0xFFFFFFFF);
    write_both(IA32_PERF_GLOBAL_CTRL, 15);
    for (unsigned i = 0; i < BLOCKS; i++) {
        const unsigned ring = random_below(4) == 0;
        struct qds_amounts amounts = {0};
        amounts.of[DS_MODEL_CYCLES - DS_MODEL_AMOUNTS] = random_below(CYCLE_MOST + 1);
        amounts.of[DS_MODEL_L3_ASKED - DS_MODEL_AMOUNTS] = random_below(ASKED_MOST + 1);
        tell_amounts(&amounts, ring);
        count_amounts(&amounts, ring, qds_counting_due(&counting, ring, most, ALL));
        if (random_below(16) == 0)
            compare();
        if (random_below(64) == 0)
            write_both(IA32_PMC0 + 3, MINUS(1 + random_below(200)) & 0xFFFFFFFF);
        if (random_below(256) == 0) {
            *ds_bench_area(&told, offsetof(struct ds_area_60, pebs_index)) = ds_bench_buffer();
            *ds_bench_area(&counted, offsetof(struct ds_area_60, pebs_index)) = ds_bench_buffer();
            told.pmis = counted.pmis = 0;
        }
    }
    compare();
    assert_true(told.model.records > 30);
    assert_true(steps > 100 && steps < BLOCKS / 2);
}

/* More than blocks expect of an instruction: the counter stops before its overflow, and the next instruction makes
 * it. */
static void what_is_too_much_waits(void **state)
{
    (void)state;
    static struct ds_model_preset preset;
    const uint32_t one[DS_MODEL_EVENTS] = {[DS_MODEL_L3_ASKED] = 1};
    const struct qds_amounts none = {0};
    preset = *ds_bench_skylake();
    preset.memory = &ds_model_memory;
    memset(&counting, 0, sizeof counting);
    counting.now = &now;
    ds_bench_init(&counted, &preset, NULL, RECORDS, RECORDS);
    ds_bench_pebs_counter(&counted, 0, 0x4F2E, MINUS(10), MINUS(1000));
    qds_counting_arm(&counting, &counted.model);
    assert_false(qds_counting_due(&counting, 0, one, ALL));
    now.of[QDS_ALL_RINGS][DS_MODEL_L3_ASKED] += 64; /* REP MOVS */
    qds_counting_sync(&counting, &counted.model);
    assert_int_equal(PMC(&counted, 0), MINUS(1));
    qds_counting_arm(&counting, &counted.model);
    assert_true(qds_counting_due(&counting, 0, one, ALL));
    count_amounts(&none, 0, true);
    assert_int_equal(PMC(&counted, 0), 54);
    assert_int_equal(STATUS(&counted) & 1, 1);
}

/* ---- reference cycles -------------------------------------------------------------------------------------------- */

static uint64_t tsc;

static uint64_t read_tsc(void)
{
    return tsc;
}

static void executes(unsigned ring, uint64_t instructions, uint64_t ticks)
{
    now.of[ring ? QDS_OTHER_RINGS : QDS_RING_0][DS_MODEL_REFERENCE] += instructions;
    now.of[QDS_ALL_RINGS][DS_MODEL_REFERENCE] += instructions;
    tsc += ticks;
}

static void begin_reference(struct ds_model_preset *preset)
{
    *preset = *ds_bench_skylake();
    preset->reference = true;
    memset(&counting, 0, sizeof counting);
    counting.now = &now;
    counting.tsc = read_tsc;
    tsc = 5000;
    ds_bench_init(&counted, preset, NULL, RECORDS, RECORDS);
}

/* Ticks of the TSC, shared among rings by instructions; none of them passes while the vCPU halts, or counts nothing. */
static void reference_cycles_are_ticks(void **state)
{
    (void)state;
    static struct ds_model_preset preset;
    const uint32_t one[DS_MODEL_EVENTS] = {[DS_MODEL_REFERENCE] = 1};
    const uint64_t on = IA32_PERFEVTSEL_EN | 0x013C;
    begin_reference(&preset);
    ds_bench_write(&counted, IA32_PERFEVTSEL0, on | IA32_PERFEVTSEL_OS);
    ds_bench_write(&counted, IA32_PERFEVTSEL0 + 1, on | IA32_PERFEVTSEL_USR);
    ds_bench_write(&counted, IA32_FIXED_CTR_CTRL, 0x300);
    tsc = 7000; /* nothing counts */
    ds_bench_write(&counted, IA32_PERF_GLOBAL_CTRL, 3 | DS_BIT(34));
    qds_counting_arm(&counting, &counted.model);
    assert_true(qds_counting_wanted(&counted.model, QDS_ALL_RINGS) >> DS_MODEL_REFERENCE & 1);
    executes(0, 30, 600);
    executes(1, 10, 200);
    qds_counting_sync(&counting, &counted.model);
    assert_int_equal(ds_bench_read(&counted, IA32_FIXED_CTR0 + 2), 800);
    assert_int_equal(PMC(&counted, 0), 600);
    assert_int_equal(PMC(&counted, 1), 200);
    qds_counting_arm(&counting, &counted.model);
    tsc += 100000; /* it halts */
    qds_counting_goes_on(&counting);
    executes(1, 4, 40);
    qds_counting_sync(&counting, &counted.model);
    assert_int_equal(ds_bench_read(&counted, IA32_FIXED_CTR0 + 2), 840);
    assert_int_equal(PMC(&counted, 0), 600);
    assert_int_equal(PMC(&counted, 1), 240);

    /* The overflow goes through the model at an instruction behind it. */
    ds_bench_write(&counted, IA32_FIXED_CTR0 + 2, (UINT64_C(1) << 48) - 50);
    qds_counting_arm(&counting, &counted.model);
    executes(1, 1, 70);
    qds_counting_sync(&counting, &counted.model);
    assert_int_equal(ds_bench_read(&counted, IA32_FIXED_CTR0 + 2), (UINT64_C(1) << 48) - 1);
    assert_false(STATUS(&counted));
    qds_counting_arm(&counting, &counted.model);
    assert_true(qds_counting_due(&counting, 3, one, ALL));
    tsc += 5;
    const struct qds_amounts none = {0};
    count_amounts(&none, 3, true);
    assert_int_equal(ds_bench_read(&counted, IA32_FIXED_CTR0 + 2), 25); /* 70 + 5 - 50 */
    assert_true(STATUS(&counted) == DS_BIT(34));
}

/* An instruction that the model has got faults: it takes no time, and says nothing of the rate. */
static void instructions_are_taken_back(void **state)
{
    (void)state;
    static struct ds_model_preset preset;
    begin_reference(&preset);
    ds_bench_write(&counted, IA32_FIXED_CTR_CTRL, 0x300);
    ds_bench_write(&counted, IA32_PERF_GLOBAL_CTRL, DS_BIT(34));
    qds_counting_arm(&counting, &counted.model);
    executes(0, 1000, 2000);
    qds_counting_sync(&counting, &counted.model);
    qds_counting_arm(&counting, &counted.model);
    const uint64_t rate = counting.rate;
    executes(0, UINT64_MAX, 7);
    qds_counting_sync(&counting, &counted.model);
    assert_int_equal(counting.rate, rate);
    executes(0, 1, 3);
    qds_counting_sync(&counting, &counted.model);
    assert_int_equal(ds_bench_read(&counted, IA32_FIXED_CTR0 + 2), 2010);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_count_as_the_model_does),
        cmocka_unit_test(only_near_events_have_checks),
        cmocka_unit_test(an_armed_counter_waits_for_its_next_event),
        cmocka_unit_test(frozen_counters_stand_still),
        cmocka_unit_test(amounts_count_as_the_model_does),
        cmocka_unit_test(what_is_too_much_waits),
        cmocka_unit_test(reference_cycles_are_ticks),
        cmocka_unit_test(instructions_are_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
