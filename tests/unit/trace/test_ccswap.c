/* SPDX-License-Identifier: MIT */
/* The compact encoder: record forms, limits, conditions that close a batch, round trips. */
/* Longer than 500 lines: all tests are of one encoder, with one decoder of their own. */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/workload.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "trace/postmortem/freeze.h"

#define FAR_TICK UINT64_C(1000000000000) /* tick_units with which age never closes a batch here */

/* ---- one encoder that keeps what it wrote ------------------------------------------------------------------------ */

#define RECORDS_MAX 500u

struct pen {
    struct trace_ccswap c; /* first: container of the call-back */
    unsigned batches, records, total;
    uint32_t size;
    int64_t time;
    enum ccswap_close reason;
    uint8_t bytes[0x400];
    struct naive_record record[RECORDS_MAX]; /* of the last batch */
    void (*each)(struct pen *);
};

static void keep(struct trace_ccswap *c, uint32_t size, uint32_t records, int64_t time, enum ccswap_close reason)
{
    struct pen *p = (struct pen *)c;
    assert_true(size >= 0x58 && size <= 0x400);
    assert_true(c->used == TRACE_CCSWAP_CLOSED);
    memcpy(p->bytes, c->batch.bytes, size);
    int n = naive_batch(p->bytes, size, p->record, RECORDS_MAX);
    assert_int_equal(n, records);
    assert_int_equal(trace_ccswap_records(p->bytes, size), records);
    assert_true(n > 0);
    p->batches++;
    p->records = records;
    p->total += records;
    p->size = size;
    p->time = time;
    p->reason = reason;
    if (p->each)
        p->each(p);
}

static void pen_init(struct pen *p, uint64_t tick_units)
{
    memset(p, 0, sizeof(*p));
    memset(&p->c, 0xA5, sizeof(p->c)); /* nothing may count on zeroed memory */
    trace_ccswap_init(&p->c, tick_units, keep);
}

static struct trace_switch busy(uint32_t tid)
{
    return (struct trace_switch){.old_tid = tid,
                                 .old_state = KTHREAD_WAITING,
                                 .old_wait_reason = KWAIT_USER_REQUEST,
                                 .old_state_wr = KWAIT_USER_REQUEST,
                                 .old_base = 8,
                                 .old_priority = 8};
}

static const struct trace_switch idle = {.old_state = KTHREAD_RUNNING};

static struct naive_record *stop(struct pen *p, int64_t time)
{
    trace_ccswap_close(&p->c, time, CCSWAP_CLOSE_STOP);
    return p->record;
}

/* The form of a second switch, `delta` after the first. */
static unsigned form_after(struct trace_switch sw, int64_t delta)
{
    struct pen p;
    struct trace_switch first = sw;
    first.old_priority = first.old_base; /* what the batch records is the base */
    first.new_wait = 0;
    pen_init(&p, FAR_TICK);
    trace_ccswap_switch(&p.c, &first, 1000);
    trace_ccswap_switch(&p.c, &sw, 1000 + delta);
    struct naive_record *r = stop(&p, 1000 + delta);
    assert_int_equal(p.batches, 1);
    assert_int_equal(p.records, 2);
    assert_int_equal(r[0].time, 1000);
    assert_int_equal(r[1].time, 1000 + delta);
    assert_int_equal(r[1].tid, sw.old_tid);
    if (sw.old_tid)
        assert_int_equal(r[1].priority, sw.old_priority);
    return r[1].type;
}

/* ---- forms and their limits ------------------------------------------------------------------------------------- */

static void test_idle_delta(void **state)
{
    (void)state;
    assert_int_equal(form_after(idle, 0), 0);
    assert_int_equal(form_after(idle, (1 << 14) - 1), 0);
    assert_int_equal(form_after(idle, 1 << 14), 1);
    assert_int_equal(form_after(idle, (1 << 30) - 1), 1);
}

static void test_lite_delta(void **state)
{
    (void)state;
    assert_int_equal(form_after(busy(12), (1 << 17) - 1), 2);
    assert_int_equal(form_after(busy(12), 1 << 17), 3);
    assert_int_equal(form_after(busy(12), (1 << 30) - 1), 3);
}

