/* SPDX-License-Identifier: MIT */
/* Frames out of a log: what is one, what is none, what is missing. */
/* Longer than 500 lines: all tests are of one function, by the same few helpers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cairn/writer.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/frame/deframe.h"
#include "trace/wire/format.h"

static struct cairn_frames read_log(const struct writer *w, uint32_t dump)
{
    static struct cairn_input input; /* stays as long as the frames */
    struct cairn_frames f;
    input = WRITER_INPUT(w);
    cairn_deframe(&f, &input, dump, 0, NULL);
    return f;
}

/* Frame `i` in the order of their numbers, as it is read again. */
static struct cairn_frame frame_at(const struct cairn_frames *f, size_t i, uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX])
{
    static struct cairn_links links;
    struct cairn_frame frame;
    cairn_links_init(&links, f);
    for (size_t c = 0; c < f->chains.count; c++) {
        cairn_links_begin(&links, &f->chains.items[c]);
        while (cairn_links_next(&links, &frame, payload))
            if (!i--)
                return frame;
    }
    fail_msg("there is no such frame");
    return frame;
}

static void assert_payload(const struct cairn_frames *f, size_t i, const char *text)
{
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    struct cairn_frame frame = frame_at(f, i, payload);
    assert_int_equal(frame.size, strlen(text));
    assert_memory_equal(payload, text, strlen(text));
}

static void known_bytes(void **state)
{
    (void)state;
    static const char log[] = "~H00000000:Zm9vYmFy:07d8288b\r\n"; /* CRC-32C by another program */
    struct writer w = {0};
    writer_text(&w, 'H', "foobar");
    assert_int_equal(w.size, sizeof(log) - 1);
    assert_memory_equal(w.data, log, w.size);
    struct cairn_frames f = read_log(&w, 0);
    assert_int_equal(f.count, 1);
    assert_payload(&f, 0, "foobar");
    cairn_frames_free(&f);
    writer_free(&w);
}

/* 8-bit lines beside base64, and whatever keys are chosen; CRC-32C by another program. */
static void known_8bit_bytes(void **state)
{
    (void)state;
    static const char log[] = "~H00000000:Zm9vYmFy:07d8288b\r\n"
                              "~M00000001=!XX"
                              "~M00000001=!GNNC@S=\x80\xE1:30522fcf\r\n";
    struct writer w = {0};
    writer_raw(&w, log, sizeof(log) - 1);
    struct cairn_frames f = read_log(&w, 0);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.suspects.count, 1);
    assert_payload(&f, 0, "foobar");
    assert_payload(&f, 1, "foobara");
    cairn_frames_free(&f);
    writer_free(&w);
}

static void between_other_text(void **state)
{
    (void)state;
    struct writer w = {0};
    writer_raw(&w, "~ hello ~~ ~H~T00 ", 18);
    writer_text(&w, 'H', "dump.frames=3\n");
    w.size -= 2; /* no line end */
    writer_raw(&w, "prompt>", 7);
    writer_text(&w, 'M', "a=b\n");
    w.size -= 2;
    writer_text(&w, 'Z', "dump.frames=3\n"); /* on the same line */
    struct cairn_frames f = read_log(&w, 0);
    assert_int_equal(f.count, 3);
    assert_int_equal(f.missing.count, 0);
    assert_int_equal(f.suspects.count, 0);
    assert_true(f.total_known);
    assert_payload(&f, 1, "a=b\n");
    cairn_frames_free(&f);
    writer_free(&w);
}

static void cut_anywhere(void **state)
{
    (void)state;
    struct writer whole = {0};
    writer_text(&whole, 'H', "cairn.format=1\n");
    size_t frame = whole.size - 2;
    for (size_t kept = 0; kept <= frame; kept++) {
        struct writer w = {.number = 1};
        writer_raw(&w, whole.data, kept);
        writer_raw(&w, "\r\n", 2);
        writer_text(&w, 'M', "a=b\n");
        struct cairn_frames f = read_log(&w, 0);
        assert_int_equal(f.count, kept == frame ? 2 : 1);
        assert_int_equal(f.missing_frames, kept == frame ? 0 : 1);
        if (kept >= 11 && kept < frame) {
            assert_int_equal(f.suspects.count, 1);
            assert_int_equal(f.suspects.items[0].flaw, CAIRN_FLAW_CUT);
            assert_int_equal(f.suspects.items[0].line, 1);
        }
        cairn_frames_free(&f);
        writer_free(&w);
    }
    writer_free(&whole);
}

