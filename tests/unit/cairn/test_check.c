/* SPDX-License-Identifier: MIT */
/*
 * The rules for compact batches, each with a batch at its limit and one beyond, and what must have closed a batch; the
 * rule for PMC items.
 */
#include <stdlib.h>

#include "tests/cairn/writer.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/check/check.h"

#define TICK 1000u /* clock units */

static const uint32_t one_thread[] = {12, 0};
static const uint32_t threads[] = {12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 0};

static void idle_short(struct bytes *b, uint32_t delta)
{
    bytes_u16(b, (uint16_t)(delta << 2));
}

static void idle(struct bytes *b, uint32_t delta)
{
    bytes_u32(b, 1 | delta << 2);
}

static void lite(struct bytes *b, uint32_t slot, uint32_t delta)
{
    bytes_u32(b, 2 | slot << 2 | 30u << 9 | delta << 15);
}

static void full(struct bytes *b, uint32_t priority, uint32_t wait, uint32_t delta)
{
    bytes_u32(b, 3 | delta << 2);
    bytes_u32(b, 30u << 4 | priority << 10 | wait << 15);
}

/* Checks a log of these events on CPU 0. */
static struct cairn_check *checked(const struct bytes *events)
{
    struct writer w = {0};
    static struct cairn_check check;
    struct cairn_log *log = malloc(sizeof(*log));
    writer_text(&w, 'H', "dump.frames=4\n");
    writer_text(&w, 'L',
                "session.1.events=compact\nsession.1.mode=sequential\nsession.1.cpus=1\nsession.1.pebs=0\n"
                "session.1.tick_units=1000\nsession.1.buffer_bytes=8192\n");
    writer_buffer(&w, 0, 0, events);
    writer_text(&w, 'Z', "dump.frames=4\n");
    assert_int_equal(cairn_log_read(log, &WRITER_INPUT(&w), &(struct cairn_choice){0}, NULL), 0);
    cairn_check_init(&check, log, NULL);
    cairn_check_trace(&check);
    cairn_log_free(log);
    free(log);
    writer_free(&w);
    return &check;
}

/* Of one batch from 1000 on, written at `written`: how often a rule did not hold. */
static uint64_t failed(enum cairn_rule rule, const uint32_t *tids, const struct bytes *records, int64_t written)
{
    struct bytes events = {0};
    bytes_batch(&events, 1000, written, tids, records);
    struct cairn_check *check = checked(&events);
    assert_int_equal(check->compared[CAIRN_RULE_BATCHES], 1);
    return check->failed[rule];
}

static void forms(void **state)
{
    (void)state;
    static const struct {
        uint32_t priority, wait, delta;
        bool right;
    } fulls[] = {
        {8, 1, (1 << 17) - 1, false},
        {8, 2, 5, true},
        {8, 0, 1 << 17, true},
        {15, 0, 5, false},
        {16, 0, 5, true},
        {7, 0, 5, true},
    };
    for (unsigned i = 0; i < sizeof(fulls) / sizeof(fulls[0]); i++) {
        struct bytes r = {0};
        lite(&r, 0, 0);
        full(&r, fulls[i].priority, fulls[i].wait, fulls[i].delta);
        assert_int_equal(failed(CAIRN_RULE_BATCHES, one_thread, &r, 500000), !fulls[i].right);
    }
    for (uint32_t beyond = 0; beyond <= 1; beyond++) {
        struct bytes r = {0};
        idle_short(&r, 0);
        idle(&r, (1 << 14) - 1 + beyond);
        assert_int_equal(failed(CAIRN_RULE_BATCHES, one_thread + 1, &r, 500000), !beyond);
    }
}

static void table_and_times(void **state)
{
    (void)state;
    struct bytes r = {0};
    lite(&r, 0, 1);
    assert_int_equal(failed(CAIRN_RULE_BATCHES, one_thread, &r, 2000), 1); /* the first delta is not 0 */
    r = (struct bytes){0};
    lite(&r, 0, 0);
    assert_int_equal(failed(CAIRN_RULE_BATCHES, threads + 14, &r, 2000), 1); /* a slot without a record */
    lite(&r, 1, 7);
    assert_int_equal(failed(CAIRN_RULE_BATCHES, threads + 14, &r, 1007), 0);
    assert_int_equal(failed(CAIRN_RULE_TIMES, threads + 14, &r, 1007), 0);
    assert_int_equal(failed(CAIRN_RULE_TIMES, threads + 14, &r, 1006), 1); /* written before its last switch */
    static const uint32_t twice[] = {12, 12, 0};
    assert_int_equal(failed(CAIRN_RULE_BATCHES, twice, &r, 2000), 1); /* no record names the second slot's */
    for (uint32_t beyond = 0; beyond <= 1; beyond++) {
        r = (struct bytes){0};
        idle_short(&r, 0);
        idle(&r, 500 * TICK + beyond);
        assert_int_equal(failed(CAIRN_RULE_BATCHES, one_thread + 1, &r, 600000), beyond);
        r = (struct bytes){0};
        for (unsigned i = 0; i < 116; i++)
            full(&r, 8, 2, i != 0);
        if (beyond)
            idle_short(&r, 1);
        lite(&r, 0, 1); /* where 8 bytes are left, or 6 */
        assert_int_equal(failed(CAIRN_RULE_BATCHES, one_thread, &r, 600000), beyond);
    }
}

