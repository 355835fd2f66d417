/* SPDX-License-Identifier: MIT */
/* Switches out of events, holes in a CPU's stream, and who caused a PEBS record. */
/* Longer than 500 lines: all tests read logs made by the same few helpers. */
#include <stdlib.h>
#include <string.h>

#include "tests/cairn/writer.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/model/timeline.h"

/* TSC 2^k Hz, so that units are easy: multiplier 2^54 is 10 MHz of 10.24 GHz: 1024 cycles a unit. */
#define SESSION(events, mode)                                                                                          \
    "session.1.events=" events "\nsession.1.mode=" mode "\nsession.1.tsc_hz=10240000000\nsession.1.tsc_base=0\n"       \
    "session.1.multiplier=18014398509481984\nsession.1.start_tsc=0\nsession.1.cpus=2\n"
#define CYCLES 1024

static struct cairn_log *read_log(const struct writer *w)
{
    struct cairn_log *log = malloc(sizeof(*log));
    assert_int_equal(cairn_log_read(log, &WRITER_INPUT(w), &(struct cairn_choice){0}, NULL), 0);
    return log;
}

static void done(struct cairn_log *log, struct writer *w)
{
    cairn_log_free(log);
    free(log);
    writer_free(w);
}

static struct writer begin(const char *session)
{
    struct writer w = {0};
    writer_text(&w, 'H', "dump.frames=99\n");
    writer_text(&w, 'L', session);
    return w;
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

static uint32_t lite(uint32_t slot, uint32_t increase, uint32_t state, uint32_t delta)
{
    return 2 | slot << 2 | increase << 6 | state << 9 | delta << 15;
}

static void full(struct bytes *b, uint32_t slot, uint32_t state, uint32_t priority, uint32_t wait, uint32_t delta)
{
    bytes_u32(b, 3 | delta << 2);
    bytes_u32(b, slot | state << 4 | priority << 10 | wait << 15);
}

static const uint32_t threads[] = {12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72};

static void every_form(void **state)
{
    (void)state;
    struct bytes records = {0}, events = {0};
    bytes_u16(&records, 0);                        /* IDLE_SHORT, delta 0 */
    bytes_u16(&records, 0x3FFF << 2);              /* its longest */
    bytes_u32(&records, 1 | 0x3FFFFFFFu << 2);     /* IDLE, its longest */
    bytes_u32(&records, lite(15, 7, 29, 0x1FFFF)); /* LITE: last slot, base + 7, WrMutex, its longest */
    full(&records, 14, 39 + 4, 31, 0x1FFFF,
         0x3FFFFFFF); /* FULL: Terminated, priority 31, wait saturated, its longest */
    bytes_batch(&events, 1000, INT64_MAX, threads, &records);
    struct writer w = begin(SESSION("compact", "sequential"));
    writer_buffer(&w, 0, 0, &events);
    struct cairn_log *log = read_log(&w);
    struct cairn_cursor c;
    struct cairn_switch s;
    cairn_cursor_init(&c, log, 0, true);

    assert_true(cairn_cursor_next(&c, &s));
    assert_true(s.form == CCSWAP_IDLE_SHORT && s.time == 1000 && s.old_tid == 0 && !s.detailed);
    assert_true(s.new_known && s.new_tid == 0);
    assert_true(cairn_cursor_next(&c, &s));
    assert_true(s.form == CCSWAP_IDLE_SHORT && s.time == 1000 + 0x3FFF);
    assert_true(cairn_cursor_next(&c, &s));
    assert_true(s.form == CCSWAP_IDLE && s.time == 1000 + 0x3FFF + 0x3FFFFFFF && s.new_known && s.new_tid == 72);
    assert_true(cairn_cursor_next(&c, &s));
    assert_true(s.form == CCSWAP_LITE && s.old_tid == 72 && s.priority == 15 && s.state == KTHREAD_WAITING);
    assert_true(s.reason == KWAIT_WR_MUTEX && s.time == 1000 + 0x3FFF + 0x3FFFFFFF + 0x1FFFF && s.new_tid == 68);
    assert_true(cairn_cursor_next(&c, &s));
    assert_true(s.form == CCSWAP_FULL && s.old_tid == 68 && s.priority == 31 && s.state == KTHREAD_TERMINATED);
    assert_true(s.wait == 0x1FFFF && s.time == INT64_C(1000) + 0x3FFF + 2 * INT64_C(0x3FFFFFFF) + 0x1FFFF);
    assert_false(s.new_known); /* the last: nothing says who came */
    assert_false(cairn_cursor_next(&c, &s));
    assert_int_equal(log->cpu[0].switches.compact, 5);
    done(log, &w);
}

static void every_state(void **state)
{
    (void)state;
    for (uint32_t v = 0; v < 39 + KTHREAD_STATES; v++) {
        struct bytes records = {0}, events = {0};
        bytes_u32(&records, lite(0, 0, v, 0));
        full(&records, 0, v, 8, 5, 1);
        bytes_batch(&events, 1000, 2000, threads, &records);
        struct writer w = begin(SESSION("compact", "sequential"));
        writer_buffer(&w, 0, 0, &events);
        struct cairn_log *log = read_log(&w);
        struct cairn_cursor c;
        struct cairn_switch s;
        cairn_cursor_init(&c, log, 0, true);
        for (unsigned i = 0; i < 2; i++) {
            assert_true(cairn_cursor_next(&c, &s));
            assert_int_equal(s.state, v < 39 ? KTHREAD_WAITING : v - 39);
            assert_int_equal(s.reason, v < 39 ? v : s.state == KTHREAD_WAITING ? CAIRN_REASON_UNKNOWN : 0);
        }
        done(log, &w);
    }
}

/* Performance counter items, which version 1 does not write: a reader passes over them, the check as well. */
static void counter_items(void **state)
{
    (void)state;
    for (uint32_t items = 1; items <= 7; items++) {
        struct bytes records = {0}, plain = {0}, events = {0};
        for (uint32_t slot = 0; slot < 16; slot++)
            bytes_u32(&records, lite(slot, 0, 30, slot ? 1 : 0));
        bytes_batch(&plain, 1000, 2000, threads, &records);
        bytes_u32(&events, 0xC0110002u | items << 8);
        bytes_u16(&events, (uint16_t)(16 + 0x58 + records.size + 8 * items));
        bytes_add(&events, plain.data + 6, 10); /* hook and time */
        for (uint32_t i = 0; i < items; i++)
            bytes_u64(&events, UINT64_MAX);
        bytes_add(&events, plain.data + 16, plain.size - 16);
        struct writer w = begin(SESSION("compact", "sequential"));
        writer_buffer(&w, 0, 0, &events);
        struct cairn_log *log = read_log(&w);
        struct cairn_check check;
        cairn_check_init(&check, log, NULL);
        cairn_check_trace(&check);
        assert_int_equal(log->cpu[0].switches.compact, 16);
        assert_int_equal(check.compared[CAIRN_RULE_BATCHES], 1);
        assert_int_equal(check.failed[CAIRN_RULE_BATCHES], 0);
        done(log, &w);
    }
}

/* A batch that makes no sense is left out as a whole, and who came before it is not known. */
static void nonsense_is_left_out(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        struct bytes good = {0}, bad = {0}, first = {0}, second = {0}, third = {0};
        bytes_u32(&good, lite(0, 0, 1, 0));
        bytes_u32(&bad, lite(0, 0, 1, 0));
        if (kind == 0)
            bytes_u16(&bad, 2); /* cut within a LITE record */
        else if (kind == 1)
            bytes_u32(&bad, lite(4, 0, 1, 0)); /* a slot nobody is in */
        else if (kind == 2)
            bytes_u32(&bad, lite(0, 0, 39 + KTHREAD_STATES, 0)); /* no such state */
        else
            bytes_u16(&bad, 3);
        static const uint32_t some[] = {12, 16, 20, 0};
        bytes_batch(&first, 1000, 1100, some, &good);
        bytes_batch(&second, 2000, 2100, some, &bad);
        bytes_batch(&third, 3000, 3100, some, &good);
        struct writer w = begin(SESSION("compact", "sequential"));
        uint32_t used = 0x48 + first.size + second.size + third.size;
        struct bytes two = first;
        bytes_add(&two, second.data, second.size);
        writer_piece(&w, 0, 0, 0, used, &two);
        writer_piece(&w, 0, 0, 0x48 + two.size, used, &third);
        struct cairn_log *log = read_log(&w);
        struct cairn_cursor c;
        struct cairn_switch s;
        assert_int_equal(log->bad_pieces, 1);
        cairn_cursor_init(&c, log, 0, true);
        assert_true(cairn_cursor_next(&c, &s));
        assert_true(s.time == 1000 && !s.new_known);
        assert_true(cairn_cursor_next(&c, &s));
        assert_true(s.time == 3000 && s.hole != CAIRN_NO_HOLE && log->cpu[0].holes.items[s.hole].malformed);
        assert_false(cairn_cursor_next(&c, &s));
        assert_true(cairn_log_damaged(log));
        done(log, &w);
    }
}

