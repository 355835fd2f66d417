/* SPDX-License-Identifier: MIT */
/* Drains of architectural PEBS: records that an event cannot hold come in parts, of which any may be missing; and
 * stamps that are offsets. */
#include <stdlib.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tests/cairn/writer.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/log/drains.h"
#include "tools/cairn/model/timeline.h"
#include "tools/pebs/pebs.h"

#define BASE UINT64_C(0x12340000) /* of 1 MiB */
#define ROOM 1400u                /* bytes of records in an event, as the kernel has it */

static uint64_t seed = 0x9E3779B97F4A7C15;

static unsigned below(unsigned n) /* xorshift64* */
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (unsigned)(seed * UINT64_C(0x2545F4914F6CDD1D) >> 33) % n;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void epoch_event(struct bytes *b, uint8_t reason, uint32_t epoch, uint32_t bytes, uint32_t events)
{
    struct bytes payload = {0};
    const struct ds_arch_registers r = {.base = BASE | 8, .index = ia32_pebs_index(bytes, 0x1000) | IA32_PEBS_INDEX_EN};
    bytes_u16(&payload, CAIRN_DS_EPOCH);
    bytes_u16(&payload, (uint16_t)(reason | DS_FORMAT_ARCH << 8));
    bytes_u32(&payload, epoch);
    bytes_u64(&payload, 0);
    bytes_u64(&payload, 0);
    bytes_u32(&payload, bytes);
    bytes_u32(&payload, events);
    bytes_add(&payload, &r, sizeof(r));
    bytes_event(b, 0xCA01, 2, 1, NULL, payload.data, payload.size);
}

static void records_event(struct bytes *b, uint32_t epoch, uint64_t address, uint32_t part, bool continues,
                          const void *bytes, uint32_t size)
{
    struct bytes payload = {0};
    bytes_u16(&payload, CAIRN_DS_RECORDS);
    bytes_u16(&payload, (uint16_t)(DS_FORMAT_ARCH | continues << 8));
    bytes_u32(&payload, epoch);
    bytes_u64(&payload, address);
    bytes_u32(&payload, size);
    bytes_u32(&payload, part);
    bytes_add(&payload, bytes, size);
    bytes_event(b, 0xCA01, 2, 1, NULL, payload.data, payload.size);
}

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

static struct writer begin(void)
{
    struct writer w = {0};
    writer_text(&w, 'H', "dump.frames=9999\n");
    writer_text(&w, 'L', "session.1.cpus=1\nsession.1.pebs=1\n");
    return w;
}

/* ---- any parts missing ------------------------------------------------------------------------------------------- */

#define RECORDS_MOST 12u
#define BYTES_MOST   (RECORDS_MOST * 4200u)

static struct made { /* of one epoch */
    uint8_t bytes[BYTES_MOST];
    uint32_t size, records, at[RECORDS_MOST + 1]; /* where each begins */
    bool here[RECORDS_MOST], torn[RECORDS_MOST];
    bool drain;
} made[4];

/* Whole, or in fragments with a header of 16 bytes in front of each 64: nothing but sizes counts here. */
static uint32_t put_record(uint8_t *to, bool fragments)
{
    const uint32_t size = 64 + 16 * below(below(2) ? 8 : 252);
    uint32_t at = 0;
    for (uint32_t i = 0; i < size; i++)
        to[i] = (uint8_t)below(256);
    while (at < size) {
        const uint32_t left = size - at, own = fragments && left > 80 ? 16 * (1 + below(4)) : left;
        const uint64_t header =
            own | (at ? IA32_PMC_CFG_C_AUX : DS_ARCH_HEADER_BASIC) | (own < left ? DS_ARCH_HEADER_CONT : 0);
        memcpy(to + at, &header, 8);
        if (own >= 64) {
            const uint64_t ip = 0x1000 + size;
            memcpy(to + at + 16, &ip, 8);
        }
        at += own;
    }
    return size;
}

static bool lost(unsigned percent)
{
    return below(100) < percent;
}

