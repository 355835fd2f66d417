/* SPDX-License-Identifier: MIT */
/* Packed frames: what trace/frames.c packs is what the reader unpacks, bit for bit, whatever it is; a lost line costs
 * what is behind it in its unit, and nothing else. */
#include <stdlib.h>
#include <string.h>

#include "tests/cairn/writer.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "tools/cairn/frame/deframe.h"
#include "trace/frames.h"
#include "trace/packed/pack.h"
#include "trace/truth/truth_frames.h"

#define BUFFER 65536u

static struct trace_pack pack;
static uint64_t seed = 1;

static void write_paper(void *context, const char *data, size_t size)
{
    writer_raw(context, data, size);
}

static const char names[] = "kernel.version=unpack";

static void begin(struct trace_dump *d, const struct trace_sink *sink)
{
    trace_dump_init(d, sink);
    trace_dump_pack(d, &pack);
    trace_dump_line(d, CAIRN_STREAM_MACHINE, names, sizeof(names) - 1);
}

/* Puts what the frames of a stream hold at its place in `to`; `there` becomes 1 there. Returns the number of bytes. */
static size_t gather(const struct cairn_frames *f, uint8_t stream, uint8_t *to, uint8_t *there)
{
    static struct cairn_links links;
    static uint8_t payload[CAIRN_PAYLOAD_MOST];
    struct cairn_frame frame;
    size_t bytes = 0;
    cairn_links_init(&links, f);
    for (size_t c = 0; c < f->chains.count; c++) {
        const struct cairn_chain *chain = &f->chains.items[c];
        if (chain->stream != stream)
            continue;
        assert_false(chain->bad);
        const bool truth = stream == CAIRN_STREAM_TRUTH;
        const size_t head = truth ? sizeof(struct cairn_truth_frame) : sizeof(struct cairn_trace_frame);
        size_t at = truth ? chain->offset * CAIRN_TRUTH_BYTES : chain->offset;
        for (cairn_links_begin(&links, chain); cairn_links_next(&links, &frame, payload);) {
            const size_t size = frame.size - head;
            assert_true(at + size <= BUFFER);
            memcpy(to + at, payload + head, size);
            memset(there + at, 1, size);
            at += size;
            bytes += size;
        }
    }
    return bytes;
}

/* What is in the log of stream `stream` must be what lies at `from`; all of it where no frame is missing. */
static size_t compare(struct writer *w, uint8_t stream, const uint8_t *from, size_t size)
{
    static uint8_t to[BUFFER], there[BUFFER];
    struct cairn_input input = WRITER_INPUT(w);
    struct cairn_frames f;
    cairn_deframe(&f, &input, 0, 0, NULL);
    memset(there, 0, sizeof(there));
    const size_t bytes = gather(&f, stream, to, there);
    for (size_t i = 0; i < size; i++)
        assert_true(!there[i] || to[i] == from[i]);
    if (!f.missing.count)
        assert_int_equal(bytes, size);
    cairn_frames_free(&f);
    return bytes;
}

/* Every line of the log removed in turn: what is left is a prefix of its unit. */
static void remove_lines(const struct writer *whole, uint8_t stream, const uint8_t *from, size_t size)
{
    size_t last = SIZE_MAX;
    unsigned gone = 0;
    for (size_t at = 0, end; at < whole->size; at = end) {
        const char *newline = memchr(whole->data + at, '\n', whole->size - at);
        end = (size_t)(newline - whole->data) + 1;
        if ((whole->data[at + 1] & ~CAIRN_PACKED) != stream)
            continue;
        struct writer w = {0};
        writer_raw(&w, whole->data, at);
        writer_raw(&w, whole->data + end, whole->size - end);
        const size_t left = compare(&w, stream, from, size);
        assert_true(left < size);
        assert_true(gone++ == 0 ? left == 0 : left >= last); /* one unit: the later, the more is left */
        last = left;
        writer_free(&w);
    }
}