static void full_events(void **state)
{
    (void)state;
    struct bytes events = {0};
    uint8_t other[13] = "unknown";
    bytes_full(&events, 500, 12, 16);
    bytes_event(&events, 0x0F20, 0, 600, NULL, other, sizeof(other)); /* another hook is passed over */
    bytes_full(&events, 700, 16, 0);
    struct writer w = begin(SESSION("full", "sequential"));
    writer_buffer(&w, 1, 0, &events);
    struct cairn_log *log = read_log(&w);
    struct cairn_cursor c;
    struct cairn_switch s;
    cairn_cursor_init(&c, log, 1, false);
    assert_true(cairn_cursor_next(&c, &s));
    assert_true(s.time == 500 && s.old_tid == 12 && s.new_known && s.new_tid == 16 && s.form == CAIRN_FORM_EVENT);
    assert_true(s.state == KTHREAD_WAITING && s.reason == KWAIT_WR_MUTEX && s.priority == 9 && s.wait == 7);
    assert_true(cairn_cursor_next(&c, &s));
    assert_true(s.new_known && s.new_tid == 0); /* told, though it is the last */
    assert_int_equal(log->cpu[1].other_events, 1);
    done(log, &w);
}

/* ---- holes ------------------------------------------------------------------------------------------------------ */

