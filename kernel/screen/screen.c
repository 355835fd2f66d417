/* SPDX-License-Identifier: MIT */
#include "kernel/screen/screen.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define INDENT 4u /* of what goes on from the row above */

static const struct {
    const char *word; /* the line begins with it */
    uint32_t ink, paper;
    bool stays;
} kinds[SCREEN_KINDS] = {
    [SCREEN_TEXT] = {"", 0xD0D0D0, 0x000000, false},
    [SCREEN_PASS] = {"PASS: ", 0x70E070, 0x000000, false},
    [SCREEN_FAIL] = {"FAIL: ", 0xFFFFFF, 0xB00000, true},
    [SCREEN_SKIP] = {"SKIP: ", 0xF0D050, 0x000000, false},
    [SCREEN_SUMMARY] = {"SUMMARY: ", 0xFFFFFF, 0x2040A0, false},
    [SCREEN_PANIC] = {"PANIC", 0xFFFFFF, 0xB00000, true},
    [SCREEN_STATUS] = {"", 0x000000, 0xB0B0B0, false},
    [SCREEN_CARD] = {"", 0x000000, 0xFFFFFF, true},
};
#define LONGEST_WORD 9u

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- drawing ---------------------------------------------------------------------------------------------------- */

/* Noted as drawn when it is, not before: what a panic breaks into is drawn once more. */
static void draw_cell(struct screen *s, uint32_t row, uint32_t column)
{
    const uint8_t kind = s->kind[row] < SCREEN_KINDS ? s->kind[row] : SCREEN_TEXT;
    const uint16_t cell = (uint16_t)(kind << 8 | (uint8_t)s->text[row][column]);
    if (__atomic_load_n(&s->drawn[row][column], __ATOMIC_RELAXED) == cell)
        return;
    kpixels_glyph(&s->pixels, s->left + column * s->font->width * s->scale, s->top + row * s->font->height * s->scale,
                  s->font, s->text[row][column], s->scale, s->ink[kind], s->paper[kind]);
    __atomic_store_n(&s->drawn[row][column], cell, __ATOMIC_RELEASE);
}

static void draw(struct screen *s)
{
    for (uint32_t row = 0; row <= s->rows; row++)
        for (uint32_t column = 0; column < s->columns; column++)
            draw_cell(s, row, column);
}

