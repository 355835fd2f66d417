/* SPDX-License-Identifier: MIT */
/* What comes out of the rings: its times, the order that records and drains force on them, waits, and Linux' threads as
 * CCSWAP has them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ds/layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/grab/order.h"
#include "tools/grab/threads.h"

#define BASE UINT64_C(0xFFFFFE0000001000)

static struct grab_store store;
/* 3 cycles are 1 ns, but in the second second 3.3. */
static struct grab_pair pairs[] = {{3000, 0, 10}, {3000003000, 1000000000, 20}, {6300003000, 2000000000, 10}};
static const struct grab_clock clock_of_three = {pairs, 3, 3};

static int setup(void **state)
{
    (void)state;
    return grab_store_begin(&store, "/tmp/none.log");
}

static int teardown(void **state)
{
    (void)state;
    for (unsigned c = 0; c < GRAB_CPUS; c++) {
        free(store.cpu[c].drains);
        free(store.cpu[c].switches);
        free(store.cpu[c].partial[0].bytes);
        free(store.cpu[c].partial[1].bytes);
    }
    return close(store.file);
}

/* A drain of records of 32 bytes with these TSCs, in pieces of `piece` bytes, of which `skip` does not come. */
static void drain(unsigned cpu, enum grab_kind kind, uint64_t number, uint64_t time, const uint64_t *tscs,
                  unsigned count, uint32_t piece, unsigned skip)
{
    struct grab_drain head = {.kind = kind, .number = number, .time = time, .bytes = 32 * count};
    const struct ds_area_60 area = {.pebs_buffer_base = BASE, .pebs_index = BASE + 32 * count};
    uint8_t bytes[GRAB_PIECE];
    memcpy(head.area, &area, sizeof area);
    grab_store_drain(&store, cpu, &head, sizeof head);
    for (unsigned i = 0; i < count; i++) {
        const struct ds_pebs_basic record = {.head = ds_pebs_head(0, 32), .tsc = tscs[i]};
        memcpy(bytes + 32 * i, &record, 32);
    }
    const enum grab_kind part_kind = kind == GRAB_BTS ? GRAB_BTS_RECORDS : GRAB_RECORDS;
    for (uint32_t at = 0, n = 0; at < 32 * count; at += piece, n++) {
        struct grab_records part = {part_kind, piece, number, at, {0}};
        if (at + piece > 32 * count)
            part.bytes = 32 * count - at;
        memcpy(part.data, bytes + at, part.bytes);
        if (n != skip)
            grab_store_drain(&store, cpu, &part, sizeof part);
    }
}

static struct grab_switched *change(unsigned cpu, uint64_t number, uint64_t time, uint64_t drains, uint64_t records,
                                    uint32_t old, uint32_t new)
{
    const struct grab_switch s = {.number = number,
                                  .time = time,
                                  .index = BASE + 32 * records,
                                  .drains = drains,
                                  .old_tid = old,
                                  .new_tid = new,
                                  .old_priority = 120,
                                  .old_base = 120,
                                  .new_base = 139,
                                  .old_comm = "old",
                                  .new_comm = "new"};
    grab_store_switch(&store, cpu, &s, sizeof s);
    return &store.cpu[cpu].switches[number];
}

static void test_clock(void **state)
{
    (void)state;
    assert_int_equal(grab_clock_tsc(&clock_of_three, 500000000), 1500003000);
    assert_int_equal(grab_clock_tsc(&clock_of_three, 1500000000), 4650003000);
    assert_int_equal(grab_clock_tsc(&clock_of_three, 3000000000), 9600003000); /* the last line goes on */
    assert_int_equal(grab_clock_hz(&clock_of_three), 3150000000);
    /* The middle one lies 150000000 cycles off the line between the others: 47619050 ns, and half a window. */
    assert_in_range(grab_clock_error(&clock_of_three), 47619040, 47619060);
    struct grab_clock now = {0};
    for (int i = 0; i < 3; i++)
        grab_clock_take(&now);
    assert_true(now.count >= 2 && now.pairs[1].time > now.pairs[0].time && now.pairs[1].tsc > now.pairs[0].tsc);
    grab_clock_free(&now);
}