static void bad_characters(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        char c;
        enum cairn_flaw flaw;
        size_t suspects;
    } cases[] = {
        {1, 'X', CAIRN_FLAW_TEXT, 1},  /* no stream */
        {5, 'A', CAIRN_FLAW_TEXT, 1},  /* upper-case hex */
        {10, ';', CAIRN_FLAW_TEXT, 1}, /* separator */
        {13, 'Q', CAIRN_FLAW_CRC, 1},  /* base64, another letter */
        {0, '?', CAIRN_FLAW_CRC, 0},   /* no mark: nothing to see */
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct writer w = {0};
        writer_text(&w, 'H', "cairn.format=1\n");
        w.data[cases[i].at] = cases[i].c;
        writer_text(&w, 'M', "a=b\n");
        struct cairn_frames f = read_log(&w, 0);
        assert_int_equal(f.count, 1);
        assert_int_equal(f.missing.count, 1);
        assert_int_equal(f.suspects.count, cases[i].suspects);
        if (cases[i].suspects)
            assert_int_equal(f.suspects.items[0].flaw, cases[i].flaw);
        cairn_frames_free(&f);
        writer_free(&w);
    }
}

static void too_long(void **state)
{
    (void)state;
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX + 3] = {0};
    struct writer w = {0};
    writer_frame(&w, 'H', payload, CAIRN_FRAME_PAYLOAD_MAX);
    writer_frame(&w, 'M', payload, CAIRN_FRAME_PAYLOAD_MAX + 3);
    struct cairn_frames f = read_log(&w, 0);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.suspects.count, 1);
    cairn_frames_free(&f);
    writer_free(&w);
}

static void order_and_repetition(void **state)
{
    (void)state;
    static const uint32_t order[] = {2, 0, 1, 1, 4, 3};
    static const char streams[] = "HMSTZ";
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    struct writer w = {0};
    for (unsigned i = 0; i < 6; i++) {
        char text[32] = "dump.frames=5\n";
        w.number = order[i];
        if (order[i] % 4)
            text[0] = (char)('a' + order[i]);
        writer_text(&w, streams[order[i]], text);
    }
    struct cairn_frames f = read_log(&w, 0);
    assert_int_equal(f.count, 5);
    assert_int_equal(f.repeated, 1);
    assert_int_equal(f.misplaced, 3);
    assert_int_equal(f.missing.count, 0);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(frame_at(&f, i, payload).number, i);
    cairn_frames_free(&f);
    writer_free(&w);
}

/* A line that was cut by what came in between is no damage where its frame comes whole behind it; else it is. */
/* Number `i` of 2^bits, each once: as they are, falling, every other one first, or anyhow. */
static uint32_t nth(unsigned order, unsigned bits, uint32_t i)
{
    const uint32_t count = 1u << bits;
    return order == 0   ? i
           : order == 1 ? count - 1 - i
           : order == 2 ? (i % (count / 2)) * 2 + i / (count / 2)
                        : (i * 40503 + 12345) % count;
}

/* As many as take very long where each costs something for every other. */
static void any_order(void **state)
{
    (void)state;
    const unsigned bits = 16;
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    for (unsigned order = 0; order < 4; order++) {
        struct writer w = {0};
        uint32_t misplaced = 0, highest = 0, again = 0;
        for (uint32_t i = 0; i < 1u << bits; i++) {
            uint32_t number = w.number = nth(order, bits, i);
            writer_frame(&w, 'M', &number, sizeof(number));
            misplaced += number < highest;
            highest = number > highest ? number : highest;
            if (i % 1000 == 0) { /* one comes again */
                number = w.number = nth(order, bits, i / 2);
                writer_frame(&w, 'M', &number, sizeof(number));
                again++;
            }
        }
        struct cairn_frames f = read_log(&w, 0);
        assert_true(f.count == 1u << bits && f.missing_frames == 0 && f.dumps == 1);
        assert_true(f.misplaced == misplaced && f.repeated == again);
        struct cairn_links *links = malloc(sizeof(*links));
        struct cairn_frame frame;
        uint32_t next = 0;
        cairn_links_init(links, &f);
        for (size_t c = 0; c < f.chains.count; c++)
            for (cairn_links_begin(links, &f.chains.items[c]); cairn_links_next(links, &frame, payload); next++)
                assert_true(frame.number == next && memcmp(payload, &next, sizeof(next)) == 0);
        assert_int_equal(next, 1u << bits);
        free(links);
        cairn_frames_free(&f);
        writer_free(&w);
    }
}