/* The buffer's dump, which holds it whole. Returns the bytes of its frames. */
static uint64_t write_buffer(struct writer *w, struct wmi_buffer_header *buffer)
{
    const struct trace_sink sink = {write_paper, w};
    static struct trace_dump d;
    begin(&d, &sink);
    for (uint32_t at = 0; at < buffer->offset;)
        at = trace_dump_part(&d, buffer, 7, 1, at);
    trace_dump_line(&d, CAIRN_STREAM_LAST, names, sizeof(names) - 1);
    trace_dump_flush(&d);
    assert_int_equal(compare(w, CAIRN_STREAM_TRACE, (const uint8_t *)buffer, buffer->offset), buffer->offset);
    assert_true(d.raw_bytes <= buffer->offset + buffer->offset / 100 + 4096 + 24 * d.frames);
    return d.raw_bytes;
}

static void try_buffer(struct wmi_buffer_header *buffer, size_t most)
{
    struct writer w = {0};
    assert_true(write_buffer(&w, buffer) <= most);
    remove_lines(&w, CAIRN_STREAM_TRACE, (const uint8_t *)buffer, buffer->offset);
    writer_free(&w);
}

static void fill_random(uint8_t *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)test_random(&seed, 256);
}

/* An event at `to` of `size` bytes with padding: kind 0 noise, 1 words that repeat, 2 a batch. */
static void make_event(uint8_t *to, uint32_t size, unsigned kind, int64_t time)
{
    struct perfinfo_trace_header h = {.marker = PERFINFO_MARKER64 | 2, .size = (uint16_t)size, .time_stamp = time};
    h.hook_id = (uint16_t)(kind == 2 ? HOOK_CONTEXTSWAP_BATCH : kind == 1 ? HOOK_CAIRN_DS : 0x0F00 + size % 7);
    fill_random(to, size);
    if (kind == 1)
        for (uint32_t i = 16; i + 8 <= size; i += 8)
            memcpy(to + i, &(uint64_t){i == 16 ? 2u | 4u << 16 : 0xB000000000004u + i % 56}, 8);
    if (kind == 2 && size > 16 + 0x58) {
        for (unsigned i = 0; i < 16; i++)
            memcpy(to + 24 + 4 * i, &(uint32_t){4 * i + 4}, 4);
        for (uint32_t at = 16 + 0x58; at < size;) {
            uint32_t left = size - at, form = test_random(&seed, 4);
            while (ccswap_record_bytes((uint8_t)form) > left)
                form--;
            to[at] = (uint8_t)((to[at] & ~3u) | form);
            at += ccswap_record_bytes((uint8_t)form);
        }
    }
    memcpy(to, &h, sizeof(h));
}

static void test_buffers(void **state)
{
    (void)state;
    uint8_t *buffer = malloc(BUFFER);
    for (unsigned turn = 0; turn < 12; turn++) {
        struct wmi_buffer_header h = {.buffer_size = BUFFER, .sequence_number = 3 + turn, .logger_id = 1};
        const uint32_t room = turn == 11 ? BUFFER : 0x48 + 8 * test_random(&seed, turn < 6 ? 300 : 7000);
        uint32_t at = sizeof(h);
        int64_t time = 1000;
        while (room - at >= 16) {
            uint32_t size = 16 + 8 * test_random(&seed, 170);
            size = size < room - at ? size : room - at;
            time += test_random(&seed, 100000);
            make_event(buffer + at, size, turn % 4 == 3 ? test_random(&seed, 3) : turn % 4, time);
            at += size;
        }
        h.offset = h.saved_offset = h.current_offset = at;
        memcpy(buffer, &h, sizeof(h));
        try_buffer((void *)buffer, SIZE_MAX);
    }
    free(buffer);
}

