/* SPDX-License-Identifier: MIT */
/* Draws the lanes of the CPUs: scale, threads, records and gaps. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/svg/lanes.h"
#include "tools/cairn/model/filter.h"

#define SCALE  20u /* the height of the scale */
#define MARKS  8u  /* of the records' marks, below what ran */
#define LANE   (CAIRN_SVG_RUNS + MARKS + 8u)
#define LEGEND 17u  /* of a line of the legend */
#define NAME   24   /* characters of a thread's name there, at most */
#define LAST   370u /* pixels from the right: none begins there but the last, "others" */
#define TICKS  9u   /* on the scale, at most */
#define FAR    16u  /* lanes; below more than these the scale stands a second time */
#define GROUPS 512u /* threads of all lanes together that have a group of their own */

struct pen {
    const struct cairn_svg_lanes *lanes;
    const struct cairn_output *o;
    FILE *to;
    unsigned y;
};

/* ---- the scale --------------------------------------------------------------------------------------------------- */

static void print_tick(FILE *to, int64_t ns, int64_t step)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
    unsigned u = 0;
    while (u < 2 && step < units[u].ns / 10)
        u++;
    fprintf(to, "%.*f %s", step < units[u].ns ? 1 : 0, (double)ns / (double)units[u].ns, units[u].name);
}

static int64_t tick_step(int64_t span)
{
    for (int64_t ten = 100;; ten *= 10)
        for (unsigned i = 0; i < 3; i++) {
            const int64_t step = ten * (i == 0 ? 1 : i == 1 ? 2 : 5);
            if (span / step <= TICKS || step >= INT64_MAX / 20)
                return step;
        }
}

/* Behind `height` of lanes; `below`: its words come again below them, if not 0. */
static void draw_scale(const struct pen *p, unsigned height, unsigned below)
{
    const struct cairn_svg_lanes *lanes = p->lanes;
    const int64_t from = cairn_out_ns(p->o, lanes->start);
    const int64_t to = cairn_out_ns(p->o, lanes->start + (int64_t)lanes->units);
    const int64_t span = to > from ? to - from : 1, step = tick_step(span);
    fputs("<g text-anchor=\"middle\">\n", p->to);
    for (int64_t ns = from / step * step; ns <= to - step / 4 && ns <= INT64_MAX - step; ns += step) {
        if (ns < from)
            continue;
        const double x = CAIRN_SVG_LEFT + (double)(ns - from) * CAIRN_SVG_COLUMNS / (double)span;
        fprintf(p->to, "<path class=\"a\" d=\"M%.1f %uv%u\"/>", x, p->y + SCALE - 4, height);
        for (unsigned y = p->y + SCALE - 7;; y += height + below - 4) {
            fprintf(p->to, "<text x=\"%.1f\" y=\"%u\">", x, y);
            print_tick(p->to, ns, step);
            fputs("</text>\n", p->to);
            if (!below || y > p->y + SCALE)
                break;
        }
    }
    fputs("</g>\n", p->to);
}

/* ---- what ran ---------------------------------------------------------------------------------------------------- */

static unsigned colour_of(const struct cairn_svg_lanes *lanes, uint32_t tid)
{
    for (unsigned i = 0; i < lanes->coloured; i++)
        if (lanes->threads[i].tid == tid)
            return i;
    return CAIRN_SVG_OTHERS;
}

static void draw_pieces(const struct pen *p, const struct cairn_svg_runner *r)
{
    const double part = (double)CAIRN_SVG_RUNS / CAIRN_SVG_PARTS;
    if (!r->pieces.count)
        return;
    fputs("<path d=\"", p->to);
    for (size_t i = 0; i < r->pieces.count; i++) {
        const struct cairn_svg_piece *piece = &r->pieces.items[i];
        const double height = piece->height * part, y = p->y + CAIRN_SVG_RUNS - piece->low * part - height;
        fprintf(p->to, "M%u %.2fh%uv%.2fh-%uz", CAIRN_SVG_LEFT + piece->x, y, piece->width, height, piece->width);
    }
    fputs("\"/>", p->to);
}

