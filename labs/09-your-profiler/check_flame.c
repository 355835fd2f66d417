/* SPDX-License-Identifier: MIT */
/* Lab 9: a flame graph as SVG, which labs/run.sh saves. Each function is a box on top of its caller's; its width is its
 * share of the samples. */
#include "sampling.h"

#define WIDTH  780u
#define HEIGHT 20u

static const struct folded *line;
static uint32_t lines, all;

static bool before(const struct lab_calls *a, const struct lab_calls *b)
{
    for (uint32_t i = 0; i < a->depth && i < b->depth; i++)
        if (a->symbol[i] != b->symbol[i])
            return a->symbol[i] < b->symbol[i];
    return a->depth < b->depth;
}

static void sort(struct folded *l, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j && before(&l[j].calls, &l[j - 1].calls); j--) {
            const struct folded other = l[j];
            l[j] = l[j - 1];
            l[j - 1] = other;
        }
}

static void print_line(const struct folded *f)
{
    char text[80];
    unsigned used = 0;
    for (uint32_t i = 0; i < f->calls.depth; i++) {
        if (i)
            text[used++] = ';';
        for (const char *c = lab_job_symbols[f->calls.symbol[i]].name; *c; c++)
            text[used++] = *c;
    }
    text[used] = 0;
    lab_log("%s %u", text, f->samples);
}

static uint32_t x_of(uint32_t samples)
{
    return samples * WIDTH / all;
}

static void box(uint32_t depth, uint32_t left, uint32_t width, const char *name)
{
    static const char *const colour[] = {"#f4a261", "#e76f51", "#e9c46a", "#f28482", "#f6bd60"};
    const uint32_t y = HEIGHT * (LAB_DEPTH - 1 - depth), x = x_of(left), w = x_of(left + width) - x;
    lab_log("<g><title>%s: %u of %u samples</title><rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"%s\" "
            "stroke=\"white\"/>",
            name, width, all, x + 10, y + 10, w, HEIGHT, colour[depth % 5]);
    if (w > 45)
        lab_log("<text x=\"%u\" y=\"%u\">%s</text>", x + 14, y + 24, name);
    lab_log("</g>");
}

/* Boxes of the functions at `depth` in lines [first, end), which have the same functions below that depth. */
static void boxes(uint32_t depth, uint32_t first, uint32_t end, uint32_t left)
{
    while (first < end) {
        uint32_t next = first, width = 0;
        for (; next < end && line[next].calls.depth > depth &&
               line[next].calls.symbol[depth] == line[first].calls.symbol[depth];
             next++)
            width += line[next].samples;
        if (next == first) { /* a stack that ends below: its own share has no box here */
            left += line[first++].samples;
            continue;
        }
        box(depth, left, width, lab_job_symbols[line[first].calls.symbol[depth]].name);
        if (depth + 1 < LAB_DEPTH)
            boxes(depth + 1, first, next, left);
        left += width;
        first = next;
    }
}

void flame_draw(struct folded *l, uint32_t count)
{
    sort(l, count);
    line = l;
    lines = count;
    all = 0;
    for (uint32_t i = 0; i < lines; i++) {
        all += l[i].samples;
        print_line(&l[i]);
    }
    lab_log("== file flame.svg");
    lab_log("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" font-family=\"sans-serif\" "
            "font-size=\"12\">",
            WIDTH + 20, HEIGHT * LAB_DEPTH + 20);
    boxes(0, 0, lines, 0);
    lab_log("</svg>");
    lab_log("== end");
}