static void test_lite_wait(void **state)
{
    (void)state;
    struct trace_switch sw = busy(12);
    for (uint32_t wait = 0; wait <= 3; wait++) {
        sw.new_wait = wait;
        assert_int_equal(form_after(sw, 5), wait <= 1 ? 2 : 3);
    }
    sw = idle; /* an idle record keeps no wait at all */
    sw.new_wait = 77;
    assert_int_equal(form_after(sw, 5), 0);
}

static void test_lite_priority(void **state)
{
    (void)state;
    struct trace_switch sw = busy(12);
    for (int priority = 0; priority < 32; priority++) {
        sw.old_priority = (int8_t)priority;
        assert_int_equal(form_after(sw, 5), priority >= 8 && priority <= 15 ? 2 : 3);
    }
    sw.old_base = 31;
    sw.old_priority = 31;
    assert_int_equal(form_after(sw, 5), 2);
    sw.old_base = 0;
    sw.old_priority = 0;
    assert_int_equal(form_after(sw, 5), 2);
}

/* The base is that of the first switch-out in the batch, even where it changes within. */
static void test_base_is_the_first(void **state)
{
    (void)state;
    struct pen p;
    struct trace_switch sw = busy(12);
    pen_init(&p, FAR_TICK);
    sw.old_base = 8;
    sw.old_priority = 10;
    trace_ccswap_switch(&p.c, &sw, 0);
    sw.old_base = 4;
    sw.old_priority = 15;
    trace_ccswap_switch(&p.c, &sw, 1);
    sw.old_priority = 16;
    trace_ccswap_switch(&p.c, &sw, 2);
    sw.old_priority = 7;
    trace_ccswap_switch(&p.c, &sw, 3);
    struct naive_record *r = stop(&p, 3);
    static const unsigned types[] = {2, 2, 3, 3};
    static const int priorities[] = {10, 15, 16, 7};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(r[i].type, types[i]);
        assert_int_equal(r[i].priority, priorities[i]);
    }
    assert_int_equal(p.bytes[0x48], 8);
    trace_ccswap_switch(&p.c, &sw, 4);
    stop(&p, 4);
    assert_int_equal(p.bytes[0x48], 4);
}

static void test_full_wait(void **state)
{
    (void)state;
    static const uint32_t waits[] = {2, 0x1FFFE, 0x1FFFF, 0x20000, 0xFFFFFFFF};
    for (unsigned i = 0; i < 5; i++) {
        struct pen p;
        struct trace_switch sw = busy(12);
        sw.new_wait = waits[i];
        pen_init(&p, FAR_TICK);
        trace_ccswap_switch(&p.c, &sw, 0);
        struct naive_record *r = stop(&p, 0);
        assert_int_equal(r->type, 3);
        assert_int_equal(r->wait, waits[i] < 0x1FFFF ? waits[i] : 0x1FFFF);
    }
}

static void test_states_and_reasons(void **state)
{
    (void)state;
    for (unsigned s = 0; s < KTHREAD_STATES; s++)
        for (unsigned w = 0; w < CCSWAP_MAXIMUM_WAIT_REASON; w++)
            for (uint32_t wait = 1; wait <= 2; wait++) { /* LITE and FULL */
                struct pen p;
                struct trace_switch sw = busy(400);
                sw.old_state = (uint8_t)s;
                sw.old_wait_reason = (uint8_t)w;
                sw.old_state_wr = ccswap_state_wr(sw.old_state, sw.old_wait_reason);
                sw.new_wait = wait;
                pen_init(&p, FAR_TICK);
                trace_ccswap_switch(&p.c, &sw, 7);
                struct naive_record *r = stop(&p, 7);
                assert_int_equal(r->type, wait + 1);
                assert_int_equal(r->state, s);
                assert_int_equal(r->reason, s == 5 ? w : NAIVE_UNKNOWN);
            }
}

