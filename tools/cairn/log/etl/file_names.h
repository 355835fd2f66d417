/* SPDX-License-Identifier: MIT */
/* Which file was meant by a key, which the events about disks and files have: from the events that name files (0400H,
 * 0420H, 0423H, 0424H). Keys are used again. */
#pragma once

#include <stddef.h>

#include "tools/cairn/event/event.h"
#include "tools/cairn/log/etl/values.h"

struct cairn_file_name {
    uint64_t key;
    int64_t begin, end; /* session clock: from, until; INT64_MIN, INT64_MAX: nothing tells */
    struct cairn_bytes name;
};

struct cairn_file_names { /* zeroed: none */
    struct {
        struct cairn_file_event *items;
        size_t count, room;
    } events; /* until they are settled */
    struct {
        struct cairn_file_name *items;
        size_t count, room;
    } list; /* by key, time */
};

/* Notes an event that names a file, whose payload stays; of any other nothing. */
void cairn_file_names_note(struct cairn_file_names *names, const struct cairn_event *event);
/* When all have been noted. */
void cairn_file_names_settle(struct cairn_file_names *names);
/* The name of the file with this key then, as the event has it: UTF-16. at NULL: nothing tells. */
struct cairn_bytes cairn_file_names_find(const struct cairn_file_names *names, uint64_t key, int64_t time);
void cairn_file_names_free(struct cairn_file_names *names);
