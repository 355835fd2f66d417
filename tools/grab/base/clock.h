/* SPDX-License-Identifier: MIT */
/* Times. BPF has CLOCK_MONOTONIC, records have the TSC. Pairs of both, taken once a second, map one to the other. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct grab_pair {
    uint64_t tsc, time; /* CLOCK_MONOTONIC in ns */
    uint64_t window;    /* TSC cycles between the two readings around that of the clock */
};

struct grab_clock {
    struct grab_pair *pairs;
    size_t count, room;
};

uint64_t grab_clock_now(void); /* CLOCK_MONOTONIC in ns */
/* Adds a pair. Its times are later than those of the pair before. */
void grab_clock_take(struct grab_clock *clock);
/* There are two pairs or more. */
uint64_t grab_clock_tsc(const struct grab_clock *clock, uint64_t time);
uint64_t grab_clock_hz(const struct grab_clock *clock);
/* How wrong a mapped time may be, in ns: half of the widest window, and how far a pair lies off the line between its
 * neighbours. */
uint64_t grab_clock_error(const struct grab_clock *clock);
void grab_clock_free(struct grab_clock *clock);
