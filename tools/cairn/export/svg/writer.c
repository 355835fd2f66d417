/* SPDX-License-Identifier: MIT */
/* A picture that needs no other file: what ran on each CPU, where records were found, gaps where something is missing,
 * and records by function, or a flame graph. docs/how-to/export.md explains its parts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/svg/svg.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/filter.h"
#include "tools/cairn/model/loss.h"

#define TITLE            15u  /* its type size: */
#define TITLE_CHARACTERS 120u /* have room in it */
#define ABOUT            36u  /* where what is said of the log begins */

struct svg {
    struct cairn_svg_lanes lanes;
    struct cairn_stacks stacks;
    uint64_t idle; /* samples of idle processors: most of all, often, and no stack tells more of them */
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

static void event(struct cairn_output *o, const struct cairn_item *item, const struct cairn_live *live)
{
    struct svg *s = o->state;
    (void)live;
    if (o->sample && o->sample->tid)
        cairn_stacks_add_sample(&s->stacks, o, item, o->sample);
    s->idle += o->sample && !o->sample->tid;
}

static void epoch(struct cairn_output *o, const struct cairn_item *item)
{
    cairn_svg_lanes_drain(&((struct svg *)o->state)->lanes, item);
}

static void lost(struct cairn_output *o, const struct cairn_item *item)
{
    cairn_svg_lanes_lost(&((struct svg *)o->state)->lanes, item);
}

/* Colours: text on what is coloured is dark in both themes. */
static void style(FILE *to, const struct cairn_svg_lanes *lanes)
{
    char colour[8];
    fputs("<style>\n"
          "svg.cairn{color:#222;max-width:100%;height:auto}.g{fill:#fff}text{fill:currentColor}.d{fill:currentColor}\n"
          ".l{fill:#8883}.a{stroke:#8886}text.w{fill:#c00}text.q,.q text{fill:#5f6066}\n"
          ".o{fill:#a8a8a8}.m{fill:#e00;fill-opacity:.45}.y{fill:#e90;fill-opacity:.35}.u{fill:#888;fill-opacity:.35}\n"
          "[class^=t] text,.o text,.f text{fill:#111}:is(.f,.b) rect{stroke:#fff;stroke-width:.6}\n",
          to);
    for (unsigned dark = 0; dark < 2; dark++) {
        if (dark)
            fputs("\n@media(prefers-color-scheme:dark){svg.cairn{color:#ddd}.g{fill:#1b1b1f}text.w{fill:#f66}"
                  ":is(.f,.b) rect{stroke:#1b1b1f}text.q,.q text{fill:#a6a7ad}\n",
                  to);
        for (unsigned i = 0; i < lanes->coloured; i++)
            fprintf(to, ".t%u{fill:%s}", i, cairn_colour_text(colour, lanes->threads[i].colour, dark));
    }
    fputs("}\n</style>\n", to);
}

/* Why the run ended badly, and what it lost, from `y` down; without `to` lines are only counted. */
struct wrong {
    FILE *to;
    unsigned y, lines;
};

static void tell_wrong(void *to, const char *text)
{
    struct wrong *w = to;
    if (w->to)
        fputs("<g class=\"w\">", w->to);
    w->lines += cairn_svg_lines(w->to, w->y + CAIRN_SVG_LINE * w->lines, " class=\"w\"", text);
    if (w->to)
        fputs("</g>\n", w->to);
}

static unsigned tell_wrongs(const struct cairn_output *o, FILE *to, unsigned y)
{
    struct wrong w = {.to = to, .y = y};
    char text[CAIRN_SHOWN_END];
    if (cairn_log_damaged(o->log))
        w.lines += cairn_svg_lines(to, y, " class=\"w\"", "The log is damaged; this shows its undamaged part.");
    if (cairn_show_bad_end(text, o->log))
        tell_wrong(&w, text);
    cairn_tell_losses(o->log, tell_wrong, &w);
    return w.lines;
}

/* "plain.log: mix, 2026-11-22T01:29:10" */
static char *name_of(const struct cairn_output *o)
{
    const struct cairn_text *text = &o->log->text;
    const char *slash = strrchr(o->log->input.name, '/'), *before = ": ";
    const struct cairn_slice about[] = {cairn_key(text, "workload.name"), cairn_key(text, "boot.time")};
    char *name = NULL;
    size_t size;
    FILE *to = open_memstream(&name, &size);
    if (!to)
        cairn_out_of_memory();
    fputs(slash ? slash + 1 : o->log->input.name, to);
    for (unsigned i = 0; i < 2; i++)
        if (about[i].size) {
            fprintf(to, "%s%.*s", before, CAIRN_SLICE(about[i]));
            before = ", ";
        }
    if (fclose(to))
        cairn_out_of_memory();
    return name;
}

/* How much it is, which part of the log, and what is not a processor's. */
static char *about(const struct cairn_output *o)
{
    const struct svg *s = o->state;
    const struct cairn_text *text = &o->log->text;
    const bool model = cairn_slice_is(cairn_key(text, "ds.emulated"), "1");
    const bool machine = cairn_slice_is(cairn_key(text, "machine.emulated"), "1");
    char span[CAIRN_SHOWN], *said = NULL;
    size_t size;
    FILE *to = open_memstream(&said, &size);
    if (!to)
        cairn_out_of_memory();
    fprintf(to, "%" PRIu32 " %s, %s, %" PRIu64 " %s, %" PRIu64 " %s.", o->log->cpus,
            cairn_plural(o->log->cpus, "CPU", "CPUs"), cairn_show_span(span, o->log, s->lanes.units), s->lanes.switches,
            cairn_plural(s->lanes.switches, "switch", "switches"), s->stacks.records,
            cairn_out_samples(o, s->stacks.records));
    if (s->idle)
        fprintf(to, " Of idle processors %" PRIu64 " more, not drawn.", s->idle);
    if (o->log->sessions & (o->log->sessions - 1))
        fprintf(to, " Session %" PRIu32 ".", o->log->number);
    if (cairn_filter_on())
        fprintf(to, " Only %s.", cairn_filter_text());
    const char *store = cairn_log_arch(o->log) ? "architectural PEBS" : "the Debug Store";
    if (machine && model)
        fprintf(to, " Emulated: times are the emulator's, records those of a model of %s.", store);
    else if (machine)
        fputs(" Emulated: times are the emulator's.", to);
    else if (model)
        fprintf(to, " Emulated: records are those of a model of %s.", store);
    if (!o->log->session.start_known)
        fputs(" The session's start time is missing, so times are of its clock.", to);
    if (fclose(to))
        cairn_out_of_memory();
    return said;
}

/* Width and height: alone in a window a picture without them is as high as that, however many CPUs it has. */
static void head(struct cairn_output *o, unsigned height)
{
    const struct svg *s = o->state;
    char *name = name_of(o);
    fprintf(o->file,
            BEGINS "xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
                   "font-family=\"sans-serif\" font-size=\"12\">\n<title>",
            CAIRN_SVG_WIDTH, height, CAIRN_SVG_WIDTH, height);
    cairn_svg_text(o->file, name);
    fputs("</title>\n", o->file);
    style(o->file, &s->lanes);
    fprintf(o->file, "<rect class=\"g\" width=\"%u\" height=\"%u\"/>\n", CAIRN_SVG_WIDTH, height);
    fprintf(o->file, "<text x=\"%u\" y=\"18\" font-size=\"%u\">", CAIRN_SVG_MARGIN, TITLE);
    cairn_svg_cut(o->file, name, TITLE_CHARACTERS);
    fputs("</text>\n", o->file);
    free(name);
}

static int end(struct cairn_output *o)
{
    struct svg *s = o->state;
    cairn_svg_lanes_end(&s->lanes, o);
    char *said = about(o);
    const unsigned wrong = ABOUT + CAIRN_SVG_LINE * cairn_svg_lines(NULL, 0, "", said);
    const unsigned top = wrong + CAIRN_SVG_LINE * tell_wrongs(o, NULL, 0) - 4;
    const unsigned flames = top + cairn_svg_lanes_height(&s->lanes, o);
    const bool deep = cairn_svg_flames_rows(&s->stacks) > 2;
    head(o, flames + (deep ? cairn_svg_flames_height : cairn_svg_bars_height)(&s->stacks) + CAIRN_SVG_MARGIN);
    cairn_svg_lines(o->file, ABOUT, "", said);
    free(said);
    tell_wrongs(o, o->file, wrong);
    cairn_svg_lanes_draw(&s->lanes, o, top);
    (deep ? cairn_svg_flames_draw : cairn_svg_bars_draw)(&s->stacks, o, &s->lanes, flames);
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
    .summary = "picture: what ran on each CPU, where records were found, gaps, functions",
    .state = sizeof(struct svg),
    .own = own,
    .begin = begin,
    .on_switch = on_switch,
    .record = record,
    .epoch = epoch,
    .event = event,
    .samples = true,
    .lost = lost,
    .end = end,
    .free = free_all,
};