/* More than are kept: whoever shares them gets the same, and those that are kept are not read again. */
static void kept_frames(void **state)
{
    (void)state;
    enum { FRAMES = 5000 };
    struct writer w = {0};
    for (uint32_t number = 0; number < FRAMES; number++)
        writer_frame(&w, 'M', &number, sizeof(number));
    struct cairn_frames f = read_log(&w, 0);
    cairn_links_keep(&f);
    struct cairn_links *links = malloc(2 * sizeof(*links));
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    struct cairn_frame frame;
    for (unsigned pass = 0; pass < 2; pass++) {
        size_t chain[2] = {0};
        cairn_links_share(&links[0], &f);
        cairn_links_share(&links[1], &f);
        for (uint32_t n = 0; n < FRAMES + 100; n++) /* the second is a little behind the first */
            for (unsigned i = 0; i < 2; i++) {
                const uint32_t number = n - 100 * i;
                if (number >= FRAMES)
                    continue;
                if (!cairn_links_next(&links[i], &frame, payload)) {
                    cairn_links_begin(&links[i], &f.chains.items[chain[i]++]);
                    assert_true(cairn_links_next(&links[i], &frame, payload));
                }
                assert_true(frame.number == number && frame.size == sizeof(number) && frame.payload == payload);
                assert_memory_equal(payload, &number, sizeof(number));
                assert_memory_equal((const char *)w.data + frame.at, "~M", 2);
            }
    }
    const struct cairn_chain *last = &f.chains.items[f.chains.count - 1];
    memset((char *)w.data + last->at, '?', w.size - last->at);
    cairn_links_begin(&links[0], last);
    assert_true(cairn_links_next(&links[0], &frame, payload) && frame.number == last->number);
    assert_int_equal(f.input->error, 0);
    cairn_links_init(&links[0], &f);
    cairn_links_begin(&links[0], last);
    assert_false(cairn_links_next(&links[0], &frame, payload));
    assert_int_equal(f.input->error, -ESTALE);
    free(links);
    cairn_frames_free(&f);
    writer_free(&w);
}

/* The highest number there is, and the lowest behind it. */
static void numbers_do_not_wrap(void **state)
{
    (void)state;
    struct writer w = {.number = UINT32_MAX};
    writer_text(&w, 'M', "a=b\n");
    writer_text(&w, 'M', "c=d\n");
    struct cairn_frames f = read_log(&w, 0);
    assert_true(f.count == 2 && f.chains.count == 2 && f.misplaced == 1 && f.missing_frames == UINT32_MAX - 1);
    assert_payload(&f, 0, "c=d\n");
    assert_payload(&f, 1, "a=b\n");
    cairn_frames_free(&f);
    writer_free(&w);
}

static void cut_and_sent_again(void **state)
{
    (void)state;
    static const struct {
        uint32_t number; /* of the frame whose line is cut, behind frame 1 */
        char stream;
        bool again;
    } rows[] = {{2, 'T', true}, {1, 'M', false}, {2, 'L', false}, {7, 'T', false}};
    const unsigned count = sizeof(rows) / sizeof(rows[0]);
    for (unsigned n = 0; n < 2 * count; n++) {
        const unsigned i = n % count;
        const bool eight_bit = n >= count;
        struct writer w = {.eight_bit = eight_bit}, cut = {.number = rows[i].number, .eight_bit = eight_bit};
        writer_text(&w, 'H', "dump.frames=4\n");
        writer_text(&w, 'M', "a=b\n");
        writer_text(&cut, rows[i].stream, "some bytes of a buffer");
        writer_raw(&w, cut.data, 20);
        writer_raw(&w, "\r\nPANIC: text\r\n", 15);
        writer_text(&w, 'T', "some bytes of a buffer");
        writer_text(&w, 'Z', "dump.frames=4\n");
        struct cairn_frames f = read_log(&w, 0);
        assert_int_equal(f.again, rows[i].again);
        assert_int_equal(f.suspects.count, !rows[i].again);
        assert_int_equal(f.count, 4);
        assert_int_equal(f.missing.count, 0);
        cairn_frames_free(&f);
        writer_free(&w);
        writer_free(&cut);
    }
}