/* What a panic may find where something has written over the buffer: any bytes. */
static void test_noise(void **state)
{
    (void)state;
    uint8_t *buffer = malloc(BUFFER);
    for (uint32_t size = 0x48; size <= 0x6000; size += 8 + size / 2) {
        fill_random(buffer, BUFFER);
        ((struct wmi_buffer_header *)(void *)buffer)->offset = size;
        ((struct wmi_buffer_header *)(void *)buffer)->processor_index = 1; /* or the reader refuses it */
        struct writer w = {0};
        write_buffer(&w, (void *)buffer);
        writer_free(&w);
    }
    free(buffer);
}

/* The byte with which it stays open whether a carry comes: low + range is beyond the next byte that leaves, or begins
 * to be. */
static uint8_t open_byte(const struct packed_model *m)
{
    const uint64_t end = m->low + m->range > UINT32_MAX ? UINT64_C(1) << 32 : ((m->low >> 24) + 1) << 24;
    return (uint8_t)((end - 1 - m->low) / (m->range >> 8));
}

/* A stored item, whose bytes from `from` to before `to` become such that they wait for a carry. */
static void add_stored(struct packed_model *m, uint8_t *item, uint32_t size, uint32_t from, uint32_t to)
{
    packed_bit(m, &m->stored, 1, false);
    if (size != CAIRN_TRUTH_BYTES)
        packed_plain(m, size, 11, false);
    for (uint32_t i = 0; i < size; i++) {
        if (i >= from && i < to)
            item[i] = open_byte(m);
        packed_plain(m, item[i], 8, false);
        assert_true(i + 1 != to || m->pending + 2 >= to - from);
    }
}

/* The buffer, of stored items; bytes of the second one wait for a carry. Returns how many do at its end. */
static uint32_t fill_open(uint8_t *buffer, const struct wmi_buffer_header *h, uint32_t from, uint32_t to)
{
    static struct packed_model m;
    static uint8_t out[4096];
    fill_random(buffer, h->offset);
    memcpy(buffer, h, sizeof(*h));
    for (uint32_t at = 0x48; at < h->offset; at += CAIRN_ITEM_MAX)
        memset(buffer + at + 4, 0xFF, 2); /* no event is as large: it is stored */
    packed_reset(&m);
    m.out = out;
    packed_buffer_header(&m, buffer, false);
    add_stored(&m, buffer + 0x48, CAIRN_ITEM_MAX, 0, 0);
    add_stored(&m, buffer + 0x48 + CAIRN_ITEM_MAX, CAIRN_ITEM_MAX, from, to);
    return m.pending;
}

/* Bytes of a unit, which may end before them. */
static uint32_t unit_bytes(const uint8_t *unit, uint32_t size, bool truth)
{
    uint8_t line[CAIRN_FRAME_PAYLOAD_MAX];
    uint32_t all = 0, complete;
    for (trace_pack_begin(&pack, unit, size, truth, !truth); !trace_pack_done(&pack); all += complete)
        trace_pack_line(&pack, line, sizeof(line), &complete);
    return all;
}

/* Bytes wait for a carry, more than chance has wait: it comes, or it does not, or so many wait at the item's end that
 * the unit ends there. */
static void test_carry(void **state)
{
    (void)state;
    const uint32_t end = CAIRN_ITEM_MAX, first = end - 1; /* the first of them does not wait */
    const struct {
        uint32_t from, to;
        uint8_t next; /* the byte behind them */
        bool ends;
    } cases[] = {
        {8, 108, 0, false},
        {8, 108, 255, false},
        {8, end - 32, 255, false},
        {first - TRACE_PACK_WAIT, end, 0, false},
        {first - TRACE_PACK_WAIT - 1, end, 0, true},
    };
    uint8_t *buffer = malloc(BUFFER);
    const struct wmi_buffer_header h = {.buffer_size = BUFFER, .offset = 0x48 + 20 * CAIRN_ITEM_MAX};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t waiting;
        do
            waiting = fill_open(buffer, &h, cases[i].from, cases[i].to);
        while (cases[i].to == end && waiting != first - cases[i].from);
        buffer[0x48 + CAIRN_ITEM_MAX + cases[i].to] = cases[i].next;
        struct writer w = {0};
        write_buffer(&w, (void *)buffer);
        writer_free(&w);
        assert_int_equal(unit_bytes(buffer, h.offset, false), cases[i].ends ? 0x48 + 2 * CAIRN_ITEM_MAX : h.offset);
    }
    free(buffer);
}

