/* SPDX-License-Identifier: MIT */
#include "tools/cairn/export/svg/lanes.h"

#include <stdlib.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/names.h"
#include "tools/cairn/model/filter.h"

#define SHOWN  5u /* threads of one column */
#define LOWEST 6u /* parts that the first of these has at least, to be seen */
#define BLOCK  3u /* steps wide: what is a block of its own */

double cairn_svg_column(const struct cairn_svg_lanes *lanes, int64_t time)
{
    const double at = (double)((__int128)time - lanes->start) * CAIRN_SVG_COLUMNS / (double)lanes->units;
    return at < 0.0 ? 0.0 : at > CAIRN_SVG_COLUMNS ? CAIRN_SVG_COLUMNS : at;
}

static unsigned column_of(const struct cairn_svg_lanes *lanes, int64_t time)
{
    const unsigned at = (unsigned)cairn_svg_column(lanes, time);
    return at < CAIRN_SVG_COLUMNS ? at : CAIRN_SVG_COLUMNS - 1;
}

static int64_t begin_of(const struct cairn_svg_lanes *lanes, unsigned column)
{
    return (int64_t)((uint64_t)lanes->start + (uint64_t)((unsigned __int128)lanes->units * column / CAIRN_SVG_COLUMNS));
}

void cairn_svg_lanes_begin(struct cairn_svg_lanes *lanes, const struct cairn_output *o)
{
    int64_t stop;
    cairn_stints_range(o->log, o->compact, &lanes->start, &stop);
    cairn_filter_cut(&lanes->start, &stop);
    lanes->units = stop > lanes->start ? (uint64_t)stop - (uint64_t)lanes->start : 1;
    lanes->step = 1 + o->log->cpus / 8;
    lanes->items = cairn_alloc((o->log->cpus + 1) * sizeof(*lanes->items));
    for (uint32_t c = 0; c < o->log->cpus; c++) {
        struct cairn_svg_lane *lane = &lanes->items[c];
        cairn_stints_init(&lane->stints, o->log);
        cairn_record_gaps_begin(&lane->record_gaps, lanes->start);
        if (lane->stints.time < lanes->start)
            lane->stints.time = lanes->start; /* --from: who leaves at the first switch had come before it */
        CAIRN_ADD(lane->runners)->tid = 0;
    }
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static uint32_t runner_of(struct cairn_svg_lane *lane, uint32_t tid)
{
    const uint32_t known = cairn_map_find(&lane->by_tid, tid);
    if (known)
        return known - 1;
    cairn_map_add(&lane->by_tid, tid, (uint32_t)lane->runners.count);
    CAIRN_ADD(lane->runners)->tid = tid;
    return (uint32_t)lane->runners.count - 1;
}

static void add_piece(struct cairn_svg_runner *r, unsigned column, unsigned low, unsigned height)
{
    struct cairn_svg_piece *last = r->pieces.count ? &r->pieces.items[r->pieces.count - 1] : NULL;
    if (last && last->x + last->width == column && last->low == low && last->height == height)
        last->width++;
    else
        *CAIRN_ADD(r->pieces) = (struct cairn_svg_piece){(uint16_t)column, 1, (uint8_t)low, (uint8_t)height};
}

/* The threads that ran longest in the open column become pieces, one above the other; the others one together. */
static void close_column(const struct cairn_svg_lanes *lanes, struct cairn_svg_lane *lane)
{
    const uint64_t all = (uint64_t)(begin_of(lanes, lane->column + 1) - begin_of(lanes, lane->column));
    uint32_t *in = lane->in_column.items;
    struct cairn_svg_runner *r = lane->runners.items;
    unsigned low = 0;
    for (size_t i = 0; i < lane->in_column.count; i++) {
        uint64_t units = r[in[i]].column;
        for (size_t k = i + 1; k < lane->in_column.count; k++) {
            if (i == SHOWN)
                units += r[in[k]].column;
            if (i < SHOWN && r[in[k]].column > units) {
                const uint32_t longer = in[k];
                in[k] = in[i];
                in[i] = longer;
                units = r[longer].column;
            }
        }
        unsigned height = (unsigned)((units * CAIRN_SVG_PARTS + all / 2) / (all ? all : 1));
        height = i == 0 && height < LOWEST ? LOWEST : height;
        height = height > CAIRN_SVG_PARTS - low ? CAIRN_SVG_PARTS - low : height;
        if (height)
            add_piece(i < SHOWN ? &r[in[i]] : &r[0], lane->column, low, height);
        low += height;
        if (i == SHOWN)
            break;
    }
    for (size_t i = 0; i < lane->in_column.count; i++)
        r[in[i]].column = 0;
    lane->in_column.count = 0;
}

static void into_columns(const struct cairn_svg_lanes *lanes, struct cairn_svg_lane *lane, uint32_t runner,
                         int64_t from, int64_t to)
{
    for (unsigned c = column_of(lanes, from), last = column_of(lanes, to); c <= last; c++) {
        const int64_t begins = begin_of(lanes, c), ends = begin_of(lanes, c + 1);
        const int64_t a = from > begins ? from : begins, b = to < ends ? to : ends;
        struct cairn_svg_runner *r = &lane->runners.items[runner];
        if (b <= a)
            continue;
        if (c != lane->column)
            close_column(lanes, lane);
        lane->column = c;
        if (!r->column)
            *CAIRN_ADD(lane->in_column) = runner;
        r->column += (uint64_t)(b - a);
    }
}

/* ---- what comes -------------------------------------------------------------------------------------------------- */

static const char *state_of(const struct cairn_switch *sw)
{
    if (!sw || !sw->detailed || sw->raw)
        return NULL;
    return sw->state == KTHREAD_WAITING ? cairn_reason_name(sw->reason) : cairn_state_name(sw->state);
}

static void add_stint(const struct cairn_svg_lanes *lanes, struct cairn_svg_lane *lane, const struct cairn_stint *stint,
                      const struct cairn_switch *left)
{
    const uint64_t units = (uint64_t)stint->to - (uint64_t)stint->from;
    lane->idle += stint->kind == CAIRN_STINT_IDLE ? units : 0;
    lane->unknown += stint->kind == CAIRN_STINT_UNKNOWN ? units : 0;
    if (stint->kind != CAIRN_STINT_THREAD)
        return;
    const uint32_t runner = runner_of(lane, stint->tid);
    lane->busy += units;
    lane->runners.items[runner].units += units;
    if (cairn_svg_column(lanes, stint->to) - cairn_svg_column(lanes, stint->from) < BLOCK * lanes->step)
        into_columns(lanes, lane, runner, stint->from, stint->to);
    else
        *CAIRN_ADD(lane->runners.items[runner].blocks) =
            (struct cairn_svg_block){stint->from, stint->to, state_of(left)};
}

static void end_gap(struct cairn_svg_lane *lane, int64_t time)
{
    struct cairn_svg_gap *gap = lane->hole ? &lane->gaps.items[lane->gaps.count - 1] : NULL;
    if (gap && gap->to < time)
        gap->to = time;
    lane->hole = false;
}

void cairn_svg_lanes_switch(struct cairn_svg_lanes *lanes, const struct cairn_item *item)
{
    struct cairn_svg_lane *lane = &lanes->items[item->cpu];
    struct cairn_stint stint;
    end_gap(lane, item->time);
    if (cairn_stints_next(&lane->stints, &item->sw, &stint))
        add_stint(lanes, lane, &stint, &item->sw);
    lane->switches++;
    lanes->switches++;
}

void cairn_svg_lanes_record(struct cairn_svg_lanes *lanes, const struct cairn_item *item)
{
    struct cairn_svg_lane *lane = &lanes->items[item->cpu];
    lane->records++;
    cairn_record_gaps_record(&lane->record_gaps, item->record);
    if (!item->record->timed) {
        lanes->untimed++;
        return;
    }
    struct cairn_svg_marks *m = &lane->marks[column_of(lanes, item->time) / lanes->step];
    if (!m->count++) {
        m->time = item->time;
        m->ip = item->record->ip;
        m->tid = item->tid;
        m->blame = item->blame;
    }
}

static void add_unread(struct cairn_svg_lanes *lanes, struct cairn_svg_lane *lane, const struct cairn_record_gap *gap)
{
    struct cairn_svg_unread *last = lane->unread.count ? &lane->unread.items[lane->unread.count - 1] : NULL;
    if (last && column_of(lanes, last->is.from) / lanes->step == column_of(lanes, gap->from) / lanes->step) {
        last->is.to = gap->to > last->is.to ? gap->to : last->is.to;
        last->is.quiet &= gap->quiet;
        last->more++;
    } else {
        CAIRN_ADD(lane->unread)->is = *gap;
    }
}

void cairn_svg_lanes_drain(struct cairn_svg_lanes *lanes, const struct cairn_item *item)
{
    struct cairn_svg_lane *lane = &lanes->items[item->cpu];
    struct cairn_record_gap gaps[CAIRN_RECORD_GAPS];
    const unsigned count = cairn_record_gaps_drain(&lane->record_gaps, item->epoch, gaps);
    for (unsigned i = 0; i < count; i++)
        add_unread(lanes, lane, &gaps[i]);
}

/* A gap is from what came before it to the next switch; those that begin in the same place are one. */
static void add_gap(struct cairn_svg_lanes *lanes, struct cairn_svg_lane *lane, const struct cairn_svg_gap *new)
{
    struct cairn_svg_gap *last = lane->gaps.count ? &lane->gaps.items[lane->gaps.count - 1] : NULL;
    if (!last || column_of(lanes, last->from) / lanes->step != column_of(lanes, new->from) / lanes->step) {
        *CAIRN_ADD(lane->gaps) = *new;
        return;
    }
    const uint32_t holes = last->holes + new->holes;
    const int64_t from = last->from < new->from ? last->from : new->from, to = last->to > new->to ? last->to : new->to;
    if (new->kind < last->kind)
        *last = *new;
    last->from = from;
    last->to = to;
    last->holes = holes;
}

void cairn_svg_lanes_lost(struct cairn_svg_lanes *lanes, const struct cairn_item *item)
{
    struct cairn_svg_lane *lane = &lanes->items[item->cpu];
    const struct cairn_hole *h = item->hole;
    const int64_t from = lane->stints.has_time ? lane->stints.time : lanes->start;
    struct cairn_svg_gap gap = {.from = from, .to = from, .holes = 1, .hole = *h};
    gap.kind = h->kind == CAIRN_HOLE_STOPPED      ? CAIRN_SVG_STOPPED
               : h->kind == CAIRN_HOLE_MAYBE_LOST ? CAIRN_SVG_MAYBE
                                                  : CAIRN_SVG_MISSING;
    lane->holes++;
    cairn_record_gaps_hole(&lane->record_gaps, h);
    add_gap(lanes, lane, &gap);
    lane->hole = true;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static int by_units(const void *a, const void *b)
{
    const struct cairn_svg_whole *x = a, *y = b;
    if (x->units != y->units)
        return x->units > y->units ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void find_colours(struct cairn_svg_lanes *lanes, const struct cairn_log *log)
{
    struct cairn_thread_colours colours;
    struct {
        struct cairn_svg_whole *items;
        size_t count, room;
    } all = {0};
    struct cairn_map by_tid = {0};
    for (uint32_t c = 0; c < log->cpus; c++)
        for (size_t i = 1; i < lanes->items[c].runners.count; i++) {
            const struct cairn_svg_runner *r = &lanes->items[c].runners.items[i];
            uint32_t at = cairn_map_find(&by_tid, r->tid);
            if (!at) {
                cairn_map_add(&by_tid, r->tid, (uint32_t)all.count);
                CAIRN_ADD(all)->tid = r->tid;
                at = (uint32_t)all.count;
            }
            all.items[at - 1].units += r->units;
            lanes->busy += r->units;
        }
    if (all.count)
        qsort(all.items, all.count, sizeof(*all.items), by_units);
    cairn_thread_colours_read(&colours, log);
    for (; lanes->coloured < CAIRN_SVG_COLOURS && lanes->coloured < all.count; lanes->coloured++) {
        struct cairn_svg_whole *thread = &lanes->threads[lanes->coloured];
        *thread = all.items[lanes->coloured];
        thread->colour = cairn_thread_colour(&colours, thread->tid);
    }
    cairn_thread_colours_free(&colours);
    free(all.items);
    cairn_map_free(&by_tid);
}

void cairn_svg_lanes_end(struct cairn_svg_lanes *lanes, const struct cairn_output *o)
{
    const int64_t stop = (int64_t)((uint64_t)lanes->start + lanes->units);
    for (uint32_t c = 0; c < o->log->cpus; c++) {
        struct cairn_svg_lane *lane = &lanes->items[c];
        const bool hole = lane->hole;
        struct cairn_stint rest;
        struct cairn_record_gap gap;
        if (cairn_filter_cpu(c) && cairn_record_gaps_end(&lane->record_gaps, o->log, c, hole, stop, &gap))
            add_unread(lanes, lane, &gap);
        if (cairn_filter_cpu(c) && cairn_stints_rest(&lane->stints, o->log, c, hole, stop, &rest)) {
            add_stint(lanes, lane, &rest, NULL);
            if (rest.kind == CAIRN_STINT_UNKNOWN && !hole)
                add_gap(lanes, lane, &(struct cairn_svg_gap){.from = rest.from, .to = stop, .kind = CAIRN_SVG_UNTOLD});
        }
        end_gap(lane, stop);
        close_column(lanes, lane);
    }
    find_colours(lanes, o->log);
}

void cairn_svg_lanes_free(struct cairn_svg_lanes *lanes, const struct cairn_output *o)
{
    for (uint32_t c = 0; lanes->items && c < o->log->cpus; c++) {
        struct cairn_svg_lane *lane = &lanes->items[c];
        for (size_t i = 0; i < lane->runners.count; i++) {
            free(lane->runners.items[i].pieces.items);
            free(lane->runners.items[i].blocks.items);
        }
        free(lane->runners.items);
        free(lane->in_column.items);
        free(lane->gaps.items);
        free(lane->unread.items);
        cairn_map_free(&lane->by_tid);
    }
    free(lanes->items);
}
