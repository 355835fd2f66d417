/* SPDX-License-Identifier: MIT */
/* The kernel's screen on pictures of all kinds. What is on them is read from their pixels, by a font of this file's
 * own; each is exactly as large as it says, so that the sanitizer sees a byte too far. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/errno.h"
#include "kernel/screen/screen.h"
#include "tests/unit/support/cmocka.h"

/* ---- fonts */
#define W 5u
#define H 6u

/* 'A', 'I' and '?' are pictures; the others carry their code, and so differ. */
static uint32_t rows_5x6[FONT_GLYPHS][H];
static const struct font small = {W, H, &rows_5x6[0][0]};
static uint32_t rows_8x16[FONT_GLYPHS][16];
static const struct font real_size = {8, 16, &rows_8x16[0][0]};

static int make_fonts(void **state)
{
    static const uint32_t a[H] = {0x0E, 0x11, 0x1F, 0x11, 0x11, 0}, i[H] = {0x0E, 4, 4, 4, 0x0E, 0},
                          question[H] = {0x1E, 2, 4, 0, 4, 0};
    (void)state;
    for (uint32_t g = 1; g < FONT_GLYPHS; g++) { /* a blank is blank */
        rows_5x6[g][0] = 0x10 | (g >> 4);
        rows_5x6[g][1] = g & 15;
        for (uint32_t row = 0; row < 16; row++)
            rows_8x16[g][row] = row == 15 ? g : 0;
    }
    memcpy(rows_5x6['A' - FONT_FIRST], a, sizeof a);
    memcpy(rows_5x6['I' - FONT_FIRST], i, sizeof i);
    memcpy(rows_5x6['?' - FONT_FIRST], question, sizeof question);
    return 0;
}

/* ---- pictures */
static struct screen s;
static uint8_t *memory;

static struct boot_framebuffer plain(uint32_t width, uint32_t height)
{
    return (struct boot_framebuffer){.base = 0xC0000000,
                                     .size = (uint64_t)width * height * 4,
                                     .width = width,
                                     .height = height,
                                     .pixels_per_line = width,
                                     .format = 1};
}

static struct pixels picture(const struct boot_framebuffer *fb)
{
    struct pixels p;
    const char *why;
    assert_int_equal(kpixels_describe(&p, fb, &why), 0);
    assert_null(why);
    assert_true(p.size <= fb->size);
    memory = malloc(p.size);
    assert_non_null(memory);
    memset(memory, 0x5A, p.size);
    p.base = memory;
    return p;
}

static int drop(void **state)
{
    (void)state;
    free(memory);
    memory = NULL;
    return 0;
}

static void begin(uint32_t width, uint32_t height)
{
    const struct boot_framebuffer fb = plain(width, height);
    const struct pixels p = picture(&fb);
    assert_int_equal(kscreen_init(&s, &p, &small), 0);
}

/* As many rows and columns of text as these. */
static void begin_text(uint32_t rows, uint32_t columns)
{
    begin((columns + 1) * W, (rows + 1) * H);
    assert_int_equal(s.scale, 1);
    assert_int_equal(s.rows, rows);
    assert_int_equal(s.columns, columns);
}

static void say(const char *text)
{
    kscreen_write(&s, text, strlen(text));
}

static uint32_t pixel_at(uint32_t x, uint32_t y)
{
    uint32_t pixel = 0;
    memcpy(&pixel, memory + (uint64_t)y * s.pixels.stride + x * s.pixels.bytes, s.pixels.bytes);
    return pixel;
}

/* The character in a cell by its pixels, which are of these two colours alone; 0: none. */
static char look(uint32_t row, uint32_t column, enum screen_kind kind)
{
    uint32_t bits[H] = {0};
    for (uint32_t y = 0; y < H * s.scale; y++)
        for (uint32_t x = 0; x < W * s.scale; x++) {
            uint32_t pixel = pixel_at(s.left + column * W * s.scale + x, s.top + row * H * s.scale + y);
            if (pixel != s.ink[kind] && pixel != s.paper[kind])
                return 0;
            const uint32_t bit = (pixel == s.ink[kind]) << (W - 1 - x / s.scale);
            if (x % s.scale == 0 && y % s.scale == 0)
                bits[y / s.scale] |= bit;
            else if ((bits[y / s.scale] & 1u << (W - 1 - x / s.scale)) != bit)
                return 0;
        }
    for (uint32_t g = 0; g < FONT_GLYPHS; g++)
        if (memcmp(bits, rows_5x6[g], sizeof bits) == 0)
            return (char)(g + FONT_FIRST);
    return 0;
}

