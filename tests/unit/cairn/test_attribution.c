/* SPDX-License-Identifier: MIT */
/* Whose a record is, by the PebsIndex stamps of the switches alone. */
#include <stdlib.h>
#include <string.h>

#include "tests/cairn/writer.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/log/truth_stream.h"
#include "tools/cairn/model/attribution.h"
#include "trace/ccswap.h"
#include "trace/wire/bts.h"

#define BASE  0x10000u
#define AT(n) (BASE + 32 * (uint64_t)(n)) /* where record n of a buffer lies: format 4, basic group only */

enum { NO_SCOPE, SAMPLED }; /* threads 12, 16 and 20 are sampled, others are not */

static struct writer begin(int scope)
{
    struct writer w = {0};
    writer_text(&w, 'H', "dump.frames=99\n");
    if (scope == SAMPLED) {
        writer_text(&w, 'M', "ds.scope=thread\n");
        writer_text(&w, 'N', "12 8 s a\n16 8 s b\n20 8 s c\n24 8 - d\n28 8 - e\n");
    }
    writer_text(&w, 'L', "session.1.cpus=1\n");
    return w;
}

static struct cairn_log *read_log(const struct writer *w)
{
    struct cairn_log *log = malloc(sizeof(*log));
    assert_int_equal(cairn_log_read(log, &WRITER_INPUT(w), &(struct cairn_choice){0}, NULL), 0);
    assert_int_equal(log->frames.suspects.count, 0); /* none is longer than a frame may be */
    return log;
}

static void done(struct cairn_log *log, struct writer *w)
{
    cairn_log_free(log);
    free(log);
    writer_free(w);
}

static void full(struct bytes *b, uint32_t old_tid, uint32_t new_tid, uint64_t stamp)
{
    const uint32_t payload[6] = {new_tid, old_tid, 0x00000908, 0x0305001D, 7, 2};
    bytes_event(b, 0x524, 2, 1, &stamp, payload, sizeof(payload));
}

/* A batch in which these leave (0: idle), IDLE_SHORT or LITE. */
static void batch(struct bytes *b, uint64_t stamp, unsigned count, const uint32_t *tids)
{
    struct bytes payload = {0}, records = {0};
    uint32_t table[16] = {0}, known = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t slot = 0;
        if (!tids[i]) {
            bytes_u16(&records, 0);
            continue;
        }
        while (slot < known && table[slot] != tids[i])
            slot++;
        if (slot == known)
            table[known++] = tids[i];
        bytes_u32(&records, 2 | slot << 2 | 1 << 9);
    }
    bytes_u64(&payload, 1);
    bytes_add(&payload, table, sizeof(table));
    bytes_add(&payload, (uint8_t[16]){0}, 16);
    bytes_add(&payload, records.data, records.size);
    bytes_event(b, 0x525, 2, 1, &stamp, payload.data, payload.size);
}
#define BATCH(b, stamp, ...)                                                                                           \
    batch(b, stamp, sizeof((const uint32_t[]){__VA_ARGS__}) / 4, (const uint32_t[]){__VA_ARGS__})

static void epoch_event(struct bytes *b, uint8_t reason, uint32_t epoch, unsigned records)
{
    struct bytes payload = {0};
    uint64_t area[20] = {[4] = BASE, [5] = AT(records), [6] = AT(64), [7] = AT(32)};
    bytes_u16(&payload, CAIRN_DS_EPOCH);
    bytes_u16(&payload, (uint16_t)(reason | 4 << 8));
    bytes_u32(&payload, epoch);
    bytes_u64(&payload, 0);
    bytes_u64(&payload, 0);
    bytes_u32(&payload, 32 * records);
    bytes_u32(&payload, records ? 1 : 0);
    bytes_add(&payload, area, sizeof(area));
    bytes_event(b, 0xCA01, 2, 1, NULL, payload.data, payload.size);
    if (!records)
        return;
    payload.size = 0;
    bytes_u16(&payload, CAIRN_DS_RECORDS);
    bytes_u16(&payload, 4);
    bytes_u32(&payload, epoch);
    bytes_u64(&payload, BASE);
    bytes_u32(&payload, 32 * records);
    bytes_u32(&payload, 0);
    for (unsigned i = 0; i < records; i++) {
        const uint64_t basic[4] = {UINT64_C(32) << 48, 0x401000 + i, 1, 0};
        bytes_add(&payload, basic, sizeof(basic));
    }
    bytes_event(b, 0xCA01, 2, 1, NULL, payload.data, payload.size);
}

