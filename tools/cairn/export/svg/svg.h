/* SPDX-License-Identifier: MIT */
/* The parts of writer.c's picture: a lane for each CPU, and the records by function: a bar for each, or where callers
 * are known a flame graph. The contents of a lane are added up by columns of the picture, so the file does not grow
 * with the trace. */
#pragma once

#include "tools/cairn/export/stacks.h"
#include "tools/cairn/export/thread_colours.h"
#include "tools/cairn/export/writer.h"

#define CAIRN_SVG_WIDTH   1200u /* of the picture */
#define CAIRN_SVG_MARGIN  10u
#define CAIRN_SVG_COLOURS 23u /* threads that have one of their own: class t0 and so on; all others: o */
#define CAIRN_SVG_OTHERS  CAIRN_SVG_COLOURS

/* ---- text (parts.c): markup is escaped, other characters than printable ASCII are replaced ----------------------- */

/* Characters of font-size 12, in a wide type, and pixels. */
#define CAIRN_SVG_FITS(width)      ((width)*10 / 71)
#define CAIRN_SVG_WIDE(characters) ((characters)*71u / 10u)

void cairn_svg_text(FILE *to, const char *text);
/* What fits into a width, with some room around it; nothing where that is too little to read. */
void cairn_svg_label(FILE *to, double x, double y, double width, const char *text);
/* So much of it as has room in so many characters. */
void cairn_svg_cut(FILE *to, const char *text, size_t characters);
/* In lines as wide as the picture, the first one's base line at `y`: each a text element with these attributes. How
 * many there are; without `to` they are only counted. */
unsigned cairn_svg_lines(FILE *to, unsigned y, const char *attributes, const char *text);
#define CAIRN_SVG_LINE 15u /* that these are apart */
/* "t3", "o" */
const char *cairn_svg_class(char out[8], unsigned colour);

/* ---- lanes (lanes.c, drawn in draw.c) ---------------------------------------------------------------------------- */

struct cairn_svg_lane; /* lanes.h */

struct cairn_svg_lanes {
    int64_t start;                /* session clock */
    uint64_t units;               /* of the whole picture */
    unsigned step;                /* pixels that marks are apart, at least: the more CPUs, the more */
    struct cairn_svg_lane *items; /* by CPU */
    uint64_t switches, untimed;   /* untimed: records that have no place in time */
    struct cairn_svg_whole {
        uint32_t tid;
        uint64_t units;
        unsigned colour;          /* thread_colours.h */
    } threads[CAIRN_SVG_COLOURS]; /* behind cairn_svg_lanes_end: that ran longest on all CPUs together */
    unsigned coloured;            /* of these */
    uint64_t busy;                /* of all threads */
};

void cairn_svg_lanes_begin(struct cairn_svg_lanes *lanes, const struct cairn_output *o);
void cairn_svg_lanes_switch(struct cairn_svg_lanes *lanes, const struct cairn_item *item);
void cairn_svg_lanes_record(struct cairn_svg_lanes *lanes, const struct cairn_item *item);
void cairn_svg_lanes_drain(struct cairn_svg_lanes *lanes, const struct cairn_item *item);
void cairn_svg_lanes_lost(struct cairn_svg_lanes *lanes, const struct cairn_item *item);
/* Behind the last of them. */
void cairn_svg_lanes_end(struct cairn_svg_lanes *lanes, const struct cairn_output *o);
void cairn_svg_lanes_free(struct cairn_svg_lanes *lanes, const struct cairn_output *o);

/* Of all of them, with a scale above and what the colours mean below. */
unsigned cairn_svg_lanes_height(const struct cairn_svg_lanes *lanes, const struct cairn_output *o);
void cairn_svg_lanes_draw(const struct cairn_svg_lanes *lanes, const struct cairn_output *o, unsigned y);

/* ---- records by function ----------------------------------------------------------------------------------------- */

/* The colour of a thread, by how it is shown. */
unsigned cairn_svg_colour(const struct cairn_svg_lanes *threads, const struct cairn_output *o, const char *thread);

/* flames.c: frames of the deepest stack, thread included. */
unsigned cairn_svg_flames_rows(const struct cairn_stacks *stacks);
/* How high it is, caption included. */
unsigned cairn_svg_flames_height(const struct cairn_stacks *stacks);
/* From `y` down. `threads`: their colours. */
void cairn_svg_flames_draw(const struct cairn_stacks *stacks, const struct cairn_output *o,
                           const struct cairn_svg_lanes *threads, unsigned y);

/* bars.c, likewise: for stacks of no more than thread and function. */
unsigned cairn_svg_bars_height(const struct cairn_stacks *stacks);
void cairn_svg_bars_draw(const struct cairn_stacks *stacks, const struct cairn_output *o,
                         const struct cairn_svg_lanes *threads, unsigned y);
