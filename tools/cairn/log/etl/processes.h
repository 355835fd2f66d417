/* SPDX-License-Identifier: MIT */
/* Which process each thread of Windows' own logs belongs to, from the events about processes and threads in them. IDs
 * are reused: each belongs to its last owner. */
#pragma once

#include "tools/cairn/base/number_map.h"
#include "tools/cairn/log/rundown.h"

struct cairn_owner { /* of a thread, or a process and its own name */
    uint32_t id, pid;
    int64_t time; /* of what told so */
    char name[CAIRN_NAME_SHOWN];
};

struct cairn_owners {
    struct {
        struct cairn_owner *items;
        size_t count, room;
    } list;
    struct cairn_map by_id;
};

struct cairn_processes { /* zeroed: none is known */
    struct cairn_owners processes, threads;
};

/* Goes along all events of the log. */
void cairn_processes_read(struct cairn_processes *all, const struct cairn_log *log);
void cairn_processes_free(struct cairn_processes *all);
/* NULL: no event tells. */
const struct cairn_owner *cairn_owner_of(const struct cairn_owners *owners, uint32_t id);