static void drain(struct bytes *b, uint32_t epoch, unsigned records)
{
    epoch_event(b, CAIRN_DS_THRESHOLD, epoch, records);
}

/* Of BTS, whose epochs are no affair of PEBS' index. */
static void branch_drain(struct bytes *b)
{
    struct cairn_bts_epoch epoch = {.kind = CAIRN_BTS_EPOCH, .reason = CAIRN_DS_SWITCH, .epoch = 7};
    bytes_event(b, HOOK_CAIRN_BTS, HOOK_VERSION_CAIRN_BTS, 1, NULL, &epoch, sizeof(epoch));
}

struct answer {
    uint32_t epoch, record;
    uint8_t blame;
    uint32_t tid;
};

static void assert_answers(const struct cairn_log *log, bool compact, const struct answer *answers, size_t count)
{
    struct cairn_stamps stamps;
    cairn_stamps_init(&stamps, log, 0, compact);
    cairn_stamps_read(&stamps, 0, UINT32_MAX);
    for (size_t i = 0; i < count; i++) {
        struct cairn_verdict v = cairn_stamps_find(&stamps, answers[i].epoch, AT(answers[i].record));
        assert_int_equal(v.blame, answers[i].blame);
        if (v.blame == CAIRN_BLAME_KNOWN)
            assert_int_equal(v.tid, answers[i].tid);
    }
    cairn_stamps_free(&stamps);
}
#define ANSWERS(log, compact, ...)                                                                                     \
    assert_answers(log, compact, (const struct answer[]){__VA_ARGS__},                                                 \
                   sizeof((const struct answer[]){__VA_ARGS__}) / sizeof(struct answer))

/* 0524H: a record right at a stamp is the next thread's; after the last stamp it is of who came, across the drain. */
static void stamped_switches(void **state)
{
    (void)state;
    struct bytes b = {0};
    full(&b, 12, 16, AT(2));
    full(&b, 16, 20, AT(2)); /* made no record */
    branch_drain(&b);
    full(&b, 20, 12, AT(3));
    drain(&b, 0, 5);
    full(&b, 12, 16, AT(1));
    drain(&b, 1, 2);
    struct writer w = begin(NO_SCOPE);
    writer_buffer(&w, 0, 0, &b);
    struct cairn_log *log = read_log(&w);
    ANSWERS(log, false, {0, 0, CAIRN_BLAME_KNOWN, 12}, {0, 1, CAIRN_BLAME_KNOWN, 12}, {0, 2, CAIRN_BLAME_KNOWN, 20},
            {0, 3, CAIRN_BLAME_KNOWN, 12}, {0, 4, CAIRN_BLAME_KNOWN, 12}, {1, 0, CAIRN_BLAME_KNOWN, 12},
            {1, 1, CAIRN_BLAME_KNOWN, 16}, {2, 0, CAIRN_BLAME_NO_STAMP, 0});
    ANSWERS(log, true, {0, 0, CAIRN_BLAME_LAST, 0}); /* there is no batch: nobody is known to have run */
    done(log, &w);
}

static void told(struct bytes *b, enum cairn_session_what what, uint32_t group, uint64_t stamp)
{
    const struct cairn_session_event e = {
        .what = (uint8_t)what, .session = 1, .clock = 1, .pebs_index = stamp, .stamps = 3, .masks = {[1] = group}};
    bytes_event(b, HOOK_CAIRN_SESSION, HOOK_VERSION_CAIRN_SESSION, 1, NULL, &e, sizeof(e));
}

/* A session that asks for no switches any more is not told of them: who came last is not who ran from then on. */
static void switches_turned_off(void **state)
{
    (void)state;
    for (uint32_t goes_on = 0; goes_on <= 1; goes_on++) {
        struct bytes b = {0};
        told(&b, CAIRN_SESSION_START, 4, AT(0));
        full(&b, 12, 16, AT(2));
        full(&b, 16, 20, AT(4));
        told(&b, CAIRN_SESSION_MASKS, goes_on ? 4 | 0x80 : 0x80, AT(5));
        drain(&b, 0, 8);
        told(&b, CAIRN_SESSION_STOP, goes_on ? 4 | 0x80 : 0x80, AT(0));
        struct writer w = begin(NO_SCOPE);
        writer_buffer(&w, 0, 0, &b);
        struct cairn_log *log = read_log(&w);
        ANSWERS(log, false, {0, 1, CAIRN_BLAME_KNOWN, 12}, {0, 3, CAIRN_BLAME_KNOWN, 16},
                {0, 7, goes_on ? CAIRN_BLAME_KNOWN : CAIRN_BLAME_LOSS, 20});
        assert_int_equal(log->cpu[0].tail == CAIRN_NO_HOLE, goes_on);
        done(log, &w);
    }
}