/* The bytes themselves, worked out by hand from the bit layouts. */
static void test_bytes(void **state)
{
    (void)state;
    struct pen p;
    struct trace_switch a = busy(0x1234), b = busy(0xABCD0);
    pen_init(&p, FAR_TICK);
    a.old_priority = 11;
    trace_ccswap_switch(&p.c, &a, 0x1122334455667788); /* LITE: slot 0, +3, reason 6, delta 0 */
    trace_ccswap_switch(&p.c, &idle, 0x1122334455667788 + 0x123);
    trace_ccswap_switch(&p.c, &idle, 0x1122334455667788 + 0x123 + 0x12345);
    b.old_state = KTHREAD_READY;
    b.old_state_wr = CCSWAP_MAXIMUM_WAIT_REASON + KTHREAD_READY;
    b.old_base = 13;
    b.old_priority = 9;
    b.new_wait = 5;
    trace_ccswap_switch(&p.c, &b, 0x1122334455667788 + 0x123 + 0x12345 + 0x77);
    stop(&p, INT64_MAX);
    static const uint8_t header[] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
                                     0x34, 0x12, 0,    0,    0xD0, 0xBC, 0x0A, 0};
    assert_memory_equal(p.bytes, header, sizeof(header));
    for (unsigned i = 0x10; i < 0x48; i++)
        assert_int_equal(p.bytes[i], 0);
    assert_int_equal(p.bytes[0x48], 8);
    assert_int_equal(p.bytes[0x49], 13);
    static const uint8_t records[] = {
        0xC2, 0x0C, 0,    0, /* 2 | 0 << 2 | 3 << 6 | 6 << 9 */
        0x8C, 0x04,          /* 0 | 123H << 2 */
        0x15, 0x8D, 0x04, 0, /* 1 | 12345H << 2 */
        0xDF, 0x01, 0,    0, /* 3 | 77H << 2 */
        0x81, 0xA6, 0x02, 0, /* 1 | 40 << 4 | 9 << 10 | 5 << 15 */
    };
    assert_int_equal(p.size, 0x58 + sizeof(records));
    assert_memory_equal(p.bytes + 0x58, records, sizeof(records));
}

/* ---- what closes a batch ---------------------------------------------------------------------------------------- */

static void test_close_tids(void **state)
{
    (void)state;
    for (unsigned stride = 1; stride <= 512; stride *= 2) { /* with and without threads that share a bucket */
        struct pen p;
        pen_init(&p, FAR_TICK);
        for (unsigned round = 0; round < 3; round++)
            for (unsigned i = 0; i < 16; i++) {
                struct trace_switch sw = busy(4 + i * stride);
                trace_ccswap_switch(&p.c, &sw, round);
            }
        trace_ccswap_switch(&p.c, &idle, 3); /* the idle thread needs no slot */
        assert_int_equal(p.batches, 0);
        struct trace_switch sw = busy(4 + 16 * stride);
        trace_ccswap_switch(&p.c, &sw, 9);
        assert_int_equal(p.batches, 1);
        assert_int_equal(p.reason, CCSWAP_CLOSE_TIDS);
        assert_int_equal(p.records, 49);
        assert_int_equal(p.time, 9);
        for (unsigned i = 0; i < 48; i++)
            assert_int_equal(p.record[i].tid, 4 + i % 16 * stride);
        struct naive_record *r = stop(&p, 9);
        assert_int_equal(p.records, 1);
        assert_int_equal(r->tid, 4 + 16 * stride);
        assert_int_equal(r->time, 9);
    }
}

static void test_close_age(void **state)
{
    (void)state;
    const uint64_t tick = 1000;
    for (int64_t ticks = 500; ticks <= 501; ticks++)
        for (unsigned beyond = 0; beyond <= 1; beyond++) {
            struct pen p;
            pen_init(&p, tick);
            trace_ccswap_switch(&p.c, &idle, 50);
            trace_ccswap_switch(&p.c, &idle, 50 + ticks * (int64_t)tick + beyond);
            bool closed = ticks > 500 || beyond;
            assert_int_equal(p.batches, closed);
            if (closed) {
                assert_int_equal(p.reason, CCSWAP_CLOSE_AGE);
                assert_int_equal(p.records, 1);
            }
            stop(&p, 0);
            assert_int_equal(p.records, closed ? 1 : 2);
        }
}

