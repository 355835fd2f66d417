/* SPDX-License-Identifier: MIT */
/* CRC-32C, base64, and the frames of a dump. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/base64.h"
#include "kernel/lib/crc32c.h"
#include "kernel/line8/line8.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/trace_support.h"
#include "tools/cairn/base/crc_base64.h"
#include "trace/frames.h"
#include "trace/truth/truth_frames.h"
#include "trace/wire/truth.h"

/* ---- CRC-32C ---------------------------------------------------------------------------------------------------- */

static uint32_t bitwise(const uint8_t *p, size_t n)
{
    uint32_t crc = 0xFFFFFFFF;
    while (n--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
    }
    return ~crc;
}

static void test_crc(void **state)
{
    (void)state;
    uint8_t b[4096];
    /* RFC 3720, appendix B.4 */
    memset(b, 0, 32);
    assert_int_equal(kcrc32c(0, b, 32), 0x8A9136AA);
    memset(b, 0xFF, 32);
    assert_int_equal(kcrc32c(0, b, 32), 0x62A8AB43);
    for (unsigned i = 0; i < 32; i++)
        b[i] = (uint8_t)i;
    assert_int_equal(kcrc32c(0, b, 32), 0x46DD794E);
    assert_int_equal(kcrc32c(0, "123456789", 9), 0xE3069283);
    assert_int_equal(kcrc32c(0, "", 0), 0);

    uint64_t seed = 7;
    for (unsigned i = 0; i < sizeof(b); i++)
        b[i] = (uint8_t)test_random(&seed, 256);
    for (unsigned n = 0; n < 2000; n++) {
        unsigned start = test_random(&seed, 64), size = test_random(&seed, n < 1000 ? 40 : 3000);
        unsigned cut = test_random(&seed, size + 1);
        uint32_t whole = kcrc32c(0, b + start, size);
        assert_int_equal(whole, bitwise(b + start, size));
        assert_int_equal(kcrc32c(kcrc32c(0, b + start, cut), b + start + cut, size - cut), whole);
    }
    for (unsigned i = 0; i < 256; i++) { /* every entry of every table: each byte value at each place of eight */
        for (unsigned place = 0; place < 8; place++) {
            uint8_t eight[8] = {0};
            eight[place] = (uint8_t)i;
            assert_int_equal(kcrc32c(0, eight, 8), bitwise(eight, 8));
        }
    }
}

/* ---- base64 ----------------------------------------------------------------------------------------------------- */

static void test_base64_vectors(void **state)
{
    (void)state;
    static const char *const vectors[][2] = {
        /* RFC 4648, section 10 */
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    for (unsigned i = 0; i < 7; i++) {
        char text[16];
        uint8_t bytes[16];
        size_t n = strlen(vectors[i][0]), m = strlen(vectors[i][1]);
        assert_int_equal(kbase64_encode(text, vectors[i][0], n), m);
        assert_int_equal(KBASE64_SIZE(n), m);
        assert_memory_equal(text, vectors[i][1], m);
        assert_int_equal(cairn_base64_plain(bytes, vectors[i][1], m), n);
        assert_memory_equal(bytes, vectors[i][0], n);
    }
}

static void test_base64_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {"Z",
                                      "Zg",
                                      "Zg=",
                                      "Zg==Zg==",
                                      "Z===",
                                      "====",
                                      "=AAA",
                                      "A=AA",
                                      "AA=A",
                                      "Zh==",
                                      "Zm9=",
                                      "Zm 8",
                                      "Zm8\n",
                                      "Zm-_",
                                      "AAAA\x80"
                                      "AAA",
                                      "~AAA",
                                      ":AAA"};
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint8_t bytes[16];
        assert_int_equal(cairn_base64_plain(bytes, bad[i], strlen(bad[i])), -EINVAL);
    }
}

static void test_base64_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (size_t n = 0; n < 700; n++) {
        uint8_t from[700], *back = malloc(n + 3); /* exact room: the sanitizer watches */
        char *text = malloc(KBASE64_SIZE(n) + 1);
        for (size_t i = 0; i < n; i++)
            from[i] = (uint8_t)test_random(&seed, 256);
        size_t m = kbase64_encode(text, from, n);
        assert_int_equal(m, KBASE64_SIZE(n));
        assert_int_equal(cairn_base64_plain(back, text, m), n);
        assert_memory_equal(back, from, n);
        free(text);
        free(back);
    }
}

