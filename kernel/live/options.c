/* SPDX-License-Identifier: MIT */
/* Options of a dump that is sent while the run goes on. */
#include "kernel/live/live_dump.h"

#include "kernel/options/row.h"

uint32_t klive_pace;

static const struct kopt_option live = {
    .name = "dump",
    .standard = "end",
    .text = "when the trace is sent: end (after the run), or live (during the run, a thread of the lowest priority "
            "sends and frees full buffers of sequential sessions; the rest follows at the end)",
    .field = &kopt.live,
    .kind = WORD,
    .words = "end|live",
    .needs = "serial!=none"};
ROWS_ADD(kopt, live);

static const struct kopt_option pace = {.name = "dump.pace",
                                        .standard = "1",
                                        .text =
                                            "1: during the run, send no faster than the baud rate of serial=, even if "
                                            "the port accepts more (as in an emulator); 0: as fast as the port accepts",
                                        .field = &klive_pace,
                                        .kind = NUMBER32,
                                        .max = 1,
                                        .needs = "dump=live"};
ROWS_ADD(kopt, pace);