static void draw_blocks(const struct pen *p, const struct cairn_svg_runner *r)
{
    char thread[CAIRN_SHOWN], from[CAIRN_SHOWN], to[CAIRN_SHOWN], span[CAIRN_SHOWN];
    cairn_show_thread(thread, p->o->log, r->tid, CAIRN_SHOWN - 1);
    for (size_t i = 0; i < r->blocks.count; i++) {
        const struct cairn_svg_block *b = &r->blocks.items[i];
        const double x = CAIRN_SVG_LEFT + cairn_svg_column(p->lanes, b->from);
        const double width = CAIRN_SVG_LEFT + cairn_svg_column(p->lanes, b->to) - x;
        fprintf(p->to, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\"><title>", x, p->y, width,
                CAIRN_SVG_RUNS);
        cairn_svg_text(p->to, thread);
        fprintf(p->to, ": %s from %s to %s", cairn_show_span(span, p->o->log, (uint64_t)b->to - (uint64_t)b->from),
                cairn_show_time(from, p->o->log, b->from), cairn_show_moment(to, p->o->log, b->to));
        if (b->state) {
            fputs(", then ", p->to);
            cairn_svg_text(p->to, b->state);
        }
        fputs("</title></rect>", p->to);
        cairn_svg_label(p->to, x, p->y + 16, width, thread);
        putc('\n', p->to);
    }
}

static int by_units(const void *a, const void *b)
{
    const struct cairn_svg_runner *const *x = a, *const *y = b;
    if ((*x)->units != (*y)->units)
        return (*x)->units > (*y)->units ? -1 : 1;
    return (*x)->tid < (*y)->tid ? -1 : (*x)->tid > (*y)->tid;
}

static void begin_group(const struct pen *p, unsigned colour, uint64_t units, const char *who, uint32_t cpu)
{
    char class[8], span[CAIRN_SHOWN];
    fprintf(p->to, "<g class=\"%s\" data-ns=\"%" PRId64 "\"><title>", cairn_svg_class(class, colour),
            cairn_out_ns(p->o, p->lanes->start + (int64_t)units) - cairn_out_ns(p->o, p->lanes->start));
    cairn_svg_text(p->to, who);
    fprintf(p->to, " on CPU %" PRIu32 ": %s, %.2f %%</title>", cpu, cairn_show_span(span, p->o->log, units),
            100.0 * (double)units / (double)p->lanes->units);
}

/* The threads that ran longest there each have a group, the others one together. */
static void draw_threads(const struct pen *p, uint32_t cpu)
{
    const struct cairn_svg_lane *lane = &p->lanes->items[cpu];
    const size_t count = lane->runners.count - 1, groups = 1 + GROUPS / p->o->log->cpus;
    const struct cairn_svg_runner **sorted = cairn_alloc((count + 1) * sizeof(*sorted));
    char who[CAIRN_SHOWN];
    uint64_t rest = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &lane->runners.items[i + 1];
    qsort(sorted, count, sizeof(*sorted), by_units);
    for (size_t i = groups; i < count; i++)
        rest += sorted[i]->units;
    begin_group(p, CAIRN_SVG_OTHERS, rest, "Other threads", cpu);
    draw_pieces(p, &lane->runners.items[0]);
    for (size_t i = groups; i < count; i++)
        draw_pieces(p, sorted[i]);
    for (size_t i = groups; i < count; i++)
        draw_blocks(p, sorted[i]);
    fputs("</g>\n", p->to);
    for (size_t i = 0; i < groups && i < count; i++) {
        begin_group(p, colour_of(p->lanes, sorted[i]->tid), sorted[i]->units,
                    cairn_show_thread(who, p->o->log, sorted[i]->tid, CAIRN_SHOWN - 1), cpu);
        draw_pieces(p, sorted[i]);
        draw_blocks(p, sorted[i]);
        fputs("</g>\n", p->to);
    }
    free(sorted);
}

