/* SPDX-License-Identifier: MIT */
/* Lab 6: a CPU that the check makes up, for a rule that closes batches to be judged by. The seed alone decides what it
 * does. What a boot has depends on how fast the host was, too. */
#pragma once

#include "host_lane.h"

/* Fills what close_lane uses: what really happened, drains, records and who caused them. A few threads cause most
 * records, most times that they run. Now and then another thread takes the place of one of them. */
void habits_make(struct lane *lane);
