/* SPDX-License-Identifier: MIT */
/* New periods while the session runs. The rules are those of ds/ds.h. */
#pragma once

#include "ds/ds.h"

/* Parses pebs.later=PERIOD[,...]: one period for each of the `events`, or "none": then period[0] is 0. 0, or -EINVAL
 * with one line in `error`. */
int ds_parse_periods(const char *spec, uint32_t events, uint64_t *period, char *error, size_t size);

/* Gives each config->event[i] the period period[i]: drains (reason RECONFIGURE), then runs numbered steps of its own.
 * Leaves counting paused. 0, or -EINVAL with one line in `error`: then nothing has changed. May also be called before
 * ds_start, to check the periods. ds_counts counts accesses that raise #GP. */
int ds_reconfigure(struct ds_cpu *ds, const uint64_t *period, char *error, size_t size);
