/* SPDX-License-Identifier: MIT */
/* The serial dump: everything the run left behind, in the order of docs/reference/format.md. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct trace_dump;

/* Writes the whole dump to the console. `cause`: "end" or "panic"; `line`: the panic's line, else NULL. All CPUs have
 * stopped recording (or are stopped altogether). Any context. */
void kdump(const char *cause, const char *line);

/* For the sections. Timer ticks of a CPU when the dump began; the panic's line, else NULL. */
uint64_t kdump_ticks(uint32_t cpu);
const char *kdump_panic_line(void);

/* A dump may begin before the run, with the sections KDUMP_HEAD; then it ends with the sections KDUMP_REST. */
struct kdump_begun {
    bool any;
    uint32_t sessions; /* bit i: session i + 1 is in it */
    /* Of what is out; right from KPHASE_DUMP on. */
    uint32_t frames;
    uint64_t bytes, raw_bytes;
};
extern struct kdump_begun kdump_begun; /* written by the part that begins a dump early */

/* Writes the first lines of a dump: its format, CAIRN_FORMAT_..., and how all that follows is written. */
void kdump_form(struct trace_dump *dump, unsigned format);
/* The sections that a part of the dump has: bits of enum kdump_when. */
void kdump_sections(struct trace_dump *dump, unsigned when);
/* Prints how much follows, and how long it takes. */
void kdump_announce(uint64_t bytes, uint32_t frames);
