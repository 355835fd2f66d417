/* SPDX-License-Identifier: MIT */
/* The card at the end of a run: its rows, the QR code of them, and how a screen keeps them. tests/boot/test_card.py
 * reads codes of all versions with another program. */
#include "kernel/card/card.h"

#include <stdio.h>
#include <string.h>

#include "kernel/card/qr.h"
#include "kernel/lib/crc32c.h"
#include "kernel/lib/errno.h"
#include "kernel/screen/screen.h"
#include "tests/unit/support/cmocka.h"

/* ---- rows */
static void sums(const struct card *card)
{
    char text[sizeof card->text], last[16];
    snprintf(text, sizeof text, "%s", card->text);
    for (char *c = text; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    char *at = strstr(text, " sum=");
    assert_non_null(at);
    snprintf(last, sizeof last, " sum=%04x ", kcrc32c(0, text, (size_t)(at - text)) & 0xFFFF);
    assert_string_equal(at, last);
}

static unsigned rows(const char *text)
{
    unsigned n = 0;
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1, n++)
        assert_true(end - text <= CARD_COLUMNS);
    assert_int_equal(*text, '\0');
    return n;
}

static void begins(const char *text, const char *with)
{
    assert_memory_equal(text, with, strlen(with));
}

static void test_words(void **state)
{
    struct card card = {0};
    (void)state;
    kcard_put(&card, "cairn", "0.3.0");
    kcard_put(&card, "brand", "A   \"B\"\n");
    kcard_put(&card, "x", "");
    kcard_end(&card);
    begins(card.text, "cairn=0.3.0 brand=\"A ?B??\" x= sum=");
    assert_int_equal(rows(card.text), 1);
    assert_int_equal(strlen(card.text), card.size + 1);
    sums(&card);
}

static void test_long_word(void **state)
{
    struct card card = {0};
    char value[200];
    (void)state;
    memset(value, 'a', sizeof value);
    value[3] = ' ';
    value[sizeof value - 1] = '\0';
    kcard_put(&card, "cairn", "0.3.0");
    kcard_put(&card, "panic", value);
    kcard_end(&card);
    assert_int_equal(rows(card.text), 3);
    begins(card.text, "cairn=0.3.0\npanic=\"aaa a");
    begins(card.text + 12 + CARD_COLUMNS - 2, "a\"\nsum=");
    sums(&card);
}

/* Whatever the words' lengths: it is full, and says how many had no room. */
static void test_full(void **state)
{
    (void)state;
    for (unsigned size = 1; size < 70; size++) {
        struct card card = {0};
        char value[80] = "", more[16];
        memset(value, 'v', size);
        for (unsigned i = 0; i < 400; i++)
            kcard_put(&card, "n", value);
        kcard_put(&card, "n", ""); /* it would fit, but would not be behind the others */
        unsigned words = 0;
        for (const char *at = card.text; (at = strstr(at, "n=v")) != NULL; at++)
            words++;
        assert_int_equal(card.left_out, 401 - words);
        snprintf(more, sizeof more, "more=%u", card.left_out < 99 ? card.left_out : 99);
        kcard_end(&card);
        assert_int_equal(rows(card.text), CARD_ROWS);
        assert_true(words >= (CARD_ROWS - 1) * (CARD_COLUMNS / (size + 3)));
        assert_non_null(strstr(card.text, more));
        sums(&card);
        assert_true(card.size <= QR_MOST_BYTES);
    }
}

/* ---- QR codes that another encoder made (qrcode 7.4.2), which chose the same masks */
static const uint32_t small[21] = {
    0x1fcd7f, 0x104441, 0x175e5d, 0x17575d, 0x175f5d, 0x105d41, 0x1fd57f, 0x001b00, 0x17c57c, 0x07191f, 0x19722e,
    0x0eac2f, 0x1cee20, 0x0013db, 0x1fc16e, 0x1053e4, 0x175529, 0x175518, 0x175aac, 0x104024, 0x1fdeaa,
};
static const uint64_t large[45] = {
    0x1fca3208e97f, 0x1045451ea241, 0x175b5521fa5d, 0x175f3d5a435d, 0x175fd9f3e75d, 0x105239183841, 0x1fd55555557f,
    0x001e911d1b00, 0x17c5e9fae47c, 0x129dc47ac935, 0x04fe9a9c2dda, 0x022a04b259bf, 0x025df6516680, 0x16172843f937,
    0x0757b5d5bfc0, 0x1d1168435bff, 0x03ec5cbc2a62, 0x1aaf806ad12b, 0x0577c4be24ee, 0x0694189ffa96, 0x07f30df4c7f9,
    0x1b15311e6317, 0x0350d553af5e, 0x15121f11551c, 0x1bfeb7f0adf0, 0x04a2de59d9a1, 0x13f1f0a6840e, 0x1c95d1721bdd,
    0x03c612a269f3, 0x0e34815af289, 0x19e2b2960732, 0x0b9baba1f2e6, 0x1261a78c6d19, 0x0e0c3ee0c22d, 0x016e34a50d2e,
    0x0f0f191197e6, 0x134ee7f8e5f8, 0x001007124111, 0x1fc87b5aad5c, 0x1050ed13f91c, 0x175cfdf869f8, 0x17560e98681d,
    0x1757332fadea, 0x10493121d204, 0x1fddc8fe215a,
};

static uint64_t row_of(const struct qr *q, uint32_t row)
{
    uint64_t bits = 0;
    for (uint32_t column = 0; column < q->size; column++)
        bits = bits << 1 | (q->module[row][column] & 1);
    return bits;
}