/* Much of the same is small: a buffer of equal events in one line. */
static void test_small(void **state)
{
    (void)state;
    uint8_t *buffer = calloc(1, BUFFER);
    struct wmi_buffer_header h = {.buffer_size = BUFFER, .offset = 0x48 + 640 * 0x60};
    memcpy(buffer, &h, sizeof(h));
    for (uint32_t i = 0; i < 640; i++) {
        const struct perfinfo_trace_header e = {
            .marker = PERFINFO_MARKER64, .size = 0x60, .hook_id = 0x0F43, .time_stamp = 1000 * i};
        memcpy(buffer + 0x48 + 0x60 * i, &e, sizeof(e));
    }
    try_buffer((void *)buffer, 4096);
    free(buffer);
}

/* The dump of records, which holds them all. */
static void write_truth(struct writer *w, const uint8_t *records, uint32_t count)
{
    const struct trace_sink sink = {write_paper, w};
    static struct trace_dump d;
    begin(&d, &sink);
    trace_dump_truth(&d, 3, 0, records, count);
    trace_dump_line(&d, CAIRN_STREAM_LAST, names, sizeof(names) - 1);
    trace_dump_flush(&d);
    const size_t size = count * CAIRN_TRUTH_BYTES;
    assert_int_equal(compare(w, CAIRN_STREAM_TRUTH, records, size), size);
    assert_true(d.raw_bytes <= size + count + 4096 + 24 * d.frames);
}

static void test_truth(void **state)
{
    (void)state;
    const uint32_t most = BUFFER / CAIRN_TRUTH_BYTES;
    uint8_t *records = malloc(BUFFER);
    for (unsigned turn = 0; turn < 8; turn++) {
        const uint32_t count = turn ? 1 + test_random(&seed, most) : most;
        fill_random(records, BUFFER);
        for (uint32_t i = 0; i < count; i++) {
            uint8_t *r = records + i * CAIRN_TRUTH_BYTES;
            if (turn % 2)
                memset(r + 2, (int)test_random(&seed, 2), CAIRN_TRUTH_BYTES - 2);
            r[0] = (uint8_t)test_random(&seed, turn % 4 == 3 ? 256 : 18);
        }
        struct writer w = {0};
        write_truth(&w, records, count);
        remove_lines(&w, CAIRN_STREAM_TRUTH, records, count * CAIRN_TRUTH_BYTES);
        writer_free(&w);
    }
    free(records);
}

/* Noise, until records are stored; from then on their bytes wait for a carry, until the unit ends. Another has the
 * rest. */
static void test_carry_in_truth(void **state)
{
    (void)state;
    static struct packed_model m;
    static uint8_t out[2 * BUFFER];
    const uint32_t count = BUFFER / CAIRN_TRUTH_BYTES;
    uint8_t *records = malloc(BUFFER);
    uint32_t size = 0;
    fill_random(records, BUFFER);
    packed_reset(&m);
    m.out = out;
    for (; m.pending <= TRACE_PACK_WAIT && size < count * CAIRN_TRUTH_BYTES; size += CAIRN_TRUTH_BYTES) {
        if (m.shifts > size + 1024) {
            add_stored(&m, records + size, CAIRN_TRUTH_BYTES, 0, CAIRN_TRUTH_BYTES);
        } else {
            packed_bit(&m, &m.stored, 0, false);
            packed_truth(&m, records + size, false);
        }
    }
    assert_true(size < count * CAIRN_TRUTH_BYTES);
    assert_int_equal(unit_bytes(records, count * CAIRN_TRUTH_BYTES, true), size);
    struct writer w = {0};
    write_truth(&w, records, count);
    writer_free(&w);
    free(records);
}