static struct bytes one_batch(int64_t time, uint32_t tid)
{
    struct bytes records = {0}, events = {0};
    const uint32_t tids[2] = {tid, 0};
    bytes_u32(&records, lite(0, 0, 1, 0));
    bytes_batch(&events, time, time + 1, tids, &records);
    return events;
}

/* Buffers 0 and `second` of CPU 0, one switch each; the end summary says what it says. */
static void two_buffers(const char *mode, uint32_t second, const char *end, int kind, bool frames_missing)
{
    struct bytes a = one_batch(1000, 12), b = one_batch(2000, 16);
    struct writer w = begin(mode);
    writer_buffer(&w, 0, 0, &a);
    w.number += frames_missing;
    writer_buffer(&w, 0, second, &b);
    if (end)
        writer_text(&w, 'E', end);
    struct cairn_log *log = read_log(&w);
    struct cairn_cursor c;
    struct cairn_switch s;
    cairn_cursor_init(&c, log, 0, true);
    assert_true(cairn_cursor_next(&c, &s));
    assert_int_equal(s.new_known, kind < 0);
    assert_true(cairn_cursor_next(&c, &s));
    assert_int_equal(s.hole == CAIRN_NO_HOLE, kind < 0);
    if (kind >= 0)
        assert_int_equal(log->cpu[0].holes.items[s.hole].kind, kind);
    done(log, &w);
}

