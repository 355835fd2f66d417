/* SPDX-License-Identifier: MIT */
/* What is kept of a CPU for the picture: no more than its columns need, however long the trace is. */
#pragma once

#include "tools/cairn/base/number_map.h"
#include "tools/cairn/export/record_gaps.h"
#include "tools/cairn/export/svg/svg.h"
#include "tools/cairn/model/cpu_time.h"

#define CAIRN_SVG_LEFT    58u /* where lanes begin */
#define CAIRN_SVG_COLUMNS (CAIRN_SVG_WIDTH - CAIRN_SVG_LEFT - CAIRN_SVG_MARGIN)
#define CAIRN_SVG_RUNS    24u /* pixels: the height of what ran */
#define CAIRN_SVG_PARTS   96u /* of that height */

struct cairn_svg_piece { /* columns in which a thread had the same share of the time */
    uint16_t x, width;
    uint8_t low, height; /* CAIRN_SVG_PARTS are all; low: of those below it */
};

struct cairn_svg_block { /* a stint wide enough to be drawn as it is */
    int64_t from, to;
    const char *state; /* the thread's when it left; NULL: not told */
};

struct cairn_svg_runner { /* a thread on one CPU */
    uint32_t tid;
    uint64_t units;
    uint64_t column; /* in the open one */
    struct {
        struct cairn_svg_piece *items;
        size_t count, room;
    } pieces;
    struct {
        struct cairn_svg_block *items;
        size_t count, room;
    } blocks;
};

/* Where something is missing, or nobody knows who ran; the lower of two in the same place is told. */
enum cairn_svg_gap_kind { CAIRN_SVG_MISSING, CAIRN_SVG_MAYBE, CAIRN_SVG_STOPPED, CAIRN_SVG_UNTOLD };

struct cairn_svg_gap {
    int64_t from, to;
    uint8_t kind;
    uint32_t holes; /* so many of the log in one place; of one this is it */
    struct cairn_hole hole;
};

struct cairn_svg_marks { /* records in a few columns */
    uint32_t count;
    /* of the first */
    int64_t time;
    uint64_t ip;
    uint32_t tid;
    uint8_t blame;
};

struct cairn_svg_lane {
    struct cairn_stints stints;
    uint64_t busy, idle, unknown; /* units */
    uint64_t switches, records, holes;
    struct cairn_map by_tid;
    struct {
        struct cairn_svg_runner *items; /* the first: what is too little to be drawn in its column */
        size_t count, room;
    } runners;
    struct {
        uint32_t *items; /* runners of the open column */
        size_t count, room;
    } in_column;
    unsigned column;
    struct {
        struct cairn_svg_gap *items;
        size_t count, room;
    } gaps;
    bool hole;                            /* the last gap has no end yet: it is where the next switch is */
    struct cairn_record_gaps record_gaps; /* as far as told; and those of them that do not begin in the same place: */
    struct {
        struct cairn_svg_unread {
            struct cairn_record_gap is;
            uint32_t more;
        } * items;
        size_t count, room;
    } unread;
    struct cairn_svg_marks marks[CAIRN_SVG_COLUMNS];
};

/* Columns from the left, fractions as well. */
double cairn_svg_column(const struct cairn_svg_lanes *lanes, int64_t time);
