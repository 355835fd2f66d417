/* SPDX-License-Identifier: MIT */
/* Glyphs for ASCII's printable characters, all of one size. tools/font.py makes the kernel's at build time. */
#pragma once

#include <stdint.h>

#define FONT_FIRST  ' '
#define FONT_LAST   '~'
#define FONT_GLYPHS (FONT_LAST - FONT_FIRST + 1)

#define FONT_MOST_WIDTH  32u
#define FONT_MOST_HEIGHT 64u

struct font {
    uint32_t width, height; /* pixels: at most FONT_MOST_WIDTH and FONT_MOST_HEIGHT */
    const uint32_t *rows;   /* [FONT_GLYPHS][height]; the highest of a row's `width` bits is the left pixel */
};

extern const struct font font_console;