/* Two records between two switches: their times lie around the records', wherever the clock put them. */
static void test_times(void **state)
{
    (void)state;
    const uint64_t first[] = {300003000, 330003000}, second[] = {900003000};
    struct grab_order order;
    drain(0, GRAB_START, 0, 1000, NULL, 0, 64, UINT32_MAX);
    change(0, 0, 120000000, 0, 0, 4, 8); /* 360003000: behind the first record, before which it is */
    change(0, 1, 100000000, 0, 1, 8, 4); /* 300003000: at the first record, after which it is */
    change(0, 2, 90000000, 0, 2, 4, 8);  /* 270003000: before the second */
    drain(0, GRAB_DRAIN, 0, 330000000, first, 2, 32, UINT32_MAX); /* 990003000: behind the next epoch's record */
    change(0, 3, 290000000, 1, 0, 8, 4);
    drain(0, GRAB_STOP, 1, 310000000, second, 1, 32, UINT32_MAX);
    assert_int_equal(grab_store_end(&store), 0);
    grab_order(&store, &clock_of_three, 4, 1000000, &order);
    const struct grab_switched *s = store.cpu[0].switches;
    const struct grab_drained *d = store.cpu[0].drains;
    assert_int_equal(d[0].tsc, 6000);
    assert_int_equal(s[0].tsc, 300003000);
    assert_int_equal(s[1].tsc, 300003000);
    assert_int_equal(s[2].tsc, 330003000);
    assert_int_equal(d[1].tsc, 900003000);
    assert_int_equal(s[3].tsc, 900003000);
    assert_int_equal(d[2].tsc, 930003000);
    assert_int_equal(order.moved, 4); /* the second switch was right */
    assert_int_equal(order.most, 90000000);
}

/* The switch was behind the first record of a drain that is missing, not of the one that is there. */
static void test_missing_drain(void **state)
{
    (void)state;
    const uint64_t second[] = {900003000};
    struct grab_order order;
    drain(0, GRAB_START, 0, 1000, NULL, 0, 64, UINT32_MAX);
    change(0, 0, 100000000, 0, 1, 4, 8);
    drain(0, GRAB_DRAIN, 1, 330000000, second, 1, 32, UINT32_MAX);
    assert_int_equal(grab_store_end(&store), 0);
    grab_order(&store, &clock_of_three, 4, 1000000, &order);
    assert_int_equal(store.cpu[0].switches[0].tsc, 300003000);
    assert_int_equal(order.moved, 0);
}

/* A drain of BTS between two switches has no records with times; where the second switch is moved in front of it, it is
 * moved, too. */
static void test_bts(void **state)
{
    (void)state;
    const uint64_t first[] = {300003000, 345003000};
    struct grab_order order;
    drain(0, GRAB_START, 0, 1000, NULL, 0, 64, UINT32_MAX);
    change(0, 0, 90000000, 0, 0, 4, 8);
    drain(0, GRAB_BTS, 0, 118000000, NULL, 0, 64, UINT32_MAX); /* 354003000 */
    store.cpu[0].drains[1].head.switches = 1;
    change(0, 1, 120000000, 0, 1, 8, 4); /* 360003000: behind the second record, before which it is */
    drain(0, GRAB_DRAIN, 0, 330000000, first, 2, 32, UINT32_MAX);
    assert_int_equal(grab_store_end(&store), 0);
    grab_order(&store, &clock_of_three, 4, 1000000, &order);
    assert_int_equal(store.cpu[0].switches[0].tsc, 270003000);
    assert_int_equal(store.cpu[0].switches[1].tsc, 345003000);
    assert_int_equal(store.cpu[0].drains[1].tsc, 345003000);
    assert_int_equal(store.cpu[0].drains[2].tsc, 990003000);
    assert_int_equal(order.moved, 1);
}

/* While branches are copied, an interrupt drains PEBS. */
static void test_interrupted_bts(void **state)
{
    (void)state;
    const uint64_t tsc[] = {300003000};
    const struct grab_drain head = {.kind = GRAB_BTS, .bytes = 48};
    const struct grab_records first = {GRAB_BTS_RECORDS, 24, 0, 0, "one"},
                              second = {GRAB_BTS_RECORDS, 24, 0, 24, "two"};
    drain(0, GRAB_START, 0, 1000, NULL, 0, 64, UINT32_MAX);
    grab_store_drain(&store, 0, &head, sizeof head);
    grab_store_drain(&store, 0, &first, sizeof first);
    drain(0, GRAB_DRAIN, 0, 118000000, tsc, 1, 32, UINT32_MAX);
    grab_store_drain(&store, 0, &second, sizeof second);
    assert_int_equal(grab_store_end(&store), 0);
    const struct grab_drained *bts = &store.cpu[0].drains[1], *pebs = &store.cpu[0].drains[2];
    assert_int_equal(bts->bytes, 48);
    assert_memory_equal(store.records + bts->at, first.data, 24);
    assert_memory_equal(store.records + bts->at + 24, second.data, 24);
    assert_int_equal(grab_record_bytes(&store, pebs, 4, 0), 32);
}