static void test_close_space(void **state)
{
    (void)state;
    /* 936 bytes of records: 117 FULL, 468 IDLE_SHORT, 234 LITE. A batch takes a switch while 8 bytes are free. */
    for (unsigned kind = 0; kind < 3; kind++) {
        struct pen p;
        struct trace_switch sw = kind == 0 ? idle : busy(12);
        sw.new_wait = kind == 2 ? 2 : 0;
        unsigned bytes = kind == 0 ? 2 : kind == 1 ? 4 : 8, most = (936 - 8) / bytes + 1;
        pen_init(&p, FAR_TICK);
        for (unsigned i = 0; i < most; i++)
            trace_ccswap_switch(&p.c, &sw, i);
        assert_int_equal(p.batches, 0);
        assert_int_equal(p.c.used, 0x58 + most * bytes);
        trace_ccswap_switch(&p.c, &sw, most);
        assert_int_equal(p.batches, 1);
        assert_int_equal(p.reason, CCSWAP_CLOSE_SPACE);
        assert_int_equal(p.records, most);
        assert_true(p.size <= 0x400 && p.size > 0x3F8);
        if (kind == 2)
            assert_int_equal(p.size, 0x400);
    }
    /* exactly 8 bytes left are enough, 6 are not */
    for (unsigned extra = 0; extra <= 1; extra++) {
        struct pen p;
        struct trace_switch sw = busy(12);
        sw.new_wait = 2;
        pen_init(&p, FAR_TICK);
        for (unsigned i = 0; i < 116; i++)
            trace_ccswap_switch(&p.c, &sw, i);
        if (extra)
            trace_ccswap_switch(&p.c, &idle, 116);
        trace_ccswap_switch(&p.c, &sw, 117);
        assert_int_equal(p.batches, extra);
    }
}

static void test_close_delta(void **state)
{
    (void)state;
    struct trace_switch full = busy(12), other = busy(16);
    const struct trace_switch *second[] = {&idle, &full, &other};
    for (unsigned kind = 0; kind < 3; kind++)
        for (int64_t beyond = 0; beyond <= 1; beyond++) {
            struct pen p;
            struct trace_switch first = busy(12);
            pen_init(&p, FAR_TICK);
            trace_ccswap_switch(&p.c, &first, 5);
            trace_ccswap_switch(&p.c, second[kind], 5 + (1 << 30) - 1 + beyond);
            assert_int_equal(p.batches, beyond);
            if (beyond)
                assert_int_equal(p.reason, CCSWAP_CLOSE_DELTA);
            struct naive_record *r = stop(&p, 0);
            assert_int_equal(p.records, beyond ? 1 : 2);
            assert_int_equal(r[p.records - 1].time, 5 + (1 << 30) - 1 + beyond);
        }
    /* a clock that went back cannot be said at all: a new batch */
    struct pen p;
    pen_init(&p, FAR_TICK);
    trace_ccswap_switch(&p.c, &idle, 100);
    trace_ccswap_switch(&p.c, &idle, 99);
    assert_int_equal(p.reason, CCSWAP_CLOSE_DELTA);
    assert_int_equal(stop(&p, 100)->time, 99);
}

/* Where several hold: space, age, delta, tids. */
static void test_close_order(void **state)
{
    (void)state;
    static const enum ccswap_close expected[] = {CCSWAP_CLOSE_SPACE, CCSWAP_CLOSE_AGE, CCSWAP_CLOSE_DELTA,
                                                 CCSWAP_CLOSE_TIDS};
    for (unsigned k = 0; k < 4; k++) {
        struct pen p;
        pen_init(&p, k <= 1 ? 1000 : FAR_TICK);
        for (unsigned i = 0; i < 16; i++) {
            struct trace_switch sw = busy(4 + 4 * i);
            trace_ccswap_switch(&p.c, &sw, 0);
        }
        while (k == 0 && p.c.used <= 0x3F8)
            trace_ccswap_switch(&p.c, &idle, 0);
        struct trace_switch sw = busy(4000);
        trace_ccswap_switch(&p.c, &sw, k <= 2 ? INT64_C(1) << 30 : 0);
        assert_int_equal(p.batches, 1);
        assert_int_equal(p.reason, expected[k]);
    }
}

