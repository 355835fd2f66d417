/* SPDX-License-Identifier: MIT */
/*
 * Which processes, threads and images a session's events name, and when the session asked for them. A session gets the
 * events of a class of things while the class's group is in its masks: a stretch. Each CPU numbers its stretches from
 * 1. As each CPU sees every change of masks, the numbers are the same on all.
 */
#pragma once

#include "tools/cairn/log/log.h"
#include "tools/cairn/log/rundown.h"

enum cairn_class { CAIRN_CLASS_PROCESS, CAIRN_CLASS_THREAD, CAIRN_CLASS_IMAGE, CAIRN_CLASS_OTHER };
_Static_assert(CAIRN_CLASS_OTHER == CAIRN_STRETCHES, "all but the others have stretches");

enum cairn_told_what {
    CAIRN_TOLD_START,
    CAIRN_TOLD_END,
    CAIRN_TOLD_DC_START,
    CAIRN_TOLD_DC_END,
    CAIRN_TOLD_NAME,
    CAIRN_TOLD_OTHER, /* see the hook ID */
};

/* Notes the event where it is one of these. False: its payload is not what its hook ID and version say. */
bool cairn_told_index(const struct cairn_log *log, struct cairn_cpu *cpu, const struct cairn_event *event);
/* The session's own acknowledgements, in their order: fills in the stretches that are in force from there on. */
void cairn_stretch_begin(struct cairn_cpu *cpu, struct cairn_ack *ack);

/* What it says. */
void cairn_told_read(struct cairn_rundown *r, const struct cairn_told *told);

/* The group a session must ask for to get this event; 0: any, or it is not one of these. */
uint32_t cairn_told_group(uint32_t hook);

/* Names the threads that the names stream does not. */
void cairn_told_names(struct cairn_log *log);
