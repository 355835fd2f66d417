/* SPDX-License-Identifier: MIT */
/*
 * A session runs on a CPU from a start to a stop, and may be started again: between two of its lives there is nothing
 * of it, and nothing is missing. So it is while its masks do not ask for switches.
 */
#pragma once

#include "tools/cairn/log.h"

/* Puts a hole where a life begins, the first as well if the Debug Store was at work before: what is in front of it
 * is not of this life; where switches come again after other masks; and at the end where they came no more. After the
 * CPU's events have been indexed and its other holes found. */
void cairn_stops_find(struct cairn_cpu *cpu);