/* A live dump: the first header cannot know, the second one does; without either the trailer. */
static void total_by_a_later_header(void **state)
{
    (void)state;
    struct writer w = {0};
    writer_text(&w, 'H', "dump.cause=live\n");
    writer_text(&w, 'T', "x");
    struct cairn_frames f = read_log(&w, 0);
    assert_true(!f.total_known && f.dumps == 1);
    cairn_frames_free(&f);
    writer_text(&w, 'H', "dump.frames=5\n");
    writer_text(&w, 'T', "y");
    f = read_log(&w, 0);
    assert_true(f.total_known && f.total == 5 && f.dumps == 1);
    assert_int_equal(f.count, 4);
    assert_int_equal(f.missing_frames, 1);
    cairn_frames_free(&f);
    writer_free(&w);
}

static void missing_runs(void **state)
{
    (void)state;
    struct writer w = {0};
    writer_text(&w, 'H', "dump.frames=000012\n");
    w.number = 3;
    writer_text(&w, 'L', "a=b\n");
    w.number = 5;
    writer_text(&w, 'T', "x");
    struct cairn_frames f = read_log(&w, 0);
    assert_true(f.total_known);
    assert_int_equal(f.total, 12);
    assert_int_equal(f.missing_frames, 9);
    assert_int_equal(f.missing.count, 3);
    const struct cairn_run *runs = f.missing.items;
    assert_true(runs[0].first == 1 && runs[0].last == 2 && runs[0].before == 'H' && runs[0].after == 'L');
    assert_true(runs[1].first == 4 && runs[1].last == 4 && runs[1].before == 'L' && runs[1].after == 'T');
    assert_true(runs[2].first == 6 && runs[2].last == 11 && runs[2].before == 'T' && runs[2].after == 0);
    cairn_frames_free(&f);
    writer_free(&w);
}

static void total_without_header(void **state)
{
    (void)state;
    struct writer w = {.number = 1};
    writer_text(&w, 'M', "a=b\n");
    struct cairn_frames f = read_log(&w, 0);
    assert_false(f.total_known);
    assert_int_equal(f.missing.count, 1);
    cairn_frames_free(&f);
    writer_text(&w, 'Z', "dump.frames=3\n");
    f = read_log(&w, 0);
    assert_true(f.total_known);
    assert_int_equal(f.missing_frames, 1);
    cairn_frames_free(&f);
    writer_free(&w);
}

static void totals_that_differ(void **state)
{
    (void)state;
    struct writer w = {0};
    writer_text(&w, 'H', "dump.frames=3\n");
    writer_text(&w, 'Z', "dump.frames=2\n");
    struct cairn_frames f = read_log(&w, 0);
    assert_true(f.totals_differ);
    cairn_frames_free(&f);
    writer_free(&w);

    writer_text(&w, 'H', "dump.frames=1\n"); /* fewer than there are */
    writer_text(&w, 'M', "a=b\n");
    f = read_log(&w, 0);
    assert_true(f.totals_differ);
    cairn_frames_free(&f);
    writer_free(&w);
}

static void several_dumps(void **state)
{
    (void)state;
    struct writer w = {0};
    for (unsigned dump = 0; dump < 3; dump++) {
        w.number = 0;
        writer_text(&w, 'H', "dump.frames=3\n"); /* the same in each */
        writer_text(&w, 'M', dump == 0 ? "n=one\n" : dump == 1 ? "n=two\n" : "n=three\n");
        writer_text(&w, 'Z', "dump.frames=3\n");
    }
    static const char *const texts[] = {"n=three\n", "n=one\n", "n=two\n", "n=three\n"};
    for (uint32_t which = 0; which < 4; which++) {
        struct cairn_frames f = read_log(&w, which);
        assert_int_equal(f.dump, which ? which : 3);
        assert_int_equal(f.count, 3);
        assert_int_equal(f.missing.count, 0);
        assert_payload(&f, 1, texts[which]);
        cairn_frames_free(&f);
    }
    writer_free(&w);

    writer_text(&w, 'H', "dump.frames=2\n"); /* broken off, then begun again: the number comes with other contents */
    writer_text(&w, 'M', "n=one\n");
    w.number = 0;
    writer_text(&w, 'H', "dump.frames=3\n");
    writer_text(&w, 'M', "n=two\n");
    writer_text(&w, 'Z', "dump.frames=3\n");
    struct cairn_frames f = read_log(&w, 0);
    assert_int_equal(f.dumps, 2);
    assert_int_equal(f.missing.count, 0);
    assert_payload(&f, 1, "n=two\n");
    cairn_frames_free(&f);
    writer_free(&w);
}