/* ---- records and gaps -------------------------------------------------------------------------------------------- */

static uint32_t most_marks(const struct cairn_svg_lanes *lanes, uint32_t cpus)
{
    uint32_t most = 1;
    for (uint32_t c = 0; c < cpus; c++)
        for (unsigned i = 0; i < CAIRN_SVG_COLUMNS; i++)
            most = lanes->items[c].marks[i].count > most ? lanes->items[c].marks[i].count : most;
    return most;
}

static void draw_marks(const struct pen *p, const struct cairn_svg_lane *lane, uint32_t most)
{
    char time[CAIRN_SHOWN], function[CAIRN_SHOWN], thread[CAIRN_SHOWN];
    const unsigned step = p->lanes->step;
    for (unsigned i = 0; i < CAIRN_SVG_COLUMNS; i++) {
        const struct cairn_svg_marks *m = &lane->marks[i];
        if (!m->count)
            continue;
        fprintf(p->to, "<rect class=\"d\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%.1f\"><title>",
                CAIRN_SVG_LEFT + i * step, p->y + CAIRN_SVG_RUNS + 2, step, 2.0 + (MARKS - 2.0) * m->count / most);
        if (m->count > 1) {
            fprintf(p->to, "%" PRIu32 " PEBS records from %s on", m->count,
                    cairn_show_moment(time, p->o->log, m->time));
        } else {
            fprintf(p->to, "PEBS record at %s: ", cairn_show_moment(time, p->o->log, m->time));
            if (!cairn_out_function(p->o, m->ip, function))
                snprintf(function, sizeof(function), "0x%" PRIx64, m->ip);
            cairn_svg_text(p->to, function);
            fputs(", ", p->to);
            cairn_svg_text(p->to, m->blame == CAIRN_BLAME_KNOWN
                                      ? cairn_show_thread(thread, p->o->log, m->tid, CAIRN_SHOWN - 1)
                                      : cairn_blame_text(m->blame));
        }
        fputs("</title></rect>\n", p->to);
    }
}

static const char *const gap_classes[] = {"m", "y", "u", "u"}; /* by enum cairn_svg_gap_kind */

static void draw_gaps(const struct pen *p, const struct cairn_svg_lane *lane)
{
    char text[CAIRN_SHOWN], from[CAIRN_SHOWN], to[CAIRN_SHOWN];
    for (size_t i = 0; i < lane->gaps.count; i++) {
        const struct cairn_svg_gap *gap = &lane->gaps.items[i];
        const double x = CAIRN_SVG_LEFT + cairn_svg_column(p->lanes, gap->from);
        const double width = CAIRN_SVG_LEFT + cairn_svg_column(p->lanes, gap->to) - x;
        fprintf(p->to,
                "<rect class=\"%s\" data-holes=\"%" PRIu32
                "\" x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\"><title>",
                gap_classes[gap->kind], gap->holes, x, p->y - 3, width < 1.5 ? 1.5 : width, CAIRN_SVG_RUNS + 6);
        if (gap->holes)
            cairn_svg_text(p->to, cairn_show_hole(text, p->o->log, &gap->hole));
        else
            fputs("which thread ran here is unknown", p->to);
        if (gap->holes > 1)
            fprintf(p->to, ", and %" PRIu32 " more here", gap->holes - 1);
        fprintf(p->to, " (%s to %s)</title></rect>\n", cairn_show_time(from, p->o->log, gap->from),
                cairn_show_moment(to, p->o->log, gap->to));
    }
}