/* The status at the left; at the right how much has scrolled away. */
static void compose_status(struct screen *s)
{
    char gone[40] = "";
    char *line = s->text[s->rows];
    memset(line, ' ', s->columns);
    memcpy(line, s->status, least((uint32_t)strlen(s->status), s->columns));
    if (s->gone)
        snprintf(gone, sizeof gone, " %lu line%s above", (unsigned long)s->gone, s->gone == 1 ? "" : "s");
    const uint32_t n = least((uint32_t)strlen(gone), s->columns);
    memcpy(line + s->columns - n, gone, n);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void clear_row(struct screen *s, uint32_t row)
{
    memset(s->text[row], ' ', sizeof s->text[row]);
    s->kind[row] = SCREEN_TEXT;
    s->follows[row] = false;
}

/* One row less at the top of those that scroll, and an empty one at the bottom. */
static void scroll(struct screen *s)
{
    while (s->kept < s->rows / 2 && kinds[s->kind[s->kept] % SCREEN_KINDS].stays)
        s->kept++;
    const uint32_t from = least(s->kept, s->rows - 1), count = s->rows - 1 - from;
    s->gone += !s->follows[from];
    memmove(s->text[from], s->text[from + 1], count * sizeof s->text[0]);
    memmove(&s->kind[from], &s->kind[from + 1], count * sizeof s->kind[0]);
    memmove(&s->follows[from], &s->follows[from + 1], count * sizeof s->follows[0]);
    clear_row(s, s->rows - 1);
    if (s->begin > from)
        s->begin--;
}

static void next_row(struct screen *s)
{
    if (s->row + 1 < s->rows)
        s->row++;
    else
        scroll(s);
    s->column = 0;
}

/* The row is full: its last word goes on below, or where that is most of the row, so does the next character. */
static void wrap(struct screen *s)
{
    uint32_t word = s->columns;
    char tail[SCREEN_COLUMNS];
    while (word > s->columns / 2 && s->text[s->row][word - 1] != ' ')
        word--;
    if (word == s->columns / 2)
        word = s->columns;
    const uint32_t n = s->columns - word;
    const uint8_t kind = s->kind[s->row];
    memcpy(tail, s->text[s->row] + word, n);
    memset(s->text[s->row] + word, ' ', n);
    next_row(s);
    s->kind[s->row] = kind;
    s->follows[s->row] = true;
    memcpy(s->text[s->row] + INDENT, tail, n);
    s->column = INDENT + n;
}

static bool same(const char *text, const char *word, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        if (text[i] != word[i])
            return false;
    return true;
}

/* A line becomes what it is when its first word is complete; it may come in pieces. */
static void look_at_first_word(struct screen *s)
{
    for (uint8_t k = SCREEN_PASS; k < SCREEN_STATUS; k++)
        if (strlen(kinds[k].word) == s->column && same(s->text[s->row], kinds[k].word, s->column))
            s->kind[s->row] = k;
}

static void put(struct screen *s, char c)
{
    if (s->newline) {
        next_row(s);
        s->begin = s->row;
    }
    s->newline = c == '\n';
    if (c == '\n')
        return;
    if (s->column >= s->columns)
        wrap(s);
    s->text[s->row][s->column++] = c >= FONT_FIRST && c <= FONT_LAST ? c : '?';
    if (s->row == s->begin && s->column <= LONGEST_WORD)
        look_at_first_word(s);
}

/* ---- lines that stay --------------------------------------------------------------------------------------------- */

static uint32_t used(const char *row, uint32_t columns)
{
    while (columns && row[columns - 1] == ' ')
        columns--;
    return columns;
}

/* Writes a row of `old`. One that goes on with a line of which nothing else is there is a line of its own. */
static void write_again(struct screen *s, const struct screen *old, uint32_t row)
{
    const bool follows = old->follows[row] && row != old->kept;
    if (follows && used(old->text[row - 1], old->columns) < old->columns)
        put(s, ' '); /* it was wrapped there */
    else if (!follows && row)
        put(s, '\n');
    for (uint32_t i = follows ? INDENT : 0, end = used(old->text[row], old->columns); i < end; i++)
        put(s, old->text[row][i]);
}

/* An empty screen but for the status. */
static void restart(struct screen *s)
{
    for (uint32_t row = 0; row < s->rows; row++)
        clear_row(s, row);
    s->kept = s->row = s->column = s->begin = 0;
    s->newline = false;
}

void kscreen_keep(struct screen *s, const char *lines, uint32_t columns)
{
    static struct screen old; /* large for a stack */
    old = *s;
    s->columns = least(columns, s->columns);
    restart(s);
    uint32_t count = 0;
    for (const char *c = lines; *c; c++)
        count += *c == '\n';
    if (s->rows >= 2 * count + SCREEN_LEAST_ROWS / 2) {
        for (const char *c = lines; *c; c++)
            put(s, *c);
        for (; s->kept <= s->row; s->kept++)
            s->kind[s->kept] = SCREEN_CARD;
    }
    for (uint32_t row = 0; row <= old.row; row++)
        write_again(s, &old, row);
    s->newline = old.newline;
    compose_status(s);
    draw(s);
}

/* ---- for everybody ---------------------------------------------------------------------------------------------- */

int kscreen_init(struct screen *s, const struct pixels *pixels, const struct font *font)
{
    memset(s, 0, sizeof *s);
    s->pixels = *pixels;
    s->font = font;
    const uint32_t by_width = pixels->width / (font->width * SCREEN_GOOD_COLUMNS);
    const uint32_t by_height = pixels->height / (font->height * SCREEN_GOOD_ROWS);
    s->scale = least(least(by_width, by_height), PIXELS_MOST_SCALE);
    s->scale += !s->scale;
    const uint32_t width = font->width * s->scale, height = font->height * s->scale;
    s->columns = least(pixels->width / width, SCREEN_COLUMNS + 1);
    s->rows = least(pixels->height / height, SCREEN_ROWS + 1);
    if (s->columns <= SCREEN_LEAST_COLUMNS || s->rows <= SCREEN_LEAST_ROWS)
        return -EINVAL;
    s->columns--; /* half a character free at both sides */
    s->left = (pixels->width - s->columns * width) / 2;
    s->top = (pixels->height - s->rows * height) / 2;
    s->rows--; /* the status */
    for (uint32_t k = 0; k < SCREEN_KINDS; k++) {
        s->ink[k] = kpixels_colour(pixels, kinds[k].ink);
        s->paper[k] = kpixels_colour(pixels, kinds[k].paper);
    }
    for (uint32_t row = 0; row <= SCREEN_ROWS; row++)
        clear_row(s, row);
    s->kind[s->rows] = SCREEN_STATUS;
    memset(s->drawn, 0xFF, sizeof s->drawn);
    kpixels_fill(pixels, 0, 0, pixels->width, pixels->height, s->paper[SCREEN_TEXT]);
    for (uint32_t row = 0; row < s->rows; row++) /* that is what blanks look like */
        for (uint32_t column = 0; column < s->columns; column++)
            s->drawn[row][column] = SCREEN_TEXT << 8 | ' ';
    draw(s);
    return 0;
}

void kscreen_write(struct screen *s, const char *text, size_t size)
{
    const uint64_t gone = s->gone;
    for (size_t i = 0; i < size; i++)
        if (text[i] != '\r')
            put(s, text[i]);
    if (s->gone != gone)
        compose_status(s);
    draw(s);
}

void kscreen_status(struct screen *s, const char *text)
{
    snprintf(s->status, sizeof s->status, "%s", text);
    compose_status(s);
    draw(s);
}
