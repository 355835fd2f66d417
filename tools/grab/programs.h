/* SPDX-License-Identifier: MIT */
/* The programs in the log: their functions in which a record lies, and where their processes had code. */
#pragma once

#include "tools/grab/base/maps.h"
#include "tools/grab/base/store.h"
#include "trace/frames.h"

/* Lines of streams M and S, of processes that have records. `maps` has ended, drains and switches are in order;
 * `format`: of PEBS. */
void grab_programs_dump(struct trace_dump *dump, struct grab_maps *maps, struct grab_store *store, unsigned format);