static void holes_between_buffers(void **state)
{
    (void)state;
    const char *sequential = SESSION("compact", "sequential"), *circular = SESSION("compact", "circular");
    two_buffers(sequential, 1, NULL, -1, false);
    two_buffers(sequential, 2, NULL, CAIRN_HOLE_BUFFERS, false);
    two_buffers(circular, 3, NULL, CAIRN_HOLE_OVERWRITTEN, false);
    two_buffers(circular, 3, NULL, CAIRN_HOLE_BUFFERS, true); /* overwritten or missing: cannot be told */
    two_buffers(circular, 1, "end.cpu.0.events=2 2 0\n", -1, false);
    two_buffers(circular, 1, "end.cpu.0.events=3 2 1\n", CAIRN_HOLE_MAYBE_LOST, false);
    two_buffers(circular, 1, NULL, CAIRN_HOLE_MAYBE_LOST, false); /* nobody says that nothing was lost */
}

static void hole_at_the_head(void **state)
{
    (void)state;
    struct bytes a = one_batch(1000, 12);
    struct writer w = begin(SESSION("compact", "sequential"));
    writer_buffer(&w, 0, 1, &a);
    struct cairn_log *log = read_log(&w);
    struct cairn_cursor c;
    struct cairn_switch s;
    cairn_cursor_init(&c, log, 0, true);
    assert_true(cairn_cursor_next(&c, &s));
    assert_true(s.hole != CAIRN_NO_HOLE && log->cpu[0].holes.items[s.hole].buffers == 1);
    done(log, &w);
}

static void hole_at_the_tail(void **state)
{
    (void)state;
    static const struct {
        const char *end;
        int kind;
    } cases[] = {
        {"end.cpu.0.buffers=1\n", -1},
        {"end.cpu.0.buffers=3\n", CAIRN_HOLE_BUFFERS},
        {"end.cpu.0.buffers=1\nend.cpu.0.events=5 1 4\n", CAIRN_HOLE_LOST},
    };
    for (unsigned i = 0; i < 3; i++) {
        struct bytes a = one_batch(1000, 12);
        struct writer w = begin(SESSION("compact", "sequential"));
        writer_buffer(&w, 0, 0, &a);
        writer_text(&w, 'E', cases[i].end);
        struct cairn_log *log = read_log(&w);
        assert_int_equal(log->cpu[0].tail == CAIRN_NO_HOLE, cases[i].kind < 0);
        if (cases[i].kind >= 0)
            assert_int_equal(log->cpu[0].holes.items[log->cpu[0].tail].kind, cases[i].kind);
        done(log, &w);
    }
}

static void part_of_a_buffer(void **state)
{
    (void)state;
    struct bytes a = one_batch(1000, 12), b = one_batch(2000, 16), c = one_batch(3000, 20);
    struct writer w = begin(SESSION("compact", "sequential"));
    uint32_t used = 0x48 + 3 * a.size;
    writer_piece(&w, 0, 0, 0, used, &a);
    w.number++;
    writer_piece(&w, 0, 0, 0x48 + 2 * a.size, used, &c);
    struct cairn_log *log = read_log(&w);
    assert_int_equal(log->cpu[0].holes.count, 1);
    assert_int_equal(log->cpu[0].holes.items[0].kind, CAIRN_HOLE_BYTES);
    assert_int_equal(log->cpu[0].holes.items[0].bytes, b.size);
    const struct cairn_hole *h = &log->cpu[0].holes.items[0];
    assert_int_equal(cairn_missing_between(&log->frames, h->after, h->before)->first, 3);
    done(log, &w);
}

