/* SPDX-License-Identifier: MIT */
/*
 * Which parts of a log are shown: --cpu, --thread, --from, --until and --reason, for all commands that have them. A
 * thing passes
 *   by CPU     if it happened on one of these CPUs: all kinds of things;
 *   by time    if it happened at `from` or later and before `until`: all kinds. A gap reaches from the switch before
 *              it to the next one; it passes if it reaches into that time;
 *   by thread  if it is a switch from or to one of these threads; a PEBS record that one of them is known to have
 *              caused; a spin lock that one of them released; any other event while one of them ran, or that names
 *              it; a drain that lost something, or a gap;
 *   by reason  if it is a switch whose outgoing thread has one of these states or wait reasons; a drain that lost
 *              something, or a gap. Nothing else has a reason.
 * So only its place (CPU and time) can hide a loss; lost branches (BTS) can also be hidden by their thread. A thing
 * must pass all the filters that are given.
 */
#pragma once

#include "tools/cairn/log/show.h"
#include "tools/cairn/model/timeline.h"

/* What the options' values are; NULL, or what they must be instead. */
const char *cairn_filter_cpus(const char *list);    /* "0,2-3" */
const char *cairn_filter_threads(const char *list); /* "12,idle,consumer*,worker/1:14" */
const char *cairn_filter_from(const char *time);    /* "1.5s", "200ms", "10us", "100ns", "1.5" */
const char *cairn_filter_until(const char *time);
const char *cairn_filter_reasons(const char *list); /* "WrMutex,Ready" */

/* No option was given. */
void cairn_filter_clear(void);

/* The log it is used on from here on, another session of it the next time. 0; -EINVAL: `why` says what of it this log
 * has not. `why` is "" before. */
int cairn_filter_use(const struct cairn_log *log, char why[2 * CAIRN_SHOWN]);

bool cairn_filter_on(void);                                                                 /* any of them was given; */
bool cairn_filter_narrow(void);                                                             /* any but --cpu */
bool cairn_filter_by_cpu(void), cairn_filter_by_thread(void), cairn_filter_by_reason(void); /* the one */

bool cairn_filter_passes(const struct cairn_item *item);
/* One of it alone. */
bool cairn_filter_cpu(uint32_t cpu);
bool cairn_filter_time(int64_t time);
bool cairn_filter_thread(uint32_t tid);
/* Moves the ends of a time to those of --from and --until that lie within. */
void cairn_filter_cut(int64_t *from, int64_t *until);
/* Of a span of time what passes, in units of the session clock. */
uint64_t cairn_filter_span(int64_t from, int64_t until);

/* Whether anything has passed so far. */
bool cairn_filter_passed(void);

/* "--cpu 0 --thread idle": as given; "" where nothing was. */
const char *cairn_filter_text(void);
/* That as a line "PREFIXonly: ..."; nothing where nothing was given. */
void cairn_filter_print(const char *prefix);
