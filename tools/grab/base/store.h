/* SPDX-License-Identifier: MIT */
/* What came out of the rings, by CPU. Records go to a file without a name beside the log, as there may be many. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ds/layout.h"
#include "tools/grab/bpf/events.h"

struct grab_drained { /* a START, DRAIN, STOP or BTS, and its records */
    struct grab_drain head;
    uint64_t at;    /* of its records, in the file */
    uint64_t bytes; /* from the first on, without a gap; fewer than head.bytes: the rest is lost */
    uint64_t tsc;   /* order.h */
};

struct grab_switched {
    struct grab_switch s;
    uint64_t tsc;  /* order.h, as is the next */
    uint32_t wait; /* of the incoming thread, in ticks */
};

struct grab_partial { /* the last drain of a kind, whose records are not in the file yet */
    size_t drain;     /* of grab_one_cpu.drains */
    uint8_t *bytes;
    size_t count, room;
};

struct grab_one_cpu {
    struct grab_drained *drains;
    size_t drain_count, drain_room;
    struct grab_switched *switches;
    size_t switch_count, switch_room;
    struct grab_enabled *enabled; /* not for --report */
    size_t enabled_count, enabled_room;
    struct grab_partial partial[2]; /* of PEBS; of BTS */
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

/* The format of PEBS, by what came first. */
unsigned grab_format(const struct grab_store *store);
/* What all forms of the DS area begin with, at a drain: of BTS, or of PEBS if that is not architectural. */
struct ds_area_60 grab_area(const struct grab_drained *d);
/* Bytes of what a drain of PEBS has of the area, or of its registers. */
uint32_t grab_area_bytes(unsigned format);

struct grab_buffer { /* addresses; of architectural PEBS physical */
    uint64_t base, index, maximum, threshold;
    bool full; /* architectural PEBS: the processor says so */
};
/* Of PEBS, by that area, or these registers. */
struct grab_buffer grab_buffer(const struct grab_drained *d, unsigned format);
/* Whether the switch came before the drain. */
bool grab_before(const struct grab_switched *s, const struct grab_drained *d);
/* The next record of PEBS behind `at` bytes of a drain's, 0: there is none, or it is not whole. */
uint32_t grab_record_bytes(const struct grab_store *store, const struct grab_drained *d, unsigned format, uint64_t at);
