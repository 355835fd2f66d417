/* SPDX-License-Identifier: MIT */
/* What something else already uses of counters, Debug Store and PEBS. */
#pragma once

#include "ds/caps.h"

/* After ds_detect: removes PEBS from `caps` if counters, the DS area or PEBS are in use, and BTS if the DS area is, and
 * gives that as the reason. Without this call set-up takes them over, and tear-down restores them. Without full-width
 * writes it cannot restore the bits of a general-purpose counter above bit 31. */
void ds_leave_alone(struct ds_caps *caps);