/* Frames with right checksums may still contradict each other. */
static void overlap_is_dropped(void **state)
{
    (void)state;
    struct bytes a = one_batch(1000, 12), b = one_batch(2000, 16);
    struct writer w = begin(SESSION("compact", "sequential"));
    writer_buffer(&w, 0, 0, &a);
    writer_piece(&w, 0, 0, 0x50, 0x48 + a.size, &(struct bytes){0});
    writer_buffer(&w, 0, 0, &b);
    writer_buffer(&w, 256, 0, &b); /* no such CPU */
    struct cairn_log *log = read_log(&w);
    assert_int_equal(log->cpu[0].switches.compact, 1);
    assert_int_equal(log->bad_frames, 3);
    done(log, &w);
}

/* ---- who caused a record ---------------------------------------------------------------------------------------- */

/* A drain of records at these times (in units, 0 ends them). */
static void drain(struct bytes *b, int64_t time, uint8_t format, const int64_t *times)
{
    struct bytes records = {0}, payload = {0};
    uint32_t n = 0;
    for (; times[n]; n++) {
        if (format == 4) {
            bytes_u64(&records, UINT64_C(32) << 48);
            bytes_u64(&records, 0x401000 + n);
            bytes_u64(&records, 1);
            bytes_u64(&records, (uint64_t)times[n] * CYCLES + 5);
        } else { /* 2: no TSC */
            for (unsigned word = 0; word < 24; word++)
                bytes_u64(&records, 0x401000 + n);
        }
    }
    uint64_t area[56] = {[4] = 0x10000, [5] = 0x10000 + records.size, [6] = 0x20000, [7] = 0x18000};
    bytes_u16(&payload, 1);
    bytes_u16(&payload, (uint16_t)(2 | format << 8)); /* threshold */
    bytes_u32(&payload, 0);
    bytes_u64(&payload, (uint64_t)time * CYCLES);
    bytes_u64(&payload, 0);
    bytes_u32(&payload, records.size);
    bytes_u32(&payload, 1);
    bytes_add(&payload, area, format == 4 ? 0xA0 : 0x60);
    bytes_event(b, 0xCA01, 2, time, NULL, payload.data, payload.size);
    payload.size = 0;
    bytes_u16(&payload, 2);
    bytes_u16(&payload, format);
    bytes_u32(&payload, 0);
    bytes_u64(&payload, 0x10000);
    bytes_u32(&payload, records.size);
    bytes_u32(&payload, 0);
    bytes_add(&payload, records.data, records.size);
    bytes_event(b, 0xCA01, 2, time, NULL, payload.data, payload.size);
}