/* ---- frames ----------------------------------------------------------------------------------------------------- */

struct paper {
    char *text;
    size_t size, room;
};

static void write_paper(void *context, const char *data, size_t size)
{
    struct paper *p = context;
    if (p->size + size > p->room) {
        p->room = 2 * (p->size + size);
        p->text = realloc(p->text, p->room);
    }
    memcpy(p->text + p->size, data, size);
    p->size += size;
}

struct frame {
    char stream;
    uint32_t number, size;
    uint32_t eight_bit;
    uint8_t payload[4096];
};

/* The next frame, checked in every respect; false at the end. */
static bool next_frame(const struct paper *p, size_t *at, struct frame *f)
{
    if (*at == p->size)
        return false;
    const char *line = p->text + *at, *end = memchr(line, '\n', p->size - *at);
    assert_non_null(end);
    size_t length = (size_t)(end - line) + 1;
    assert_true(length <= CAIRN_FRAME_LINE_MAX && length >= CAIRN_FRAME_OVERHEAD);
    assert_int_equal(line[0], '~');
    assert_int_equal(end[-1], '\r');
    assert_int_equal(end[-10], ':');
    f->eight_bit = line[10] == '=';
    assert_true(f->eight_bit || line[10] == ':');
    for (const char *c = line; c < end - 1 && !f->eight_bit; c++)
        assert_in_range(*c, 0x21, 0x7E);
    char digits[9] = {0};
    f->stream = line[1];
    memcpy(digits, line + 2, 8);
    f->number = (uint32_t)strtoul(digits, NULL, 16);
    memcpy(digits, end - 9, 8);
    assert_int_equal(strtoul(digits, NULL, 16), bitwise((const uint8_t *)line + 1, length - 12));
    long n = f->eight_bit ? kline8_decode(f->payload, sizeof(f->payload), line + 10, length - 21)
                          : cairn_base64_plain(f->payload, line + 11, length - 22);
    assert_true(n > 0 && n <= (long)CAIRN_FRAME_PAYLOAD_MAX);
    f->size = (uint32_t)n;
    *at += length;
    return true;
}

/* First and last frame are base64 in any case. Lines stay whole, too long ones are cut, and the counting pass foretells
 * the writing one. */
static void check_text_frames(bool eight_bit)
{
    struct paper paper = {0};
    struct trace_sink sink = {write_paper, &paper};
    struct trace_dump d[2];
    char *longest = malloc(CAIRN_FRAME_PAYLOAD_MAX + 10);
    memset(longest, 'x', CAIRN_FRAME_PAYLOAD_MAX + 10);
    for (unsigned pass = 0; pass < 2; pass++) {
        trace_dump_init(&d[pass], pass ? &sink : NULL);
        d[pass].encode = eight_bit ? kline8_encode : NULL;
        trace_dump_line(&d[pass], CAIRN_STREAM_HEADER, "dump.frames=", 12);
        for (unsigned i = 0; i < 300; i++)
            trace_dump_line(&d[pass], CAIRN_STREAM_MACHINE, "key.of.some.length=value", 24);
        trace_dump_line(&d[pass], CAIRN_STREAM_SESSION, longest, CAIRN_FRAME_PAYLOAD_MAX - 1);
        trace_dump_line(&d[pass], CAIRN_STREAM_SESSION, longest, CAIRN_FRAME_PAYLOAD_MAX);
        trace_dump_line(&d[pass], CAIRN_STREAM_LAST, "", 0);
        trace_dump_flush(&d[pass]);
        trace_dump_flush(&d[pass]); /* nothing pending: no frame */
    }
    assert_int_equal(d[0].frames, d[1].frames);
    assert_int_equal(d[0].bytes, d[1].bytes);
    assert_int_equal(d[0].raw_bytes, d[1].raw_bytes);
    assert_int_equal(d[1].bytes, paper.size);
    size_t at = 0;
    struct frame f;
    uint32_t number = 0, lines = 0, sessions = 0;
    uint64_t raw = 0;
    while (next_frame(&paper, &at, &f)) {
        assert_int_equal(f.number, number++);
        assert_int_equal(f.eight_bit, eight_bit && f.stream != 'H' && f.stream != 'Z');
        assert_int_equal(f.payload[f.size - 1], '\n');
        raw += f.size;
        if (f.stream == 'M')
            for (uint32_t i = 0; i < f.size; i += 25, lines++)
                assert_memory_equal(f.payload + i, "key.of.some.length=value\n", 25);
        if (f.stream == 'L') { /* the first just fits, the second is cut */
            assert_int_equal(f.size, CAIRN_FRAME_PAYLOAD_MAX);
            assert_memory_equal(f.payload + f.size - 5, sessions++ ? "x...\n" : "xxxx\n", 5);
        }
    }
    assert_int_equal(sessions, 2);
    assert_int_equal(number, 300 / (CAIRN_FRAME_PAYLOAD_MAX / 25) + 1 + 2 + 2); /* as many lines to a frame as fit */
    assert_int_equal(f.stream, 'Z');
    assert_int_equal(lines, 300);
    assert_int_equal(number, d[1].frames);
    assert_int_equal(raw, d[1].raw_bytes);
    free(longest);
    free(paper.text);
}