static void test_close_by_hand(void **state)
{
    (void)state;
    struct pen p;
    pen_init(&p, FAR_TICK);
    trace_ccswap_close(&p.c, 1, CCSWAP_CLOSE_DRAIN);
    assert_int_equal(p.batches, 0);
    trace_ccswap_switch(&p.c, &idle, 1);
    trace_ccswap_close(&p.c, 2, CCSWAP_CLOSE_DRAIN);
    trace_ccswap_close(&p.c, 3, CCSWAP_CLOSE_STOP);
    assert_int_equal(p.batches, 1);
    assert_int_equal(p.reason, CCSWAP_CLOSE_DRAIN);
    assert_int_equal(p.time, 2);
}

/* ---- streams ---------------------------------------------------------------------------------------------------- */

#define STREAM 200000u
static struct {
    struct trace_switch sw;
    int64_t time;
} * sent;
static uint64_t tick_of_stream;
static unsigned seen_forms[4], seen_reasons[CCSWAP_CLOSE_REASONS];

/* Every record against what was sent, its form against the rules, and the end of the batch against the reason given. */
static void check_batch(struct pen *p)
{
    unsigned first = p->total - p->records, tids = 0;
    int8_t base[16];
    uint32_t table[16];
    for (unsigned i = 0; i < p->records; i++) {
        const struct naive_record *r = &p->record[i];
        const struct trace_switch *sw = &sent[first + i].sw;
        int64_t delta = i ? sent[first + i].time - sent[first + i - 1].time : 0;
        seen_forms[r->type]++;
        assert_int_equal(r->time, sent[first + i].time);
        assert_int_equal(r->tid, sw->old_tid);
        if (sw->old_tid == 0) {
            assert_int_equal(r->type, delta < 1 << 14 ? 0 : 1);
            continue;
        }
        unsigned slot = 0;
        while (slot < tids && table[slot] != sw->old_tid)
            slot++;
        if (slot == tids) {
            assert_in_range(tids, 0, 15);
            table[tids] = sw->old_tid;
            base[tids++] = sw->old_base;
        }
        bool lite = delta < 1 << 17 && sw->new_wait <= 1 && sw->old_priority >= base[slot] &&
                    sw->old_priority <= base[slot] + 7;
        assert_int_equal(r->type, lite ? 2 : 3);
        assert_int_equal(r->state, sw->old_state);
        assert_int_equal(r->reason, sw->old_state == 5 ? sw->old_wait_reason : NAIVE_UNKNOWN);
        assert_int_equal(r->priority, sw->old_priority);
        if (!lite)
            assert_int_equal(r->wait, sw->new_wait < 0x1FFFF ? sw->new_wait : 0x1FFFF);
    }
    seen_reasons[p->reason]++;
    if (p->reason == CCSWAP_CLOSE_STOP)
        return;
    const struct trace_switch *next = &sent[p->total].sw;
    int64_t begun = sent[first].time, last = sent[p->total - 1].time, now = sent[p->total].time;
    bool known = next->old_tid == 0;
    for (unsigned i = 0; i < tids; i++)
        known = known || table[i] == next->old_tid;
    assert_int_equal(p->reason, 0x400 - p->size < 8                           ? CCSWAP_CLOSE_SPACE
                                : now - begun > 500 * (int64_t)tick_of_stream ? CCSWAP_CLOSE_AGE
                                : now - last >= 1 << 30                       ? CCSWAP_CLOSE_DELTA
                                : !known && tids == 16                        ? CCSWAP_CLOSE_TIDS
                                                                              : CCSWAP_CLOSE_REASONS);
}

static void replay(unsigned count, uint64_t tick)
{
    struct pen p;
    pen_init(&p, tick);
    p.each = check_batch;
    tick_of_stream = tick;
    for (unsigned i = 0; i < count; i++)
        trace_ccswap_switch(&p.c, &sent[i].sw, sent[i].time);
    assert_int_equal(p.c.switches, count);
    stop(&p, INT64_MAX);
    assert_int_equal(p.total, count);
}

