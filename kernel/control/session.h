/* SPDX-License-Identifier: MIT */
/* Trace sessions on a running machine: what can be done to one by itself. Thread context, no spinlock held; calls
 * exclude each other, but not those of kernel/recording/sessions.h, which are for before and after the run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/recording/sessions.h"

/* When these return it runs, has its new masks, or has ended on every CPU. 0, -ENOENT, -EBUSY (it runs already), for
 * the other two -EINVAL (it does not run). `masks`: NULL: those it had last. */
int ksession_start(uint32_t number, const struct perfinfo_groupmask *masks);
int ksession_change(uint32_t number, const struct perfinfo_groupmask *masks);
int ksession_stop(uint32_t number);

/* The masks that hold on every CPU. 0, -ENOENT, -EINVAL (it does not run). */
int ksession_masks(uint32_t number, struct perfinfo_groupmask *masks);

/* Switch events of a running session carry PebsIndex: those of `on` (CAIRN_STAMP_...) from now on, those of `off` no
 * longer. A start begins with all of them. 0, -ENOENT, -EINVAL (it does not run), -ENODEV (PEBS runs nowhere). */
int ksession_stamp(uint32_t number, uint32_t on, uint32_t off);

/* Other items of a running session's events (struct trace_config): `choose` sets them in the session, and no CPU uses
 * those it had before when this returns. 0, -ENOENT, -EINVAL (it does not run), or negative: what `choose` returned. */
typedef int (*ksession_choose)(struct trace_session *session, void *argument);
int ksession_carry(uint32_t number, ksession_choose choose, void *argument);

/* Runs `function` on this CPU, with interrupts off and counting paused. Where it says that it has moved
 * kcpu.pebs_stamp, each session that runs here is told at once. */
void ksession_move_pebs(bool (*function)(void *argument), void *argument);
