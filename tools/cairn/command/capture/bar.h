/* SPDX-License-Identifier: MIT */
/* The progress line of `cairn capture` at a terminal: how long the machine has run, then how much of the dump came. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CAIRN_BAR_WAIT_MS = 1000 }; /* silence after which the line is drawn anew */

struct cairn_bar {
    bool wanted, shown;
    int64_t started_ms, drawn_ms; /* of the capture; of the last line */
};

struct cairn_bar_dump {
    uint64_t frames, total, damaged; /* total 0: not known yet */
    uint64_t bytes, read_bytes;      /* of the dump, from its header, or 0; of it that came */
    int64_t began_ms;
};

/* Each writes to standard error, and nothing where the line is not wanted. */
void cairn_bar_start(struct cairn_bar *bar, bool wanted);
void cairn_bar_clear(struct cairn_bar *bar);
/* `what` the machine does while it says nothing, such as "running". */
void cairn_bar_wait(struct cairn_bar *bar, const char *what);
void cairn_bar_dump(struct cairn_bar *bar, const struct cairn_bar_dump *dump);
