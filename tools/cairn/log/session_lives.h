/* SPDX-License-Identifier: MIT */
/* A session runs on a CPU from a start to a stop, and may be started again. Between two of its lives it writes nothing,
 * and nothing is missing. The same holds while its masks do not ask for switches. */
#pragma once

#include "tools/cairn/log/log.h"

struct cairn_stops {            /* the lives of a session on one CPU; zeroed: none yet */
    struct cairn_ack last, off; /* of its own; off: since which the switches of `gone` have come no more */
    bool any;                   /* `last` is there */
    unsigned gone;              /* forms of switches that this life had, and has no more */
};

/* Puts a hole where a life begins, the first as well if the Debug Store was at work before: what is in front of it
 * is not of this life; where switches come again after other masks; and at the end where they came no more. After the
 * CPU's events have been indexed and its other holes found. `stops`: what came before these events, where they are
 * but a part of all. Whether one belongs before the first of them, whatever else may be missing there. */
bool cairn_stops_find(struct cairn_stops *stops, struct cairn_cpu *cpu);