/* The events of an epoch, each in a buffer of its own, so that any can be missing. */
static void write_epoch(struct writer *w, uint32_t *buffer, uint32_t epoch, unsigned percent, bool fragments)
{
    struct made *m = &made[epoch];
    uint32_t events = 0;
    memset(m, 0, sizeof(*m));
    m->records = below(RECORDS_MOST + 1);
    for (uint32_t i = 0; i < m->records; i++) {
        m->at[i] = m->size;
        const uint32_t size = put_record(m->bytes + m->size, fragments);
        m->size += size;
        events += size > ROOM ? (size + ROOM - 1) / ROOM : 1;
        m->here[i] = true;
    }
    m->at[m->records] = m->size;
    struct bytes b = {0};
    m->drain = !lost(percent);
    epoch_event(&b, CAIRN_DS_THRESHOLD, epoch, m->size, events);
    if (m->drain)
        writer_buffer(w, 0, *buffer, &b);
    w->number += !m->drain;
    ++*buffer;
    for (uint32_t i = 0, part = 0; i < m->records; i++) {
        const uint32_t size = m->at[i + 1] - m->at[i];
        bool any = false;
        for (uint32_t in = 0; in < size; in += ROOM, ++*buffer) {
            const uint32_t n = size - in < ROOM ? size - in : ROOM;
            b = (struct bytes){0};
            records_event(&b, epoch, BASE + m->at[i] + in, part++, in != 0, m->bytes + m->at[i] + in, n);
            const bool gone = lost(percent);
            if (!gone)
                writer_buffer(w, 0, *buffer, &b);
            w->number += gone;
            m->here[i] &= !gone;
            any |= !gone;
        }
        m->torn[i] = any && !m->here[i];
    }
}

static void compare_epoch(const struct cairn_epoch *e, const struct made *m, bool exact)
{
    uint32_t records = 0, bytes = 0, torn = 0;
    for (uint32_t i = 0; i < m->records; i++) {
        records += m->here[i];
        bytes += m->here[i] ? m->at[i + 1] - m->at[i] : 0;
        torn += m->torn[i];
    }
    assert_int_equal(e->records, records);
    assert_int_equal(e->bytes_seen, bytes);
    assert_int_equal(cairn_epoch_missing(e), m->size - bytes);
    assert_true(exact ? e->torn == torn : !e->torn == !torn && e->torn <= torn);
}

/* Every record of which all is there is read, byte by byte; of no other is anything; and it is known how many lost a
 * part, and how many bytes are missing. `exact`: the headers say how long each record is. */
static void compare(const struct cairn_log *log, bool exact)
{
    struct cairn_group g;
    uint32_t epoch = 0, record = 0, all = 0, seen = 0;
    for (uint32_t n = 0; n < 4; n++)
        for (uint32_t i = 0; i < made[n].records; i++)
            all += made[n].here[i];
    cairn_group_init(&g, log, 0);
    while (cairn_group_next(&g)) {
        for (size_t i = 0; i < g.records.count; i++, record++, seen++) {
            const struct cairn_record *r = &g.records.items[i];
            while (epoch < 4 && (record >= made[epoch].records || !made[epoch].here[record])) {
                if (record < made[epoch].records)
                    record++;
                else {
                    epoch++;
                    record = 0;
                }
            }
            assert_true(epoch < 4);
            const struct made *m = &made[epoch];
            assert_int_equal(r->epoch, epoch);
            assert_int_equal(r->address, BASE + m->at[record]);
            assert_int_equal(r->size, m->at[record + 1] - m->at[record]);
            assert_memory_equal(r->at, m->bytes + m->at[record], r->size);
            assert_true(r->index == m->at[record] || (r->index == CAIRN_NO_INDEX && !log->cpu[0].pebs.base));
        }
        for (size_t i = 0; i < g.epochs.count; i++)
            compare_epoch(&g.epochs.items[i], &made[g.epochs.items[i].number], exact);
    }
    cairn_group_free(&g);
    assert_int_equal(seen, all);
    assert_int_equal(log->cpu[0].pebs.records, all);
}

static void parts_missing(void **state)
{
    (void)state;
    static const unsigned percent[] = {0, 5, 20, 50};
    for (unsigned n = 0; n < 1200; n++) {
        struct writer w = begin();
        uint32_t buffer = 0;
        for (uint32_t epoch = 0; epoch < 4; epoch++)
            write_epoch(&w, &buffer, epoch, percent[n % 4], n & 4);
        struct cairn_log *log = read_log(&w);
        compare(log, !(n & 4));
        done(log, &w);
    }
}

/* ---- parts that are wrong ---------------------------------------------------------------------------------------- */

