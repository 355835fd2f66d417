/* SPDX-License-Identifier: MIT */
/* A live session: buffers leave it while it runs, once each, in the order of their CPU, and what is lost is counted. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "trace/live/live_buffers.h"

#define CPUS 4u

/* What has been seen of a session's 0524H events, whose wait counts them on each CPU from 1 on. */
struct witness {
    uint32_t ordinal[CPUS]; /* of the next buffer */
    uint32_t last[CPUS];    /* number of the last event */
    uint64_t events[CPUS], full[CPUS], missing[CPUS];
    uint32_t gaps[CPUS]; /* buffers that say that events were lost in front of them */
    bool gap[CPUS];      /* such a one, and no event behind it yet */
    bool wrong;
};

static void witness(struct witness *w, const struct wmi_buffer_header *h, uint32_t cpu_buffer)
{
    struct naive_event e;
    uint32_t at = 0, c = h->processor_index;
    bool ok, lost = h->buffer_flag & 4;
    if (c >= CPUS || cpu_buffer != w->ordinal[c]++) {
        w->wrong = true;
        return;
    }
    w->gaps[c] += lost;
    w->gap[c] |= lost;
    while (naive_next((const uint8_t *)h, &at, &e, &ok)) {
        w->events[c]++;
        if (e.hook != 0x0524)
            continue;
        uint32_t number = *(const uint32_t *)(const void *)(e.payload + 0x10);
        uint32_t missing = number - w->last[c] - 1;
        w->wrong |= number <= w->last[c] || (missing && !w->gap[c]);
        w->missing[c] += missing;
        w->last[c] = number;
        w->full[c]++;
        w->gap[c] = false;
    }
    w->wrong |= !ok;
}

static void switch_on(struct box *box, uint32_t cpu, uint32_t number)
{
    struct trace_switch sw = box_switch_at(BOX_TSC(number), number);
    sw.new_wait = number;
    trace_hub_switch(&box->hub[cpu], &sw);
}

/* Takes one buffer out, if there is a full one. */
static bool take_one(struct box *box, struct witness *w)
{
    struct trace_live live;
    if (!trace_live_next(box->session, &live))
        return false;
    witness(w, live.header, live.cpu_buffer);
    trace_live_release(box->session, live.slot);
    return true;
}

/* Of a session that has ended: what the witness saw, with what is left, is what was written, and the rest was counted
 * as lost. `tried`: switches of each CPU. */
static void assert_account(struct box *box, struct witness *w, const uint32_t tried[CPUS])
{
    uint32_t cpu_buffer;
    assert_true(box_account_holds(box->session));
    uint32_t left = trace_session_buffers(box->session);
    for (uint32_t i = 0; i < left; i++) {
        const struct wmi_buffer_header *h = trace_session_buffer(box->session, i, &cpu_buffer);
        witness(w, h, cpu_buffer);
    }
    assert_false(w->wrong);
    for (uint32_t c = 0; c < CPUS; c++) {
        struct trace_counts n;
        trace_cpu_counts(trace_session_cpu(box->session, c), &n);
        assert_int_equal(n.full_tried, tried[c]);
        assert_int_equal(n.full_written, w->full[c]);
        assert_int_equal(n.full_lost, tried[c] - w->full[c]);
        assert_int_equal(n.full_lost, w->missing[c] + (tried[c] - w->last[c]));
        assert_int_equal(n.events_written, w->events[c]);
        assert_int_equal(n.events_tried, n.events_written + n.events_lost);
        assert_int_equal(n.buffers_begun, w->ordinal[c]);
        assert_true((n.events_lost != 0) == (n.buffers_lost != 0));
        assert_true(n.buffers_lost >= w->gaps[c]);
        if (w->gaps[c] == 0)
            assert_int_equal(w->missing[c], 0);
    }
}

static void test_only_where_buffers_can_come_back(void **state)
{
    (void)state;
    struct box box;
    box_open_live(&box, 1, BOX_FULL, 4, 4096);
    struct trace_config both = box.config;
    both.circular = true;
    assert_int_equal(trace_session_bytes(&both), 0);
    box_close(&box);
}

