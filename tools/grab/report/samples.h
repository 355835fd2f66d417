/* SPDX-License-Identifier: MIT */
/* Samples that Linux makes of an event by itself, in memory that it shares with this program. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define GRAB_SAMPLE_WORDS 4u

struct grab_sample {
    uint64_t word[GRAB_SAMPLE_WORDS]; /* in the order of PERF_SAMPLE_...; those that it does not have are 0 */
};

struct grab_samples {
    struct grab_sample *items;
    size_t count, room;
    uint64_t lost; /* Linux had no room for them */
};

/* Memory for the samples of an event, from now on. NULL: errno says why there is none. */
void *grab_samples_map(int event);
/* Adds what is there, and gives the memory back. The event has ended. */
void grab_samples_take(struct grab_samples *samples, void *map);