/* Behind the marks. */
static void draw_unread(const struct pen *p, const struct cairn_svg_lane *lane)
{
    char from[CAIRN_SHOWN], to[CAIRN_SHOWN];
    for (size_t i = 0; i < lane->unread.count; i++) {
        const struct cairn_svg_unread *u = &lane->unread.items[i];
        const double x = CAIRN_SVG_LEFT + cairn_svg_column(p->lanes, u->is.from);
        const double width = CAIRN_SVG_LEFT + cairn_svg_column(p->lanes, u->is.to) - x;
        fprintf(p->to,
                "<rect class=\"%s\" data-unread=\"%" PRIu32 "\" x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\">"
                "<title>missing: ",
                u->is.quiet ? "u" : "m", 1 + u->more, x, p->y + CAIRN_SVG_RUNS + 3, width < 1.5 ? 1.5 : width,
                MARKS - 1);
        cairn_svg_text(p->to, u->is.text);
        if (u->more)
            fprintf(p->to, ", and at %" PRIu32 " more %s here", u->more, cairn_plural(u->more, "place", "places"));
        fprintf(p->to, " (%s to %s)</title></rect>\n", cairn_show_time(from, p->o->log, u->is.from),
                cairn_show_moment(to, p->o->log, u->is.to));
    }
}

static void draw_lane(const struct pen *p, uint32_t cpu, uint32_t most)
{
    const struct cairn_svg_lanes *lanes = p->lanes;
    const struct cairn_svg_lane *lane = &lanes->items[cpu];
    const uint64_t all = lane->busy + lane->idle + lane->unknown;
    const uint64_t parts[] = {lane->busy, lane->idle, lane->unknown};
    static const char *const names[] = {"busy", "idle", "unknown"};
    fprintf(p->to,
            "<g class=\"cpu\" data-cpu=\"%" PRIu32 "\" data-switches=\"%" PRIu64 "\" data-records=\"%" PRIu64
            "\" data-holes=\"%" PRIu64 "\"",
            cpu, lane->switches, lane->records, lane->holes);
    for (unsigned i = 0; i < 3; i++)
        fprintf(p->to, " data-%s-ns=\"%" PRId64 "\"", names[i],
                cairn_out_ns(p->o, lanes->start + (int64_t)parts[i]) - cairn_out_ns(p->o, lanes->start));
    fprintf(p->to, ">\n<title>CPU %" PRIu32 ":", cpu);
    for (unsigned i = 0; i < 3; i++)
        fprintf(p->to, "%s %s %.2f %%", i ? "," : "", names[i],
                all      ? 100.0 * (double)parts[i] / (double)all
                : i == 2 ? 100.0
                         : 0.0);
    fprintf(p->to, "; %" PRIu64 " %s, %" PRIu64 " %s</title>\n", lane->switches,
            cairn_plural(lane->switches, "switch", "switches"), lane->records,
            cairn_plural(lane->records, "PEBS record", "PEBS records"));
    fprintf(p->to,
            "<text x=\"%u\" y=\"%u\">CPU %" PRIu32 "</text><rect class=\"l\" x=\"%u\" y=\"%u\" width=\"%u\" "
            "height=\"%u\"/>\n",
            CAIRN_SVG_MARGIN, p->y + 16, cpu, CAIRN_SVG_LEFT, p->y, CAIRN_SVG_COLUMNS, CAIRN_SVG_RUNS);
    draw_threads(p, cpu);
    draw_unread(p, lane);
    draw_marks(p, lane, most);
    draw_gaps(p, lane);
    fputs("</g>\n", p->to);
}

/* ---- what the colours mean: a line of threads, and one of what else is there ------------------------------------- */

/* A square, or a mark, and what it means; `x` moves on. */
static void draw_key(const struct pen *p, unsigned *x, const char *class, const char *text)
{
    const bool mark = strcmp(class, "d") == 0;
    fprintf(p->to, "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"9\"/><text x=\"%u\" y=\"%u\">", class,
            *x, p->y, mark ? 3 : 9, *x + (mark ? 8 : 14), p->y + 9);
    cairn_svg_text(p->to, text);
    fputs("</text>\n", p->to);
    *x += 30 + CAIRN_SVG_WIDE((unsigned)strlen(text));
}

