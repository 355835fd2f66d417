/* SPDX-License-Identifier: MIT */
/* What a run has lost. All of it is counted in the log; this puts it into words. */
#pragma once

#include "tools/cairn/log/log.h"

/* Of a CPU, what passes the filter's times (filter.h), whatever CPUs it has. */
struct cairn_drain_sum cairn_drains_passed(const struct cairn_log *log, uint32_t cpu);

/* Of what passes the filter's CPUs and times (filter.h). Records a full buffer cost; samples that went with another
 * counter's record. */
struct cairn_lost cairn_records_dropped(const struct cairn_log *log);
/* The same of those CPUs' whole run, as the end summary tells it; where that is missing, of the drains of the log. */
struct cairn_lost cairn_records_dropped_in_run(const struct cairn_log *log);
struct cairn_lost cairn_samples_swallowed(const struct cairn_log *log);
struct cairn_lost cairn_bts_lost(const struct cairn_log *log);

/* Switches of one kind (0525H: compact) on the CPUs of the filter, in the whole log: those that are there, and those
 * the session met, as the end summary tells. False: it does not. */
bool cairn_switches_told(const struct cairn_log *log, bool compact, uint64_t *there, uint64_t *tried);

/* "4 of 72 frames are missing in this log"; of an ETL file, its buffers. False: none are. */
bool cairn_show_missing(char *out, size_t room, const struct cairn_log *log);

/* Frames of a serial log that came damaged, or hold what they cannot: cairn check names them. */
uint64_t cairn_damaged_frames(const struct cairn_log *log);

/* A line for the head of what is shown of a damaged log, nothing where it is whole: figures and rows that go into a
 * file say themselves what they are not of. It begins with `prefix`; `where`: what tells where frames are missing. */
void cairn_print_damage(const struct cairn_log *log, const char *prefix, const char *where);

/* Rows of `cairn stat`, for what there should be and is not in this log: frames or buffers, damaged ones, switches. */
void cairn_print_missing(const struct cairn_log *log);

/* Each kind of thing that was lost or overwritten: how much, of how much, and which option keeps more. Nothing where
 * nothing was. */
typedef void cairn_tell(void *to, const char *text);
void cairn_tell_losses(const struct cairn_log *log, cairn_tell *tell, void *to);
/* The same as some lines for each kind. The first begins with `label`, the others with `indent` blanks. */
void cairn_print_losses(const struct cairn_log *log, const char *label, unsigned indent);