static void expect(uint32_t row, enum screen_kind kind, const char *text)
{
    char found[SCREEN_COLUMNS + 1] = "";
    for (uint32_t column = 0; column < s.columns; column++)
        found[column] = look(row, column, kind);
    size_t n = s.columns;
    while (n && found[n - 1] == ' ')
        n--;
    found[n] = '\0';
    assert_string_equal(found, text);
}

/* ---- geometry */
static void test_formats(void **state)
{
    static const struct {
        struct boot_framebuffer fb;
        uint32_t bytes, red, green, blue, grey; /* pixels of FF0000, 00FF00, 0000FF, 808080 */
    } all[] = {
        {{.format = 0}, 4, 0xFF, 0xFF00, 0xFF0000, 0x808080},
        {{.format = 1}, 4, 0xFF0000, 0xFF00, 0xFF, 0x808080},
        {{.format = 2, .masks = {0xFF000000, 0xFF0000, 0xFF00}, .reserved_mask = 0xFF},
         4,
         0xFF000000,
         0xFF0000,
         0xFF00,
         0x80808000},
        {{.format = 2, .masks = {0xFF0000, 0xFF00, 0xFF}}, 3, 0xFF0000, 0xFF00, 0xFF, 0x808080},
        {{.format = 2, .masks = {0xF800, 0x07E0, 0x001F}}, 2, 0xF800, 0x07E0, 0x001F, 0x8410},
        {{.format = 2, .masks = {0x7C00, 0x03E0, 0x001F}, .reserved_mask = 0x8000}, 2, 0x7C00, 0x03E0, 0x001F, 0x4210},
        {{.format = 2, .masks = {0x3FF00000, 0xFFC00, 0x3FF}}, 4, 0x3FC00000, 0xFF000, 0x3FC, 0x20080200},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct boot_framebuffer fb = plain(7, 5);
        fb.format = all[i].fb.format;
        memcpy(fb.masks, all[i].fb.masks, sizeof fb.masks);
        fb.reserved_mask = all[i].fb.reserved_mask;
        fb.pixels_per_line = 9;
        fb.size = 4 * 9 * all[i].bytes + 7 * all[i].bytes; /* the last line ends with its last pixel */
        struct pixels p = picture(&fb);
        assert_int_equal(p.bytes, all[i].bytes);
        assert_int_equal(kpixels_colour(&p, 0xFF0000), all[i].red);
        assert_int_equal(kpixels_colour(&p, 0x00FF00), all[i].green);
        assert_int_equal(kpixels_colour(&p, 0x0000FF), all[i].blue);
        assert_int_equal(kpixels_colour(&p, 0x808080), all[i].grey);
        assert_int_equal(kpixels_colour(&p, 0), 0);

        kpixels_fill(&p, 1, 1, 100, 3, all[i].red); /* all but the left column and two lines */
        s.pixels = p;
        for (uint32_t y = 0; y < 5; y++)
            for (uint32_t x = 0; x < (y < 4 ? 9 : 7); x++) {
                uint32_t untouched = 0;
                memset(&untouched, 0x5A, p.bytes);
                assert_int_equal(pixel_at(x, y), x >= 1 && x < 7 && y >= 1 && y < 4 ? all[i].red : untouched);
            }
        drop(state);
    }
}

