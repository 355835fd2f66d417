/* SPDX-License-Identifier: MIT */
/*
 * A session runs on a CPU from a start to a stop, and may be started again: between two of its lives there is nothing
 * of it, and nothing is missing.
 */
#pragma once

#include "tools/cairn/log.h"

/* Puts a hole where a life begins, the first as well if the Debug Store was at work before: what is in front of it is
 * not of this life. After the CPU's events have been indexed and its other holes found. */
void cairn_stops_find(struct cairn_cpu *cpu);
