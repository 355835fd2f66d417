/* SPDX-License-Identifier: MIT */
/* Goes through the events of one CPU, in memory or in the frames of a file, one after another. */
#pragma once

#include "tools/cairn/log/log.h"

struct cairn_walk {
    const struct cairn_log *log;
    const struct cairn_cpu *cpu;
    uint32_t hole;           /* right before the event that came last, at the end behind all; or CAIRN_NO_HOLE */
    uint32_t next;           /* piece */
    const uint8_t *data;     /* the frame, or what is kept of the piece */
    uint32_t size, at, left; /* of that; of the piece behind it */
    uint8_t which, held;
    struct cairn_links links;
    uint8_t payload[2][CAIRN_PAYLOAD_MOST];
};

void cairn_walk_init(struct cairn_walk *walk, const struct cairn_log *log, uint32_t cpu);
/* The same along pieces that are nobody's. */
void cairn_walk_begin(struct cairn_walk *walk, const struct cairn_log *log, const struct cairn_cpu *cpu);
/* The next event. It may be looked at until the next call; or, if it is held, until another is. Its payload is as large
 * as its hook ID wants it (cairn_event_short); what else the index has checked may be otherwise in a file that somebody
 * has written to since. */
bool cairn_walk_next(struct cairn_walk *walk, struct cairn_event *event);
void cairn_walk_hold(struct cairn_walk *walk);
/* Notes that the event that came last is not what the index has checked: the file has changed since. */
void cairn_walk_changed(const struct cairn_walk *walk);