static void test_nothing_to_take(void **state)
{
    (void)state;
    struct box box;
    struct trace_live live;
    box_open_live(&box, 2, BOX_FULL, 4, 4096);
    assert_false(trace_live_next(box.session, &live));
    box_start(&box, 0, NULL);
    assert_false(trace_live_next(box.session, &live)); /* it is being filled */
    assert_int_equal(trace_live_full(box.session), 0);
    box_stop(&box, 0, 0);
    assert_true(trace_live_next(box.session, &live));
    assert_int_equal(trace_live_full(box.session), 1);
    assert_int_equal(live.header->offset, 0x48 + 2 * 0x50);
    trace_live_release(box.session, live.slot);
    assert_false(trace_live_next(box.session, &live));
    assert_int_equal(trace_live_full(box.session), 0);
    assert_true(box_account_holds(box.session));
    box_close(&box);
}

/* The oldest comes first, and one that is not released comes again. */
static void test_order(void **state)
{
    (void)state;
    struct box box;
    struct trace_live live, again;
    int64_t last = 0;
    box_open_live(&box, 2, BOX_FULL, 20, 4096);
    for (uint32_t c = 0; c < 2; c++)
        box_start(&box, c, NULL);
    for (uint32_t i = 1; i <= 1500; i++)
        switch_on(&box, i % 3 == 0, i);
    unsigned taken = 0;
    for (; trace_live_next(box.session, &live); taken++) {
        assert_true(trace_live_next(box.session, &again) && again.slot == live.slot && again.sent == 0);
        trace_live_sent(box.session, live.slot, 0x98);
        assert_true(trace_live_next(box.session, &again) && again.slot == live.slot && again.sent == 0x98);
        assert_true(live.header->sequence_number > last);
        last = live.header->sequence_number;
        trace_live_release(box.session, live.slot);
    }
    assert_true(taken >= 10);
    for (uint32_t c = 0; c < 2; c++)
        box_stop(&box, c, BOX_TSC(1501));
    struct trace_overwritten gone;
    trace_session_overwritten(box.session, &gone);
    assert_int_equal(gone.buffers, taken);
    assert_true(box_account_holds(box.session));
    box_close(&box);
}

/* A sender that comes now and then: losses lie only where a buffer says so. */
static void test_falling_behind(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct box box;
        struct witness w = {0};
        uint64_t random = seed;
        uint32_t tried[CPUS] = {0}, buffers = CPUS + test_random(&random, 6), rare = 20 + test_random(&random, 200);
        box_open_live(&box, CPUS, BOX_FULL | (seed & 1 ? BOX_COMPACT : 0), buffers, 4096);
        for (uint32_t c = 0; c < CPUS; c++)
            box_start(&box, c, NULL);
        for (uint32_t i = 1; i <= 6000; i++) {
            uint32_t c = test_random(&random, CPUS * 2);
            c = c < CPUS ? c : 0; /* one has more to tell */
            switch_on(&box, c, ++tried[c]);
            if (test_random(&random, rare) == 0)
                take_one(&box, &w);
        }
        for (uint32_t c = 0; c < CPUS; c++)
            box_stop(&box, c, BOX_TSC(6001));
        assert_account(&box, &w, tried);
        assert_true(rare < 100 || w.gaps[0]);
        box_close(&box);
    }
}

/* A session that is stopped and started while its buffers leave. */
static void test_lives(void **state)
{
    (void)state;
    struct box box;
    struct witness w = {0};
    uint32_t tried[CPUS] = {0};
    uint64_t lost = 0;
    box_open_live(&box, CPUS, BOX_FULL, 6, 4096);
    for (uint32_t life = 0; life < 60; life++) {
        for (uint32_t c = 0; c < CPUS; c++)
            box_start(&box, c, NULL);
        for (uint32_t i = 0; i < 100; i++)
            switch_on(&box, i % CPUS, ++tried[i % CPUS]);
        for (uint32_t c = 0; c < CPUS; c++)
            box_stop(&box, c, BOX_TSC(tried[c]));
        for (uint32_t i = 0; i < life % 7; i++)
            take_one(&box, &w);
    }
    for (uint32_t c = 0; c < CPUS; c++) {
        struct trace_counts n;
        trace_cpu_counts(trace_session_cpu(box.session, c), &n);
        assert_int_equal(n.lives, 60);
        assert_int_equal(n.events_tried, 60 * 2 + tried[c]);
        lost += n.events_lost;
    }
    assert_true(lost > 0 && !w.wrong);
    assert_true(box_account_holds(box.session));
    box_close(&box);
}