/* 0525H: all that left in the batch, and who ran as it was closed: the first to leave in the next. */
static void stamped_batches(void **state)
{
    (void)state;
    struct bytes b = {0};
    BATCH(&b, AT(1), 12, 0, 12); /* idle and 12; then 12 again */
    BATCH(&b, AT(2), 12, 24);    /* 12 and 24; then 12 */
    BATCH(&b, AT(3), 12, 12);    /* 12, but then 16 */
    BATCH(&b, AT(4), 16);        /* 16; after the drain 16 goes on */
    drain(&b, 0, 4);
    BATCH(&b, AT(1), 16); /* 16; then nobody knows who */
    drain(&b, 1, 2);
    for (int scope = NO_SCOPE; scope <= SAMPLED; scope++) {
        struct writer w = begin(scope);
        writer_buffer(&w, 0, 0, &b);
        struct cairn_log *log = read_log(&w);
        if (scope == SAMPLED) /* neither idle nor 24 can have caused one */
            ANSWERS(log, true, {0, 0, CAIRN_BLAME_KNOWN, 12}, {0, 1, CAIRN_BLAME_KNOWN, 12});
        else
            ANSWERS(log, true, {0, 0, CAIRN_BLAME_BATCH, 0}, {0, 1, CAIRN_BLAME_BATCH, 0});
        ANSWERS(log, true, {0, 2, CAIRN_BLAME_BATCH, 0}, {0, 3, CAIRN_BLAME_KNOWN, 16}, {1, 0, CAIRN_BLAME_BATCH, 0},
                {1, 1, CAIRN_BLAME_LAST, 0});
        done(log, &w);
    }
}

/* The idle thread ran as the first was closed, though 16 is first in the table of the next; a batch in which no thread
 * ran that can have caused a record is not believed. */
static void idle_between_batches(void **state)
{
    (void)state;
    struct bytes b = {0};
    BATCH(&b, AT(1), 12);
    BATCH(&b, AT(2), 0, 16, 24);
    BATCH(&b, AT(3), 24, 28);
    BATCH(&b, AT(4), 28);
    drain(&b, 0, 4);
    struct writer w = begin(SAMPLED);
    writer_buffer(&w, 0, 0, &b);
    struct cairn_log *log = read_log(&w);
    ANSWERS(log, true, {0, 0, CAIRN_BLAME_KNOWN, 12}, {0, 1, CAIRN_BLAME_KNOWN, 16}, {0, 2, CAIRN_BLAME_UNSAMPLED, 0});
    done(log, &w);
}

/* What was stamped before the Debug Store was on is of no epoch; a hole before that takes nothing from it. */
static void stamps_before_the_start(void **state)
{
    (void)state;
    for (uint32_t missing = 0; missing < 2; missing++) {
        struct bytes b = {0};
        if (!missing)
            full(&b, 28, 24, AT(1));
        epoch_event(&b, CAIRN_DS_START, 0, 0);
        full(&b, 12, 16, AT(2));
        drain(&b, 0, 3);
        struct writer w = begin(NO_SCOPE);
        w.number += missing;
        writer_buffer(&w, 0, missing, &b);
        struct cairn_log *log = read_log(&w);
        ANSWERS(log, false, {0, 0, CAIRN_BLAME_KNOWN, 12}, {0, 1, CAIRN_BLAME_KNOWN, 12},
                {0, 2, CAIRN_BLAME_KNOWN, 16});
        done(log, &w);
    }
}

/* No batch was open at the drain: what came after the last stamp is of the thread that ran through it. */
static void drained_between_batches(void **state)
{
    (void)state;
    struct bytes b = {0};
    drain(&b, 0, 3);
    drain(&b, 1, 1);
    BATCH(&b, AT(1), 20, 20);
    drain(&b, 2, 1);
    struct writer w = begin(SAMPLED);
    writer_buffer(&w, 0, 0, &b);
    struct cairn_log *log = read_log(&w);
    ANSWERS(log, true, {0, 2, CAIRN_BLAME_KNOWN, 20}, {1, 0, CAIRN_BLAME_KNOWN, 20}, {2, 0, CAIRN_BLAME_BATCH, 0});
    done(log, &w);
}

/* A lost buffer: the interval it touches is ambiguous, those before and behind are not; an epoch that ended in it is
 * not taken for the next. */