static void test_refused(void **state)
{
    const struct boot_framebuffer good = plain(640, 480);
    struct pixels p;
    const char *why;
    (void)state;
#define REFUSED(error, word, ...)                                                                                      \
    do {                                                                                                               \
        struct boot_framebuffer fb = good;                                                                             \
        __VA_ARGS__;                                                                                                   \
        assert_int_equal(kpixels_describe(&p, &fb, &why), error);                                                      \
        assert_non_null(strstr(why, word));                                                                            \
    } while (0)
    assert_int_equal(kpixels_describe(&p, &good, &why), 0);
    REFUSED(-ENODEV, "no Graphics Output", fb.base = 0);
    REFUSED(-ENODEV, "no Graphics Output", memset(&fb, 0, sizeof fb));
    REFUSED(-ENODEV, "PixelBltOnly", fb.format = 3);
    REFUSED(-ENODEV, "PixelBltOnly", fb.format = 3; fb.base = 0);
    REFUSED(-EINVAL, "unknown pixel format", fb.format = 4);
    REFUSED(-EINVAL, "unknown pixel format", fb.format = UINT32_MAX);
    REFUSED(-EINVAL, "line length is 0", fb.width = 0);
    REFUSED(-EINVAL, "line length is 0", fb.height = 0);
    REFUSED(-EINVAL, "line length is 0", fb.pixels_per_line = 639);
    REFUSED(-EINVAL, "line length is 0", fb.pixels_per_line = 0);
    REFUSED(-EINVAL, "line length is 0", fb.width = fb.pixels_per_line = UINT32_MAX);
    REFUSED(-EINVAL, "line length is 0", fb.height = UINT32_MAX);
    REFUSED(-EINVAL, "smaller", fb.size--);
    REFUSED(-EINVAL, "smaller", fb.size = 0);
    REFUSED(-EINVAL, "smaller", fb.base = UINT64_MAX - 4096);
    REFUSED(-EINVAL, "masks", fb.format = 2);
    REFUSED(-EINVAL, "masks", fb.format = 2; memcpy(fb.masks, (uint32_t[]){0xFF, 0xFF80, 0xFF0000}, 12));
    REFUSED(-EINVAL, "masks", fb.format = 2; memcpy(fb.masks, (uint32_t[]){0xFF, 0xA500, 0xFF0000}, 12));
    REFUSED(-EINVAL, "16 bits", fb.format = 2; memcpy(fb.masks, (uint32_t[]){0xE0, 0x1C, 0x03}, 12));
}

static void test_too_small(void **state)
{
    struct boot_framebuffer fb = plain((SCREEN_LEAST_COLUMNS + 1) * W, (SCREEN_LEAST_ROWS + 1) * H);
    struct pixels p = picture(&fb);
    (void)state;
    assert_int_equal(kscreen_init(&s, &p, &small), 0);
    p.width--;
    assert_int_equal(kscreen_init(&s, &p, &small), -EINVAL);
    p.width++, p.height--;
    assert_int_equal(kscreen_init(&s, &p, &small), -EINVAL);
}

static void test_scales(void **state)
{
    static const struct {
        uint32_t width, height, scale, columns, rows;
    } all[] = {
        {640, 480, 1, 79, 29},    {800, 600, 1, 99, 36},     {1024, 768, 1, 127, 47},  {1280, 1024, 1, 159, 63},
        {1920, 1080, 2, 119, 32}, {2560, 1440, 3, 105, 29},  {3840, 2160, 4, 119, 32}, {1080, 1920, 1, 134, 119},
        {5120, 720, 1, 240, 44},  {1024, 4096, 1, 127, 128},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct boot_framebuffer fb = plain(all[i].width, all[i].height);
        const struct pixels p = picture(&fb);
        assert_int_equal(kscreen_init(&s, &p, &real_size), 0);
        assert_int_equal(s.scale, all[i].scale);
        assert_int_equal(s.columns, all[i].columns);
        assert_int_equal(s.rows, all[i].rows);
        drop(state);
    }
}

/* Whatever the firmware says: refused, or drawn inside. */
static void test_any_geometry(void **state)
{
    static char text[3000];
    uint64_t x = 88172645463325252;
    unsigned drawn = 0;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i % 97 == 96 ? '\n' : i * 7);
    for (unsigned round = 0; round < 4000; round++) {
        uint32_t r[8];
        for (int i = 0; i < 8; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            r[i] = (uint32_t)(x >> 20);
        }
        struct boot_framebuffer fb = plain(r[0] % 700, r[1] % 300);
        struct pixels p;
        const char *why;
        fb.format = r[2] % 4;
        fb.pixels_per_line = fb.width + r[3] % 40 - 4;
        fb.size = (uint64_t)fb.pixels_per_line * fb.height * (2 + r[4] % 3);
        memcpy(fb.masks, r[5] % 2 ? (uint32_t[]){0xF800, 0x07E0, 0x001F} : (uint32_t[]){0xFF0000, 0xFF00, 0xFF}, 12);
        if (r[6] % 8 == 0)
            fb.masks[r[7] % 3] ^= 1u << r[6] % 32;
        if (kpixels_describe(&p, &fb, &why) != 0)
            continue;
        p = picture(&fb);
        if (kscreen_init(&s, &p, &small) == 0) {
            kscreen_write(&s, text, sizeof text);
            kscreen_status(&s, text);
            drawn++;
        }
        drop(state);
    }
    assert_true(drawn > 300);
}