/* Without PebsIndex only the drains around a switch bound its time, not the records of the epoch. */
static void test_unstamped(void **state)
{
    (void)state;
    const uint64_t tscs[] = {300003000, 330003000};
    struct grab_order order;
    drain(0, GRAB_START, 0, 1000, NULL, 0, 64, UINT32_MAX);
    change(0, 0, 105000000, 0, 0, 4, 8)->s.index = 0;           /* 315003000: between the records, wherever it was */
    change(0, 1, 120000000, 0, 0, 8, 4)->s.index = 0;           /* 360003000: behind the drain */
    drain(0, GRAB_STOP, 0, 115000000, tscs, 2, 64, UINT32_MAX); /* 345003000 */
    assert_int_equal(grab_store_end(&store), 0);
    grab_order(&store, &clock_of_three, 4, 1000000, &order);
    assert_int_equal(store.cpu[0].switches[0].tsc, 315003000);
    assert_int_equal(store.cpu[0].switches[1].tsc, 345003000);
    assert_int_equal(order.moved, 1);
}

/* Ticks of a million cycles; a thread that was not seen before has waited 0. */
static void test_waits(void **state)
{
    (void)state;
    struct grab_order order;
    drain(0, GRAB_START, 0, 0, NULL, 0, 64, UINT32_MAX);
    drain(3, GRAB_START, 0, 0, NULL, 0, 64, UINT32_MAX);
    change(0, 0, 1000000, 0, 0, 4, 8);
    change(3, 0, 3000000, 0, 0, 0, 4); /* on another CPU 6000000 cycles later */
    change(3, 1, 4000000, 0, 0, 4, 0);
    change(0, 1, 5000000, 0, 0, 8, 4);
    assert_int_equal(grab_store_end(&store), 0);
    grab_order(&store, &clock_of_three, 4, 1000000, &order);
    assert_int_equal(store.cpu[0].switches[0].wait, 0);
    assert_int_equal(store.cpu[3].switches[0].wait, 6);
    assert_int_equal(store.cpu[3].switches[1].wait, 0); /* idle waits for nothing */
    assert_int_equal(store.cpu[0].switches[1].wait, 3);
}

/* What comes behind a missing piece is not taken for what is missing. */
static void test_lost_piece(void **state)
{
    (void)state;
    const uint64_t tscs[] = {1, 2, 3, 4, 5};
    drain(1, GRAB_DRAIN, 0, 0, tscs, 5, 32, 2);
    drain(1, GRAB_DRAIN, 1, 0, tscs, 5, 64, UINT32_MAX);
    assert_int_equal(grab_store_end(&store), 0);
    const struct grab_drained *d = store.cpu[1].drains;
    assert_int_equal(d[0].bytes, 64);
    assert_int_equal(d[0].head.bytes, 160);
    assert_int_equal(d[1].bytes, 160);
    assert_int_equal(grab_record_bytes(&store, &d[0], 4, 32), 32);
    assert_int_equal(grab_record_bytes(&store, &d[0], 4, 64), 0);
}

static void test_threads(void **state)
{
    (void)state;
    static const struct {
        int32_t of_linux;
        int8_t priority;
    } rows[] = {{-1, 31}, {0, 30}, {98, 16}, {99, 16}, {100, 15}, {119, 8}, {120, 8}, {121, 7}, {139, 1}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(grab_priority(rows[i].of_linux), rows[i].priority);
    for (int32_t i = 0; i < 139; i++)
        assert_true(grab_priority(i) >= grab_priority(i + 1));
    static const struct {
        uint32_t of_linux;
        uint8_t state, state_wr;
    } states[] = {{0, KTHREAD_READY, 40},         {1, KTHREAD_WAITING, 44},       {2, KTHREAD_WAITING, 44},
                  {4, KTHREAD_WAITING, 5},        {8, KTHREAD_WAITING, 5},        {0x402, KTHREAD_WAITING, 44},
                  {0x10, KTHREAD_TERMINATED, 43}, {0x20, KTHREAD_TERMINATED, 43}, {0x80, KTHREAD_TERMINATED, 43}};
    for (unsigned i = 0; i < sizeof states / sizeof states[0]; i++) {
        const struct grab_switched s = {.s = {.old_state = states[i].of_linux, .old_tid = 7}};
        const struct trace_switch sw = grab_switch_of(&s);
        assert_int_equal(sw.old_state, states[i].state);
        assert_int_equal(sw.old_state_wr, states[i].state_wr);
    }
    drain(0, GRAB_START, 0, 0, NULL, 0, 64, UINT32_MAX);
    change(0, 0, 1, 0, 0, 4, 8)->tsc = 1;
    change(0, 1, 2, 0, 0, 8, 0)->tsc = 2;
    struct grab_threads threads;
    grab_threads_find(&threads, &store);
    assert_int_equal(threads.count, 2);
    assert_int_equal(threads.items[0].tid, 4);
    assert_int_equal(threads.items[1].tid, 8);
    assert_string_equal(threads.items[1].comm, "old"); /* it left last */
    free(threads.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),
        cmocka_unit_test_setup_teardown(test_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_drain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interrupted_bts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unstamped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost_piece, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
