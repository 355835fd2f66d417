/* SPDX-License-Identifier: MIT */
/* However the CPUs' items are merged, and by how many threads: it is their order in time, of equal times the lowest
 * CPU's first, and each CPU's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cairn/writer.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/model/timeline.h"

#define ITEMS_MOST 40000u

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)seed * n >> 32);
}

/* A batch of `count` switches, often several at a time, which ends at the time returned. */
static int64_t add_batch(struct bytes *events, int64_t time, uint32_t count)
{
    struct bytes records = {0};
    const uint32_t tids[] = {4 + 4 * below(1000), 0};
    const int64_t first = time;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t delta = below(3) ? 0 : below(20);
        if (below(2))
            bytes_u16(&records, (uint16_t)(delta << 2));
        else
            bytes_u32(&records, 2 | 1 << 9 | delta << 15);
        time += delta;
    }
    bytes_batch(events, first, time, tids, &records);
    return time;
}

/* Of some CPUs, with holes, and with events between the switches. Some clocks leap: so far that a slice of time would
 * be too long for its order. */
static struct writer make_log(uint32_t cpus)
{
    struct writer w = {0};
    char session[64];
    const bool leaps = below(3) == 0;
    snprintf(session, sizeof(session), "session.1.events=compact\nsession.1.cpus=%u\n", cpus);
    writer_text(&w, 'H', "dump.frames=99\n");
    writer_text(&w, 'L', session);
    for (uint32_t c = 0; c < cpus; c++) {
        const uint32_t buffers = below(20), quiet = below(2);
        int64_t time = (leaps ? INT64_MIN / 2 : 1000) + below(100);
        for (uint32_t i = 0, number = 0; i < buffers; i++, number += 1 + !below(8)) {
            struct bytes events = {0};
            time = add_batch(&events, time, 1 + below(below(4) ? 8 : 200));
            if (!quiet && !below(4))
                bytes_event(&events, 0x1234, 1, time + below(3), NULL, "payload", 8);
            if (leaps)
                time = add_batch(&events, time + (INT64_C(1) << (50 + below(8))), 1 + below(100));
            writer_buffer(&w, (uint16_t)c, number, &events);
        }
    }
    return w;
}

struct told { /* of an item */
    int64_t time;
    uint32_t cpu, kind, old_tid, new_tid, hole, wait;
};

static struct told tell(const struct cairn_item *item)
{
    struct told t = {.time = item->time, .cpu = item->cpu, .kind = item->kind};
    if (item->kind == CAIRN_ITEM_SWITCH) {
        t.old_tid = item->sw.old_tid;
        t.new_tid = item->sw.new_known ? item->sw.new_tid : UINT32_MAX;
        t.hole = item->sw.hole;
        t.wait = item->sw.wait;
    }
    return t;
}

/* Each CPU by itself, and then always the first of all. */
static uint32_t merge_plainly(const struct cairn_log *log, struct told *to)
{
    struct told *of[16], *all = malloc(16 * ITEMS_MOST * sizeof(*all));
    uint32_t left[16] = {0}, count = 0;
    struct cairn_lane *lane = malloc(sizeof(*lane));
    for (uint32_t c = 0; c < log->cpus; c++) {
        const struct cairn_item *item;
        of[c] = all + c * ITEMS_MOST;
        cairn_lane_init(lane, log, c, true, CAIRN_BY_FORMAT);
        while ((item = cairn_lane_next(lane)) != NULL)
            of[c][left[c]++] = tell(item);
        cairn_lane_free(lane);
    }
    for (;;) {
        uint32_t first = UINT32_MAX;
        for (uint32_t c = 0; c < log->cpus; c++)
            if (left[c] && (first == UINT32_MAX || of[c]->time < of[first]->time))
                first = c;
        if (first == UINT32_MAX)
            break;
        to[count++] = *of[first]++;
        left[first]--;
    }
    free(lane);
    free(all);
    return count;
}

static void merged_as_plainly(void **state)
{
    (void)state;
    struct told *expected = malloc(ITEMS_MOST * sizeof(*expected));
    for (uint32_t round = 1; round <= 40; round++) {
        seed = round;
        struct writer w = make_log(1 + below(16));
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            static struct cairn_log log;
            static struct cairn_timeline t;
            const struct cairn_item *item;
            uint32_t n = 0;
            assert_int_equal(cairn_log_read(&log, &WRITER_INPUT(&w), &(struct cairn_choice){.threads = threads}, NULL),
                             0);
            const uint32_t count = merge_plainly(&log, expected);
            cairn_timeline_init(&t, &log, -1, true, CAIRN_BY_FORMAT, false);
            for (; (item = cairn_timeline_next(&t)) != NULL; n++) {
                const struct told is = tell(item);
                assert_true(n < count);
                assert_memory_equal(&is, &expected[n], sizeof(is));
            }
            assert_int_equal(n, count);
            assert_null(cairn_timeline_next(&t));
            cairn_timeline_free(&t);
            cairn_log_free(&log);
        }
        writer_free(&w);
    }
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(merged_as_plainly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