/* Two parts of a record, or what pretends to be; behind them a record that is whole. */
static struct cairn_log *read_two(struct writer *w, const uint8_t *record, uint32_t first, uint32_t second,
                                  uint64_t address)
{
    struct bytes b = {0};
    const uint64_t small[8] = {DS_ARCH_HEADER_BASIC | 64};
    *w = begin();
    epoch_event(&b, CAIRN_DS_THRESHOLD, 0, first + second + 64, 3);
    writer_buffer(w, 0, 0, &b);
    b = (struct bytes){0};
    records_event(&b, 0, BASE, 0, false, record, first);
    writer_buffer(w, 0, 1, &b);
    b = (struct bytes){0};
    records_event(&b, 0, address, 1, true, record + first, second);
    writer_buffer(w, 0, 2, &b);
    b = (struct bytes){0};
    records_event(&b, 0, BASE + first + second, 2, false, small, 64);
    writer_buffer(w, 0, 3, &b);
    return read_log(w);
}

/* Costs that record alone; what is no event at all is told of. */
static void wrong_parts(void **state)
{
    (void)state;
    static uint8_t record[4096];
    static const struct {
        uint32_t size, first, second; /* as the header says; of the parts */
        uint64_t address;
        uint32_t records, torn, bad;
    } cases[] = {
        {2000, 1392, 608, BASE + 1392, 2, 0, 0},
        {2000, 1392, 608, BASE + 1392 + 16, 1, 1, 0}, /* it goes on elsewhere */
        {2000, 1392, 592, BASE + 1392, 1, 1, 0},      /* it never ends */
        {2000, 1392, 624, BASE + 1392, 1, 1, 1},      /* it ends before its part does */
        {1392, 1392, 608, BASE + 1392, 2, 1, 0},      /* it had ended */
        {0xFFF0, 1392, 608, BASE + 1392, 1, 1, 0},
        {8, 1392, 608, BASE + 1392, 1, 1, 1}, /* no size */
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint64_t header = DS_ARCH_HEADER_BASIC | cases[i].size;
        struct writer w;
        struct cairn_group g;
        memcpy(record, &header, 8);
        struct cairn_log *log = read_two(&w, record, cases[i].first, cases[i].second, cases[i].address);
        assert_int_equal(log->cpu[0].pebs.records, cases[i].records);
        assert_int_equal(log->cpu[0].bad_pieces, cases[i].bad);
        cairn_group_init(&g, log, 0);
        const struct cairn_epoch *e = cairn_group_drain(&g);
        assert_non_null(e);
        assert_int_equal(e->records, cases[i].records);
        assert_int_equal(e->torn, cases[i].torn);
        cairn_group_free(&g);
        done(log, &w);
    }
}

/* A chain of fragments that never ends takes no more memory than a record may have. */
static void endless(void **state)
{
    (void)state;
    static uint8_t record[2 * CAIRN_PEBS_SIZE_MOST];
    const uint64_t header = 16 | DS_ARCH_HEADER_CONT;
    struct writer w = begin();
    uint32_t buffer = 0;
    for (uint32_t at = 0; at < sizeof(record); at += 16)
        memcpy(record + at, &header, 8);
    struct bytes b = {0};
    epoch_event(&b, CAIRN_DS_THRESHOLD, 0, sizeof(record), 0);
    writer_buffer(&w, 0, buffer++, &b);
    for (uint32_t at = 0; at < sizeof(record); at += ROOM) {
        const uint32_t n = sizeof(record) - at < ROOM ? (uint32_t)sizeof(record) - at : ROOM;
        b = (struct bytes){0};
        records_event(&b, 0, BASE + at, at / ROOM, at != 0, record + at, n);
        writer_buffer(&w, 0, buffer++, &b);
    }
    struct cairn_log *log = read_log(&w);
    struct cairn_group g;
    assert_int_equal(log->cpu[0].pebs.records, 0);
    cairn_group_init(&g, log, 0);
    const struct cairn_epoch *e = cairn_group_drain(&g);
    assert_non_null(e);
    assert_int_equal(e->records, 0);
    assert_true(e->torn);
    assert_true(g.records.join.room <= 2 * CAIRN_PEBS_SIZE_MOST);
    cairn_group_free(&g);
    done(log, &w);
}

/* ---- stamps ------------------------------------------------------------------------------------------------------ */

static void switch_event(struct bytes *b, int64_t time, uint32_t old_tid, uint32_t new_tid, uint64_t stamp)
{
    const uint32_t payload[6] = {new_tid, old_tid, 0x00000908, 0x0305001D, 7, 2};
    bytes_event(b, 0x524, 2, time, &stamp, payload, sizeof(payload));
}

