/* SPDX-License-Identifier: MIT */
/* Where the Debug Store and the trace meet: what a drain finds becomes events CA01H to CA04H, and truth records. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ds/ds.h"

/* What the Debug Store calls (ds/ds.h): closes batches, writes epochs, records and their truth. */
extern const struct ds_hooks kdrain_hooks;

/* The PEBS epoch that runs on a CPU; false: none does, and *epoch is the next. */
bool kdrain_epoch(uint32_t index, uint32_t *epoch);