/* A panic in the middle: what was out is not there any more, all else is, and the counts are complete. */
static void test_panic(void **state)
{
    (void)state;
    struct box box;
    struct witness w = {0};
    uint32_t tried[CPUS] = {0};
    box_open_live(&box, CPUS, BOX_FULL | BOX_COMPACT, 7, 4096);
    for (uint32_t c = 0; c < CPUS; c++)
        box_start(&box, c, NULL);
    for (uint32_t i = 1; i <= 3000; i++) {
        switch_on(&box, i % CPUS, ++tried[i % CPUS]);
        if (i % 90 == 0)
            take_one(&box, &w);
    }
    box_freeze(box.hub, CPUS, BOX_TSC(3001));
    assert_account(&box, &w, tried);
    box_close(&box);
}

/* ---- CPUs and a sender at once ---------------------------------------------------------------------------------- */

struct player {
    struct box *box;
    uint32_t cpu, count;
    pthread_barrier_t *barrier;
};

static void *play(void *argument)
{
    struct player *p = argument;
    pthread_barrier_wait(p->barrier);
    for (uint32_t i = 1; i <= p->count; i++) {
        switch_on(p->box, p->cpu, i);
        if (i % 64 == 0)
            trace_hub_close_batches(&p->box->hub[p->cpu], BOX_TSC(i), CCSWAP_CLOSE_DRAIN);
    }
    box_stop(p->box, p->cpu, BOX_TSC(p->count + 1));
    return NULL;
}

struct sender {
    struct box *box;
    struct witness w;
    uint32_t pause;
    bool stop;
};

static void *send(void *argument)
{
    struct sender *s = argument;
    while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
        take_one(s->box, &s->w);
        for (uint32_t i = 0; i < s->pause; i++)
            __asm__ volatile("pause");
    }
    return NULL;
}

static void run_threads(uint32_t buffers, uint32_t pause)
{
    struct box box;
    struct player player[CPUS];
    struct sender sender = {.box = &box, .pause = pause};
    pthread_t thread[CPUS], sends;
    pthread_barrier_t barrier;
    uint32_t tried[CPUS];
    pthread_barrier_init(&barrier, NULL, CPUS);
    box_open_live(&box, CPUS, BOX_FULL | BOX_COMPACT, buffers, 4096);
    for (uint32_t c = 0; c < CPUS; c++) {
        tried[c] = 20000 + 3000 * c;
        player[c] = (struct player){&box, c, tried[c], &barrier};
        box_start(&box, c, NULL);
    }
    assert_int_equal(pthread_create(&sends, NULL, send, &sender), 0);
    for (uint32_t c = 0; c < CPUS; c++)
        assert_int_equal(pthread_create(&thread[c], NULL, play, &player[c]), 0);
    for (uint32_t c = 0; c < CPUS; c++)
        pthread_join(thread[c], NULL);
    __atomic_store_n(&sender.stop, true, __ATOMIC_RELEASE);
    pthread_join(sends, NULL);
    assert_account(&box, &sender.w, tried);
    pthread_barrier_destroy(&barrier);
    box_close(&box);
}

static void test_threads(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 4; round++) {
        run_threads(CPUS, 100);
        run_threads(CPUS + 1, 20000);
        run_threads(16, 0);
        run_threads(300, 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_where_buffers_can_come_back),
        cmocka_unit_test(test_nothing_to_take),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_falling_behind),
        cmocka_unit_test(test_lives),
        cmocka_unit_test(test_panic),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
