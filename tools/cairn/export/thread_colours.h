/* SPDX-License-Identifier: MIT */
/*
 * A colour for each thread, from its name: the same in the page, in the SVG, and for other logs. Threads whose names
 * are equal up to a slash ("hog/0", "hog/1") share a hue. If two different such names would get the same hue, the one
 * that comes later in the log takes the next free hue.
 */
#pragma once

#include "tools/cairn/log/log.h"

#define CAIRN_HUES    24u
#define CAIRN_SHADES  4u
#define CAIRN_COLOURS (CAIRN_HUES * CAIRN_SHADES)

struct cairn_thread_colours {
    const struct cairn_log *log;
    uint8_t *of; /* by the log's names */
};

void cairn_thread_colours_read(struct cairn_thread_colours *c, const struct cairn_log *log);
/* Below CAIRN_COLOURS. */
unsigned cairn_thread_colour(const struct cairn_thread_colours *c, uint32_t tid);
void cairn_thread_colours_free(struct cairn_thread_colours *c);

/* "#rrggbb", light enough for dark text on it, on a light page or a `dark` one. */
const char *cairn_colour_text(char out[8], unsigned colour, bool dark);
