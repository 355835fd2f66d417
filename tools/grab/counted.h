/* SPDX-License-Identifier: MIT */
/* Which events wrote the records, in the log's own keys: ds.event.N and ds.cpu.N.counters. */
#pragma once

#include "tools/grab/base/store.h"
#include "trace/frames.h"

/* `untold`: events of which nothing came, because a ring was full: the log then does not say on which counters the
 * others were. */
void grab_counted_dump(struct trace_dump *dump, const struct grab_store *store, unsigned cpus, uint64_t untold);