static void test_text_frames(void **state)
{
    (void)state;
    check_text_frames(false);
    check_text_frames(true);
}

static void fill(struct box *box, uint32_t switches, const volatile uint64_t *index)
{
    uint64_t seed = 99, tsc = BOX_UNIT;
    uint8_t junk[CAIRN_EVENT_MAX];
    memset(junk, 0x7E, sizeof(junk));
    for (uint32_t c = 0; c < box->config.cpus; c++)
        box_start(box, c, index);
    for (uint32_t i = 0; i < switches; i++) {
        struct trace_hub_cpu *hub = &box->hub[test_random(&seed, box->config.cpus)];
        struct trace_switch sw = {
            .old_tid = 4 * test_random(&seed, 12), .old_state = KTHREAD_WAITING, .old_base = 8, .old_priority = 8};
        tsc += BOX_UNIT * (1 + test_random(&seed, 4000));
        sw.tsc = tsc;
        trace_hub_switch(hub, &sw);
        if (i % 512 == 0) {
            struct trace_part part = {junk, test_random(&seed, CAIRN_EVENT_MAX - 0x10 + 1)};
            trace_hub_event(hub, tsc, 0, HOOK_CAIRN_DS, 1, &part, 1);
        }
    }
    for (uint32_t c = 0; c < box->config.cpus; c++)
        box_stop(box, c, tsc + BOX_UNIT);
}

/* Every buffer comes back from its frames bit for bit, no frame splits an event, and the overhead keeps its limit. */
static void check_session_frames(uint32_t events, uint32_t switches, bool eight_bit)
{
    struct box box;
    volatile uint64_t index = 0x123456789ABC;
    box_open(&box, 4, events, false, 3000, 65536);
    fill(&box, switches, &index);
    struct paper paper = {0};
    struct trace_sink sink = {write_paper, &paper};
    struct trace_dump d;
    trace_dump_init(&d, &sink);
    d.encode = eight_bit ? kline8_encode : NULL;
    trace_dump_session(&d, box.session, 1);
    uint32_t count = trace_session_buffers(box.session), i = 0, done = 0, frames = 0;
    uint64_t raw = 0;
    size_t at = 0;
    struct frame f;
    while (next_frame(&paper, &at, &f)) {
        struct cairn_trace_frame head;
        uint32_t cpu_buffer, bytes = f.size - (uint32_t)sizeof(head);
        const struct wmi_buffer_header *h = trace_session_buffer(box.session, i, &cpu_buffer);
        memcpy(&head, f.payload, sizeof(head));
        assert_int_equal(f.stream, 'T');
        assert_int_equal(f.number, frames++);
        assert_int_equal(head.session, 1);
        assert_int_equal(head.sequence, h->sequence_number);
        assert_int_equal(head.cpu, h->processor_index);
        assert_int_equal(head.cpu_buffer, cpu_buffer);
        assert_int_equal(head.used, h->offset);
        assert_int_equal(head.offset, done);
        assert_memory_equal(f.payload + sizeof(head), (const uint8_t *)h + done, bytes);
        uint32_t event = done ? done : 0x48; /* walk: the frame ends where an event ends */
        while (event < done + bytes) {
            const struct perfinfo_trace_header *e = (const void *)((const uint8_t *)h + event);
            event += WMI_EVENT_ALIGN(e->size);
        }
        assert_int_equal(event, done + bytes);
        done += bytes;
        raw += bytes;
        if (done == h->offset) {
            done = 0;
            i++;
        }
    }
    assert_int_equal(i, count);
    assert_int_equal(paper.size, d.bytes);
    double overhead = (double)paper.size / (double)raw - 1;
    print_message("         %llu bytes of buffers, overhead %.2f %%\n", (unsigned long long)raw, overhead * 100);
    assert_true(overhead <= (eight_bit ? 0.05 : 0.40));
    free(paper.text);
    box_close(&box);
}