static void around_a_hole(void **state)
{
    (void)state;
    struct bytes a = {0}, c = {0};
    full(&a, 12, 16, AT(2));
    drain(&a, 0, 2);
    full(&a, 16, 20, AT(1)); /* of epoch 1, whose drain is lost */
    full(&c, 24, 12, AT(4)); /* of epoch 2 */
    full(&c, 12, 16, AT(5));
    drain(&c, 2, 6);
    struct writer w = begin(NO_SCOPE);
    writer_buffer(&w, 0, 0, &a);
    w.number++;
    writer_buffer(&w, 0, 2, &c);
    struct cairn_log *log = read_log(&w);
    ANSWERS(log, false, {0, 1, CAIRN_BLAME_KNOWN, 12}, {1, 0, CAIRN_BLAME_KNOWN, 16}, {1, 1, CAIRN_BLAME_NO_STAMP, 0},
            {2, 0, CAIRN_BLAME_LOSS, 0}, {2, 3, CAIRN_BLAME_LOSS, 0}, {2, 4, CAIRN_BLAME_KNOWN, 12},
            {2, 5, CAIRN_BLAME_KNOWN, 16});
    done(log, &w);
}

/* Between two holes nothing tells the epoch of a stamp. Nor does anybody know who ran across a hole and two drains. */
static void between_holes(void **state)
{
    (void)state;
    struct bytes a = {0}, b = {0}, c = {0};
    full(&a, 12, 16, AT(1));
    drain(&a, 0, 1);
    full(&b, 24, 12, AT(3));
    drain(&c, 2, 4);
    drain(&c, 3, 1);
    full(&c, 20, 12, AT(1));
    struct writer w = begin(NO_SCOPE);
    writer_buffer(&w, 0, 0, &a);
    w.number++;
    writer_buffer(&w, 0, 2, &b);
    w.number++;
    writer_buffer(&w, 0, 4, &c);
    struct cairn_log *log = read_log(&w);
    ANSWERS(log, false, {0, 0, CAIRN_BLAME_KNOWN, 12}, {1, 0, CAIRN_BLAME_NO_STAMP, 0}, {2, 0, CAIRN_BLAME_LOSS, 0},
            {2, 3, CAIRN_BLAME_LOSS, 0}, {3, 0, CAIRN_BLAME_KNOWN, 20}, {4, 0, CAIRN_BLAME_KNOWN, 20});
    done(log, &w);
}

/* Who ran as a batch was closed is in the next one: behind a hole nobody says so. Nor is what a hole has swallowed, or
 * left without an epoch, mistaken for what comes behind it. */
static void batches_around_holes(void **state)
{
    (void)state;
    struct bytes a = {0}, b = {0}, c = {0};
    BATCH(&a, AT(1), 12);
    BATCH(&a, AT(2), 12);
    BATCH(&b, AT(3), 12);
    BATCH(&b, AT(4), 12);
    BATCH(&c, AT(1), 20); /* of epoch 3 */
    BATCH(&c, AT(2), 20);
    BATCH(&c, AT(3), 16);
    drain(&c, 3, 4);
    BATCH(&c, AT(1), 16);
    struct writer w = begin(NO_SCOPE);
    writer_buffer(&w, 0, 0, &a);
    w.number++;
    writer_buffer(&w, 0, 2, &b);
    w.number++;
    writer_buffer(&w, 0, 4, &c);
    struct cairn_log *log = read_log(&w);
    ANSWERS(log, true, {0, 0, CAIRN_BLAME_KNOWN, 12}, {0, 1, CAIRN_BLAME_LOSS, 0}, {0, 2, CAIRN_BLAME_NO_STAMP, 0},
            {3, 0, CAIRN_BLAME_LOSS, 0}, {3, 1, CAIRN_BLAME_BATCH, 0}, {3, 2, CAIRN_BLAME_KNOWN, 16},
            {3, 3, CAIRN_BLAME_KNOWN, 16});
    done(log, &w);
}

/* A switch without a stamp may have come anywhere in the interval around it. */
static void switch_without_a_stamp(void **state)
{
    (void)state;
    struct bytes b = {0};
    full(&b, 12, 16, AT(1));
    bytes_full(&b, 1, 16, 20);
    full(&b, 20, 12, AT(3));
    drain(&b, 0, 4);
    struct writer w = begin(NO_SCOPE);
    writer_buffer(&w, 0, 0, &b);
    struct cairn_log *log = read_log(&w);
    ANSWERS(log, false, {0, 0, CAIRN_BLAME_KNOWN, 12}, {0, 1, CAIRN_BLAME_LOSS, 0}, {0, 3, CAIRN_BLAME_KNOWN, 12});
    done(log, &w);
}

