/* SPDX-License-Identifier: MIT */
/* A picture that needs nothing else: what ran on each CPU, where records were found, gaps where something is missing,
 * and a flame graph of the records. docs/export.md tells what is where. */
#include <inttypes.h>
#include <string.h>

#include "tools/cairn/bytes.h"
#include "tools/cairn/export/svg.h"

#define TOP 44u /* where the lanes begin */

struct svg {
    struct cairn_svg_lanes lanes;
    struct cairn_stacks stacks;
};

#define BEGINS "<svg class=\"cairn\" "

static bool own(const char *start, size_t size)
{
    return size >= sizeof(BEGINS) - 1 && memcmp(start, BEGINS, sizeof(BEGINS) - 1) == 0;
}

static void begin(struct cairn_output *o)
{
    cairn_svg_lanes_begin(&((struct svg *)o->state)->lanes, o);
}

static void on_switch(struct cairn_output *o, const struct cairn_item *item)
{
    cairn_svg_lanes_switch(&((struct svg *)o->state)->lanes, item);
}

static void record(struct cairn_output *o, const struct cairn_item *item)
{
    struct svg *s = o->state;
    cairn_svg_lanes_record(&s->lanes, item);
    cairn_stacks_add(&s->stacks, o, item);
}

static void lost(struct cairn_output *o, const struct cairn_item *item)
{
    cairn_svg_lanes_lost(&((struct svg *)o->state)->lanes, item);
}

/* Colours: text on what is coloured is dark in both themes. */
static void style(FILE *to)
{
    fputs("<style>\n"
          "svg.cairn{color:#222}.g{fill:#fff}text{fill:currentColor}.d{fill:currentColor}\n"
          ".l{fill:#8883}.a{stroke:#8886}.s{font-size:11px}.w{fill:#c00}\n"
          ".o{fill:#a8a8a8}.m{fill:#e00;fill-opacity:.45}.y{fill:#e90;fill-opacity:.35}.u{fill:#888;fill-opacity:.35}\n"
          "[class^=t] text,.o text,.f text{fill:#111}.f rect{stroke:#fff;stroke-width:.6}\n"
          "@media(prefers-color-scheme:dark){svg.cairn{color:#ddd}.g{fill:#1b1b1f}.w{fill:#f66}"
          ".f rect{stroke:#1b1b1f}}\n", to);
    for (unsigned i = 0; i < CAIRN_SVG_COLOURS; i++)
        fprintf(to, ".t%u{fill:hsl(%u,62%%,%u%%)}", i, (210 + 150 * i) % 360, i % 2 ? 74 : 66);
    fputs("\n</style>\n", to);
}

static void head(struct cairn_output *o, unsigned height)
{
    const struct svg *s = o->state;
    const struct cairn_text *text = &o->log->text;
    const bool model = cairn_slice_is(cairn_key(text, "ds.emulated"), "1");
    const bool machine = cairn_slice_is(cairn_key(text, "machine.emulated"), "1");
    char span[CAIRN_SHOWN];
    cairn_show_span(span, o->log, s->lanes.units);
    fprintf(o->file,
            BEGINS "xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n", CAIRN_SVG_WIDTH, height);
    style(o->file);
    fprintf(o->file, "<rect class=\"g\" width=\"%u\" height=\"%u\"/>\n", CAIRN_SVG_WIDTH, height);
    fprintf(o->file, "<text x=\"%u\" y=\"18\" font-size=\"15\">%" PRIu32 " %s, %s, %" PRIu64 " switches, %" PRIu64
            " PEBS records</text>\n", CAIRN_SVG_MARGIN, o->log->cpus, cairn_plural(o->log->cpus, "CPU", "CPUs"), span,
            s->lanes.switches, s->stacks.records);
    fprintf(o->file, "<text class=\"s\" x=\"%u\" y=\"34\">", CAIRN_SVG_MARGIN);
    if (o->log->sessions & (o->log->sessions - 1))
        fprintf(o->file, "Session %" PRIu32 ". ", o->log->number);
    if (machine && model)
        fputs("Emulated: times are the emulator's, records those of a model of the Debug Store. ", o->file);
    else if (machine)
        fputs("Emulated: times are the emulator's. ", o->file);
    else if (model)
        fputs("Emulated: records are those of a model of the Debug Store. ", o->file);
    if (!o->log->session.start_known)
        fputs("When the session began is missing: times are of its clock. ", o->file);
    if (cairn_log_damaged(o->log))
        fputs("<tspan class=\"w\">The log is damaged: this is what is left of it.</tspan>", o->file);
    fputs("</text>\n", o->file);
}

static int end(struct cairn_output *o)
{
    struct svg *s = o->state;
    cairn_svg_lanes_end(&s->lanes, o);
    const unsigned flames = TOP + cairn_svg_lanes_height(&s->lanes, o);
    head(o, flames + cairn_svg_flames_height(&s->stacks) + CAIRN_SVG_MARGIN);
    cairn_svg_lanes_draw(&s->lanes, o, TOP);
    cairn_svg_flames_draw(&s->stacks, o, &s->lanes, flames);
    fputs("</svg>\n", o->file);
    return 0;
}

static void free_all(struct cairn_output *o)
{
    struct svg *s = o->state;
    cairn_svg_lanes_free(&s->lanes, o);
    cairn_stacks_free(&s->stacks);
}

const struct cairn_writer cairn_writer_svg = {
    .name = "svg",
    .summary = "a picture: what ran on each CPU, where records were found, what is missing, a flame graph",
    .state = sizeof(struct svg),
    .passing = true,
    .stacks = true,
    .own = own,
    .begin = begin,
    .on_switch = on_switch,
    .record = record,
    .lost = lost,
    .end = end,
    .free = free_all,
};
