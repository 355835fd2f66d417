/* SPDX-License-Identifier: MIT */
/* What a screen of `cairn top` shows of a log, as far as that has come. */
#pragma once

#include "tools/cairn/base/tally.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/totals.h"

struct cairn_top_figures { /* zeroed: of nothing */
    struct cairn_totals totals;
    char (*names)[CAIRN_SHOWN];            /* of each thread of the totals, as cairn_show_thread has it */
    struct cairn_tally reasons, functions; /* on side 0 */
    uint64_t switches, frames, trace_frames;
    uint64_t gaps, missing, damaged; /* gaps: where events are missing; missing, damaged: frames */
    uint64_t tried;                  /* switches, as the end summary tells, */
    bool tried_known, ended;         /* if it does; the trailer has come */
    bool emulated;
    struct cairn_lost dropped; /* PEBS records */
    uint64_t hz;
    double seconds; /* from the session's start to its end, or as far as switches tell */
    uint32_t session, cpus;
    uint32_t dump, first_crc; /* which dump of the log that is; of its first frame */
};

/* Reads the log, and of it that session; 0: the first. `progress`: as in struct cairn_choice. 0, also where there is no
 * frame yet; or a negative errno, and there are no figures. */
int cairn_top_read(struct cairn_top_figures *f, const struct cairn_input *input, uint32_t session,
                   void (*progress)(uint64_t done, uint64_t all));
void cairn_top_free(struct cairn_top_figures *f);

/* Whether `f` is what became of the same trace. */
bool cairn_top_goes_on(const struct cairn_top_figures *f, const struct cairn_top_figures *before);
