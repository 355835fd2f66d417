/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

extern char klater_text[]; /* option pebs.later */

/* What pebs.later= says, of CPUs with the events of pebs=: DS_MAX_COUNTERS periods; period[0] is 0: they stay. 0, or
 * -EINVAL with one line. */
int klater_periods(uint64_t *period, char *error, size_t error_size);
