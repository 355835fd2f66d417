/* SPDX-License-Identifier: MIT */
/* Draws a bar for each function, where there is no more to tell of a stack than thread and function: a part of it for
 * each thread, in that thread's colour. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/svg/svg.h"

#define CAPTION 26u
#define ROW     18u
#define BAR     13u  /* of its height */
#define NAMES   290u /* where bars begin */
#define LONGEST (CAIRN_SVG_WIDTH - NAMES - 150u)
#define MOST    20u /* functions that have a bar of their own */

struct part { /* the records of a thread in a function */
    const char *thread, *function;
    uint64_t records;
};

struct bar {
    size_t first, count; /* of its parts */
    uint64_t records;
};

struct bars {
    struct part *parts;
    struct bar *items;
    size_t part_count, count;
};

static void add_part(void *context, const char *const *frames, unsigned depth, uint64_t records)
{
    struct bars *b = context;
    b->parts[b->part_count++] = (struct part){frames[0], depth > 1 ? frames[1] : "", records};
}

static int by_function(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    const int order = strcmp(x->function, y->function);
    return order ? order : x->records != y->records ? (x->records > y->records ? -1 : 1) : strcmp(x->thread, y->thread);
}

static int by_records(const void *a, const void *b)
{
    const struct bar *x = a, *y = b;
    return x->records != y->records ? (x->records > y->records ? -1 : 1) : x->first < y->first ? -1 : 1;
}

/* The bars, the longest first. */
static struct bars read(const struct cairn_stacks *stacks)
{
    struct bars b = {.parts = cairn_alloc((stacks->count + 1) * sizeof(*b.parts)),
                     .items = cairn_alloc((stacks->count + 1) * sizeof(*b.items))};
    cairn_stacks_walk(stacks, add_part, &b);
    qsort(b.parts, b.part_count, sizeof(*b.parts), by_function);
    for (size_t i = 0; i < b.part_count; i++) {
        if (!i || strcmp(b.parts[i].function, b.parts[i - 1].function) != 0)
            b.items[b.count++] = (struct bar){.first = i};
        b.items[b.count - 1].count++;
        b.items[b.count - 1].records += b.parts[i].records;
    }
    qsort(b.items, b.count, sizeof(*b.items), by_records);
    return b;
}

static void free_bars(struct bars *b)
{
    free(b->parts);
    free(b->items);
}

unsigned cairn_svg_bars_height(const struct cairn_stacks *stacks)
{
    struct bars b = read(stacks);
    const size_t count = b.count;
    free_bars(&b);
    return CAPTION + ROW * (unsigned)(count > MOST ? MOST + 1 : count);
}

/* Words of our own have blanks in place of underscores: folded stacks have none. */
static void plain(char name[CAIRN_SHOWN], const char *text)
{
    snprintf(name, CAIRN_SHOWN, "%s", text);
    for (char *p = name; *name == '[' && *p; p++)
        *p = *p == '_' ? ' ' : *p;
}

static void draw_name(FILE *to, unsigned y, const char *name, uint64_t records, double end, uint64_t all)
{
    fprintf(to, "<text x=\"%u\" y=\"%u\">", CAIRN_SVG_MARGIN, y + BAR - 2);
    cairn_svg_cut(to, name, CAIRN_SVG_FITS(NAMES - CAIRN_SVG_MARGIN - 6u));
    fprintf(to, "</text><text class=\"q\" x=\"%.1f\" y=\"%u\">%" PRIu64 ", %.1f %%</text>", end + 6, y + BAR - 2,
            records, 100.0 * (double)records / (double)all);
}

static void draw_bar(const struct bars *b, const struct bar *bar, const struct cairn_output *o,
                     const struct cairn_svg_lanes *threads, uint64_t all, unsigned y)
{
    const double one = (double)LONGEST / (double)b->items[0].records;
    char function[CAIRN_SHOWN], thread[CAIRN_SHOWN], class[8];
    double x = NAMES;
    plain(function, b->parts[bar->first].function);
    fprintf(o->file, "<g data-function-records=\"%" PRIu64 "\"><title>", bar->records);
    cairn_svg_text(o->file, function);
    fputs("</title>", o->file);
    for (size_t i = bar->first; i < bar->first + bar->count; i++) {
        const struct part *part = &b->parts[i];
        const double width = (double)part->records * one;
        plain(thread, part->thread);
        fprintf(o->file, "<g class=\"%s\" data-records=\"%" PRIu64 "\"><title>",
                cairn_svg_class(class, cairn_svg_colour(threads, o, thread)), part->records);
        cairn_svg_text(o->file, thread);
        fprintf(o->file, ": %" PRIu64 " %s in ", part->records, cairn_out_samples(o, part->records));
        cairn_svg_text(o->file, function);
        fprintf(o->file, "</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\"/></g>", x, y, width, BAR);
        x += width;
    }
    draw_name(o->file, y, function, bar->records, x, all);
    fputs("</g>\n", o->file);
}

void cairn_svg_bars_draw(const struct cairn_stacks *stacks, const struct cairn_output *o,
                         const struct cairn_svg_lanes *threads, unsigned y)
{
    struct bars b = read(stacks);
    uint64_t rest = stacks->records;
    const char *what = cairn_out_samples(o, 2);
    fprintf(o->file, "<text x=\"%u\" y=\"%u\">", CAIRN_SVG_MARGIN, y + CAPTION - 8);
    if (stacks->records)
        fprintf(o->file, "%c%s by function, in the colours of their threads", toupper(what[0]), what + 1);
    else
        fprintf(o->file, "No %s", what);
    fputs("</text>\n<g class=\"b\" id=\"bars\">\n", o->file);
    y += CAPTION;
    for (size_t i = 0; i < b.count && i < MOST; i++, y += ROW) {
        draw_bar(&b, &b.items[i], o, threads, stacks->records, y);
        rest -= b.items[i].records;
    }
    if (b.count > MOST) {
        char name[CAIRN_SHOWN];
        snprintf(name, sizeof(name), "%zu more %s", b.count - MOST,
                 cairn_plural(b.count - MOST, "function", "functions"));
        draw_name(o->file, y, name, rest, NAMES - 6, stacks->records);
        putc('\n', o->file);
    }
    fputs("</g>\n", o->file);
    free_bars(&b);
}
