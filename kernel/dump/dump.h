/* SPDX-License-Identifier: MIT */
/* The serial dump: everything the run left behind, in the order of docs/format.md. */
#pragma once

#include <stdint.h>

struct trace_dump;

/* Writes the whole dump to the console. `cause`: "end" or "panic"; `line`: the panic's line, else NULL. All CPUs have
 * stopped recording (or are stopped altogether). Any context. */
void kdump(const char *cause, const char *line);

/* What a live dump begins with (kernel/dump/live_dump.h): all that is known before the run. `tsc`: now; it tells the
 * dump from another one. */
void kdump_head(struct trace_dump *dump, uint64_t tsc);
/* Says how much follows, and how long it takes. */
void kdump_announce(uint64_t bytes, uint32_t frames);
