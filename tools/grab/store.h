/* SPDX-License-Identifier: MIT */
/* What came out of the rings, by CPU. Records go to a file without a name beside the log, as there may be many. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/grab/bpf/events.h"

struct grab_drained { /* a START, DRAIN or STOP, and its records */
    struct grab_drain head;
    uint64_t at;    /* of its records, in the file */
    uint64_t bytes; /* from the base on, without a gap; fewer than head.bytes: the rest is lost */
    uint64_t tsc;   /* order.h */
};

struct grab_switched {
    struct grab_switch s;
    uint64_t tsc;  /* order.h, as is the next */
    uint32_t wait; /* of the incoming thread, in ticks */
};

struct grab_one_cpu {
    struct grab_drained *drains;
    size_t drain_count, drain_room;
    struct grab_switched *switches;
    size_t switch_count, switch_room;
    uint8_t *bytes; /* of the last drain, not in the file yet */
    size_t pending, bytes_room;
};

struct grab_store {
    struct grab_one_cpu cpu[GRAB_CPUS];
    int file;
    uint64_t size;          /* of the file */
    const uint8_t *records; /* the file, after grab_store_end */
    int error;              /* errno of a write that failed; 0: none has */
};

/* `path`: the log; the file is in its folder. 0, or errno. */
int grab_store_begin(struct grab_store *store, const char *path);
/* One event of CPU `cpu`, `size` bytes as it lay in the ring. */
void grab_store_drain(struct grab_store *store, unsigned cpu, const void *event, size_t size);
void grab_store_switch(struct grab_store *store, unsigned cpu, const void *event, size_t size);
/* Nothing more comes. 0, or errno. */
int grab_store_end(struct grab_store *store);
