/* SPDX-License-Identifier: MIT */
/*
 * Text on a picture: lines that scroll, and one status line below them. What a person who photographs the screen needs
 * stays on it: lines that begin with "FAIL: " or "PANIC" do not scroll away (they collect at the top, up to half of the
 * screen), and the bottom says how many other lines have scrolled away. Colours add nothing to the words. Pure, also
 * compiled on the host. No lock: the caller serialises calls. If a panic interrupts a call for good, later calls still
 * work.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/screen/pixels.h"

/* At most: what there is beyond stays empty. */
#define SCREEN_COLUMNS 240u
#define SCREEN_ROWS    128u
/* At least, or the picture is too small to be of use. */
#define SCREEN_LEAST_COLUMNS 40u
#define SCREEN_LEAST_ROWS    8u
/* Characters grow by whole factors as long as so many fit. */
#define SCREEN_GOOD_COLUMNS 100u
#define SCREEN_GOOD_ROWS    30u

/* What the first word of a line makes of it. */
enum screen_kind {
    SCREEN_TEXT,
    SCREEN_PASS,
    SCREEN_FAIL,
    SCREEN_SKIP,
    SCREEN_SUMMARY,
    SCREEN_PANIC,
    SCREEN_STATUS,
    SCREEN_CARD,
};
#define SCREEN_KINDS 8u

struct screen {
    struct pixels pixels;
    const struct font *font;
    uint32_t scale, columns, rows; /* rows: of text, without the status below them */
    uint32_t left, top;            /* pixels around the text */
    uint32_t ink[SCREEN_KINDS], paper[SCREEN_KINDS];
    uint32_t kept;        /* rows at the top that stay */
    uint32_t row, column; /* where the next character goes */
    uint32_t begin;       /* the first row of this line: it may go on in others */
    bool newline;         /* before the next character: the last row is not wasted on an empty one */
    uint64_t gone;        /* lines that are not on the screen any more */
    char status[SCREEN_COLUMNS];
    uint8_t kind[SCREEN_ROWS + 1]; /* enum screen_kind of a row */
    bool follows[SCREEN_ROWS + 1]; /* a row goes on with the line of the one above */
    char text[SCREEN_ROWS + 1][SCREEN_COLUMNS];
    uint16_t drawn[SCREEN_ROWS + 1][SCREEN_COLUMNS]; /* kind << 8 | character; UINT16_MAX: nothing yet */
};

/* Clears the picture. `pixels` as kpixels_describe filled it, with its base. -EINVAL where the picture is too small. */
int kscreen_init(struct screen *s, const struct pixels *pixels, const struct font *font);
/* ASCII; '\n' ends a line, '\r' is ignored, what has no glyph becomes '?'. Draws what has changed. */
void kscreen_write(struct screen *s, const char *text, size_t size);
/* Has these lines at the top from now on, where they stay, and text only in the first `columns` columns: all that is
 * there is written again below them. Lines of a screen that is too low for them and for others do not appear. */
void kscreen_keep(struct screen *s, const char *lines, uint32_t columns);
/* The line at the bottom. */
void kscreen_status(struct screen *s, const char *text);
