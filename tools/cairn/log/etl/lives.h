/* SPDX-License-Identifier: MIT */
/*
 * Which image was at which address of which process, and to which process a thread belonged, at a given time: from an
 * ETL file's events about both. IDs and addresses are reused. A thing that is first named when it ends, or at the end
 * of the file, has existed since the last one with the same ID or address ended.
 */
#pragma once

#include "tools/cairn/log/rundown.h"

struct cairn_etl_life {
    char *name;          /* of an image, "" where it is not told; NULL of a thread */
    uint64_t base, size; /* of an image; and where the farthest-reaching of its process ends, up to this one: */
    uint64_t reach;
    int64_t begin, end; /* session clock: from, until; INT64_MIN, INT64_MAX: nothing tells */
    uint32_t id, pid;   /* id: of the thread; of an image the process, as pid */
};

struct cairn_life_list {
    struct cairn_etl_life *items;
    size_t count, room;
};

struct cairn_lives {
    struct {
        struct cairn_life_event *items;
        size_t count, room;
    } events;                       /* until they are settled */
    struct cairn_life_list images;  /* by process, base, time */
    struct cairn_life_list threads; /* by ID, time */
};

/* Notes an event about an image or a thread; of any other nothing. */
void cairn_lives_note(struct cairn_lives *lives, const struct cairn_rundown *told, const struct cairn_event *event);
/* When all have been noted. */
void cairn_lives_settle(struct cairn_lives *lives);
void cairn_lives_free(struct cairn_lives *lives);

/* The image of process `pid` that held `address` then; NULL: none is told of. */
const struct cairn_etl_life *cairn_lives_image(const struct cairn_lives *lives, uint32_t pid, int64_t time,
                                               uint64_t address);
/* The process of thread `tid` then; CAIRN_NO_TID: nothing tells. */
uint32_t cairn_lives_process(const struct cairn_lives *lives, uint32_t tid, int64_t time);
