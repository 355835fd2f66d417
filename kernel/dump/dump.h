/* SPDX-License-Identifier: MIT */
/* The serial dump: everything the run left behind, in the order of docs/reference/format.md. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct trace_dump;
struct trace_sink;

/* Writes the whole dump to the console. `cause`: "end" or "panic"; `line`: the panic's line, else NULL. All CPUs have
 * stopped recording (or are stopped altogether). Any context. */
void kdump(const char *cause, const char *line);

/* trace_dump_init, with packed frames and lines as options dump.pack= and dump.line= say. One dump at a
 * time and, beside it, a live one: a panic finds the logger at whatever it was. */
void kdump_begin(struct trace_dump *dump, const struct trace_sink *sink, bool live);

/* For the sections. Timer ticks of a CPU when the dump began; the panic's line, else NULL. */
uint64_t kdump_ticks(uint32_t cpu);
const char *kdump_panic_line(void);

/* The beginning of a live dump (kernel/dump/live_dump.h): all that is known before the run. `tsc`: now; it
 * distinguishes this dump from others. */
void kdump_head(struct trace_dump *dump, uint64_t tsc);
/* Prints how much follows, and how long it takes. */
void kdump_announce(uint64_t bytes, uint32_t frames);
