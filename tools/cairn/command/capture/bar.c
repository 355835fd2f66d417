/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/capture/bar.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/cairn/command/capture/line.h"

enum { LEAST_MS = 200 }; /* between two lines */

void cairn_bar_start(struct cairn_bar *bar, bool wanted)
{
    *bar = (struct cairn_bar){.wanted = wanted, .started_ms = cairn_now_ms()};
}

void cairn_bar_clear(struct cairn_bar *bar)
{
    if (bar->shown)
        fputs("\r\033[K", stderr);
    bar->shown = false;
}

/* False: no line is due. Otherwise the line is empty, and is to be written. */
static bool draw(struct cairn_bar *bar)
{
    const int64_t now = cairn_now_ms();
    if (!bar->wanted || now - bar->drawn_ms < LEAST_MS)
        return false;
    bar->drawn_ms = now;
    bar->shown = true;
    fputs("\r\033[K", stderr);
    return true;
}

void cairn_bar_wait(struct cairn_bar *bar, const char *what)
{
    if (draw(bar)) {
        fprintf(stderr, "%s: %" PRId64 " s (Ctrl-C stops)", what, (bar->drawn_ms - bar->started_ms) / 1000);
        fflush(stderr);
    }
}

void cairn_bar_dump(struct cairn_bar *bar, const struct cairn_bar_dump *dump)
{
    if (!dump->frames || !draw(bar))
        return;
    fprintf(stderr, "dump: %" PRIu64, dump->frames);
    if (dump->total)
        fprintf(stderr, " of %" PRIu64, dump->total);
    fprintf(stderr, " frames, %" PRIu64 " damaged", dump->damaged);
    const double seconds = (double)(bar->drawn_ms - dump->began_ms) / 1000.0;
    if (dump->bytes > dump->read_bytes && seconds > 0.3 && dump->read_bytes)
        fprintf(stderr, ", %.0f s left", seconds / (double)dump->read_bytes * (double)(dump->bytes - dump->read_bytes));
    fflush(stderr);
}