/* Two batches: the second begins with a switch of `tid` at `time`. */
static struct cairn_check *followed(const uint32_t *tids, const struct bytes *records, uint32_t tid, int64_t time)
{
    struct bytes events = {0}, next = {0};
    const uint32_t table[] = {tid, 0};
    if (tid)
        lite(&next, 0, 0);
    else
        idle_short(&next, 0);
    bytes_batch(&events, 1000, time, tids, records);
    bytes_batch(&events, time, time, table, &next);
    return checked(&events);
}

static void empty_buffer(void **state)
{
    (void)state;
    struct cairn_check *check = checked(&(struct bytes){0});
    assert_int_equal(check->failed[CAIRN_RULE_FRAMES] + check->failed[CAIRN_RULE_BUFFERS], 0);
    assert_int_equal(check->compared[CAIRN_RULE_BUFFERS], 1);
}

static void what_closed_it(void **state)
{
    (void)state;
    struct bytes all = {0}, one = {0}, most = {0};
    for (uint32_t slot = 0; slot < 16; slot++)
        lite(&all, slot, slot != 0);
    lite(&one, 0, 0);
    for (unsigned i = 0; i < 233; i++) /* 4 bytes are left */
        lite(&most, 0, i != 0);
    const struct {
        const uint32_t *tids;
        const struct bytes *records;
        uint32_t tid;
        int64_t time;
        int reason; /* -1: none */
    } cases[] = {
        {threads, &all, 76, 1100, CCSWAP_CLOSE_TIDS},
        {threads, &all, 72, 1100, -1},
        {threads, &all, 0, 1100, -1},
        {one_thread, &one, 12, 1000 + 500 * TICK, -1},
        {one_thread, &one, 12, 1001 + 500 * TICK, CCSWAP_CLOSE_AGE},
        {one_thread, &one, 0, 1000 + (INT64_C(1) << 30), CCSWAP_CLOSE_AGE}, /* before the delta is looked at */
        {one_thread, &most, 12, 1300, CCSWAP_CLOSE_SPACE},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cairn_check *check = followed(cases[i].tids, cases[i].records, cases[i].tid, cases[i].time);
        assert_int_equal(check->failed[CAIRN_RULE_BATCHES], cases[i].reason < 0);
        for (int reason = 0; reason < CCSWAP_CLOSE_STOP; reason++)
            assert_int_equal(check->closed[0][reason], reason == cases[i].reason);
        assert_int_equal(check->closed[0][CCSWAP_CLOSE_STOP], 1); /* the second, by the end */
    }
}

/* An event 0F22H with so many PMC items. */
static void mark(struct bytes *b, uint32_t count, const uint64_t *items)
{
    uint32_t size = 16 + 8 * count + 2;
    bytes_u32(b, 0xC0110000 | count << 8);
    bytes_u32(b, 0x0F220000 | size);
    bytes_u32(b, 1000);
    bytes_u32(b, 0);
    for (uint32_t i = 0; i < count; i++) {
        bytes_u32(b, (uint32_t)items[i]);
        bytes_u32(b, (uint32_t)(items[i] >> 32));
    }
    bytes_u32(b, '!');
    bytes_u32(b, 0);
}

static void items(void **state)
{
    (void)state;
    static const struct {
        uint32_t count[2];
        uint64_t first[7], second[7];
        unsigned wrong;
    } cases[] = {
        {{2, 2}, {5, 5}, {5, UINT64_MAX}, 0},
        {{2, 2}, {5, 5}, {4, 5}, 1},
        {{2, 2}, {5, UINT64_C(1) << 32}, {4, 5}, 2},
        {{1, 2}, {5}, {5, 5}, 1},
        {{2, 1}, {5, 5}, {5}, 1},
        {{7, 7}, {1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 6}, 1},
        {{7, 0}, {1, 2, 3, 4, 5, 6, 7}, {0}, 0}, /* of another hook, perhaps */
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bytes events = {0};
        mark(&events, cases[i].count[0], cases[i].first);
        mark(&events, 0, NULL);
        mark(&events, cases[i].count[1], cases[i].second);
        struct cairn_check *check = checked(&events);
        assert_int_equal(check->compared[CAIRN_RULE_EVENTS], 3);
        assert_int_equal(check->failed[CAIRN_RULE_EVENTS], 0);
        assert_int_equal(check->compared[CAIRN_RULE_PMC], 1 + (cases[i].count[1] != 0));
        assert_int_equal(check->failed[CAIRN_RULE_PMC], cases[i].wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),          cmocka_unit_test(table_and_times), cmocka_unit_test(empty_buffer),
        cmocka_unit_test(what_closed_it), cmocka_unit_test(items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
