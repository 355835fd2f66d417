/* SPDX-License-Identifier: MIT */
/* The functions of programs and libraries, from their files. */
#pragma once

#include "tools/grab/base/maps.h"

struct grab_function {
    uint64_t from, to; /* offsets in the file; none lies within another */
    const char *name;
};

#define GRAB_BUILD_ID_MAX 20u /* bytes that perf has room for */

struct grab_file { /* private: functions.c */
    uint8_t build_id[GRAB_BUILD_ID_MAX];
    uint32_t build_id_bytes; /* 0: it has none */
    const char *path;
    uint64_t inode;
    struct grab_function *items; /* by offset */
    size_t count, room;
    void *elf;
};

struct grab_files {
    struct grab_file *items;
    size_t count, room;
};

/* The function at `offset` in the file of a mapping, if that is still the file that was mapped. NULL: none is known. It
 * stays until grab_files_free. */
const struct grab_function *grab_files_function(struct grab_files *files, const struct grab_maps *maps,
                                                const struct grab_map *map, uint64_t offset);
/* NT_GNU_BUILD_ID of a mapping's file, if a function was asked for in it and it has one: its bytes; 0: none. */
uint32_t grab_files_build_id(const struct grab_files *files, const struct grab_maps *maps, const struct grab_map *map,
                             const uint8_t **id);
void grab_files_free(struct grab_files *files);
