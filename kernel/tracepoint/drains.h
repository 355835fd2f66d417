/* SPDX-License-Identifier: MIT */
/* Where the Debug Store and the trace meet: what a drain finds becomes events CA01H and CA04H. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ds/ds.h"

/* The hooks that the Debug Store calls (ds/ds.h): they close batches and write epochs and records. Others may be added
 * until the Debug Store is made. */
extern struct ds_hooks kdrain_hooks;

/* The PEBS epoch that is running on a CPU. False: there is none, and *epoch is the next one. */
bool kdrain_epoch(uint32_t index, uint32_t *epoch);