/* ---- text */
static void test_picture(void **state)
{
    static const char *const golden[] = {
        "...###..###..###.......", /* "AIA", half a character from the edge */
        "..#...#..#..#...#......", "..#####..#..#####......", "..#...#..#..#...#......",
        "..#...#.###.#...#......", ".......................", ".......................", /* an empty row */
        ".......................", ".......................", ".......................",
        ".......................", ".......................", "..####.................", /* "?" for what has no glyph */
        ".....#.................", "....#..................", ".......................",
        "....#..................", ".......................",
    };
    (void)state;
    begin_text(8, 40);
    say("AIA\n\n\xC3\n");
    for (uint32_t y = 0; y < sizeof golden / sizeof golden[0]; y++)
        for (uint32_t x = 0; golden[y][x]; x++)
            assert_int_equal(pixel_at(x, y), golden[y][x] == '#' ? s.ink[SCREEN_TEXT] : s.paper[SCREEN_TEXT]);
    expect(0, SCREEN_TEXT, "AIA");
    expect(2, SCREEN_TEXT, "?");
    expect(3, SCREEN_TEXT, "");
}

static void test_scaled(void **state)
{
    (void)state;
    begin(W * 200 + 3, H * 90 + 5);
    assert_int_equal(s.scale, 2);
    say("A line\n");
    expect(0, SCREEN_TEXT, "A line");
    assert_int_equal(pixel_at(s.left + 1, s.top), s.paper[SCREEN_TEXT]);
    assert_int_equal(pixel_at(s.left + 2, s.top), s.ink[SCREEN_TEXT]);
    assert_int_equal(pixel_at(s.left + 7, s.top + 1), s.ink[SCREEN_TEXT]);
    assert_int_equal(pixel_at(s.left + 8, s.top + 1), s.paper[SCREEN_TEXT]);
    for (uint32_t x = 0; x < s.pixels.width; x++) { /* cleared to its edges */
        assert_true(pixel_at(x, 0) != 0x5A5A5A5A && pixel_at(x, s.pixels.height - 1) != 0x5A5A5A5A);
    }
}

static void test_wrap(void **state)
{
    (void)state;
    begin_text(8, 40);
    say("0123456789 0123456789 0123456789 0123456789\n");
    expect(0, SCREEN_TEXT, "0123456789 0123456789 0123456789");
    expect(1, SCREEN_TEXT, "    0123456789");
    say("0123456789012345678901234567890123456789abc\n"); /* no blank to break at */
    expect(2, SCREEN_TEXT, "0123456789012345678901234567890123456789");
    expect(3, SCREEN_TEXT, "    abc");
    say("0123456789 0123456789 0123456789 0123456\n"); /* just fits: no empty row behind it */
    expect(4, SCREEN_TEXT, "0123456789 0123456789 0123456789 0123456");
    say("FAIL: x: 0123456789 0123456789 0123456789 end\r\n");
    expect(5, SCREEN_FAIL, "FAIL: x: 0123456789 0123456789");
    expect(6, SCREEN_FAIL, "    0123456789 end");
    say("PASS: x");
    expect(7, SCREEN_PASS, "PASS: x");
}

static void test_pieces(void **state)
{
    static const char text[] = "PASS: a\nFAIL: b\nSKIP: c\nSUMMARY: d\nPANIC: e\nnot PASS: f\nPASSED: g\nPAS";
    (void)state;
    begin_text(8, 40);
    for (size_t i = 0; text[i]; i++)
        kscreen_write(&s, text + i, 1);
    for (int round = 0; round < 2; round++) {
        expect(0, SCREEN_PASS, "PASS: a");
        expect(1, SCREEN_FAIL, "FAIL: b");
        expect(2, SCREEN_SKIP, "SKIP: c");
        expect(3, SCREEN_SUMMARY, "SUMMARY: d");
        expect(4, SCREEN_PANIC, "PANIC: e");
        expect(5, SCREEN_TEXT, "not PASS: f");
        expect(6, SCREEN_TEXT, "PASSED: g");
        expect(7, SCREEN_TEXT, "PAS");
        const struct pixels p = s.pixels; /* and the same in one piece */
        kscreen_init(&s, &p, &small);
        say(text);
    }
}

