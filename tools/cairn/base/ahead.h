/* SPDX-License-Identifier: MIT */
/*
 * Blocks that are made ahead of the one who takes them, by as many threads as help. Each source makes a sequence of
 * blocks, one at a time; different sources make theirs at the same time. Where a block is not there yet, its taker
 * makes it, or another that is due: so it works alone, too.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define CAIRN_HELPERS_MOST 63u

struct cairn_source {
    /* Makes the next block. False: there is none, and there will be none. */
    bool (*make)(void *context, void *block);
    void *context;
    char *blocks;   /* `room` of them, `bytes` each. Two stay: the one that was taken last, and the one before it */
    uint32_t bytes, room;
    uint32_t made, taken; /* so far */
    bool busy, ended;     /* somebody makes one; there are no more */
};

struct cairn_ahead {
    struct cairn_source **source;
    uint32_t sources, helpers;
    uint32_t idle;        /* helpers that wait for room */
    bool waiting, over;   /* the taker waits for a block; nobody takes any more */
    pthread_mutex_t lock; /* of all of this, and of the sources' `made` to `ended` */
    pthread_cond_t block, room;
    pthread_t thread[CAIRN_HELPERS_MOST];
};

/* How many threads could help: one for each core that this process may use, but one. */
uint32_t cairn_helpers(void);
/* `source` stays until cairn_ahead_free. Threads that cannot be had are done without. */
void cairn_ahead_init(struct cairn_ahead *ahead, struct cairn_source **source, uint32_t sources, uint32_t helpers);
/* The next block of a source, NULL: there is none. `ahead` NULL: nobody helps. One thread alone may take. */
void *cairn_ahead_next(struct cairn_ahead *ahead, struct cairn_source *source);
/* Ends the helpers; no source is in use behind this. */
void cairn_ahead_free(struct cairn_ahead *ahead);
