/* SPDX-License-Identifier: MIT */
/*
 * Blocks that are made ahead of the one who takes them, by as many threads as help. Each source makes a sequence of
 * blocks, one at a time; different sources make theirs at the same time. Where a block is not there yet, its taker
 * makes it, or another that is due: so it works alone, too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cairn_source {
    /* Makes the next block. False: there is none, and there will be none. */
    bool (*make)(void *context, void *block);
    void *context;
    char *blocks; /* `room` of them, `bytes` each. Two stay: the one that was taken last, and the one before it */
    uint32_t bytes, room;
    uint32_t made, taken; /* so far */
    bool busy, ended;     /* somebody makes one; there are no more */
};

/* How many threads could help: one for each core that this process may use, but one. */
uint32_t cairn_helpers(void);
/* Begins with at most so many. Returns NULL where there are none, as if 0 were wanted. The sources stay until
 * cairn_ahead_free; each has room for 3 blocks at least, of which its taker may look at two. */
struct cairn_ahead *cairn_ahead_new(struct cairn_source *const *source, uint32_t sources, uint32_t helpers);
/* The next block of a source, NULL: there is none. `ahead` NULL: nobody helps. One thread alone may take. */
void *cairn_ahead_next(struct cairn_ahead *ahead, struct cairn_source *source);
/* Ends the helpers; no source is in use behind this. */
void cairn_ahead_free(struct cairn_ahead *ahead);
