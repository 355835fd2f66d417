/* SPDX-License-Identifier: MIT */
/* --why: whether each event was sampled by PEBS, how Linux read its records, and what to change. */
#pragma once

#include <stdio.h>

#include "tools/grab/base/store.h"

/* `format`: of PEBS. `untold`: times that the ring was full for an event that came to a counter. `certain`: the kernel
 * is known to have skipped no hook. */
void grab_why(FILE *to, const struct grab_store *store, unsigned format, uint64_t untold, bool certain);