/* Any bytes behind an intact head, in lines whose checksums are right: refused or read, nothing else. */
static void test_any_bytes(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 300; turn++) {
        struct writer w = {0};
        uint8_t payload[600];
        for (uint32_t line = 0; line < 3; line++) {
            const bool truth = turn % 2;
            fill_random(payload, sizeof(payload));
            struct cairn_packed_trace t = {.frame = {.used = 9000, .offset = line * 480}};
            struct cairn_packed_truth u = {.frame = {.count = 10, .first = 10 * line}};
            t.packed = u.packed = line << CAIRN_PACKED_LINE | 480;
            if (turn % 3 == 0)
                memset(payload, 0, sizeof(payload));
            if (truth)
                memcpy(payload, &u, sizeof(u));
            else
                memcpy(payload, &t, sizeof(t));
            writer_frame(&w, truth ? 'u' : 't', payload, 32 + test_random(&seed, sizeof(payload) - 32));
        }
        struct cairn_input input = WRITER_INPUT(&w);
        struct cairn_frames f;
        cairn_deframe(&f, &input, 0, 0, NULL);
        assert_int_equal(f.count, 3);
        cairn_frames_free(&f);
        writer_free(&w);
    }
}

/* An event of `size` bytes with nothing in them; stored: as it is. */
static void add_item(struct packed_model *m, uint8_t *item, uint32_t size, bool stored)
{
    const struct perfinfo_trace_header h = {.size = (uint16_t)size, .hook_id = 0x0F00};
    packed_bit(m, &m->stored, stored, false);
    if (stored) {
        packed_plain(m, size, 11, false);
        packed_bytes(m, item, size, false);
    } else {
        memcpy(item, &h, sizeof(h));
        packed_event(m, item, size, false);
    }
}

/* Stored items end anywhere: an event may come where its head has no room, at the end of the largest frame. The same
 * frame with stored bytes there is a good one. */
static void test_event_without_room(void **state)
{
    (void)state;
    static struct packed_model m;
    static uint8_t item[CAIRN_ITEM_MAX];
    for (unsigned left = 1; left < sizeof(struct perfinfo_trace_header); left++)
        for (unsigned hostile = 0; hostile <= 1; hostile++) {
            const struct cairn_packed_trace head = {.frame = {.offset = 0x48, .used = 0x48 + CAIRN_UNIT_MAX},
                                                    .packed = CAIRN_UNIT_MAX};
            uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
            memcpy(payload, &head, sizeof(head));
            packed_reset(&m);
            m.out = payload + sizeof(head);
            for (uint32_t at = 0, size; at < CAIRN_UNIT_MAX - left; at += size) {
                size = CAIRN_UNIT_MAX - left - at;
                size = size < 32 ? size : size < CAIRN_ITEM_MAX ? (size - 16) & ~7u : CAIRN_ITEM_MAX - 32;
                add_item(&m, item, size, size < 32);
            }
            if (hostile)
                add_item(&m, item, sizeof(struct perfinfo_trace_header), false);
            else
                add_item(&m, item, left, true);
            for (unsigned i = 0; i < 5; i++)
                packed_put(&m);
            struct writer w = {0};
            writer_frame(&w, 't', payload, (size_t)(m.out - payload));
            struct cairn_input input = WRITER_INPUT(&w);
            struct cairn_frames f;
            cairn_deframe(&f, &input, 0, 0, NULL);
            assert_int_equal(f.chains.count, 1);
            assert_int_equal(f.chains.items[0].bad, hostile);
            cairn_frames_free(&f);
            writer_free(&w);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers),   cmocka_unit_test(test_noise),
        cmocka_unit_test(test_small),     cmocka_unit_test(test_truth),
        cmocka_unit_test(test_any_bytes), cmocka_unit_test(test_event_without_room),
        cmocka_unit_test(test_carry),     cmocka_unit_test(test_carry_in_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