/* The area of an epoch has the form of the record format, of format 3 perhaps that of 4. */
static void forms_of_the_area(void **state)
{
    (void)state;
    static const struct {
        uint8_t version, format;
        uint16_t bytes;
        bool right;
    } rows[] = {
        {1, 0, 0xA0, false}, {1, 4, 0xA0, false}, {2, 0, 0x60, true},  {2, 3, 0x60, true},   {2, 4, 0xA0, true},
        {2, 5, 0x1C0, true}, {2, 6, 0x1C0, true}, {2, 3, 0xA0, true},  {2, 3, 0x1C0, false}, {2, 2, 0xA0, false},
        {2, 0, 0xA0, false}, {2, 4, 0x60, false}, {2, 5, 0xA0, false}, {3, 4, 0xA0, false},  {0, 4, 0xA0, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bytes b = {0};
        uint8_t payload[0x20 + 0x1C0] = {1, 0, 1, rows[i].format};
        for (unsigned at = 0x20; at < sizeof(payload); at++)
            payload[at] = (uint8_t)at;
        bytes_event(&b, 0xCA01, rows[i].version, 100, NULL, payload, 0x20u + rows[i].bytes);
        struct writer w = begin(SESSION("compact", "sequential"));
        writer_buffer(&w, 0, 0, &b);
        struct cairn_log *log = read_log(&w);
        struct cairn_group g;
        cairn_group_init(&g, log, 0);
        const struct cairn_epoch *e = cairn_group_drain(&g);
        assert_int_equal(log->cpu[0].pebs.epochs, rows[i].right);
        assert_int_equal(log->bad_pieces, !rows[i].right);
        assert_int_equal(e != NULL, rows[i].right);
        if (e) {
            assert_int_equal(e->area_bytes, rows[i].bytes);
            assert_memory_equal(e->area, payload + 0x20, rows[i].bytes);
        }
        cairn_group_free(&g);
        done(log, &w);
    }
}

struct answer {
    int64_t time;
    uint8_t blame;
    uint32_t tid;
};

static void assert_answers(const struct cairn_log *log, bool compact, const struct answer *answers, unsigned count)
{
    struct cairn_lane lane;
    const struct cairn_item *item;
    unsigned n = 0;
    cairn_lane_init(&lane, log, 0, compact, CAIRN_BY_TIME);
    while ((item = cairn_lane_next(&lane)) != NULL) {
        if (item->kind != CAIRN_ITEM_RECORD)
            continue;
        assert_true(n < count);
        assert_int_equal(item->time, answers[n].time);
        assert_int_equal(item->blame, answers[n].blame);
        if (item->blame == CAIRN_BLAME_KNOWN)
            assert_int_equal(item->tid, answers[n].tid);
        n++;
    }
    cairn_lane_free(&lane);
    assert_int_equal(n, count);
}

static const int64_t record_times[] = {90, 100, 101, 199, 200, 300, 400, 0};

/* Switches at 100 (12 leaves), 200 (16 leaves) and, behind a hole where wanted, 350 (20 leaves). */
static struct writer three_switches(const char *session, bool hole, bool is_full)
{
    struct bytes a = {0}, b = {0};
    if (is_full) {
        bytes_full(&a, 100, 12, 16);
        bytes_full(&a, 200, 16, 20);
        bytes_full(&b, 350, 20, 24);
    } else {
        struct bytes records = {0}, last = {0};
        bytes_u32(&records, lite(0, 0, 1, 0));
        bytes_u32(&records, lite(1, 0, 1, 100));
        bytes_u32(&last, lite(0, 0, 1, 0));
        static const uint32_t two[] = {12, 16, 0}, one[] = {20, 0};
        bytes_batch(&a, 100, 210, two, &records);
        bytes_batch(&b, 350, 360, one, &last);
    }
    drain(&b, 500, 4, record_times);
    struct writer w = begin(session);
    writer_buffer(&w, 0, 0, &a);
    w.number += hole;
    writer_buffer(&w, 0, 1 + hole, &b);
    return w;
}

static void blame_in_batches(void **state)
{
    (void)state;
    static const struct answer answers[] = {
        {90, CAIRN_BLAME_KNOWN, 12},  {100, CAIRN_BLAME_SAME_UNIT, 0}, {101, CAIRN_BLAME_KNOWN, 16},
        {199, CAIRN_BLAME_KNOWN, 16}, {200, CAIRN_BLAME_SAME_UNIT, 0}, {300, CAIRN_BLAME_KNOWN, 20},
        {400, CAIRN_BLAME_LAST, 0},
    };
    struct writer w = three_switches(SESSION("compact", "sequential"), false, false);
    struct cairn_log *log = read_log(&w);
    assert_answers(log, true, answers, 7);
    done(log, &w);
}

static void blame_around_a_hole(void **state)
{
    (void)state;
    static const struct answer answers[] = {
        {90, CAIRN_BLAME_KNOWN, 12},  {100, CAIRN_BLAME_SAME_UNIT, 0}, {101, CAIRN_BLAME_KNOWN, 16},
        {199, CAIRN_BLAME_KNOWN, 16}, {200, CAIRN_BLAME_SAME_UNIT, 0}, {300, CAIRN_BLAME_LOSS, 0},
        {400, CAIRN_BLAME_LAST, 0},
    };
    struct writer w = three_switches(SESSION("compact", "sequential"), true, false);
    struct cairn_log *log = read_log(&w);
    assert_answers(log, true, answers, 7);
    done(log, &w);
}

static void blame_in_full_events(void **state)
{
    (void)state;
    static const struct answer answers[] = {
        {90, CAIRN_BLAME_KNOWN, 12},  {100, CAIRN_BLAME_SAME_UNIT, 0}, {101, CAIRN_BLAME_KNOWN, 16},
        {199, CAIRN_BLAME_KNOWN, 16}, {200, CAIRN_BLAME_SAME_UNIT, 0}, {300, CAIRN_BLAME_LOSS, 0},
        {400, CAIRN_BLAME_KNOWN, 24}, /* the last switch says who came */
    };
    struct writer w = three_switches(SESSION("full", "sequential"), true, true);
    struct cairn_log *log = read_log(&w);
    assert_answers(log, false, answers, 7);
    done(log, &w);
}

static void blame_without_time(void **state)
{
    (void)state;
    struct writer w = three_switches("session.1.cpus=2\n", false, false); /* the clock is not known */
    struct cairn_log *log = read_log(&w);
    struct cairn_lane lane;
    const struct cairn_item *item;
    cairn_lane_init(&lane, log, 0, true, CAIRN_BY_TIME);
    while ((item = cairn_lane_next(&lane)) != NULL)
        if (item->kind == CAIRN_ITEM_RECORD)
            assert_int_equal(item->blame, CAIRN_BLAME_NO_TIME);
    cairn_lane_free(&lane);
    done(log, &w);

    struct bytes b = one_batch(100, 12);
    static const int64_t times[] = {50, 0};
    drain(&b, 200, 2, times); /* a format without TSC */
    w = begin(SESSION("compact", "sequential"));
    writer_buffer(&w, 0, 0, &b);
    log = read_log(&w);
    static const struct answer answers[] = {{200, CAIRN_BLAME_NO_TIME, 0}};
    assert_answers(log, true, answers, 1);
    done(log, &w);
}

/* All CPUs together: by time; at one time, the lower CPU first. */
static void merged_by_time(void **state)
{
    (void)state;
    struct bytes a = one_batch(100, 12), b = one_batch(300, 16), c = one_batch(200, 20), d = one_batch(300, 24);
    bytes_add(&a, b.data, b.size);
    bytes_add(&c, d.data, d.size);
    struct writer w = begin(SESSION("compact", "sequential"));
    writer_buffer(&w, 0, 0, &a);
    writer_buffer(&w, 1, 0, &c);
    struct cairn_log *log = read_log(&w);
    static const uint32_t order[] = {12, 20, 16, 24};
    struct cairn_timeline t;
    const struct cairn_item *item;
    unsigned n = 0;
    cairn_timeline_init(&t, log, -1, true, CAIRN_BY_FORMAT, false);
    for (; (item = cairn_timeline_next(&t)) != NULL; n++)
        assert_int_equal(item->sw.old_tid, order[n]);
    assert_int_equal(n, 4);
    cairn_timeline_free(&t);
    done(log, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),          cmocka_unit_test(every_state),
        cmocka_unit_test(counter_items),       cmocka_unit_test(nonsense_is_left_out),
        cmocka_unit_test(full_events),         cmocka_unit_test(holes_between_buffers),
        cmocka_unit_test(hole_at_the_head),    cmocka_unit_test(hole_at_the_tail),
        cmocka_unit_test(part_of_a_buffer),    cmocka_unit_test(overlap_is_dropped),
        cmocka_unit_test(forms_of_the_area),   cmocka_unit_test(blame_in_batches),
        cmocka_unit_test(blame_around_a_hole), cmocka_unit_test(blame_in_full_events),
        cmocka_unit_test(blame_without_time),  cmocka_unit_test(merged_by_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