static void test_random_streams(void **state)
{
    (void)state;
    static const int64_t deltas[] = {
        0, 1, (1 << 14) - 1, 1 << 14, (1 << 17) - 1, 1 << 17, (1 << 30) - 1, 1 << 30, INT64_C(1) << 40};
    static const uint64_t ticks[] = {1, 40, 1000, FAR_TICK};
    uint64_t seed = 20261121;
    sent = calloc(STREAM, sizeof(*sent));
    memset(seen_forms, 0, sizeof(seen_forms));
    memset(seen_reasons, 0, sizeof(seen_reasons));
    for (unsigned run = 0; run < 24; run++) {
        unsigned threads = 1 + test_random(&seed, run % 3 == 0 ? 16 : 60), stride = 1 + test_random(&seed, 80);
        unsigned extreme = run % 4 ? 2 : 30; /* per cent of deltas at the limits */
        int64_t time = (int64_t)test_random(&seed, 1000000) - 500000;
        unsigned count = STREAM / 8;
        for (unsigned i = 0; i < count; i++) {
            struct trace_switch *sw = &sent[i].sw;
            time += test_random(&seed, 100) < extreme ? deltas[test_random(&seed, 9)] : test_random(&seed, 2000);
            sent[i].time = time;
            *sw = (struct trace_switch){
                .old_tid = test_random(&seed, 3) ? (1 + test_random(&seed, threads)) * stride : 0,
                .old_state = (uint8_t)(test_random(&seed, 2) ? KTHREAD_WAITING : test_random(&seed, KTHREAD_STATES)),
                .old_wait_reason = (uint8_t)test_random(&seed, CCSWAP_MAXIMUM_WAIT_REASON),
                .old_base = (int8_t)test_random(&seed, 16),
                .new_wait = test_random(&seed, 4) ? test_random(&seed, 3) : test_random(&seed, 0x40000),
            };
            sw->old_state_wr = ccswap_state_wr(sw->old_state, sw->old_wait_reason);
            int near = sw->old_base + (int)test_random(&seed, 9), any = (int)test_random(&seed, 32);
            sw->old_priority = (int8_t)(test_random(&seed, 5) ? near : any);
        }
        replay(count, ticks[(run + run / 4) % 4]);
    }
    for (unsigned i = 0; i < 4; i++)
        assert_true(seen_forms[i] > 1000);
    for (unsigned i = 0; i <= CCSWAP_CLOSE_STOP; i++)
        assert_true(seen_reasons[i] >= 20);
    free(sent);
}

static void test_workload(void **state)
{
    (void)state;
    struct wl w;
    struct wl_switch e;
    sent = calloc(STREAM, sizeof(*sent));
    for (uint8_t cpu = 0; cpu < WL_CPUS; cpu++) {
        unsigned count = 0;
        wl_init(&w);
        while (count < STREAM / 2) {
            wl_next(&w, &e);
            if (e.cpu != cpu)
                continue;
            sent[count].time = (int64_t)e.ts;
            sent[count++].sw = (struct trace_switch){
                .old_tid = e.old_tid,
                .new_tid = e.new_tid,
                .new_wait = e.new_wait,
                .old_state = e.old_state,
                .old_wait_reason = e.old_wr,
                .old_state_wr = ccswap_state_wr(e.old_state, e.old_wr),
                .old_priority = (int8_t)e.old_prio,
                .old_base = (int8_t)e.old_base,
                .new_priority = (int8_t)e.new_prio,
            };
        }
        replay(count, 156250);
    }
    free(sent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_delta),         cmocka_unit_test(test_lite_delta),
        cmocka_unit_test(test_lite_wait),          cmocka_unit_test(test_lite_priority),
        cmocka_unit_test(test_base_is_the_first),  cmocka_unit_test(test_full_wait),
        cmocka_unit_test(test_states_and_reasons), cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_close_tids),         cmocka_unit_test(test_close_age),
        cmocka_unit_test(test_close_space),        cmocka_unit_test(test_close_delta),
        cmocka_unit_test(test_close_order),        cmocka_unit_test(test_close_by_hand),
        cmocka_unit_test(test_random_streams),     cmocka_unit_test(test_workload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