/* What is damaged behind a trailer is of the dump that follows, where one does. */
static void damage_between_dumps(void **state)
{
    (void)state;
    struct writer w = {0};
    for (unsigned dump = 0; dump < 2; dump++) {
        w.number = 0;
        const size_t header = w.size;
        writer_text(&w, 'H', "dump.frames=3\n");
        w.data[header + 13] ^= 1; /* line 1, line 4 */
        writer_text(&w, 'M', dump ? "n=two\n" : "n=one\n");
        writer_text(&w, 'Z', "dump.frames=3\n");
    }
    for (uint32_t which = 0; which < 3; which++) {
        struct cairn_frames f = read_log(&w, which);
        assert_int_equal(f.dump, which ? which : 2);
        assert_int_equal(f.missing_frames, 1);
        assert_int_equal(f.suspects.count, 1);
        assert_int_equal(f.suspects.items[0].line, which == 1 ? 1 : 4);
        cairn_frames_free(&f);
    }
    writer_frame(&w, 'M', "", 0);
    w.data[w.size - 4] ^= 1; /* line 7: no other dump follows */
    struct cairn_frames f = read_log(&w, 0);
    assert_int_equal(f.suspects.count, 2);
    cairn_frames_free(&f);
    writer_free(&w);
}

/* A line of noise may hold one in ten bytes: those behind the first are counted, for the dump that they are of. */
static void more_damage_than_is_listed(void **state)
{
    (void)state;
    static const uint32_t most = CAIRN_SUSPECTS_MOST;
    static const struct {
        uint32_t first, between, second; /* marks in the first dump, behind its trailer, in the second dump */
        uint32_t listed, unlisted;       /* of the second */
        uint32_t of_first;               /* unlisted of the first */
    } rows[] = {
        {0, 0, most - 1, most - 1, 0, 0},    {0, 0, most, most, 0, 0},  {0, 0, most + 1, most, 1, 0},
        {most + 7, 0, 3, 3, 0, 7},           {most + 7, 2, 3, 3, 2, 7}, {5, most, most, most, most, 0},
        {most, most + 2, 1, 1, most + 2, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct writer w = {0};
        for (unsigned dump = 0; dump < 2; dump++) {
            w.number = 0;
            for (uint32_t mark = 0; dump && mark < rows[i].between; mark++)
                writer_raw(&w, "~T00000000", 10);
            writer_text(&w, 'H', "dump.frames=3\n");
            for (uint32_t mark = 0; mark < (dump ? rows[i].second : rows[i].first); mark++)
                writer_raw(&w, "~T00000000", 10);
            writer_text(&w, 'M', dump ? "n=two\n" : "n=one\n");
            writer_text(&w, 'Z', "dump.frames=3\n");
        }
        struct cairn_frames f = read_log(&w, 1), g = read_log(&w, 2);
        assert_true(f.count == 3 && g.count == 3 && f.dump == 1 && g.dump == 2);
        assert_int_equal(f.suspects.count, rows[i].first < most ? rows[i].first : most);
        assert_int_equal(f.unlisted, rows[i].of_first);
        assert_int_equal(g.suspects.count, rows[i].listed);
        assert_int_equal(g.unlisted, rows[i].unlisted);
        assert_int_equal(cairn_frames_damaged(&g), rows[i].between + rows[i].second);
        cairn_frames_free(&f);
        cairn_frames_free(&g);
        writer_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bytes),
        cmocka_unit_test(known_8bit_bytes),
        cmocka_unit_test(between_other_text),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(bad_characters),
        cmocka_unit_test(too_long),
        cmocka_unit_test(order_and_repetition),
        cmocka_unit_test(missing_runs),
        cmocka_unit_test(total_without_header),
        cmocka_unit_test(totals_that_differ),
        cmocka_unit_test(several_dumps),
        cmocka_unit_test(cut_and_sent_again),
        cmocka_unit_test(total_by_a_later_header),
        cmocka_unit_test(any_order),
        cmocka_unit_test(kept_frames),
        cmocka_unit_test(numbers_do_not_wrap),
        cmocka_unit_test(damage_between_dumps),
        cmocka_unit_test(more_damage_than_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
