/* SPDX-License-Identifier: MIT */
/* Draws the flame graph. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "tools/cairn/export/svg/svg.h"

#define ROW     17u
#define CAPTION 26u
#define NARROW  0.5 /* pixels: what is no wider is not drawn, but counted */
#define WARM    6u  /* colours of functions: class f0 and so on */

struct flames {
    const struct cairn_output *o;
    const struct cairn_svg_lanes *threads;
    const struct cairn_stacks *stacks;
    unsigned bottom; /* y of the threads' row */
    struct {
        const char *name;
        uint64_t from;         /* records left of it */
    } open[CAIRN_STACK_DEPTH]; /* of the stack before */
    unsigned depth;
    uint64_t at, narrow; /* records so far; frames that are not drawn */
};

static void measure(void *context, const char *const *frames, unsigned depth, uint64_t records)
{
    (void)frames;
    (void)records;
    unsigned *most = context;
    *most = depth > *most ? depth : *most;
}

unsigned cairn_svg_flames_rows(const struct cairn_stacks *stacks)
{
    unsigned most = 0;
    cairn_stacks_walk(stacks, measure, &most);
    return most;
}

unsigned cairn_svg_flames_height(const struct cairn_stacks *stacks)
{
    return CAPTION + cairn_svg_flames_rows(stacks) * ROW;
}

unsigned cairn_svg_colour(const struct cairn_svg_lanes *threads, const struct cairn_output *o, const char *thread)
{
    char shown[CAIRN_SHOWN];
    for (unsigned i = 0; i < threads->coloured; i++)
        if (strcmp(cairn_show_thread(shown, o->log, threads->threads[i].tid, CAIRN_SHOWN - 1), thread) == 0)
            return i;
    return CAIRN_SVG_OTHERS;
}

static void draw_frame(struct flames *f, unsigned depth)
{
    FILE *to = f->o->file;
    const uint64_t records = f->at - f->open[depth].from, all = f->stacks->records;
    const double one = (double)(CAIRN_SVG_WIDTH - 2 * CAIRN_SVG_MARGIN) / (double)all;
    const double x = CAIRN_SVG_MARGIN + (double)f->open[depth].from * one, width = (double)records * one;
    const unsigned y = f->bottom - depth * ROW;
    char name[CAIRN_SHOWN], class[8];
    if (width <= NARROW) {
        f->narrow++;
        return;
    }
    snprintf(name, sizeof(name), "%s", f->open[depth].name);
    for (char *p = name; *name == '[' && *p; p++) /* words of our own: folded stacks have no blanks */
        *p = *p == '_' ? ' ' : *p;
    if (depth) {
        uint32_t hash = 2166136261u; /* FNV-1a */
        for (const char *p = name; *p; p++)
            hash = (hash ^ (uint8_t)*p) * 16777619u;
        snprintf(class, sizeof(class), "f%u", hash % WARM);
    } else {
        cairn_svg_class(class, cairn_svg_colour(f->threads, f->o, name));
    }
    fprintf(to, "<g class=\"%s\" data-depth=\"%u\" data-records=\"%" PRIu64 "\"><title>", class, depth, records);
    cairn_svg_text(to, name);
    fprintf(to, ": %" PRIu64 " %s, %.2f %%</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\"/>", records,
            cairn_out_samples(f->o, records), 100.0 * (double)records / (double)all, x, y, width, ROW);
    cairn_svg_label(to, x, y + ROW - 5, width, name);
    fputs("</g>\n", to);
}

/* Frames that this stack has in common with the one before stay open; the others end here. */
static void next_stack(void *context, const char *const *frames, unsigned depth, uint64_t records)
{
    struct flames *f = context;
    unsigned same = 0;
    while (same < depth && same < f->depth && frames[same] == f->open[same].name)
        same++;
    while (f->depth > same)
        draw_frame(f, --f->depth);
    for (; f->depth < depth; f->depth++) {
        f->open[f->depth].name = frames[f->depth];
        f->open[f->depth].from = f->at;
    }
    f->at += records;
}

void cairn_svg_flames_draw(const struct cairn_stacks *stacks, const struct cairn_output *o,
                           const struct cairn_svg_lanes *threads, unsigned y)
{
    struct flames f = {.o = o, .threads = threads, .stacks = stacks};
    f.bottom = y + CAPTION + (cairn_svg_flames_rows(stacks) - 1) * ROW;
    fputs("<g class=\"f\" id=\"flames\">\n<style>", o->file);
    for (unsigned i = 0; i < WARM; i++)
        fprintf(o->file, ".f%u{fill:hsl(%u,85%%,%u%%)}", i, 16 + 7 * i, 70 - i % 3 * 5);
    fputs("</style>\n", o->file);
    cairn_stacks_walk(stacks, next_stack, &f);
    while (f.depth)
        draw_frame(&f, --f.depth);
    const char *what = cairn_out_samples(o, 2);
    fprintf(o->file, "</g>\n<text x=\"%u\" y=\"%u\">%c%s by thread, and above it by call", CAIRN_SVG_MARGIN,
            y + CAPTION - 8, toupper(what[0]), what + 1);
    if (f.narrow)
        fprintf(o->file, "; %" PRIu64 " %s too narrow to draw", f.narrow,
                cairn_plural(f.narrow, "frame is", "frames are"));
    fputs("</text>\n", o->file);
}