static void test_known_codes(void **state)
{
#define ROW "cairn=0.3.0 verdict=pass,6,0,0 sig=506e3 ucode=0xf0 cpus=8\n"
    static const char text[] = ROW ROW;
    static struct qr q;
    (void)state;
    assert_int_equal(kcard_qr(&q, "sum=0000", 8), 0);
    assert_int_equal(q.size, 21);
    for (uint32_t row = 0; row < 21; row++)
        assert_int_equal(row_of(&q, row), small[row]);
    assert_int_equal(kcard_qr(&q, text, 110), 0); /* four blocks, alignment patterns, version information */
    assert_int_equal(q.size, 45);
    for (uint32_t row = 0; row < 45; row++)
        assert_int_equal(row_of(&q, row), large[row]);
}

static void test_room(void **state)
{
    static const uint16_t most[] = {14,  26,  42,  62,  84,  106, 122, 152, 180, 213, /* "Data capacity", M, bytes */
                                    251, 287, 331, 362, 412, 450, 504, 560, 624, 666};
    static char text[QR_MOST_BYTES + 1];
    static struct qr q;
    (void)state;
    for (unsigned version = 1; version <= 20; version++) {
        assert_int_equal(kcard_qr(&q, text, most[version - 1]), 0);
        assert_int_equal(q.size, 17 + 4 * version);
        if (version < 20) {
            assert_int_equal(kcard_qr(&q, text, most[version - 1] + 1u), 0);
            assert_int_equal(q.size, 21 + 4 * version);
        }
    }
    assert_int_equal(kcard_qr(&q, text, QR_MOST_BYTES + 1), -EINVAL);
}

/* ---- a screen with a card */
static struct screen s;

static void begin(uint32_t rows_of_text, uint32_t columns)
{
    static const uint32_t glyphs[FONT_GLYPHS][6];
    static const struct font font = {5, 6, glyphs[0]};
    static uint8_t memory[64 * 6][64 * 5 * 4];
    const struct boot_framebuffer fb = {.base = 0xC0000000,
                                        .size = sizeof memory,
                                        .width = (columns + 1) * 5,
                                        .height = (rows_of_text + 1) * 6,
                                        .pixels_per_line = 64 * 5,
                                        .format = 1};
    struct pixels p;
    const char *why;
    assert_int_equal(kpixels_describe(&p, &fb, &why), 0);
    p.base = memory[0];
    assert_int_equal(kscreen_init(&s, &p, &font), 0);
    assert_int_equal(s.rows, rows_of_text);
    assert_int_equal(s.columns, columns);
}

static void say(const char *text)
{
    kscreen_write(&s, text, strlen(text));
}

/* What the row is, and what is drawn there. */
static void expect(uint32_t row, enum screen_kind kind, const char *text)
{
    char found[SCREEN_COLUMNS + 1] = "";
    size_t n = s.columns;
    for (uint32_t column = 0; column < s.columns; column++) {
        found[column] = (char)s.drawn[row][column];
        assert_int_equal(s.drawn[row][column] >> 8, kind);
    }
    while (n && found[n - 1] == ' ')
        n--;
    found[n] = '\0';
    assert_string_equal(found, text);
}

static void test_keep(void **state)
{
    (void)state;
    begin(16, 60);
    say("one\n\nPANIC: a line that ends with a number behind it and no more, 12345\nFAIL: x\n");
    kscreen_keep(&s, "card A\ncard B\n", 50);
    expect(0, SCREEN_CARD, "card A");
    expect(1, SCREEN_CARD, "card B");
    expect(2, SCREEN_TEXT, "one");
    expect(3, SCREEN_TEXT, "");
    expect(4, SCREEN_PANIC, "PANIC: a line that ends with a number behind it");
    expect(5, SCREEN_PANIC, "    and no more, 12345");
    expect(6, SCREEN_FAIL, "FAIL: x");
    say("more\n");
    expect(7, SCREEN_TEXT, "more");
    for (unsigned i = 0; i < 20; i++)
        say("text\n");
    expect(1, SCREEN_CARD, "card B"); /* the others that stay are below */
    expect(2, SCREEN_PANIC, "PANIC: a line that ends with a number behind it");
    expect(4, SCREEN_FAIL, "FAIL: x");
    expect(5, SCREEN_TEXT, "text");
    expect(16, SCREEN_STATUS, "                                    12 lines above");
}

/* What goes on from lines that are gone belongs to no line that stays; a word without a blank is whole again. */
static void test_keep_wrapped(void **state)
{
    static const char word[] = "0123456789012345678901234567890123456789012345678901234567890123456789\n";
    (void)state;
    begin(8, 40);
    say("FAIL: stays\n");
    say(word);
    say("1\n2\n3\n4\n5\n6\n");
    expect(1, SCREEN_TEXT, "    012345678901234567890123456789");
    kscreen_keep(&s, "card\n", 40);
    expect(0, SCREEN_CARD, "card");
    expect(1, SCREEN_FAIL, "FAIL: stays");
    expect(2, SCREEN_TEXT, "1"); /* one row less: what had no beginning has gone */
    begin(9, 60);
    say(word);
    kscreen_keep(&s, "card\n", 50);
    expect(1, SCREEN_TEXT, "01234567890123456789012345678901234567890123456789");
    expect(2, SCREEN_TEXT, "    01234567890123456789");
}

static void test_keep_low(void **state)
{
    (void)state;
    begin(9, 40);
    say("one\ntwo\n");
    kscreen_keep(&s, "a\nb\nc\n", 40);
    expect(0, SCREEN_TEXT, "one");
    expect(1, SCREEN_TEXT, "two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),        cmocka_unit_test(test_long_word), cmocka_unit_test(test_full),
        cmocka_unit_test(test_known_codes),  cmocka_unit_test(test_room),      cmocka_unit_test(test_keep),
        cmocka_unit_test(test_keep_wrapped), cmocka_unit_test(test_keep_low),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