static void truth_by_record(void **state)
{
    (void)state;
    struct bytes b = {0}, payload = {0};
    drain(&b, 0, 1);
    const struct cairn_truth_pebs records[] = {
        {.kind = CAIRN_TRUTH_PEBS, .stored = 1, .tid = 16, .address = AT(1), .epoch = 0},
        {.kind = CAIRN_TRUTH_PEBS, .stored = 1, .tid = 12, .address = AT(0), .epoch = 0},
        {.kind = CAIRN_TRUTH_PEBS, .stored = 0, .tid = 20, .address = AT(2), .epoch = 0},
        {.kind = CAIRN_TRUTH_PEBS, .stored = 1, .tid = 24, .address = AT(0), .epoch = 1},
    };
    struct writer w = begin(NO_SCOPE);
    writer_buffer(&w, 0, 0, &b);
    bytes_u16(&payload, 0);
    bytes_u16(&payload, 4);
    bytes_u32(&payload, 0);
    bytes_add(&payload, records, sizeof(records));
    writer_frame(&w, 'U', payload.data, payload.size);
    struct cairn_log *log = read_log(&w);
    struct cairn_culprits culprits;
    uint32_t tid = 0;
    cairn_culprits_read(&culprits, log, 0);
    assert_true(cairn_culprits_find(&culprits, 0, AT(0), &tid) && tid == 12);
    assert_true(cairn_culprits_find(&culprits, 0, AT(1), &tid) && tid == 16);
    assert_true(cairn_culprits_find(&culprits, 1, AT(0), &tid) && tid == 24);
    assert_false(cairn_culprits_find(&culprits, 0, AT(2), &tid)); /* dropped: not in any buffer */
    assert_false(cairn_culprits_find(&culprits, 1, AT(1), &tid));
    cairn_culprits_free(&culprits);
    assert_false(cairn_culprits_find(&culprits, 0, AT(0), &tid));
    done(log, &w);
}

/* Two parts of the truth, of one kind each, and a gap between them: what has none of the kinds asked for is passed
 * over, not what is missing there. */
static void truth_by_kind(void **state)
{
    (void)state;
    struct bytes b = {0};
    drain(&b, 0, 1);
    struct writer w = begin(NO_SCOPE);
    writer_buffer(&w, 0, 0, &b);
    const uint8_t kinds[] = {CAIRN_TRUTH_SWITCH, CAIRN_TRUTH_PEBS};
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t record[CAIRN_TRUTH_BYTES] = {kinds[i]};
        struct bytes payload = {0};
        bytes_u16(&payload, 0);
        bytes_u16(&payload, 1);
        bytes_u32(&payload, 2 * i); /* ordinal 1 is missing */
        bytes_add(&payload, record, sizeof(record));
        writer_frame(&w, 'U', payload.data, payload.size);
    }
    struct cairn_log *log = read_log(&w);
    struct cairn_truth *truth = malloc(sizeof(*truth));
    for (unsigned i = 0; i < 2; i++) {
        cairn_truth_init(truth, log, 0);
        const uint8_t *record = cairn_truth_next(truth, CAIRN_TRUTH_OF(kinds[i]));
        assert_true(record && record[0] == kinds[i] && truth->gap == (i == 1));
        assert_null(cairn_truth_next(truth, CAIRN_TRUTH_OF(kinds[i])));
    }
    cairn_truth_init(truth, log, 0);
    assert_non_null(cairn_truth_next(truth, CAIRN_TRUTH_ANY));
    assert_null(cairn_truth_follows(truth, CAIRN_TRUTH_PEBS)); /* not right behind */
    assert_non_null(cairn_truth_next(truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_PEBS)));
    assert_true(truth->gap);
    /* Where none is of the kind, its frames are not even read. */
    memset((char *)w.data + log->cpu[0].truth.items[0].at, '?', 40);
    cairn_truth_init(truth, log, 0);
    assert_null(cairn_truth_next(truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_BRANCH)));
    assert_int_equal(log->input.error, 0);
    free(truth);
    done(log, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_by_kind),           cmocka_unit_test(switches_turned_off),
        cmocka_unit_test(stamped_switches),        cmocka_unit_test(stamped_batches),
        cmocka_unit_test(idle_between_batches),    cmocka_unit_test(stamps_before_the_start),
        cmocka_unit_test(drained_between_batches), cmocka_unit_test(around_a_hole),
        cmocka_unit_test(between_holes),           cmocka_unit_test(switch_without_a_stamp),
        cmocka_unit_test(batches_around_holes),    cmocka_unit_test(truth_by_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