static void say_number(const char *word, unsigned n)
{
    char line[40];
    snprintf(line, sizeof line, "%s%u\n", word, n);
    say(line);
}

static void expect_number(uint32_t row, enum screen_kind kind, const char *word, unsigned n)
{
    char line[40];
    snprintf(line, sizeof line, "%s%u", word, n);
    expect(row, kind, line);
}

static void test_scroll(void **state)
{
    (void)state;
    begin_text(8, 40);
    for (unsigned i = 1; i <= 8; i++)
        say_number("line ", i);
    expect(0, SCREEN_TEXT, "line 1"); /* the newline of the last does not cost a row yet */
    expect(7, SCREEN_TEXT, "line 8");
    expect(8, SCREEN_STATUS, "");
    say_number("line ", 9);
    expect(8, SCREEN_STATUS, "                            1 line above");
    for (unsigned i = 10; i <= 30; i++)
        say_number("line ", i);
    for (unsigned i = 0; i < 8; i++)
        expect_number(i, SCREEN_TEXT, "line ", 23 + i);
    expect(8, SCREEN_STATUS, "                          22 lines above");
    kscreen_status(&s, "dump: 7 % of 100 bytes over serial, which");
    expect(8, SCREEN_STATUS, "dump: 7 % of 100 bytes ov 22 lines above");
    kscreen_status(&s, "done");
    expect(8, SCREEN_STATUS, "done                      22 lines above");
    say("0123456789 0123456789 0123456789 0123456789"); /* scrolls while it is written */
    expect(6, SCREEN_TEXT, "0123456789 0123456789 0123456789");
    expect(7, SCREEN_TEXT, "    0123456789");
    expect(8, SCREEN_STATUS, "done                      24 lines above");
}

/* What went wrong stays, at the top, whatever follows; the rest goes on scrolling below it. */
static void test_stays(void **state)
{
    (void)state;
    begin_text(10, 40);
    say("first\nFAIL: one: 0123456789 0123456789 0123456789\nSKIP: two\nPANIC: CPU 0\nRAX\n");
    for (unsigned i = 1; i <= 100; i++)
        say_number("line ", i);
    expect(0, SCREEN_FAIL, "FAIL: one: 0123456789 0123456789");
    expect(1, SCREEN_FAIL, "    0123456789");
    expect(2, SCREEN_PANIC, "PANIC: CPU 0");
    for (unsigned i = 0; i < 7; i++)
        expect_number(3 + i, SCREEN_TEXT, "line ", 94 + i);
    expect(10, SCREEN_STATUS, "                          96 lines above");
    for (unsigned i = 1; i <= 20; i++) /* more than half of the screen is not theirs */
        say_number("FAIL: ", i);
    say("SUMMARY: over\n");
    expect(0, SCREEN_FAIL, "FAIL: one: 0123456789 0123456789");
    expect_number(3, SCREEN_FAIL, "FAIL: ", 1);
    expect_number(4, SCREEN_FAIL, "FAIL: ", 2);
    expect_number(5, SCREEN_FAIL, "FAIL: ", 17);
    expect_number(8, SCREEN_FAIL, "FAIL: ", 20);
    expect(9, SCREEN_SUMMARY, "SUMMARY: over");
}

/* A framebuffer is slow: cells that stay as they are, blanks above all, are not drawn again. */
static void test_only_changes(void **state)
{
    (void)state;
    begin_text(8, 40);
    say("same\n");
    uint8_t *drawn = memory + (uint64_t)s.top * s.pixels.stride + s.left * 4, *blank = drawn + 20 * W * 4;
    *drawn ^= 1;
    *blank ^= 1;
    const uint8_t was[2] = {*drawn, *blank};
    say("more\n");
    kscreen_status(&s, "x");
    assert_int_equal(*drawn, was[0]);
    assert_int_equal(*blank, was[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_refused),
        cmocka_unit_test_teardown(test_too_small, drop),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_any_geometry),
        cmocka_unit_test_teardown(test_picture, drop),
        cmocka_unit_test_teardown(test_scaled, drop),
        cmocka_unit_test_teardown(test_wrap, drop),
        cmocka_unit_test_teardown(test_pieces, drop),
        cmocka_unit_test_teardown(test_scroll, drop),
        cmocka_unit_test_teardown(test_stays, drop),
        cmocka_unit_test_teardown(test_only_changes, drop),
    };
    return cmocka_run_group_tests(tests, make_fonts, NULL);
}