static void session_event(struct bytes *b, enum cairn_session_what what, uint64_t stamp, bool in_epoch, uint32_t epoch)
{
    const struct cairn_session_event e = {.what = (uint8_t)what,
                                          .session = 1,
                                          .clock = 1,
                                          .in_epoch = in_epoch,
                                          .pebs_index = stamp,
                                          .epoch = epoch,
                                          .stamps = 3,
                                          .masks = {[1] = 4}};
    bytes_event(b, HOOK_CAIRN_SESSION, HOOK_VERSION_CAIRN_SESSION, 1, NULL, &e, sizeof(e));
}

static void five_records(struct bytes *b, uint32_t epoch)
{
    uint64_t records[5][8] = {{0}};
    for (unsigned i = 0; i < 5; i++)
        records[i][0] = DS_ARCH_HEADER_BASIC | 64;
    epoch_event(b, CAIRN_DS_THRESHOLD, epoch, sizeof(records), 1);
    records_event(b, epoch, BASE, 0, false, records, sizeof(records));
}

/* Who each of five records is of, by index; 0: nobody is known. */
static void assert_threads(const struct bytes *b, bool drain_missing, const uint32_t tids[10])
{
    struct writer w = begin();
    struct cairn_lane lane;
    const struct cairn_item *item;
    unsigned n = 0;
    writer_buffer(&w, 0, 0, &b[0]);
    if (!drain_missing)
        writer_buffer(&w, 0, 1, &b[1]);
    w.number += drain_missing;
    writer_buffer(&w, 0, 2, &b[2]);
    struct cairn_log *log = read_log(&w);
    cairn_lane_init(&lane, log, 0, false, CAIRN_BY_INDEX);
    while ((item = cairn_lane_next(&lane)) != NULL)
        if (item->kind == CAIRN_ITEM_RECORD) {
            const uint32_t tid = item->blame == CAIRN_BLAME_KNOWN ? item->tid : 0;
            assert_int_equal(tid, tids[n++]);
        }
    assert_int_equal(n, drain_missing ? 5 : 10);
    cairn_lane_free(&lane);
    done(log, &w);
}

/* Offsets in switches, addresses in records; an offset of 0 is one as well, at the beginning of an epoch. */
static void offsets(void **state)
{
    (void)state;
    struct bytes b[3] = {{.size = 0}};
    epoch_event(&b[0], CAIRN_DS_START, 0, 0, 0);
    switch_event(&b[0], 1, 8, 12, 0); /* made none */
    switch_event(&b[0], 1, 12, 16, 128);
    switch_event(&b[0], 1, 16, 20, 192);
    five_records(&b[1], 0);
    switch_event(&b[2], 1, 20, 12, 0);
    switch_event(&b[2], 1, 12, 16, 256);
    five_records(&b[2], 1);
    assert_threads(b, false, (const uint32_t[10]){12, 12, 16, 20, 20, 12, 12, 12, 12, 16});
    assert_threads(b, true, (const uint32_t[10]){12, 12, 12, 12, 16}); /* the stamps on both sides tell */
}

/* A session that begins, or asks for switches again, at an offset of 0 of an epoch under way. */
static void session_at_the_beginning(void **state)
{
    (void)state;
    struct bytes b = {0};
    session_event(&b, CAIRN_SESSION_START, 0, true, 3);
    switch_event(&b, 1, 12, 16, 128);
    five_records(&b, 3);
    struct writer w = begin();
    writer_text(&w, 'L', "session.1.lives=1\n");
    writer_buffer(&w, 0, 0, &b);
    struct cairn_log *log = read_log(&w);
    struct cairn_lane lane;
    const struct cairn_item *item;
    unsigned n = 0;
    cairn_lane_init(&lane, log, 0, false, CAIRN_BY_INDEX);
    while ((item = cairn_lane_next(&lane)) != NULL)
        if (item->kind == CAIRN_ITEM_RECORD) {
            assert_int_equal(item->blame, CAIRN_BLAME_KNOWN);
            assert_int_equal(item->tid, n < 2 ? 12 : 16);
            n++;
        }
    assert_int_equal(n, 5);
    cairn_lane_free(&lane);
    done(log, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_missing),
        cmocka_unit_test(wrong_parts),
        cmocka_unit_test(endless),
        cmocka_unit_test(offsets),
        cmocka_unit_test(session_at_the_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