static void test_session_frames(void **state)
{
    (void)state;
    for (unsigned eight_bit = 0; eight_bit <= 1; eight_bit++) {
        check_session_frames(BOX_COMPACT, 1000000, eight_bit);
        check_session_frames(BOX_FULL, 100000, eight_bit);
        check_session_frames(BOX_COMPACT | BOX_FULL, 100000, eight_bit);
    }
}

static void test_truth_frames(void **state)
{
    (void)state;
    uint8_t records[100 * CAIRN_TRUTH_BYTES];
    struct paper paper = {0};
    struct trace_sink sink = {write_paper, &paper};
    struct trace_dump d;
    for (unsigned i = 0; i < sizeof(records); i++)
        records[i] = (uint8_t)(i * 7);
    trace_dump_init(&d, &sink);
    trace_dump_truth(&d, 3, 1000, records, 100);
    trace_dump_truth(&d, 4, 0, records, 0);
    size_t at = 0;
    uint32_t done = 0;
    struct frame f;
    while (next_frame(&paper, &at, &f)) {
        struct cairn_truth_frame head;
        memcpy(&head, f.payload, sizeof(head));
        assert_int_equal(f.stream, 'U');
        assert_int_equal(head.cpu, 3);
        assert_int_equal(head.first, 1000 + done);
        assert_int_equal(f.size, sizeof(head) + head.count * CAIRN_TRUTH_BYTES);
        assert_memory_equal(f.payload + sizeof(head), records + done * CAIRN_TRUTH_BYTES, f.size - sizeof(head));
        done += head.count;
    }
    assert_int_equal(done, 100);
    free(paper.text);
}

/* A buffer overwritten by what then caused a panic: all its bytes still go out, and the dump ends. */
static void test_overwritten_memory(void **state)
{
    (void)state;
    static const uint8_t fills[] = {0x00, 0xFF, 0x41};
    for (unsigned k = 0; k < 4; k++) {
        struct box box;
        uint32_t cpu_buffer;
        box_open(&box, 1, BOX_FULL, false, 4, 65536);
        fill(&box, 3000, NULL);
        assert_true(trace_session_buffers(box.session) > 1);
        const struct wmi_buffer_header *h = trace_session_buffer(box.session, 0, &cpu_buffer);
        uint8_t *buffer = (uint8_t *)(uintptr_t)h;
        if (k < 3) {
            memset(buffer + 0x200, fills[k], 0x4000);
        } else { /* the last event claims to be a little larger than what is left of the buffer */
            uint16_t *size = NULL;
            for (uint32_t event = 0x48; event < h->offset; event += WMI_EVENT_ALIGN(*size))
                size = (uint16_t *)(void *)(buffer + event + 4);
            *size += 0x100;
        }
        struct paper paper = {0};
        struct trace_sink sink = {write_paper, &paper};
        struct trace_dump d;
        trace_dump_init(&d, &sink);
        trace_dump_session(&d, box.session, 1);
        size_t at = 0;
        uint32_t bytes = 0;
        struct frame f;
        while (next_frame(&paper, &at, &f))
            if (((const struct cairn_trace_frame *)(const void *)f.payload)->sequence == 1)
                bytes += f.size - 20;
        assert_int_equal(bytes, h->offset);
        free(paper.text);
        box_close(&box);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_base64_vectors),
        cmocka_unit_test(test_base64_refuses),
        cmocka_unit_test(test_base64_round_trip),
        cmocka_unit_test(test_text_frames),
        cmocka_unit_test(test_session_frames),
        cmocka_unit_test(test_truth_frames),
        cmocka_unit_test(test_overwritten_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