static bool occurs(const struct cairn_svg_lane *lane, char class)
{
    bool found = (class == 'l' && lane->idle) || (class == 'd' && lane->records);
    for (size_t i = 0; i < lane->gaps.count; i++)
        found |= class == *gap_classes[lane->gaps.items[i].kind];
    for (size_t i = 0; i < lane->unread.count; i++)
        found |= class == (lane->unread.items[i].is.quiet ? 'u' : 'm');
    return found;
}

static void draw_signs(const struct pen *p)
{
    static const struct {
        const char *class, *text;
    } signs[] = {
        {"l", "idle"},           {"u", "thread unknown, or not recorded"},     {"m", "missing"},
        {"y", "may be missing"}, {"d", "PEBS records: height shows how many"},
    };
    unsigned x = CAIRN_SVG_LEFT;
    fputs("<g id=\"signs\" class=\"q\">\n", p->to);
    for (size_t s = 0; s < sizeof(signs) / sizeof(signs[0]); s++)
        for (uint32_t c = 0; c < p->o->log->cpus; c++)
            if (cairn_filter_cpu(c) && occurs(&p->lanes->items[c], *signs[s].class)) {
                draw_key(p, &x, signs[s].class, signs[s].text);
                break;
            }
    fputs("</g>\n", p->to);
}

/* The threads that ran longest, as many as a line has room for. The lanes name them, too. */
static void draw_legend(const struct pen *p)
{
    const struct cairn_svg_lanes *lanes = p->lanes;
    char class[8], thread[CAIRN_SHOWN], text[CAIRN_SHOWN + 16];
    unsigned x = CAIRN_SVG_LEFT, i = 0;
    uint64_t rest = lanes->busy;
    fputs("<g id=\"threads\" class=\"q\">\n", p->to);
    for (; i < lanes->coloured && x < CAIRN_SVG_WIDTH - LAST; i++) {
        cairn_show_thread(thread, p->o->log, lanes->threads[i].tid, NAME);
        snprintf(text, sizeof(text), "%s %.0f %%", thread,
                 100.0 * (double)lanes->threads[i].units / (double)lanes->busy);
        draw_key(p, &x, cairn_svg_class(class, i), text);
        rest -= lanes->threads[i].units;
    }
    if (rest) {
        snprintf(text, sizeof(text), "others %.0f %%", 100.0 * (double)rest / (double)lanes->busy);
        draw_key(p, &x, "o", text);
    }
    fputs("</g>\n", p->to);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static uint32_t shown(const struct cairn_log *log)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < log->cpus; c++)
        count += cairn_filter_cpu(c);
    return count;
}

static unsigned below(const struct cairn_log *log)
{
    return shown(log) > FAR ? SCALE : 0;
}

unsigned cairn_svg_lanes_height(const struct cairn_svg_lanes *lanes, const struct cairn_output *o)
{
    return SCALE + shown(o->log) * LANE + below(o->log) + 2 * LEGEND + LEGEND * (lanes->untimed != 0) + 6;
}

void cairn_svg_lanes_draw(const struct cairn_svg_lanes *lanes, const struct cairn_output *o, unsigned y)
{
    struct pen p = {lanes, o, o->file, y};
    const uint32_t most = most_marks(lanes, o->log->cpus);
    draw_scale(&p, shown(o->log) * LANE, below(o->log));
    p.y += SCALE;
    for (uint32_t c = 0; c < o->log->cpus; c++)
        if (cairn_filter_cpu(c)) {
            draw_lane(&p, c, most);
            p.y += LANE;
        }
    p.y += below(o->log) + 4;
    draw_legend(&p);
    p.y += LEGEND;
    draw_signs(&p);
    if (lanes->untimed)
        fprintf(o->file, "<text x=\"%u\" y=\"%u\">%" PRIu64 " PEBS %s no time, so %s in no lane</text>\n",
                CAIRN_SVG_LEFT, p.y + LEGEND + 9, lanes->untimed,
                cairn_plural(lanes->untimed, "record has", "records have"),
                cairn_plural(lanes->untimed, "it is", "they are"));
}
