/* SPDX-License-Identifier: MIT */
/* What code each process had in its memory, and where. The kernel tells of it as it tells perf (PERF_RECORD_MMAP2 and
 * FORK); what a process had before is in /proc/PID/maps. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grab_map {
    uint32_t process;
    uint64_t from, to; /* addresses */
    uint64_t offset;   /* in the file */
    uint64_t inode;    /* 0: no file */
    uint32_t path;     /* in `paths` */
};

struct grab_told {   /* by the kernel, or of a process that ran before */
    uint64_t time;   /* of the event; 0: it was so before */
    size_t number;   /* in the order that they came in */
    uint32_t parent; /* of `map.process`, which begins with what that has; 0: it has `map` */
    uint32_t needed; /* the last process for which it was taken by grab_maps_need */
    struct grab_map map;
};

struct grab_maps {
    struct grab_told *told; /* CPU by CPU; after grab_maps_end, by process, then time */
    size_t told_count, told_room;
    struct grab_map *items; /* of processes that are needed, by process, then address, each once */
    size_t count, room;
    char *paths;
    size_t paths_size, paths_room;
    uint64_t lost; /* events: what is not here may have been there */
    struct grab_maps_ring *rings;
    unsigned cpus;
};

/* From now on. 0, or GRAB_REFUSED: it has said why. */
int grab_maps_begin(struct grab_maps *maps);
/* Takes what the kernel has told. */
void grab_maps_take(struct grab_maps *maps);
/* Takes the rest. */
void grab_maps_end(struct grab_maps *maps);
/* Adds what a process had at any time to `items`. After grab_maps_end; processes come in ascending order. What others
 * had costs nothing. */
void grab_maps_need(struct grab_maps *maps, uint32_t process);
const char *grab_maps_path(const struct grab_maps *maps, const struct grab_map *map);
/* Of those of a process with the address, the last one; NULL: there is none. After grab_maps_need. */
const struct grab_map *grab_maps_find(const struct grab_maps *maps, uint32_t process, uint64_t address);
/* Adds what is told; `path`: "" if it has no file. */
void grab_maps_tell(struct grab_maps *maps, const struct grab_told *told, const char *path);
void grab_maps_free(struct grab_maps *maps);
